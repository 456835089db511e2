"""The root folder that the hosts are booted from: a Debian of its own with every writer in it, built once.

In $RG_HOSTS_CACHE, else $XDG_CACHE_HOME/resolv-guardian-hosts, else /var/cache/resolv-guardian-hosts. A folder is named after what
is in it: another list of packages is another folder. Layers hold packages that exclude each other; they lie over the base.
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

from checks import Failure
from commands import run

HERE = pathlib.Path(__file__).resolve().parent
SUITE = "bookworm"
PACKAGES = ["systemd-sysv", "libpam-systemd", "dbus", "network-manager", "systemd-resolved", "isc-dhcp-client", "dhcpcd-base",
            "dnsmasq-base", "containernetworking-plugins", "iproute2", "e2fsprogs"]
LAYERS = {"openresolv": ["openresolv"], "resolvconf": ["resolvconf"]}
# What a container can't have, or what would change the files of a host that a case looks at.
MASKED = ["systemd-networkd-wait-online", "NetworkManager-wait-online", "systemd-sysctl", "systemd-modules-load", "systemd-udevd",
          "systemd-timesyncd", "getty.target", "console-getty", "apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer",
          "fstrim.timer", "dpkg-db-backup.timer", "dhcpcd",
          # Of no use here, and each takes its time at every boot.
          "systemd-sysusers", "systemd-update-utmp", "systemd-update-utmp-runlevel", "systemd-journal-flush",
          "systemd-random-seed", "systemd-machine-id-commit", "systemd-udev-trigger", "kmod-static-nodes", "e2scrub_reap"]
DISABLED = ["NetworkManager", "NetworkManager-dispatcher", "systemd-networkd", "systemd-resolved"]
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}


class NoMirror(Failure):
    """nothing to build the root folder from; what fails behind that is a failure of these tests"""


def cache():
    default = os.environ.get("XDG_CACHE_HOME", "/var/cache") + "/resolv-guardian-hosts"
    return pathlib.Path(os.environ.get("RG_HOSTS_CACHE", default))


def _digest(*things):
    return hashlib.sha256(repr(things).encode()).hexdigest()[:12]


def base():
    return cache() / f"{SUITE}-{_digest(PACKAGES, MASKED, DISABLED)}"


def lower(layer):
    """the folders of a host, the uppermost first"""
    return [cache() / f"{base().name}+{layer}-{_digest(LAYERS[layer])}", base()] if layer else [base()]


def _mirror():
    """of the machine's own apt; nothing where that isn't Debian's"""
    if not shutil.which("apt-get"):
        return []
    targets = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Component: main").split()
    return [target for target in targets if "security" not in target][:1]


def _apt(root, packages):
    """Installs packages in a root, in a mount namespace of its own: nothing stays mounted, no daemon is started."""
    script = """
        mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"
        cp /etc/resolv.conf "$1/etc/resolv.conf.apt"; mv "$1/etc/resolv.conf.apt" "$1/etc/resolv.conf"
        printf '#!/bin/sh\\nexit 101\\n' >"$1/usr/sbin/policy-rc.d"; chmod 755 "$1/usr/sbin/policy-rc.d"
        root=$1; shift
        chroot "$root" apt-get -q update
        chroot "$root" apt-get -q install -y --no-install-recommends "$@"
        chroot "$root" apt-get clean
        rm -rf "$root/usr/sbin/policy-rc.d" "$root/etc/resolv.conf" "$root"/var/lib/apt/lists/*"""
    run("unshare", "--mount", "--propagation", "private", "sh", "-euc", script, "sh", root, *packages, env=ENVIRONMENT)


def _systemctl(root, *words):
    subprocess.run(["chroot", str(root), "systemctl", "-q", *words], env={**ENVIRONMENT, "SYSTEMD_OFFLINE": "1"},
                   capture_output=True, check=False)


def _build_base(root):
    mirror = _mirror()
    tls = ["--include=ca-certificates"] if mirror and mirror[0].startswith("https:") else []
    try:
        run("unshare", "--mount", "--propagation", "private", "debootstrap", "--variant=minbase", *tls, SUITE, root, *mirror)
    except Failure as error:
        raise NoMirror(f"debootstrap: {str(error).splitlines()[-1]}") from error
    settings = run("apt-config", "dump") if mirror else ""
    wanted = re.findall(r"^Acquire::(?:Check|http|https|Retries).*$", settings, re.M)
    (root / "etc/apt/apt.conf.d/99-of-the-machine").write_text("\n".join(wanted) + "\n")
    # Not by debootstrap: it can't resolve the virtual packages that NetworkManager depends on.
    _apt(root, PACKAGES)
    (root / "usr/sbin/resolvconf").unlink()  # resolved's alias: NetworkManager would feed it and leave the file alone
    (root / "etc/hostname").write_text("node\n")
    (root / "etc/machine-id").write_text("6d0e1c52f9a94c0fb7a3000000000002\n")
    _systemctl(root, "disable", *DISABLED)
    _systemctl(root, "mask", *MASKED)


def _build_layer(folder, packages):
    for part in ("up", "work", "all"):
        (folder / part).mkdir(parents=True)
    mount = f"mount -t overlay hosts -o lowerdir={base()},upperdir={folder}/up,workdir={folder}/work {folder}/all"
    inner = ("import sys, pathlib; sys.path[:0] = sys.argv[1].split(chr(58)); import image; "
             "image._apt(pathlib.Path(sys.argv[2]), sys.argv[3:])")
    run("unshare", "--mount", "--propagation", "private", "sh", "-euc", mount + '; exec "$@"', "sh", "/usr/bin/env", "python3",
         "-c", inner, f"{HERE}:{HERE.parent / 'support'}", folder / "all", *packages)
    (folder / "up").rename(folder.with_suffix(".up"))
    shutil.rmtree(folder)
    folder.with_suffix(".up").rename(folder)


@contextlib.contextmanager
def _part(folder):
    """What is built under another name first: a folder that is there is whole."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    yield part
    part.rename(folder)


def build():
    """Raises NoMirror, or Failure. Does nothing where all is there."""
    cache().mkdir(parents=True, exist_ok=True)
    with open(cache() / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.umask(0o022)
        if not base().exists():
            with _part(base()) as part:
                _build_base(part)
        for layer, packages in LAYERS.items():
            if not lower(layer)[0].exists():
                with _part(lower(layer)[0]) as part:
                    _build_layer(part, packages)
