"""Threads, descriptors, standard streams and disks that can't be had: it says so, goes on, and takes its time."""
import json
import os
import pathlib
import signal
import subprocess
import time

from harness import case
from world import conf, equal, expect, guard, hold_for, wait_for

UID, UID2 = 61234, 61235  # whose threads are counted: nobody else's here
HELD = ["127.0.0.1", "192.0.2.53"]


def as_user(uid, *words):
    return ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *words)


def give(world, uid):
    """everything to that user"""
    for path in (world.state, world.runtime):
        os.makedirs(path, exist_ok=True)
    for folder, folders, files in os.walk(world.dir):
        for name in (folder, *(f"{folder}/{file}" for file in files)):
            os.chown(name, uid, uid)


def limit_threads(guardian, most):
    words = ["prlimit", f"--pid={guardian.process.pid}", f"--nproc={most}:"]
    subprocess.run([*as_user(UID), *words], check=True, capture_output=True)


@case(needs="user plain")
def no_thread_for_a_new_configuration(world):
    """EAGAIN of clone(2) is EWOULDBLOCK of flock(2): it isn't another guardian."""
    world.write(conf("192.0.2.53"))
    world.configure(guard())
    give(world, UID)
    guardian = world.start(prefix=as_user(UID))
    world.wait_servers(HELD)
    limit_threads(guardian, 1)
    world.configure(guard(first=["203.0.113.1"]))
    wait_for(lambda: "start a thread" in (world.status()["config"]["error"] or ""), "a refusal that names the thread")
    os.rename(world.path("/etc"), world.path("/etc.old"))
    os.mkdir(world.path("/etc"))
    os.chown(world.path("/etc"), UID, UID)
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    wait_for(lambda: "isn't locked: start a thread" in guardian.log(), lambda: f"that it isn't locked in {guardian.log()}")
    goes_on = lambda: guardian.process.poll() is None and "another guardian" not in guardian.log()
    hold_for(goes_on, lambda: f"it ended: {guardian.log()}", 0.3)
    limit_threads(guardian, 200)
    guardian.signal(signal.SIGHUP)
    world.wait_servers(["203.0.113.1", "192.0.2.54"])


@case(needs="user plain")
def no_thread_at_the_start(world):
    """Whichever thread can't be had: it ends with 3 and says why, or guards."""
    world.write(conf("192.0.2.53"))
    world.configure(guard())
    give(world, UID2)
    ended = 0
    for most in range(1, 12):
        guardian = world.start(prefix=as_user(UID2, "prlimit", f"--nproc={most}:{most}"), ready=False)
        wait_for(lambda: guardian.process.poll() is not None or "READY=1" in guardian.lines(), "an end or READY=1")
        if guardian.process.poll() is None:
            guardian.stop(0)
            continue
        ended += 1
        equal(guardian.process.returncode, 3, f"with {most} threads: {guardian.log()}")
    expect(2 <= ended <= 8, f"{ended} starts of 11 ended")


@case(needs="plain")
def few_descriptors(world):
    """Each look finds another part of the way: it isn't looked again at once, and the log isn't flooded."""
    for number in range(4):
        world.write(conf("192.0.2.60"), f"/etc/netns/n{number}/resolv.conf")
    world.write(conf("192.0.2.53"))
    world.configure('ready_within = "100ms"\n', guard(), guard("/etc/netns/*/resolv.conf"))
    for most in range(18, 26):
        guardian = world.start(prefix=("prlimit", f"--nofile={most}:{most}"), ready=False)
        wait_for(lambda: guardian.process.poll() is not None or "READY=1" in guardian.lines(), "an end or READY=1")
        if guardian.process.poll() is not None:
            equal(guardian.process.returncode, 3, f"with {most} descriptors: {guardian.log()[-500:]}")
            continue
        cpu = guardian.cpu_seconds()
        hold_for(lambda: guardian.process.poll() is None, "it ended", 1)
        used, lines = guardian.cpu_seconds() - cpu, guardian.log().count("\n")
        expect(used < 0.2, f"with {most} descriptors {used} s of CPU in 1 s")
        expect(lines < 60, f"with {most} descriptors {lines} lines")
        guardian.stop(0)


@case()
def closed_standard_streams(world):
    """What is opened first would get their numbers, and be written into."""
    world.write(conf("192.0.2.53"))
    world.configure(guard())
    guardian = world.start(prefix=("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"))
    world.wait_servers(HELD)
    world.configure("[[guard]]\npth = 3\n")  # a log line
    wait_for(lambda: world.status()["config"]["error"], "the refusal")
    streams = [os.readlink(f"/proc/{guardian.process.pid}/fd/{number}") for number in range(3)]
    equal(streams, ["/dev/null"] * 3)
    guardian.stop(0)
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *world.command("config", config=False)], capture_output=True)
    expect(done.returncode != 0, "a result that nobody could read was a success")


@case(needs="chattr plain")
def a_state_directory_that_is_full(world):
    """It is told, and not with every write."""
    world.write(conf("192.0.2.53"))
    world.configure(guard())
    guardian = world.start()
    world.wait_servers(HELD)
    world.chattr("+i", "/../state")
    for number in (54, 55, 56):
        world.rename_in(conf(f"192.0.2.{number}"))
        world.wait_servers(["127.0.0.1", f"192.0.2.{number}"])
        wait_for(lambda: "can't be stored" in guardian.log(), lambda: f"that it can't be stored in {guardian.log()}")
    equal(guardian.log().count("can't be stored"), 1)


@case()
def a_guardian_that_is_stopped_is_not_waited_for(world):
    world.write(conf("192.0.2.53"))
    world.configure(guard())
    guardian = world.start()
    guardian.signal(signal.SIGSTOP)
    begin = time.monotonic()
    done = world.run("status", "--wait-holds", "1", code=3)
    took = time.monotonic() - begin
    guardian.signal(signal.SIGCONT)
    expect(1 <= took < 4 * world.settings.patience, f"it took {took} s")
    expect("no guardian" not in done.stderr and "wait for the guardian's answer" in done.stderr, done.stderr)


@case()
def damaged_pauses_are_told(world):
    world.write(conf("192.0.2.53"))
    world.configure(guard())
    guardian = world.start()
    world.run("pause", code=0)
    guardian.stop(0)
    kept = pathlib.Path(world.runtime + "/paused.json")
    whole = json.loads(kept.read_text())
    for damaged in ("", "[", "{}", json.dumps({**whole, "guards": {"/etc/resolv.conf": "soon"}})):
        kept.write_text(damaged)
        guardian = world.start()
        wait_for(lambda: "pauses that were made aren't known" in guardian.log(), lambda: f"the warning for {damaged!r}")
        world.wait_servers(HELD)
        guardian.stop(0)
        os.truncate(guardian.log_path, 0)
    kept.write_text(json.dumps(whole))
    guardian = world.start()
    world.wait_state("paused")
    expect("aren't known" not in guardian.log(), guardian.log())
