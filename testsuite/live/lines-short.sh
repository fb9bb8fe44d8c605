# SPDX-License-Identifier: GPL-2.0-or-later
# lines-short.sh - hotvar --exact --by cacheline of threads that are done before others begin: each case of line_short, with nothing
# in it that makes the threads meet.
. "$top_srcdir/testsuite/lib.sh"

if [ ! -x "$top_builddir/runtime/valgrind/lib/hotvar-amd64-linux" ]; then
	skip "all of it" "hotvar's tool for valgrind is not built: no valgrind here"
	done_testing
	exit 0
fi

n=500
eight=$(for i in 0 1 2 3 4 5 6 7; do printf 'each[%s]+%s by 1; ' $i $((8 * i)); done)
eight=${eight%; }
first="counters.first+0 by 1"
# told WHAT: each line that can go so often that it matters: its sharing, and by how many threads each member was written n times or more;
# and whether that is more often than its accesses allow.  Lines of libc's own data are not: where threads give back their stacks they
# share its list of stacks, which says nothing of ours.
# The program is the static one, which valgrind begins far sooner, but where it is about the heap: the libc in that one has no names in
# the other's table of symbols.
nm "$TESTPROGS/line_short" | sed 's/.* //; s/@.*//' > "$tmp/names"
told() {
	"$HOTVAR" record -q --exact --cachelines -o "$tmp/$1" -- "$TESTPROGS/line_short$static" "$1" $n > "$tmp/said" 2> "$tmp/err" || cat "$tmp/err"
	"$HOTVAR" report --by cacheline --json -i "$tmp/$1" > "$tmp/report"
	python3 - "$tmp/report" $n "$tmp/names" <<'END'
import json
import re
import sys
n = int(sys.argv[2])
names = set(open(sys.argv[3]).read().split())
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["type"] != "line" or r["most_true"] + r["most_false"] < 100:
        continue
    if all(v["module"] and re.split(r"[.[]", v["name"])[0] not in names for v in r["variables"]):
        continue
    by = [("%s+%d" % (v["name"], v["line_offset"]), sum(t["writes"] >= n for t in v["threads"])) for v in r["variables"]]
    did = {}
    for v in r["variables"]:
        for t in v["threads"]:
            reads, writes = did.get(t["tid"], (0, 0))
            did[t["tid"]] = reads + t["reads"], writes + t["writes"]
    written = sum(w for r, w in did.values())
    # no thread gets it oftener than it is there, or than others write
    possible = sum(min(r + w, written - w) for r, w in did.values())
    too_often = not r["handovers"] <= r["most_true"] + r["most_false"] <= possible
    print(r["sharing"], "; ".join("%s by %d" % b for b in by if b[1]) + (", too often" if too_often else ""))
END
}

while read -r what want; do
	case $want in
	-) want= ;;
	esac
	case $what in
	again | resized | recycled | kept) memory=1 static= ;;
	*) memory= static=_static ;;
	esac
	got=$(told "$what" | sed 's/line_short\.c:[0-9]*//g')
	if [ "$memory" ] && ! grep -q 'the same memory' "$tmp/said"; then
		skip "$what" "this malloc gave other memory"
	else
		is "$what" "$got" "$want"
	fi
done <<END
false false $first; counters.second+8 by 1
true true counters.first+0 by 2
three false $first; counters.second+8 by 1; counters.third+16 by 1
padded -
main false $first; counters.second+8 by 1
ended false $first; counters.second+8 by 1
detached false $first; counters.second+8 by 1
between false $first; counters.second+8 by 1
after -
chain -
tried -
before -
relay -
served -
swept -
again -
timed -
late false $first; counters.second+8 by 1
refused false $first; counters.second+8 by 1
self -
mainend -
next -
once -
crowd false $eight
stack false behind.first+0 by 1; behind.second+8 by 1
resized false heap:resized@+0 by 1; heap:resized@+8 by 1
recycled -
kept false heap:recycled@+0 by 1; [heap]+48 by 1
END

"$HOTVAR" report --by cacheline --json -i "$tmp/ended" > "$tmp/report"
is "what was seen, and what can be" "$(python3 -c 'import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["type"] == "line" and r["unseen"]:
        print(r["sharing"], r["returns"], r["most_true"], r["most_false"])' "$tmp/report")" "false 0 0 $((2 * n))"
"$HOTVAR" report --by cacheline -i "$tmp/ended" > "$tmp/text"
is "said so" "$(grep -c 'Few hand-overs were seen, since valgrind ran one thread after the other' "$tmp/text")" 1
"$HOTVAR" report --by cacheline -i "$tmp/after" > "$tmp/text"
like "and where none can be" "$(cat "$tmp/text")" '^No cache line goes back and forth between threads\.$'
# More sites than one record has room for: whoever was the first was alone there for a while.
told sites > "$tmp/out"
is "sites of many threads, all of them" "$(python3 -c 'import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["type"] == "line" and r["variables"][0]["name"].startswith("each["):
        threads = [t for v in r["variables"] for t in v["threads"]]
        print(len(threads), sum(t["writes"] for t in threads), sum(s["writes"] for s in r["sites"]) in range(3120, 3201))
    if r["type"] == "total":
        print(r["lost"])' "$tmp/report")" "40 3200 True
0"
done_testing
