"""Each of the container's capabilities: what works with all four, and no longer without that one."""
import os

from harness import case
from podman import CAPABILITIES, RESOLVED, RESOLVE_USER, Container, host_of, link, resolved_writes
from world import conf, equal, guard, wait_for

HELD = ["127.0.0.1", "192.0.2.53"]


def without(name):
    return [capability for capability in CAPABILITIES if capability != name]


def both_ways(scratch, name, prepare, good, bad):
    for capabilities, judge in ((CAPABILITIES, good), (without(name), bad)):
        host = host_of(scratch)
        host.configure('ready_within = "100ms"', guard())
        prepare(host)
        judge(host, Container(scratch, host, capabilities=capabilities))


@case(needs="root podman")
def dac_override_is_needed_to_write_in_the_directory_of_another(scratch):
    def prepare(host):
        resolved_writes(host, "192.0.2.53")
        link(host, "../run/systemd/resolve/resolv.conf")

    both_ways(scratch, "DAC_OVERRIDE", prepare, lambda host, _: host.wait_servers(HELD, RESOLVED),
              lambda host, _: host.wait_state("blocked", reason="^permission"))


@case(needs="root podman")
def chown_is_needed_to_keep_the_owner(scratch):
    def prepare(host):
        host.write(conf("192.0.2.53"))
        os.chown(host.path(), RESOLVE_USER, RESOLVE_USER)

    def owner_is(user):
        def judge(host, _):
            host.wait_servers(HELD)
            equal(os.stat(host.path()).st_uid, user, "the owner")
        return judge

    both_ways(scratch, "CHOWN", prepare, owner_is(RESOLVE_USER), owner_is(0))


@case(needs="root podman")
def fowner_is_needed_to_set_the_mode_of_another_s_file(scratch):
    def prepare(host):
        host.write(conf(*HELD), mode=0o664)
        os.chown(host.path(), RESOLVE_USER, RESOLVE_USER)

    def good(host, _):
        wait_for(lambda: host.mode() == 0o644, lambda: f"mode 0644, it is {host.mode():o}")

    both_ways(scratch, "FOWNER", prepare, good, lambda host, _: host.wait_state("blocked", reason="^permission"))


@case(needs="root podman")
def lease_is_needed_to_know_that_another_s_file_is_finished(scratch):
    """truncate(2) gives no closing event. Where nobody tells whether a writer is through, what he left is never last good."""
    def prepare(host):
        host.write(conf("192.0.2.53", "192.0.2.54"))
        os.chown(host.path(), RESOLVE_USER, RESOLVE_USER)

    def filled_with(*servers):
        def judge(host, _):
            host.wait_servers([*HELD, "192.0.2.54"])
            text = host.read()
            os.truncate(host.path(), text.index("nameserver 192.0.2.54"))
            wait_for(lambda: len(host.history("rewrite")) == 2, lambda: f"two rewrites in {host.history()}")
            host.rename_in("# No DNS servers known.\n")
            host.wait_servers(["127.0.0.1", *servers])
        return judge

    both_ways(scratch, "LEASE", prepare, filled_with("192.0.2.53"), filled_with("192.0.2.53", "192.0.2.54"))
