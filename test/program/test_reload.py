"""A changed configuration: how it is taken, and what a bad one does."""
import os
import pathlib
import signal
import time

from harness import case
from world import conf, equal, expect, guard, hold_for, wait_for

LEARNED = "192.0.2.53"


def begin(world, *parts):
    world.configure(*(parts or [guard()]))
    world.write(conf(LEARNED))
    guardian = world.start()
    world.wait_servers(["127.0.0.1", LEARNED])
    return guardian


def generation(world):
    return world.status()["generation"]


@case(tags="sanitize")
def a_renamed_file_is_a_new_generation(world):
    guardian = begin(world)
    since = time.monotonic()
    world.configure(guard(first=["203.0.113.1"]))
    world.wait_servers(["203.0.113.1", LEARNED])
    wait_for(lambda: (generation(world), world.status()["phase"]) == (2, "reconciling"), "generation 2, reconciling")
    guardian.wait_line("^RELOADING=1$", since=since)
    stamp = guardian.wait_line("^MONOTONIC_USEC=", since=since)
    usec = int(stamp.split("=")[1]) / 1e6
    expect(since - 1 < usec < time.monotonic(), f"{stamp}, the clock says {since}")
    guardian.wait_line("^READY=1$", since=since)
    wait_for(lambda: world.history("reload"), "a reload in the history")


@case(tags="sanitize")
def sighup_reloads(world):
    guardian = begin(world, 'reload = "sighup"\n', guard())
    since = time.monotonic()
    world.configure('reload = "sighup"\n', guard(first=["203.0.113.1"]))
    world.rename_in(conf("192.0.2.54"))  # a wake-up that would show a reload nobody asked for
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    hold_for(lambda: generation(world) == 1, "generation 2 without SIGHUP", 0.5)
    guardian.signal(signal.SIGHUP)
    world.wait_servers(["203.0.113.1", "192.0.2.54"])
    guardian.wait_line("^RELOADING=1$", since=since)


@case()
def equal_bytes_are_no_generation(world):
    guardian = begin(world)
    world.configure(guard())
    guardian.signal(signal.SIGHUP)
    guardian.wait_line("^RELOADING=1$")
    hold_for(lambda: generation(world) == 1, "equal bytes began a generation", 0.3)
    world.configure(guard(first=["203.0.113.1"]))
    wait_for(lambda: generation(world) == 2, "generation 2")


@case(tags="sanitize")
def a_config_map_is_swapped(world):
    """Kubernetes: config.toml -> ..data/config.toml, ..data -> a directory of its own for each version."""
    volume = world.dir + "/volume"
    os.mkdir(volume)

    def publish(version, text):
        os.mkdir(f"{volume}/..v{version}")
        pathlib.Path(f"{volume}/..v{version}/config.toml").write_text(text)
        os.symlink(f"..v{version}", volume + "/..data_tmp")
        os.rename(volume + "/..data_tmp", volume + "/..data")
    publish(1, guard())
    os.symlink("..data/config.toml", volume + "/config.toml")
    world.config = volume + "/config.toml"
    world.write(conf(LEARNED))
    world.start()
    world.wait_servers(["127.0.0.1", LEARNED])
    for version in (2, 3):
        publish(version, guard(first=[f"203.0.113.{version}"]))
        world.wait_servers([f"203.0.113.{version}", LEARNED])
        wait_for(lambda: generation(world) == version, f"generation {version}")


@case()
def a_half_saved_file_is_never_taken(world):
    begin(world)
    with open(world.config, "w") as file:  # valid TOML so far, and another policy
        file.write(guard(first=["203.0.113.1"]))
        file.flush()
        hold_for(lambda: generation(world) == 1 and world.servers()[0] == "127.0.0.1", "a half saved file was taken", 0.15)
        file.write('deny = ["198.51.100.0/24"]\n')
    world.wait_servers(["203.0.113.1", LEARNED])
    equal(generation(world), 2, "generation")


@case(tags="sanitize")
def a_bad_one_changes_nothing_and_is_said(world):
    guardian = begin(world)
    world.configure("[[guard]]\npth = 3\n")
    wait_for(lambda: "pth" in (world.status()["config"]["error"] or ""), "status.config.error")
    wait_for(lambda: "pth" in guardian.log(), "the log names it")
    guardian.wait_line("^STATUS=.*onfig")
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    equal(generation(world), 1)
    os.unlink(world.config)
    wait_for(lambda: "pth" not in (world.status()["config"]["error"] or "pth"), "a missing file is said")
    world.configure(guard(first=["203.0.113.1"]))
    world.wait_servers(["203.0.113.1", "192.0.2.54"])
    wait_for(lambda: not world.status()["config"]["error"], "the error is gone")


@case(tags="sanitize")
def a_bad_one_at_the_start(world):
    world.write(conf(LEARNED))
    world.configure("[[guard]]\npth = 3\n")
    guardian = world.start(ready=False)
    equal(guardian.wait_end(), 2, "a bad configuration and no verified one")
    equal(world.servers(), [LEARNED])
    begin(world).stop()
    world.configure("[[guard]]\npth = 3\n")
    world.rename_in(conf("192.0.2.54"))
    guardian = world.start()
    equal(world.servers(), ["127.0.0.1", "192.0.2.54"], "the last verified configuration")
    expect("pth" in guardian.log() and "pth" in world.status()["config"]["error"], "the bad one is not said")


@case()
def what_only_observes_is_verified_too(world):
    """Nothing has to be waited for: a bad one at the next start must not bring back the order that was given up."""
    guardian = begin(world)
    world.configure(guard(enforce=False))
    world.wait_state("observing")
    verified = pathlib.Path(world.state, "verified.toml")
    wait_for(lambda: verified.exists() and "enforce = false" in verified.read_text(), "this one is the verified configuration")
    guardian.stop()
    world.configure("[[guard]]\npth = 3\n")
    world.rename_in(conf("192.0.2.54"))
    world.start()
    world.wait_state("observing")
    equal(world.servers(), ["192.0.2.54"], "what is only observed")


@case()
def a_guard_that_left_is_left_alone(world):
    other = "/etc/other.conf"
    world.write(conf(LEARNED), other)
    begin(world, guard(), guard(other))
    world.wait_servers(["127.0.0.1", LEARNED], other)
    world.configure(guard())
    wait_for(lambda: [g["path"] for g in world.status()["guards"]] == ["/etc/resolv.conf"], "one guard left")
    world.rename_in(conf("192.0.2.54"), other)
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    equal(world.servers(other), ["192.0.2.54"], "the guard that left")


@case()
def new_policies_are_no_fight(world):
    begin(world)
    for number in range(1, 14):
        world.configure(guard(first=[f"203.0.113.{number}"]))
        world.wait_servers([f"203.0.113.{number}", LEARNED])
        hold_for(lambda: world.servers()[0] != "127.0.0.1", "the first configuration's server is back", 0.2)
    wait_for(lambda: len(world.history("restore")) == 14, "all restores in the history")
    equal([e for e in world.history("state") if e["outcome"] == "contested"], [], "contested by its own configuration")


@case()
def the_old_policy_holds_until_the_new_one_arrives(world):
    """Generation 2 is held back by its first guard: the second one goes on under generation 1."""
    blocked = "/run/blocked/resolv.conf"
    begin(world)
    os.makedirs(world.path(blocked))
    world.configure(guard(blocked), guard(first=["203.0.113.1"]))
    world.wait_state("blocked", blocked)
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    os.rmdir(world.path(blocked))
    world.rename_in(conf("192.0.2.55"), blocked)
    world.wait_servers(["203.0.113.1", "192.0.2.54"])
