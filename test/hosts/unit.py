"""What the cases of the units share: a policy, its boot as a unit, and a kubelet that waits for the order."""
from host import REPOSITORY, RESOLV, UNIT

LOCAL, NET = "127.0.0.1", "10.77.0"
SERVER = f"{NET}.1"
CONFIG = "/etc/resolv-guardian/config.toml"
DRIFTED = "nameserver 192.0.2.53\n"
POLICY = f'[[guard]]\npath = "{RESOLV}"\n[guard.nameservers]\nfirst = ["{LOCAL}"]\n'
ONLY = ("guarded",)
KUBELET = """[Unit]
Description=What must not start before the order holds
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/cp /etc/resolv.conf /run/kubelet-resolv.conf
[Install]
WantedBy=multi-user.target
"""


def start(host, policy=POLICY, drop_in=None, units=(), resolv_conf=DRIFTED):
    if resolv_conf is not None:
        host.write(RESOLV, resolv_conf)
    host.install(policy, *units)
    if drop_in:
        host.write(f"/etc/systemd/system/{UNIT}.d/test.conf", drop_in)
    host.boot()


def rename_in(host, text, name=RESOLV):
    """as a writer in the host does"""
    host.inside("sh", "-c", f'printf %s "$1" >{name}.new && mv {name}.new {name}', "sh", text)


def add_kubelet(host):
    """with the drop-in that the documentation tells to install"""
    host.write("/etc/systemd/system/kubelet.service", KUBELET)
    host.write("/etc/systemd/system/kubelet.service.d/10-resolv-guardian.conf",
               (REPOSITORY / "packaging/systemd/wait-for-order.conf").read_text())
    host.enable("kubelet")


def monotonic(host, unit, name):
    """a timestamp of systemd's, in seconds; 0 where it hasn't happened"""
    return int(host.show(unit, name + "TimestampMonotonic")) / 1e6
