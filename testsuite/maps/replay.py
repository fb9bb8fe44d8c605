#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""replay.py - applies the events of `hotvar maps --json` to empty lists and compares with what random_maps saw of itself.

   replay.py [--fifo FIFO] [--may-miss] [--counted] [--no-vsyscall] LOG EVENTS

EVENTS may be - for stdin.  FIFO gets a byte when a barrier's first page is seen and the list is what /proc/PID/maps shows of the
process, which waits for that byte: a source that looks now and then comes to it, however late; and one for each page after
that.  --counted: what is put right meanwhile, but what a fork left out, is no more than what is said to be lost.  SIGTERM ends the waiting: what differed at last is printed.  [vsyscall] is what no source but a look can tell.

Knows nothing of hotvar's own code.  Prints what differs, then `EQUAL of ALL barriers, LOST lost, EVENTS events, PROCESSES
processes`; exit status 0 if all barriers are equal, there is one, every task that came has gone, and nothing was lost (or may be).
"""
import argparse
import bisect
import collections
import json
import os
import signal
import sys

MARK, MARK_AGAIN, MARK_READ, MARK_STEP = 0x6f0000000000, 0x6f4000000000, 0x6f8000000000, 0x100000


def clear(areas, start, end):
    """Take [start, end) out of areas, which are (start, end, prot, pgoff, dev, ino, path), sorted; returns where it was."""
    first = bisect.bisect_left(areas, (start,))
    if first and areas[first - 1][1] > start:
        first -= 1
    last = bisect.bisect_left(areas, (end,))
    if first == last:
        return first
    a, b = areas[first], areas[last - 1]
    kept = []
    if a[0] < start:
        kept.append((a[0], start) + a[2:])
    if end < b[1]:
        kept.append((end, b[1], b[2], b[3] + (end - b[0] if b[5] else 0)) + b[4:])
    areas[first:last] = kept
    return first


def joined(areas):
    """Neighbours alike in everything, with contiguous pgoff for a file, count as one."""
    out = []
    for a in areas:
        if out:
            p = out[-1]
            if p[1] == a[0] and p[2] == a[2] and p[4:] == a[4:] and (not a[5] or a[3] == p[3] + a[0] - p[0]):
                out[-1] = (p[0], a[1]) + p[2:]
                continue
        out.append(a)
    return out


def area_in(line):
    """An area from a line of maps."""
    ends, prot, pgoff, dev, ino, *path = line.split(None, 5)
    path = path[0].removesuffix(" (deleted)").replace("\\012", "\n") if path else ""
    start, end = (int(x, 16) for x in ends.split("-"))
    ino = int(ino)
    return (start, end, prot, int(pgoff, 16) if ino else 0, dev if ino else "00:00", ino, path)


def maps_of(pid):
    """What the kernel shows of a process now; nothing if it is gone."""
    try:
        with open(f"/proc/{pid}/maps", errors="surrogateescape") as f:
            return [area_in(line.rstrip("\n")) for line in f]
    except OSError:
        return []


class Log:
    """What the programs wrote at their barriers, as it comes."""

    def __init__(self, path):
        self.file = open(path, errors="surrogateescape")
        self.lists = collections.defaultdict(collections.deque)
        self.now = None
        self.part = ""

    def more(self):
        for line in self.file:
            line = self.part + line
            self.part = ""
            if not line.endswith("\n"):
                self.part = line
                break
            if line.startswith("B "):
                pid, n = map(int, line.split()[1:])
                self.now = []
                self.lists[pid, n % 1000].append(self.now)
                continue
            self.now.append(area_in(line[:-1]))

    def take(self, pid, n):
        self.more()
        waiting = self.lists.get((pid, n))
        return waiting.popleft() if waiting else None

    def left(self):
        self.more()
        return [(key, v) for key, v in self.lists.items() if v]


def area_of(e):
    """An area as maps shows it: what has no file is called by its kind there, if at all."""
    ino, kind = e["ino"], e["kind"]
    name = f"[{kind}]" if kind in ("heap", "stack", "vdso", "vvar", "vsyscall") else ""
    return (int(e["start"], 16), int(e["end"], 16), e["prot"], int(e["pgoff"], 16) if ino else 0,
            e["dev"] if ino else "00:00", ino, e["path"] or name)


class Replay:
    def __init__(self, log, fifo, vsyscall):
        self.log, self.fifo, self.vsyscall = log, fifo, vsyscall
        self.spaces, self.mm_of = {}, {}
        self.checked = self.equal = self.events = self.processes = self.shown = 0
        self.strange = []
        self.total = None
        self.waiting = None  # the process that waits for the list to be right, and its space
        self.late = 0  # changes told meanwhile

    def say(self):
        if self.fifo:
            self.fifo.write(b".")
            self.fifo.flush()

    def alike(self, got, want):
        """Both, joined, without what is not asked for."""
        both = joined(got), joined(want)
        return both if self.vsyscall else tuple([a for a in v if a[6] != "[vsyscall]"] for v in both)

    def settle(self):
        """Nothing of the process that waits runs: is the list right by now?"""
        pid, mm = self.waiting
        got, want = self.alike(self.spaces.get(mm, []), maps_of(pid))
        if got == want:
            self.waiting = None
            self.say()

    def give_up(self, *_):
        if self.waiting:
            pid, mm = self.waiting
            print(f"process {pid} waits at a barrier: the list never was what maps shows")
            self.show(*self.alike(self.spaces.get(mm, []), maps_of(pid)))
        sys.exit(1)

    def leave(self, tid):
        mm = self.mm_of.pop(tid, None)
        if mm is not None and mm not in self.mm_of.values():
            self.spaces.pop(mm, None)

    def compare(self, e, n):
        self.checked += 1
        want = self.log.take(e["pid"], n)
        got, known = self.alike(self.spaces.get(e["mm"], []), want or [])
        want = known if want is not None else None
        if got == want:
            self.equal += 1
            return
        self.shown += 1
        if self.shown > 10:
            return
        if want is None:
            print(f"barrier {n} of process {e['pid']} is not in the log")
            return
        print(f"barrier {n} of process {e['pid']}: {len(got)} areas, maps has {len(want)}, before time {e['time_ns']}")
        self.show(got, want)

    @staticmethod
    def show(got, want):
        for what, some in ("missing", set(want) - set(got)), ("extra", set(got) - set(want)):
            for a in sorted(some)[:6]:
                print("  %-7s %x-%x %s %x %s %d %r" % ((what,) + a))

    def map_event(self, e):
        start, end = int(e["start"], 16), int(e["end"], 16)
        mark, n = start - start % (MARK_STEP * 1024), start % (MARK_STEP * 1024) // MARK_STEP
        if e["event"] == "map" and mark == MARK_READ:
            self.compare(e, n)
        areas = self.spaces.get(e["mm"])
        if areas is None:
            self.strange.append(f"{e['event']} in the unknown space {e['mm']}")
            areas = self.spaces.setdefault(e["mm"], [])
        if "old_start" in e:
            clear(areas, int(e["old_start"], 16), int(e["old_end"], 16))
        if self.waiting and self.waiting[1] == e["mm"] and e["syscall"] not in ("fork", "clone", "clone3", "vfork", "execve"):
            self.late += not (e["kind"] == "vsyscall" and not self.vsyscall)
        at = clear(areas, start, end)
        if e["event"] != "unmap":
            area = area_of(e)
            bisect.insort(areas, area, max(at - 1, 0))
        if self.fifo and mark == MARK and e["event"] == "map":
            self.waiting = e["pid"], e["mm"]
        elif mark in (MARK_AGAIN, MARK_READ) and e["event"] == "map":
            self.say()

    def event(self, e):
        self.events += 1
        kind = e["event"]
        if kind == "fork":
            if e["child"] in self.mm_of:
                self.strange.append(f"task {e['child']} is born again")
            if e["child_mm"] not in self.spaces:
                self.spaces[e["child_mm"]] = list(self.spaces.get(e["mm"], []))
            self.mm_of[e["child"]] = e["child_mm"]
            self.processes += e["child"] == e["child_pid"]
        elif kind == "exec":
            self.leave(e["tid"])
            self.spaces[e["mm"]] = []
            self.mm_of[e["tid"]] = e["mm"]
        elif kind == "exit":
            if e["tid"] not in self.mm_of:
                self.strange.append(f"task {e['tid']} ends and never was")
            self.leave(e["tid"])
        else:
            if e["tid"] not in self.mm_of:
                if kind != "initial":
                    self.strange.append(f"{kind} by the unknown task {e['tid']}")
                self.mm_of[e["tid"]] = e["mm"]
                self.spaces.setdefault(e["mm"], [])
            self.map_event(e)
        if self.waiting:
            self.settle()

    def line(self, text):
        e = json.loads(text)
        if e["type"] == "map":
            self.event(e)
        elif e["type"] == "total":
            self.total = e


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--fifo")
    p.add_argument("--may-miss", action="store_true")
    p.add_argument("--counted", action="store_true")
    p.add_argument("--no-vsyscall", action="store_true")
    p.add_argument("log")
    p.add_argument("events")
    o = p.parse_args()
    # For reading, too: so this does not wait for the program, which waits for its own events to be read.
    fifo = os.fdopen(os.open(o.fifo, os.O_RDWR), "wb") if o.fifo else None
    r = Replay(Log(o.log), fifo, not o.no_vsyscall)
    if fifo:
        signal.signal(signal.SIGTERM, r.give_up)
    for text in sys.stdin if o.events == "-" else open(o.events, errors="surrogateescape"):
        r.line(text)
    left = r.log.left()
    for (pid, n), v in left[:5]:
        print(f"barrier {n} of process {pid} was never seen")
    for s in r.strange[:5]:
        print("strange: " + s)
    if r.mm_of:
        print(f"never ended: {sorted(r.mm_of)[:10]}")
    lost = sum(v for k, v in (r.total or {}).items() if k.startswith("lost_"))
    if o.counted and r.late > lost:
        print(f"{r.late} changes were told late, and {lost} said to be lost")
    checked = r.checked + sum(len(v) for _, v in left)
    print(f"{r.equal} of {checked} barriers, {'not said what is' if r.total is None else lost} lost, "
          f"{r.events} events, {r.processes} processes")
    good = r.checked and r.equal == checked and not r.strange and not r.mm_of and r.total is not None
    return not (good and (o.may_miss or not lost) and not (o.counted and r.late > lost))


if __name__ == "__main__":
    sys.exit(main())
