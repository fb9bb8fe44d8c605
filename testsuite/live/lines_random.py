# SPDX-License-Identifier: GPL-2.0-or-later
"""lines_random.py REPORT SAID: is each line of line_random as the program says it is?  Prints how many are, and what is not."""
import json
import sys

rows = {}
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["type"] == "line":
        rows[int(r["addr"], 16)] = r
said = [line.split() for line in open(sys.argv[2])]
right = wrong = 0
for what, addr, *numbers in said:
    r = rows.get(int(addr, 16))
    if what == "line":
        want = [int(x) for x in numbers]
        if want[1] < 2:  # never back and forth
            right += 1
            if r:
                print("a line that is no row", r)
            continue
        if not r:
            print("missing", addr, want)
            wrong += 1
            continue
        got = [r[k] for k in ("handovers", "returns", "most_true", "most_false")]
        whole = want[2] + want[3]
        most, possible = got[2] + got[3], want.pop()
        if got[:2] != want[:2] or not min(whole, possible) <= most <= possible:
            print(addr, got, want, possible)
            wrong += 1
            continue
        if r["unseen"]:  # so little that what was not seen counts: what of that is true the program does not say
            if whole >= 100:
                print("unseen", addr, got, want)
                wrong += 1
            continue
        if abs(got[2] * whole - want[2] * most) > whole:  # as large a part
            print(addr, got, want)
            wrong += 1
            continue
        sharing = "true" if want[3] < whole // 10 + 1 else "false" if want[2] < whole // 10 + 1 else "both"
        if r["sharing"] != sharing:
            print(addr, r["sharing"], sharing)
            wrong += 1
        else:
            right += 1
        continue
    else:
        if not r:
            continue
        want = [int(x, 0) for x in numbers]
        got = [want[0], 0, 0, 0, 0]
        for v in r["variables"]:
            for t in v["threads"]:
                if t["tid"] == want[0]:
                    got[1] += t["reads"]
                    got[2] += t["writes"]
                    got[3] |= int(t["read_bytes"], 16)
                    got[4] |= int(t["written_bytes"], 16)
    if got != want:
        print(what, addr, "is", got, "should be", want)
        wrong += 1
    else:
        right += 1
print(right > 15, wrong)
