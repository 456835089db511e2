"""The support of the delivery tests: a scratch folder for a case, commands in it, and what is built once for all cases."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass

import needs
import world
from checks import Failure
from harness import Skip

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DIST = SOURCE / "dist"
VERSION = re.search(r"project\(\S+ VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)


@dataclass
class Settings:
    binary: str  # the release, for this machine
    all: bool = False
    keep: bool = False


class Scratch:
    """A folder of a case's own, and what was mounted or started for it, gone at the end."""

    def __init__(self, settings):
        self.settings, self.binary = settings, settings.binary
        self.dir = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="rg-")))
        self.mounts, self.others, self.worlds, self.outputs = [], [], [], []

    def path(self, *names):
        return self.dir.joinpath(*names)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def run(self, *words, code=0, timeout=120, **options):
        """code=None: whatever it ends with"""
        done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=timeout, **options)
        self.outputs.append(f"$ {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
        if code is not None and done.returncode != code:
            raise Failure(f"{words[0]} ended with {done.returncode}, expected {code}")
        return done

    def start(self, *words, **options):
        """in the background, killed with the case"""
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, text=True, **options)
        self.others.append(process)
        return process

    def mount(self, *words):
        self.run("mount", *words)
        self.mounts.append(words[-1])

    def world(self, *prefix, binary=None):
        """a root, a configuration and guardians as in the program tests; prefix: what runs the binary (qemu, say)"""
        words = " ".join(map(str, (*prefix, binary or self.binary)))
        wrapper = self.write(f"binary.{len(self.worlds)}", f'#!/bin/sh\nexec {words} "$@"\n', 0o755)
        made = world.World(world.Settings(binary=str(wrapper), tools="", keep=self.settings.keep))
        self.worlds.append(made)
        return made

    def log_tail(self):
        lines = "\n".join(self.outputs[-3:]).splitlines()[-40:]
        return "".join(f"\n    | {line}" for line in lines) + "".join(w.log_tail() for w in self.worlds)

    def close(self):
        problems = [problem for problem in (w.close() for w in self.worlds) if problem]
        for process in self.others:
            if process.poll() is None:
                process.kill()
            process.wait()
        for path in reversed(self.mounts):
            subprocess.run(["umount", "-l", path], capture_output=True, check=False)
        if not self.settings.keep:
            shutil.rmtree(self.dir, ignore_errors=True)
        return "\n".join(problems)


def once(make):
    """What takes long is made by the first case that asks for it; all that ask get the same, or the same failure."""
    lock, made = threading.Lock(), []

    def get(scratch):
        with lock:
            if not made:
                try:
                    made.append((make(scratch), None))
                except Exception as error:  # told by every case that needs it
                    made.append((None, error))
        value, error = made[0]
        if isinstance(error, Skip):
            raise error
        if error:
            raise Failure(f"{make.__name__} failed: {error}")
        return value
    return get


NEEDS = {  # need: (is it met?, the reason where it is not)
    "root": needs.NEEDS["root"],
    "mountns": needs.NEEDS["mountns"],
    "netns": needs.NEEDS["netns"],
}
for _tool in ("rpm", "rpmbuild", "rpmlint", "dpkg", "scdoc", "mandoc", "busybox", "bash", "zsh", "fish", "podman", "systemd-analyze"):
    NEEDS[_tool] = (lambda s, tool=_tool: shutil.which(tool) is not None, f"needs {_tool}")
