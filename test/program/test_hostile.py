"""Clients, pipes, limits and directories that are used as nobody should: it goes on, and says what is wrong."""
import os
import socket
import time

from harness import case
from world import conf, equal, expect, guard, hold_for, wait_for

HELD = ["127.0.0.1", "192.0.2.53"]


def begin(world, *guards, **options):
    world.configure(*(guards or [guard()]))
    world.write(conf("192.0.2.53"))
    return world.start(**options)


def begin_blocked(world):
    guardian = begin(world)
    os.unlink(world.path())
    os.mkdir(world.path())
    world.wait_state("blocked")
    return guardian


def connect(world):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(20 * world.settings.patience)
    client.connect(world.runtime + "/control.sock")
    return client


def goes_on(world, guardian, number):
    """it restores, and answers"""
    world.rename_in(conf(f"192.0.2.{number}"))
    world.wait_servers(["127.0.0.1", f"192.0.2.{number}"])
    equal(world.guard_status()["state"], "holds")
    equal(guardian.process.poll(), None, "ended with")


@case(tags="sanitize")
def clients_that_say_nothing_keep_nobody_out(world):
    guardian = begin(world)
    silent = [connect(world) for _ in range(100)]
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    goes_on(world, guardian, 55)  # status waits until the first of them have had their time
    descriptors = len(os.listdir(f"/proc/{guardian.process.pid}/fd"))
    expect(descriptors < 80, f"{descriptors} descriptors for 100 clients")
    for client in silent:
        client.close()


@case(tags="sanitize")
def clients_that_say_nonsense_are_told_so(world):
    guardian = begin(world)
    for words in (b"\n", b"[]\n", b"{\n", b'{"command": 3}\n', b'{"command": "fly"}\n', b"\0\xff\xfe\n", b"[" * 60000 + b"\n",
                  b'{"command": "pause", "for_ms": -1e300, "path": {}}\n', b'{"command": "pause", "path": "/none"}\n',
                  b'{"command": "pause", "path": 5}\n', b'{"command": "pause", "for_ms": "1"}\n'):
        client = connect(world)
        client.sendall(words)
        answer = client.recv(65536)
        expect(answer.startswith(b'{"error"') and answer.endswith(b"}\n"), f"{words[:40]} is answered with {answer}")
        client.close()
    endless = connect(world)
    try:
        while True:
            endless.sendall(b"x" * 65536)
    except OSError:
        pass  # it was shown out
    endless.close()
    equal(world.run("resume", code=0).returncode, 0)
    goes_on(world, guardian, 54)


@case(tags="sanitize")
def clients_that_leave_while_they_wait(world):
    """What they waited for comes true, or their time is over, in the moment in which they leave."""
    guardian = begin_blocked(world)
    for left in range(30):
        client = connect(world)
        client.sendall(b'{"command": "wait-holds", "within_ms": %d}\n' % (1 + left % 4))
        if left % 3:
            client.close()
        else:
            answer = client.recv(1 << 20)
            expect(b'blocked' in answer, f"a waiter whose time is over is told {answer}")
    waiting = [connect(world) for _ in range(5)]
    for client in waiting:
        client.sendall(b'{"command": "wait-holds"}\n')
    waiting.pop().close()
    os.rmdir(world.path())
    world.rename_in(conf("192.0.2.53"))
    for client in waiting:
        expect(b'holds' in client.recv(1 << 20), "a waiter isn't told that it holds")
    goes_on(world, guardian, 54)


@case(tags="sanitize")
def clients_that_wait_while_it_stops(world):
    guardian = begin_blocked(world)
    waiting = [connect(world) for _ in range(20)]
    for number, client in enumerate(waiting):
        client.sendall(b'{"command": "wait-holds", "within_ms": %d}\n' % (1 + 2 * number))
    guardian.stop(0)
    for client in waiting:
        client.close()


@case(needs="plain")
def a_log_that_nobody_reads_holds_up_nothing(world):
    log = world.dir + "/log.fifo"
    os.mkfifo(log)
    reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    guardian = begin(world, log=log)
    for number in range(400):  # 64 KiB of lines are what the pipe takes
        world.rename_in(conf(f"192.0.2.{number % 200}", f"198.51.100.{number % 200}"))
        world.wait_servers(["127.0.0.1", f"192.0.2.{number % 200}", f"198.51.100.{number % 200}"])
    equal(world.guard_status()["state"], "holds")
    start = time.monotonic()
    guardian.stop(0)
    expect(time.monotonic() - start < 2, "SIGTERM took more than 2 s")
    os.close(reader)


@case()
def a_swapped_directory_is_locked_too(world):
    begin(world)
    os.rename(world.path("/etc"), world.path("/etc.old"))
    os.mkdir(world.path("/etc"))
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    world.wait_state("holds")
    state, runtime = world.state, world.runtime
    world.state, world.runtime = world.dir + "/state2", world.dir + "/run2"

    def refused():
        second = world.start(ready=False)
        wait_for(lambda: second.process.poll() is not None or "READY=1" in second.lines(), "an end or READY=1")
        code = second.process.poll()
        if code is None:
            second.stop()
        return code == 3
    wait_for(refused, "a second guardian is refused")
    world.state, world.runtime = state, runtime


@case()
def one_directory_by_two_names_is_locked_once(world):
    os.symlink("etc", world.path("/etc2"))
    world.write(conf("192.0.2.60"), "/etc/other.conf")
    begin(world, guard(), guard("/etc2/other.conf"))
    world.wait_servers(HELD)
    world.wait_servers(["127.0.0.1", "192.0.2.60"], "/etc/other.conf")


@case(needs="userns")
def without_watches_it_looks_every_second(world):
    limit = "echo 0 > /proc/sys/user/max_inotify_watches && exec \"$@\""
    guardian = begin(world, prefix=("unshare", "--user", "--map-root-user", "sh", "-c", limit, "sh"))
    world.wait_servers(HELD)
    wait_for(lambda: "a watch can't be had" in guardian.log(), lambda: f"its words for it in {guardian.log()}")
    for number in (54, 55, 56):
        world.rename_in(conf(f"192.0.2.{number}"))
        world.wait_servers(["127.0.0.1", f"192.0.2.{number}"], seconds=5)
    expect(guardian.cpu_seconds() < 0.2, f"{guardian.cpu_seconds()} s of CPU in 3 s")


@case()
def release_of_a_guard_that_waits(world):
    other = "/run/other.conf"
    world.configure(guard())
    world.write(conf("192.0.2.53"))
    world.write(conf("192.0.2.60"), other)
    world.configure('ready_within = "100ms"\n', guard(), guard(other))
    world.run("apply", code=0)
    equal(world.servers(other), ["127.0.0.1", "192.0.2.60"])
    os.unlink(world.path())
    os.mkdir(world.path())
    world.start()
    world.wait_state("waiting", other)
    world.run("release", other, code=0)
    equal(world.servers(other), ["192.0.2.60"], "what the writer left")


@case(needs="plain")
def a_write_that_fails_is_not_tried_all_the_time(world):
    """In place each try is an event of its own: it must not be the reason for the next one."""
    world.configure('ready_within = "100ms"\n', guard(write="in-place"))
    world.write(conf(*(f"192.0.2.{n}" for n in range(1, 9))))
    guardian = world.start(prefix=("prlimit", "--fsize=32"), log=os.devnull)
    world.wait_state("failed")
    first = world.guard_status()["failures"]
    hold_for(lambda: guardian.process.poll() is None, "it ended", 2)
    tries = world.guard_status()["failures"] - first
    expect(1 <= tries <= 8, f"{tries} tries in 2 s, with 100 ms doubling")
    expect(guardian.cpu_seconds() < 0.5, f"{guardian.cpu_seconds()} s of CPU")


def swap_in_link(world, target):
    os.symlink(target, world.path() + ".new")
    os.rename(world.path() + ".new", world.path())


@case(tags="sanitize")
def a_file_that_becomes_a_link_again_and_again(world):
    """Whatever is at its end, and however it is written: the way is another one each time."""
    guardian = begin(world)
    world.write(conf("192.0.2.60"), "/run/target")
    world.write(conf("192.0.2.61"), "/etc/beside")
    for turn in range(12):
        target, name = [("/run/target", "/run/target"), ("beside", "/etc/beside"), ("../run/target", "/run/target")][turn % 3]
        swap_in_link(world, target)
        world.wait_servers(["127.0.0.1", "192.0.2.61" if name == "/etc/beside" else "192.0.2.60"], name)
        world.wait_state("holds")
        world.rename_in(conf(f"192.0.2.{turn}"))
        world.wait_servers(["127.0.0.1", f"192.0.2.{turn}"])
    equal(guardian.process.poll(), None, "ended with")


@case(tags="sanitize")
def a_file_that_becomes_a_link_to_what_nobody_may_read(world):
    guardian = begin(world)
    world.write(conf("192.0.2.60"), "/etc/secret", mode=0o600)
    for target in ("secret", "/etc/secret"):
        swap_in_link(world, target)
        world.wait_state("blocked", reason="^permission")
        equal(world.read("/etc/secret"), conf("192.0.2.60"))
        world.rename_in(conf("192.0.2.53"))
        world.wait_servers(HELD)
        world.wait_state("holds")
    equal(guardian.process.poll(), None, "ended with")


@case()
def a_link_with_a_final_slash_leads_to_a_directory(world):
    begin(world)
    for target in ("../run/none/", "../run/none/."):
        swap_in_link(world, target)
        world.wait_state("blocked", reason="^missing")
        equal(world.beside("/run"), [], "made in /run")
    world.rename_in(conf("192.0.2.53"))
    world.wait_servers(HELD)


@case(needs="root chattr")
def a_directory_that_is_append_only_for_a_while(world):
    """Nothing can be removed from it then: our temporary file is, when it can."""
    begin(world)
    world.run("pause", code=0)
    world.rename_in(conf("192.0.2.54"))
    world.chattr("+a", "/etc")
    world.run("resume", code=0)
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    world.chattr("-a", "/etc")
    world.run("apply", code=0)
    equal(world.beside(), ["resolv.conf"], "left beside it")


@case()
def a_generation_number_that_is_the_last_one(world):
    os.makedirs(world.state)
    with open(world.state + "/generation.json", "w") as file:
        file.write('{"version":1,"generation":18446744073709551615}')
    begin(world)
    equal((world.status()["generation"], world.status()["phase"]), (1, "reconciling"))
