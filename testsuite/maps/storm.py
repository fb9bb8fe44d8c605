#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""storm.py - is every process and every library of a storm accounted for in the events of `hotvar maps --json`?

   storm.py [--late] [--mappings] EVENTS WHAT N [LIBRARY...]    WHAT and N as storm.c has them and printed them

Prints `SEEN of ALL, LOST lost, EVENTS events`; exit status 0 if each process was born and ended once, each exec told, each library
mapped and unmapped each time, and no memory is left; or if what is missing is no more than what is said to be lost.  --late:
the source only looks now and then, so that libraries may come and go unseen.  --mappings: it is told of each mapping, but only
looks for what is gone, so that one that was gone and mapped again may have stayed.
"""
import collections
import json
import sys

args = [a for a in sys.argv[1:] if a not in ("--late", "--mappings")]
late, mappings = "--late" in sys.argv, "--mappings" in sys.argv
events, what, n, libraries = args[0], args[1], int(args[2]), args[3:]
born, ended = collections.Counter(), collections.Counter()
maps, unmaps = collections.Counter(), collections.Counter()
execs = count = strange = 0
lost = None
alive = {}
for line in open(events, errors="surrogateescape"):
    e = json.loads(line)
    if e["type"] == "total":
        lost = sum(v for k, v in e.items() if k.startswith("lost_"))
    if e["type"] != "map":
        continue
    count += 1
    kind = e["event"]
    if kind == "fork" and e["child"] == e["child_pid"]:
        born[e["child"]] += 1
        strange += e["child"] in alive
        alive[e["child"]] = True
    elif kind == "exit" and e["tid"] == e["pid"]:
        ended[e["tid"]] += 1
        alive.pop(e["tid"], None)
    elif kind == "exec":
        execs += 1
        alive.setdefault(e["tid"], True)
    elif kind in ("map", "unmap") and e["path"] in libraries and e["pgoff"] == "0x0":
        (maps if kind == "map" else unmaps)[e["path"]] += 1
if what in ("loads", "bursts"):
    seen = min(sum(maps.values()), sum(maps.values() if mappings else unmaps.values()))
    missing = n - seen
else:
    seen = sum(born.values())
    missing = n - seen
    # The first program of all has an exec and an end, too, or was there before.
    missing += abs(sum(ended.values()) - seen - 1)
    if what == "execs":
        missing += abs(execs - 1 - (n - int(libraries[0])))
said = "not said what is" if lost is None else lost
print(f"{seen} of {n}, {said} lost, {count} events, {execs} execs, {len(alive)} left")
sys.exit(not (lost is not None and not strange and missing <= lost and len(alive) <= lost or (late and not strange)))
