#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# sampling.py - what sampling at the usual settings costs: sampling.py HOTVAR PROGRAMS-FOLDER ACCURACY-FOLDER BUILD-FOLDER
#
# seen      what is missing of a program's time as it sees it itself, by gaps in its clock (stolen.c), with hotvar / alone: turns,
#           the median of their ratios.  Where a CPU shares a core with strangers, CPU times of one program differ by half, and
#           this does not
# slowdown  CPU time of a program with hotvar / alone, by the program's own account: pairs, the two of each at the same time in turns
#           on one CPU (accuracy/beside.py), the median of their ratios; of the programs of the accuracy suite the median
# own       CPU time of hotvar, report and all, for one more second of the program's, from a short and a long run; median
# once      ms of CPU time for what does not depend on how long the program runs
# threads   samples lost, and threads not seen, of 1,000 that are busy at the same time
#
# PAIRS=N, RUNS=N (for own and once) and ONLY="lu scan" do less or more, TURNS=N likewise for what is seen.
import json
import os
import re
import resource
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accuracy"))
import beside  # noqa: E402

PAIRS = int(os.environ.get("PAIRS", "2"))
RUNS = int(os.environ.get("RUNS", "4"))
TURNS = int(os.environ.get("TURNS", "20"))
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
        self.sampler = [hotvar, "-q", "-o", "/dev/null"]
        self.sampled = self.sampler + ["--"]
        self.folder = folder
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
        short = [program, str(max(amount // SHORT, 1))]
        ratios = beside.ratios([program, str(amount)], self.sampler, self.folder, PAIRS)
        owns = [self.run(self.sampled + short) for _ in range(RUNS)]
        cpu, own = (statistics.median(o[k] for o in owns) for k in (0, 1))
        outside = self.run(short)[1]  # what comes before and after its own account
        longer = self.run(self.sampled + [program, str(amount)])
        rate = (longer[1] - own) / (longer[0] - cpu)
        return ratios, rate, 1000 * (own - outside - cpu * rate)


def quartiles(values):
    return "%.3f to %.3f" % (statistics.quantiles(values)[0], statistics.quantiles(values)[2])


def seen(hotvar, program):
    """By its clock, and, beside it, by CPU time for as many steps"""
    how, got = {"alone": [], "sampled": [hotvar, "-q", "-o", "/dev/null", "--"]}, {"alone": [], "sampled": []}
    for i in range(max(TURNS, 2)):
        for h in sorted(how, reverse=i % 2 == 1):
            said = subprocess.run(how[h] + [program, "0.7"], check=True, stdout=subprocess.PIPE).stdout.split()
            got[h].append((1 - float(said[0]), float(said[3]) / int(said[2])))
    pairs = list(zip(got["alone"], got["sampled"]))
    clock, cpu = [a[0] / s[0] for a, s in pairs], [s[1] / a[1] for a, s in pairs]
    print("bench sampling-slowdown-seen ratio %.4f goal <= 1.025" % statistics.median(clock))
    print("# of the program's time %.4f is missing, alone %.4f; half of the pairs %s; by CPU time for as much work %.3f, half of the pairs %s" % (
        1 - statistics.median(s[0] for s in got["sampled"]), 1 - statistics.median(a[0] for a in got["alone"]), quartiles(clock),
        statistics.median(cpu), quartiles(cpu)), flush=True)


def main(hotvar, programs, accuracy, build):
    costs, slow, pairs, own, once = Costs(hotvar, build), [], [], [], []
    seen(hotvar, os.path.join(programs, "stolen"))
    for file in sorted(os.listdir(accuracy)):
        name, source = file[:-2], os.path.join(accuracy, file)
        if not file.endswith(".c") or (ONLY and name not in ONLY):
            continue
        program = os.path.join(build, name)
        subprocess.run([os.environ.get("CC") or "gcc", "-pthread"] + (first_lines(source, "cflags") or ["-O2", "-g"]) +
                       ["-o", program, source] + (first_lines(source, "libs") or []), check=True)
        s, o, f = costs.of(program, usual_amount(source))
        print("# %-10s slowdown %s, own %.4f, once %.1f ms" % (name, " ".join("%.3f" % x for x in s) or "?", o, f), flush=True)
        slow += [statistics.median(s)] if s else []
        pairs += s
        own.append(o)
        once.append(f)
    if slow:
        print("bench sampling-slowdown ratio %.3f goal <= 1.025" % statistics.median(slow))
    print("# of %d pairs%s" % (len(pairs), ", half " + quartiles(pairs) if len(pairs) > 1 else ""))
    print("bench sampling-own-of-a-core ratio %.4f goal <= 0.01" % statistics.median(own))
    print("bench sampling-once-ms ratio %.1f goal <= 50" % statistics.median(once))
    report = os.path.join(build, "threads.json")
    subprocess.run([hotvar, "--json", "-q", "-o", report, "--", os.path.join(programs, "spin_threads"), "1000", "20"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(report) as f:
        rows = [json.loads(line) for line in f]
    threads = max(r["threads"] for r in rows if r["type"] == "variable" and r["symbol"] == "spun")
    print("bench sampling-lost-of-1000-threads ratio %d goal <= 0" % rows[-1]["lost"])
    print("bench sampling-threads-not-seen-of-1000 ratio %d goal <= 0" % (1000 - threads))


main(*sys.argv[1:])
