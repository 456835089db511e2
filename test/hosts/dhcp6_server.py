#!/usr/bin/env python3
"""dhcp6_server.py INTERFACE LEASE: router advertisements (RFC 4861: managed, no RDNSS) each second, and DHCPv6 (RFC 8415) leases
with the DNS server that the file LEASE names. No lease before that file exists: a case decides when it arrives. A new content is
what the next renewal (T1: 5 s) brings. dnsmasq can do neither: it leases at once, and its advertisements name a server."""
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import time

PREFIX = socket.inet_pton(socket.AF_INET6, "2001:db8:1::")
ADDRESS = socket.inet_pton(socket.AF_INET6, "2001:db8:1::100")
SOLICIT, ADVERTISE, REQUEST, RENEW, REBIND, REPLY = 1, 2, 3, 5, 6, 7
CLIENT_ID, SERVER_ID, IA_NA, IA_ADDRESS, RAPID_COMMIT, DNS_SERVERS = 1, 2, 3, 5, 14, 23



def link_address(interface):
    """/sys may show another network namespace's interfaces: asked of netlink"""
    words = subprocess.run(["ip", "-o", "link", "show", interface], check=True, capture_output=True, text=True).stdout.split()
    return bytes.fromhex(words[words.index("link/ether") + 1].replace(":", ""))


def option(code, data):
    return struct.pack("!HH", code, len(data)) + data


def advertisement(hardware):
    managed, no_hop_limit = 0x80, 0
    header = struct.pack("!BBHBBHII", 134, 0, 0, no_hop_limit, managed, 1800, 0, 0)
    on_link_not_autonomous = 0x80
    prefix = struct.pack("!BBBBIII", 3, 4, 64, on_link_not_autonomous, 3600, 1800, 0) + PREFIX
    return header + struct.pack("!BB", 1, 1) + hardware + prefix


def advertise(interface, hardware):
    out = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    out.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)  # others are dropped (RFC 4861, 6.1.2)
    packet, everybody = advertisement(hardware), ("ff02::1", 0, 0, socket.if_nametoindex(interface))
    while True:
        try:
            out.sendto(packet, everybody)
        except OSError:
            pass  # the link is down
        time.sleep(1)


def options_of(message):
    found, at = {}, 4
    while at + 4 <= len(message):
        code, length = struct.unpack_from("!HH", message, at)
        found[code] = message[at + 4:at + 4 + length]
        at += 4 + length
    return found


def answer(message, hardware, dns):
    asked = options_of(message)
    body = option(CLIENT_ID, asked.get(CLIENT_ID, b"")) + option(SERVER_ID, struct.pack("!HH", 3, 1) + hardware)
    body += option(DNS_SERVERS, socket.inet_pton(socket.AF_INET6, dns))
    if IA_NA in asked:
        t1, t2, valid = 5, 60, 120  # seconds
        address = option(IA_ADDRESS, ADDRESS + struct.pack("!II", valid, valid))
        body += option(IA_NA, asked[IA_NA][:4] + struct.pack("!II", t1, t2) + address)
    quick = message[0] == SOLICIT and RAPID_COMMIT in asked
    kind = ADVERTISE if message[0] == SOLICIT and not quick else REPLY
    return bytes([kind]) + message[1:4] + body + (option(RAPID_COMMIT, b"") if quick else b"")


def serve(interface, lease):
    hardware = link_address(interface)
    threading.Thread(target=advertise, args=(interface, hardware), daemon=True).start()
    server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode() + b"\0")
    server.bind(("::", 547))
    group = socket.inet_pton(socket.AF_INET6, "ff02::1:2") + struct.pack("@I", socket.if_nametoindex(interface))
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)
    server.settimeout(0.02)
    waiting = {}  # retransmissions of one question: the client's next one may be many seconds away
    while True:
        try:
            message, client = server.recvfrom(4096)
            waiting[client[0], message[1:4]] = message, client
        except TimeoutError:
            pass
        if not lease.exists():
            continue
        for message, client in waiting.values():
            if message[0] in (SOLICIT, REQUEST, RENEW, REBIND):
                server.sendto(answer(message, hardware, lease.read_text().strip()), client)
        waiting.clear()


if __name__ == "__main__":
    serve(sys.argv[1], pathlib.Path(sys.argv[2]))
