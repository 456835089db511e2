"""A scratch root that packages are installed into: a shell, /dev/null, a systemctl that writes down what it is asked."""
import os
import shutil
import stat

from checks import equal, expect, wait_for
from world import conf, nameservers

# Asked to stop the guardian it does so, as systemd would; with /systemctl.fails there it fails after that.
SYSTEMCTL = """#!/bin/sh
echo "$*" >>/systemctl.log
case "$*" in
  *--now*resolv-guardian.service* | stop*resolv-guardian.service*)
    [ ! -e /guardian.pid ] || kill "$(cat /guardian.pid)" ;;
esac
[ ! -e /systemctl.fails ]
"""
GUARD = '[[guard]]\npath = "/etc/resolv.conf"\n[guard.nameservers]\nfirst = ["127.0.0.1"]\n'
CONFIG = "/etc/resolv-guardian/config.toml"
STATE = "/var/lib/resolv-guardian"


class Host:
    def __init__(self, scratch, running=True, systemctl=True):
        """running: systemd runs there, as /run/systemd/system says (sd_booted(3))"""
        self.scratch, self.root = scratch, scratch.path("host")
        for folder in ("bin", "dev", "etc", "proc", "run", "tmp", "usr/bin", "usr/sbin", "var/lib"):
            (self.root / folder).mkdir(parents=True)
        # Without it every `2>/dev/null` of a scriptlet fails, and the command isn't run.
        os.mknod(self.root / "dev/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        shutil.copy(shutil.which("busybox"), self.root / "bin/busybox")
        scratch.run("chroot", self.root, "/bin/busybox", "--install", "-s", "/bin")
        if running:
            scratch.mount("-t", "proc", "proc", self.root / "proc")
            (self.root / "run/systemd/system").mkdir(parents=True)
        if systemctl:
            self.write("/usr/bin/systemctl", SYSTEMCTL, 0o755)
        self.write("/etc/resolv.conf", conf("192.0.2.53"))

    def path(self, name):
        return self.root / name.lstrip("/")

    def write(self, name, text, mode=0o644):
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text)
        self.path(name).chmod(mode)

    def read(self, name):
        return self.path(name).read_text()

    def servers(self):
        return nameservers(self.read("/etc/resolv.conf"))

    def guardian(self, *words, code=0):
        return self.scratch.run("chroot", self.root, "/usr/sbin/resolv-guardian", *words, code=code)

    def start(self):
        """a guardian in it, which the systemctl in it can stop"""
        with open(self.scratch.path("guardian.log"), "ab") as log:
            process = self.scratch.start("chroot", self.root, "/usr/sbin/resolv-guardian", "run", stdout=log, stderr=log)
        self.write("/guardian.pid", str(process.pid))
        wait_for(lambda: self.servers()[:1] == ["127.0.0.1"], lambda: f"not restored: {self.servers()}")
        self.guardian("status", "--wait-holds", "10")
        return process

    def asked(self):
        """what systemctl was asked since the last time"""
        log = self.path("/systemctl.log")
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def wait_unit_is_left_alone(self, asked):
        """Stopped or restarted it takes with it what requires it (systemd.unit(5), Requires=)."""
        ends = [line for line in asked if "wait" in line and any(w in line for w in ("--now", "stop", "restart"))]
        equal(ends, [], "asked of systemctl about the wait unit")

    def left_over(self):
        """what of the package is still there"""
        folders = (self.path(name) for name in ("etc", "run", "tmp", "usr", "var"))
        found = [path for folder in folders for path in folder.rglob("*resolv*guardian*")]
        return sorted(str(path.relative_to(self.root)) for path in found)

    def expect_given_back(self):
        equal(self.read("/etc/resolv.conf"), conf("192.0.2.53"), "/etc/resolv.conf")
        hidden = [name for name in os.listdir(self.path("/etc")) if name.startswith(".")]
        expect(not hidden, f"left beside it: {hidden}")


DROP_INS = "/etc/systemd/system"
OTHERS = ["crio.service.d/empty.conf", "crio.service.d/other.conf", "sshd.service.d/changed.conf",
          "sshd.service.d/folder.conf"]


def add_drop_ins(host):
    """two copies of the shipped one, in units and of names that their owner chose, and what else may lie there"""
    shipped = host.read("/usr/share/resolv-guardian/wait-for-order.conf")
    for name in ("kubelet.service.d/10-resolv-guardian.conf", "crio.service.d/order.conf"):
        host.write(f"{DROP_INS}/{name}", shipped)
    host.write(f"{DROP_INS}/crio.service.d/other.conf", "[Unit]\nDescription=other\n")
    host.write(f"{DROP_INS}/crio.service.d/empty.conf", "")
    host.write(f"{DROP_INS}/sshd.service.d/changed.conf", "[Service]\nNice=1\n" + shipped)
    host.path(f"{DROP_INS}/sshd.service.d/folder.conf").mkdir()


def drop_ins(host):
    return sorted(str(path.relative_to(host.path(DROP_INS))) for path in host.path(DROP_INS).glob("*.d/*"))


def expect_drop_ins_removed(host, done, asked):
    """What requires a unit that is gone can't start."""
    equal(drop_ins(host), OTHERS, "drop-ins")
    expect(not host.path(f"{DROP_INS}/kubelet.service.d").exists(), "an empty folder of drop-ins is left")
    said, told = done.stdout + done.stderr, "resolv-guardian: removed {}, which requires resolv-guardian-wait.service\n"
    for name in ("kubelet.service.d/10-resolv-guardian.conf", "crio.service.d/order.conf"):
        expect(told.format(f"{DROP_INS}/{name}") in said, f"nothing is said of {name}: {said}")
    changed = f"{DROP_INS}/sshd.service.d/changed.conf names resolv-guardian-wait.service"
    expect(changed in said, f"nothing is said of the changed one: {said}")
    equal(said.count(DROP_INS + "/"), 3, f"drop-ins that are named in {said}")
    expect("daemon-reload" in asked, f"asked of systemctl: {asked}")
    host.wait_unit_is_left_alone(asked)
