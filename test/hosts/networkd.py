"""systemd-networkd and systemd-resolved in a host, and what container network plugins do to its link."""
import json
import re
import subprocess

from far import ask
from host import RESOLV, run, wait_for

NETWORK = """[Match]
Name=eth0
[Network]
DHCP=ipv4
LinkLocalAddressing=no
IPv6AcceptRA=no
"""
UPLINK, STUB = "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf"


def set_up(host, resolv_conf, network=NETWORK):
    """resolv_conf: "uplink" or "stub" (a link to that file of resolved's), or the text of a regular file"""
    host.write("/etc/systemd/network/20-eth0.network", network)
    if resolv_conf in ("uplink", "stub"):
        host.link(RESOLV, ".." + (UPLINK if resolv_conf == "uplink" else STUB))
    else:
        host.write(RESOLV, resolv_conf)
    host.enable("systemd-networkd", "systemd-resolved")


def link_servers(host):
    """what networkd itself has for its links: /run/systemd/netif/links, which has no loop through resolved"""
    text = host.read_all("/run/systemd/netif/links")
    return [server for line in re.findall(r"^DNS=(.*)$", text, re.M) for server in line.split()]


def wait_configured(host):
    wait_for(lambda: link_servers(host) and "ADMIN_STATE=configured" in host.read_all("/run/systemd/netif/links"),
             lambda: "networkd's link to be configured: " + host.read_all("/run/systemd/netif/links"))
    wait_for(lambda: host.nameservers(UPLINK), "resolved's uplink file")


def reconfigure(host):
    """networkd forgets its lease and asks for it again"""
    leases = host.far.leases()
    host.inside("networkctl", "reconfigure", "eth0")
    wait_for(lambda: host.far.leases() > leases, "a lease after networkctl reconfigure")
    wait_configured(host)


def move_to_bridge(host):
    """Azure CNI in bridge mode, its order of link operations (azure-container-networking, connectExternalInterface)"""
    shown = json.loads(run("ip", "-j", "-4", "addr", "show", "dev", "eth0", "scope", "global"))
    info = shown[0]["addr_info"][0]
    address = f"{info['local']}/{info['prefixlen']}"
    run("ip", "link", "add", "azure0", "type", "bridge")
    run("ip", "addr", "del", address, "dev", "eth0")
    run("ip", "link", "set", "eth0", "down")
    run("ip", "link", "set", "eth0", "master", "azure0")
    run("ip", "link", "set", "eth0", "up")
    run("ip", "link", "set", "azure0", "up")
    run("ip", "addr", "add", address, "dev", "azure0")
    run("ip", "route", "add", "default", "via", f"{host.far.net}.1", "dev", "azure0")


def host_device(host, command):
    """the standard CNI plugin: ADD takes eth0 into the pod's network namespace, DEL gives it back"""
    words = ["env", f"CNI_COMMAND={command}", "CNI_CONTAINERID=pod", "CNI_NETNS=/run/netns/pod", "CNI_IFNAME=net1",
             "CNI_PATH=/usr/lib/cni", "/usr/lib/cni/host-device"]
    config = {"cniVersion": "0.4.0", "name": "pods", "type": "host-device", "device": "eth0"}
    done = subprocess.run(host.command(*words), input=json.dumps(config), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"host-device {command}: {done.stdout}{done.stderr}")


def reader_resolves(host, name):
    """whether a program that reads this file gets an answer from the first server in it, as kubelet's pods would"""
    servers = host.nameservers(name)
    return bool(servers) and ask(servers[0]) == f"{host.far.net}.123"
