"""What gives back what the last writer left, and what never writes."""
import os

from harness import case
from world import RESOLV, conf, equal, expect, guard, wait_for

ODD = "\ufeff# by hand\r\nsearch  a.example\tb.example\nnameserver\t192.0.2.53 # first\nunknown line\nnameserver 192.0.2.54"


def left_by_a_writer(world, mode=0o640):
    world.write(ODD, mode=mode)
    return ODD, mode


def restored(world):
    return wait_for(lambda: world.servers()[:1] == ["127.0.0.1"], lambda: f"not restored: {world.read()!r}")


def same_as_left(world, text, mode):
    with open(world.path(), newline="") as file:
        equal(file.read(), text, "bytes")
    equal(world.mode(), mode, "mode")
    equal([n for n in world.beside() if n.startswith(".")], [], "left beside it")


@case(tags="sanitize")
def release_gives_back_bytes_and_mode(world):
    world.configure(guard())
    text, mode = left_by_a_writer(world)
    world.start()
    restored(world)
    equal(world.mode(), 0o644, "mode while it is guarded")
    world.run("release", code=0)
    same_as_left(world, text, mode)
    world.wait_state("paused")
    world.run("resume", code=0)
    restored(world)


@case()
def release_gives_back_what_came_last(world):
    world.configure(guard())
    left_by_a_writer(world)
    world.start()
    world.rename_in(conf("192.0.2.77"), mode=0o604)
    world.wait_servers(["127.0.0.1", "192.0.2.77"])
    world.run("release", RESOLV, code=0)
    same_as_left(world, conf("192.0.2.77"), 0o604)


@case()
def release_gives_back_the_link(world):
    world.configure(guard(link="file"))
    world.write(conf("192.0.2.53"), "/run/stub/resolv.conf")
    os.symlink("../run/stub/resolv.conf", world.path())
    world.start()
    restored(world)
    expect(not os.path.islink(world.path()), "link = file left the link")
    world.run("release", code=0)
    equal(os.readlink(world.path()), "../run/stub/resolv.conf")
    equal(world.read("/run/stub/resolv.conf"), conf("192.0.2.53"), "the link's target")


@case()
def release_gives_back_through_the_link(world):
    world.configure(guard())
    world.write(conf("192.0.2.53"), "/run/stub/resolv.conf")
    os.symlink("../run/stub/resolv.conf", world.path())
    world.run("apply", code=0)
    equal(os.readlink(world.path()), "../run/stub/resolv.conf")
    equal(world.servers("/run/stub/resolv.conf"), ["127.0.0.1", "192.0.2.53"])
    world.run("release", code=0)
    equal(world.read("/run/stub/resolv.conf"), conf("192.0.2.53"))
    equal(os.readlink(world.path()), "../run/stub/resolv.conf")


@case(tags="sanitize")
def release_of_our_file_that_was_edited(world):
    """An editor saves our lines with his: 127.0.0.1 must not stay behind when the guardian goes."""
    world.write(conf("192.0.2.53", search="corp.example"))
    world.configure(guard())
    guardian = world.start()
    world.wait_servers(["127.0.0.1", "192.0.2.53"])
    edited = world.read().replace("192.0.2.53", "192.0.2.66")
    world.rename_in(edited)
    wait_for(lambda: world.guard_status()["learned"]["nameservers"] == ["192.0.2.66"], "the edit is learned")
    world.run("release", code=0)
    equal(world.read(), conf("192.0.2.66", search="corp.example"), "after release")
    guardian.stop()
    world.run("resume", code=None)
    world.rename_in(edited)
    world.run("release", code=0)
    equal(world.read(), conf("192.0.2.66", search="corp.example"), "after release without a guardian")


@case(tags="sanitize")
def release_without_a_guardian_pauses_too(world):
    world.configure(guard())
    text, mode = left_by_a_writer(world)
    world.run("apply", code=0)
    restored(world)
    world.run("release", code=0)
    same_as_left(world, text, mode)
    world.start(ready=False)
    world.wait_state("paused")
    same_as_left(world, text, mode)


@case()
def a_guard_on_the_command_line_is_that_one(world):
    """`--path OTHER release` beside a guardian is about no other guard."""
    world.configure(guard())
    left_by_a_writer(world)
    world.start()
    restored(world)
    for word in ("release", "pause", "resume"):
        done = world.run("--path", "/etc/other.conf", "--first", "127.0.0.1", word, config=False)
        equal(done.returncode, 3, word)
        expect("no such guard: /etc/other.conf" in done.stderr, done.stderr)
        equal(world.guard_status()["state"], "holds", word)
    world.run("--path", "/etc/resolv.conf", "--first", "127.0.0.1", "pause", config=False, code=0)
    world.wait_state("paused")


@case()
def on_exit_restore_of_a_guard_that_waits(world):
    """What an earlier guardian wrote is given back by one that never came to it."""
    other = "/run/other.conf"
    world.configure(guard(other, on_exit="restore"))
    world.write(conf("192.0.2.60"), other)
    world.run("apply", code=0)
    equal(world.servers(other), ["127.0.0.1", "192.0.2.60"])
    os.mkdir(world.path())
    world.configure('ready_within = "100ms"\n', guard(), guard(other, on_exit="restore"))
    guardian = world.start()
    world.wait_state("waiting", other)
    guardian.stop(0)
    equal(world.servers(other), ["192.0.2.60"], "what the writer left")


@case(tags="sanitize")
def on_exit_restore_gives_back(world):
    world.configure(guard(on_exit="restore"))
    text, mode = left_by_a_writer(world)
    guardian = world.start()
    restored(world)
    guardian.stop(0)
    same_as_left(world, text, mode)
    guardian = world.start()  # no pause: the next one guards again
    restored(world)
    guardian.stop(0)
    same_as_left(world, text, mode)


@case()
def a_file_that_was_absent_is_absent_again(world):
    world.configure(guard(extra='fallback = ["192.0.2.1"]'))
    world.start()
    world.wait_servers(["127.0.0.1", "192.0.2.1"])
    world.run("release", code=0)
    expect(not os.path.lexists(world.path()), f"it stands there: {world.read()!r}")


@case(tags="sanitize")
def enforce_false_records_and_never_writes(world):
    world.configure(guard(enforce=False))
    text, mode = left_by_a_writer(world)
    guardian = world.start()
    world.wait_state("observing")
    would = wait_for(lambda: world.history("would-restore"), "would-restore in the history")
    expect("nameserver 127.0.0.1\n" in would[-1]["after"] and would[-1]["violations"], f"{would[-1]}")
    same_as_left(world, text, mode)
    world.rename_in(conf("192.0.2.77"))
    wait_for(lambda: len(world.history("would-restore")) == 2, "a second would-restore")
    equal(world.read(), conf("192.0.2.77"))
    guardian.stop(0)
    equal((world.read(), world.history("restore")), (conf("192.0.2.77"), []))
