#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pages.py - compares what the tapset's functions said of pages with what the program pages.c says is right.

   pages.py FOLDER FUNCTIONS

FOLDER/stdout is the program's, FOLDER/events the script's; FUNCTIONS are those that the script calls.

Prints what is wrong and `RIGHT of ALL pages`; exit status 0 if all are right.
"""
import sys


def main(folder, functions):
    functions = set(functions.split())
    said, wants, relations, bad, marks = {}, [], [], {}, None
    for name in ("stdout", "events"):
        for line in open(f"{folder}/{name}", errors="replace"):
            what, *rest = line.rstrip("\n").split(" ")
            if what == "FN":
                tag, function, value = rest
                if (tag, function) in said:
                    bad.setdefault(tag, []).append(f"{function}: said twice")
                said[tag, function] = value
            elif what == "WANT":
                wants.append(rest)
            elif what in ("SAME", "DIFFER"):
                relations.append((what, *rest))
            elif what == "MARKS":
                marks = int(rest[0])
    tested = set()
    for tag, function, value in wants:
        if function not in functions:
            continue
        tested.add(function)
        got = said.get((tag, function))
        if got != value:
            bad.setdefault(tag, []).append(f"{function}: said {got}, right is {value}")
    for what, function, a, b in relations:
        if function not in functions:
            continue
        tested.add(function)
        one, other = said.get((a, function)), said.get((b, function))
        if not one or not other or (one == other) != (what == "SAME"):
            bad.setdefault(b, []).append(f"{function} of {a} and {b}: said {one} and {other}, right is {what}")
    for tag in sorted(bad, key=int):
        for why in bad[tag]:
            print(f"page {tag}: {why}")
    for function in sorted(functions - tested):
        print(f"{function}: no page of pages.c tests it")
    print(f"{(marks or 0) - len(bad)} of {marks} pages")
    return not (not bad and functions == tested and functions and marks and marks > 60)


sys.exit(main(*sys.argv[1:]))
