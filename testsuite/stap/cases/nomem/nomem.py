#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""nomem.py - compares the list that a script has printed, area by area, with /proc/self/maps at each checkpoint.

   nomem.py FOLDER    FOLDER/events is what the script printed, FOLDER/maps.PID what the programs wrote
"""
import sys

from maps import joined, read_maps


def main(folder):
    maps = {k: [(a[0], a[1], a[6]) for a in joined(v)] for k, v in read_maps(folder).items()}
    got, counts = {}, {}
    for line in open(folder + "/events", errors="replace"):
        what, _, rest = line.rstrip("\n").partition(" ")
        if what == "CK":
            pid, n, count = map(int, rest.split())
            counts[pid, n] = count
        elif what == "AREA":
            pid, n, start, end, path = (rest + " ").split(" ", 4)
            got.setdefault((int(pid), int(n)), []).append((int(start, 16), int(end, 16), path.strip()))
    equal = 0
    for key, want in sorted(maps.items()):
        have, count = got.get(key, []), counts.get(key)
        if have == want and count == len(want):
            equal += 1
            continue
        print(f"checkpoint {key}: {len(have)} areas, vma_count() {count}, maps has {len(want)}")
        for name, one, other in (("missing", want, have), ("extra", have, want)):
            for a in sorted(set(one) - set(other))[:5]:
                print("  %s %x-%x %s" % (name, *a))
    print(f"{equal} of {len(maps)} checkpoints")
    return not maps or equal != len(maps)


sys.exit(main(sys.argv[1]))
