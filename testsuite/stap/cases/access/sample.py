#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sample.py - are the samples of sample.c (sample.stp) what its functions can access?

   sample.py FOLDER PID

FOLDER/stdout is the program's, FOLDER/events the script's; PID is a process that was not followed. Prints what is wrong, then
`R of N samples`; exit status 0 if all are right, and each function has some.
"""
import sys

from collections import Counter, defaultdict


def main(folder, stranger):
    arrays, code, stack, rep = {}, [], None, 0
    for line in open(folder + "/stdout"):
        f = line.split()
        if f[0] == "ARRAY":
            arrays[f[1]] = int(f[2], 16), int(f[3], 16)
        elif f[0] == "CODE":
            code.append((f[1], int(f[2], 16), int(f[3], 16), f[4], f[5]))
        elif f[0] == "STACK":
            stack = int(f[1], 16), int(f[2], 16)
        elif f[0] == "REP":
            rep = int(f[1], 16)
    samples, counts = defaultdict(list), None
    for line in open(folder + "/events"):
        f = line.split()
        if f[0] == "AC":
            assert f[1] != stranger, "a process was sampled that is not followed"
            samples[int(f[2])].append((int(f[3]), int(f[4], 16), f[5] == "1", f[6] == "1", int(f[7], 16), int(f[8]), int(f[9]), f[10]))
        elif f[0] == "COUNT":
            counts = list(map(int, f[1:]))

    def where(addr):
        for name, (start, end) in arrays.items():
            if start <= addr < end:
                return name
        return "stack" if stack[0] <= addr < stack[1] else "?"

    bad, seen, named = 0, Counter(), 0
    for number, accesses in sorted(samples.items()):
        ip, why = accesses[0][4], None
        if [a[0] for a in accesses] != list(range(accesses[0][6])):
            why = f"{accesses[0][6]} accesses, told {len(accesses)}"
        function = next((c for c in code if c[1] <= ip < c[2]), None)
        if function:
            seen[function[0]] += 1
            for _, addr, is_write, is_read, _, steps, _, name in accesses:
                at = where(addr)
                if is_read and at not in function[3] and at != "stack" or is_write and at not in function[4] and at != "stack":
                    why = f"{function[0]} does not access {at} so"
                if at != "stack" and name != at:
                    why = f"{at} was named {name}"
                if not 0 <= steps < 24 or not is_read and not is_write:
                    why = "no sense"
            if ip == rep and (len(accesses) != 2 or accesses[0][1] - arrays["src"][0] != accesses[1][1] - arrays["dst"][0] or
                              accesses[0][2] or not accesses[1][2]):
                why = "not what movs does"
        if why:
            bad += 1
            if bad < 20:
                print(f"sample {number}: {why}: {[(hex(a[1]), a[2:]) for a in accesses]}")
    for c in code:
        if not seen[c[0]]:
            bad += 1
            print(f"{c[0]} was never sampled")
    if not counts or counts[0] != len(samples) or not all(counts[:4]) or counts[4] - counts[5] != sum(counts[:4]):
        bad += 1
        print(f"counted {counts}, told {len(samples)}")
    print(f"{dict(seen)}, without an address {counts[5]} of {counts[4]}")
    print(f"{len(samples) - bad} of {len(samples)} samples")
    return bool(bad)


sys.exit(main(*sys.argv[1:]))
