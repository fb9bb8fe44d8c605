#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fault.py - are the faults of fault.c, as fault.stp tells them, those that the program must have?

   fault.py FOLDER [MOST-MISSED]

FOLDER/stdout is the program's, FOLDER/events the script's. For each thread, what was told of the watched memory must be what
the program expects, in that order; no more than MOST-MISSED (0) faults may have had no address. Prints what is wrong, then `R of N faults`; exit status 0 if all are right.
"""
import sys

from collections import defaultdict


def main(folder, most=0):
    watch, want, told, missed = [], defaultdict(list), defaultdict(list), None
    for line in open(folder + "/stdout"):
        f = line.split()
        if f[0] == "WATCH":
            watch.append((int(f[1], 16), int(f[2], 16)))
        elif f[0] == "TOUCH":
            want[f[1]].append((int(f[2], 16), f[3:]))
    everything = 0
    for line in open(folder + "/events", errors="replace"):
        f = line.split()
        if f[0] == "MISSED":
            missed = int(f[1])
        elif f[0] == "FT":
            everything += 1
            addr = int(f[3], 16)
            if any(start <= addr < end for start, end in watch):
                told[f[2]].append((addr, [f[4], f[5], f[6], f[7], *f[11:13]], int(f[8], 16), int(f[9], 16), int(f[10], 16)))
    good = total = 0
    for tid, expected in want.items():
        got = told.pop(tid, [])
        total += len(expected)
        for i in range(max(len(expected), len(got))):
            e, g = (x[i] if i < len(x) else None for x in (expected, got))
            area = g and (g[3] <= g[0] < g[4] if g[1][3] != "unmapped" else g[3] == g[4] == 0)
            fetched = g and g[1][1] == "1"
            if e and g and e[0] == g[0] and all(a in ("-", b) for a, b in zip(e[1], g[1])) and area and \
                    (0 <= g[0] - g[2] < 15) == fetched:
                good += 1
            else:
                print(f"thread {tid}, fault {i}: right is {e and (hex(e[0]), *e[1])}, told {g and (hex(g[0]), *g[1], hex(g[2]), hex(g[3]), hex(g[4]))}")
                break
    for tid, got in told.items():
        print(f"thread {tid} was to have none: {[(hex(g[0]), *g[1]) for g in got]}")
    print(f"all faults told: {everything}, missed: {missed}")
    print(f"{good} of {total} faults")
    return not (good == total and total > 50 and not told and missed is not None and missed <= int(most))


sys.exit(main(*sys.argv[1:]))
