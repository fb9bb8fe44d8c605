#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# exact.py - how many of the accesses in a report of "hotvar --exact --json --limit 0" went to something with a name: exact.py REPORT
#
# A name is a variable, static or thread-local; the place where a heap object or mapping was made; a local variable or
# what else is known to be in a function's frame; a constant or other data by its section.  The rest is listed.
import collections
import json
import sys

SECTIONS = ("rodata", "relro", "data", "bss", "text")


def named(r):
    if r["symbol"] or r["name"].startswith(("heap:", "mmap:")):
        return True
    if r["kind"] == "stack":
        return bool(r.get("function")) and not r["name"].endswith(":[stack]")
    return (r["kind"] in SECTIONS and ":." in r["name"]) or r["kind"] in ("vdso", "vvar")


rows = [json.loads(line) for line in open(sys.argv[1])]
total = rows[-1]["accesses"]
rows = [r for r in rows if r["type"] == "variable"]
good, rest, kinds = 0, collections.Counter(), collections.Counter()
for r in rows:
    if named(r):
        good += r["accesses"]
        kinds[r["kind"]] += r["accesses"]
    else:
        rest[r["name"], r["reason"]] += r["accesses"]
assert sum(r["accesses"] for r in rows) == total and total
print("# %d accesses, %.3f %% to something with a name: %s" % (total, 100 * good / total, ", ".join(
    "%s %.1f" % (k, 100 * n / total) for k, n in kinds.most_common())))
for (name, reason), n in rest.most_common(5):
    print("# without: %s (%s) %.3f %%" % (name, reason, 100 * n / total))
sys.exit(good < 0.99 * total)
