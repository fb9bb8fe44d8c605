#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-moment - of a recording the whole map at a time, what two times differ in, and sums: as what a program saw of itself.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" record -q --source ptrace -o "$tmp/rec" -- "$TESTPROGS/map_changes" "$tmp/log" "$tmp" 2> "$tmp/err"
is "a recording" $? 0
"$HOTVAR" maps --json -i "$tmp/rec" > "$tmp/all"

cat > "$tmp/moment.py" << 'END'
# The lists that the events of ALL make, worked out here by the plainest means, at many times; printed like --at and --diff print them.
import json, subprocess, sys
hotvar, rec, all_lines = sys.argv[1:4]
events = [json.loads(l) for l in open(all_lines)]
events = [e for e in events if e["type"] == "map"]
t0 = events[0]["time_ns"]

def h(s): return int(s, 16)
def apply(areas, e):
    a = {k: e[k] for k in ("pgoff", "prot", "path", "kind", "dev", "ino")}
    def cut(lo, hi):
        out = []
        for s, t, x in areas:
            if t <= lo or s >= hi:
                out.append((s, t, x))
                continue
            if s < lo: out.append((s, lo, x))
            if t > hi:
                y = dict(x)
                if y["kind"] == "file" or y["ino"]: y["pgoff"] = hex(h(x["pgoff"]) + hi - s)
                out.append((hi, t, y))
        return out
    lo, hi = h(e["start"]), h(e["end"])
    if "old_start" in e: areas[:] = cut(h(e["old_start"]), h(e["old_end"]))
    areas[:] = cut(lo, hi)
    if e["event"] != "unmap": areas.append((lo, hi, a))
    areas.sort(key=lambda x: x[0])
    # neighbours alike in everything are one
    out = []
    for s, t, x in areas:
        if out and out[-1][1] == s:
            ps, pt, px = out[-1]
            off = h(px["pgoff"]) + (pt - ps) if px["ino"] else h(px["pgoff"])
            if all(px[k] == x[k] for k in ("prot", "path", "kind", "dev", "ino")) and (h(x["pgoff"]) == off):
                out[-1] = (ps, t, px)
                continue
        out.append((s, t, x))
    areas[:] = out

def at(us):
    mms, tasks = {}, {}
    def leave(tid):
        _, mm = tasks.pop(tid, (0, 0))
        if mm and not any(m == mm for _, m in tasks.values()): mms.pop(mm, None)
    for e in events:
        if (e["time_ns"] - t0) // 1000 > us: break
        if e["event"] == "exec":
            for tid in [t for t, (pid, _) in tasks.items() if pid == e["pid"]]: leave(tid)
            tasks[e["tid"]] = (e["pid"], e["mm"])
            mms[e["mm"]] = []
        elif e["event"] == "exit": leave(e["tid"])
        elif e["event"] == "fork":
            if e["child_mm"] not in mms: mms[e["child_mm"]] = list(mms[e["mm"]])
            tasks[e["child"]] = (e["child_pid"], e["child_mm"])
        else: apply(mms[e["mm"]], e)
    return {(m, "0x%x" % s, "0x%x" % t, x["prot"], x["pgoff"], x["path"], x["kind"]) for m, v in mms.items() for s, t, x in v}

def ask(*what):
    p = subprocess.run([hotvar, "maps", "--json", "-i", rec] + list(what), stdout=subprocess.PIPE)
    assert p.returncode in (0, 1), p
    out = [json.loads(l) for l in p.stdout.decode().split("\n") if l]
    return [(a.get("change"), (a["mm"], a["start"], a["end"], a["prot"], a["pgoff"], a["path"], a["kind"])) for a in out if a["type"] == "area"]

us = sorted({(e["time_ns"] - t0) // 1000 for e in events})
times = us[:: max(1, len(us) // 40)] + [us[-1] + 1000000, us[len(us) // 2] + 1]
wrong = compared = 0
before = None
for u in sorted(times):
    t = "%d.%06d" % divmod(u, 1000000)
    want = at(u)
    got = ask("--at", t)
    compared += 1
    if {g for _, g in got} != want or len(got) != len(want):
        wrong += 1
        print(t, "differs by", sorted(want ^ {g for _, g in got})[:4])
    if before is not None:
        diff = ask("--diff", "%s,%s" % (before[0], t))
        d = {("removed", x) for x in before[1] - want} | {("added", x) for x in want - before[1]}
        if set(diff) != d or len(diff) != len(d):
            wrong += 1
            print(before[0], t, "the difference differs by", sorted(set(diff) ^ d)[:4])
    before = (t, want)
print("%d times, %d wrong" % (compared, wrong))
END
if command -v python3 > /dev/null; then
	said=$(python3 "$tmp/moment.py" "$HOTVAR" "$tmp/rec" "$tmp/all" 2>&1)
	like "--at and --diff, at many times: $(printf '%s\n' "$said" | tail -n 1)" "$said" '^[1-9][0-9]+ times, 0 wrong$'
else
	skip "--at and --diff at many times" "no python3 here"
fi

# A program whose sums are known: 16 pages of one file mapped three times and unmapped twice, in between 1 MiB of nothing.
cat > "$tmp/sum.c" << 'END'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR), i;
	char *p[3];

	for (i = 0; i < 3; i++)
		p[i] = mmap((void *)(0x500000000000ul + i * 0x100000ul), 65536, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	munmap(p[0], 65536);
	mprotect(p[2], 65536, PROT_READ | PROT_WRITE);
	mremap(p[2], 65536, 65536, MREMAP_MAYMOVE | MREMAP_FIXED, 0x500000900000ul);
	mmap(p[1], 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); /* over it */
	return argc - 2;
}
END
head -c 65536 /dev/zero > "$tmp/file of 16 pages"
if ${CC:-cc} -D_GNU_SOURCE -O1 -w -o "$tmp/sum" "$tmp/sum.c" 2> "$tmp/err"; then
	"$HOTVAR" record -q --source ptrace -o "$tmp/sums" -- "$tmp/sum" "$tmp/file of 16 pages"
	"$HOTVAR" maps --json --summary -i "$tmp/sums" > "$tmp/rows"
	like "--summary: a file, to the byte" "$(cat "$tmp/rows")" \
		"^\{\"type\":\"mapped\",\"path\":\"$tmp/file of 16 pages\",\"kind\":\"file\",\"peak\":196608,\"mapped\":196608,\"unmapped\":196608,\"left\":0,\"maps\":3,\"unmaps\":3\}$"
	is "--summary: all is given back at the end" "$(sed -n 's/.*"left":\([0-9]*\).*/\1/p' "$tmp/rows" | sort -u)" 0
	"$HOTVAR" maps --summary -i "$tmp/sums" > "$tmp/rows"
	like "--summary as text" "$(cat "$tmp/rows")" "^ +196608 +196608 +196608 +0 +3 +3  file $tmp/file of 16 pages$"
else
	skip "--summary" "no compiler here"
fi

status() {
	"$HOTVAR" maps "$@" > "$tmp/out" 2> "$tmp/err"
	echo $?
}
is "--at of what is no number" "$(status -i "$tmp/rec" --at soon), $(grep -c "bad value 'soon' for --at" "$tmp/err")" "2, 1"
is "--diff of one time" "$(status -i "$tmp/rec" --diff 1), $(grep -c "two numbers of seconds" "$tmp/err")" "2, 1"
is "--diff backwards" "$(status -i "$tmp/rec" --diff 2,1), $(grep -c "the earlier time first" "$tmp/err")" "2, 1"
is "--at of a living process" "$(status -p $$ --at 1), $(grep -c "look at a recording" "$tmp/err")" "2, 1"
is "two at once" "$(status -i "$tmp/rec" --at 1 --summary), $(grep -c "give one" "$tmp/err")" "2, 1"
head -c 20000 "$tmp/rec" > "$tmp/cut"
is "a recording that was cut off" "$(status -i "$tmp/cut" --at 100), $(grep -c "broken off" "$tmp/err")" "0, 1"

# A reader that has read enough is no failure, wherever the writing ends; a full disk is one.  A pipe without a reader:
mkfifo "$tmp/pipe"
exec 4<> "$tmp/pipe" 5> "$tmp/pipe" 4<&-
for args in "-i $tmp/rec" "--json -i $tmp/rec" "--at 0 -i $tmp/rec" "--summary -i $tmp/rec" "--watch 1000-2000 -i $tmp/rec" \
	"-o - -- true" "-o - --json -- true" "-o - --watch nonesuch -- true" "-o - --json --watch nonesuch -- true"; do
	# shellcheck disable=SC2086
	want=$(status -q $args)
	# shellcheck disable=SC2086
	"$HOTVAR" maps -q $args >&5 2> "$tmp/err"
	is "maps $args: nobody reads" "$? $(cat "$tmp/err")" "$want "
	# shellcheck disable=SC2086
	"$HOTVAR" maps -q $args > /dev/full 2> "$tmp/err"
	is "maps $args: no room" "$? $(cat "$tmp/err")" "125 hotvar: cannot write all of the output to stdout: No space left on device"
done
exec 5>&-

done_testing
