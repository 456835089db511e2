"""Idle means idle, and noise beside the guarded name is nobody's business."""
import os
import pathlib
import re

from harness import case
from world import conf, expect, equal, guard, hold_for, wait_for

WINDOW = 60  # seconds


@case(needs="strace plain", tags="slow")
def only_the_slow_re_check_wakes_it(world):
    # With "auto" the directories above the configuration are watched, and what others do there is a wake-up.
    world.move("/var/tmp")
    world.configure('reload = "sighup"\n', guard(), guard("/etc/other.conf"))
    world.write(conf("192.0.2.53"))
    world.write(conf("192.0.2.53"), "/etc/other.conf")
    trace = pathlib.Path(world.dir + "/trace")
    mounts = ("unshare", "--mount", "--propagation", "private") if os.environ.get("RG_OWN_MOUNTS") else ()  # others mount
    guardian = world.start(prefix=(*mounts, "strace", "-D", "-f", "-ttt", "-o", str(trace)))
    world.wait_state("holds")
    hold_for(lambda: guardian.process.poll() is None, "it ended", WINDOW + 10)
    guardian.stop(0)
    times = [float(m) for m in re.findall(r"^\d+ +(\d+\.\d+)", trace.read_text(errors="replace"), re.M)]
    ready = min(times) + 8  # what follows a restore (sync, state, history) and the timers of asking for the status are over
    window = [t for t in times if ready < t < ready + WINDOW]
    wakes = [t for before, t in zip([ready - 9, *window], window) if t - before > 1]
    expect(len(wakes) <= WINDOW / 30 + 1, f"it woke at {[round(w - ready, 1) for w in wakes]} s")
    early = [b - a for a, b in zip(wakes, wakes[1:]) if b - a < 25]
    equal(early, [], "seconds between two wake-ups")
    expect(len(window) < 300, f"{len(window)} system calls in {WINDOW} s")


@case(alone=True)
def noise_beside_it_wakes_no_policy(world):
    world.configure(guard())
    world.write(conf("192.0.2.53"))
    guardian = world.start()
    wait_for(lambda: world.history("restore"), "the first restore in the history")
    before, cpu = (world.guard_status(), world.history()), guardian.cpu_seconds()
    writer = world.tool("writers", "noise", world.path("/etc"), "50000")
    equal(writer.wait(300), 0, "the writer")
    used = guardian.cpu_seconds() - cpu
    equal((world.guard_status(), world.history()), before, "status and history after the noise")
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"])
    wait_for(lambda: len(world.history("restore")) == 2, "the second restore in the history")
    expect(used < world.settings.patience, f"{used} s of CPU for 50,000 writes to other names")


@case(alone=True)
def noise_beside_the_configuration_reads_nothing(world):
    world.configure(guard())
    world.write(conf("192.0.2.53"))
    guardian = world.start()
    cpu, generation = guardian.cpu_seconds(), world.status()["generation"]
    equal(world.tool("writers", "noise", world.dir, "50000").wait(300), 0, "the writer")
    used = guardian.cpu_seconds() - cpu
    equal(world.status()["generation"], generation)
    world.configure(guard(first=["203.0.113.1"]))
    world.wait_servers(["203.0.113.1", "192.0.2.53"])
    expect(used < world.settings.patience, f"{used} s of CPU for 50,000 writes beside the configuration")
