"""A DNS server of a few lines, for gates: it answers, or does what it shouldn't."""
import contextlib
import os
import random
import socket
import struct
import threading

PORT = 53


def address():
    """one of 127/8 on which nobody listens"""
    return f"127.{random.randrange(64, 128)}.{os.getpid() % 250 + 1}.{random.randrange(1, 250)}"


class Server:
    """answers: what is done with a query; None: nothing. It may be changed while it runs."""

    def __init__(self, where, answers, tcp=True, udp=True):
        self.answers, self.asked, self.ends = answers, 0, []
        if udp:
            self.listen(socket.SOCK_DGRAM, where, self.datagrams)
        if tcp:
            self.listen(socket.SOCK_STREAM, where, self.connections)

    def listen(self, kind, where, serve):
        end = socket.socket(socket.AF_INET, kind)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        end.bind((where, PORT))
        if kind == socket.SOCK_STREAM:
            end.listen()
        self.ends.append(end)
        threading.Thread(target=self.quietly, args=(serve, end), daemon=True).start()

    @staticmethod
    def quietly(serve, end):
        with contextlib.suppress(OSError):
            serve(end)

    def answer(self, query):
        self.asked += 1
        return self.answers(query) if self.answers else None

    def datagrams(self, end):
        while True:
            query, client = end.recvfrom(4096)
            if not query:  # it was shut down
                return
            if (answer := self.answer(query)) is not None:
                end.sendto(answer, client)

    def connections(self, end):
        while True:
            client, _ = end.accept()
            with client, contextlib.suppress(OSError, struct.error):
                client.settimeout(5)
                size, = struct.unpack("!H", client.recv(2))
                if (answer := self.answer(client.recv(size))) is not None:
                    client.sendall(struct.pack("!H", len(answer)) + answer)
                else:
                    client.recv(1)  # until the other one gives up

    def close(self):
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def answer(query, code=0, number=None):
    """the header with QR and this RCODE, and the question again (RFC 1035, 4.1.1)"""
    number = query[:2] if number is None else number
    return number + bytes([query[2] | 0x80, code]) + query[4:]


def another_id(query):
    return answer(query, number=bytes([query[0] ^ 1, query[1]]))
