# SPDX-License-Identifier: GPL-2.0-or-later
# oracle-compare.py - does "hotvar sym" agree with what oracle-gdb.py wrote of a program?
#
#   oracle-compare.py HOTVAR PROGRAM ORACLE-FILE [PATTERN]
#
# The first and the last byte of each scalar must have its path, as the name or among the other members of a
# union, and the first union member that fits must be the name; file and line must be gdb's (with ORACLE_LTO set, the line).  Prints what disagrees, then "N variables, M
# members, B bytes, P of padding, D disagreements".  Variables whose names do not match PATTERN are left out.
import json, os, re, subprocess, sys

hotvar, program, oracle = sys.argv[1:4]
lto = os.environ.get("ORACLE_LTO")
pattern = re.compile(sys.argv[4]) if len(sys.argv) > 4 else None
variables, whole = [], False
for line in open(oracle):
    f = line.rstrip("\n").split(" ")
    whole = f[0] == "E"
    if f[0] == "V":
        variables.append({"addr": int(f[1], 16), "size": int(f[2]), "file": f[3], "line": int(f[4]),
                          "function": f[5], "name": " ".join(f[6:]), "m": [], "p": []})
    elif f[0] == "P":
        variables[-1]["p"].append((int(f[1]), int(f[2]), " ".join(f[3:])))
    elif f[0] == "M":
        variables[-1]["m"].append((int(f[1]), int(f[2]), " ".join(f[5:])))
assert whole, "gdb did not get to the end"
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
p = subprocess.run([hotvar, "sym", "-q", "--json", "--no-demangle", "-e", program], text=True, capture_output=True,
                   input="".join("%x\n" % a for a in asked))
assert p.returncode < 2, p.stderr
lines = [json.loads(l) for l in p.stdout.splitlines()]
lines = [l for l in lines if l["type"] == "sym"]
assert len(lines) == len(asked), (len(lines), len(asked))

def judge(v, at, paths, a):
    """What of the answer is not as gdb has it for @v."""
    symbol = a["symbol"]
    if symbol is None or a["offset"] != at:
        return ["symbol is %s+%s (%s)" % (symbol, a["offset"], a["reason"])]
    # what compilers and linkers make of a name: counter.0, __const.f.table, table.lto_priv.1, a::b::c as _ZN1a1b1cE
    plain = v["name"].split("(")[0].split("::")[-1]
    if not re.search(r"(^|[^A-Za-z])" + re.escape(plain), symbol):
        return ["symbol is %s" % symbol]
    # gdb has it with its scope and arguments
    function = v["function"].replace("?", " ")
    if function != "-" and not re.search(r"(^|::)" + re.escape(str(a.get("function"))) + r"($|[(<])", function):
        return ["function is %s and not %s" % (a.get("function"), v["function"])]
    if not a["name"].startswith(symbol):
        return ["name is " + a["name"]]
    # "counter@parser.c.field": the file is the symbol's, not the member's
    rest = a["name"][len(symbol):]
    if rest.startswith("@"):
        symbol += re.match(r"@[^\[]*?\.(?:c|cc|cpp|cxx|C|h|rs|l|y)(?=$|[.\[])", rest).group(0)
    have = [n[len(symbol):] for n in a.get("members", [a["name"]])]
    wrong = []
    if a["name"][len(symbol):] != have[0]:
        wrong.append("the first of %s is not %s" % (have, a["name"]))
    wrong += ["member is %s and not %s" % (have, p) for p in paths if p not in have]
    decl = a["decl"]
    if not v["line"]:
        return wrong
    if decl is None:
        return wrong + ["decl is not known"]
    file, line = decl.rsplit(":", 1)
    # gdb keeps 16 bits of a line; with -flto it takes another unit's names of files
    if int(line) % 65536 != v["line"] % 65536 or (not lto and file.split("/")[-1] != v["file"].split("/")[-1]):
        wrong.append("decl is %s and not %s:%d" % (decl, v["file"], v["line"]))
    return wrong

# Padding, that of a base class's end too, if no member has it: so far into what has a name.
padding = []
for v in variables:
    for at, rest, path in v["p"][:500]:
        if at < v["size"] and not any(o <= at < o + n for o, n, _ in v["m"]):
            padding.append((v, at, path + "+0x%x" % rest if rest else path))
p = subprocess.run([hotvar, "sym", "-q", "--no-demangle", "-e", program], text=True, capture_output=True,
                   input="".join("%x\n" % (v["addr"] + at) for v, at, _ in padding))
names = [l.split("  ")[1] for l in p.stdout.splitlines()] if padding else []
assert len(names) == len(padding), (len(names), len(padding), p.stderr)

# Linkers put constants that are alike at one place: then it is enough to be right for one of them.
right = {}
wrong = []
for (v, at, paths), a in zip(wanted, lines):
    found = judge(v, at, paths, a)
    here = (v["addr"], at)
    if not found:
        right[here] = True
    wrong += [(here, v["name"], w) for w in found]
for (v, at, want), name in zip(padding, names):
    if name.endswith(want) if want else not re.search(r"[+\[]", name):
        right[v["addr"], at] = True
    else:
        wrong.append(((v["addr"], at), v["name"], "padding is %s and not ...%s" % (name, want)))
wrong = [w for w in wrong if w[0] not in right]
for (addr, at), name, what in wrong[:20]:
    print("%s+%d (%x): %s" % (name, at, addr + at, what))
print("%d variables, %d members, %d bytes, %d of padding, %d disagreements" % (
    len(variables), sum(len(v["m"]) for v in variables), len(asked), len(padding), len(wrong)))
sys.exit(bool(wrong) or not variables)
