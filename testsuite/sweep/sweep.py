#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# sweep.py - every symbol of the system's ELF files: does `hotvar sym -e` say what readelf's tables say?
#
#   sweep.py HOTVAR [-n FILES] [-s SEED] [-j JOBS] [-p K/N: the K-th of N parts] FOLDER...
#
# Of each data and text symbol the first, the middle and the last byte and the one after it are asked for.  The right
# answer is worked out here from readelf's text alone (of the file, and of what .gnu_debugdata unpacks to), by the rule of hotvar(1): the innermost sized symbol that holds
# the address (the one that starts last, then the shortest), of those with the same place the one with fewest leading
# underscores, then global before weak before local, then the shortest name, then the first by alphabet; without one, a label
# of that very address.  What is left out, and why, is counted and printed.
#
# Prints a line for each disagreement (the first few of a file) and sums at the end; exit status 1 if there is one.
import argparse, collections, heapq, json, lzma, os, random, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

parser = argparse.ArgumentParser()
parser.add_argument("hotvar")
parser.add_argument("-n", type=int, default=0, help="that many files, at random; 0: all")
parser.add_argument("-s", type=int, default=1)
parser.add_argument("-j", type=int, default=os.cpu_count())
parser.add_argument("-p", default="1/1")
parser.add_argument("folders", nargs="+")
args = parser.parse_args()

ENV = dict(os.environ, HOTVAR_DEBUGDIR="/nonexistent", LC_ALL="C")
WANTED = {"OBJECT", "FUNC", "NOTYPE", "IFUNC", "COMMON"}
BINDING = {"GLOBAL": 0, "UNIQUE": 0, "WEAK": 1, "LOCAL": 2}
MAPPING = re.compile(r"^\$[adtx](\.|$)")
SYMBOL = re.compile(rb"^ *\d+: ([0-9a-f]+) +(\S+) (\S+) +(\S+) +(\S+) +(?:\[[^\]]*\] +)?(\S+) (.*)$")
LOAD = re.compile(r"^ *LOAD +(0x\S+) (0x\S+) (0x\S+) (0x\S+) (0x\S+)")
left_out = collections.Counter()


def elf_files():
    seen = set()
    for folder in args.folders:
        for top, dirs, names in os.walk(folder):
            dirs.sort()
            for n in sorted(names):
                p = os.path.join(top, n)
                try:
                    st = os.lstat(p)
                    if not (st.st_mode & 0o170000 == 0o100000 and st.st_size > 64) or (st.st_dev, st.st_ino) in seen:
                        continue
                    seen.add((st.st_dev, st.st_ino))
                    with open(p, "rb") as f:
                        h = f.read(20)
                except OSError:
                    continue
                if h[:4] != b"\x7fELF":
                    continue
                if h[5] != 1 or h[18:20] not in (b"\x3e\x00", b"\x03\x00"):
                    left_out["files: another machine or byte order"] += 1
                elif h[16] not in (2, 3):
                    left_out["files: relocatable or core"] += 1
                else:
                    yield p


def readelf(*what):
    return subprocess.run(["readelf", *what], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def small_table(path):
    """readelf's lines of .gnu_debugdata, without what is undefined there"""
    if b" .gnu_debugdata " not in readelf("-SW", path):
        return []
    with tempfile.NamedTemporaryFile() as f:
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.gnu_debugdata", "--set-section-flags",
                        ".gnu_debugdata=alloc", path, f.name], env=ENV, check=True)
        with open(f.name, "rb") as g:
            data = lzma.decompress(g.read())
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        return readelf("-sW", f.name).split(b"\n")


def symbols(path, loads):
    """(start, size, rank, name), each once."""
    out = set()
    for line in readelf("-sW", path).split(b"\n") + small_table(path):
        m = SYMBOL.match(line)
        if not m:
            continue
        value, size, kind, bind, vis, ndx, name = m.groups()
        kind, ndx = kind.decode(), ndx.decode()
        if not name or ndx == "UND" or kind in ("SECTION", "FILE"):
            continue
        if kind == "TLS":
            left_out["symbols: thread-local"] += 1
            continue
        if ndx in ("ABS", "COM") or not ndx.isdigit():
            left_out["symbols: absolute or common"] += 1
            continue
        if kind not in WANTED or bind.decode() not in BINDING:
            left_out["symbols: of another type or binding"] += 1
            continue
        value, size = int(value, 16), int(size, 0)
        # readelf puts the version behind the name; a local's '@' is its own
        full = name.decode("utf-8", "surrogateescape")
        plain = full
        if bind != b"LOCAL":
            plain = re.sub(r" \(\d+\)$", "", plain).split("@")[0] if full[0] != "@" else full
        if kind == "NOTYPE" and bind == b"LOCAL" and not size and MAPPING.match(plain):
            left_out["symbols: mapping symbols"] += 1
            continue
        if not any(lo <= value < hi for lo, hi in loads):
            left_out["symbols: outside of what is loaded"] += 1
            continue
        rank = (len(plain) - len(plain.lstrip("_")), BINDING[bind.decode()], len(plain.encode("utf-8", "surrogateescape")),
                plain.encode("utf-8", "surrogateescape"))
        out.add((value, size, rank, plain))
    return sorted(out, key=lambda s: (s[0], s[1], s[2]))


def expected(syms, loads, probes):
    """name and offset at each of the sorted addresses; None where there is none"""
    labels = {}
    for start, size, rank, name in syms:
        if not size and (start not in labels or rank < labels[start][0]):
            labels[start] = (rank, name)
    sized = [s for s in syms if s[1]]
    active, i = [], 0
    for a in probes:
        while i < len(sized) and sized[i][0] <= a:
            start, size, rank, name = sized[i]
            end = min([start + size] + [hi for lo, hi in loads if lo <= start < hi])
            heapq.heappush(active, (-start, size, rank, end, name))
            i += 1
        while active and active[0][3] <= a:
            heapq.heappop(active)
        if active:
            yield a, active[0][4], a + active[0][0]
        elif a in labels:
            yield a, labels[a][1], 0
        else:
            yield a, None, 0


def sweep(path):
    loads = []
    for line in readelf("-lW", path).decode("utf-8", "replace").split("\n"):
        m = LOAD.match(line)
        if m and int(m[5], 16):
            loads.append((int(m[2], 16), int(m[2], 16) + int(m[5], 16)))
    syms = symbols(path, loads)
    if not syms:
        return path, 0, 0, [], ""
    probes = set()
    for start, size, _, _ in syms:
        probes.update((start, start + max(size, 1) // 2, start + max(size, 1) - 1, start + size))
    probes = sorted(a for a in probes if a < 1 << 64)
    with tempfile.TemporaryFile() as f:
        f.write("".join("%x\n" % a for a in probes).encode())
        f.seek(0)
        p = subprocess.run([args.hotvar, "sym", "-q", "--no-demangle", "--json", "-e", path], stdin=f, env=ENV,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode not in (0, 1):
        return path, len(syms), len(probes), [], "status %d: %s" % (p.returncode, p.stderr.decode("utf-8", "replace").strip())
    got = {}
    for line in p.stdout.split(b"\n"):
        if line.startswith(b'{"type":"sym"'):
            r = json.loads(line.decode("utf-8", "surrogateescape"))
            got[int(r["addr"], 16)] = r
    sections = readelf("-SW", path)
    debug = b" .debug_info " in sections or b" .zdebug_info " in sections
    bad = []
    for a, name, offset in expected(syms, loads, probes):
        r = got.get(a)
        if r is None:
            bad.append("%x: no answer" % a)
        elif debug and r["symbol"] and r["origin"] in ("dwarf", "dwz"):
            left_out["addresses: named by debug information alone, which readelf -s does not show"] += 1
        elif r["symbol"] and r["origin"] not in ("symtab", "dynsym", "debugdata"):
            bad.append("%x: %s, from %s, which it has not" % (a, r["symbol"], r["origin"]))
        elif (r["symbol"] or None) != name and not ((r["symbol"] or "").split("@")[0] == name):
            bad.append("%x: %s, and readelf has %s" % (a, r["symbol"], name))
        elif name is not None and r["offset"] != offset:
            bad.append("%x: %s+%s, and readelf has +%d" % (a, name, r["offset"], offset))
    return path, len(syms), len(probes), bad, ""


part, parts = map(int, args.p.split("/"))
files = list(elf_files())[part - 1::parts]
found = len(files)
if args.n and args.n < found:
    files = random.Random(args.s).sample(files, args.n)
n_syms = n_probes = n_bad = with_symbols = 0
with ThreadPoolExecutor(args.j) as pool:
    for path, s, a, bad, why in pool.map(sweep, files):
        n_syms += s
        n_probes += a
        with_symbols += s > 0
        n_bad += len(bad) + (why != "")
        if why:
            print("%s: %s" % (path, why))
        for b in bad[:5]:
            print("%s: %s" % (path, b))
        if len(bad) > 5:
            print("%s: and %d more" % (path, len(bad) - 5))
for what, n in sorted(left_out.items()):
    print("left out: %d %s" % (n, what))
print("%d of %d files, %d of them with symbols: %d symbols, %d addresses, %d disagreements" %
      (len(files), found, with_symbols, n_syms, n_probes, n_bad))
sys.exit(n_bad != 0 or not n_probes)
