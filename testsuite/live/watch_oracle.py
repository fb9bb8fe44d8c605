#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""watch_oracle.py SAID REPORT NAME...: what a program says of its own accesses, against hotvar's JSON.

SAID has lines NAME TID FUNCTION ACCESSES READS WRITES; both are summed up by name, thread and function.  What is in one
and not in the other, or differs, is printed: exit status 1.  Sums of each line are looked at, too.
"""
import collections
import json
import sys


def main():
    said = collections.Counter()
    with open(sys.argv[1]) as f:
        for line in f:
            name, tid, function, *numbers = line.split()
            if name in sys.argv[3:]:
                for i, n in enumerate(numbers):
                    said[name, int(tid), function, i] += int(n)
    told = collections.Counter()
    bad = 0
    keys = ("accesses", "reads", "writes", "untold")
    total = collections.Counter()
    with open(sys.argv[2]) as f:
        for line in f:
            row = json.loads(line)
            if row["type"] == "total":
                if any(row[k] != total[k] for k in keys) or row["lost"] or row["lost_by"]:
                    print("total is not the sum, or something was lost:", line)
                    bad = 1
            if row["type"] != "watched" or row["address"] is None:
                continue
            for k in keys:
                total[k] += row[k]
                if row[k] != sum(t[k] for t in row["threads"]) or row[k] != sum(s[k] for s in row["sites"]):
                    print(k, "of threads or sites is not the sum:", line)
                    bad = 1
            for site in row["sites"]:
                for t in site["threads"]:
                    for i, k in enumerate(keys):
                        told[row["name"], t["tid"], site["function"], i] += t[k]
    for key in sorted(set(said) | set(told), key=str):
        if said[key] != told[key]:
            name, tid, function, i = key
            print(f"{name} by {tid} in {function}: {keys[i]}: the program says {said[key]}, hotvar {told[key]}")
            bad = 1
    sys.exit(bad or not said)


main()
