"""The DEB, made by CPack, in scratch roots: installed, upgraded, removed, purged."""
import os
import re

from harness import case
from host import CONFIG, GUARD, STATE, Host, add_drop_ins, drop_ins, expect_drop_ins_removed
from scratch import DIST, SOURCE, VERSION, once
from world import conf

from checks import equal, expect

NEEDS = "root mountns dpkg busybox"


@once
def build(scratch):
    """the package, and a newer one of the same files but for the configuration"""
    scratch.run(SOURCE / "packaging/deb/build", timeout=3600)
    arch = scratch.run("dpkg", "--print-architecture").stdout.strip()
    deb, folder = DIST / "deb" / f"resolv-guardian_{VERSION}_{arch}.deb", SOURCE / "build/deb"
    scratch.run("rm", "-rf", folder)
    scratch.run("dpkg-deb", "-R", deb, folder)
    config, control = folder / CONFIG.lstrip("/"), folder / "DEBIAN/control"
    config.write_text(config.read_text() + "\n# what the newer one says\n")
    control.write_text(re.sub(r"^Version: .*", f"Version: {VERSION}+newer", control.read_text(), flags=re.M))
    newer = SOURCE / "build" / f"resolv-guardian_{VERSION}+newer_{arch}.deb"
    scratch.run("dpkg-deb", "--root-owner-group", "-b", folder, newer)
    return deb, newer


class DebHost(Host):
    def __init__(self, scratch, **options):
        super().__init__(scratch, **options)
        self.packages = build(scratch)
        for name in ("status", "available"):
            self.write(f"/var/lib/dpkg/{name}", "")
        for folder in ("info", "updates", "triggers"):
            self.path(f"/var/lib/dpkg/{folder}").mkdir()

    def dpkg(self, *words):
        env = dict(os.environ, PATH=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        return self.scratch.run("dpkg", f"--root={self.root}", "--force-confold", *words, env=env)


@case(needs=NEEDS)
def package_is_complete(scratch):
    deb = build(scratch)[0]
    files = scratch.run("dpkg-deb", "--contents", deb).stdout
    expect(" root/root " in files and not re.search(r" (?!root/root )\w+/\w+ +\d", files), f"owners:\n{files}")
    for name in ("usr/sbin/resolv-guardian", "etc/resolv-guardian/config.toml",
                 "usr/lib/systemd/system/resolv-guardian.service",
                 "usr/lib/systemd/system/resolv-guardian-wait.service", "usr/share/man/man8/resolv-guardian.8.gz",
                 "usr/share/man/man5/resolv-guardian.toml.5.gz", "usr/share/doc/resolv-guardian/copyright",
                 "usr/share/bash-completion/completions/resolv-guardian",
                 "usr/share/zsh/vendor-completions/_resolv-guardian"):
        expect(f" ./{name}\n" in files, f"{name} isn't in it:\n{files}")
    equal(scratch.run("dpkg-deb", "--field", deb, "Depends").stdout.strip(), "", "depends on")


@case(needs=NEEDS)
def an_edited_configuration_lives_on(scratch):
    host = DebHost(scratch)
    host.dpkg("-i", host.packages[0])
    asked = host.asked()
    equal(asked, ["preset resolv-guardian.service resolv-guardian-wait.service", "daemon-reload"], "asked of systemctl")
    host.guardian("apply", code=None)
    equal(host.read("/etc/resolv.conf"), conf("192.0.2.53"), "installed it only observes")
    host.write(CONFIG, GUARD)
    guardian = host.start()
    before = host.read("/etc/resolv.conf")
    for which in (1, 0):
        host.dpkg("--force-downgrade", "-i", host.packages[which])
        equal(host.read(CONFIG), GUARD, "the configuration")
        asked = host.asked()
        expect("try-restart resolv-guardian.service" in asked, f"asked of systemctl: {asked}")
        host.wait_unit_is_left_alone(asked)
        equal((host.read("/etc/resolv.conf"), guardian.poll()), (before, None), "/etc/resolv.conf, the guardian's end")
    host.dpkg("--remove", "resolv-guardian")
    host.wait_unit_is_left_alone(host.asked())
    equal(guardian.wait(10), 0, "the guardian ended with")
    host.expect_given_back()
    equal(host.read(CONFIG), GUARD, "the configuration after remove")
    expect(host.path(STATE).exists(), "the state is purged, not removed")
    host.dpkg("--purge", "resolv-guardian")
    equal(host.left_over(), [], "still there")


@case(needs=NEEDS)
def drop_ins_for_its_wait_unit_go_with_it(scratch):
    host = DebHost(scratch)
    host.dpkg("-i", host.packages[0])
    add_drop_ins(host)
    before = drop_ins(host)
    host.dpkg("-i", host.packages[1])
    equal(drop_ins(host), before, "drop-ins after an upgrade")
    host.asked()
    expect_drop_ins_removed(host, host.dpkg("--remove", "resolv-guardian"), host.asked())


@case(needs=NEEDS)
def removed_in_a_chroot_it_gives_back(scratch):
    host = DebHost(scratch, running=False, systemctl=False)
    host.dpkg("-i", host.packages[0])
    host.write(CONFIG, GUARD)
    host.guardian("apply")
    equal(host.servers(), ["127.0.0.1", "192.0.2.53"], "after apply")
    host.dpkg("--purge", "resolv-guardian")
    host.expect_given_back()
    equal(host.left_over(), [], "still there")


@case(needs=NEEDS)
def removed_where_all_fails_it_goes(scratch):
    host = DebHost(scratch)
    host.write("/systemctl.fails", "")
    host.dpkg("-i", host.packages[0])
    host.write(CONFIG, "[[")
    add_drop_ins(host)
    expect_drop_ins_removed(host, host.dpkg("--remove", "resolv-guardian"), host.asked())
    host.dpkg("-i", host.packages[0])
    host.dpkg("--purge", "resolv-guardian")
    equal(host.left_over(), [], "still there")
