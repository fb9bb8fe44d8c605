#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""replay.py - applies the events of events.stp to empty lists and compares at each checkpoint with /proc/self/maps.

   replay.py [--may-lose] FOLDER    FOLDER/events is what the script printed, FOLDER/maps.PID what the programs wrote

Prints `EQUAL of ALL checkpoints, EQUAL of ALL stack growths, LOST lost` and what differs; a stack growth is a checkpoint
before which the stack has grown since the one before.  Exit status 0 if all are equal, there is one, and nothing was lost,
or may be.
"""
import bisect
import sys

from maps import joined, read_maps


class Space:
    """One address space: what is applied, sorted, and events that wait for their turn.

    A child begins as its parent was after the parent's change number parent_seq, whatever has been printed of it till then.
    """

    def __init__(self):
        self.areas = []
        self.waiting = []
        self.log = []
        self.parent = None

    def at(self, seq):
        """The areas as they were after change seq."""
        self.settle()
        if not self.log or self.log[-1][0] <= seq:
            return list(self.areas)
        then = Space()
        then.parent = self.parent
        then.waiting = [e for e in self.log if e[0] <= seq]
        then.settle()
        return then.areas

    def clear(self, start, end):
        first = bisect.bisect_left(self.areas, (start,))
        if first and self.areas[first - 1][1] > start:
            first -= 1
        last = bisect.bisect_left(self.areas, (end,))
        kept = []
        for a in self.areas[first:last]:
            if a[0] < start:
                kept.append((a[0], start) + a[2:])
            if end < a[1]:
                kept.append((end, a[1], a[2], a[3] + end - a[0] if a[5] else 0) + a[4:])
        self.areas[first:last] = kept

    def settle(self):
        if not self.log and self.parent:
            self.areas = self.parent[0].at(self.parent[1])
        self.log += sorted(self.waiting)
        for _, event, area, old in sorted(self.waiting):
            if event in ("move", "grow", "shrink"):
                self.clear(*old)
            self.clear(area[0], area[1])
            if event != "unmap":
                bisect.insort(self.areas, area)
        self.waiting = []


def main(folder, may_lose):
    maps = read_maps(folder)
    spaces, mm_of = {}, {}
    checked = equal = 0
    stack_of, growths = {}, [0, 0]
    lost = None
    for line in open(folder + "/events", errors="replace"):
        what, *f = line.rstrip("\n").split(" ")
        if what == "EV":
            words, _, path = line.rstrip("\n").partition("|")
            f = words.split(" ")[1:]
            pid, mm, seq = map(int, f[:3])
            start, end, pgoff = (int(x, 16) for x in f[4:7])
            ino = int(f[9])
            mm_of[pid] = mm
            area = (start, end, f[7], pgoff << 12 if ino else 0, f[8] if ino else "00:00", ino, path)
            spaces.setdefault(mm, Space()).waiting.append((seq, f[3], area, (int(f[11], 16), int(f[12], 16))))
        elif what == "EXEC":
            mm_of[int(f[0])] = int(f[1])
        elif what == "FORK":
            pid, mm, child, child_mm, parent_seq = map(int, f)
            mm_of.setdefault(pid, mm)
            mm_of[child] = child_mm
            if parent_seq:
                spaces.setdefault(child_mm, Space()).parent = (spaces.setdefault(mm, Space()), parent_seq)
        elif what == "CK":
            pid, n, count = map(int, f)
            checked += 1
            space = spaces.setdefault(mm_of.get(pid), Space())
            space.settle()
            got, want = joined(space.areas), joined(maps.pop((pid, n), []))
            stack = [a[0] for a in want if a[6] == "[stack]"]
            # The same number twice is after an exec, with another stack.
            grown = bool(stack) and n > 1 and stack[0] < stack_of.get((pid, n - 1), 0)
            stack_of[pid, n] = stack[0] if stack else 0
            growths[1] += grown
            if got == want and count == len(want) and want:
                equal += 1
                growths[0] += grown
                continue
            print(f"checkpoint {n} of process {pid}: {len(got)} areas, vma_count() {count}, maps has {len(want)}")
            for a in sorted(set(want) - set(got))[:5]:
                print("  missing %x-%x %s %x %s %d %s" % a)
            for a in sorted(set(got) - set(want))[:5]:
                print("  extra   %x-%x %s %x %s %d %s" % a)
        elif what == "LOST":
            lost = int(f[0])
    for pid, n in sorted(maps)[:5]:
        print(f"checkpoint {n} of process {pid} was never marked")
    grown = f", {growths[0]} of {growths[1]} stack growths" if growths[1] else ""
    print(f"{equal} of {checked + len(maps)} checkpoints{grown}, {'not said what is' if lost is None else lost} lost")
    return not (checked and equal == checked and not maps and (lost == 0 or may_lose and lost is not None))


sys.exit(main(sys.argv[-1], "--may-lose" in sys.argv[1:-1]))
