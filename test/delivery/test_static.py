"""The static binaries."""
from harness import case
from scratch import VERSION

from checks import equal


@case()
def release_has_the_version_of_the_source(scratch):
    equal(scratch.run(scratch.binary, "--version").stdout, f"resolv-guardian {VERSION}\n")
