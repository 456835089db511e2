"""AKS with Azure CNI in bridge mode (docs/incidents.md, aks-engine#3920): the plugin takes eth0's address, networkd its
lease for lost, resolved forgets the server, and the node is deaf although that server can still be reached."""
import networkd
from far import ask
from host import REPOSITORY, RESOLV, expect, hold_for, wait_for
from networkd import UPLINK, link_servers, reader_resolves
from scenario import scenario

NET = "10.77.0"
SERVER, OTHER = f"{NET}.1", f"{NET}.2"
POLICY = (REPOSITORY / "packaging/azure/flatcar.toml").read_text()
WITHOUT_KUBELETS = POLICY[:POLICY.rindex("[[guard]]")]


def before(host, resolv_conf, beside=False, t1=None):
    host.far.serve(t1=t1)
    networkd.set_up(host, resolv_conf)
    host.watched.append(UPLINK)
    if not beside:
        host.guard(WITHOUT_KUBELETS if host.variant == "without_kubelets" else POLICY)
    host.boot()
    networkd.wait_configured(host)
    since = host.reader.now()
    if beside:
        host.guard_beside(POLICY)
    wait_for(host.resolves, "a name to resolve before the move")
    if host.guarded:
        host.wait_holds()
        host.measure("first lease", since, SERVER)


def lost_lease(host):
    wait_for(lambda: not link_servers(host), lambda: f"networkd to lose its lease, but it has {link_servers(host)}")
    wait_for(lambda: ask(SERVER) == f"{NET}.123", lambda: "the far server to answer through azure0")


def dead(host):
    wait_for(lambda: not host.resolves(), "DNS to be dead, but names resolve")
    hold_for(lambda: not host.resolves(), "DNS came back by itself", 3)


def alive(host, since, what="move to a bridge"):
    """The last word of resolved comes 2.4 s after the move: carrier, then link-local addresses."""
    wait_for(host.resolves, lambda: f"a name to resolve again by {host.servers()}")
    wait_for(lambda: reader_resolves(host, UPLINK), lambda: f"kubelet's file to resolve again: {host.read(UPLINK)}")
    host.hold_servers([SERVER], 3)
    expect(host.resolves() and reader_resolves(host, UPLINK), "DNS died again")
    host.wait_holds()
    host.wait_holds(UPLINK)
    counts = lambda: [host.status(path)["restores"] for path in (RESOLV, UPLINK)]
    quiet = counts()
    hold_for(lambda: counts() == quiet, lambda: f"restores went on: {quiet}, {counts()}", 1)
    host.measure(what, since, SERVER)


def move(host):
    since = host.reader.now()
    networkd.move_to_bridge(host)
    lost_lease(host)
    if host.guarded:
        alive(host, since)
    else:
        dead(host)


def bridge(host, resolv_conf, beside=False):
    before(host, resolv_conf, beside)
    move(host)


@scenario(net=NET)
def bridge_and_link_to_the_uplink_file(host):
    bridge(host, "uplink")


@scenario(net=NET)
def bridge_and_link_to_the_stub_file(host):
    """nothing in /etc changes: 127.0.0.53 goes on, and answers REFUSED; later Debian's postinst makes the link again"""
    bridge(host, "stub")
    if host.guarded:
        since, restores = host.reader.now(), host.status()["restores"]
        host.inside("/var/lib/dpkg/info/systemd-resolved.postinst", "configure", "250")
        wait_for(lambda: host.status()["restores"] > restores, lambda: f"a restore in {host.status()}")
        wait_for(lambda: host.linked() is None, lambda: f"a regular file, but it is a link to {host.linked()}")
        alive(host, since, "upgrade of resolved")


@scenario(net=NET)
def bridge_from_beside(host):
    """with the guardian outside and the host mounted"""
    bridge(host, "uplink", beside=True)


@scenario(net=NET, runs=("guarded",))
def bridge_and_a_regular_file(host):
    """the control: nobody empties a regular file, with or without a guardian, and it isn't written for nothing"""
    bridge(host, f"nameserver {SERVER}\n")
    expect(host.status()["restores"] <= 1, f"a file that nobody emptied was restored: {host.status()}")


@scenario(net=NET, runs=("unguarded", "without_kubelets", "guarded"))
def bridge_where_resolved_reads_no_file(host):
    """With servers or domains of its own resolved doesn't import the regular /etc/resolv.conf, which would bring the
    server back: only a guard of its own keeps kubelet's file."""
    host.write("/etc/systemd/resolved.conf.d/domains.conf", "[Resolve]\nDomains=corp.example\n")
    before(host, "uplink")
    if host.variant == "without_kubelets":
        networkd.move_to_bridge(host)
        lost_lease(host)
        wait_for(lambda: not host.nameservers(UPLINK), lambda: f"kubelet's file to be empty: {host.read(UPLINK)}")
        return hold_for(lambda: host.resolves() and not host.nameservers(UPLINK), f"{RESOLV} alone to be kept", 3)
    restores = host.status(UPLINK)["restores"] if host.guarded else 0
    move(host)
    return expect(not host.guarded or host.status(UPLINK)["restores"] > restores, "kubelet's file was never restored")


@scenario(net=NET)
def withdrawn_server_goes_from_both_files(host):
    """resolved imports a regular /etc/resolv.conf and writes its servers, withdrawn or not, into kubelet's file"""
    before(host, f"nameserver {SERVER}\n", t1=4)
    restores = host.status(UPLINK)["restores"] if host.guarded else 0
    host.far.name_servers(OTHER)
    wait_for(lambda: link_servers(host) == [OTHER], lambda: f"the renewal, networkd has {link_servers(host)}")
    since = host.reader.now()
    files = lambda: [reader.servers() for reader in host.readers.values()]
    if not host.guarded:
        return hold_for(lambda: all(SERVER in servers for servers in files()), lambda: f"it went: {files()}", 2)
    wait_for(lambda: files() == [[OTHER], [OTHER]], lambda: f"{OTHER} alone: {files()}")
    hold_for(lambda: SERVER not in sum(files(), []), lambda: f"it came back: {files()}", 5)
    expect(host.status(UPLINK)["restores"] > restores, "kubelet's file was never restored")
    return host.measure("withdrawn server", since, OTHER)


@scenario(net=NET)
def host_device_plugin(host):
    """eth0 leaves for a pod's network namespace; the server is reached by eth1, for which networkd knows none"""
    host.far.second_way()
    host.write("/etc/systemd/network/30-eth1.network", f"[Match]\nName=eth1\n[Network]\nAddress={host.far.second}\n"
               f"LinkLocalAddressing=no\nIPv6AcceptRA=no\n[Route]\nDestination={SERVER}/32\nMetric=4096\n")
    before(host, "uplink")
    host.inside("ip", "netns", "add", "pod")
    since = host.reader.now()
    networkd.host_device(host, "ADD")
    lost_lease(host)
    if host.guarded:
        alive(host, since)
    else:
        dead(host)
    networkd.host_device(host, "DEL")
    wait_for(lambda: link_servers(host) == [SERVER], lambda: f"networkd's lease again, it has {link_servers(host)}")
    wait_for(host.resolves, "a name to resolve with eth0 back")
