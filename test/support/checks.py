"""What every tier of Python cases looks at states with: a failure in words, and waiting with a deadline."""
import time


class Failure(Exception):
    """what is wrong, in words"""


def expect(condition, message):
    if not condition:
        raise Failure(message)


def equal(got, want, what=""):
    if got != want:
        raise Failure(f"{what + ': ' if what else ''}{got!r}, expected {want!r}")


def wait_for(look, what, seconds=10, step=0.002):
    """Waits until look() is true; gives what it gave. The only wait of these tests. step: seconds between two looks."""
    end = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        if time.monotonic() > end:
            raise Failure(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(step)


def hold_for(look, what, seconds, step=0.01):
    """look() must stay true for so long: for what must NOT happen, where there is no state to wait on."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not look():
            raise Failure(f"{what() if callable(what) else what}, within {seconds} s")
        time.sleep(step)
