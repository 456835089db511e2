"""systemd-networkd and systemd-resolved: where their servers are to be learned from, and what is no loss."""
import networkd
from checks import equal
from host import LONGEST, RESOLV, expect, hold_for, wait_for
from networkd import STUB, UPLINK, link_servers
from scenario import scenario

NET = "10.77.0"
LOCAL, SERVER, OTHER, STATIC, V6 = "127.0.0.1", f"{NET}.1", f"{NET}.2", "203.0.113.9", "2001:db8:1::53"
POLICY = '''[[guard]]
path = "/etc/resolv.conf"
link = "file"
upstream = ["{upstream}"]
[guard.nameservers]
deny = ["loopback"]
'''
LINKS = "/run/systemd/netif/links/*"
ALL_KINDS = f"""[Match]
Name=eth0
[Network]
DHCP=yes
DNS={STATIC}
IPv6AcceptRA=yes
"""


def start(host, resolv_conf, policy, network=networkd.NETWORK, t1=None):
    host.far.serve(t1=t1)
    networkd.set_up(host, resolv_conf, network)
    host.guard(policy)
    host.boot()
    host.wait_unit("dbus")  # resolvectl and networkctl need it, the link doesn't
    networkd.wait_configured(host)


@scenario(net=NET, runs=("unguarded", "naive", "guarded"))
def withdrawn_server_really_goes(host):
    """resolved takes the servers of a regular /etc/resolv.conf for its own and writes them into its uplink file. Who
    learns from that file (naive) learns its own servers back for ever; networkd's own state has no such loop."""
    start(host, f"nameserver {SERVER}\n", POLICY.format(upstream=UPLINK if host.variant == "naive" else LINKS), t1=4)
    host.inside("resolvectl", "status")  # it looks at /etc/resolv.conf when it is asked
    wait_for(lambda: set(host.nameservers(UPLINK)) == {SERVER}, lambda: f"resolved has {host.nameservers(UPLINK)}")
    host.far.name_servers(OTHER)
    wait_for(lambda: link_servers(host) == [OTHER], lambda: f"the renewal, networkd has {link_servers(host)}")
    host.inside("resolvectl", "status")
    if host.variant == "guarded":
        host.wait_servers([OTHER], LONGEST)
        for _ in range(4):  # each time resolved reads the file anew, and writes its own
            host.inside("systemctl", "kill", "-s", "USR2", "systemd-resolved")
            host.inside("resolvectl", "status")
            networkd.reconfigure(host)
            host.wait_servers([OTHER], LONGEST)
    else:
        hold_for(lambda: SERVER in host.servers(), lambda: f"the withdrawn server went: {host.servers()}", 2)


@scenario(net=NET)
def servers_of_every_kind(host):
    """static, DHCPv4 and DHCPv6 servers of a link, and a link that loses its lease"""
    host.far.serve6()
    host.far.lease6(V6)
    start(host, f"nameserver {STATIC}\n", POLICY.format(upstream=LINKS), ALL_KINDS)
    every, left = [STATIC, SERVER, V6], [STATIC]
    networkd_has = lambda want: wait_for(lambda: link_servers(host) == want,
                                         lambda: f"networkd has {link_servers(host)}, not {want}")
    networkd_has(every)
    if not host.guarded:
        return host.hold_servers([STATIC], 1)
    host.wait_servers(every, LONGEST)
    host.far.carrier(False)
    networkd_has(left)
    host.wait_servers(left, LONGEST)
    host.far.carrier(True)
    networkd_has(every)
    return host.wait_servers(every, LONGEST)


@scenario(net=NET)
def reconfigure_without_a_gap(host):
    """networkd forgets its lease for some 30 ms at each reconfigure, and resolved writes that down at once"""
    start(host, "uplink", POLICY.format(upstream=LINKS))
    host.wait_servers([SERVER])
    if host.guarded:
        host.wait_holds()
    restores = host.status()["restores"] if host.guarded else 0
    since = host.reader.now()
    gaps = lambda: host.reader.gaps(since, lambda servers: servers == [SERVER])
    for _ in range(3 if host.guarded else 30):
        networkd.reconfigure(host)
        if gaps():  # unguarded, a reader that is kept from the processor can miss one
            break
    if host.guarded:
        host.wait_holds()
        equal(gaps(), [], "times without the server")
        equal(host.status()["restores"], restores, "restores, for what comes back by itself")
    else:
        expect(gaps(), "no time without a server was seen")


@scenario(net=NET)
def resolvectl_dns(host):
    """a server of the command line's: resolved's alone, networkd never hears of it"""
    policy = f'[[guard]]\npath = "{RESOLV}"\n[guard.nameservers]\nfirst = ["{OTHER}"]\n'
    start(host, "uplink", policy)
    host.inside("resolvectl", "dns", "eth0", STATIC)
    if host.guarded:
        host.wait_servers([OTHER, STATIC], LONGEST)
        equal(host.linked(), ".." + UPLINK, "the link")
        host.wait_holds()
    else:
        host.wait_servers([STATIC])


@scenario(net=NET)
def resolved_removed(host):
    """dpkg -r: rm of the stub link, then a copy of the uplink file, empty for a moment, which no later lease reaches"""
    policy = f'[[guard]]\npath = "{RESOLV}"\nupstream = ["{LINKS}"]\n[guard.nameservers]\nfirst = ["{LOCAL}"]\n'
    start(host, "stub", policy, t1=4)
    if host.guarded:
        host.wait_servers([LOCAL, SERVER])
        equal(host.linked(), ".." + STUB, "the link")
    rewrites = host.status()["rewrites"] if host.guarded else 0
    since = host.reader.now()
    host.inside("dpkg", "-r", "--force-depends", "systemd-resolved")
    equal(host.linked(), None, "a link")
    if host.guarded:
        wait_for(lambda: host.status()["rewrites"] > rewrites, lambda: f"a rewrite in {host.status()}")
        host.wait_servers([LOCAL, SERVER])
    else:
        host.wait_servers([SERVER])
    host.far.name_servers(OTHER)
    wait_for(lambda: link_servers(host) == [OTHER], lambda: f"the renewal, networkd has {link_servers(host)}")
    if not host.guarded:
        return host.hold_servers([SERVER], 2)
    host.wait_servers([LOCAL, OTHER])
    host.wait_holds()
    return host.measure("dpkg -r systemd-resolved", since, LOCAL)


@scenario(net=NET)
def link_that_tmpfiles_makes(host):
    """no /etc/resolv.conf at boot: systemd-tmpfiles makes the link to the stub (`L!`), then once more while the
    guardian looks on; only CREATE tells of it. A file that is gone would be made anew after `settle`, which is later
    than a reader may be without it."""
    policy = (f'[[guard]]\npath = "{RESOLV}"\nlink = "file"\nsettle = "{2 * LONGEST}s"\nupstream = ["{LINKS}"]\n'
              '[guard.nameservers]\ndeny = ["loopback"]\n')
    host.far.serve()
    networkd.set_up(host, "stub")
    host.remove(RESOLV)
    host.guard(policy)
    host.boot()
    networkd.wait_configured(host)
    if host.guarded:
        host.wait_servers([SERVER])
    since, rewrites = host.reader.now(), host.status()["rewrites"] if host.guarded else 0
    host.inside("sh", "-c", f"rm {RESOLV} && systemd-tmpfiles --create --boot systemd-resolve.conf")
    if not host.guarded:
        host.wait_servers(["127.0.0.53"])
        return equal(host.linked(), ".." + STUB, "the link")
    wait_for(lambda: host.status()["rewrites"] > rewrites, lambda: f"a rewrite in {host.status()}")
    host.wait_servers([SERVER])
    equal(host.linked(), None, "a link")
    return host.measure("tmpfiles", since, SERVER)
