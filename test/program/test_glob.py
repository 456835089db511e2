"""A glob as path: every file that matches, now and later."""
import os
import shutil
import subprocess

from harness import case
from world import conf, equal, expect, guard, hold_for, wait_for

PATTERN = "/etc/netns/*/resolv.conf"


def name(space):
    return f"/etc/netns/{space}/resolv.conf"


def make(world, space, *servers):
    os.makedirs(world.path("/etc/netns/" + space), exist_ok=True)
    world.rename_in(conf(*servers), name(space))


def paths(world):
    return [g["path"] for g in world.status()["guards"]]


@case(tags="sanitize")
def files_that_appear_and_vanish(world):
    world.write(conf("192.0.2.53"))
    world.configure(guard(PATTERN), guard())
    world.start()
    found = world.guard_status(PATTERN)
    equal((found["state"], found["reason"]), ("holds", "no file matches"))
    for space in ("blue", "red"):
        make(world, space, "192.0.2.60")
        world.wait_servers(["127.0.0.1", "192.0.2.60"], name(space))
    wait_for(lambda: paths(world) == [name("blue"), name("red"), "/etc/resolv.conf"], lambda: f"{paths(world)}")
    equal(world.status()["phase"], "reconciling")
    world.rename_in(conf("192.0.2.61"), name("red"))
    world.wait_servers(["127.0.0.1", "192.0.2.61"], name("red"))
    os.unlink(world.path(name("blue")))
    wait_for(lambda: paths(world) == [name("red"), "/etc/resolv.conf"], lambda: f"{paths(world)}")
    hold_for(lambda: not os.path.exists(world.path(name("blue"))), "a file that is gone was made again", 0.5)
    make(world, "blue", "192.0.2.62")
    world.wait_servers(["127.0.0.1", "192.0.2.62"], name("blue"))
    shutil.rmtree(world.path("/etc/netns"))
    wait_for(lambda: paths(world) == [PATTERN, "/etc/resolv.conf"], lambda: f"{paths(world)}")
    make(world, "green", "192.0.2.63")
    world.wait_servers(["127.0.0.1", "192.0.2.63"], name("green"))


@case()
def a_rewrite_by_unlink_is_no_vanishing(world):
    make(world, "blue", "192.0.2.60")
    world.configure(guard(PATTERN))
    world.start()
    for number in range(20):
        os.unlink(world.path(name("blue")))
        world.write(conf(f"192.0.2.{number}"), name("blue"))
        world.wait_servers(["127.0.0.1", f"192.0.2.{number}"], name("blue"))
    world.wait_state("holds", name("blue"))


@case()
def an_explicit_path_beats_a_glob(world):
    make(world, "blue", "192.0.2.60")
    make(world, "red", "192.0.2.60")
    world.configure(guard(PATTERN), guard("/etc/netns/*/resolv.*", first=["203.0.113.2"]),
                    guard(name("red"), first=["203.0.113.1"]))
    world.start()
    world.wait_servers(["127.0.0.1", "192.0.2.60"], name("blue"))
    world.wait_servers(["203.0.113.1", "192.0.2.60"], name("red"))
    equal(world.status()["guards"][-1]["path"], name("red"))


@case(needs="chattr", tags="sanitize")
def an_immutable_match_holds_back_no_other_one(world):
    for space in ("blue", "green", "red"):
        make(world, space, "192.0.2.60")
    world.write(conf("192.0.2.53"))
    world.chattr("+i", name("green"))
    world.configure('ready_within = "never"\n', guard(PATTERN), guard())
    guardian = world.start(ready=False)
    for space in ("blue", "red"):
        world.wait_servers(["127.0.0.1", "192.0.2.60"], name(space))
        world.wait_state("holds", name(space))
    world.wait_state("blocked", name("green"), reason="^immutable")
    world.wait_state("waiting")  # but the glob is one place in the order
    equal(world.servers(), ["192.0.2.53"])
    world.chattr("-i", name("green"))
    world.wait_servers(["127.0.0.1", "192.0.2.60"], name("green"))
    world.wait_servers(["127.0.0.1", "192.0.2.53"])
    guardian.wait_ready()


@case()
def a_reload_with_another_glob(world):
    for space in ("blue", "red"):
        make(world, space, "192.0.2.60")
    world.configure(guard(PATTERN))
    world.start()
    world.configure(guard("/etc/netns/b*/resolv.conf", first=["203.0.113.1"]))
    world.wait_servers(["203.0.113.1", "192.0.2.60"], name("blue"))
    wait_for(lambda: paths(world) == [name("blue")], lambda: f"{paths(world)}")
    world.rename_in(conf("192.0.2.61"), name("red"))
    world.rename_in(conf("192.0.2.61"), name("blue"))
    world.wait_servers(["203.0.113.1", "192.0.2.61"], name("blue"))
    equal(world.servers(name("red")), ["192.0.2.61"], "a file that no glob matches any more")


@case()
def commands_take_the_matches(world):
    for space in ("blue", "red"):
        make(world, space, "192.0.2.60")
    world.configure(guard(PATTERN))
    done = world.run("check", code=1)
    expect(name("blue") in done.stdout and name("red") in done.stdout, done.stdout)
    world.run("apply", code=0)
    equal(world.servers(name("red")), ["127.0.0.1", "192.0.2.60"])
    world.start()
    world.run("pause", name("red"), code=0)
    world.rename_in(conf("192.0.2.61"), name("red"))
    world.wait_state("paused", name("red"))
    equal(world.servers(name("red")), ["192.0.2.61"])
    world.run("resume", PATTERN, code=0)
    world.wait_servers(["127.0.0.1", "192.0.2.61"], name("red"))
    world.run("release", PATTERN, code=0)
    equal([world.servers(name(space)) for space in ("blue", "red")], [["192.0.2.60"], ["192.0.2.61"]])


@case(tags="sanitize")
def commands_take_a_glob_without_a_match(world):
    world.write(conf("192.0.2.53"))
    world.configure(guard(PATTERN), guard())
    guardian = world.start()
    for words in (["pause"], ["resume"], ["pause", PATTERN], ["release", PATTERN], ["resume", PATTERN], ["release"], ["resume"],
                  ["pause", PATTERN]):
        world.run(*words, code=0)
    equal(guardian.process.poll(), None, "ended with")
    make(world, "blue", "192.0.2.60")  # it was paused before it came
    world.wait_state("paused", name("blue"))
    equal(world.servers(name("blue")), ["192.0.2.60"])
    world.run("pause", name("blue"), code=0)
    os.unlink(world.path(name("blue")))
    wait_for(lambda: PATTERN in paths(world), "it is gone")
    world.run("resume", name("blue"), code=0)
    world.run("resume", PATTERN, code=0)
    make(world, "blue", "192.0.2.60")
    world.wait_servers(["127.0.0.1", "192.0.2.60"], name("blue"))


@case(needs="plain")
def what_cannot_be_listed_is_not_empty(world):
    """A guardian without descriptors can't tell which files match: it says so, and doesn't call that no match."""
    for number in range(3):
        make(world, f"n{number}", "192.0.2.60")
    world.configure(guard(PATTERN))
    for word in ("check", "apply"):
        done = subprocess.run(["prlimit", "--nofile=8:8", *world.command(word)], capture_output=True, text=True, check=False)
        equal(done.returncode, 3, word + ": " + done.stdout + done.stderr)
    equal(world.servers(name("n0")), ["192.0.2.60"])


@case()
def pauses_of_a_glob_without_a_guardian(world):
    make(world, "blue", "192.0.2.60")
    world.configure(guard(PATTERN))
    world.run("release", PATTERN, code=0)
    make(world, "red", "192.0.2.60")
    world.start(ready=False)
    for space in ("blue", "red"):
        world.wait_state("paused", name(space))
    world.run("resume", PATTERN, code=0)
    world.wait_servers(["127.0.0.1", "192.0.2.60"], name("red"))
    world.run("pause", PATTERN, code=0)
    world.guardians[-1].stop(0)
    world.run("resume", PATTERN, code=0)
    world.start()
    for space in ("blue", "red"):
        world.wait_state("holds", name(space))


@case(needs="plain", tags="slow")
def two_thousand_matches(world):
    """one thread, one descriptor table: what is held for a match is small"""
    for number in range(2000):
        make(world, f"n{number}", "192.0.2.60")
    world.configure('ready_within = "60s"\n', guard(PATTERN), guard())
    world.write(conf("192.0.2.53"))
    guardian = world.start(ready=False)
    guardian.wait_ready(seconds=60)
    equal(len(paths(world)), 2001)
    for number in (0, 999, 1999):
        world.wait_servers(["127.0.0.1", "192.0.2.60"], name(f"n{number}"))
    threads = len(os.listdir(f"/proc/{guardian.process.pid}/task"))
    expect(threads < 12, f"{threads} threads")
    world.rename_in(conf("192.0.2.61"), name("n999"))
    world.wait_servers(["127.0.0.1", "192.0.2.61"], name("n999"))
