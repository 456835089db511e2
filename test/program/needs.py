"""What a case may need of the machine, and the reason that is given where it is missing."""
import os
import shutil
import subprocess
import tempfile


def may_chattr():
    with tempfile.NamedTemporaryFile(prefix="rg-") as file:
        tries = [["chattr", flag, file.name] for flag in ("+i", "-i")]
        return shutil.which("chattr") is not None and all(not subprocess.run(t, capture_output=True).returncode for t in tries)


def may_strace():
    return shutil.which("strace") is not None and not subprocess.run(["strace", "-o", "/dev/null", "true"],
                                                                     capture_output=True).returncode


def may_limit_watches():
    """a user namespace has its own limit"""
    script = "echo 3 > /proc/sys/user/max_inotify_watches"
    return os.geteuid() == 0 and not subprocess.run(["unshare", "--user", "--map-root-user", "sh", "-c", script],
                                                    capture_output=True).returncode


def may_freeze():
    """makes a small file system and mounts it: a loop device may be there and not be allowed"""
    words = [shutil.which(tool) for tool in ("mkfs.ext4", "fsfreeze", "losetup")]
    if os.environ.get("RG_OWN_MOUNTS") != "1" or not all(words):
        return False
    with tempfile.TemporaryDirectory(prefix="rg-") as folder:
        image = folder + "/image"
        with open(image, "wb") as file:
            file.truncate(4 << 20)
        tries = (["mkfs.ext4", "-q", image], ["mount", "-o", "loop", image, folder], ["umount", folder])
        return all(not subprocess.run(words, capture_output=True).returncode for words in tries)


def may_fuse():
    words = [shutil.which(tool) for tool in ("bindfs", "fusermount3")]
    return os.environ.get("RG_OWN_MOUNTS") == "1" and all(words) and os.access("/dev/fuse", os.R_OK | os.W_OK)


def may_make_networks():
    script = "ip link add name one type veth peer name two && ip link set one up"
    return shutil.which("ip") is not None and not subprocess.run(["unshare", "--net", "sh", "-c", script],
                                                                 capture_output=True).returncode


def may_trace(settings):
    return not subprocess.run([settings.tool("killat"), "1000000", "true"], capture_output=True).returncode


NEEDS = {  # need: (is it met?, the reason where it is not)
    "root": (lambda s: os.geteuid() == 0, "needs root"),
    "mountns": (lambda s: os.environ.get("RG_OWN_MOUNTS") == "1", "needs root and a mount namespace (unshare --mount)"),
    "chattr": (lambda s: may_chattr(), "needs chattr +i (CAP_LINUX_IMMUTABLE, a file system that knows it)"),
    "strace": (lambda s: may_strace(), "needs strace and the right to trace"),
    "userns": (lambda s: may_limit_watches(), "needs root and a user namespace with limits of its own"),
    "loop": (lambda s: may_freeze(), "needs mkfs.ext4, fsfreeze and loop devices"),
    "fuse": (lambda s: may_fuse(), "needs bindfs and /dev/fuse"),
    "netns": (lambda s: may_make_networks(), "needs root, ip(8) and network namespaces with veth (CAP_NET_ADMIN)"),
    "ptrace": (may_trace, "needs the right to trace (ptrace)"),
    "plain": (lambda s: not s.sanitized, "is for the plain build: a sanitizer's own system calls and memory are in the way"),
    "user": (lambda s: shutil.which("setpriv") is not None and os.geteuid() == 0, "needs root and setpriv"),
}
