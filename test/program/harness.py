"""Runs the program tests: cases in parallel, one line each, a reason for everything that is skipped.

A case is a function of one World (world.py), registered with @case. It fails by raising; Skip(reason) skips it by name.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass

from world import Failure, Settings, World

CASES = []


class Skip(Exception):
    """why a case cannot be played here"""


@dataclass
class Case:
    name: str
    play: object
    needs: tuple
    tags: tuple
    alone: bool


def case(needs="", tags="", alone=False):
    """needs: words of NEEDS below. tags: `sanitize` = in the subset for sanitizer builds too, `slow` = begun first.
    alone: nothing runs beside it (races and CPU measurements)."""
    def register(function):
        module = function.__module__.removeprefix("test_")
        CASES.append(Case(f"{module}.{function.__name__}", function, tuple(needs.split()), tuple(tags.split()), alone))
        return function
    return register


def may_chattr():
    with tempfile.NamedTemporaryFile(prefix="rg-") as file:
        tries = [["chattr", flag, file.name] for flag in ("+i", "-i")]
        return shutil.which("chattr") is not None and all(not subprocess.run(t, capture_output=True).returncode for t in tries)


def may_strace():
    return shutil.which("strace") is not None and not subprocess.run(["strace", "-o", "/dev/null", "true"],
                                                                     capture_output=True).returncode


def may_limit_watches():
    """a user namespace has its own limit"""
    script = "echo 3 > /proc/sys/user/max_inotify_watches"
    return os.geteuid() == 0 and not subprocess.run(["unshare", "--user", "--map-root-user", "sh", "-c", script],
                                                    capture_output=True).returncode


def may_freeze():
    """makes a small file system and mounts it: a loop device may be there and not be allowed"""
    words = [shutil.which(tool) for tool in ("mkfs.ext4", "fsfreeze", "losetup")]
    if os.environ.get("RG_OWN_MOUNTS") != "1" or not all(words):
        return False
    with tempfile.TemporaryDirectory(prefix="rg-") as folder:
        image = folder + "/image"
        with open(image, "wb") as file:
            file.truncate(4 << 20)
        tries = (["mkfs.ext4", "-q", image], ["mount", "-o", "loop", image, folder], ["umount", folder])
        return all(not subprocess.run(words, capture_output=True).returncode for words in tries)


def may_fuse():
    words = [shutil.which(tool) for tool in ("bindfs", "fusermount3")]
    return os.environ.get("RG_OWN_MOUNTS") == "1" and all(words) and os.access("/dev/fuse", os.R_OK | os.W_OK)


def may_trace(settings):
    return not subprocess.run([settings.tool("killat"), "1000000", "true"], capture_output=True).returncode


NEEDS = {  # need: (is it met?, the reason where it is not)
    "root": (lambda s: os.geteuid() == 0, "needs root"),
    "mountns": (lambda s: os.environ.get("RG_OWN_MOUNTS") == "1", "needs root and a mount namespace (unshare --mount)"),
    "chattr": (lambda s: may_chattr(), "needs chattr +i (CAP_LINUX_IMMUTABLE, a file system that knows it)"),
    "strace": (lambda s: may_strace(), "needs strace and the right to trace"),
    "userns": (lambda s: may_limit_watches(), "needs root and a user namespace with limits of its own"),
    "loop": (lambda s: may_freeze(), "needs mkfs.ext4, fsfreeze and loop devices"),
    "fuse": (lambda s: may_fuse(), "needs bindfs and /dev/fuse"),
    "ptrace": (may_trace, "needs the right to trace (ptrace)"),
    "plain": (lambda s: not s.sanitized, "is for the plain build: a sanitizer's own system calls and memory are in the way"),
    "user": (lambda s: shutil.which("setpriv") is not None and os.geteuid() == 0, "needs root and setpriv"),
}


def unmet(case_, settings, known={}):
    for need in case_.needs:
        if need not in known:
            known[need] = bool(NEEDS[need][0](settings))
        if not known[need]:
            return NEEDS[need][1]
    return None


def play(case_, settings):
    """(verdict, reason, seconds)"""
    begin = time.monotonic()
    if reason := unmet(case_, settings):
        return "skip", reason, 0.0
    world = World(settings)
    verdict, reason = "ok", ""
    try:
        case_.play(world)
    except Skip as skip:
        verdict, reason = "skip", str(skip)
    except Failure as failure:
        verdict, reason = "FAIL", f"{failure}\n{where(failure)}{world.log_tail()}"
    except Exception:  # a case that breaks has failed
        verdict, reason = "FAIL", traceback.format_exc() + world.log_tail()
    problems = world.close()
    if problems and verdict == "ok":
        verdict, reason = "FAIL", problems
    return verdict, reason, time.monotonic() - begin


def where(failure):
    frames = [f for f in traceback.extract_tb(failure.__traceback__) if pathlib.Path(f.filename).name.startswith("test_")]
    return "".join(f"    at {pathlib.Path(f.filename).name}:{f.lineno}: {f.line}\n" for f in frames)


def report(case_, result):
    verdict, reason, seconds = result
    first, *rest = reason.rstrip().split("\n") if reason else [""]
    print(f"{verdict:4} {case_.name}  {seconds:.1f} s{'  ' + first if first else ''}", flush=True)
    for line in rest:
        print("     " + line, flush=True)
    return verdict


def own_mounts(argv):
    """Starts again in a mount namespace of our own where that is allowed, so that no case can mount for others."""
    if os.geteuid() == 0 and "RG_OWN_MOUNTS" not in os.environ and shutil.which("unshare"):
        words = ["unshare", "--mount", "--propagation", "private"]
        if not subprocess.run([*words, "true"], capture_output=True).returncode:
            os.environ["RG_OWN_MOUNTS"] = "1"
            os.execvp(words[0], [*words, sys.executable, *argv])


def main(settings, pattern, tags, jobs):
    chosen = [c for c in CASES if re.search(pattern, c.name) and set(tags) <= set(c.tags)]
    if not chosen:
        sys.exit(f"no case matches {pattern!r} {tags}")
    beside = sorted((c for c in chosen if not c.alone), key=lambda c: "slow" not in c.tags)
    verdicts = []
    for c in (c for c in chosen if c.alone):
        verdicts.append(report(c, play(c, settings)))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(play, c, settings): c for c in beside}
        for run in concurrent.futures.as_completed(runs):
            verdicts.append(report(runs[run], run.result()))
    print(f"{verdicts.count('ok')} passed, {verdicts.count('FAIL')} failed, {verdicts.count('skip')} skipped")
    return 1 if "FAIL" in verdicts else 0


__all__ = ["CASES", "Failure", "Settings", "Skip", "case", "main", "own_mounts"]
