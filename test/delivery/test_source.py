"""The source archive, of which all else can be made without git."""
import os
import shutil

from harness import Skip, case
from scratch import SOURCE, VERSION

from checks import equal, expect

ARCHIVE = f"resolv-guardian-{VERSION}.tar.gz"


def unchanged(scratch):
    """what isn't committed has the date of now"""
    if not shutil.which("git") or scratch.run("git", "-C", SOURCE, "diff", "--quiet", "HEAD", code=None).returncode:
        raise Skip("needs git and a clone without changes")


@case()
def archive_is_the_same_each_time(scratch):
    unchanged(scratch)
    for folder in ("a", "b"):
        scratch.run(SOURCE / "packaging/dist", scratch.path(folder))
    same = scratch.path("a", ARCHIVE).read_bytes() == scratch.path("b", ARCHIVE).read_bytes()
    expect(same, "two archives of one commit differ")


@case()
def archive_knows_its_date_without_git(scratch):
    unchanged(scratch)
    scratch.run(SOURCE / "packaging/dist", scratch.dir)
    scratch.run("tar", "-C", scratch.dir, "-xf", scratch.path(ARCHIVE))
    os.utime(scratch.path(f"resolv-guardian-{VERSION}", "CMakeLists.txt"), (0, 0))  # what is asked where nothing else is known
    env = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"} | {"GIT_DIR": "/nonexistent"}
    date = scratch.run(scratch.path(f"resolv-guardian-{VERSION}", "packaging/source-date"), env=env).stdout
    equal(date, scratch.run("git", "-C", SOURCE, "log", "-1", "--format=%ct").stdout, "the date of the source")
