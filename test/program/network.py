"""A network namespace of its own, made and changed with ip(8). Nothing of the machine's own network is touched."""
import os
import subprocess

from world import expect, wait_for


class Network:
    def __init__(self, world):
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        world.others.append(self.holder)
        self.path = f"/proc/{self.holder.pid}/ns/net"
        own = os.readlink("/proc/self/ns/net")
        wait_for(lambda: os.readlink(self.path) != own, "a network namespace")
        self.prefix = ("nsenter", "--net=" + self.path)
        self.ip("link", "set", "lo", "up")

    def ip(self, *words, batch=None):
        words = ["ip", "-batch", "-"] if batch else ["ip", *words]
        done = subprocess.run([*self.prefix, *words], input=batch, capture_output=True, text=True)
        expect(done.returncode == 0, f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def sysctl(self, name, value):
        subprocess.run([*self.prefix, "sh", "-c", f"echo {value} > /proc/sys/{name}"], check=True)

    def link(self, name):
        """an interface whose other end is up too"""
        self.ip("link", "add", "name", name, "type", "veth", "peer", "name", name + "-far")
        for end in (name, name + "-far"):
            self.ip("link", "set", end, "up")

    def address(self, address, link, *words):
        words = ("nodad", *words) if ":" in address else words
        self.ip("address", "add", address, "dev", link, *words)

    def route(self, *words, verb="add"):
        family = ["-6"] if any(":" in word for word in words) else []
        self.ip(*family, "route", verb, *words)

    def node(self, address="10.0.0.7", *others):
        """one interface with a default route: the address towards all others is the first one"""
        self.link("eth0")
        for one in (address, *others):
            self.address(one + "/24", "eth0")
        self.route("default", "via", address.rsplit(".", 1)[0] + ".1", "dev", "eth0")
