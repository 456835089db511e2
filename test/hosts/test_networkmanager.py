"""The OpenShift bootstrap (docs/incidents.md): a script puts 127.0.0.1 first, the next rewrite takes it away."""
import re
import subprocess

from host import RESOLV, hold_for, wait_for
from networkmanager import NO_STUB, OWN, PREPENDER_PATH, own_servers, prepend, set_up
from scenario import scenario

LOCAL, STALE = "127.0.0.1", "198.51.100.9"
NOBODYS = "# of another network manager\n"
V4, V6, NEW4 = "192.0.2.53", "2001:db8:1::53", "192.0.2.54"
POLICY = f'''[[guard]]
path = "{RESOLV}"
{{upstream}}
[guard.nameservers]
first = ["{LOCAL}"]
'''


class Story:
    """One boot, one rewrite after the other. Unguarded, each of them must lose 127.0.0.1 for good; it is then put back
    by hand. kept_off: NetworkManager doesn't write this /etc/resolv.conf at all, and its servers never arrive there."""

    def __init__(self, host, rc_manager, kept_off=False):
        self.host, self.kept_off = host, kept_off
        set_up(host, rc_manager)
        self.policy = POLICY.format(upstream=f'upstream = ["{OWN}"]' if kept_off else "")
        host.far.serve(dns=V4, domain="lab.example", t1=4)
        host.far.serve6()

    def boot(self, beside=False):
        host = self.host
        if not beside:
            host.guard(self.policy)
        host.boot()
        # It makes its directory itself: were it to wait for READY=1, 30 s would pass.
        host.wait_unit("NetworkManager", seconds=20)
        wait_for(lambda: host.read("/run/prepended") is not None, "the dispatcher's prepender")
        host.remove(PREPENDER_PATH)  # on a later `up` it would do what the guardian must
        if beside:
            host.guard_beside(self.policy)
        if host.guarded:
            host.wait_holds()
        if self.kept_off and not host.guarded:
            prepend(host)
            return host.wait_servers([LOCAL])
        return host.wait_servers([LOCAL, V4])

    def step(self, name, stimulus, writer, kept=None):
        """writer: what NetworkManager itself then says; kept: what must stand behind 127.0.0.1, where that isn't it."""
        host = self.host
        self.prepend()
        before = host.status()["restores"] if host.guarded else 0
        since = host.reader.now()
        stimulus()
        known = lambda: all(server in self.known_to_networkmanager() for server in writer)
        wait_for(lambda: own_servers(host) == writer and known(),
                 lambda: f"{name}: NetworkManager has {own_servers(host)}, not {writer}")
        if not host.guarded:
            lost = [LOCAL] if self.kept_off else writer
            host.wait_servers(lost)
            return host.hold_servers(lost, 1)
        if not self.kept_off:
            wait_for(lambda: host.status()["restores"] > before, lambda: f"{name}: a restore in {host.status()}")
        if kept is not None:  # each rewrite on the way there is restored too
            wait_for(lambda: host.status()["source"] == "last-good", lambda: f"{name}: last good in {host.status()}")
        host.wait_servers([LOCAL, *(writer if kept is None else kept)])
        self.wait_same_search()
        return host.measure(name, since, LOCAL)

    def prepend(self):
        """by hand, where there is no guardian"""
        if not self.host.guarded:
            prepend(self.host)
        wait_for(lambda: self.host.servers()[:1] == [LOCAL], lambda: f"127.0.0.1 first, not {self.host.servers()}")

    def known_to_networkmanager(self):
        """of the device, asked of the daemon itself: after its restart its files still say what the former one knew"""
        command = self.host.command("nmcli", "-g", "IP4.DNS,IP6.DNS", "device", "show", "eth0")
        shown = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
        return re.split(r"[\s|]+", shown.replace("\\:", ":"))

    def wait_same_search(self):
        search = lambda name: [line for line in (self.host.read(name) or "").splitlines() if line.startswith("search")]
        wait_for(lambda: search(RESOLV) == search(NO_STUB),
                 lambda: f"search {search(RESOLV)}, NetworkManager says {search(NO_STUB)}")

    def reload(self, *flags):
        words = ["nmcli", "general", "reload", *flags]
        self.step(" ".join(words), lambda: self.host.inside(*words), [V4, V6])

    def reload_conf(self):
        """the one flag that rewrites nothing"""
        self.prepend()
        seen = lambda: (self.host.servers(), self.host.status()["rewrites"] if self.host.guarded else 0)
        before = seen()
        self.host.inside("nmcli", "general", "reload", "conf")
        hold_for(lambda: seen() == before, lambda: f"nmcli general reload conf: {before} became {seen()}", 1)

    def all_steps(self):
        host = self.host
        self.step("DHCPv6 lease", host.far.lease6, [V4, V6])
        self.reload("dns-rc")
        self.reload("dns-full")
        self.reload()
        self.reload_conf()
        self.step("hostname", lambda: host.inside("nmcli", "general", "hostname", "node.other.example"), [V4, V6])
        self.step("DHCPv4 renewal", lambda: host.far.name_servers(NEW4, "lab.example"), [NEW4, V6])
        self.step("restart", lambda: host.inside("systemctl", "restart", "NetworkManager"), [NEW4, V6])
        self.step("carrier lost", lambda: host.far.carrier(False), [], kept=[NEW4, V6])
        self.step("carrier back", lambda: host.far.carrier(True), [NEW4, V6])
        if host.guarded:
            host.wait_holds()


def play(host, rc_manager, link_to=None, **words):
    """link_to: where the link leads; without it /etc/resolv.conf is a regular file"""
    story = Story(host, rc_manager, **words)
    if link_to:
        host.link(RESOLV, link_to)
    else:
        host.write(RESOLV, NOBODYS if story.kept_off else f"nameserver {STALE}\n")
    story.boot()
    story.all_steps()


@scenario()
def openshift_bootstrap(host):
    """rc-manager=auto and a regular file: the incident, and every other rewrite that does the same"""
    play(host, "auto")


@scenario()
def openshift_bootstrap_from_beside(host):
    """the incident alone, with the guardian outside and the host mounted"""
    story = Story(host, "auto")
    host.write(RESOLV, f"nameserver {STALE}\n")
    story.boot(beside=True)
    story.step("DHCPv6 lease", host.far.lease6, [V4, V6])


@scenario()
def rc_manager_symlink(host):
    play(host, "symlink", OWN)


@scenario()
def rc_manager_symlink_and_a_regular_file(host):
    play(host, "symlink")


@scenario()
def rc_manager_file(host):
    play(host, "file")


@scenario()
def rc_manager_file_and_a_link_to_its_own(host):
    play(host, "file", OWN)


@scenario()
def rc_manager_file_through_a_link(host):
    """a temporary file renamed beside the link's target: no event in /etc"""
    host.write("/run/elsewhere/resolv.conf", f"nameserver {STALE}\n")
    play(host, "file", "../run/elsewhere/resolv.conf")


@scenario()
def rc_manager_auto_and_a_link_elsewhere(host):
    """it never writes through a foreign link: its servers come from its own file, as `upstream`"""
    host.write("/run/elsewhere/resolv.conf", NOBODYS)
    play(host, "auto", "../run/elsewhere/resolv.conf", kept_off=True)


@scenario()
def rc_manager_unmanaged(host):
    """nodes of on-premises OpenShift: the same upstream, and a regular file that NetworkManager never writes"""
    play(host, "unmanaged", kept_off=True)
