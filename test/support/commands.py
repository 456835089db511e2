"""Running a command whose failure is the case's."""
import subprocess

from checks import Failure


def run(*words, **options):
    """output; raises Failure with it where it failed"""
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout.strip()}")
    return done.stdout
