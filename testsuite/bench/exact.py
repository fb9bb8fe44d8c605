#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# exact.py - CPU time and memory under hotvar --exact against the same program alone and under valgrind's own tools.
#
# Five programs that only compute, in interleaved rounds; the least of each counts.  lackey's trace of every access takes
# so long that its time is that of a little more work, by the unit of work.  ROUNDS=N, EXACT_ONLY="hot_scan" do less or more.
import os
import resource
import statistics
import subprocess
import sys
import time

# How much work takes some tenths of a second natively, and two amounts for lackey.
PROGRAMS = [("hot_scan", 800, 1, 3), ("hot_list", 200, 1, 2), ("hot_btree", 700, 1, 3), ("hot_hash", 3000, 1, 20), ("hot_lru", 3000, 1, 20)]
ROUNDS = int(os.environ.get("ROUNDS", "3"))
ONLY = os.environ.get("EXACT_ONLY", "").split()
MB = 1 << 20


def cpu(argv):
    """Seconds of CPU time of @argv and all it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def used(pid):
    """What @pid has in memory, a page that several have in parts, in bytes; 0: it has ended."""
    try:
        with open("/proc/%d/smaps_rollup" % pid) as f:
            for line in f:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def memory(argv):
    """The most memory that @argv's processes had at one time, as far as looks find it."""
    most = 0
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while p.poll() is None:
        pids = [p.pid]
        try:
            with open("/proc/%d/task/%d/children" % (p.pid, p.pid)) as f:
                pids += [int(x) for x in f.read().split()]
        except OSError:
            pass
        most = max(most, sum(used(pid) for pid in pids))
        time.sleep(0.005)
    return most


def main(hotvar, programs):
    ways = {
        "native": [],
        "hotvar": [hotvar, "--exact", "-q", "-o", "/dev/null", "--"],
        "callers": [hotvar, "--exact", "--callers", "-q", "-o", "/dev/null", "--"],
        "none": ["valgrind", "--tool=none", "-q"],
        "dhat": ["valgrind", "--tool=dhat", "--dhat-out-file=/dev/null", "-q"],
        "callgrind": ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "-q"],
    }
    lackey = ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=/dev/null"]
    ratios = {way: [] for way in ways}
    slower, sizes, callers = [], [], []
    for name, work, little, more in PROGRAMS:
        if ONLY and name not in ONLY:
            continue
        program = os.path.join(programs, name)
        best = {way: 1e9 for way in ways}
        for _ in range(ROUNDS):
            for way, argv in ways.items():
                best[way] = min(best[way], cpu(argv + [program, str(work)]))
        start = cpu(ways["hotvar"] + [program, str(little)])
        trace = (cpu(lackey + [program, str(more)]) - cpu(lackey + [program, str(little)])) / (more - little)
        slower.append(trace / max((best["hotvar"] - start) / (work - little), 1e-9))
        native, under = memory([program, str(work)]), memory(ways["hotvar"] + [program, str(work)])
        sizes.append(max(under - 100 * MB, 0) / native)
        callers.append(best["callers"] / best["native"])
        print("# %s %d: %s; lackey %.0f times; memory %.1f MB, %.1f MB" % (
            name, work, ", ".join("%s %.2f s" % x for x in best.items()), slower[-1], native / MB, under / MB), flush=True)
        for way in ways:
            ratios[way].append(best["hotvar"] / best[way])
    for way, goal in ("native", 10), ("none", 2), ("callgrind", 1), ("dhat", 1):
        print("bench exact-against-%s ratio %.2f goal <= %g" % (way, statistics.median(ratios[way]), goal))
    print("bench exact-callers-against-native ratio %.2f goal <= 15" % statistics.median(callers))
    print("bench exact-lackey-trace-mem-against ratio %.0f goal >= 200" % statistics.median(slower))
    print("bench exact-memory-less-100-MB-against-native ratio %.2f goal <= 2.5" % max(sizes))


main(*sys.argv[1:])
