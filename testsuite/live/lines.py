# SPDX-License-Identifier: GPL-2.0-or-later
"""lines.py REPORT SAID: shared cache lines of line_threads or line_processes, in words.

REPORT is JSON of --by cacheline, SAID what the program said of its threads or processes.  One line for each cache line
that the program's own data is on: its sharing; each part, with who wrote to it, by the names the program gives them, and
how often (exact) or whether (sampled).
"""
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
names = {}
for line in open(sys.argv[2]):
    word = line.split()
    if word[0] == "thread":
        names.setdefault(int(word[1]), word[2])
    elif word[0] == "process":
        names[int(word[1])] = "process"

assert rows[0]["type"] == "meta" and rows[0]["by"] == "cacheline", rows[0]
assert rows[-1]["type"] == "total" and rows[-1]["whole"], rows[-1]
exact = rows[0]["mode"] == "exact"
for r in rows[1:-1]:
    assert r["type"] == "line" and r["likely"] != exact and r["sharing"] in ("true", "false", "both"), r
    own = [v for v in r["variables"] if v["kind"] == "shm" or v["name"] in names.values() or
           v["name"].startswith(("library_hits", "heap:set@"))]
    if not own:
        continue
    parts = []
    for v in own:
        for t in v["threads"]:
            n = t["writes"] if exact else min(1, t["write_samples"])
            if n:
                parts.append("%s+%d by %s %d" % (v["name"], v["line_offset"], names[t["tid"]], n))
    print(r["sharing"], "of processes" if r["processes"] else "of threads", "; ".join(sorted(parts)))
