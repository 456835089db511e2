"""Runs cases in parallel, one line each, with a reason for everything that is skipped.

A case is a function of one world, which its tier makes for it, registered with @case. It fails by raising; Skip(reason) skips it
by name.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass

from checks import Failure

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
    """needs: words of the tier's needs. tags: `sanitize` = in the subset for sanitizer builds too, `slow` = begun first.
    alone: nothing runs beside it (races and CPU measurements)."""
    def register(function):
        module = function.__module__.removeprefix("test_")
        CASES.append(Case(f"{module}.{function.__name__}", function, tuple(needs.split()), tuple(tags.split()), alone))
        return function
    return register


def unmet(case_, needs, settings, known={}):
    """needs: {word: (is it met?, the reason where it is not)}"""
    for need in case_.needs:
        if need not in known:
            known[need] = bool(needs[need][0](settings))
        if not known[need]:
            return needs[need][1]
    return None


def play(case_, settings, make_world, needs):
    """(verdict, reason, seconds). A world has log_tail(), and close(), which says what went wrong with nobody looking."""
    begin = time.monotonic()
    if reason := unmet(case_, needs, settings):
        return "skip", reason, 0.0
    world = make_world(settings)
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


def main(play_case, pattern, tags, jobs):
    """play_case(case) gives (verdict, reason, seconds)"""
    chosen = [c for c in CASES if re.search(pattern, c.name) and set(tags) <= set(c.tags)]
    if not chosen:
        sys.exit(f"no case matches {pattern!r} {tags}")
    beside = sorted((c for c in chosen if not c.alone), key=lambda c: "slow" not in c.tags)
    verdicts = []
    for c in (c for c in chosen if c.alone):
        verdicts.append(report(c, play_case(c)))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(play_case, c): c for c in beside}
        for run in concurrent.futures.as_completed(runs):
            verdicts.append(report(runs[run], run.result()))
    print(f"{verdicts.count('ok')} passed, {verdicts.count('FAIL')} failed, {verdicts.count('skip')} skipped")
    return 1 if "FAIL" in verdicts else 0

