#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# exact.py - CPU time under hotvar --exact against the same program alone and under valgrind's own tools.
#
# Five programs that only compute, on one CPU at a time, in interleaved rounds; the least of each counts.
import os
import resource
import statistics
import subprocess
import sys

PROGRAMS = [("hot_scan", 800), ("hot_list", 200), ("hot_btree", 700), ("hot_hash", 3000), ("hot_lru", 3000)]
ROUNDS = int(os.environ.get("ROUNDS", "3"))


def cpu(argv):
    """Seconds of CPU time of @argv and all it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(hotvar, programs):
    ways = {
        "native": [],
        "hotvar": [hotvar, "--exact", "-q", "-o", "/dev/null", "--"],
        "none": ["valgrind", "--tool=none", "-q"],
        "callgrind": ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "-q"],
    }
    ratios = {way: [] for way in ways}
    for name, work in PROGRAMS:
        best = {way: 1e9 for way in ways}
        for _ in range(ROUNDS):
            for way, argv in ways.items():
                best[way] = min(best[way], cpu(argv + [os.path.join(programs, name), str(work)]))
        print("# %s %d: %s" % (name, work, ", ".join("%s %.2f s" % x for x in best.items())), flush=True)
        for way in ways:
            ratios[way].append(best["hotvar"] / best[way])
    for way, goal in ("native", 10), ("none", 2), ("callgrind", 1):
        print("bench exact-against-%s ratio %.2f goal <= %g" % (way, statistics.median(ratios[way]), goal))


main(*sys.argv[1:])
