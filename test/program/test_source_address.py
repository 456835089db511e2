"""source-address-of: the address that the kernel would send from stands where it is written, and follows the network."""
import contextlib
import os
import pathlib
import re
import time

from harness import case
from network import Network
from world import RESOLV, conf, equal, expect, guard, hold_for, wait_for

API = "192.0.2.5"
SOURCE = f"source-address-of:{API}"
NOT_KNOWN = f"no source address towards {API}"
SECOND = "/run/second.conf"
SOON = 5  # seconds, on a busy machine; it is milliseconds


def begin(world, network, *parts, ready=True, servers=("192.0.2.53",)):
    world.write(conf(*servers))
    world.configure(*(parts or (guard(first=[SOURCE]),)))
    return world.start(prefix=network.prefix, ready=ready)


def settled(world, servers):
    world.wait_servers(servers)
    world.wait_state("holds")


@case(needs="netns", tags="sanitize")
def it_stands_where_it_is_written(world):
    network = Network(world)
    network.node()
    begin(world, network, guard(first=["127.0.0.1", SOURCE]))
    settled(world, ["127.0.0.1", "10.0.0.7", "192.0.2.53"])
    found = world.guard_status()
    equal([(s["address"], s["origin"]) for s in found["servers"]],
          [("127.0.0.1", "first"), ("10.0.0.7", "first"), ("192.0.2.53", "writer")])
    equal(found["learned"]["nameservers"], ["192.0.2.53"])


@case(needs="netns", tags="sanitize")
def an_address_that_comes_later(world):
    network = Network(world)
    world.write(conf("192.0.2.60"), SECOND)
    guardian = begin(world, network, 'ready_within = "never"\n', guard(first=[SOURCE]), guard(SECOND), ready=False)
    world.wait_state("waiting", reason=NOT_KNOWN + ": Network is unreachable")
    hold_for(lambda: (world.servers(), world.servers(SECOND)) == (["192.0.2.53"], ["192.0.2.60"]), "a guard was written", 0.5)
    equal((world.status()["phase"], world.guard_status(SECOND)["state"]), ("updating", "waiting"))
    expect("READY=1" not in guardian.lines(), "READY without an address")
    wait_for(lambda: [e["outcome"] for e in world.history("state", RESOLV)][:1] == ["waiting"], "that it waits in the history")
    network.node()
    world.wait_servers(["10.0.0.7", "192.0.2.53"], seconds=SOON)
    world.wait_servers(["127.0.0.1", "192.0.2.60"], SECOND)
    guardian.wait_ready()
    equal(world.status()["phase"], "reconciling")


@case(needs="netns", tags="sanitize")
def another_address(world):
    """It is drift: restored at once, in the same generation, and the former one is nobody's."""
    network = Network(world)
    network.node("10.0.0.7", "10.0.0.8")
    begin(world, network)
    settled(world, ["10.0.0.7", "192.0.2.53"])
    before = world.status()
    for own in ("10.0.0.8", "10.0.0.7", "10.0.0.8"):
        network.route("default", "via", "10.0.0.1", "src", own, verb="replace")
        world.wait_servers([own, "192.0.2.53"], seconds=SOON)
    found = world.wait_state("holds")
    reasons = lambda: [e["reason"] for e in world.history("restore", RESOLV)]
    wait_for(lambda: reasons().count("something else must hold now") == 3, lambda: f"why it was restored: {reasons()}")
    equal((world.status()["generation"], found["learned"]["nameservers"]), (before["generation"], ["192.0.2.53"]))
    equal([e for e in world.history() if e.get("outcome") == "contested"], [], "a fight")
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["10.0.0.8", "192.0.2.54"])
    world.run("release", code=0)
    equal(world.servers(), ["192.0.2.54"])


@case(needs="netns plain")
def a_kill_between_two_addresses(world):
    """What was written of the former one is never taken for the writer's, however soon the kill came."""
    network = Network(world)
    network.node("10.0.0.7", "10.0.0.8", "10.0.0.9")
    for _ in range(5):
        guardian = begin(world, network)
        settled(world, ["10.0.0.7", "192.0.2.53"])
        network.route("default", "via", "10.0.0.1", "src", "10.0.0.8", verb="replace")
        world.wait_servers(["10.0.0.8", "192.0.2.53"], seconds=SOON)
        guardian.kill()
        network.route("default", "via", "10.0.0.1", "src", "10.0.0.9", verb="replace")
        guardian = world.start(prefix=network.prefix)
        settled(world, ["10.0.0.9", "192.0.2.53"])
        equal(world.guard_status()["learned"]["nameservers"], ["192.0.2.53"])
        guardian.stop(0)
        network.route("default", "via", "10.0.0.1", "src", "10.0.0.7", verb="replace")


@case(needs="netns")
def an_interface_goes_down(world):
    """IPv4 routes that go with it are never told of by the kernel: the interface is."""
    network = Network(world)
    network.node()
    network.link("eth1")
    network.address("10.1.0.7/24", "eth1")
    network.route("default", "via", "10.1.0.1", "dev", "eth1", "metric", "200")
    begin(world, network)
    settled(world, ["10.0.0.7", "192.0.2.53"])
    network.ip("link", "set", "eth0", "down")
    world.wait_servers(["10.1.0.7", "192.0.2.53"], seconds=SOON)
    network.ip("link", "set", "eth0", "up")
    network.route("default", "via", "10.0.0.1", "dev", "eth0")
    world.wait_servers(["10.0.0.7", "192.0.2.53"], seconds=SOON)


@case(needs="netns", tags="sanitize")
def a_route_that_vanishes(world):
    """It waits, writes nothing, goes on learning, and restores as soon as the route is back."""
    network = Network(world)
    network.node()
    begin(world, network)
    settled(world, ["10.0.0.7", "192.0.2.53"])
    network.route("default", verb="del")
    found = world.wait_state("waiting", reason=NOT_KNOWN, seconds=SOON)
    equal(([s["address"] for s in found["servers"]], world.status()["phase"]), (["10.0.0.7", "192.0.2.53"], "reconciling"))
    equal(world.servers(), ["10.0.0.7", "192.0.2.53"])
    wait_for(lambda: world.history("state", RESOLV)[-1:] and world.history("state", RESOLV)[-1]["reason"].startswith(NOT_KNOWN),
             "its reason in the history")
    expect(world.run("status", code=1).stdout.find(NOT_KNOWN) >= 0, "status doesn't say why")
    world.rename_in(conf("192.0.2.54"))
    wait_for(lambda: world.history("rewrite")[-1]["after"] == conf("192.0.2.54"), "the writer's file in the history")
    hold_for(lambda: world.servers() == ["192.0.2.54"], "something was written without an address", 0.5)
    network.route("default", "via", "10.0.0.1")
    world.wait_servers(["10.0.0.7", "192.0.2.54"], seconds=SOON)
    world.wait_state("holds")


def ipv6_node(world, *words):
    network = Network(world)
    network.link("eth0")
    network.sysctl("net/ipv6/conf/eth0/use_tempaddr", "2")  # where an address brings temporary ones, they are preferred
    network.address("2001:db8:7::7/64", "eth0", *words)
    network.route("2001:db8::/32", "via", "2001:db8:7::1")
    return network


@case(needs="netns")
def ipv6_and_zones(world):
    network = ipv6_node(world)
    network.address("fe80::7/64", "eth0")
    begin(world, network, guard(first=["source-address-of:2001:db8::5"]), guard(SECOND, first=["source-address-of:fe80::5%eth0"]))
    settled(world, ["2001:db8:7::7", "192.0.2.53"])
    wait_for(lambda: re.fullmatch(r"fe80::\S+%eth0", (world.servers(SECOND) or [""])[0]), "a link-local address with its zone")
    network.address("2001:db8:7::8/64", "eth0")
    network.route("2001:db8::/32", "via", "2001:db8:7::1", "src", "2001:db8:7::8", verb="replace")
    world.wait_servers(["2001:db8:7::8", "192.0.2.53"], seconds=SOON)
    network.ip("link", "set", "eth0", "down")
    network.ip("link", "set", "eth0", "name", "eth9")
    world.wait_state("waiting", SECOND, "towards fe80::5%eth0: there is no interface eth0")


@case(needs="netns")
def no_temporary_address(world):
    """The kernel makes another every day."""
    network = ipv6_node(world, "mngtmpaddr")
    chosen = lambda: network.ip("route", "get", "2001:db8::5")
    wait_for(lambda: " src " in chosen() and "src 2001:db8:7::7 " not in chosen(), lambda: f"a temporary address in {chosen()}")
    begin(world, network, guard(first=["source-address-of:2001:db8::5"]))
    settled(world, ["2001:db8:7::7", "192.0.2.53"])


@case(needs="netns")
def a_router_that_comes_before_the_address(world):
    """A router's advertisement brings the route, DHCPv6 the address seconds later: a link-local one is none for others."""
    towards = "2001:db8::5"
    network = Network(world)
    network.link("eth0")
    network.address("fe80::7/64", "eth0")
    network.route("default", "via", "fe80::1", "dev", "eth0")
    begin(world, network, guard(first=["source-address-of:" + towards]), ready=False)
    world.wait_state("waiting", reason=f"no source address towards {towards}: no interface has an address for it")
    equal(world.servers(), ["192.0.2.53"], "what is written meanwhile")
    network.address("2001:db8:1::7/64", "eth0")
    world.wait_servers(["2001:db8:1::7", "192.0.2.53"], seconds=SOON)
    world.wait_state("holds")


@case(needs="netns")
def nexthops_of_their_own(world):
    """FRR's routes go with their nexthop object, and only that one's end is told."""
    network = Network(world)
    network.ip("link", "add", "name", "eth0", "type", "veth", "peer", "name", "far")
    for end in ("eth0", "far"):  # without IPv6, whose own addresses would tell of themselves a second later
        network.ip("link", "set", end, "addrgenmode", "none")
        network.ip("link", "set", end, "up")
    for address in ("10.0.0.7/24", "10.0.0.8/24"):
        network.address(address, "eth0")
    network.route("default", "via", "10.0.0.1", "dev", "eth0")
    network.ip("nexthop", "add", "id", "7", "via", "10.0.0.1", "dev", "eth0")
    network.route("192.0.2.0/24", "nhid", "7", "src", "10.0.0.8")
    begin(world, network)
    settled(world, ["10.0.0.8", "192.0.2.53"])
    network.ip("nexthop", "del", "id", "7")
    world.wait_servers(["10.0.0.7", "192.0.2.53"], seconds=SOON)


@case(needs="netns")
def an_address_that_was_last_good(world):
    """It was learned from a prepender before it was asked for; once it is another one it isn't filled in."""
    network = Network(world)
    network.node("10.0.0.7", "10.0.0.8")
    begin(world, network, guard(), servers=("10.0.0.7",))
    settled(world, ["127.0.0.1", "10.0.0.7"])
    world.configure(guard(first=[SOURCE]))
    settled(world, ["10.0.0.7"])
    network.route("default", "via", "10.0.0.1", "src", "10.0.0.8", verb="replace")
    settled(world, ["10.0.0.8"])


@case(needs="netns plain", alone=True)
def a_storm_of_routes(world):
    """10,000 changes that concern nobody: no write, hardly any time, and the next one that matters is seen."""
    network = Network(world)
    network.node("10.0.0.7", "10.0.0.8")
    guardian = begin(world, network)
    settled(world, ["10.0.0.7", "192.0.2.53"])
    wait_for(lambda: world.history("restore"), "the first restore in the history")
    before, cpu = (world.guard_status(), world.history()), guardian.cpu_seconds()
    routes = [f"198.18.{i // 250}.{i % 250}/32" for i in range(5000)]
    network.ip(batch="".join(f"route add {r} dev eth0\nroute del {r} dev eth0\n" for r in routes))
    used = guardian.cpu_seconds() - cpu
    equal((world.guard_status(), world.history()), before, "status and history after the storm")
    network.route("default", "via", "10.0.0.1", "src", "10.0.0.8", verb="replace")
    world.wait_servers(["10.0.0.8", "192.0.2.53"], seconds=SOON)
    expect(used < 0.5, f"{used} s of CPU for 10,000 changes of routes")


def netlink_sockets(guardian):
    """of rtnetlink; inode is the last column (proc_net(5))"""
    folder = f"/proc/{guardian.process.pid}"
    lines = [line.split() for line in pathlib.Path(folder + "/net/netlink").read_text().splitlines()[1:]]
    route = {f"socket:[{fields[-1]}]" for fields in lines if fields[1] == "0"}
    found = []
    for fd in os.listdir(folder + "/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed since it was listed
            found += [fd] if os.readlink(f"{folder}/fd/{fd}") in route else []
    return found


@case(needs="netns", tags="sanitize")
def a_configuration_that_brings_it(world):
    """Until the address is known the former policy goes on; routes are watched only as long as somebody needs it."""
    network = Network(world)
    guardian = begin(world, network, guard())
    settled(world, ["127.0.0.1", "192.0.2.53"])
    equal(netlink_sockets(guardian), [], "sockets that nobody needs")
    world.configure(guard(first=[SOURCE]))
    world.wait_state("waiting", reason=NOT_KNOWN)
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    network.node()
    world.wait_servers(["10.0.0.7", "192.0.2.54"], seconds=SOON)
    world.wait_state("holds")
    equal(len(netlink_sockets(guardian)), 1, "sockets that listen to routes")
    world.configure(guard())
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    wait_for(lambda: not netlink_sockets(guardian), "the socket is closed")


@case(needs="netns")
def a_virtual_address_that_this_host_holds(world):
    """The kernel sends from it towards itself; once it is elsewhere the host's own is back."""
    network = Network(world)
    network.node()
    begin(world, network)
    settled(world, ["10.0.0.7", "192.0.2.53"])
    network.address(API + "/32", "lo")
    world.wait_servers([API, "192.0.2.53"], seconds=SOON)
    network.ip("address", "del", API + "/32", "dev", "lo")
    world.wait_servers(["10.0.0.7", "192.0.2.53"], seconds=SOON)


@case(needs="netns")
def two_values_that_are_one_address(world):
    network = Network(world)
    network.node("10.0.0.7", "10.0.0.8")
    network.route("198.51.100.0/24", "via", "10.0.0.1", "src", "10.0.0.8")
    both = [SOURCE, "source-address-of:198.51.100.5"]
    begin(world, network, guard(first=both))
    settled(world, ["10.0.0.7", "10.0.0.8", "192.0.2.53"])
    network.route("198.51.100.0/24", verb="del")
    world.wait_state("waiting", reason="towards 198.51.100.5 is 10.0.0.7, which `first` names too")
    equal(world.servers(), ["10.0.0.7", "10.0.0.8", "192.0.2.53"])
    network.route("198.51.100.0/24", "via", "10.0.0.1", "src", "10.0.0.8")
    world.wait_state("holds")


@case(needs="netns")
def denied(world):
    """the address of this host, that a writer names; and one that is required and becomes a denied one"""
    network = Network(world)
    network.node()
    begin(world, network, guard(first=[], extra=f'deny = ["{SOURCE}"]'), servers=("10.0.0.7", "192.0.2.53"))
    settled(world, ["192.0.2.53"])
    world.configure(guard(first=[SOURCE], extra='deny = ["10.0.0.0/8"]'))
    world.wait_state("waiting", reason=f"towards {API} is 10.0.0.7, which `deny` names")


@case(needs="netns")
def an_editors_copy_of_our_file(world):
    """It names the address of that day; another one takes its place, also after a restart."""
    network = Network(world)
    network.node("10.0.0.7", "10.0.0.8")
    guardian = begin(world, network)
    settled(world, ["10.0.0.7", "192.0.2.53"])
    world.rename_in(world.read() + "options edns0\n")
    wait_for(lambda: len(world.history("rewrite")) >= 2, "the copy in the history")
    guardian.stop()
    network.route("default", "via", "10.0.0.1", "src", "10.0.0.8", verb="replace")
    world.start(prefix=network.prefix)
    settled(world, ["10.0.0.8", "192.0.2.53"])
    equal(world.guard_status()["learned"]["nameservers"], ["192.0.2.53"])


@case(needs="netns", tags="sanitize")
def without_a_guardian(world):
    network = Network(world)
    world.write(conf("192.0.2.53"))
    world.write(conf("192.0.2.60"), SECOND)
    world.configure(guard(first=[SOURCE]), guard(SECOND))
    done = world.run("check", code=3, prefix=network.prefix)
    expect(f"{RESOLV}: {NOT_KNOWN}" in done.stderr and "127.0.0.1" in done.stdout, done)
    done = world.run("apply", code=3, prefix=network.prefix)
    expect(f"{RESOLV}: waiting: {NOT_KNOWN}" in done.stderr and f"{SECOND}: waiting: waits for" in done.stderr, done.stderr)
    equal((world.servers(), world.servers(SECOND)), (["192.0.2.53"], ["192.0.2.60"]))
    network.node()
    expect("+nameserver 10.0.0.7" in world.run("check", code=1, prefix=network.prefix).stdout, "check prints no address")
    world.run("apply", code=0, prefix=network.prefix)
    equal((world.servers(), world.servers(SECOND)), (["10.0.0.7", "192.0.2.53"], ["127.0.0.1", "192.0.2.60"]))
    world.run("check", code=0, prefix=network.prefix)
    network.route("default", verb="del")
    world.run("release", code=0, prefix=network.prefix)
    equal(world.servers(), ["192.0.2.53"])


@case(needs="netns")
def apply_beside_a_guardian_that_waits(world):
    network = Network(world)
    begin(world, network, 'ready_within = "never"\n', guard(first=[SOURCE]), ready=False)
    world.wait_state("waiting", reason=NOT_KNOWN)
    start = time.monotonic()
    expect(NOT_KNOWN in world.run("apply", code=3).stderr, "apply doesn't say why")
    expect(time.monotonic() - start < 3 * world.settings.patience, "apply waited for an address that nobody awaits")


@case(needs="netns")
def the_server_that_must_answer(world):
    """on this host: asked at the address that the kernel tells"""
    network = Network(world)
    table, rest = guard().split("\n", 1)
    asked = f'requires = [{{ nameserver = "{SOURCE}", answers = "a.example" }}]'
    begin(world, network, f"{table}\n{asked}\n{rest}", ready=False)
    world.wait_state("waiting", reason=NOT_KNOWN)
    network.node()
    world.wait_state("waiting", reason="requires an answer: 10.0.0.7 can't be reached: Connection refused")
    network.route("default", verb="del")
    world.wait_state("waiting", reason=NOT_KNOWN)


@case(needs="netns strace plain")
def routes_that_are_not_told(world):
    """Where the kernel refuses a netlink socket (an old seccomp filter), it is looked each second."""
    network = Network(world)
    network.node("10.0.0.7", "10.0.0.8")
    world.write(conf("192.0.2.53"))
    world.configure(guard(first=[SOURCE]))
    # The second bind(2) of the main thread; the first is the control socket's.
    refuse = ("strace", "-D", "-f", "-o", world.dir + "/trace", "-e", "trace=bind", "-e", "inject=bind:error=EPERM:when=2+")
    guardian = world.start(prefix=(*network.prefix, *refuse))
    settled(world, ["10.0.0.7", "192.0.2.53"])
    expect("looked at every second" in guardian.log(), guardian.log())
    network.route("default", "via", "10.0.0.1", "src", "10.0.0.8", verb="replace")
    world.wait_servers(["10.0.0.8", "192.0.2.53"], seconds=SOON)


@case()
def config_prints_it(world):
    world.configure(guard(first=["127.0.0.1", SOURCE]))
    text = world.run("config", code=0).stdout
    expect(f'first = ["127.0.0.1", "{SOURCE}"]' in text, text)
    world.configure(text)
    equal(world.run("config", code=0).stdout, text)
    done = world.run("--first", SOURCE, "config", code=0, config=False)
    expect(f'first = ["{SOURCE}"]' in done.stdout, done.stdout)
