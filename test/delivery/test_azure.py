"""The policy for AKS and Flatcar nodes, through what a CNI plugin in bridge mode does to them (aks-engine#3920)."""
import os

from harness import case
from scratch import SOURCE
from world import RESOLV, conf, expect, wait_for

POLICY = SOURCE / "packaging/azure/flatcar.toml"
UPLINK, STUB = "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf"
NETIF = "/run/systemd/netif/links/2"
NO_SERVERS = "# managed by man:systemd-resolved(8)\n# No DNS servers known.\nsearch .\n"


def a_node(scratch, mode):
    host = scratch.world()
    host.configure(POLICY.read_text())
    host.write("ADMIN_STATE=configured\nDNS=192.0.2.53 192.0.2.54\nDOMAINS=internal.cloudapp.example\n", NETIF)
    host.write(conf("192.0.2.53", "192.0.2.54", search="internal.cloudapp.example"), UPLINK)
    host.write(conf("127.0.0.53", search="internal.cloudapp.example"), STUB)
    if mode == "regular":
        host.write(conf("192.0.2.53", "192.0.2.54"))
    else:
        os.symlink(".." + {"uplink": UPLINK, "stub": STUB}[mode], host.path())
    return host


def both_have(host, servers):
    for path in (RESOLV, UPLINK):
        host.wait_servers(servers, path)
        wait_for(lambda: host.status_of(path)["state"] == "holds", lambda: f"{path} holds: {host.status_of(path)}")


def survives_the_cni(scratch, mode):
    host = a_node(scratch, mode)
    host.start()
    both_have(host, ["192.0.2.53", "192.0.2.54"])
    # eth0 is a bridge's port now: networkd has lost the lease, and resolved follows, more than once.
    host.rename_in("ADMIN_STATE=unmanaged\n", NETIF)
    for _ in range(2):
        host.rename_in(NO_SERVERS, UPLINK)
        both_have(host, ["192.0.2.53", "192.0.2.54"])
    expect("127." not in host.read(UPLINK), f"a loopback server for pods: {host.read(UPLINK)}")
    expect(not os.path.islink(host.path()), "a link again")
    # And the link comes back, with another server.
    host.rename_in("ADMIN_STATE=configured\nDNS=192.0.2.55\n", NETIF)
    host.rename_in(conf("192.0.2.55"), UPLINK)
    both_have(host, ["192.0.2.55"])


@case()
def uplink_link(scratch):
    survives_the_cni(scratch, "uplink")


@case()
def stub_link(scratch):
    survives_the_cni(scratch, "stub")


@case()
def regular_file(scratch):
    survives_the_cni(scratch, "regular")


@case()
def a_new_node_has_azure_s_server(scratch):
    host = a_node(scratch, "uplink")
    host.rename_in("ADMIN_STATE=configuring\n", NETIF)
    host.rename_in(NO_SERVERS, UPLINK)
    host.start()
    both_have(host, ["168.63.129.16"])
