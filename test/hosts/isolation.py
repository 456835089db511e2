"""What keeps a host apart from the machine: namespaces and a cgroup of its own, whose pid 1 plays the case.

Everything that is started dies with that pid 1, everything that is mounted or written with its mount namespace: the
machine's network, /etc and /run aren't even visible to what runs inside. Where one of these isn't to be had, missing()
says which.
"""
import contextlib
import os
import pathlib
import re
import secrets
import shutil
import subprocess

from checks import wait_for

TOOLS = {"debootstrap": "debootstrap", "ip": "iproute2", "unshare": "util-linux", "setpriv": "util-linux",
         "nsenter": "util-linux"}
NAMESPACES = ["--mount", "--pid", "--net", "--uts", "--ipc"]


def cgroups():
    """where cgroup2 is mounted, alone or beside version 1"""
    mounts = pathlib.Path("/proc/self/mounts").read_text()
    found = re.search(r"^\S+ (\S+) cgroup2 ", mounts, re.M)
    return pathlib.Path(found.group(1)) if found else None


# Veth, bridge and overlay are modules in some kernels; what they need is tried, not looked up.
PROBE = """
mount -t tmpfs probe /mnt && mkdir /mnt/low /mnt/up /mnt/work /mnt/all
mount -t overlay probe -o lowerdir=/mnt/low,upperdir=/mnt/up,workdir=/mnt/work /mnt/all
ip link add probe0 type veth peer name probe1
ip link add probe2 type bridge
"""


def missing():
    """why no host can be played here; None where one can"""
    if os.geteuid() != 0:
        return "needs root"
    absent = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool)})
    if absent:
        return f"needs {' '.join(absent)}"
    top = cgroups()
    if top is None:
        return "needs a mounted cgroup2"
    try:
        with cgroup(top):
            pass
    except OSError as error:
        return f"needs a cgroup of its own: {error}"
    probe = subprocess.run(["unshare", *NAMESPACES, "--fork", "--mount-proc", "sh", "-euc", PROBE], capture_output=True,
                           text=True, check=False)
    if probe.returncode:
        return f"needs namespaces, overlayfs, veth and bridge (CAP_SYS_ADMIN, CAP_NET_ADMIN): {probe.stderr.strip()}"
    return None


def remove_tree(top):
    """of cgroups: empty once their processes are gone"""
    with contextlib.suppress(OSError):
        for folder, _, _ in os.walk(top, topdown=False):
            os.rmdir(folder)
    return not top.exists()


@contextlib.contextmanager
def cgroup(top):
    path = top / f"resolv-guardian-hosts-{os.getpid()}-{secrets.token_hex(4)}"
    path.mkdir()
    try:
        yield path
    finally:
        # A killed process is in it for some time more, and no event tells of its end.
        wait_for(lambda: remove_tree(path), f"{path} can't be removed")


def remove_left_over():
    """cgroups of runs that were killed"""
    top = cgroups()
    for path in top.glob("resolv-guardian-hosts-*") if top else ():
        if not os.path.exists(f"/proc/{path.name.split('-')[3]}"):
            remove_tree(path)


def run(words, deadline):
    """Runs words as pid 1 of namespaces of their own; gives what they printed. Killed with all that they started at the
    deadline (seconds), and when this process dies."""
    with cgroup(cgroups()) as path:
        command = ["setpriv", "--pdeathsig", "KILL", "unshare", *NAMESPACES, "--fork", "--mount-proc", "--kill-child",
                   "--propagation", "private", *words]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, env={**os.environ, "RG_HOSTS_CGROUP": str(path)})
        try:
            return process.communicate(timeout=deadline)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0] + f"\nnot done within {deadline} s"
