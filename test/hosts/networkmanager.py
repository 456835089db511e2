"""A real NetworkManager in a host, and the dispatcher script that failed in the field."""
from host import RESOLV, run

CONFIGURATION = """[main]
plugins=keyfile
no-auto-default=*
auth-polkit=false
systemd-resolved=false
rc-manager={rc_manager}
[logging]
level=INFO
domains=DNS:TRACE,DHCP4:INFO,DHCP6:INFO,DEVICE:INFO,DISPATCH:DEBUG,CORE:INFO
"""
CONNECTION = """[connection]
id=node
uuid=6f1d0f2c-0000-4000-8000-000000000002
type=ethernet
interface-name=eth0
[ipv4]
method=auto
[ipv6]
method=auto
addr-gen-mode=eui64
"""
# As openshift/installer's 30-local-dns-prepender: on `up` alone. lo comes up too, before eth0 has a server.
PREPENDER_PATH = "/etc/NetworkManager/dispatcher.d/30-prepender"
PREPENDER = """#!/bin/sh
[ "$2" = up ] && [ "$1" = eth0 ] || exit 0
grep -q '^nameserver 127\\.0\\.0\\.1$' /etc/resolv.conf ||
  sed -i --follow-symlinks '0,/^nameserver/s//nameserver 127.0.0.1\\n&/' /etc/resolv.conf
: >/run/prepended
"""
# What NetworkManager itself says, in every mode. NO_STUB is written before /etc/resolv.conf, and nothing else writes
# it; OWN is what a link may lead to and a guard may learn from.
NO_STUB, OWN = "/run/NetworkManager/no-stub-resolv.conf", "/run/NetworkManager/resolv.conf"


def set_up(host, rc_manager, dispatcher=True):
    host.write("/etc/NetworkManager/NetworkManager.conf", CONFIGURATION.format(rc_manager=rc_manager))
    host.write("/etc/NetworkManager/system-connections/node.nmconnection", CONNECTION, mode=0o600)
    run("rm", "-f", host.path("/etc/NetworkManager/dispatcher.d/01-ifupdown"))
    if dispatcher:
        host.write(PREPENDER_PATH, PREPENDER, mode=0o755)
    host.enable("NetworkManager", "NetworkManager-dispatcher")


PREPEND = f"""grep -q '^nameserver 127.0.0.1$' {RESOLV} && exit
if grep -q ^nameserver {RESOLV}; then sed -i --follow-symlinks '0,/^nameserver/s//nameserver 127.0.0.1\\n&/' {RESOLV}
else echo nameserver 127.0.0.1 >>{RESOLV}; fi"""


def prepend(host):
    """what an operator without a guardian does"""
    host.inside("sh", "-c", PREPEND)


def own_servers(host):
    """what NetworkManager itself would have the file say"""
    return host.nameservers(NO_STUB)
