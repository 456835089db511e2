"""How the daemon behaves towards its service manager, its own kind and signals."""
import os
import pathlib
import signal
import time

from harness import case
from world import RESOLV, conf, equal, expect, guard, hold_for, wait_for

HELD = ["127.0.0.1", "192.0.2.53"]


def ready_world(world, *guards):
    world.configure(*(guards or [guard()]))
    world.write(conf("192.0.2.53"))
    return world


@case(tags="sanitize")
def ready_when_it_holds_and_clean_at_sigterm(world):
    guardian = ready_world(world).start()
    equal(world.servers(), HELD, "at READY=1")
    begin = time.monotonic()
    guardian.stop(0)
    expect(time.monotonic() - begin < world.settings.patience, "SIGTERM took more than a second")
    wait_for(lambda: "STOPPING=1" in guardian.lines(), "STOPPING=1")
    equal(world.servers(), HELD, "on_exit = leave")


@case()
def sigint_is_a_clean_stop(world):
    guardian = ready_world(world).start()
    guardian.signal(signal.SIGINT)
    equal(guardian.wait_end(), 0)


@case(tags="sanitize")
def a_second_guardian_ends_with_3(world):
    first = ready_world(world).start()
    state, runtime = world.state, world.runtime
    world.state, world.runtime = world.dir + "/state2", world.dir + "/run2"
    second = world.start(ready=False)
    equal(second.wait_end(), 3, "the second guardian")
    expect("/etc" in second.log(), f"it doesn't say which directory: {second.log()}")
    world.state, world.runtime = state, runtime
    first.kill()  # kill -9 leaves no lock behind
    world.start().stop(0)


@case()
def status_line_says_what_does_not_hold(world):
    world.configure('ready_within = "300ms"\n', guard())
    os.mkdir(world.path())
    guardian = world.start(ready=False)
    guardian.wait_line(rf"^STATUS=.*{RESOLV}.*directory")
    guardian.wait_ready()
    world.wait_state("blocked")
    os.rmdir(world.path())
    world.rename_in(conf("192.0.2.53"))
    world.wait_servers(HELD)
    newest = lambda: [line for line in guardian.lines() if line.startswith("STATUS=")][-1]
    wait_for(lambda: "directory" not in newest(), lambda: f"the newest is {newest()}")


@case()
def ready_never_waits_for_ever(world):
    world.configure('ready_within = "never"\n', guard())
    os.mkdir(world.path())
    guardian = world.start(ready=False)
    world.wait_state("blocked")
    expect("READY=1" not in guardian.lines(), "READY=1 with ready_within = never")
    os.rmdir(world.path())
    world.rename_in(conf("192.0.2.53"))
    guardian.wait_ready()  # for the file it made itself, or for the writer's: both may come first
    world.wait_servers(HELD)


@case()
def watchdog_is_fed_when_asked_for(world):
    guardian = ready_world(world).start(env={"WATCHDOG_USEC": "400000"})
    wait_for(lambda: guardian.lines().count("WATCHDOG=1") >= 3, "three WATCHDOG=1", 5)
    guardian.stop()
    quiet = world.start()
    world.rename_in(conf("192.0.2.53"))
    world.wait_servers(HELD)
    quiet.stop()
    expect("WATCHDOG=1" not in quiet.lines(), "WATCHDOG=1 that nobody asked for")


@case()
def no_notify_socket_is_fine(world):
    ready_world(world)
    guardian = world.start(ready=False, env={"NOTIFY_SOCKET": ""})
    world.wait_servers(HELD)
    guardian.stop(0)
    gone = world.start(ready=False, env={"NOTIFY_SOCKET": world.dir + "/nobody"})
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    gone.stop(0)


@case()
def a_missing_target_directory_is_watched_for(world):
    path = "/run/late/resolv.conf"
    world.configure('ready_within = "100ms"\n', guard(path))
    world.start()
    os.mkdir(world.path("/run/late"))
    world.rename_in(conf("192.0.2.53"), path)
    world.wait_servers(HELD, path)
    world.wait_state("holds", path)


@case()
def a_script_that_empties_and_appends_is_waited_for(world):
    ready_world(world).start()
    for number in (60, 70, 80):
        with open(world.path(), "w"):
            pass
        for line in ("search example.test", f"nameserver 192.0.2.{number}", f"nameserver 192.0.2.{number + 1}"):
            hold_for(lambda: True, "", 0.02)
            with open(world.path(), "a") as file:
                file.write(line + "\n")
        world.wait_servers(["127.0.0.1", f"192.0.2.{number}", f"192.0.2.{number + 1}"])
    # The script's last line is in the file before anybody has read it.
    wait_for(lambda: world.guard_status()["learned"]["nameservers"] == ["192.0.2.80", "192.0.2.81"], "both are learned")
    with open(world.path(), "w"):
        pass
    world.wait_servers(["127.0.0.1", "192.0.2.80", "192.0.2.81"])


@case()
def a_link_that_leads_elsewhere_and_nowhere_becomes_a_file(world):
    """write_within says that its target is never written, there or not: the node isn't left deaf."""
    ready_world(world).start()
    for target in ("../opt/none/resolv.conf", "/opt/resolv.conf", "../run/../opt/x"):
        os.unlink(world.path())
        os.symlink(target, world.path())
        wait_for(lambda: not os.path.islink(world.path()), f"a file in place of the link to {target}")
        world.wait_servers(HELD)
    os.unlink(world.path())
    os.symlink("../run/none/resolv.conf", world.path())  # that one may be written, once its directory is made
    world.wait_state("blocked", reason="^missing")


@case(tags="sanitize")
def writers_in_every_form_are_answered(world):
    ready_world(world).start()
    turns = [lambda t: world.rename_in(t), lambda t: world.write(t), lambda t: (os.unlink(world.path()), world.write(t)),
             lambda t: (world.write(t, "/etc/other"), os.unlink(world.path()), os.symlink("other", world.path())),
             lambda t: (world.write(t, "/etc/third"), os.unlink(world.path()), os.link(world.path("/etc/third"), world.path()))]
    for number, turn in enumerate(turns * 2):
        turn(conf(f"192.0.2.{number}"))
        world.wait_servers(["127.0.0.1", f"192.0.2.{number}"])
    os.chmod(world.path(), 0o600)
    wait_for(lambda: world.mode() == 0o644, "mode 0644 again")
    os.truncate(world.path(), 0)
    world.wait_servers(["127.0.0.1", f"192.0.2.{len(turns) * 2 - 1}"])
    os.unlink(world.path())
    world.wait_servers(["127.0.0.1", f"192.0.2.{len(turns) * 2 - 1}"])


@case()
def the_directory_removed_and_made_again(world):
    path = "/run/resolve/resolv.conf"
    world.configure(guard(path))
    world.write(conf("192.0.2.53"), path)
    world.start()
    for number in range(3):
        os.rename(world.path("/run/resolve"), world.path(f"/run/old.{number}"))
        os.mkdir(world.path("/run/resolve"))
        world.rename_in(conf(f"192.0.2.{number}"), path)
        world.wait_servers(["127.0.0.1", f"192.0.2.{number}"], path)


@case(tags="sanitize")
def memory_survives_and_damage_is_set_aside(world):
    guardian = ready_world(world).start()
    guardian.stop()
    world.write("")  # the writer left nothing: last good, learned by the guardian before
    guardian = world.start()
    equal(world.servers(), HELD, "last good after a restart")
    guardian.stop()
    for file in pathlib.Path(world.state).iterdir():
        if file.is_file():
            file.write_bytes(b"\xff not ours \x00")
    world.write(conf("192.0.2.99"))
    guardian = world.start()
    equal(world.servers(), ["127.0.0.1", "192.0.2.99"], "with a damaged state directory")
    expect("damaged" in guardian.log(), f"no warning: {guardian.log()}")


@case()
def a_state_directory_that_cannot_be_made_is_3(world):
    ready_world(world)
    world.state = "/dev/null/state"
    guardian = world.start(ready=False)
    equal(guardian.wait_end(), 3)
    expect("/dev/null" in guardian.log(), f"it isn't named: {guardian.log()}")


@case()
def updating_goes_in_order(world):
    """What doesn't hold holds back those behind it, unless it is optional."""
    paths = ["/etc/a.conf", "/etc/b/b.conf", "/etc/c.conf"]
    world.configure('ready_within = "100ms"\n', *[guard(p) for p in paths])
    world.write(conf("192.0.2.53"), paths[0])
    os.makedirs(world.path(paths[1]))  # a directory in place: blocked
    world.write(conf("192.0.2.53"), paths[2])
    world.start()
    world.wait_servers(HELD, paths[0])
    world.wait_state("blocked", paths[1])
    equal(world.guard_status(paths[2])["state"], "waiting")
    equal((world.servers(paths[2]), world.status()["phase"]), (["192.0.2.53"], "updating"))
    os.rmdir(world.path(paths[1]))
    world.rename_in(conf("192.0.2.53"), paths[1])
    for path in paths:
        world.wait_servers(HELD, path)
    wait_for(lambda: world.status()["phase"] == "reconciling", "phase reconciling")


@case()
def an_upstream_that_is_not_there_is_told(world):
    """It may be misspelt, and nothing fails by it: at boot it is yet to come."""
    world.configure(guard(upstream=["/run/nm.conf"]))
    world.write(conf("192.0.2.53"))
    missing = "upstream: /run/nm.conf isn't there or can't be read"
    expect(missing in world.run("check", code=1).stderr, "check doesn't say it")
    world.start()
    world.wait_state("holds", reason=f"^{missing}$")
    world.write(conf("192.0.2.54"), "/run/nm.conf")
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    world.wait_state("holds", reason="^$")
    equal(world.run("check", code=0).stderr, "", "stderr of check")
    world.configure(guard(upstream=["/run/links/*", "/run/none"]))
    world.wait_state("holds", reason=r"^upstream: nothing that can be read matches /run/links/\*, /run/none isn't there")


@case()
def an_upstream_that_has_no_server_for_a_moment(world):
    """networkd forgets a lease and has it again at each reconfigure: the servers and domains of the file are no answer to that"""
    upstream, said = "/run/nm.conf", conf("192.0.2.53", search="corp.example")
    world.configure(guard(upstream=[upstream], settle="3s"))
    world.write(conf("192.0.2.60", search="old.example"))
    world.write(said, upstream)
    world.start()
    held = world.read()
    world.rename_in("# none\n", upstream)
    world.wait_state("settling", reason="its upstream has no server")
    world.rename_in(said, upstream)
    world.wait_state("holds")
    equal((world.read(), world.guard_status()["restores"]), (held, 1), "the file, and how often it was written")
    world.rename_in("# none\n", upstream)
    world.wait_servers(["127.0.0.1", "192.0.2.60"])
    world.rename_in(conf("192.0.2.54"), upstream)
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    world.rename_in("# none\n", upstream)
    world.rename_in(conf("192.0.2.61"))
    begin = time.monotonic()
    world.wait_servers(["127.0.0.1", "192.0.2.61"])
    expect(time.monotonic() - begin < 2, "a writer's own file had to wait for the upstream")


@case()
def closed_after_its_rename(world):
    """systemd-resolved renames its file and closes it then: that isn't a script that has only begun."""
    world.configure(guard(settle="20s"))
    world.write(conf("192.0.2.53"))
    world.start()
    world.wait_servers(["127.0.0.1", "192.0.2.53"])
    for number in range(20):
        with open(world.path() + ".tmp", "w") as file:
            file.write(f"# {number}: No DNS servers known.\n")
            file.flush()
            os.rename(file.name, world.path())
        wait_for(lambda: f"# {number}:" in world.read() and world.servers() == ["127.0.0.1", "192.0.2.53"],
                 lambda: f"{world.read()!r}")


@case()
def a_script_right_behind_a_rename(world):
    """BusyBox's udhcpc empties the file and appends line by line; a rename just before doesn't make that whole."""
    world.configure(guard())
    world.write(conf("192.0.2.53"))
    world.start()
    for number in range(30):
        first, second = f"192.0.2.{100 + number}", f"198.51.100.{100 + number}"
        world.rename_in(conf(f"192.0.2.{number + 1}"))
        open(world.path(), "w").close()
        for address in (first, second):
            time.sleep(0.005)  # the script's own rate
            with open(world.path(), "a") as file:
                file.write(f"nameserver {address}\n")
        world.wait_servers(["127.0.0.1", first, second])


@case()
def a_file_that_becomes_private_while_it_is_written(world):
    """behind a link nothing is published that not everyone may read"""
    world.configure(guard())
    target = world.path("/run/resolv.conf")
    world.write(conf("192.0.2.53"), "/run/resolv.conf")
    os.symlink("../run/resolv.conf", world.path())
    world.start()
    world.wait_servers(["127.0.0.1", "192.0.2.53"])
    with open(target, "w") as file:
        file.write(conf("192.0.2.54"))
        file.flush()
        world.wait_servers(["127.0.0.1", "192.0.2.54"])  # after `settle`: he goes on writing in what was replaced
        os.fchmod(file.fileno(), 0o600)
        file.write("# a secret\nnameserver 192.0.2.66\n")
    world.rename_in(conf("192.0.2.55"), "/run/resolv.conf")
    world.wait_servers(["127.0.0.1", "192.0.2.55"])
    told = [event for event in world.history() if "192.0.2.66" in str(event)]
    equal(told, [], "the history")
