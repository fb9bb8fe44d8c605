#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# sampling.py - what sampling at the usual settings costs: sampling.py HOTVAR PROGRAMS-FOLDER ACCURACY-FOLDER BUILD-FOLDER
#
# slowdown  CPU time of a program with hotvar / alone, by the program's own account: pairs in turns, the median of their
#           ratios; of the programs of the accuracy suite the median
# own       CPU time of hotvar, report and all, for one more second of the program's, from a short and a long run; median
# once      ms of CPU time for what does not depend on how long the program runs
# threads   samples lost, and threads not seen, of 1,000 that are busy at the same time
#
# PAIRS=N and ONLY="lu scan" do less or more.
import json
import os
import re
import resource
import statistics
import subprocess
import sys

PAIRS = int(os.environ.get("PAIRS", "4"))
ONLY = os.environ.get("ONLY", "").split()
SHORT = 6  # the short runs do one part in so many


def first_lines(path, word):
    with open(path) as f:
        for _ in range(5):
            m = re.search(r"/\* hotvar-%s: *(.*\S) *\*/" % word, f.readline())
            if m:
                return m.group(1).split()
    return None


def usual_amount(source):
    with open(source) as f:
        return int(re.search(r"work_amount\(argc, argv, (\d+)\)", f.read()).group(1))


class Costs:
    def __init__(self, hotvar, folder):
        self.sampled = [hotvar, "-q", "-o", "/dev/null", "--"]
        self.file = os.path.join(folder, "cpu")

    def run(self, argv):
        """CPU seconds of the program, and of all else"""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, ACCURACY_CPU=self.file))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(self.file) as f:
            cpu = float(f.read())
        return cpu, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - cpu

    def of(self, program, amount):
        short, ratios, owns = [program, str(max(amount // SHORT, 1))], [], []
        for i in range(PAIRS):
            pair = {}
            for how in ("alone", "sampled") if i % 2 else ("sampled", "alone"):
                pair[how] = self.run((self.sampled if how == "sampled" else []) + short)
            ratios.append(pair["sampled"][0] / pair["alone"][0])
            owns.append(pair["sampled"])
        cpu, own = (statistics.median(o[k] for o in owns) for k in (0, 1))
        outside = self.run(short)[1]  # what comes before and after its own account
        longer = self.run(self.sampled + [program, str(amount)])
        rate = (longer[1] - own) / (longer[0] - cpu)
        return statistics.median(ratios), rate, 1000 * (own - outside - cpu * rate)


def main(hotvar, programs, accuracy, build):
    costs, slow, own, once = Costs(hotvar, build), [], [], []
    for file in sorted(os.listdir(accuracy)):
        name, source = file[:-2], os.path.join(accuracy, file)
        if not file.endswith(".c") or (ONLY and name not in ONLY):
            continue
        program = os.path.join(build, name)
        subprocess.run([os.environ.get("CC") or "gcc", "-pthread"] + (first_lines(source, "cflags") or ["-O2", "-g"]) +
                       ["-o", program, source] + (first_lines(source, "libs") or []), check=True)
        s, o, f = costs.of(program, usual_amount(source))
        print("# %-10s slowdown %.3f, own %.4f, once %.1f ms" % (name, s, o, f), flush=True)
        slow.append(s)
        own.append(o)
        once.append(f)
    print("bench sampling-slowdown ratio %.3f goal <= 1.025" % statistics.median(slow))
    print("bench sampling-own-of-a-core ratio %.4f goal <= 0.01" % statistics.median(own))
    print("bench sampling-once-ms ratio %.1f goal <= 50" % statistics.median(once))
    report = os.path.join(build, "threads.json")
    subprocess.run([hotvar, "--json", "-q", "-o", report, "--", os.path.join(programs, "spin_threads"), "1000", "20"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(report) as f:
        rows = [json.loads(line) for line in f]
    seen = max(r["threads"] for r in rows if r["type"] == "variable" and r["symbol"] == "spun")
    print("bench sampling-lost-of-1000-threads ratio %d goal <= 0" % rows[-1]["lost"])
    print("bench sampling-threads-not-seen-of-1000 ratio %d goal <= 0" % (1000 - seen))


main(*sys.argv[1:])
