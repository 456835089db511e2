"""The RPM, built from the source archive, in scratch roots: installed, upgraded, downgraded, erased, and all goes wrong."""
import os
import re
import shutil

from harness import Skip, case
from host import CONFIG, GUARD, STATE, Host, add_drop_ins, drop_ins, expect_drop_ins_removed
from scratch import DIST, SOURCE, VERSION, once
from world import conf

from checks import equal, expect

SPEC = SOURCE / "packaging/rpm/resolv-guardian.spec"
TOP = SOURCE / "build/rpm"
NEEDS = "root mountns rpmbuild busybox"


def package(release, folder=DIST / "rpm"):
    return folder / f"resolv-guardian-{VERSION}-{release}.{os.uname().machine}.rpm"


@once
def build(scratch):
    """Release 1, and release 2 of the same files but for the configuration, which a new release may change."""
    env = {key: value for key, value in os.environ.items() if key != "CMAKE_CXX_COMPILER_LAUNCHER"}  # built, not remembered
    scratch.run(SOURCE / "packaging/rpm/build", "--noclean", timeout=3600, env=env)
    roots = TOP / "BUILDROOT"  # rpm 4.20 has it below its folder of the build
    first = roots / f"resolv-guardian-{VERSION}-1.{os.uname().machine}"
    if not first.exists():
        raise Skip("this rpmbuild keeps its build root elsewhere: no second release for an upgrade")
    config = first / CONFIG.lstrip("/")
    config.write_text(config.read_text() + "\n# what release 2 says\n")
    first.rename(str(first).replace(f"-{VERSION}-1.", f"-{VERSION}-2."))
    scratch.run("rpmbuild", "-bb", "--short-circuit", "--nodeps", "--define", f"_topdir {TOP}", "--define",
                f"_tmppath {TOP}", "--define", "rg_release 2", SPEC, timeout=600)
    return package(1), package(2, TOP / "RPMS" / os.uname().machine)


class RpmHost(Host):
    def __init__(self, scratch, **options):
        super().__init__(scratch, **options)
        self.packages = build(scratch)
        scratch.run("rpm", "--root", self.root, "--initdb")

    def rpm(self, *words):
        """A scriptlet that fails is a warning with exit status 0, or an error: neither may be."""
        done = self.scratch.run("rpm", "--root", self.root, "--nodeps", "--nosignature", *words)
        failed = re.findall(r".*scriptlet failed.*", done.stdout + done.stderr)
        equal(failed, [], "rpm says")
        return done

    def install(self):
        self.rpm("-i", self.packages[0])

    def erase(self):
        done = self.rpm("-e", "resolv-guardian")
        equal(self.scratch.run("rpm", "--root", self.root, "-qa").stdout, "", "packages still there")
        return done


@case()
def spec_has_the_version_of_the_source(scratch):
    equal(re.search(r"^Version: +(\S+)", SPEC.read_text(), re.M).group(1), VERSION)


@case(needs="rpmbuild")
def spec_uses_the_macros_where_there_are_some(scratch):
    macros = ("systemd_preun() OWN %{?*}", "systemd_post() OWN %{?*}", "_unitdir /own/units")
    own = [word for macro in macros for word in ("--define", macro)]
    text = scratch.run("rpmspec", "-P", *own, SPEC).stdout
    expect("OWN resolv-guardian.service\n" in text, "systemd's macros aren't used")
    expect("/own/units/resolv-guardian.service" in text, "its folder isn't used")
    expect("--no-reload preset" in scratch.run("rpmspec", "-P", SPEC).stdout, "without them there is nothing")
    for release, needed in (("rhel 8", "gcc-toolset"), ("rhel 9", "gcc-toolset"), ("rhel 10", "boost-devel"),
                            ("fedora 42", "boost-devel")):
        required = scratch.run("rpmspec", "-q", "--buildrequires", "--define", release, SPEC).stdout
        expect(needed in required, f"{release} builds with {required}")
    files = scratch.run("rpmspec", "-P", "--define", "_sbindir /usr/bin", SPEC).stdout.split("%files")[1].split()
    expect("/usr/sbin/resolv-guardian" in files, f"where sbin is bin the units find no program: {files}")


@case(needs=NEEDS, tags="slow")
def package_has_what_belongs_into_it(scratch):
    rpm = build(scratch)[0]
    listed = scratch.run("rpm", "-qp", "--qf", "[%{FILENAMES}|%{FILEFLAGS:fflags}\n]", rpm).stdout
    flags = dict(line.split("|") for line in listed.split())
    equal(flags[CONFIG], "cn", f"{CONFIG} is config(noreplace)")
    for name in ("/usr/sbin/resolv-guardian", "/usr/lib/systemd/system/resolv-guardian.service",
                 "/usr/lib/systemd/system/resolv-guardian-wait.service",
                 "/usr/lib/systemd/system-preset/85-resolv-guardian.preset", "/usr/share/man/man8/resolv-guardian.8.gz",
                 "/usr/share/man/man5/resolv-guardian.toml.5.gz",
                 "/usr/share/bash-completion/completions/resolv-guardian",
                 "/usr/share/zsh/site-functions/_resolv-guardian",
                 "/usr/share/fish/vendor_completions.d/resolv-guardian.fish",
                 "/usr/share/resolv-guardian/wait-for-order.conf"):
        expect(name in flags, f"{name} isn't in it: {sorted(flags)}")
    expect(any(name.endswith("/LICENSE") and flag == "l" for name, flag in flags.items()), "no licence in it")
    needs = scratch.run("rpm", "-qpR", rpm).stdout.split("\n")
    equal([n for n in needs if n and not re.match(r"rpmlib\(|/bin/sh|config\(resolv-guardian\)", n)], [], "requires")


@case(needs=NEEDS, tags="slow")
def binary_is_the_static_one(scratch):
    """two builds in two folders, one of them from the source archive: the same bytes"""
    host = RpmHost(scratch)
    host.install()
    name = f"resolv-guardian-{VERSION}-{os.uname().machine}"
    same = host.path("/usr/sbin/resolv-guardian").read_bytes() == (DIST / "static" / name).read_bytes()
    expect(same, "the binary of the RPM has other bytes than the static one")


@case(needs="root rpmbuild busybox rpmlint", tags="slow")
def rpmlint_finds_nothing(scratch):
    own = SPEC.parent
    said = scratch.run("rpmlint", "-c", own / "rpmlint.toml", "-r", own / "rpmlintrc", build(scratch)[0], SPEC,
                       code=None).stdout
    equal(re.findall(r".*: [EW]: .*", said), [], "rpmlint")
    expect("1 packages and 1 specfiles checked; 0 errors, 0 warnings" in said, f"rpmlint said {said[-300:]}")


@case(needs=NEEDS, tags="slow")
def installed_it_only_observes(scratch):
    host = RpmHost(scratch)
    host.install()
    equal(host.asked(), ["--no-reload preset resolv-guardian.service resolv-guardian-wait.service"], "asked")
    host.guardian("config")
    host.guardian("apply", code=None)
    equal(host.read("/etc/resolv.conf"), conf("192.0.2.53"), "/etc/resolv.conf")
    host.rpm("-V", "resolv-guardian")
    host.erase()
    host.expect_given_back()
    equal(host.left_over(), [], "still there")


@case(needs=NEEDS, tags="slow")
def an_edited_configuration_lives_on(scratch):
    host = RpmHost(scratch)
    host.install()
    host.write(CONFIG, GUARD)
    guardian = host.start()
    host.asked()
    before = host.read("/etc/resolv.conf")
    for words, what in ((["-U"], 1), (["-U", "--oldpackage"], 0)):
        host.rpm(*words, host.packages[what])
        equal(host.read(CONFIG), GUARD, f"the configuration after {words}")
        asked = host.asked()
        expect("try-restart resolv-guardian.service" in asked, f"asked of systemctl: {asked}")
        host.wait_unit_is_left_alone(asked)
        equal(host.read("/etc/resolv.conf"), before, f"/etc/resolv.conf after {words}")
        equal(guardian.poll(), None, f"the guardian after {words}")
        newer = "what release 2 says" in host.read(CONFIG + ".rpmnew")
        equal(newer, what == 1, f"release 2's configuration is beside it after {words}")
    host.erase()
    host.wait_unit_is_left_alone(host.asked())
    equal(guardian.wait(10), 0, "the guardian ended with")
    host.expect_given_back()
    equal(host.read(CONFIG + ".rpmsave"), GUARD, "the edited configuration")
    expect(not host.path(STATE).exists() and not host.path("/run/resolv-guardian").exists(), "state is left behind")


@case(needs=NEEDS, tags="slow")
def drop_ins_for_its_wait_unit_go_with_it(scratch):
    host = RpmHost(scratch)
    host.install()
    add_drop_ins(host)
    before = drop_ins(host)
    host.rpm("-U", host.packages[1])
    equal(drop_ins(host), before, "drop-ins after an upgrade")
    host.asked()
    expect_drop_ins_removed(host, host.erase(), host.asked())


@case(needs=NEEDS, tags="slow")
def erased_in_a_chroot_it_gives_back(scratch):
    """An image is built: no systemd, no systemctl, no guardian."""
    host = RpmHost(scratch, running=False, systemctl=False)
    host.install()
    host.write(CONFIG, GUARD)
    host.guardian("apply")
    equal(host.servers(), ["127.0.0.1", "192.0.2.53"], "after apply")
    host.erase()
    host.expect_given_back()
    expect(not host.path(STATE).exists(), "state is left behind")


@case(needs=NEEDS, tags="slow")
def erased_with_a_broken_configuration_it_gives_back(scratch):
    host = RpmHost(scratch)
    host.install()
    host.write(CONFIG, GUARD)
    process = host.start()
    process.terminate()
    process.wait(10)
    host.write(CONFIG, GUARD + "frist = 1\n")
    host.erase()
    host.expect_given_back()
    expect(not host.path(STATE).exists(), "state is left behind")


@case(needs=NEEDS, tags="slow")
def erased_where_all_fails_it_goes(scratch):
    """systemctl fails, and what was written can't be given back: the package goes, what it remembers stays."""
    host = RpmHost(scratch)
    host.write("/systemctl.fails", "")
    host.install()
    host.write(CONFIG, GUARD)
    host.guardian("apply")
    host.rpm("-U", host.packages[1])
    shutil.move(host.path("/etc/resolv.conf"), host.path("/etc/aside"))
    host.path("/etc/resolv.conf").mkdir()  # a directory in its place, and a second configuration that is none, too
    host.write(CONFIG, "[[")
    add_drop_ins(host)
    host.asked()
    expect_drop_ins_removed(host, host.erase(), host.asked())
    expect(host.path("/etc/resolv.conf").is_dir(), "the directory is gone")
    expect(list(host.path(STATE).glob("guard-*.json")), "the memory is gone, though nothing was given back")
