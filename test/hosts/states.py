"""The states of a file as the busy reader (reader.cpp) saw them."""
import pathlib
import signal
import subprocess
import time

from checks import wait_for


class States:
    def __init__(self, program, root, name, log, nap):
        self.log = pathlib.Path(log)
        with open(log, "w") as out:
            self.process = subprocess.Popen([program, root, name, str(nap)], stdin=subprocess.DEVNULL, stdout=out)
        wait_for(self.seen, "the reader's first look")

    def seen(self):
        """[(microseconds of the monotonic clock, state)]"""
        lines = self.log.read_text().split("\n")[:-1]  # the last one may still be in the making
        return [(int(at), state) for at, state in (line.split(" ", 1) for line in lines)]

    def state(self):
        return next(state for _, state in reversed(self.seen()) if state != "end")

    def servers(self):
        state = self.state()
        return [] if state in ("absent", "empty", "none") else state.split(",")

    @staticmethod
    def now():
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000

    def gaps(self, since, right):
        """for each time that right(servers) didn't hold after `since`: microseconds; an open one lasts until now"""
        seen = [*self.seen(), (self.now(), "end")]
        found = []
        for (at, state), (then, _) in zip(seen, seen[1:]):
            if then <= since or right(state.split(",")):
                continue
            begin = max(at, since)
            if found and found[-1][1] == begin:
                found[-1][1] = then  # wrong in another way
            else:
                found.append([begin, then])
        return [end - begin for begin, end in found]

    def tail(self, count):
        seen = self.seen()
        return [f"{(at - seen[0][0]) / 1e6:.6f} {state}" for at, state in seen[-count:]]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
