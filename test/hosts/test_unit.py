"""resolv-guardian.service and resolv-guardian-wait.service in a booted host: what the sandbox lets through is written, not scored."""
import json
import os
import re
import stat
import subprocess

import networkd
import networkmanager
from checks import equal
from host import RESOLV, UNIT, WAIT, expect, hold_for, run, wait_for
from networkd import UPLINK
from scenario import scenario
from unit import CONFIG, DRIFTED, KUBELET, LOCAL, NET, ONLY, POLICY, SERVER, add_kubelet, monotonic, rename_in, start

LATE = 15  # seconds: half of ready_within, which a boot that waits for READY=1 would lose


def main_pid(host):
    return host.show(UNIT, "MainPID")


@scenario(runs=ONLY)
def active_means_ready(host):
    """Type=notify, STATUS=, RELOADING=1 and READY=1 of a reload: neither start nor reload ends before the order holds"""
    host.write(RESOLV, DRIFTED)
    run("chattr", "+i", host.path(RESOLV))
    start(host, policy='ready_within = "300s"\nreload = "sighup"\n' + POLICY, resolv_conf=None)
    hold_state_while_blocked(host, "activating")
    run("chattr", "-i", host.path(RESOLV))
    host.wait_unit(UNIT)
    equal(host.servers(), [LOCAL, "192.0.2.53"], "once it is active")
    equal(host.show(UNIT, "Type", "NotifyAccess", "NRestarts"), ["notify", "main", "0"])
    wait_for(lambda: "holds: 1 of 1" in host.show(UNIT, "StatusText"), lambda: host.show(UNIT, "StatusText"))
    run("chattr", "+i", host.path(RESOLV))
    host.write(CONFIG, host.read(CONFIG).replace(LOCAL, "127.0.0.2"))
    host.inside("systemctl", "reload", "--no-block", UNIT)
    hold_state_while_blocked(host, "reloading")
    run("chattr", "-i", host.path(RESOLV))
    host.wait_unit(UNIT)
    equal(host.servers(), ["127.0.0.2", "192.0.2.53"], "once it is reloaded")


def hold_state_while_blocked(host, state):
    host.wait_unit(UNIT, state)
    wait_for(lambda: "is blocked: immutable" in host.show(UNIT, "StatusText"), lambda: host.show(UNIT, "StatusText"))
    now = lambda: host.show(UNIT, "ActiveState")
    hold_for(lambda: now() == state, lambda: f"{UNIT} is {now()}, not {state}", 2)


@scenario(runs=ONLY)
def configuration_that_is_refused(host):
    """a reload of it ends all the same, and after a restart the last one that was verified stands in for it"""
    start(host)
    host.wait_unit(UNIT)
    host.wait_servers([LOCAL, "192.0.2.53"])
    host.wait_holds()
    host.write(CONFIG, "path =\n")
    host.inside("systemctl", "reload", UNIT)
    wait_for(lambda: "configuration refused" in host.show(UNIT, "StatusText"), lambda: host.show(UNIT, "StatusText"))
    host.inside("systemctl", "restart", UNIT)
    rename_in(host, DRIFTED)
    host.wait_servers([LOCAL, "192.0.2.53"])


def address_of_eth0():
    shown = json.loads(run("ip", "-j", "-4", "addr", "show", "dev", "eth0", "scope", "global"))
    return next((info["local"] for link in shown for info in link.get("addr_info", ())), None)


def boot_for_an_address(host, policy="", resolv_conf=DRIFTED):
    """A guard that holds only once the network manager has an address by DHCP: neither waits for the other."""
    far = f"{host.far.net}.1"
    networkmanager.set_up(host, "auto", dispatcher=False)
    host.far.serve()
    start(host, policy=policy + POLICY.replace(LOCAL, f"source-address-of:{far}"), resolv_conf=resolv_conf)
    host.wait_unit("NetworkManager", seconds=60)
    own = wait_for(address_of_eth0, "an address of eth0")
    host.wait_servers([own, far])
    host.wait_holds()
    host.wait_unit(UNIT)
    host.wait_unit("multi-user.target")
    begin = monotonic(host, UNIT, "InactiveExit")
    units = ("NetworkManager", UNIT, "multi-user.target")
    after = {unit: monotonic(host, unit, "ActiveEnter") - begin for unit in units}
    after[RESOLV] = next(at for at, state in host.reader.seen() if state == f"{own},{far}") / 1e6 - begin
    expect(max(after.values()) < LATE, f"seconds after the start of {UNIT}: {after}")


@scenario(runs=ONLY)
def boot_does_not_wait_for_an_address(host):
    boot_for_an_address(host)


@scenario(runs=ONLY)
def boot_does_not_wait_for_a_file_of_the_network_managers(host):
    """a link to what it has yet to make, and READY=1 that no time forces"""
    host.link(RESOLV, "/run/NetworkManager/resolv.conf")
    boot_for_an_address(host, 'ready_within = "never"\n', resolv_conf=None)


@scenario(runs=ONLY)
def configuration_that_cannot_be_read(host):
    """and none that was ever verified: the unit fails once, and isn't started again and again"""
    start(host, policy="path =\n")
    host.wait_unit(UNIT, "failed")
    equal(host.show(UNIT, "ExecMainStatus", "NRestarts"), ["2", "0"])
    expect("config.toml:1:" in host.inside("journalctl", "-b", "-u", UNIT), "the journal doesn't say where")
    host.wait_unit("multi-user.target")


@scenario(runs=ONLY)
def kubelet_starts_once_the_order_holds(host):
    add_kubelet(host)
    start(host)
    host.wait_unit("kubelet")
    equal(host.nameservers("/run/kubelet-resolv.conf"), [LOCAL, "192.0.2.53"], "kubelet read")
    host.inside("systemctl", "kill", "-s", "KILL", UNIT)  # a guardian that is started again takes nothing with it
    wait_for(lambda: host.show(UNIT, "NRestarts") == "1", "a restart")
    host.wait_unit(UNIT)
    equal([host.show(unit, "ActiveState") for unit in ("kubelet", WAIT)], ["active", "active"])


@scenario(runs=ONLY)
def immutable_file_boots_and_says_so(host):
    """kubelet waits, the rest of the node runs; it starts as soon as the order can be kept"""
    add_kubelet(host)
    host.write("/etc/systemd/system/sshd.service", KUBELET.replace("cp /etc/resolv.conf /run/kubelet-resolv.conf", "true"))
    host.enable("sshd")
    host.write(RESOLV, DRIFTED)
    run("chattr", "+i", host.path(RESOLV))
    start(host, policy='ready_within = "1s"\n' + POLICY, resolv_conf=None)
    host.wait_unit(UNIT)
    host.wait_unit("sshd")
    expect("is blocked: immutable: chattr -i" in host.show(UNIT, "StatusText"), host.show(UNIT, "StatusText"))
    hold_for(lambda: host.show("kubelet", "ActiveState") == "inactive", "kubelet was started", 1)
    equal(host.show(WAIT, "ActiveState"), "activating")
    run("chattr", "-i", host.path(RESOLV))
    host.wait_unit("kubelet")
    equal(host.nameservers("/run/kubelet-resolv.conf"), [LOCAL, "192.0.2.53"], "kubelet read")
    host.wait_unit("multi-user.target")


@scenario(runs=ONLY)
def immutable_file_without_who_waits(host):
    """the whole node boots"""
    host.write(RESOLV, DRIFTED)
    run("chattr", "+i", host.path(RESOLV))
    start(host, policy='ready_within = "1s"\n' + POLICY, resolv_conf=None)
    host.wait_unit("multi-user.target")
    equal(host.inside("systemctl", "is-system-running", "--wait").strip(), "running")
    expect("is blocked: immutable" in host.show(UNIT, "StatusText"), host.show(UNIT, "StatusText"))
    run("chattr", "-i", host.path(RESOLV))
    host.wait_servers([LOCAL, "192.0.2.53"])


@scenario(runs=ONLY)
def watchdog_and_restart(host):
    start(host, drop_in="[Service]\nWatchdogSec=1s\n")
    host.wait_unit(UNIT)
    first = main_pid(host)
    host.inside("systemctl", "kill", "-s", "STOP", UNIT)
    rename_in(host, DRIFTED)
    wait_for(lambda: main_pid(host) not in (first, "0"), lambda: f"another process than {first}")
    expect("Watchdog timeout" in host.inside("journalctl", "-b", "-u", UNIT), "it wasn't the watchdog")
    host.wait_servers([LOCAL, "192.0.2.53"])
    second = main_pid(host)
    host.inside("systemctl", "kill", "-s", "KILL", UNIT)
    rename_in(host, "nameserver 192.0.2.54\n")
    wait_for(lambda: main_pid(host) not in (second, "0"), lambda: f"another process than {second}")
    host.wait_servers([LOCAL, "192.0.2.54"])
    host.wait_holds()
    equal(host.show(UNIT, "NRestarts"), "2")


@scenario(runs=ONLY)
def what_the_sandbox_lets_through(host):
    """renames in /etc with another owner's metadata kept, in a directory of another user's behind a link, in place on a mount
    point, state in /var/lib, the socket in /run; and nothing else"""
    policy = POLICY + "".join(f'[[guard]]\npath = "{path}"\n[guard.nameservers]\nfirst = ["{LOCAL}"]\n'
                              for path in ("/etc/linked.conf", "/etc/mounted.conf", "/usr/share/guarded.conf"))
    host.write("/usr/share/guarded.conf", DRIFTED)
    host.write("/etc/mounted.conf", DRIFTED)
    host.write("/run/behind/resolv.conf", DRIFTED)
    host.link("/etc/linked.conf", "../run/behind/resolv.conf")
    run("chroot", host.root, "chown", "-R", "systemd-resolve:systemd-resolve", "/run/behind")
    run("mount", "--bind", host.path("/etc/mounted.conf"), host.path("/etc/mounted.conf"))
    start(host, policy='ready_within = "1s"\n' + policy)
    host.wait_unit(UNIT)
    for path in (RESOLV, "/etc/linked.conf", "/etc/mounted.conf"):
        wait_for(lambda: host.nameservers(path) == [LOCAL, "192.0.2.53"], lambda: f"{path} has {host.nameservers(path)}")
        host.wait_holds(path)
    owner = os.stat(host.path("/run/behind/resolv.conf"))
    expect(owner.st_uid != 0, "the owner of the file behind the link wasn't kept")
    equal(stat.S_IMODE(owner.st_mode), 0o644)
    for _ in range(3):  # the mount of one file would end with the first rename
        rename_in(host, "nameserver 192.0.2.54\n")
        host.wait_servers([LOCAL, "192.0.2.54"])
    outside = lambda: host.status("/usr/share/guarded.conf")
    wait_for(lambda: (outside()["state"], outside()["reason"].split(":")[0]) == ("blocked", "read-only"),
             lambda: f"outside of its directories: {outside()}")  # it waits while an earlier guard is restored
    equal(sorted(os.listdir(host.path("/run/resolv-guardian"))), ["control.sock", "lock"])
    expect("history.jsonl" in os.listdir(host.path("/var/lib/resolv-guardian")), "no history")
    main, *others = (descriptors for _, descriptors in threads_of(host))
    expect(min(others) * 2 < main, f"no thread has descriptors of its own, but: {main}, {others}")
    equal(nice_values(host), {-10}, "nice values")
    security = host.inside("systemd-analyze", "security", "--no-pager", UNIT)
    exposure = float(re.search(r"exposure level for \S+: ([0-9.]+)", security).group(1))
    expect(exposure <= 2.0, f"exposure {exposure}")


def threads_of(host):
    """(nice value, number of open descriptors) of each thread of the unit's, the main one first"""
    look = 'cd /proc/$0/task; for task in $(ls -v); do echo $(cut -d" " -f19 $task/stat) $(ls $task/fd | wc -l); done'
    lines = host.inside("sh", "-euc", look, main_pid(host)).splitlines()
    return [tuple(map(int, line.split())) for line in lines]


def nice_values(host):
    return {nice for nice, _ in threads_of(host)}


@scenario(runs=ONLY)
def threads_step_behind_those_that_restore(host):
    """where a drop-in lets them: allowed to all, setpriority(2) would be an exposure of 2.2"""
    start(host, drop_in="[Service]\nSystemCallFilter=setpriority\n")
    host.wait_unit(UNIT)
    host.wait_holds()
    equal(nice_values(host), {-10, -5, 0}, "nice values")


@scenario(runs=ONLY)
def writer_keeps_the_file_open(host):
    """He goes on writing, and nothing of it is lost. A file of another owner: only CAP_LEASE lets ask who writes it."""
    host.write(RESOLV, DRIFTED)
    run("chroot", host.root, "chown", "systemd-resolve", RESOLV)
    start(host, policy=POLICY.replace("[guard.", 'settle = "60s"\n[guard.'), resolv_conf=None)
    host.wait_servers([LOCAL, "192.0.2.53"])
    host.wait_holds()
    script = f"exec >{RESOLV}; echo nameserver 192.0.2.54; read line; echo nameserver 192.0.2.55"
    with subprocess.Popen(host.command("sh", "-c", script), stdin=subprocess.PIPE) as writer:
        host.wait_servers(["192.0.2.54"])
        seen = lambda: (host.servers(), host.status()["state"])
        wait_for(lambda: seen()[1] == "settling", lambda: f"settling: {seen()}")
        hold_for(lambda: seen() == (["192.0.2.54"], "settling"), lambda: f"he has it open: {seen()}", 2)
        host.inside("sh", "-c", f": >>{RESOLV}")  # another one is through with it: judged at once
        host.wait_servers([LOCAL, "192.0.2.54"])
        writer.communicate(b"\n")
    host.wait_servers([LOCAL, "192.0.2.54", "192.0.2.55"])
    host.wait_holds()


@scenario(net=NET, runs=ONLY)
def resolves_directory_is_removed_and_made_again(host):
    """by a restart of resolved without RuntimeDirectoryPreserve, or rm -rf: the guarded file lies behind a link into it"""
    host.far.serve()
    networkd.set_up(host, "uplink")
    start(host, resolv_conf=None)
    networkd.wait_configured(host)
    host.wait_servers([LOCAL, SERVER])
    for _ in range(3):
        host.inside("systemctl", "stop", "systemd-resolved")
        host.inside("rm", "-rf", "/run/systemd/resolve")
        wait_for(lambda: not host.servers(), lambda: f"the file to be gone: {host.servers()}")
        host.inside("systemctl", "start", "systemd-resolved")
        host.wait_servers([LOCAL, SERVER])
        host.wait_holds()
    equal(host.linked(), ".." + UPLINK)
