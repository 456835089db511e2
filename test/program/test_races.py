"""No writer's update is ever lost: writers that are faster than any guard, and one that goes on writing."""
import glob
import os
import pathlib
import subprocess

from harness import case
from world import RESOLV, Failure, conf, equal, expect, guard, wait_for

ROUNDS = 200


def race(world, mode, hold_ms=0, rounds=ROUNDS):
    """(exit status, what it said)"""
    rounds = rounds // 10 if world.settings.sanitized else rounds
    words = [world.settings.tool("writers"), "race", mode, world.path(), "127.0.0.1", str(rounds), str(hold_ms)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    except subprocess.TimeoutExpired:
        raise Failure(f"{rounds} rounds did not end within 240 s") from None
    return done.returncode, done.stdout + done.stderr


def nothing_is_lost(world, mode, hold_ms=0, **keys):
    world.configure(guard(**keys))
    world.write(conf("10.255.255.255", search="example.test"))
    guardian = world.start()
    code, said = race(world, mode, hold_ms)
    equal(code, 0, said)
    world.wait_state("holds")
    left = [name for name in world.beside() if name.startswith(".")]
    equal(left, [], "left beside it")
    guardian.stop(0)


@case(alone=True, tags="sanitize")
def rename(world):
    nothing_is_lost(world, "rename")


@case(alone=True, tags="sanitize")
def in_place(world):
    nothing_is_lost(world, "in-place")


@case(alone=True)
def unlink_and_create(world):
    nothing_is_lost(world, "unlink")


@case(alone=True)
def symlink_renamed_in(world):
    nothing_is_lost(world, "symlink")


@case(alone=True)
def symlink_renamed_in_and_replaced_by_a_file(world):
    nothing_is_lost(world, "symlink", link="file")


@case(alone=True)
def unlink_and_symlink(world):
    nothing_is_lost(world, "relink")


@case(alone=True, tags="sanitize")
def exchange(world):
    nothing_is_lost(world, "exchange")


@case(alone=True, tags="sanitize")
def open_past_settle(world):
    """What came out of our exchange is watched until its writer closes it."""
    nothing_is_lost(world, "late", hold_ms=40, settle="20ms")


@case(alone=True, needs="plain")
def plain_rename_over_loses_updates(world):
    """The negative control: the same race against a guard that only renames over."""
    world.write(conf("10.255.255.255"))
    world.tool("plain_guard", world.path("/etc"), "127.0.0.1")
    world.wait_servers(["127.0.0.1", "10.255.255.255"])
    code, said = race(world, "rename")
    equal(code, 1, f"plain rename-over lost nothing, so this race proves nothing: {said}")
    expect("lost 0" not in said and RESOLV not in said, said)


def replaced(guardian, text):
    """the file with this text that a restore has replaced, while it is watched: a lane's descriptors are its thread's own"""
    for link in glob.glob(f"/proc/{guardian.process.pid}/task/*/fd/*"):
        try:
            if os.readlink(link).endswith(".resolv.conf.resolv-guardian (deleted)") and pathlib.Path(link).read_text() == text:
                return link
        except OSError:
            continue
    return None


@case(tags="sanitize")
def opened_while_it_was_exchanged(world):
    """open(2) looks up the name first and counts as a writer microseconds later: in between the file is replaced."""
    world.configure(guard())
    world.write(conf("192.0.2.53"))
    guardian = world.start()
    for number in (54, 55):
        text = conf(f"192.0.2.{number}")
        world.rename_in(text)
        late = wait_for(lambda: replaced(guardian, text), "the replaced file is held for a while")
        with open(late, "w") as file:  # truncates it
            file.write(conf(f"192.0.2.{number + 100}"))
        world.wait_servers(["127.0.0.1", f"192.0.2.{number + 100}"])
    wait_for(lambda: not replaced(guardian, conf("192.0.2.155")), "it is let go")
