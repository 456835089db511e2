"""The support of the program tests: a root to guard, the guardian in it, and waiting on states with a deadline."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

from checks import Failure, equal, expect, hold_for, wait_for  # the cases take them from here

RESOLV = "/etc/resolv.conf"


@dataclass
class Settings:
    binary: str
    tools: str
    sanitized: bool = False
    keep: bool = False

    def tool(self, name):
        return f"{self.tools}/{name}"

    @property
    def patience(self):
        """how much longer than in the plain build anything may take"""
        return 5 if self.sanitized else 1


def nameservers(text):
    return re.findall(r"^nameserver (\S+)$", text or "", re.M)


def conf(*servers, search=None, options=None, header=None):
    lines = [f"# {header}"] if header else []
    lines += [f"search {search}"] if search else []
    lines += [f"nameserver {s}" for s in servers]
    lines += [f"options {options}"] if options else []
    return "".join(line + "\n" for line in lines)


def guard(path=RESOLV, first=("127.0.0.1",), extra="", **keys):
    """A [[guard]] table; extra is TOML behind the nameservers' table."""
    lines = ["[[guard]]", f"path = {json.dumps(path)}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join([*lines, "[guard.nameservers]", f"first = {json.dumps(list(first))}", extra]) + "\n"


class World:
    """A root in a temporary directory, a configuration outside of it, and guardians that are gone at the end."""

    def __init__(self, settings):
        self.settings = settings
        self.guardians, self.mounts, self.immutable, self.others = [], [], [], []
        self.settle_in(None)

    def settle_in(self, parent):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="rg-", dir=parent))
        self.root = self.dir + "/root"
        self.config, self.state, self.runtime = self.dir + "/config.toml", self.dir + "/state", self.dir + "/run"
        os.makedirs(self.root + "/etc")
        os.makedirs(self.root + "/run")

    # -- the root
    def move(self, parent):
        """to another place, before anything is in it"""
        shutil.rmtree(self.dir)
        self.settle_in(parent)

    def path(self, name=RESOLV):
        return self.root + name

    def write(self, text, name=RESOLV, mode=0o644):
        """in place, as an editor would: truncated, filled, closed"""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        pathlib.Path(self.path(name)).write_text(text)
        os.chmod(self.path(name), mode)

    def rename_in(self, text, name=RESOLV, mode=0o644):
        """a temporary file renamed over the name, as NetworkManager does"""
        temp = self.path(name) + ".NMtmp"
        pathlib.Path(temp).write_text(text)
        os.chmod(temp, mode)
        os.rename(temp, self.path(name))

    def read(self, name=RESOLV):
        """None where there is nothing to read"""
        try:
            return pathlib.Path(self.path(name)).read_text()
        except OSError:
            return None

    def servers(self, name=RESOLV):
        return nameservers(self.read(name))

    def mode(self, name=RESOLV):
        return stat.S_IMODE(os.stat(self.path(name)).st_mode)

    def wait_servers(self, servers, name=RESOLV, seconds=10):
        wait_for(lambda: self.servers(name) == list(servers),
                 lambda: f"{name} has {self.servers(name)}, expected {list(servers)}", seconds * self.settings.patience)

    def beside(self, directory="/etc"):
        return sorted(os.listdir(self.path(directory)))

    # -- the program
    def configure(self, *parts):
        """by rename, so that it is never half there"""
        temp = self.config + ".new"
        pathlib.Path(temp).write_text("\n".join(parts))
        os.rename(temp, self.config)

    def command(self, *words, config=True):
        return [self.settings.binary, *(["--config", self.config] if config else []), "--root", self.root, "--state-dir",
                self.state, "--runtime-dir", self.runtime, *words]

    def run(self, *words, code=None, config=True, env=None, prefix=(), timeout=30):
        done = subprocess.run([*prefix, *self.command(*words, config=config)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, env=dict(os.environ, **(env or {})), timeout=timeout * self.settings.patience)
        if code is not None and done.returncode != code:
            raise Failure(f"{' '.join(words)} ended with {done.returncode}, expected {code}: {done.stdout}{done.stderr}")
        return done

    def run_without_config(self, *words):
        """where the configuration can't be looked at"""
        return subprocess.run(self.command(*words, config=False), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=30 * self.settings.patience, check=False)

    def start(self, *words, **options):
        guardian = Guardian(self, words, **options)
        self.guardians.append(guardian)
        return guardian

    def tool(self, name, *words, **options):
        """a tool of ours in the background, ended with the world"""
        process = subprocess.Popen([self.settings.tool(name), *words], stdin=subprocess.DEVNULL, text=True, **options)
        self.others.append(process)
        return process

    def status(self, code=None):
        """of the running guardian, once it answers"""
        begin = time.monotonic()
        done = self.run("status", "--json")
        while done.returncode == 3 and time.monotonic() - begin < 5 * self.settings.patience:
            done = self.run("status", "--json")
        expect(code in (None, done.returncode), f"status ended with {done.returncode}, expected {code}")
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise Failure(f"status ended with {done.returncode}: {done.stdout!r} {done.stderr!r}") from None

    def status_of(self, path):
        """None where no guard has this path (yet)"""
        return next((g for g in self.status()["guards"] if g["path"] == path), None)

    def guard_status(self, path=RESOLV):
        found = self.status_of(path)
        expect(found, f"status has no guard of {path}")
        return found

    def wait_state(self, state, path=RESOLV, reason="", seconds=10):
        last = {}

        def look():
            last.update(self.status_of(path) or {"state": "not guarded"})
            return last["state"] == state and re.search(reason, last.get("reason") or "")
        wait_for(look, lambda: f"{path} is {last['state']} ({last.get('reason')}), expected {state} ({reason})",
                 seconds * self.settings.patience)
        return last

    def history(self, event=None, path=None):
        lines = self.run("history", "--json", "-n", "0", code=0).stdout.splitlines()
        events = [json.loads(line) for line in lines]
        return [e for e in events if event in (None, e["event"]) and path in (None, e["path"])]

    # -- mounts and flags, undone at the end
    def mount(self, *words):
        subprocess.run(["mount", *words], check=True, capture_output=True)
        self.mounts.append(words[-1])

    def umount(self, path, *flags):
        subprocess.run(["umount", *flags, path], check=True, capture_output=True)
        self.mounts.remove(path)

    def beside_root(self, name):
        """where what is mounted at a name comes from"""
        return self.dir + "/of" + name.replace("/", "-")

    def mount_disk(self, name="/disk"):
        """a file system of its own, that can be frozen"""
        image = self.beside_root(name)
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True, capture_output=True)
        os.makedirs(self.path(name), exist_ok=True)
        self.mount("-o", "loop", image, self.path(name))

    @contextlib.contextmanager
    def frozen(self, name="/disk"):
        """What writes to it waits in the kernel, and no signal ends that. thaw() inside ends it early."""
        freeze = lambda flag: subprocess.run(["fsfreeze", flag, self.path(name)], check=True, capture_output=True)
        thawed = []

        def thaw():
            thawed.append(True)
            freeze("-u")
        freeze("-f")
        try:
            yield thaw
        finally:
            if not thawed:
                thaw()

    def mount_fuse(self, name="/fuse"):
        """a FUSE file system that hangs while its daemon is stopped; gives the daemon"""
        source, target = self.beside_root(name), self.path(name)
        os.makedirs(source, exist_ok=True)
        os.makedirs(target, exist_ok=True)
        daemon = subprocess.Popen(["bindfs", "-f", source, target], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.others.append(daemon)
        self.mounts.append(target)
        wait_for(lambda: os.path.ismount(target), "a FUSE mount")
        return daemon

    def chattr(self, flag, name=RESOLV):
        subprocess.run(["chattr", flag, self.path(name)], check=True, capture_output=True)
        self.immutable.append(self.path(name))

    # -- the end
    def log_tail(self):
        logs = [pathlib.Path(g.log_path).read_text(errors="replace").splitlines()[-15:] for g in self.guardians]
        return "".join(f"\n    log: {line}" for log in logs for line in log)

    def close(self):
        """what was left behind or went wrong with nobody looking, in words; empty if nothing"""
        for process in self.others:  # first of all: what a stopped FUSE daemon holds up ends with it
            if process.poll() is None:
                process.kill()
            process.wait()
        problems = [p for p in (g.close() for g in self.guardians) if p]
        for path in self.immutable:
            subprocess.run(["chattr", "-i", "-a", path], capture_output=True, check=False)
        for path in reversed(self.mounts):
            subprocess.run(["umount", "-l", path], capture_output=True, check=False)
        if not self.settings.keep:
            shutil.rmtree(self.dir, ignore_errors=True)
        return "\n".join(problems)


class Guardian:
    """One `resolv-guardian run` with a notification socket of its own."""

    def __init__(self, world, words=(), ready=True, env=None, prefix=(), before=(), log=None):
        self.world, self.datagrams, self.number = world, [], len(world.guardians)
        self.arrived = threading.Condition()
        address = f"{world.dir}/notify.{self.number}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        os.chmod(address, 0o777)  # for a guardian that runs as somebody else
        threading.Thread(target=self.listen, daemon=True).start()
        self.log_path = log or f"{world.dir}/log.{self.number}"
        config = os.path.exists(world.config)
        with open(self.log_path, "ab") as log_file:
            self.started = time.monotonic()
            self.process = subprocess.Popen(
                [*prefix, *world.command(*before, "run", *words, config=config)], stdin=subprocess.DEVNULL,
                stdout=log_file, stderr=log_file, env={**os.environ, "NOTIFY_SOCKET": address, **(env or {})})
        if ready:
            self.wait_ready()

    def listen(self):
        while data := self.socket.recv(65536):
            with self.arrived:
                self.datagrams.append((time.monotonic(), data.decode("utf-8", "replace")))

    def lines(self, since=0):
        with self.arrived:
            return [line for at, text in self.datagrams if at >= since for line in text.split("\n")]

    def log(self):
        return pathlib.Path(self.log_path).read_text(errors="replace")

    def wait_line(self, pattern, since=0, seconds=10):
        """the first line of a datagram that matches"""
        def look():
            if self.process.poll() is not None and not any(re.search(pattern, line) for line in self.lines(since)):
                raise Failure(f"it ended with {self.process.returncode} before {pattern}: {self.log()[-2000:]}")
            return next((line for line in self.lines(since) if re.search(pattern, line)), None)
        return wait_for(look, lambda: f"{pattern} in {self.lines(since)}", seconds * self.world.settings.patience)

    def wait_ready(self, seconds=10):
        return self.wait_line("^READY=1$", seconds=seconds)

    def wait_end(self, seconds=10):
        try:
            return self.process.wait(seconds * self.world.settings.patience)
        except subprocess.TimeoutExpired:
            raise Failure(f"still running after {seconds} s") from None

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, code=0):
        self.signal(signal.SIGTERM)
        equal(self.wait_end(), code, "SIGTERM ended it with")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        problem = ""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10 * self.world.settings.patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                problem = "it had to be killed"
        if self.world.settings.sanitized and (found := re.search(r"(ERROR|WARNING): \w+Sanitizer.*|runtime error.*", self.log())):
            problem = found.group(0)
        self.socket.shutdown(socket.SHUT_RDWR)
        return problem
