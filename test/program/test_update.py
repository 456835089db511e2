"""Updating: in order, and left only by a verified pass over every guard."""
import os
import random
import signal
import time

from harness import case
from world import conf, equal, expect, guard, hold_for, wait_for

PATHS = ["/etc/first.conf", "/etc/second.conf", "/etc/resolv.conf"]
OURS = "127.0.0.1"


def guards(first=OURS, **keys):
    return [guard(path, first=[first], **keys) for path in PATHS]


def drift(world, server="192.0.2.53"):
    for path in PATHS:
        world.rename_in(conf(server), path)


def block(world, path):
    os.unlink(world.path(path))
    os.mkdir(world.path(path))


def states(world):
    return [g["state"] for g in world.status()["guards"]]


@case(tags="sanitize")
def bug_1843526_an_update_that_was_cancelled_is_no_success(world):
    """The operator took an update that was cancelled at 0 of 573 for done, and applied everything at once. Here: the
    first guard can't be brought to hold, a reload cancels the update, and nothing behind it was touched meanwhile."""
    drift(world)
    block(world, PATHS[0])
    world.configure('ready_within = "never"\n', *guards())
    guardian = world.start(ready=False)
    world.wait_state("blocked", PATHS[0])
    wait_for(lambda: world.guard_status(PATHS[0])["attempt"] >= 2, "a second attempt")
    equal(states(world), ["blocked", "waiting", "waiting"])
    world.configure('ready_within = "never"\n', *guards("203.0.113.1"))
    wait_for(lambda: world.status()["generation"] == 2, "generation 2")
    world.wait_state("blocked", PATHS[0])
    equal((world.status()["phase"], states(world)), ("updating", ["blocked", "waiting", "waiting"]))
    wait_for(lambda: [e for e in world.history("failure") if e["outcome"] == "cancelled"], "the cancelled update is told")
    cancelled, = [e for e in world.history("failure") if e["outcome"] == "cancelled"]
    equal((cancelled["path"], cancelled["generation"]), (PATHS[0], 1))
    expect("at 0 of 3" in cancelled["reason"] and "generation 2" in cancelled["reason"], cancelled["reason"])
    expect("READY=1" not in guardian.lines(), "READY")
    equal([world.servers(path) for path in PATHS[1:]], [["192.0.2.53"]] * 2, "what waits was written")
    os.rmdir(world.path(PATHS[0]))
    world.rename_in(conf("192.0.2.53"), PATHS[0])
    guardian.wait_ready()
    restored = lambda: [e["path"] for e in world.history("restore")]
    wait_for(lambda: PATHS[2] in restored(), "the last restore in the history")
    equal(list(dict.fromkeys(restored())), PATHS, "the order of the next attempt")
    equal({e["generation"] for e in world.history("restore")}, {2})


@case(tags="sanitize")
def a_guard_that_breaks_while_a_later_one_is_brought_to_hold(world):
    drift(world)
    block(world, PATHS[2])
    world.configure('ready_within = "never"\n', *guards())
    guardian = world.start(ready=False)
    world.wait_state("blocked", PATHS[2])
    equal(states(world)[:2], ["holds", "holds"])
    block(world, PATHS[0])
    world.wait_state("blocked", PATHS[0])
    world.wait_state("waiting", PATHS[1], reason="first.conf")
    world.rename_in(conf("192.0.2.54"), PATHS[1])  # it is held back, though it was brought to hold before
    hold_for(lambda: world.servers(PATHS[1]) == ["192.0.2.54"], "what must wait was written", 0.5)
    os.rmdir(world.path(PATHS[2]))
    world.rename_in(conf("192.0.2.55"), PATHS[2])
    hold_for(lambda: world.servers(PATHS[2]) == ["192.0.2.55"], "what must wait was written", 0.5)
    equal(world.status()["phase"], "updating")
    os.rmdir(world.path(PATHS[0]))
    world.rename_in(conf("192.0.2.53"), PATHS[0])
    guardian.wait_ready()
    equal([world.servers(path)[0] for path in PATHS], [OURS] * 3)
    equal(world.status()["phase"], "reconciling")


@case(tags="sanitize")
def in_reconciling_each_drift_is_restored_on_its_own(world):
    drift(world)
    world.configure(*guards())
    world.start()
    block(world, PATHS[0])
    world.wait_state("blocked", PATHS[0])
    world.rename_in(conf("192.0.2.54"), PATHS[2])
    world.wait_servers([OURS, "192.0.2.54"], PATHS[2])
    equal((world.status()["phase"], states(world)), ("reconciling", ["blocked", "holds", "holds"]))
    os.rmdir(world.path(PATHS[0]))
    world.wait_state("holds", PATHS[0])


@case(tags="sanitize")
def a_storm_of_sighups_ends_in_one_generation_that_holds(world):
    drift(world)
    world.configure('reload = "sighup"\n', *guards())
    guardian = world.start()
    for number in range(100):
        world.configure('reload = "sighup"\n', *guards(f"203.0.113.{number}"))
        guardian.signal(signal.SIGHUP)
        time.sleep(0.01)  # the storm's own rate
    for path in PATHS:
        world.wait_servers(["203.0.113.99", "192.0.2.53"], path)
    wait_for(lambda: world.status()["phase"] == "reconciling", "reconciling")
    generation = world.status()["generation"]
    hold_for(lambda: world.status()["generation"] == generation, "another generation", 0.3)
    since = time.monotonic()
    guardian.signal(signal.SIGHUP)
    guardian.wait_line("^READY=1$", since=since)
    equal(world.status()["generation"], generation, "equal bytes began a generation")


def in_order(world, when):
    """nothing is ours that stands behind something that isn't"""
    ours = [world.servers(path)[:1] == [OURS] for path in PATHS]
    expect(ours == sorted(ours, reverse=True), f"{when}: brought to hold: {dict(zip(PATHS, ours))}")


@case(needs="plain", tags="slow")
def killed_200_times_at_random_moments(world):
    chance, generation, seen = random.Random(1), 0, set()
    world.configure(*guards())
    window = 0.01  # what an update takes here and now, from start to READY
    for turn in range(200):
        drift(world, f"192.0.2.{turn % 200}")
        guardian = world.start(ready=False)
        deadline = guardian.started + chance.uniform(0, 1.2 * window)
        while time.monotonic() < deadline:
            pass
        guardian.kill()
        in_order(world, f"killed, turn {turn}")
        seen.add(sum(world.servers(path)[:1] == [OURS] for path in PATHS))
        guardian = world.start()
        window = time.monotonic() - guardian.started
        found = world.status(code=0)
        expect(found["generation"] > generation, f"generation {found['generation']} after {generation}")
        generation = found["generation"]
        equal([g["nameservers"] for g in found["guards"]], [[OURS, f"192.0.2.{turn % 200}"]] * 3, f"turn {turn}")
        guardian.kill()
    expect(len(seen) > 2, f"all kills came at the same stage: {seen} guards held")
    for number in {e["generation"] for e in world.history("restore")}:
        restored = [PATHS.index(e["path"]) for e in world.history("restore") if e["generation"] == number]
        expect(restored == sorted(restored), f"generation {number} restored {restored}")


@case()
def apply_waits_for_all_of_the_order(world):
    """What one answer of apply says is true of every guard, also of those that had to wait when it was asked."""
    drift(world)
    block(world, PATHS[0])
    world.configure('ready_within = "never"\n', *guards())
    world.start(ready=False)
    world.wait_state("blocked", PATHS[0])
    os.rmdir(world.path(PATHS[0]))
    world.run("apply", code=0)
    equal([world.servers(path)[:1] for path in PATHS[1:]], [[OURS]] * 2)
