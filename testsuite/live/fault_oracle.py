#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fault_oracle.py SAID REPORT [user]: what a program says of its first touches, against hotvar's JSON by member and process.

SAID has lines NAME PID MEMBER FAULTS READS WRITES BY-KERNEL.  "user": faults inside system calls are not seen.
What differs is printed: exit status 1.
"""
import collections
import json
import sys


def main():
    user = len(sys.argv) > 3
    said = collections.Counter()
    names = set()
    with open(sys.argv[1]) as f:
        for line in f:
            name, pid, member, *numbers = line.split()
            names.add(name)
            numbers = [int(n) for n in numbers]
            if user and numbers[3]:
                continue
            for i, n in enumerate(numbers):
                said[name, int(pid), member, i] += n
    told = collections.Counter()
    bad = 0
    with open(sys.argv[2]) as f:
        for line in f:
            row = json.loads(line)
            if row["type"] == "total" and (row["lost"] or row["lost_by"]):
                print("something was lost:", line)
                bad = 1
            if row["type"] != "variable":
                continue
            if row["accesses"] != row["reads"] + row["writes"] + row["fetches"] + row["untold"]:
                print("not the sum of its kinds:", line)
                bad = 1
            if row["symbol"] not in names and row["symbol"] != "untouched_area":
                continue
            for i, k in enumerate(("accesses", "reads", "writes", "by_kernel")):
                told[row["symbol"], row["pid"], row["member"], i] += row[k]
    for key in sorted(set(said) | set(told), key=str):
        if said[key] != told[key]:
            name, pid, member, i = key
            print(f"{name}{member} of {pid}, number {i}: the program says {said[key]}, hotvar {told[key]}")
            bad = 1
    sys.exit(bad or not said)


main()
