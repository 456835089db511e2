"""File systems that don't answer: they hold up their own guard and nothing else."""
import contextlib
import os
import signal
import statistics
import subprocess
import time

from harness import case
from world import conf, equal, expect, guard, hold_for, wait_for

DISK, FUSE = "/disk/resolv.conf", "/fuse/resolv.conf"
OURS = "127.0.0.1"


def answers(world, state, path):
    """status says so, and takes less than 100 ms (with a sanitizer in it the command alone can take half a second)"""
    start = time.monotonic()
    found = world.guard_status(path)
    took = time.monotonic() - start
    expect(took < (0.1 if world.settings.patience == 1 else 1), f"status took {took:.3f} s")
    return found["state"] == state


def begin_apart(world, slow, deadline="300ms", **options):
    """two guards, the first one on a file system of its own"""
    world.configure('ready_within = "never"\n', guard(slow, deadline=deadline), guard())
    world.write(conf("192.0.2.60"), slow)
    world.write(conf("192.0.2.53"))
    return world.start(**options)


def waits_in_updating(world, guardian, slow):
    world.wait_state("failed", slow, reason="^deadline passed")
    hold_for(lambda: answers(world, "failed", slow) and answers(world, "waiting", "/etc/resolv.conf"),
             lambda: f"status: {world.status()['guards']}", 1)
    equal(world.status()["phase"], "updating")
    equal(world.servers(), ["192.0.2.53"], "the guard behind it was written")
    expect("READY=1" not in guardian.lines(), "READY while a guard is held up")
    equal(world.run("status", "--wait-holds", "0.1").returncode, 1)


def both_hold(world, guardian, slow):
    world.wait_servers([OURS, "192.0.2.60"], slow)
    world.wait_servers([OURS, "192.0.2.53"])
    guardian.wait_ready()
    equal(world.status()["phase"], "reconciling")
    wait_for(lambda: any("deadline" in e["reason"] for e in world.history("failure", slow)), "a failure in the history")
    both = lambda: {e["path"] for e in world.history("restore")} == {slow, "/etc/resolv.conf"}
    wait_for(both, "both restores in the history")
    equal([e["path"] for e in world.history("restore")], [slow, "/etc/resolv.conf"], "the order")


@case(needs="mountns loop", tags="sanitize")
def a_frozen_disk_in_updating(world):
    world.mount_disk()
    world.write(conf("192.0.2.60"), DISK)
    with world.frozen():
        guardian = begin_apart_frozen(world)
        waits_in_updating(world, guardian, DISK)
    both_hold(world, guardian, DISK)


def begin_apart_frozen(world):
    world.configure('ready_within = "never"\n', guard(DISK, deadline="300ms"), guard())
    world.write(conf("192.0.2.53"))
    return world.start(ready=False)


@case(needs="mountns fuse", tags="sanitize")
def a_fuse_that_hangs_in_updating(world):
    daemon = world.mount_fuse()
    world.configure('ready_within = "never"\n', guard(FUSE, deadline="300ms"), guard())
    world.write(conf("192.0.2.60"), FUSE)
    world.write(conf("192.0.2.53"))
    daemon.send_signal(signal.SIGSTOP)
    guardian = world.start(ready=False)
    waits_in_updating(world, guardian, FUSE)
    daemon.send_signal(signal.SIGCONT)
    both_hold(world, guardian, FUSE)


def latencies(world, rounds):
    """of restores of /etc/resolv.conf, from the rename that makes it wrong, in ms"""
    took = []
    for number in range(rounds):
        server = f"192.0.2.{number % 50 + 100}"
        world.rename_in(conf(server))
        start = time.monotonic()
        world.wait_servers([OURS, server])
        took.append((time.monotonic() - start) * 1000)
    return took


def the_other_goes_on(world, slow, hang):
    """hang: a context in which the first file system doesn't answer"""
    before = latencies(world, 30)
    with hang:
        at_once = latencies(world, 30)
        expect(max(at_once) < 500 * world.settings.patience, f"a restore took {max(at_once):.0f} ms before the deadline")
        world.wait_state("failed", slow, reason="^deadline passed")
        during = latencies(world, 30)
        expect(answers(world, "holds", "/etc/resolv.conf"), "the other guard doesn't hold")
        equal(world.status()["phase"], "reconciling")
    expect(statistics.median(during) < 5 * statistics.median(before) + 5,
           f"restores took {statistics.median(during):.1f} ms, {statistics.median(before):.1f} before")
    world.wait_state("holds", slow)
    expect(answers(world, "holds", "/etc/resolv.conf"), "the other guard doesn't hold")


@case(needs="mountns loop", alone=True)
def a_frozen_disk_in_reconciling(world):
    world.mount_disk()
    begin_apart(world, DISK, deadline="1500ms")
    world.run("pause", DISK, code=0)
    world.rename_in(conf("192.0.2.61"), DISK)

    @contextlib.contextmanager
    def hang():
        with world.frozen():
            world.others.append(subprocess.Popen(world.command("resume", DISK), stderr=subprocess.DEVNULL))
            yield
    the_other_goes_on(world, DISK, hang())
    world.wait_servers([OURS, "192.0.2.61"], DISK)


@case(needs="mountns fuse", alone=True)
def a_fuse_that_hangs_in_reconciling(world):
    daemon = world.mount_fuse()
    begin_apart(world, FUSE, deadline="1500ms")

    @contextlib.contextmanager
    def hang():
        daemon.send_signal(signal.SIGSTOP)
        world.others.append(subprocess.Popen(world.command("apply"), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        try:
            yield
        finally:
            daemon.send_signal(signal.SIGCONT)
    the_other_goes_on(world, FUSE, hang())


@case(needs="mountns fuse plain")
def many_that_hang_delay_a_start_by_one_second(world):
    """Directories are locked before anything is written: those that don't answer are waited for together."""
    paths = [f"/fuse{number}/resolv.conf" for number in range(4)]
    daemons = [world.mount_fuse(os.path.dirname(path)) for path in paths]
    world.configure('ready_within = "never"\n', *(guard(path, optional=True, deadline="300ms") for path in paths), guard())
    world.write(conf("192.0.2.53"))
    for path in paths:
        world.write(conf("192.0.2.60"), path)
    for daemon in daemons:
        daemon.send_signal(signal.SIGSTOP)
    guardian = world.start(ready=False)
    world.wait_servers([OURS, "192.0.2.53"])
    took = time.monotonic() - guardian.started
    expect(took < 2.5, f"the one that doesn't hang was restored after {took:.1f} s")
    for daemon in daemons:
        daemon.send_signal(signal.SIGCONT)
    guardian.wait_ready()


def frees(world, end):
    """end() frees locks and socket within a second; the process may stay until the file system answers"""
    start = time.monotonic()
    end()

    def free():
        lock = ["flock", "-n", world.path("/etc"), "true"]
        socket_gone = world.run_without_config("status").returncode == 3
        return socket_gone and not subprocess.run(lock, capture_output=True).returncode
    wait_for(free, "locks and socket are free", 5)
    took = time.monotonic() - start
    expect(took < 1.2 * world.settings.patience, f"locks and socket were free after {took:.1f} s")


def leaves(world, guardian, slow, end):
    """While the disk hangs: locks and socket are free within a second, and a restart works."""
    frees(world, lambda: end(guardian))
    world.configure('ready_within = "never"\n', guard(), guard(slow, deadline="300ms"))
    world.rename_in(conf("192.0.2.54"))
    world.start(ready=False)
    world.wait_servers([OURS, "192.0.2.54"])
    world.wait_state("failed", slow, reason="^deadline passed")
    world.wait_state("holds")


def stuck_and_ended(world, end):
    world.mount_disk()
    world.write(conf("192.0.2.60"), DISK)
    with world.frozen():
        guardian = begin_apart_frozen(world)
        world.wait_state("failed", DISK, reason="^deadline passed")
        leaves(world, guardian, DISK, end)
    world.wait_servers([OURS, "192.0.2.60"], DISK)
    world.wait_state("holds", DISK)


@case(needs="mountns loop plain")
def terminated_while_a_disk_hangs(world):
    stuck_and_ended(world, lambda guardian: guardian.signal(signal.SIGTERM))


@case(needs="mountns loop plain")
def killed_while_a_disk_hangs(world):
    """A thread that is stuck in the kernel keeps its descriptor table: locks and socket aren't in it."""
    stuck_and_ended(world, lambda guardian: guardian.signal(signal.SIGKILL))


@case(needs="mountns fuse", tags="sanitize")
def a_fuse_that_hangs_between_two_guards(world):
    """The second of three: those before it hold, those behind it wait, and all goes on once it is back."""
    daemon = world.mount_fuse()
    other = "/run/last.conf"
    world.configure('ready_within = "never"\n', guard(), guard(FUSE, deadline="300ms"), guard(other))
    for path, server in (("/etc/resolv.conf", "192.0.2.53"), (FUSE, "192.0.2.60"), (other, "192.0.2.61")):
        world.write(conf(server), path)
    daemon.send_signal(signal.SIGSTOP)
    guardian = world.start(ready=False)
    world.wait_state("failed", FUSE, reason="^deadline passed")
    world.wait_state("holds")
    world.wait_state("waiting", other)
    daemon.send_signal(signal.SIGCONT)
    guardian.wait_ready()
    for path, server in (("/etc/resolv.conf", "192.0.2.53"), (FUSE, "192.0.2.60"), (other, "192.0.2.61")):
        world.wait_servers([OURS, server], path)


@case(needs="mountns loop plain")
def what_comes_back_late_writes_nothing(world):
    """It was paused meanwhile, and asked to be released by somebody who has given up: neither is done over."""
    world.mount_disk()
    begin_apart(world, DISK)
    world.run("pause", DISK, code=0)
    world.rename_in(conf("192.0.2.61"), DISK)
    with world.frozen() as thaw:
        world.others.append(subprocess.Popen(world.command("resume", DISK), stderr=subprocess.DEVNULL))
        world.wait_state("failed", DISK, reason="^deadline passed")
        world.others.append(subprocess.Popen(world.command("pause", DISK), stderr=subprocess.DEVNULL))
        equal(world.run("release", DISK, timeout=10).returncode, 3)
        impatient = subprocess.Popen(world.command("release", DISK), stderr=subprocess.DEVNULL)
        hold_for(lambda: impatient.poll() is None, "release doesn't wait", 0.3)
        impatient.kill()
        impatient.wait()
        hold_for(lambda: answers(world, "failed", DISK), "its state", 1.5)
        thaw()
    start = time.monotonic()
    world.wait_state("paused", DISK)
    expect(time.monotonic() - start < 2 * world.settings.patience, "it took its time after the thaw")
    hold_for(lambda: world.servers(DISK) == ["192.0.2.61"], "it was written though it is paused", 0.5)
    world.run("resume", DISK, code=0)
    world.wait_servers([OURS, "192.0.2.61"], DISK)


@case(needs="mountns loop", tags="sanitize")
def a_link_that_leads_to_a_disk_that_hangs(world):
    """Nobody knew that the guard would get there: those beside it are taken from its lane."""
    world.mount_disk()
    other = "/etc/other.conf"
    world.write(conf("192.0.2.60"), DISK)
    world.write(conf("192.0.2.53"), other)
    world.write(conf("192.0.2.53"))
    world.configure(guard(deadline="300ms", write_within=["/etc", "/disk"]), guard(other))
    world.start()
    with world.frozen():
        os.symlink(".." + DISK, world.path("/etc/new"))
        os.rename(world.path("/etc/new"), world.path())
        world.wait_state("failed", reason="^deadline passed")
        for number in range(5):
            world.rename_in(conf(f"192.0.2.{number}"), other)
            world.wait_servers([OURS, f"192.0.2.{number}"], other)
        expect(answers(world, "holds", other), "the other guard doesn't hold")
    world.wait_servers([OURS, "192.0.2.60"], DISK)
    world.wait_state("holds")
    for number in range(5):  # and it goes on, wherever it is watched now
        world.rename_in(conf(f"198.51.100.{number}"), DISK)
        world.wait_servers([OURS, f"198.51.100.{number}"], DISK)


@case(needs="mountns", tags="sanitize")
def a_link_that_moves_between_file_systems(world):
    """The guard goes from lane to lane, and forgets nothing on the way."""
    os.mkdir(world.path("/memory"))
    world.mount("-t", "tmpfs", "tmpfs", world.path("/memory"))
    other = "/etc/other.conf"
    world.write(conf("192.0.2.53"))
    world.write(conf("192.0.2.53"), other)
    world.configure(guard(other), guard(write_within=["/etc", "/run", "/memory"]))
    world.start()
    for turn in range(6):
        target = ["/memory/resolv.conf", "/run/resolv.conf"][turn % 2]
        world.write(conf(f"192.0.2.{turn}"), target)
        os.symlink(".." + target, world.path("/etc/new"))
        os.rename(world.path("/etc/new"), world.path())
        world.wait_servers([OURS, f"192.0.2.{turn}"], target)
        world.rename_in(conf(header="no server"), target)
        world.wait_servers([OURS, f"192.0.2.{turn}"], target)  # last good
        world.rename_in(conf(f"192.0.2.{turn}"), other)
        world.wait_servers([OURS, f"192.0.2.{turn}"], other)
    world.wait_state("holds")


@case(needs="mountns fuse", tags="sanitize")
def a_configuration_that_cannot_be_read(world):
    """Its directory hangs: the guards go on, and it is taken when it is back."""
    daemon = world.mount_fuse()
    world.config = world.path("/fuse/config.toml")
    with open(world.config, "w") as file:
        file.write(guard())
    world.write(conf("192.0.2.53"))
    guardian = world.start()
    world.configure(guard(first=["203.0.113.1"]))
    world.wait_servers(["203.0.113.1", "192.0.2.53"])
    daemon.send_signal(signal.SIGSTOP)
    guardian.signal(signal.SIGHUP)
    wait_for(lambda: "doesn't answer" in (world.run_without_config("status", "--json").stdout), "status tells it", 10)
    for number in range(5):
        world.rename_in(conf(f"192.0.2.{number}"))
        world.wait_servers(["203.0.113.1", f"192.0.2.{number}"])
    daemon.send_signal(signal.SIGCONT)
    wait_for(lambda: not world.status()["config"]["error"], "the error is gone")
    world.configure(guard(first=["203.0.113.2"]))
    world.wait_servers(["203.0.113.2", "192.0.2.4"])


@case(needs="mountns fuse plain")
def terminated_while_the_configuration_cannot_be_read(world):
    daemon = world.mount_fuse()
    world.config = world.path("/fuse/config.toml")
    with open(world.config, "w") as file:
        file.write(guard())
    world.write(conf("192.0.2.53"))
    guardian = world.start()
    daemon.send_signal(signal.SIGSTOP)
    guardian.signal(signal.SIGHUP)
    wait_for(lambda: "doesn't answer" in (world.run_without_config("status", "--json").stdout), "status tells it", 10)
    frees(world, lambda: guardian.signal(signal.SIGTERM))
    daemon.send_signal(signal.SIGCONT)
    equal(guardian.wait_end(), 0)


@case(needs="mountns fuse", tags="sanitize")
def a_state_directory_that_hangs(world):
    """What is known is known: restores and new policies go on."""
    daemon = world.mount_fuse()
    world.state = world.path("/fuse/state")
    world.write(conf("192.0.2.53"))
    world.configure(guard())
    world.start()
    daemon.send_signal(signal.SIGSTOP)
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers([OURS, "192.0.2.54"])
    world.configure(guard(first=["203.0.113.1"]))
    world.wait_servers(["203.0.113.1", "192.0.2.54"])
    world.wait_state("holds")
    daemon.send_signal(signal.SIGCONT)
    world.configure(guard(first=["203.0.113.2"]))
    world.wait_servers(["203.0.113.2", "192.0.2.54"])


@case(needs="mountns loop plain")
def a_reload_while_a_disk_hangs(world):
    """The guard that hangs is removed, then given back: the others go on under each configuration."""
    world.mount_disk()
    guardian = begin_apart(world, DISK)
    world.run("pause", DISK, code=0)
    world.rename_in(conf("192.0.2.61"), DISK)
    with world.frozen():
        world.others.append(subprocess.Popen(world.command("resume", DISK), stderr=subprocess.DEVNULL))
        world.wait_state("failed", DISK)
        world.configure('ready_within = "never"\n', guard(DISK, deadline="300ms", first=["203.0.113.9"]), guard())
        wait_for(lambda: world.status()["generation"] == 2, "generation 2")
        world.wait_state("failed", DISK, reason="^deadline passed")
        equal((world.status()["phase"], world.guard_status()["state"]), ("updating", "waiting"))
        world.configure('ready_within = "never"\n', guard(first=["203.0.113.1"]))
        world.wait_servers(["203.0.113.1", "192.0.2.53"])
        wait_for(lambda: world.status()["phase"] == "reconciling", "reconciling without it")
        world.configure('ready_within = "never"\n', guard(first=["203.0.113.2"]), guard(DISK, deadline="300ms"))
        world.wait_servers(["203.0.113.2", "192.0.2.53"])
        world.wait_state("failed", DISK, reason="^deadline passed")
        guardian.signal(signal.SIGHUP)
        expect(answers(world, "holds", "/etc/resolv.conf"), "the other guard doesn't hold")
    world.wait_servers([OURS, "192.0.2.61"], DISK)
    wait_for(lambda: world.status()["phase"] == "reconciling", "reconciling with it")
