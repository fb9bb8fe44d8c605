#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""names.py - compares what the tapset's functions said with what the program names.c, and nm, say is right.

   names.py FOLDER FUNCTIONS FILES

FOLDER/stdout is the program's, FOLDER/events the script's; FUNCTIONS a list of all there are; FILES the folder with the ELF files.

Prints `FUNCTIONS of ALL functions, ADDRESSES of ALL addresses` and what is wrong; exit status 0 if all are right.
"""
import os
import re
import subprocess
import sys

from collections import defaultdict

sys.path.append(os.environ["top_srcdir"] + "/testsuite/stap")
from maps import joined, read_maps  # noqa: E402


def symbols(path):
    """(start, end, name) of all that nm knows with a size, and {address: names} of labels."""
    sized, labels = [], defaultdict(set)
    for line in subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout.splitlines():
        f = line.split()
        if len(f) == 4 and int(f[1], 16):
            sized.append((int(f[0], 16), int(f[0], 16) + int(f[1], 16), f[3]))
        elif f[-2] != "U" and len(f) >= 3:
            labels[int(f[0], 16)].add(f[-1])
    return sized, labels


def main(folder, functions, files):
    functions = set(functions.split())
    said, wants, relations, counts, walks = defaultdict(list), [], [], [], []
    marks = named = good = 0
    bad = []
    lines = []
    for name in ("stdout", "events"):
        lines += open(f"{folder}/{name}", errors="replace").read().splitlines()
    for line in lines:
        what, _, rest = line.partition(" ")
        if what == "FN":
            tag, function, value = rest.split(" ", 2)
            said[tag, function].append(value)
        elif what == "WANT":
            wants.append(rest.split(" ", 2))
        elif what in ("SAME", "DIFFER"):
            relations.append((what, *rest.split(" ")))
        elif what == "COUNT":
            counts.append(rest.split(" "))
        elif what == "WALK":
            name, *at = rest.split(" ")
            *at, count = (int(x, 16) for x in at)
            marks += count
            walks.append((name, *at, *symbols(files + "/" + name)))
        elif what == "NM":
            at, name = rest.split(" ", 1)
            at = int(at, 16)
            module, bias, _, _, sized, labels = next(w for w in walks if w[2] <= at < w[3])
            vaddr = at - bias
            right = {n for start, end, n in sized if start <= vaddr < end} or labels.get(vaddr, set())
            named += 1
            if name.split("@")[0] in right or not right and re.match(re.escape(module) + r"(:[^+]+)?\+0x", name):
                good += 1
            elif len(bad) < 20:
                bad.append(f"{module} vaddr {vaddr:#x}: said {name}, nm: {' '.join(sorted(right)) or 'nothing'}")
    right, wrong = set(), set()

    def verdict(function, fine, why):
        (right if fine else wrong).add(function)
        if not fine:
            bad.append(f"{function}: {why}")

    for tag, function, *value in wants:
        value = value[0] if value else ""
        got = said.get((tag, function), [])
        if function in functions:
            verdict(function, got and all(g == value for g in got), f"of address {tag}: said {got}, right is {value!r}")
    for what, function, a, b in relations:
        if function in functions:
            got = [said.get((t, function)) for t in (a, b)]
            verdict(function, all(got) and all(g and g[0] for g in got) and (got[0] == got[1]) == (what == "SAME"),
                    f"of addresses {a} and {b}: {what} is right, said {got}")
    maps = read_maps(folder)
    for tag, pid, n in counts:
        got = said.get((tag, "vma_count"), [])
        want = len(joined(maps[int(pid), int(n)]))
        verdict("vma_count", got == [str(want)], f"said {got}, maps has {want}")
    for function in sorted(functions - right - wrong):
        bad.append(f"{function}: no address of names.c tests it")
    if named != marks:
        bad.append(f"{marks} addresses were marked, {named} named")
    for line in bad:
        print(line)
    print(f"{len(right - wrong)} of {len(functions)} functions, {good} of {marks} addresses")
    return not (not bad and good == named == marks and marks > 100)


sys.exit(main(*sys.argv[1:]))
