"""The far end of eth0: a network namespace with the DHCP servers and the DNS server, and asking that DNS server."""
import os
import pathlib
import secrets
import signal
import socket
import struct
import subprocess
import sys

from checks import wait_for
from commands import run

HERE = pathlib.Path(__file__).resolve().parent


class Far:
    """net: the first three numbers of the network; its .1 is the far end and answers names of lab.test with its .123"""
    second = "198.51.100.2/24"

    def __init__(self, host, net="192.0.2"):
        self.host, self.net, self.scratch = host, net, pathlib.Path(host.scratch)
        self.dnsmasq = self.lease_file = None
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL)
        of = lambda pid: os.readlink(f"/proc/{pid}/ns/net")
        wait_for(lambda: of(self.holder.pid) != of("self"), "a network namespace for the far end")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "far0", "netns", self.holder.pid)
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "addr", "add", f"{net}.1/24", "dev", "far0")
        self.run("ip", "link", "set", "far0", "up")

    def second_way(self):
        """another link between the two, eth1, with the addresses of `second` and nobody who serves DHCP on it"""
        run("ip", "link", "add", "eth1", "type", "veth", "peer", "name", "far1", "netns", self.holder.pid)
        self.run("ip", "addr", "add", "198.51.100.1/24", "dev", "far1")
        self.run("ip", "link", "set", "far1", "up")

    def command(self, *words):
        return ["nsenter", "-t", str(self.holder.pid), "-n", *map(str, words)]

    def run(self, *words):
        return run(*self.command(*words))

    def start(self, *words):
        log = open(self.scratch / "far.log", "a")
        return subprocess.Popen(self.command(*words), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def serve(self, dns=None, domain="lab.test", t1=None):
        """DHCPv4 that names dns (without it, itself) and DNS for lab.test. t1: seconds until a lease is renewed."""
        self.name_servers(dns or f"{self.net}.1", domain)
        renewal = [f"--dhcp-option=option:T1,{t1}"] if t1 else []
        self.dnsmasq = self.start(
            "chroot", self.host.root, "dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
            "--interface=far0", "--bind-interfaces", "--leasefile-ro", "--pid-file=", "--user=root",
            "--dhcp-authoritative", "--no-ping", f"--dhcp-range={self.net}.50,{self.net}.99,255.255.255.0,120",
            "--log-facility=-", f"--dhcp-option=option:router,{self.net}.1", f"--address=/lab.test/{self.net}.123",
            "--dhcp-optsfile=/dhcp-options", *renewal)

    def name_servers(self, dns, domain="lab.test"):
        """what the next DHCPv4 lease or renewal names"""
        inside = pathlib.Path(self.host.path("/dhcp-options"))
        inside.write_text(f"option:dns-server,{dns}\noption:domain-name,{domain}\n")
        if self.dnsmasq:
            self.dnsmasq.send_signal(signal.SIGHUP)

    def leases(self):
        """how many DHCPv4 leases and renewals there were"""
        return (self.scratch / "far.log").read_text().count("DHCPACK(")

    def serve6(self):
        self.lease_file = self.scratch / "lease6"
        self.run("ip", "addr", "add", "2001:db8:1::1/64", "dev", "far0", "nodad")
        self.start(sys.executable, HERE / "dhcp6_server.py", "far0", self.lease_file)

    def lease6(self, dns="2001:db8:1::53"):
        """from now on the DHCPv6 server leases, and names dns"""
        temp = self.lease_file.with_suffix(".new")
        temp.write_text(dns + "\n")
        temp.rename(self.lease_file)

    def carrier(self, on):
        self.run("ip", "link", "set", "far0", "up" if on else "down")


def ask(server, name=None, seconds=1.0):
    """The IPv4 address that a DNS server gives for a name of lab.test that no cache can know; None if it gives none."""
    name = name or f"n{secrets.token_hex(4)}.lab.test"
    number = secrets.token_bytes(2)
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    question = number + struct.pack("!HHHHH", 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", 1, 1)
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.settimeout(seconds)
        try:
            client.connect((server, 53))
            client.send(question)
            answer = client.recv(4096)
        except OSError:
            return None
    answers = struct.unpack_from("!H", answer, 6)[0]
    return socket.inet_ntoa(answer[-4:]) if answer[:2] == number and answers else None
