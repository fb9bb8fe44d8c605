#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# accuracy.py - what hotvar's samples say of each variable, against a count of every access.
#
#   accuracy.py --hotvar HOTVAR [--half tuning|held-out|all] [--only NAME,...] [--folder DIR] ...
#
# Each program of programs/ is built, run once by "hotvar --exact" (its report is kept in the folder of --keep, by what
# the program and its amount of work are) and --runs times by samples at the usual settings.  Of each run:
#
#   error     the largest difference of a share, in points, over the eight variables with most accesses
#   bad       the largest such difference whose interval does not hold the exact share
#   held      variables (0.5 points or more on either side) whose 95 % interval holds the exact share, to 0.05 points
#   top 5     how many of the five with most accesses are among the five that samples say; equal to 0.1 points is equal
#   slowdown  CPU time of the program with hotvar / without: --pairs pairs, the two of each at the same time in turns on one CPU
#             (beside.py), their median
#   said      what measuring took of the program's time as the report estimates it: walks too, whose CPU time is not the program's
#   own       CPU time of hotvar itself / of the program
#
# The programs named in held-out are no part of what the estimator is tuned on: their single numbers are not shown
# unless --show-held-out is given, so that nobody looks by mistake.
import argparse
import hashlib
import json
import os
import re
import resource
import statistics
import subprocess
import sys

import beside

HERE = os.path.dirname(os.path.abspath(__file__))
TOP, WORTH, ROUNDING, EQUAL = 8, 0.005, 0.0005, 0.001
GOALS = {"mean error": 3.0, "worst bad error": 8.0, "held": 0.90, "top 5": 0.95, "slowdown": 1.025, "said": 1.025, "own": 0.01}


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--hotvar", required=True)
    p.add_argument("--build", default="accuracy-build", help="where the programs are built")
    p.add_argument("--keep", help="where exact reports are kept (as --build)")
    p.add_argument("--cc", default=os.environ.get("CC") or "gcc")
    p.add_argument("--half", choices=["tuning", "held-out", "all"], default="all")
    p.add_argument("--only", help="names of programs, with commas")
    p.add_argument("--folder", help="other programs, NAME.c with NAME.work beside it or in --work")
    p.add_argument("--work", default="", help="NAME=AMOUNT, with commas")
    p.add_argument("--runs", type=int, default=1)
    p.add_argument("--pairs", type=int, default=2, help="with hotvar and without, for the slowdown")
    p.add_argument("--options", default="", help="more options of hotvar's for the sampled runs")
    p.add_argument("--no-goals", action="store_true", help="measure only, whatever comes of it")
    p.add_argument("--goal", action="append", default=[], metavar="NAME=VALUE", help="another one")
    p.add_argument("--no-cost", action="store_true", help="do not measure the slowdown")
    p.add_argument("--show-held-out", action="store_true")
    p.add_argument("--rows", action="store_true", help="show each variable")
    p.add_argument("--json", help="write all that was measured to this file")
    return p.parse_args()


def first_lines(path, word):
    """What a program says of how it is built, as testsuite/programs do."""
    with open(path) as f:
        for _ in range(5):
            m = re.search(r"/\* hotvar-%s: *(.*\S) *\*/" % word, f.readline())
            if m:
                return m.group(1).split()
    return None


def build(a, source, name):
    out = os.path.abspath(os.path.join(a.build, name))
    folder, file = os.path.split(os.path.abspath(source))  # the same program from wherever it is built
    flags = first_lines(source, "cflags") or ["-O2", "-g"]
    subprocess.run([a.cc, "-pthread"] + flags + ["-o", out, file] + (first_lines(source, "libs") or []), check=True, cwd=folder)
    return out


def children():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def run(argv, cpu_file):
    """(output, CPU seconds of all, CPU seconds of the program or None)"""
    if os.path.exists(cpu_file):
        os.unlink(cpu_file)
    before = children()
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, ACCURACY_CPU=cpu_file))
    if p.returncode:
        raise RuntimeError("%s: exit status %d: %s" % (" ".join(argv), p.returncode, p.stderr.decode(errors="replace")[-400:]))
    own = float(open(cpu_file).read()) if os.path.exists(cpu_file) else None
    return p.stdout, children() - before, own


def read_report(path):
    """
    Rows by name; the insides of stack and heap, which sampling does not tell apart, are one row each.  What malloc has is one, by the
    break or mapped: valgrind lets the break grow by 8 MB at most (m_initimg-linux.c), and a program's malloc maps what comes then.
    """
    rows, total = {}, None
    for line in open(path):
        r = json.loads(line)
        if r["type"] == "total":
            total = r
        if r["type"] != "variable":
            continue
        key = "[stack]" if r["kind"] == "stack" else "[heap]" if r["kind"] in ("heap", "anon") else \
            "%s %s" % (os.path.basename(r["module"] or ""), r["name"])
        row = rows.setdefault(key, {"share": 0.0, "lo": 0.0, "hi": 0.0, "accesses": 0})
        row["share"] += r["share"]
        row["accesses"] += r["accesses"] or 0
        row["lo"] += r["ci"][0] if r["ci"] else r["share"]
        row["hi"] += r["ci"][1] if r["ci"] else r["share"]
    return rows, total


def exact_rows(a, program, work):
    # Valgrind's malloc in place of the program's would be other code, with variables of its own.
    how = ["--exact", "--exact-malloc=program"]
    h = hashlib.sha256(open(program, "rb").read() + work.encode() + how[1].encode()).hexdigest()[:20]
    kept = os.path.join(a.keep, "exact-%s-%s.json" % (os.path.basename(program), h))
    if not os.path.exists(kept):
        run([a.hotvar] + how + ["--json", "-o", kept + ".new", "--", program] + work.split(), kept + ".cpu")
        os.rename(kept + ".new", kept)
    return read_report(kept)


def compare(exact, sampled):
    by = lambda rows: sorted(rows, key=lambda k: -rows[k]["share"])
    none = {"share": 0.0, "lo": 0.0, "hi": 0.0}
    out = {"error": 0.0, "bad": 0.0, "held": 0, "of": 0, "rows": []}
    top = by(exact)[:TOP]
    for key in sorted(set(exact) | set(sampled), key=lambda k: -max(exact.get(k, none)["share"], sampled.get(k, none)["share"])):
        t, s = exact.get(key, none)["share"], sampled.get(key, none)
        error = abs(s["share"] - t) * 100
        held = s["lo"] - ROUNDING <= t <= s["hi"] + ROUNDING
        if key in top:
            out["error"] = max(out["error"], error)
            if not held:
                out["bad"] = max(out["bad"], error)
        if max(t, s["share"]) >= WORTH:
            out["of"] += 1
            out["held"] += held
            out["rows"].append((key, t, s["share"], s["lo"], s["hi"], held))
    fifth = sorted((r["share"] for r in exact.values()), reverse=True)[:5][-1]
    five = min(5, len(exact))
    out["top5"] = sum(exact.get(k, none)["share"] >= fifth - EQUAL for k in by(sampled)[:five]) / five
    return out


def measure(a, source, name, work):
    program = build(a, source, name)
    argv = [program] + work.split()
    exact, _ = exact_rows(a, program, work)
    cpu_file, report = os.path.join(a.build, name + ".cpu"), os.path.join(a.build, name + ".json")
    sampler = [a.hotvar, "--json", "-q", "-o", report] + a.options.split()
    own, said, found = [], [], []
    for _ in range(a.runs):
        _, cpu_all, cpu = run(sampler + ["--"] + argv, cpu_file)
        sampled, total = read_report(report)
        if total["lost"]:
            raise RuntimeError("%s: lost %d" % (name, total["lost"]))
        found.append(dict(compare(exact, sampled), samples=total["samples"]))
        said += [1 + total["slowdown"]] if total.get("slowdown") else []
        own += [(cpu_all - cpu) / cpu] if cpu else []
    slowdowns = beside.ratios(argv, sampler, a.build, 0 if a.no_cost else a.pairs)
    found.sort(key=lambda f: f["error"])
    middle = dict(found[len(found) // 2])
    middle.update(name=name, errors=[f["error"] for f in found], bad=max(f["bad"] for f in found),
                  held=sum(f["held"] for f in found), of=sum(f["of"] for f in found),
                  top5=statistics.mean(f["top5"] for f in found),
                  slowdowns=slowdowns, slowdown=statistics.median(slowdowns) if slowdowns else None,
                  said=statistics.median(said) if said else None, own=min(own) if own else None)
    return middle


def number(v, form):
    return form % v if v is not None else "?"


def show(a, m):
    print("# %-10s error %5.2f  bad %5.2f  held %d/%d  top 5 %.2f  slowdown %s  said %s  own %s  samples %d" % (
        m["name"], m["error"], m["bad"], m["held"], m["of"], m["top5"], number(m["slowdown"], "%.3f") + "".join(" (%.3f)" % s for s in m["slowdowns"]),
        number(m["said"], "%.3f"), number(m["own"], "%.3f"), m["samples"]))
    for key, t, s, lo, hi, held in m["rows"] if a.rows else []:
        print("#     %-36s exact %6.2f  sampled %6.2f  [%6.2f, %6.2f] %s" % (
            key, 100 * t, 100 * s, 100 * lo, 100 * hi, "" if held else "MISSED"))


def summary(half, all_of):
    known = lambda key: [m[key] for m in all_of if m[key] is not None]
    s = {"mean error": statistics.mean(m["error"] for m in all_of),
         "worst bad error": max(m["bad"] for m in all_of),
         "held": sum(m["held"] for m in all_of) / sum(m["of"] for m in all_of),
         "top 5": statistics.mean(m["top5"] for m in all_of)}
    s.update((key, statistics.median(known(key))) for key in ("slowdown", "said", "own") if known(key))
    print("# %s: %d programs, worst error %.2f, %s" % (
        half, len(all_of), max(m["error"] for m in all_of), ", ".join("%s %.3f" % x for x in s.items())))
    pairs = [r for m in all_of for r in m["slowdowns"]]
    if len(pairs) > 1:
        print("# %s: slowdowns of %d programs, %d pairs: half from %.3f to %.3f, all from %.3f to %.3f" % (
            (half, len(known("slowdown")), len(pairs)) + tuple(statistics.quantiles(pairs)[::2]) + (min(pairs), max(pairs))))
    return s


def main():
    a = arguments()
    a.keep = a.keep or a.build
    os.makedirs(a.build, exist_ok=True)
    os.makedirs(a.keep, exist_ok=True)
    with open(os.path.join(HERE, "held-out")) as f:
        held_out = {line.strip() for line in f if not line.startswith("#")}
    work = dict(w.split("=") for w in a.work.split(",") if w)
    goals = dict(GOALS, **{name: float(value) for name, value in (g.split("=") for g in a.goal)})
    folder = a.folder or os.path.join(HERE, "programs")
    names = sorted(f[:-2] for f in os.listdir(folder) if f.endswith(".c"))
    if a.only:
        names = [n for n in names if n in a.only.split(",")]
    halves, failed, tests = {"tuning": [], "held-out": []}, 0, 0
    for name in names:
        half = "held-out" if not a.folder and name in held_out else "tuning"
        if a.half not in ("all", half):
            continue
        tests += 1
        try:
            m = measure(a, os.path.join(folder, name + ".c"), name, work.get(name, ""))
        except (RuntimeError, subprocess.CalledProcessError, OSError) as e:
            failed += 1
            print("not ok %d - %s is measured\n# %s" % (tests, name, e), flush=True)
            continue
        halves[half].append(m)
        print("ok %d - %s is measured" % (tests, name))
        if half == "tuning" or a.show_held_out:
            show(a, m)
        sys.stdout.flush()
    said = {}
    for half, found in halves.items():
        if not found:
            continue
        said[half] = summary(half, found)
        for goal, value in said[half].items() if not a.no_goals else []:
            tests += 1
            good = value >= goals[goal] if goal in ("held", "top 5") else value <= goals[goal]
            failed += not good
            print("%sok %d - %s: %s is %.3f, goal %g" % ("" if good else "not ", tests, half, goal, value, goals[goal]))
    print("1..%d" % tests)
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"summary": said, "programs": halves}, f, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
