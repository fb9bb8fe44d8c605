#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# trace.py - hotvar's exact counts against a trace of every access by another tool.
#
#   trace.py TRACE REPORT [ELF]
#
# TRACE is what "valgrind --tool=lackey --trace-mem=yes" has written, REPORT what "hotvar --exact --json" has.  The
# totals must be equal, and, for each data symbol of ELF (linked to fixed addresses, as nm -S lists it), the reads
# and writes that begin in it.
import collections
import json
import subprocess
import sys


def read_trace(path):
    reads, writes = collections.Counter(), collections.Counter()
    with open(path, errors="replace") as f:
        for line in f:
            # " L 1ffeffe7e8,8", " S ...", " M ..." (read, then written); "I ..." is an instruction
            if len(line) < 4 or line[0] != " " or line[2] != " " or line[1] not in "LSM":
                continue
            addr = int(line[3:].split(",")[0], 16)
            if line[1] != "S":
                reads[addr] += 1
            if line[1] != "L":
                writes[addr] += 1
    return reads, writes


def read_symbols(elf):
    """[(start, end, names)] of data objects, one for each address and size."""
    places = collections.defaultdict(set)
    for line in subprocess.run(["nm", "-S", elf], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines():
        word = line.split()
        if len(word) == 4 and word[2] in "bBdDrRvVuG" and int(word[1], 16):
            places[int(word[0], 16), int(word[1], 16)].add(word[3].split("@")[0])  # without a version
    return [(at, at + size, names) for (at, size), names in sorted(places.items())]


def main(trace, report, elf=None):
    reads, writes = read_trace(trace)
    rows, total = [], None
    for line in open(report):
        r = json.loads(line)
        if r["type"] == "variable":
            rows.append(r)
        elif r["type"] == "total":
            total = r
    bad = 0
    want = sum(reads.values()), sum(writes.values())
    got = sum(r["reads"] for r in rows), sum(r["writes"] for r in rows)
    print("total: trace %d reads %d writes, hotvar %d reads %d writes" % (want + got))
    if want != got or sum(got) != total["accesses"] or not sum(got):
        print("the totals differ")
        bad += 1
    if elf:
        named = collections.defaultdict(lambda: [0, 0])
        for r in rows:
            if r["symbol"] and r["module"].rsplit("/", 1)[-1] == elf.rsplit("/", 1)[-1]:
                named[r["symbol"]][0] += r["reads"]
                named[r["symbol"]][1] += r["writes"]
        touched = 0
        by_names = collections.defaultdict(lambda: [0, 0])
        for start, end, names in read_symbols(elf):
            key = frozenset(names)
            by_names[key][0] += sum(n for a, n in reads.items() if start <= a < end)
            by_names[key][1] += sum(n for a, n in writes.items() if start <= a < end)
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
