#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile.py - are the samples of hostile.c's own code what that can access?

   hostile.py FOLDER

Prints what is wrong, then `R of N samples`; exit status 0 if all are right, and there are some.
"""
import sys


def main(folder):
    jit, pid = [], None
    for line in open(folder + "/stdout"):
        f = line.split()
        if f[0] == "JIT":
            jit.append([int(x, 16) for x in f[1:]])
    total = good = everything = faults = 0
    for line in open(folder + "/events", errors="replace"):
        f = line.split()
        if f[0] == "FAULTS":
            faults += int(f[5])
        if f[0] == "COUNT":
            print("samples, without an address, faults that were not told:", *f[1:])
        if f[0] != "AC":
            continue
        everything += 1
        pid = pid or f[1]
        addr, ip = int(f[2], 16), int(f[5], 16)
        for start, end, lo, hi in jit:
            if start <= ip < end:
                total += 1
                # The return reads the stack, which is far above.
                good += lo <= addr < hi or f[3] == "0" and addr > hi
                if not lo <= addr < hi and (f[3] != "0" or addr <= hi):
                    print(line.strip())
    print(f"{everything} accesses, {faults} faults")
    print(f"{good} of {total} samples")
    return not (good == total and total > 0 and faults > 0)


sys.exit(main(*sys.argv[1:]))
