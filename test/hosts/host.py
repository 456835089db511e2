"""One Debian host: a root of its own over the cached one, a far end, a systemd that boots in it, and the guardian as
its unit or beside it with a host mount. Only inside of isolation.run(): as pid 1, whose end is everybody's."""
import json
import os
import pathlib
import re
import signal
import subprocess

import checks
import image
from checks import Failure, equal, expect
from commands import run
from far import Far
from states import States

RESOLV = "/etc/resolv.conf"
UNIT, WAIT = "resolv-guardian.service", "resolv-guardian-wait.service"
PROGRAM = "/usr/sbin/resolv-guardian"
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 5  # seconds without the order in a guarded host: a guard that misses an event looks again after 30 s

# Most looks start a process in the host: they are taken now and then, or the processor is theirs. Whole hosts share two
# cores: a deadline is for what never comes, not for what comes late.
def wait_for(look, what, seconds=40):
    return checks.wait_for(look, what, seconds, step=0.1)


def hold_for(look, what, seconds):
    checks.hold_for(look, what, seconds, step=0.1)


# As pid 1's parent, in the root: its /proc, /sys and cgroups, and nothing of the machine's is left visible.
BOOT = """
cd "$0"
mount -t proc proc proc; mount -t sysfs -o ro sysfs sys; mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -o bind,ro proc/sys proc/sys; mount --bind proc/sys/net proc/sys/net; mount -o remount,bind,rw proc/sys/net
pivot_root . mnt
exec chroot . sh -c 'umount -l /mnt; exec env -i container=hosts PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd systemd.show_status=false'
"""
CAPABILITIES = "-sys_module,-sys_time,-sys_boot,-sys_rawio,-wake_alarm,-syslog"
NODES = ("null", "zero", "full", "random", "urandom", "tty")


class Host:
    def __init__(self, settings, variant="guarded", layer="", net="192.0.2"):
        self.settings, self.variant, self.guarded = settings, variant, variant != "unguarded"
        self.init = self.sidecar = None
        self.watched = [RESOLV]  # the files that somebody reads without a pause
        self.readers, self.figures = {}, []
        self.scratch = str(image.cache() / "mnt")
        self.root = self.scratch + "/root"
        self.make_root(image.lower(layer))
        self.far = Far(self, net)

    # -- the root
    def make_root(self, lower):
        os.makedirs(self.scratch, exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "mode=755", "hosts", self.scratch)
        for name in ("up", "work", "root", "etc.up", "etc.work"):
            os.mkdir(f"{self.scratch}/{name}")
        # What loses its way must not reach the machine's own /etc.
        self.overlay("/etc", ["/etc"], "etc.up", "etc.work")
        self.overlay(self.root, lower, "up", "work")
        for name, mode in (("run", "755"), ("tmp", "1777"), ("dev", "755")):
            run("mount", "-t", "tmpfs", "-o", f"mode={mode}", name, self.path("/" + name))
        run("mount", "-t", "proc", "proc", self.path("/proc"))
        self.make_devices()

    def overlay(self, target, lower, upper, work):
        layers = ":".join(map(str, lower))
        run("mount", "-t", "overlay", "hosts", "-o",
            f"lowerdir={layers},upperdir={self.scratch}/{upper},workdir={self.scratch}/{work}", target)

    def make_devices(self):
        for name in ("pts", "shm"):
            os.mkdir(self.path(f"/dev/{name}"))
        run("mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=620", "devpts", self.path("/dev/pts"))
        os.symlink("pts/ptmx", self.path("/dev/ptmx"))
        os.symlink("/proc/self/fd", self.path("/dev/fd"))
        for name in NODES:
            pathlib.Path(self.path(f"/dev/{name}")).touch()
            run("mount", "--bind", f"/dev/{name}", self.path(f"/dev/{name}"))

    def path(self, name):
        return self.root + name

    def write(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        pathlib.Path(self.path(name)).write_text(text)
        os.chmod(self.path(name), mode)

    def link(self, name, target):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        run("ln", "-sfn", target, self.path(name))

    def linked(self, name=RESOLV):
        """where a link leads; None where it is none"""
        return os.readlink(self.path(name)) if os.path.islink(self.path(name)) else None

    def read(self, name):
        """None where there is nothing to read. Links may be absolute: they are the host's."""
        done = subprocess.run(["chroot", self.root, "cat", name], stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        return done.stdout.decode() if done.returncode == 0 else None

    def read_all(self, folder):
        """the files of a folder, one after the other"""
        done = subprocess.run(["chroot", self.root, "sh", "-c", f"cat {folder}/*"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        return done.stdout

    def remove(self, name):
        run("rm", "-f", self.path(name))

    def nameservers(self, name):
        return re.findall(r"^nameserver (\S+)$", self.read(name) or "", re.M)

    # -- systemd
    def offline(self, *words):
        run("chroot", self.root, "systemctl", "-q", *words, env={**image.ENVIRONMENT, "SYSTEMD_OFFLINE": "1"})

    def enable(self, *units):
        self.offline("enable", *units)

    def boot(self):
        """The readers look from before the first writer on."""
        for name in self.watched:
            states, nap = f"{self.scratch}/states{len(self.readers)}", 0 if self.settings.busy else 2000
            self.readers[name] = States(self.settings.reader, self.root, name, states, nap)
        command = ["setpriv", f"--bounding-set={CAPABILITIES}", "unshare", "--mount", "--pid", "--uts", "--ipc",
                   "--cgroup", "--fork", "--kill-child", "sh", "-euc", BOOT, self.root]
        procs = os.environ["RG_HOSTS_CGROUP"] + "/cgroup.procs"
        log = open(self.scratch + "/boot.log", "w")
        parent = subprocess.Popen(["sh", "-c", 'echo 0 >"$0"; exec "$@"', procs, *command], stdin=subprocess.DEVNULL,
                                  stdout=log, stderr=log)

        def booted():
            expect(parent.poll() is None, f"it didn't boot: {pathlib.Path(log.name).read_text()}")
            children = pathlib.Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
            return next((pid for pid in children if pathlib.Path(f"/proc/{pid}/comm").read_text() == "systemd\n"), None)
        self.init = wait_for(booted, "systemd as pid 1")
        wait_for(lambda: self.succeeds("systemctl", "show", "-P", "Version"), "systemd to answer")

    def command(self, *words):
        return ["nsenter", "-t", self.init, "-m", "-u", "-i", "-p", "-C", "--", *map(str, words)]

    def inside(self, *words):
        """output of a command in the booted host; raises Failure where it failed"""
        return run(*self.command(*words), env=image.ENVIRONMENT)

    def succeeds(self, *words):
        return not subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                  env=image.ENVIRONMENT).returncode

    def show(self, unit, *names):
        """properties of a unit: one as text, several as a list"""
        values = [self.inside("systemctl", "show", "-P", name, unit).strip() for name in names]
        return values[0] if len(values) == 1 else values

    def wait_unit(self, unit, state="active", seconds=40):
        wait_for(lambda: self.show(unit, "ActiveState") == state,
                 lambda: f"{unit} is {self.show(unit, 'ActiveState', 'SubState', 'Result')}, expected {state}", seconds)

    # -- the guardian
    def install(self, config, *units):
        """as the packages do: program, configuration, units; enabled"""
        target = self.path(PROGRAM)
        run("install", "-m", "755", self.settings.binary, target)
        self.write("/etc/resolv-guardian/config.toml", config)
        for unit in (UNIT, WAIT):
            self.write(f"/etc/systemd/system/{unit}", (REPOSITORY / "packaging/systemd" / unit).read_text())
        self.enable(UNIT, *units)

    def guard(self, config):
        """a unit of the host, from its boot on; nothing in the unguarded run"""
        if self.guarded:
            self.install(config)

    def guard_beside(self, config):
        """outside, as a container with a host mount, once the host is up; nothing in the unguarded run"""
        if not self.guarded:
            return
        pathlib.Path(self.scratch + "/config.toml").write_text(config)
        log = open(self.scratch + "/sidecar.log", "w")
        self.sidecar = subprocess.Popen(self.beside("run"), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: not subprocess.run(self.beside("status"), capture_output=True, check=False).returncode,
                 lambda: "the guardian beside the host holds: " + pathlib.Path(log.name).read_text())

    def beside(self, *words):
        return [self.settings.binary, "--root", self.root, "--config", self.scratch + "/config.toml", "--state-dir",
                self.scratch + "/state", "--runtime-dir", self.scratch + "/runtime", *words]

    def guardian(self, *words):
        """a command of the guardian's, where it runs: (status, output)"""
        command = self.beside(*words) if self.sidecar else self.command(PROGRAM, *words)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, env=image.ENVIRONMENT)
        return done.returncode, done.stdout

    def status(self, path=RESOLV):
        code, text = self.guardian("status", "--json")
        expect(code in (0, 1), f"status ended with {code}: {text}")
        return next(guard for guard in json.loads(text)["guards"] if guard["path"] == path)

    def wait_holds(self, path=RESOLV):
        wait_for(lambda: self.guardian("status")[0] in (0, 1) and self.status(path)["state"] == "holds",
                 lambda: f"{path} holds: {self.guardian('status')[1]}")

    # -- what a resolver sees
    @property
    def reader(self):
        return self.readers[RESOLV]

    def servers(self):
        return self.reader.servers()

    def resolves(self):
        """as a program asks: the C library and /etc/resolv.conf, a name that no cache knows"""
        name = f"n{os.urandom(4).hex()}.lab.test"
        done = subprocess.run(["chroot", self.root, "getent", "ahostsv4", name], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False,
                              env={**image.ENVIRONMENT, "RES_OPTIONS": "timeout:1 attempts:2"})
        return done.stdout.startswith(f"{self.far.net}.123")

    def wait_servers(self, want, seconds=40):
        wait_for(lambda: self.servers() == want, lambda: f"{RESOLV} has {self.servers()}, expected {want}", seconds)

    def hold_servers(self, want, seconds):
        hold_for(lambda: self.servers() == want, lambda: f"{RESOLV} has {self.servers()}, expected {want}", seconds)

    def measure(self, what, since, first):
        """keeps the times without `first` at the top that each reader had since a moment (docs/benchmarks.md); none may
        be long"""
        for name, reader in self.readers.items():
            gaps = reader.gaps(since, lambda servers: servers[:1] == [first])
            expect(max(gaps, default=0) < LONGEST * 1e6, f"{what}: {name} was without {first} first for {gaps} us")
            self.figures.append({"what": what if name == RESOLV else f"{what}, {name}", "us": gaps})

    # -- the end
    def log_tail(self):
        tail = [f"{name}: " + " | ".join(reader.tail(12)) for name, reader in self.readers.items()]
        if self.init:
            journal = self.command("journalctl", "-b", "--no-pager", "-o", "short-monotonic")
            for words in (["-n", "12"], ["-n", "12", "-u", UNIT], ["-n", "12", "-p", "warning"]):
                done = subprocess.run([*journal, *words], capture_output=True, text=True, check=False)
                tail += done.stdout.splitlines()
        for name in ("sidecar.log", "far.log"):
            log = pathlib.Path(self.scratch + "/" + name)
            tail += log.read_text().splitlines()[-8:] if log.exists() else []
        return "".join(f"\n    {line}" for line in tail)

    def close(self):
        for reader in self.readers.values():
            reader.stop()
        if self.sidecar and self.sidecar.poll() is None:
            self.sidecar.send_signal(signal.SIGTERM)
            try:
                code = self.sidecar.wait(5)
            except subprocess.TimeoutExpired:
                return "the guardian beside the host didn't end within 5 s"
            return "" if code == 0 else f"the guardian beside the host ended with {code}"
        return ""


__all__ = ["Failure", "Host", "PROGRAM", "RESOLV", "UNIT", "WAIT", "equal", "expect", "hold_for", "run", "wait_for"]
