"""podman with a storage of its own, the image in it, and guardians in containers: the machine's own containers are left alone."""
import atexit
import json
import os
import shutil
import subprocess
import tempfile
import threading

from harness import Skip
from scratch import SOURCE, once
from world import Failure, conf, wait_for

IMAGE = "localhost/resolv-guardian:test"
RESOLVED = "/run/systemd/resolve/resolv.conf"
RESOLVE_USER = 193  # systemd-resolve's: any that isn't root
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "LEASE")
# runc and plain limits: without CAP_SYS_RESOURCE, and with cgroup v1 beside v2, as CI machines have them, nothing else starts.
CONF = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


class Podman:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="guardian-podman-")
        atexit.register(self.close)
        self.conf = self.dir + "/containers.conf"
        with open(self.conf, "w") as file:
            file.write(CONF)

    def run(self, *words, code=0, timeout=120):
        command = ["podman", "--root", self.dir + "/storage", "--runroot", self.dir + "/run", "--tmpdir", self.dir + "/tmp",
                   "--storage-driver", "vfs", *map(str, words)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
                              env=dict(os.environ, CONTAINERS_CONF=self.conf))
        if code is not None and done.returncode != code:
            raise Failure(f"podman {' '.join(map(str, words))} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def close(self):
        self.run("rm", "--all", "--force", "--time", "0", code=None)
        shutil.rmtree(self.dir, ignore_errors=True)


@once
def built(scratch):
    """the image, of the release at hand"""
    podman = Podman()
    context = scratch.path("context")
    context.mkdir()
    for file, name in ((scratch.binary, "resolv-guardian"), (SOURCE / "LICENSE", "LICENSE"), (SOURCE / "packaging/copyright", "copyright")):
        shutil.copy(file, context / name)
    podman.run("build", "--quiet", "--pull=never", "--tag", IMAGE, "--file", SOURCE / "packaging/container/Containerfile",
               context)
    tried = podman.run("run", "--rm", "--network=none", IMAGE, "--version", code=None)
    podman.why_not = "" if tried.returncode == 0 else f"no container starts here: {tried.stderr.strip()[-300:]}"
    return podman


def podman_of(scratch):
    podman = built(scratch)
    if podman.why_not:
        raise Skip(podman.why_not)
    return podman


def host_of(scratch):
    """a host's root as in the program tests; a container has its configuration as a directory, and socket and state outside"""
    host = scratch.world()
    os.makedirs(host.dir + "/config")
    host.config = host.dir + "/config/config.toml"
    os.makedirs(host.state)
    os.makedirs(host.runtime)
    return host


def resolved_writes(host, *servers):
    """systemd-resolved's file in its own directory, renamed in"""
    os.makedirs(os.path.dirname(host.path(RESOLVED)), exist_ok=True)
    os.chown(os.path.dirname(host.path(RESOLVED)), RESOLVE_USER, RESOLVE_USER)
    host.rename_in(conf(*servers, header="managed by man:systemd-resolved(8)"), RESOLVED)
    os.chown(host.path(RESOLVED), RESOLVE_USER, RESOLVE_USER)


def link(host, target):
    os.symlink(target, host.path("/etc/new"))
    os.rename(host.path("/etc/new"), host.path())


class Container:
    """`resolv-guardian --root /host run`, read-only, without a network, with those capabilities alone."""
    count, lock = 0, threading.Lock()

    def __init__(self, scratch, host, *options, capabilities=CAPABILITIES, volumes=None):
        self.podman, self.host = podman_of(scratch), host
        with Container.lock:
            Container.count += 1
            self.name = f"guardian-{Container.count}"
        volumes = volumes or [f"{host.root}/etc:/host/etc", f"{host.root}/run:/host/run"]
        volumes += [f"{host.dir}/config:/etc/resolv-guardian:ro", f"{host.state}:/var/lib/resolv-guardian",
                    f"{host.runtime}:/run/resolv-guardian"]
        self.podman.run(
            "run", "--detach", "--name", self.name, "--network=none", "--read-only", "--read-only-tmpfs=false",
            "--cap-drop=all", "--security-opt=no-new-privileges", *[f"--cap-add={name}" for name in capabilities],
            *[f"--volume={volume}" for volume in volumes], *options, IMAGE)
        scratch.containers = [*getattr(scratch, "containers", []), self]
        wait_for(self.answers, lambda: f"an answer of the guardian in {self.name}: {self.log()}")

    def answers(self):
        if not self.is_running():
            raise Failure(f"{self.name} has ended: {self.log()}")
        return self.host.run("status", "--alive").returncode == 0

    def inspect(self):
        return json.loads(self.podman.run("inspect", self.name).stdout)[0]

    def is_running(self):
        return self.inspect()["State"]["Running"]

    def log(self):
        done = self.podman.run("logs", self.name, code=None)
        return done.stdout + done.stderr

    def execute(self, *words):
        return self.podman.run("exec", self.name, *words, code=None)

    def stop(self):
        self.podman.run("stop", "--time", "10", self.name)

    def remove(self):
        self.podman.run("rm", "--force", "--time", "1", self.name)
