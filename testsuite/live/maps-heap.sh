#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-heap - names of areas in the first milliseconds of a program, by perf: as the program itself shows them.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" doctor --json | grep -q '"name":"perf-timer","ok":true' ||
	skip_all "perf's timer cannot be used here"
command -v python3 > /dev/null || skip_all "no python3 here"

cat > "$tmp/same.py" << 'E'
# MAPS, as the program printed it, is in EVENTS of the same process before its end: each area, with its name.
import json, sys
maps, events = sys.argv[1:3]
def h(s): return int(s, 16)
KINDS = {"[heap]": "heap", "[stack]": "stack", "": "anon", "[vdso]": "vdso", "[vvar]": "vvar", "[vvar_vclock]": "vvar", "[vsyscall]": "vsyscall"}
def joined(areas):
    out = []
    for s, t, prot, off, ino, kind, path in sorted(areas):
        if out and out[-1][1] == s and out[-1][2] == prot and out[-1][4:] == [ino, kind, path] and (not ino or out[-1][3] + s - out[-1][0] == off):
            out[-1][1] = t
        else:
            out.append([s, t, prot, off, ino, kind, path])
    return [tuple(a) for a in out]
want = []
for line in open(maps):
    f = line.rstrip("\n").split(None, 5)
    s, t = f[0].split("-")
    path = f[5] if len(f) > 5 else ""
    kind = KINDS.get(path, "file")
    if path.endswith(" (deleted)"):
        path = path[:-10]
        if path.startswith(("/memfd:", "/SYSV")) or path == "/dev/zero": kind = "shm"
    if path in ("[heap]", "[stack]"): path = ""
    want.append((h(s), h(t), f[1], h(f[2]) if f[4] != "0" else 0, int(f[4]), kind, path))
want = joined(want)
events = [e for e in (json.loads(l) for l in open(events)) if e["type"] == "map"]
exe = next(a for a in want if a[5] == "file")
mm = [e["mm"] for e in events if e["event"] not in ("exec", "fork", "exit") and h(e["start"]) == exe[0]]
lists = {}
false_names = 0
for e in events:
    if e["event"] == "fork":
        if e["child_mm"] != e["mm"]: lists[e["child_mm"]] = list(lists.get(e["mm"], []))
        continue
    if e["event"] == "exec": lists[e["mm"]] = []
    if e["event"] in ("exec", "exit"): continue
    areas = lists.setdefault(e["mm"], [])
    cuts = [(h(e["start"]), h(e["end"]))] + ([(h(e["old_start"]), h(e["old_end"]))] if "old_start" in e else [])
    for lo, hi in cuts:
        new = []
        for a in areas:
            if a[1] <= lo or a[0] >= hi:
                new.append(a)
                continue
            if e["event"] == "protect" and (lo, hi) == cuts[0] and a[0] <= lo and hi <= a[1] and a[2] == e["prot"] and a[5] != e["kind"]:
                false_names += 1
            if a[0] < lo: new.append((a[0], lo) + a[2:])
            if a[1] > hi: new.append((hi, a[1], a[2], a[3] + (hi - a[0] if a[4] else 0)) + a[4:])
        areas[:] = new
    if e["event"] != "unmap":
        areas.append((h(e["start"]), h(e["end"]), e["prot"], h(e["pgoff"]), e["ino"], e["kind"], e["path"] or ""))
best = None
for m, areas in lists.items():
    got = set(joined(areas))
    missing = [a for a in want if a not in got]
    if best is None or len(missing) < len(best[0]): best = (missing, got)
for a in best[0]:
    print("shown, not told: %x-%x" % a[:2], a[2:], "told there:", [("%x-%x" % g[:2],) + g[2:] for g in best[1] if g[0] < a[1] and g[1] > a[0]])
print("%d areas, %d missing, %d with a name that came later" % (len(want), len(best[0]), false_names))
E

# same TEXT PROGRAM...: its map is told as it was.  The list is in $tmp/events.
same() {
	text=$1
	shift
	"$HOTVAR" record -q --source perf -o "$tmp/rec" -- "$@" > "$tmp/maps" 2> "$tmp/err"
	"$HOTVAR" maps --json -i "$tmp/rec" > "$tmp/events"
	like "$text" "$(python3 "$tmp/same.py" "$tmp/maps" "$tmp/events" 2>&1; tail -n 3 "$tmp/err")" '^[1-9][0-9]+ areas, 0 missing, 0 with a name that came later$'
}

# kinds: which of the two the rows with most of the accesses are; the start of so short a program may have its sample, too
kinds() {
	sed -n 's/^{"type":"variable","rank":[0-9]*,.*"kind":"\(heap\|anon\)".*"share":\(0\.[2-9]\|1\).*/\1/p' "$1" | sort -u | tr '\n' ' '
}

ms=8
for kind in malloc steps shrink lock child near names; do
	same "$kind: $ms ms" "$TESTPROGS/heap_begins" $kind $ms
done
same "more than a look's time" "$TESTPROGS/heap_begins" malloc 150
is "the heap is told once" "$(grep -c '"kind":"heap"' "$tmp/events")" 1
if setarch -R true 2> "$tmp/err"; then
	same "where nothing is put at random" setarch -R "$TESTPROGS/heap_begins" malloc $ms
else
	skip "where nothing is put at random" "setarch -R is refused here"
fi

# Gone when its news are read: by a shell, that runs it in a process of its own.
for kind in malloc steps lock; do
	same "$kind, of a process that is gone" sh -c '"$@"; exit 0' sh "$TESTPROGS/heap_begins" $kind $ms
done
for how in "-static" "-static-pie" "-no-pie" "-m32"; do
	if ! "${CC:-cc}" -O2 -g $how -o "$tmp/other" "$top_srcdir/testsuite/programs/heap_begins.c" -pthread 2> "$tmp/err"; then
		skip "built with $how" "it cannot be built here"
		continue
	fi
	same "built with $how" "$tmp/other" malloc $ms
	same "built with $how, of a process that is gone" sh -c '"$@"; exit 0' sh "$tmp/other" steps $ms
done

"$HOTVAR" --source perf --json -o "$tmp/report" -- "$TESTPROGS/heap_begins" malloc 40 > "$tmp/maps"
is "samples of a short program name its heap" "$(kinds "$tmp/report")" "heap "
"$HOTVAR" --source perf --json -o "$tmp/report" -- "$TESTPROGS/heap_begins" near 40 > "$tmp/maps"
is "and nothing else" "$(kinds "$tmp/report")" "anon "
"$HOTVAR" --source fault --json -o "$tmp/report" -- "$TESTPROGS/heap_begins" malloc 1 > "$tmp/maps"
like "so do page faults" "$(cat "$tmp/report")" '"name":"\[heap\]".*"kind":"heap"'

"$HOTVAR" maps --source perf --json -o "$tmp/events" -- "$TESTPROGS/heap_begins" steps 150 > "$tmp/maps" 2> "$tmp/err"
like "maps by perf has the names, too" "$(python3 "$tmp/same.py" "$tmp/maps" "$tmp/events" 2>&1)" '^[1-9][0-9]+ areas, 0 missing, 0 with a name that came later$'
"$HOTVAR" maps --source ptrace --json -o "$tmp/right" -- "$TESTPROGS/heap_begins" steps 1 > "$tmp/maps" 2> "$tmp/err"
# changes FILE: of the heap
changes() {
	sed -n 's/.*"event":"\([a-z]*\)".*"prot":"\([-rwxps]*\)".*"kind":"heap".*/\1 \2/p' "$1"
}
is "and the heap's changes are those that ptrace sees" "$(changes "$tmp/events")" "$(changes "$tmp/right")"
is "[vsyscall] is told with the program" "$(grep -c '"syscall":"execve".*vsyscall' "$tmp/events")" 0
done_testing
