"""No writer's update is ever lost: writers that are faster than any guard, and one that goes on writing."""
import subprocess

from harness import case
from world import RESOLV, Failure, equal, expect, conf, guard

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
