#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# heap.py - CPU time and memory of programs that do nothing but allocate, under hotvar --exact, and under valgrind's tools.
#
# Interleaved rounds; the least of each counts.  Memory is the most that any process had, the counters included.
import os
import subprocess
import sys

ROUNDS = int(os.environ.get("ROUNDS", "3"))
CASES = [("churn", 300000), ("live", 500000)]


def run(argv):
    """Seconds of CPU time of @argv and all it starts, and the megabytes of the largest of them."""
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = status
    assert status == 0, argv
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(hotvar, program):
    ways = {
        "native": [],
        "hotvar": [hotvar, "--exact", "-q", "-o", "/dev/null", "--"],
        "dhat": ["valgrind", "--tool=dhat", "--dhat-out-file=/dev/null", "-q"],
        "callgrind": ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "-q"],
    }
    for name, n in CASES:
        best = {way: (1e9, 1e9) for way in ways}
        for _ in range(ROUNDS):
            for way, argv in ways.items():
                seconds, size = run(argv + [program, name, str(n)])
                best[way] = min(best[way][0], seconds), min(best[way][1], size)
        print("# %s %d: %s" % (name, n, ", ".join("%s %.2f s %.0f MB" % (w, *v) for w, v in best.items())), flush=True)
        for way, goal in ("dhat", 1), ("callgrind", 1):
            print("bench exact-heap-%s-against-%s ratio %.2f goal <= %g" % (name, way, best["hotvar"][0] / best[way][0], goal))
        most = 2.5 * best["native"][1] + 100
        print("bench exact-heap-%s-memory ratio %.2f goal <= 1" % (name, best["hotvar"][1] / most))


main(*sys.argv[1:])
