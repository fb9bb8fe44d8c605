#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# trace.py - hotvar's exact counts against a trace of every access by another tool.
#
#   trace.py TRACE REPORT ELF [variables]
#
# TRACE is what "valgrind --tool=lackey --trace-mem=yes" has written, summed up by trace_sum; REPORT what "hotvar --exact
# --json" has.  The totals must be equal, unless only variables count; and, for each data symbol of ELF (linked to fixed
# addresses, as nm -S lists it), the reads and writes that begin in it.
import array
import bisect
import collections
import json
import subprocess
import sys


class Trace:
    """Accesses by address, and how many there are below an address."""

    def __init__(self, path):
        # of ten million addresses, too
        self.addrs, self.reads, self.writes = array.array("Q"), array.array("Q", [0]), array.array("Q", [0])
        for line in open(path):
            addr, reads, writes = line.split()
            self.addrs.append(int(addr, 16))
            self.reads.append(self.reads[-1] + int(reads))
            self.writes.append(self.writes[-1] + int(writes))

    def all(self):
        return self.reads[-1], self.writes[-1]

    def between(self, start, end):
        a, b = (bisect.bisect_left(self.addrs, at) for at in (start, end))
        return self.reads[b] - self.reads[a], self.writes[b] - self.writes[a]


def read_symbols(elf):
    """[(start, end, names)] of data objects, one for each address and size; of thread-local ones nm has no address."""
    places = collections.defaultdict(set)
    for line in subprocess.run(["nm", "-S", "-f", "sysv", elf], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines():
        word = [w.strip() for w in line.split("|")]  # name, value, class, type, size, line, section
        if len(word) == 7 and word[4] and word[2] in "bBdDrRvVuG" and word[3] != "TLS" and int(word[4], 16):
            places[int(word[1], 16), int(word[4], 16)].add(word[0].split("@")[0])  # without a version
    return [(at, at + size, names) for (at, size), names in sorted(places.items())]


def main(trace, report, elf, only=None):
    trace = Trace(trace)
    rows, total = [], None
    for line in open(report):
        r = json.loads(line)
        if r["type"] == "variable":
            rows.append(r)
        elif r["type"] == "total":
            total = r
    bad = 0
    want = trace.all()
    got = sum(r["reads"] for r in rows), sum(r["writes"] for r in rows)
    print("total: trace %d reads %d writes, hotvar %d reads %d writes" % (want + got))
    if (want != got and only != "variables") or sum(got) != total["accesses"] or not sum(got):
        print("the totals differ")
        bad += 1
    named = collections.defaultdict(lambda: [0, 0])
    for r in rows:
        if r["symbol"] and r["module"].rsplit("/", 1)[-1] == elf.rsplit("/", 1)[-1]:
            named[r["symbol"]][0] += r["reads"]
            named[r["symbol"]][1] += r["writes"]
    touched = 0
    by_names = collections.defaultdict(lambda: [0, 0])
    for start, end, names in read_symbols(elf):
        key = frozenset(names)
        for i, n in enumerate(trace.between(start, end)):
            by_names[key][i] += n
    for names, want in sorted(by_names.items(), key=lambda x: sorted(x[0])):
        got = [sum(named.get(n, (0, 0))[i] for n in names) for i in (0, 1)]
        touched += want != [0, 0]
        if got != want:
            print("%s: trace %s, hotvar %s" % ("/".join(sorted(names)), want, got))
            bad += 1
    print("%d variables accessed, %d differences" % (touched, bad))
    bad += not touched
    return bad != 0


sys.exit(main(*sys.argv[1:]))
