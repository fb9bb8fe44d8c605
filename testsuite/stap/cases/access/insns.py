#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""insns.py - compares what the decoder said of instructions with what the processor did: see insns.h, insns.stp.

   insns.py FOLDER [AT-LEAST]

FOLDER/stdout is the program's, FOLDER/events the script's.  Prints what is wrong, then `R of N instructions`; exit status 0 if
all are right, and AT-LEAST there.

What is right: the address of each fault lies where an access was told to be (its first byte, unless that is in an open page
already), a write was told to be one, and nothing was told that did not fault.  That a fault of a read-modify-write was told to read, or write, first depends on the
processor.
"""
import sys


def main(folder, at_least="0"):
    tests, done = [], 0
    for line in open(folder + "/stdout"):
        f = line.split()
        if f[0] == "INSN":
            tests.append({"ip": int(f[1], 16), "name": f[2], "want": f[3] == "1", "faults": []})
        elif f[0] == "FAULT":
            assert tests[-1]["ip"] == int(f[1], 16)
            tests[-1]["faults"].append((int(f[2], 16), int(f[3], 16), f[4]))
        elif f[0] == "DONE":
            done = int(f[1], 16)
    said = {"ONE": [], "NEXT": []}
    for line in open(folder + "/events"):
        f = line.split()
        if f[0] not in said:
            continue
        ip, n = int(f[1], 16), int(f[2])
        at = int(f[3], 16) if f[0] == "NEXT" else ip
        rest = f[4 if f[0] == "NEXT" else 3:]
        said[f[0]].append((ip, n, at, [(int(a, 16), w) for a, w in zip(rest[::2], rest[1::2])]))
    # A test that calls the kernel itself is seen twice.
    ips = {t["ip"] for t in tests}
    for what in said:
        said[what] = [s for s in said[what] if s[0] in ips]
        assert [s[0] for s in said[what]] == [t["ip"] for t in tests], f"{what}: not the tests that were run"
    bad = good = 0

    def wrong(test, what, told, faults):
        """Why @told, accesses of one instruction, is not what it did."""
        # What saves much does not begin with its first byte.
        page, span = (1, 8192) if test["name"] in ("fxsave", "xsave", "fnsave", "fnstenv") else (4096, 512)
        for at, addr, w in faults:
            fits = [t for a, t in told if a == addr or addr % page == 0 and a < addr < a + span]
            if not fits:
                return f"{what}: faulted at {addr:#x}, which was not told"
            if w == "w" and not set(fits) & set("wb") or w == "r" and not set(fits) & set("rb"):
                return f"{what}: faulted in {w} at {addr:#x}, told {fits}"
        for a, t in told:
            of = [w for _, addr, w in faults if addr == a or addr % page == 0 and a < addr < a + span]
            # The page may have been opened for another access of the same instruction.
            if not of and not any(addr // page == a // page for _, addr, _ in faults):
                return f"{what}: told {a:#x} {t}, which did not fault"
            if of and ("w" in of) != (t in "wb"):
                return f"{what}: told {a:#x} {t}, faulted in {of}"
        return None

    for test, one, two in zip(tests, said["ONE"], said["NEXT"]):
        first = [f for f in test["faults"] if f[0] == test["ip"]]
        after = [f for f in test["faults"] if f[0] == (test["faults"][0][0] if test["faults"] else 0)]
        why = None
        if one[1] >= 0:
            why = wrong(test, "instruction", one[3], first)
        elif test["want"]:
            why = f"instruction: nothing was told: {one[1]}"
        if not why and two[1] > 0:
            if two[2] == done:
                why = test["faults"] and f"next: told what is behind, faulted at {test['faults'][0][0]:#x}"
            elif not after:
                why = f"next: told an access of {two[2]:#x}, nothing faulted"
            elif two[2] != after[0][0]:
                why = f"next: told an access of {two[2]:#x}, {after[0][0]:#x} faulted"
            else:
                why = wrong(test, "next", two[3], after)
        elif not why and test["want"]:
            why = f"next: nothing was told: {two[1]}"
        if not why and not test["want"] and (one[1] > 0 or two[1] > 0):
            why = "it was told, and was to be beyond what is known"
        if why:
            bad += 1
            print(f"{test['name']} at {test['ip']:#x}: {why}; {one[3]} {two[3]} {[(hex(f[0]), hex(f[1]), f[2]) for f in test['faults']]}")
        else:
            good += 1
    print(f"{good} of {len(tests)} instructions")
    return bool(bad or len(tests) < int(at_least))


sys.exit(main(*sys.argv[1:]))
