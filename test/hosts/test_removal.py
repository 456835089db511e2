"""What the guardian leaves when it ends, when it is told to release, and when it is removed, by hand and as a package."""
import os
import re
import shutil

import networkd
from checks import equal
from harness import Skip
from host import REPOSITORY, RESOLV, UNIT, WAIT, expect, hold_for, run, wait_for
from networkd import STUB
from scenario import scenario
from unit import CONFIG, DRIFTED, KUBELET, LOCAL, NET, ONLY, POLICY, SERVER, add_kubelet, monotonic, rename_in, start


def given_back(host, how, policy):
    """A link of resolved's was replaced by a file: it must come back as it was, and resolved leaves its foreign mode."""
    host.far.serve()
    networkd.set_up(host, "stub")
    start(host, policy=policy, resolv_conf=None)
    networkd.wait_configured(host)
    host.wait_servers([LOCAL, SERVER])
    equal(host.linked(), None, "a link while it is guarded")
    mode = lambda: re.search(r"resolv.conf mode: (\S+)", host.inside("resolvectl", "status")).group(1)
    equal(mode(), "foreign", "resolved's mode while it is guarded")
    how(host)
    wait_for(lambda: host.linked() == ".." + STUB, lambda: f"the link: {host.linked()}")
    equal(mode(), "stub", "resolved's mode")


FILE = f'[[guard]]\npath = "{RESOLV}"\nlink = "file"\nupstream = ["/run/systemd/netif/links/*"]\n'
FIRST = f'[guard.nameservers]\nfirst = ["{LOCAL}"]\n'


@scenario(net=NET, runs=ONLY)
def stop_with_on_exit_restore(host):
    given_back(host, lambda host: host.inside("systemctl", "stop", UNIT), FILE + 'on_exit = "restore"\n' + FIRST)


@scenario(net=NET, runs=ONLY)
def release_gives_the_link_back(host):
    given_back(host, lambda host: equal(host.guardian("release")[0], 0), FILE + FIRST)
    host.inside("systemctl", "restart", UNIT)  # paused until it is resumed or the next boot
    hold_for(lambda: host.linked() == ".." + STUB, "a restart ended the release", 1)
    equal(host.guardian("resume")[0], 0)
    host.wait_servers([LOCAL, SERVER])


def file_given_back(host, how, policy=POLICY):
    """as the last writer left it: his bytes, mode and owner"""
    start(host, policy=policy)
    host.wait_servers([LOCAL, "192.0.2.53"])
    text = "# by hand\r\nnameserver 192.0.2.54\n\nnameserver   192.0.2.55"
    new = host.path(RESOLV + ".new")
    host.write(RESOLV + ".new", text, mode=0o640)
    run("chroot", host.root, "chown", "systemd-resolve:systemd-network", RESOLV + ".new")
    what = lambda name: (oct(os.stat(name).st_mode), os.stat(name).st_uid, os.stat(name).st_gid)
    left = what(new)
    host.inside("mv", RESOLV + ".new", RESOLV)
    host.wait_servers([LOCAL, "192.0.2.54", "192.0.2.55"])
    host.wait_holds()
    how(host)
    wait_for(lambda: host.read(RESOLV) == text, lambda: f"the bytes: {host.read(RESOLV)!r}")
    equal(what(host.path(RESOLV)), left, "mode, owner and group")
    expect(left[1] and left[2], "they are root's")


@scenario(runs=ONLY)
def release_gives_the_file_back(host):
    file_given_back(host, lambda host: equal(host.guardian("release")[0], 0))


@scenario(runs=ONLY)
def stop_with_on_exit_restore_gives_the_file_back(host):
    policy = POLICY.replace("[guard.", 'on_exit = "restore"\n[guard.')
    file_given_back(host, lambda host: host.inside("systemctl", "stop", UNIT), policy)


@scenario(runs=ONLY)
def removed_by_hand(host):
    """docs/operations.md, "Removing it": nothing of it is left; what waited for the order goes on, and can start again"""
    before = set(everything(host))
    add_kubelet(host)
    start(host)
    host.wait_unit("kubelet")
    host.wait_servers([LOCAL, "192.0.2.53"])
    since = kubelet_runs_since(host)
    host.inside("sh", "-euc", removal())
    equal(host.read(RESOLV), DRIFTED, "the file")
    equal(kubelet_runs_since(host), since, "kubelet runs since")
    kubelet_starts_again(host)
    left = sorted(set(everything(host)) - before - {"/etc/resolv.conf"})
    equal([name for name in left if "guardian" in name], [], "left behind")


def kubelet_runs_since(host):
    return monotonic(host, "kubelet", "ActiveEnter") if host.show("kubelet", "ActiveState") == "active" else None


def kubelet_starts_again(host):
    host.inside("systemctl", "daemon-reload")
    host.inside("systemctl", "restart", "kubelet")
    equal(host.show("kubelet", "ActiveState"), "active", "kubelet, started again")


# What comes and goes in a host by itself, or with any package. In units and propagate systemd has something of each unit that
# is active: of the wait unit until the next boot, as it is never stopped (that would stop what requires it).
ELSEWHERE = r"/run/systemd/(journal|propagate|units)/|/var/(log|cache|tmp)/|/var/lib/dpkg/(lock|triggers|.*-old$)"


def listing(host):
    names = host.inside("find", "/etc", "/usr", "/var", "/run", "-xdev").splitlines()
    return {name for name in names if not re.match(ELSEWHERE, name)}


@scenario(runs=ONLY)
def purged(host):
    """the real package: installed, holding, required by kubelet, purged"""
    packages = sorted((REPOSITORY / "dist/deb").glob("resolv-guardian_*.deb"), key=os.path.getmtime)
    if not packages:
        raise Skip("needs dist/deb/*.deb (packaging/deb/build)")
    shutil.copy(packages[-1], host.path("/guardian.deb"))
    host.write("/etc/systemd/system/kubelet.service", KUBELET)
    host.enable("kubelet")
    host.write(RESOLV, DRIFTED)
    host.boot()
    host.wait_unit("multi-user.target")
    before = listing(host)
    host.inside("dpkg", "-i", "/guardian.deb")
    host.write(CONFIG, POLICY)
    host.inside("systemctl", "enable", "--now", UNIT, WAIT)
    host.wait_servers([LOCAL, "192.0.2.53"])
    drop_in = "/etc/systemd/system/kubelet.service.d/10-resolv-guardian.conf"
    host.inside("install", "-D", "-m", "0644", "/usr/share/resolv-guardian/wait-for-order.conf", drop_in)
    kubelet_starts_again(host)
    expect(WAIT in host.show("kubelet", "Requires"), "kubelet doesn't require the wait unit")
    since = kubelet_runs_since(host)
    last = "nameserver 192.0.2.54\n"
    rename_in(host, last)
    host.wait_servers([LOCAL, "192.0.2.54"])
    said = host.inside("dpkg", "--purge", "resolv-guardian")
    expect(f"removed {drop_in}" in said, said)
    equal(host.read(RESOLV), last, "the file")
    equal(kubelet_runs_since(host), since, "kubelet runs since")
    kubelet_starts_again(host)
    equal(sorted(listing(host) ^ before), [], "other than before")


def everything(host):
    found = run("chroot", host.root, "find", "/etc", "/var/lib", "/run", "/usr/sbin", "-xdev", "-name", "*guardian*")
    return found.split()


def removal():
    """the commands of the documentation, as they stand there"""
    text = (REPOSITORY / "docs/operations.md").read_text()
    return re.search(r"## Removing it\n.*?```\n(.*?)```", text, re.S).group(1)
