"""The other writers: DHCP clients, resolvconf of both kinds, an editor, a second guardian, who copies the file once."""
import subprocess

from checks import equal
from host import LONGEST, PROGRAM, RESOLV, UNIT, expect, run, wait_for
from networkmanager import prepend
from networkmanager import set_up as set_up_networkmanager
from scenario import scenario

LOCAL = "127.0.0.1"
V4, NEW4, V6 = "192.0.2.53", "192.0.2.54", "2001:db8:1::53"
POLICY = f'[[guard]]\npath = "{RESOLV}"\n[guard.nameservers]\nfirst = ["{LOCAL}"]\n'


def start(host, dns=V4):
    """a host without a network manager"""
    host.far.serve(dns=dns, domain="lab.example")
    if not host.linked():
        host.write(RESOLV, "# none yet\n")
    host.guard(POLICY)
    host.boot()
    host.wait_unit("multi-user.target")


def step(host, name, stimulus, writer):
    """writer: the servers that it then says. Unguarded, 127.0.0.1 was put first by hand, and is lost."""
    if not host.guarded:
        prepend(host)
    wait_for(lambda: host.servers()[:1] == [LOCAL], f"127.0.0.1 first before {name}")
    since = host.reader.now()
    stimulus()
    if host.guarded:
        host.wait_servers([LOCAL, *writer])
        host.wait_holds()
        host.measure(name, since, LOCAL)
    else:
        host.wait_servers(writer)


@scenario()
def dhclient(host):
    """truncates the file and runs cat; each family writes the whole file, so that -6 drops the servers of -4"""
    host.far.serve6()
    host.far.lease6(V6)
    start(host)
    step(host, "dhclient -4", lambda: host.inside("dhclient", "-4", "-1", "eth0"), [V4])
    shown = lambda: run("ip", "-6", "addr", "show", "dev", "eth0", "scope", "link")
    wait_for(lambda: "inet6" in shown() and "tentative" not in shown(), lambda: f"its own address, not {shown()}")
    step(host, "dhclient -6", lambda: host.inside("dhclient", "-6", "-1", "-pf", "/run/dhclient6.pid", "eth0"), [V6])


@scenario()
def dhcpcd(host):
    """writes in place; a file without any server between the carrier and the lease"""
    start(host)
    step(host, "dhcpcd", lambda: host.inside("dhcpcd", "-4", "-w", "eth0"), [V4])
    host.far.name_servers(NEW4, "lab.example")
    step(host, "dhcpcd renewal", lambda: host.inside("dhcpcd", "-4", "-N", "eth0"), [NEW4])


@scenario(layer="openresolv")
def openresolv(host):
    """one write in place"""
    start(host)
    add = lambda server: host.inside("sh", "-c", f"echo nameserver {server} | resolvconf -a eth0.dhcp")
    step(host, "resolvconf -a", lambda: add(V4), [V4])
    step(host, "resolvconf -a again", lambda: add(NEW4), [NEW4])


@scenario(layer="resolvconf")
def debian_resolvconf(host):
    """renames in /run/resolvconf, behind the link: no event in /etc"""
    host.link(RESOLV, "../run/resolvconf/resolv.conf")
    host.write("/run/resolvconf/resolv.conf", "# none yet\n")
    start(host)
    host.inside("resolvconf", "--enable-updates")
    add = lambda server: host.inside("sh", "-c", f"echo nameserver {server} | resolvconf -a eth0.dhcp")
    step(host, "resolvconf -a", lambda: add(V4), [V4])
    step(host, "resolvconf -a again", lambda: add(NEW4), [NEW4])
    equal(host.linked(), "../run/resolvconf/resolv.conf", "the link")


@scenario()
def sed_through_a_link(host):
    """sed -i makes a regular file of a link, and the file behind it has no reader any more: `link_to` puts it back"""
    target = "/run/NetworkManager/resolv.conf"
    host.far.serve(dns=V4)
    set_up_networkmanager(host, "symlink", dispatcher=False)
    host.link(RESOLV, target)
    host.guard(f'[[guard]]\npath = "{RESOLV}"\nlink_to = "{target}"\n')
    host.boot()
    host.wait_servers([V4])
    if host.guarded:
        host.wait_holds()
    host.inside("sed", "-i", f"s/{V4}/{LOCAL}/", RESOLV)
    if not host.guarded:
        host.wait_servers([LOCAL])
        return equal(host.linked(), None, "the link")
    host.wait_servers([V4], LONGEST)
    return wait_for(lambda: host.linked() == target, lambda: f"the link, {host.linked()}")


@scenario(runs=("guarded",))
def second_guardian(host):
    """the lock lies on the guarded directory: one beside the host and one in it see each other"""
    start(host)
    host.wait_holds()
    second = subprocess.run(host.command(PROGRAM, "--state-dir", "/tmp/s", "--runtime-dir", "/tmp/r", "run"),
                            capture_output=True, text=True, check=False, timeout=20)
    equal(second.returncode, 3, "a second one in the host ended with")
    expect("another guardian guards this directory" in second.stderr, second.stderr)
    host.write("/config-beside.toml", POLICY)
    beside = subprocess.run([host.settings.binary, "--root", host.root, "--config", host.path("/config-beside.toml"),
                             "--state-dir", host.scratch + "/s", "--runtime-dir", host.scratch + "/r", "run"],
                            capture_output=True, text=True, check=False, timeout=20)
    equal(beside.returncode, 3, "one beside the host ended with")
    expect("another guardian guards this directory" in beside.stderr, beside.stderr)
    equal(host.status()["state"], "holds", "the first one")


@scenario()
def kubelet_copies_the_file_once(host):
    """whoever is ordered after the guardian's READY=1 reads the right file, though it never looks again"""
    host.write(RESOLV, "nameserver 198.51.100.9\n")
    host.far.serve(dns=V4)
    set_up_networkmanager(host, "auto", dispatcher=False)
    host.guard(POLICY)
    host.write("/etc/systemd/system/kubelet.service", f"""[Unit]
Wants={UNIT}
After={UNIT}
DefaultDependencies=no
[Service]
Type=oneshot
ExecStart=/bin/cp {RESOLV} /run/kubelet-resolv.conf
[Install]
WantedBy=multi-user.target
""")
    host.enable("kubelet")
    host.boot()
    wait_for(lambda: host.nameservers("/run/kubelet-resolv.conf"), "kubelet's copy")
    first = host.nameservers("/run/kubelet-resolv.conf")[0]
    equal(first == LOCAL, host.guarded, f"kubelet copied {first}; 127.0.0.1 first")
