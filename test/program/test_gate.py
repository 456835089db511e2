"""requires: a guard is brought to hold only once its servers answer."""
import json
import subprocess
import time

from dns_server import Server, address, another_id, answer
from harness import case
from world import conf, equal, expect, guard, hold_for, wait_for

NAME = "api-int.cluster.example"
FIRST = "/run/first.conf"


def gated(path="/etc/resolv.conf", server="127.0.0.1", timeout="200ms", **keys):
    table = guard(path, **keys).split("\n", 1)
    wanted = f'requires = [{{ nameserver = "{server}", answers = "{NAME}", timeout = "{timeout}" }}]'
    return f"{table[0]}\n{wanted}\n{table[1]}"


def begin(world, where, behind=True):
    """a gated guard, and one behind it"""
    world.write(conf("192.0.2.53"))
    world.write(conf("192.0.2.60"), FIRST)
    world.configure('ready_within = "never"\n', gated(server=where), *([guard(FIRST)] if behind else []))
    return world.start(ready=False)


def stays_closed(world, guardian, reason):
    world.wait_state("waiting", reason=reason)
    hold_for(lambda: world.servers() == ["192.0.2.53"] and world.servers(FIRST) == ["192.0.2.60"],
             "a guard was written before the gate opened", 0.5)
    equal((world.status()["phase"], world.guard_status(FIRST)["state"]), ("updating", "waiting"))
    expect("READY=1" not in guardian.lines(), "READY before the gate opened")
    found = world.guard_status()
    expect(found["failures"] >= 1 and found["attempt"] >= 1, f"no failure is counted: {found}")
    wait_for(lambda: world.history("failure", "/etc/resolv.conf"), "a failure in the history")


def opens(world, guardian):
    world.wait_servers(["127.0.0.1", "192.0.2.53"])
    world.wait_servers(["127.0.0.1", "192.0.2.60"], FIRST)
    guardian.wait_ready()
    equal(world.guard_status()["attempt"], 0)


@case(needs="root", tags="sanitize")
def a_server_that_starts_late(world):
    where = address()
    guardian = begin(world, where)
    stays_closed(world, guardian, "requires.*" + where.replace(".", r"\."))
    server = Server(where, answer)
    opens(world, guardian)
    asked = server.asked
    world.rename_in(conf("192.0.2.54"))  # in reconciling nobody is asked any more
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    equal(server.asked, asked)
    server.close()


@case(needs="root", tags="sanitize")
def a_server_that_is_silent(world):
    where = address()
    server = Server(where, None)
    guardian = begin(world, where)
    stays_closed(world, guardian, "didn't answer")
    server.answers = answer
    opens(world, guardian)
    server.close()


@case(needs="root")
def a_server_that_refuses(world):
    where = address()
    server = Server(where, lambda query: answer(query, code=5))
    guardian = begin(world, where)
    stays_closed(world, guardian, "REFUSED")
    server.answers = lambda query: answer(query, code=2)
    world.wait_state("waiting", reason="SERVFAIL")
    server.answers = lambda query: answer(query, code=3)  # NXDOMAIN is an answer
    opens(world, guardian)
    server.close()


@case(needs="root")
def a_server_that_answers_another_id(world):
    where = address()
    server = Server(where, another_id)
    guardian = begin(world, where)
    stays_closed(world, guardian, "didn't answer|wasn't asked")
    server.answers = answer
    opens(world, guardian)
    server.close()


@case(needs="root")
def a_server_that_answers_over_tcp_alone(world):
    where = address()
    server = Server(where, answer, udp=False)
    opens(world, begin(world, where))
    server.close()


@case(needs="root")
def until_the_gate_opens_the_old_policy_goes_on(world):
    where = address()
    world.write(conf("192.0.2.53"))
    world.configure(guard())
    world.start()
    world.configure(gated(server=where, first=["203.0.113.1"]))
    world.wait_state("waiting", reason="requires")
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    server = Server(where, answer)
    world.wait_servers(["203.0.113.1", "192.0.2.54"])
    server.close()


@case(needs="root")
def a_gate_that_nobody_opens_keeps_nobody_from_stopping(world):
    where = address()
    server = Server(where, None)
    guardian = begin(world, where)
    world.wait_state("waiting", reason="requires")
    world.configure('ready_within = "never"\n', gated(server=where, timeout="30s"))
    asked = server.asked
    wait_for(lambda: world.status()["generation"] == 2 and server.asked > asked, "it is asked in generation 2")
    start = time.monotonic()
    guardian.stop(0)
    expect(time.monotonic() - start < 1 * world.settings.patience, "SIGTERM took more than 1 s")
    server.close()


@case(needs="root", tags="sanitize")
def a_pause_of_a_gated_guard(world):
    """It is out of the order, and shown so, before and after a restart; nobody waits for it, and it for nobody."""
    where = address()
    guardian = begin(world, where)
    world.wait_state("waiting", reason="requires")
    world.run("pause", "/etc/resolv.conf", code=0)
    world.wait_servers(["127.0.0.1", "192.0.2.60"], FIRST)
    world.wait_state("paused")
    guardian.kill()
    guardian = world.start()  # READY
    world.wait_state("paused")
    equal(world.servers(), ["192.0.2.53"])
    world.run("pause", "--for", "300ms", "/etc/resolv.conf", code=0)
    server = Server(where, answer)
    world.wait_servers(["127.0.0.1", "192.0.2.53"])
    server.close()


@case(needs="root")
def apply_waits_for_an_answer(world):
    where = address()
    world.write(conf("192.0.2.53"))
    world.write(conf("192.0.2.60"), FIRST)
    world.configure('ready_within = "never"\n', gated(server=where, timeout="4s"), guard(FIRST))
    server = Server(where, None)
    world.start(ready=False)
    wait_for(lambda: server.asked > 0, "it is asked")
    applying = subprocess.Popen(world.command("apply"), stderr=subprocess.DEVNULL)
    hold_for(lambda: applying.poll() is None, "apply ended while a server was being asked", 0.3)
    server.answers = answer  # over TCP, or asked again
    world.wait_servers(["127.0.0.1", "192.0.2.60"], FIRST)
    equal(applying.wait(20), 0)
    server.close()


@case(needs="root")
def apply_asks_too(world):
    """without a running guardian"""
    where = address()
    world.write(conf("192.0.2.53"))
    world.write(conf("192.0.2.60"), FIRST)
    world.configure(gated(server=where), guard(FIRST))
    done = world.run("apply", code=3)
    expect("requires" in done.stderr and FIRST in done.stderr, done.stderr)
    equal((world.servers(), world.servers(FIRST)), (["192.0.2.53"], ["192.0.2.60"]))
    server = Server(where, answer)
    world.run("apply", code=0)
    equal(world.servers(), ["127.0.0.1", "192.0.2.53"])
    server.close()


@case()
def config_prints_it(world):
    world.configure(gated())
    text = world.run("config", code=0).stdout
    expect(NAME in text and json.dumps("200ms") in text, text)
    world.configure(text)
    equal(world.run("config", code=0).stdout, text)
