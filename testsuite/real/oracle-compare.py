# SPDX-License-Identifier: GPL-2.0-or-later
# oracle-compare.py - does "hotvar sym" agree with what oracle-gdb.py wrote of a program?
#
#   oracle-compare.py HOTVAR PROGRAM ORACLE-FILE [PATTERN]
#
# The first and the last byte of each scalar must have its path, as the name or among the other members of a
# union, and the first union member that fits must be the name; file and line must be gdb's.  Prints what disagrees, then "N variables, M
# members, B bytes, D disagreements".  Variables whose names do not match PATTERN are left out.
import json, re, subprocess, sys

hotvar, program, oracle = sys.argv[1:4]
pattern = re.compile(sys.argv[4]) if len(sys.argv) > 4 else None
variables = []
for line in open(oracle):
    f = line.rstrip("\n").split(" ")
    if f[0] == "V":
        variables.append({"addr": int(f[1], 16), "size": int(f[2]), "file": f[3], "line": int(f[4]),
                          "name": " ".join(f[5:]), "m": []})
    elif f[0] == "M":
        variables[-1]["m"].append((int(f[1]), int(f[2]), " ".join(f[5:])))
if pattern:
    variables = [v for v in variables if pattern.search(v["name"])]

asked, wanted = [], []
for v in variables:
    cover = {}
    for offset, size, path in v["m"]:
        for at in {offset, offset + max(size, 1) - 1}:
            if size:
                cover.setdefault(at, []).append(path)
    # a byte that one member ends in may be in the middle of others
    spans = sorted(v["m"])
    for at in cover:
        asked.append(v["addr"] + at)
        wanted.append((v, at, cover[at]))

answers = {}
p = subprocess.run([hotvar, "sym", "-q", "--json", "--no-demangle", "-e", program], check=True, text=True, capture_output=True,
                   input="".join("%x\n" % a for a in asked))
lines = [json.loads(l) for l in p.stdout.splitlines()]
lines = [l for l in lines if l["type"] == "sym"]
assert len(lines) == len(asked), (len(lines), len(asked))

bad = 0
def wrong(what, v, at, *rest):
    global bad
    bad += 1
    if bad <= 20:
        print("%s: %s+%d (%x):" % (what, v["name"], at, v["addr"] + at), *rest)

inside = {}
for (v, at, paths), a in zip(wanted, lines):
    symbol = a["symbol"]
    if symbol is None or a["offset"] != at:
        inside.setdefault(id(v), (v, symbol, a["offset"], at))
        wrong("symbol", v, at, "is", symbol, a["offset"], a["reason"])
        continue
    head = symbol if a["name"].startswith(symbol) else None
    if head is None:
        wrong("name", v, at, a["name"])
        continue
    # "counter@parser.c.field": the file is the symbol's, not the member's
    rest = a["name"][len(symbol):]
    if rest.startswith("@"):
        m = re.match(r"@[^\[]*?\.(?:c|cc|cpp|cxx|C|h|rs|l|y)(?=$|[.\[])", rest)
        symbol += m.group(0)
    have = [n[len(symbol):] for n in a.get("members", [a["name"]])]
    if a["name"][len(symbol):] != have[0]:
        wrong("first", v, at, a["name"], have)
    for path in paths:
        if path not in have:
            wrong("member", v, at, "is", have, "and not", path)
    decl = a["decl"]
    if v["line"] and (decl is None or not decl.endswith(":%d" % v["line"]) or
                      decl.rsplit(":", 1)[0].split("/")[-1] != v["file"].split("/")[-1]):
        wrong("decl", v, at, "is", decl, "and not", "%s:%d" % (v["file"], v["line"]))
print("%d variables, %d members, %d bytes, %d disagreements" % (
    len(variables), sum(len(v["m"]) for v in variables), len(asked), bad))
sys.exit(bad != 0 or not variables)
