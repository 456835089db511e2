"""apply, check and release without a running guardian, and results that can't be written."""
import hashlib
import os
import pathlib
import subprocess

from harness import case
from world import RESOLV, conf, equal, expect, guard

THEIRS = conf("192.0.2.53")


def memory_file(world, suffix):
    return pathlib.Path(world.state) / f"guard-{hashlib.sha256(RESOLV.encode()).hexdigest()[:16]}{suffix}"


@case()
def two_guards_on_one_file_are_3(world):
    world.configure(guard(), guard("/etc/other.conf", first=("127.0.0.2",)))
    world.write(THEIRS)
    os.symlink("resolv.conf", world.path("/etc/other.conf"))
    expect("same-file" in world.run("check", code=3).stderr, "check says nothing of the same file")
    done = world.run("apply", code=3)
    expect("/etc/other.conf: blocked: same-file" in done.stderr, done.stderr)
    equal(world.servers(), ["127.0.0.1", "192.0.2.53"], "the first guard's")


@case()
def check_leaves_a_damaged_memory_where_it_is(world):
    world.configure(guard())
    world.write(THEIRS)
    os.makedirs(world.state)
    memory_file(world, ".json").write_text("{")
    expect("is ignored" in world.run("check", code=1).stderr, "check says nothing of the damage")
    equal(os.listdir(world.state), [memory_file(world, ".json").name], "in the state directory")
    expect("set aside" in world.run("apply", code=0).stderr, "apply says nothing of the damage")


@case()
def apply_says_that_the_memory_cannot_be_kept(world):
    world.configure(guard())
    world.write(THEIRS)
    for name in (".json", ".json.damaged/in-the-way"):  # it can neither be replaced nor set aside
        os.makedirs(memory_file(world, name))
    done = world.run("apply", code=0)
    expect("can't be kept" in done.stderr, f"stderr: {done.stderr!r}")
    equal(world.servers(), ["127.0.0.1", "192.0.2.53"])


@case()
def who_observes_removes_nothing(world):
    world.configure(guard(enforce=False))
    world.write(conf("127.0.0.1", "192.0.2.53"))
    world.write("left", "/etc/.resolv.conf.resolv-guardian")
    world.run("apply", code=3)
    equal(world.read("/etc/.resolv.conf.resolv-guardian"), "left")


@case()
def release_says_why_it_cannot_pause(world):
    world.configure(guard())
    world.write(THEIRS)
    world.run("apply", code=0)
    os.makedirs(world.runtime + "/paused.json")
    done = world.run("release", code=3)
    expect("isn't paused" in done.stderr and "paused.json" in done.stderr, f"stderr: {done.stderr!r}")


@case()
def release_gives_back_a_link_that_nothing_was_read_through(world):
    world.configure(guard(link="file"))
    for text, mode in (("../run/secret", 0o600), ("resolv.conf", None)):
        if mode:
            world.write(THEIRS, "/run/secret", mode)
        if os.path.lexists(world.path()):
            os.unlink(world.path())
        os.symlink(text, world.path())
        world.run("apply", code=0)
        expect(not os.path.islink(world.path()), "the link still stands")
        world.run("release", code=0)
        equal(os.readlink(world.path()), text, "the link that came back")
        os.unlink(world.runtime + "/paused.json")


@case()
def release_never_gives_back_a_part(world):
    world.configure(guard())
    world.write(THEIRS + "#" * (1 << 20) + "\n")
    world.run("apply", code=0)
    ours = world.read()
    expect("1 MiB" in world.run("release", code=3).stderr, "why isn't told")
    equal(world.read(), ours)


@case()
def a_result_that_cannot_be_written_is_3(world):
    world.configure(guard())
    world.write(THEIRS)
    for words in (["check"], ["config"], ["history", "--json"]):
        if words[0] == "history":
            world.run("apply", code=0)
        with open("/dev/full", "w") as full:
            done = subprocess.run(world.command(*words), stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        equal(done.returncode, 3, f"{words} into a full device")
        expect("standard output" in done.stderr, f"stderr: {done.stderr!r}")
