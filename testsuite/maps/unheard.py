#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""unheard.py - is all found again, and said, that changed while `hotvar maps` did not listen?

   unheard.py HOTVAR PROGRAM PAIRS [OPTION...]    of `hotvar maps`; PROGRAM is unheard.c

Stops hotvar (SIGSTOP), has the program change everything behind its back, with more news than any ring holds, and lets hotvar go
on.  Waits until the replayed lists are what /proc shows of each process, and the tasks those that there are: that may
take as long as it likes.  SIGTERM ends the waiting: what is not right is printed.  Prints `LOST lost, GAPS gaps`, status 0 if all was found, and
what was lost is said, with the time since when.
"""
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import replay


def fail(text):
    print(text)
    sys.exit(1)


class Program:
    def __init__(self, path, pairs):
        self.p = subprocess.Popen([path, pairs], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.threads, self.children, self.other = set(), set(), None
        self.answer()

    def answer(self):
        for line in self.p.stdout:
            what, *number = line.split()
            if what == "done":
                return
            if what == "thread":
                self.threads.add(int(number[0]))
            elif what == "child":
                self.children.add(int(number[0]))
            elif what == "other":
                self.other = int(number[0])
        fail("the program ended")

    def order(self, what):
        self.p.stdin.write(what + "\n")
        self.p.stdin.flush()
        self.answer()


class Follower:
    def __init__(self, argv):
        self.p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape")
        self.replay = replay.Replay(None, None, False)
        self.gaps = []
        self.wrong = "nothing was told"
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def until(self, right):
        """Take events until right() says nothing is wrong."""
        while True:
            self.wrong = right() if self.lines.empty() else self.wrong
            if self.lines.empty() and not self.wrong:
                return
            line = self.lines.get()
            if line is None:
                fail(f"hotvar ended: {self.p.stderr.read()}; {self.wrong}")
            e = json.loads(line)
            if e["type"] == "gap":
                self.gaps.append(e)
            self.replay.line(line)

    def end(self):
        for line in iter(self.lines.get, None):
            e = json.loads(line)
            if e["type"] == "gap":
                self.gaps.append(e)
            self.replay.line(line)
        return self.p.wait()


def tasks_of(pid):
    return {int(t) for t in os.listdir(f"/proc/{pid}/task")}


def what_is_wrong(f, pids):
    there = set().union(*(tasks_of(pid) for pid in pids))
    known = set(f.replay.mm_of)
    if there != known:
        return f"tasks: missing {sorted(there - known)}, extra {sorted(known - there)}"
    for pid in pids:
        got, want = f.replay.alike(f.replay.spaces.get(f.replay.mm_of[pid], []), replay.maps_of(pid))
        if got != want:
            return f"process {pid}: missing {sorted(set(want) - set(got))[:4]}, extra {sorted(set(got) - set(want))[:4]}"
    return None


def main():
    hotvar, path, pairs, *options = sys.argv[1:]
    program = Program(path, pairs)
    first = program.p.pid
    begun = time.monotonic_ns()
    f = Follower([hotvar, "maps", "-q", "--json", *options, "-p", str(first), "-p", str(program.other)])
    signal.signal(signal.SIGTERM, lambda *_: fail(f.wrong))
    f.until(lambda: what_is_wrong(f, [first, program.other]))
    program.order("early")
    f.until(lambda: what_is_wrong(f, [first, program.other, *program.children]))
    early = program.children.copy()
    os.kill(f.p.pid, signal.SIGSTOP)
    os.waitpid(f.p.pid, os.WUNTRACED)
    program.order("unheard")
    heard = time.monotonic_ns()
    os.kill(f.p.pid, signal.SIGCONT)
    pids = [first, program.other, *(program.children - early)]
    f.until(lambda: what_is_wrong(f, pids))
    program.p.stdin.close()
    program.p.wait()
    status = f.end()
    total = f.replay.total or {}
    lost = total.get("lost_maps", 0)
    print(f"{lost} lost, {len(f.gaps)} gaps")
    if status:
        fail(f"status {status}, {f.p.stderr.read()}")
    if f.replay.strange:
        fail("strange: " + "; ".join(f.replay.strange[:5]))
    if not any(begun < g["since_ns"] < heard < g["time_ns"] for g in f.gaps):
        fail(f"not from before {heard} until after it: {f.gaps}, of {lost} lost")


if __name__ == "__main__":
    main()
