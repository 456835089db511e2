"""--root: every path is resolved inside, whatever the links say, and nothing outside is opened."""
import os
import re

from harness import case
from world import conf, equal, expect, guard

CANARY = conf("198.51.100.66", header="outside of the root")
HELD = ["127.0.0.1", "192.0.2.53"]


def outside(world):
    """A file outside of the root that a link followed by the kernel would reach; gives a check that nobody touched it."""
    os.mkdir(world.dir + "/outside")
    path = world.dir + "/outside/resolv.conf"
    with open(path, "w") as file:
        file.write(CANARY)
    os.utime(path, (1, 1))  # an old atime: under relatime a single read would move it
    before = os.stat(path)

    def untouched():
        after = os.stat(path)
        same = all(getattr(before, k) == getattr(after, k) for k in ("st_ino", "st_mtime_ns", "st_ctime_ns", "st_size"))
        expect(same and after.st_atime_ns == before.st_atime_ns, f"{path} was touched: {before}, {after}")
        equal(os.listdir(world.dir + "/outside"), ["resolv.conf"], "left outside")
    return untouched


def follow(world, target, lands):
    world.configure(guard())
    world.write(conf("192.0.2.53"), lands)
    os.symlink(target, world.path())
    untouched = outside(world)
    world.start()
    world.wait_servers(HELD, lands)
    world.rename_in(conf("192.0.2.54"), lands)
    world.wait_servers(["127.0.0.1", "192.0.2.54"], lands)
    equal(os.readlink(world.path()), target, "the link")
    untouched()


@case(tags="sanitize")
def an_absolute_link_starts_at_the_root(world):
    follow(world, "/run/stub/resolv.conf", "/run/stub/resolv.conf")


@case(tags="sanitize")
def dots_stop_at_the_root(world):
    follow(world, "../../../../../../../run/stub/resolv.conf", "/run/stub/resolv.conf")


@case()
def a_link_to_the_canary_lands_inside(world):
    world.configure(guard(write_within=["/etc", "/run", "/outside"]))
    world.write(conf("192.0.2.53"), "/outside/resolv.conf")
    os.symlink("../../outside/resolv.conf", world.path())
    untouched = outside(world)
    world.start()
    world.wait_servers(HELD, "/outside/resolv.conf")
    untouched()


@case()
def a_link_that_leads_elsewhere_is_replaced(world):
    """write_within: /var/lib is none of ours, so the link becomes a file and its target stays as it is."""
    world.configure(guard())
    world.write(conf("192.0.2.53"), "/var/lib/resolv.conf")
    os.symlink("/var/lib/resolv.conf", world.path())
    world.start()
    world.wait_servers(HELD)
    expect(not os.path.islink(world.path()), "it is still a link")
    equal(world.read("/var/lib/resolv.conf"), conf("192.0.2.53"), "the target")


@case(tags="sanitize")
def a_loop_is_no_end(world):
    world.configure('ready_within = "100ms"\n', guard())
    os.symlink("other", world.path())
    os.symlink("resolv.conf", world.path("/etc/other"))
    world.start()
    equal(len(world.status()["guards"]), 1)
    world.rename_in(conf("192.0.2.53"))
    world.wait_servers(HELD)
    world.wait_state("holds")


@case()
def a_link_in_the_middle_is_swapped(world):
    world.configure(guard("/etc/net/resolv.conf", write_within=["/etc", "/run"]))
    for name in ("a", "b"):
        world.write(conf(f"192.0.2.{ord(name)}"), f"/run/{name}/resolv.conf")
    os.symlink("../run/a", world.path("/etc/net"))
    world.start()
    world.wait_servers(["127.0.0.1", "192.0.2.97"], "/run/a/resolv.conf")
    os.symlink("../run/b", world.path("/etc/net.new"))
    os.rename(world.path("/etc/net.new"), world.path("/etc/net"))
    world.wait_servers(["127.0.0.1", "192.0.2.98"], "/run/b/resolv.conf")
    world.rename_in(conf("192.0.2.99"), "/run/b/resolv.conf")
    world.wait_servers(["127.0.0.1", "192.0.2.99"], "/run/b/resolv.conf")


@case(tags="sanitize")
def links_swapped_while_we_look(world):
    """A directory on the path is swapped for links that lead outside, as fast as it goes, while the guard restores."""
    world.configure(guard("/run/net/resolv.conf"))
    world.write(conf("192.0.2.53"), "/run/inside/resolv.conf")
    os.symlink("inside", world.path("/run/net"))
    untouched = outside(world)
    guardian = world.start()
    count = "3000" if world.settings.sanitized else "20000"
    swapper = world.tool("writers", "swap", world.path("/run/net"), "inside", "../../outside", count)
    serial = 0
    while swapper.poll() is None:
        serial += 1
        world.rename_in(conf(f"192.0.2.{serial % 250}"), "/run/inside/resolv.conf")
    equal(swapper.returncode, 0, "the swapper")
    os.unlink(world.path("/run/net"))
    os.symlink("inside", world.path("/run/net"))
    world.rename_in(conf("192.0.2.251"), "/run/inside/resolv.conf")
    world.wait_servers(["127.0.0.1", "192.0.2.251"], "/run/inside/resolv.conf")
    untouched()
    guardian.stop(0)


def opened_paths(trace):
    """what the traced calls name, with the directory of their descriptor (strace -y)"""
    for line in trace.splitlines():
        call = re.search(r"\b(openat2?|readlinkat|newfstatat|statx|renameat2?|unlinkat|mkdirat|linkat|symlinkat|fchmodat\w*)\((.*)", line)
        if call:
            for directory, name in re.findall(r"(?:AT_FDCWD|\d+)(?:<([^>]*)>)?, \"([^\"]*)\"", call[2]):
                yield name if name.startswith("/") else f"{directory}/{name}"
        elif call := re.search(r"\b(open|stat|lstat|readlink|rename|unlink|access|inotify_add_watch)\((?:\d+(?:<[^>]*>)?, )?\"([^\"]*)\"", line):
            yield call[2]


@case(needs="strace plain")
def nothing_outside_is_opened(world):
    world.configure(guard(upstream=["/run/NetworkManager/resolv.conf"]))
    world.write(conf("192.0.2.53"), "/run/NetworkManager/resolv.conf")
    os.symlink("/../../run/systemd/resolve/../../NetworkManager/../stub", world.path())
    os.makedirs(world.path("/run/systemd/resolve"))
    world.write(conf("192.0.2.9"), "/run/stub")
    trace = world.dir + "/trace"
    guardian = world.start(prefix=("strace", "-D", "-f", "-y", "-s", "4096", "-o", trace, "-e", "trace=%file,inotify_add_watch"))
    world.wait_servers(HELD, "/run/stub")
    guardian.stop(0)
    with open(trace, errors="replace") as file:
        paths = list(opened_paths(file.read()))
    expect(len(paths) > 10, f"the trace names only {paths}")
    own = [world.root, world.state, world.runtime, world.config, os.path.dirname(world.config) + "/config.d", "/proc/"]
    above = {world.dir, os.path.dirname(world.dir), "/"}  # the configuration's own path is watched from / on
    clean = {os.path.normpath("/" + p.lstrip("/")) for p in paths}
    strangers = [p for p in clean if p not in above and not any((p + "/").startswith(o.rstrip("/") + "/") for o in own)]
    strangers += [p for p in paths if "/.." in p]
    equal(strangers, [], "opened outside of the root")
