"""The container: FROM scratch, read-only, no network, four capabilities; a host's /etc and /run as directories below /host."""
import os
import pathlib
import tarfile

from harness import case
from podman import CAPABILITIES, RESOLVED, RESOLVE_USER, Container, host_of, link, podman_of, resolved_writes
from world import RESOLV, conf, equal, expect, guard, hold_for

HELD = ["127.0.0.1", "192.0.2.53"]


def host_with(scratch, *servers):
    host = host_of(scratch)
    host.configure(guard())
    host.write(conf(*servers))
    return host


@case(needs="root podman")
def it_is_one_program_that_runs_with_next_to_nothing(scratch):
    podman = podman_of(scratch)
    host = host_with(scratch, "192.0.2.53")
    guardian = Container(scratch, host)
    podman.run("export", "--output", scratch.path("image.tar"), guardian.name)
    with tarfile.open(scratch.path("image.tar")) as image:
        files = [member.name for member in image if member.isfile() and member.size > 0]
    equal(sorted(files), ["licenses/LICENSE", "licenses/copyright", "usr/sbin/resolv-guardian"], "files of the image")
    it = guardian.inspect()
    equal((it["HostConfig"]["ReadonlyRootfs"], it["HostConfig"]["NetworkMode"]), (True, "none"), "read-only, network")
    process = pathlib.Path(f"/proc/{it['State']['Pid']}/status").read_text()
    status = dict(line.split(":\t", 1) for line in process.splitlines() if ":\t" in line)
    bits = {"CHOWN": 0, "DAC_OVERRIDE": 1, "FOWNER": 3, "LEASE": 28}  # capability.h
    equal(int(status["CapEff"], 16), sum(1 << bits[name] for name in CAPABILITIES), "its capabilities")
    equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "no_new_privs, seccomp")
    expect(guardian.execute("/bin/sh", "-c", "true").returncode != 0, "there is a shell")
    probe = guardian.execute("resolv-guardian", "status", "--wait-holds", "5")
    equal(probe.returncode, 0, f"a probe: {probe.stdout}{probe.stderr}")
    equal(host.beside(), ["resolv.conf"], "left beside it")
    guardian.stop()
    equal(guardian.inspect()["State"]["ExitCode"], 0, "SIGTERM ended it with")


@case(needs="root podman")
def the_host_writes_in_every_way(scratch):
    host = host_with(scratch, "192.0.2.53")
    Container(scratch, host)
    host.wait_servers(HELD)
    host.rename_in(conf("192.0.2.54"))
    host.wait_servers(["127.0.0.1", "192.0.2.54"])
    host.write(conf("192.0.2.55"))
    host.wait_servers(["127.0.0.1", "192.0.2.55"])
    os.unlink(host.path())
    host.wait_servers(["127.0.0.1", "192.0.2.55"])
    host.wait_state("holds", reason="^$")
    how = [event["how"] for event in host.history("rewrite")]
    equal(how[:3], ["start", "renamed", "written"], "how, by the events that came through the mount")


@case(needs="root podman")
def a_link_swap(scratch):
    host = host_with(scratch, "192.0.2.53")
    resolved_writes(host, "192.0.2.54")
    Container(scratch, host)
    host.wait_servers(HELD)
    link(host, "../run/systemd/resolve/resolv.conf")
    host.wait_servers(["127.0.0.1", "192.0.2.54"], RESOLVED)
    expect(os.path.islink(host.path()), "the link is gone")
    resolved_writes(host, "192.0.2.55")
    host.wait_servers(["127.0.0.1", "192.0.2.55"], RESOLVED)
    host.write(conf("192.0.2.56"), "/run/other")
    link(host, "../run/other")
    host.wait_servers(["127.0.0.1", "192.0.2.56"], "/run/other")
    host.wait_state("holds")


@case(needs="root podman")
def a_dangling_link(scratch):
    host = host_with(scratch, "192.0.2.53")
    Container(scratch, host)
    host.wait_servers(HELD)
    link(host, "../run/NetworkManager/resolv.conf")
    host.wait_state("blocked", reason="^missing")
    os.makedirs(host.path("/run/NetworkManager"))
    host.wait_servers(HELD, "/run/NetworkManager/resolv.conf")
    host.rename_in(conf("192.0.2.54"), "/run/NetworkManager/resolv.conf")
    host.wait_servers(["127.0.0.1", "192.0.2.54"], "/run/NetworkManager/resolv.conf")
    host.wait_state("holds")


@case(needs="root podman")
def an_absolute_link_is_the_host_s(scratch):
    """Followed by the kernel it would lead into the container."""
    host = host_with(scratch, "192.0.2.53")
    resolved_writes(host, "192.0.2.54")
    link(host, RESOLVED)
    Container(scratch, host)
    host.wait_servers(["127.0.0.1", "192.0.2.54"], RESOLVED)
    host.wait_state("holds")
    equal(os.readlink(host.path()), RESOLVED, "the link")
    equal(os.stat(host.path(RESOLVED)).st_uid, RESOLVE_USER, "the owner")


@case(needs="root podman")
def the_single_file_mounted(scratch):
    """The classic mistake: told at once, though it works until the host renames over it."""
    host = host_with(scratch, "192.0.2.53")
    guardian = Container(scratch, host, volumes=[f"{host.path()}:/host{RESOLV}"])
    host.wait_servers(HELD)
    told = host.wait_state("holds", reason="^a single file is mounted")["reason"]
    expect("mount its directory, not the single file" in told, f"it doesn't say what to do: {told}")
    equal(guardian.log().count(f"warning: {RESOLV}: {told}"), 1, "warnings in the log")
    host.write(conf("192.0.2.54"))
    host.wait_servers(["127.0.0.1", "192.0.2.54"])
    host.rename_in(conf("192.0.2.55"))
    told = host.wait_state("blocked", reason="^unlinked")["reason"]
    expect("mount its directory, not the single file" in told, f"it doesn't say what to do: {told}")
    equal(host.servers(), ["192.0.2.55"], "what nobody guards any more")


@case(needs="root podman mountns")
def what_the_host_mounts_later_is_seen(scratch):
    """Why the manifests say HostToContainer (rslave to runc): a private mount shows what lies below."""
    path, late = "/run/late/resolv.conf", ["192.0.2.54"]
    for propagation in ("rslave", "rprivate"):
        host = host_of(scratch)
        host.configure(guard(path))
        host.write(conf("192.0.2.53"), path)
        host.mount("--bind", host.path("/run"), host.path("/run"))
        scratch.run("mount", "--make-shared", host.path("/run"))
        Container(scratch, host, volumes=[f"{host.root}/run:/host/run:{propagation}"])
        host.wait_servers(HELD, path)
        host.mount("-t", "tmpfs", "none", host.path("/run/late"))
        host.write(conf(*late), path)
        if propagation == "rslave":
            host.wait_servers(["127.0.0.1", *late], path)
        else:
            hold_for(lambda: host.servers(path) == late, "it was seen through a private mount", 1)


@case(needs="root podman")
def a_second_guardian_on_the_host_ends(scratch):
    host = host_with(scratch, "192.0.2.53")
    Container(scratch, host)
    host.wait_servers(HELD)
    second = scratch.world()
    second.root = host.root
    second.configure(guard())
    guardian = second.start(ready=False)
    equal(guardian.wait_end(), 3, "the second one ended with")
    expect("another guardian" in guardian.log(), f"it says {guardian.log()!r}")
