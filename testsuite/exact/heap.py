#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# heap.py - rows of objects of the heap against what the program says it did with them.
#
#   heap.py EXPECTED REPORT [PARTS]
#
# EXPECTED is what programs/heap_objects has printed, REPORT what "hotvar --exact --json" has, PARTS the same --by member.
import json
import sys

KEYS = ("reads", "writes", "objects_total", "bytes_total", "objects_live", "bytes_live", "never_read", "never_written", "threads")


def rows_of(path):
    rows = {}
    for line in open(path):
        r = json.loads(line)
        if r["type"] != "variable" or not r["name"].startswith(("heap:", "mmap:")):
            continue
        if r["name"] in rows:
            print("two rows of the name", r["name"])
            sys.exit(1)
        rows[r["name"]] = r
    return rows


def main(expected, report, parts=None):
    rows, by_part = rows_of(report), rows_of(parts) if parts else None
    bad = done = 0
    for line in open(expected):
        word = line.split()
        if word[0] == "failed:":
            print(line, end="")
            bad += 1
        elif word[0] == "offset" and parts:
            r = by_part.get(word[1], {})
            got, want = [r.get("reads"), r.get("writes")], [int(n) for n in word[2:]]
            done += 1
            if got != want:
                print("%s: reads and writes are %s, not %s" % (word[1], got, want))
                bad += 1
        elif word[0].startswith(("heap:", "mmap:")):
            r = rows.get(word[0], {})
            done += 1
            for key, want in zip(KEYS, (int(n) for n in word[1:])):
                if want != -1 and r.get(key) != want:
                    print("%s: %s is %s, not %d" % (word[0], key, r.get(key), want))
                    bad += 1
            if r and parts:
                of_parts = [p for p in by_part.values() if p["name"].split("+0x")[0] == word[0]]
                for key in ("reads", "writes"):
                    if sum(p[key] for p in of_parts) != r[key]:
                        print("%s: %s of its parts are not its own" % (word[0], key))
                        bad += 1
    if not done:
        print("nothing was expected")
    return bad != 0 or not done


sys.exit(main(*sys.argv[1:]))
