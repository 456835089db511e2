"""What a guard cannot change is said, with its reason, and it is left again as soon as it ends, with or without an event."""
import os
import stat
import subprocess

from harness import Skip, case
from world import RESOLV, conf, equal, expect, guard, wait_for

HELD = ["127.0.0.1", "192.0.2.53"]
SLOW = 40  # seconds: what gives no event is found by the slow re-check, every 30


def begin(world, **keys):
    world.configure('ready_within = "100ms"\n', guard(**keys))
    world.write(conf("192.0.2.53"))


def blocked(world, reason, path=RESOLV):
    it = world.wait_state("blocked", path, reason=f"^{reason}")
    expect(len(it["reason"]) > len(reason) + 10, f"it doesn't say what to do: {it['reason']}")


def left_again(world, path=RESOLV):
    world.wait_servers(HELD, path, seconds=SLOW)
    world.wait_state("holds", path)


@case(needs="root chattr", tags="slow")
def an_immutable_file(world):
    begin(world)
    world.chattr("+i")
    world.start()
    blocked(world, "immutable")
    equal(world.read(), conf("192.0.2.53"))
    world.chattr("-i")
    left_again(world)


@case(needs="root chattr")
def an_immutable_directory_is_written_in_place(world):
    """Nothing can be renamed in there, but the file itself may be written."""
    begin(world)
    inode = os.stat(world.path()).st_ino
    world.chattr("+i", "/etc")
    world.start()
    left_again(world)
    equal(os.stat(world.path()).st_ino, inode, "the inode")
    world.chattr("-i", "/etc")
    world.rename_in(conf("192.0.2.53"))
    left_again(world)


@case(needs="mountns")
def a_read_only_mount(world):
    begin(world)
    world.mount("--bind", world.path("/etc"), world.path("/etc"))
    subprocess.run(["mount", "-o", "remount,ro,bind", world.path("/etc")], check=True)
    world.start()
    blocked(world, "read-only")
    subprocess.run(["mount", "-o", "remount,rw,bind", world.path("/etc")], check=True)
    left_again(world)


@case(tags="sanitize")
def a_directory_in_its_place(world):
    begin(world)
    guardian = world.start()
    world.wait_servers(HELD)
    os.unlink(world.path())
    os.mkdir(world.path())
    blocked(world, "directory")
    os.rmdir(world.path())
    world.rename_in(conf("192.0.2.53"))
    left_again(world)
    guardian.stop(0)


def told_of_the_single_file(world, guardian):
    """in status and log, once, while all is well still"""
    told = world.wait_state("holds", reason="a single file is mounted")["reason"]
    expect("mount its directory" in told, f"it doesn't say what to do: {told}")
    equal(guardian.log().count(f"warning: {RESOLV}: {told}"), 1, "warnings in the log")


@case(needs="mountns strace plain")
def a_mount_point_on_a_kernel_that_does_not_tell(world):
    """Linux before 5.8 has no STATX_ATTR_MOUNT_ROOT, before 4.11 no statx at all."""
    begin(world)
    world.write(conf("192.0.2.53"), "/run/mounted")
    world.mount("--bind", world.path("/run/mounted"), world.path())
    strace = ("strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "inject=statx:error=ENOSYS")
    guardian = world.start(prefix=strace)
    told_of_the_single_file(world, guardian)
    world.umount(world.path())
    world.wait_servers(HELD)
    world.wait_state("holds", reason="^$")


def check_tells(world, reason, code=1):
    """what `run` would be, in the same words: drift stays 1"""
    done = world.run("check", code=code)
    expect(f"{RESOLV}: blocked: {reason}" in done.stderr, f"check says {done.stderr!r}")
    equal(bool(done.stdout), code == 1, "a diff")


@case(needs="root chattr")
def check_tells_of_what_is_immutable(world):
    begin(world)
    world.chattr("+i", "/etc")
    equal(world.run("check", code=1).stderr, "", "of an immutable directory, in which the file is written in place")
    world.chattr("-i", "/etc")
    world.chattr("+a")
    check_tells(world, "immutable: append-only, chattr -a")
    world.chattr("-a")
    world.chattr("+i")
    check_tells(world, "immutable: chattr -i resolv.conf")
    world.chattr("-i")
    world.write(conf(*HELD))
    world.chattr("+i")
    equal(world.run("check", code=0).stderr, "", "of what holds")


@case(needs="mountns")
def check_tells_of_a_read_only_mount(world):
    begin(world)
    world.mount("--bind", world.path("/etc"), world.path("/etc"))
    subprocess.run(["mount", "-o", "remount,ro,bind", world.path("/etc")], check=True)
    check_tells(world, "read-only")


@case()
def check_tells_of_what_stands_in_the_way(world):
    begin(world)
    os.mkdir(world.path("/etc/.resolv.conf.resolv-guardian"))
    check_tells(world, "directory: .resolv.conf.resolv-guardian stands where")
    os.unlink(world.path())
    os.mkdir(world.path())
    check_tells(world, "directory: a directory stands in its place", code=3)


@case(needs="mountns")
def check_and_apply_tell_of_a_single_file(world):
    begin(world)
    equal(world.run("check", code=1).stderr, "", "stderr of check")
    world.write(conf("192.0.2.53"), "/run/mounted")
    world.mount("--bind", world.path("/run/mounted"), world.path())
    for command, code in (("check", 1), ("apply", 0), ("check", 0)):
        told = world.run(command, code=code).stderr
        expect("a single file is mounted" in told and "mount its directory" in told, f"{command} says {told!r}")
    equal(world.servers("/run/mounted"), HELD, "the mounted file")


@case(needs="mountns")
def a_mount_point_is_written_in_place(world):
    begin(world)
    world.write(conf("192.0.2.53"), "/run/mounted")
    world.mount("--bind", world.path("/run/mounted"), world.path())
    inode = os.stat(world.path("/run/mounted")).st_ino
    guardian = world.start()
    left_again(world)
    told_of_the_single_file(world, guardian)
    world.write(conf("192.0.2.54", "192.0.2.55", "192.0.2.56", "192.0.2.57"), "/run/mounted")
    world.wait_servers(["127.0.0.1", "192.0.2.54", "192.0.2.55"])
    world.write(conf("192.0.2.53"), "/run/mounted")
    left_again(world)
    equal(os.stat(world.path("/run/mounted")).st_ino, inode, "the inode")
    equal(world.servers("/run/mounted"), HELD, "the mounted file")
    equal(world.beside(), ["resolv.conf"], "left beside it")


@case(needs="mountns")
def a_mounted_file_that_was_unlinked(world):
    """The host replaced the file that is mounted here: what stands here is an orphan that nobody else reads."""
    begin(world)
    world.write(conf("192.0.2.53"), "/run/mounted")
    world.mount("--bind", world.path("/run/mounted"), world.path())
    world.start()
    left_again(world)
    os.unlink(world.path("/run/mounted"))
    blocked(world, "unlinked")
    world.umount(world.path())
    left_again(world)


@case(needs="mountns")
def a_mount_over_the_directory(world):
    begin(world)
    world.start()
    left_again(world)
    world.mount("-t", "tmpfs", "none", world.path("/etc"))
    world.rename_in(conf("192.0.2.54"))
    world.wait_servers(["127.0.0.1", "192.0.2.54"], seconds=SLOW)
    world.umount(world.path("/etc"), "--lazy")
    world.rename_in(conf("192.0.2.53"))
    left_again(world)


@case(needs="root")
def a_device_in_its_place(world):
    begin(world)
    os.unlink(world.path())
    try:
        os.mknod(world.path(), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        raise Skip("needs the right to make device nodes") from None
    world.start()
    blocked(world, "device")
    expect(stat.S_ISCHR(os.lstat(world.path()).st_mode), "the device is gone")
    world.rename_in(conf("192.0.2.53"))
    left_again(world)


@case(tags="sanitize")
def a_fifo_in_its_place_holds_nobody_up(world):
    begin(world)
    os.unlink(world.path())
    os.mkfifo(world.path())
    guardian = world.start()
    expect(world.guard_status()["state"] != "holds", "a FIFO holds")
    world.rename_in(conf("192.0.2.53"))
    left_again(world)
    guardian.stop(0)


@case(tags="sanitize")
def a_missing_directory(world):
    path = "/etc/late/resolv.conf"
    world.configure('ready_within = "100ms"\n', guard(path))
    world.start()
    blocked(world, "missing", path)
    os.mkdir(world.path("/etc/late"))
    world.rename_in(conf("192.0.2.53"), path)
    left_again(world, path)


@case(needs="user", tags="slow")
def no_permission(world):
    begin(world)
    os.chmod(world.dir, 0o755)
    for path in (world.state, world.runtime):
        os.mkdir(path)
        os.chown(path, 65534, 65534)
    world.start(prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
    blocked(world, "permission")
    os.chown(world.path("/etc"), 65534, 65534)
    os.chown(world.path(), 65534, 65534)
    left_again(world)


@case(tags="sanitize")
def two_guards_of_one_file(world):
    world.configure('ready_within = "100ms"\n', guard(), guard("/etc/link.conf", first=["203.0.113.1"]))
    world.write(conf("192.0.2.53"))
    os.symlink("resolv.conf", world.path("/etc/link.conf"))
    world.start()
    world.wait_servers(HELD)
    blocked(world, "same-file", "/etc/link.conf")
    world.rename_in(conf("192.0.2.53"), "/etc/new")
    os.unlink(world.path("/etc/link.conf"))
    os.rename(world.path("/etc/new"), world.path("/etc/link.conf"))
    world.wait_servers(["203.0.113.1", "192.0.2.53"], "/etc/link.conf")
    wait_for(lambda: world.status()["phase"] == "reconciling", "phase reconciling")


@case(needs="mountns")
def without_proc_it_says_what_is_missing(world):
    begin(world)
    hidden = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")
    refused = world.run("run", code=3, prefix=hidden)
    expect("proc(5) must be mounted" in refused.stderr, f"run says {refused.stderr!r}")
