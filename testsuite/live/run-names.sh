#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-names.sh - each access has the name of its moment: libraries reloaded, files deleted, processes forked.
. "$top_srcdir/testsuite/lib.sh"
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

# share NAME FILE: the percent of the row of that name in a text report, without a fraction; "" if there is none
share() {
	awk -v name=" $1" 'substr($0, length($0) - length(name) + 1) == name { print int($2) }' "$2"
}
# between TEXT LO VALUE HI
between() {
	if [ -n "$3" ] && [ "$3" -ge "$2" ] && [ "$3" -le "$4" ]; then
		ok "$1"
	else
		not_ok "$1" "got '$3', want $2 to $4" "$(cat report)"
	fi
}

# ---- a library unloaded, another at its address ----
for source in perf ptrace; do
	"$HOTVAR" --source $source -q -o report -- "$TESTPROGS/reload" 400000000 \
		"$TESTPROGS/libreload_one.so" "$TESTPROGS/libreload_two.so" > out 2> err
	rc=$?
	if [ $rc -ne 0 ]; then
		if grep -q refused err; then
			skip "reload by $source" "$(head -n 1 err)"
			continue
		fi
		not_ok "reload by $source runs" "exit status $rc" "$(cat err)"
		continue
	fi
	if [ "$(sort -u out | grep -c .)" != 1 ]; then
		skip "reload by $source: at the same address" "the loader chose others: $(tr '\n' ' ' < out)"
	else
		ok "reload by $source: at the same address"
	fi
	between "reload by $source: the first has its half" 40 "$(share 'one_var [libreload_one.so]' report)" 60
	between "reload by $source: the second has its half" 40 "$(share 'two_var [libreload_two.so]' report)" 60
done

# ---- the program's file deleted, or another in its place, while it runs ----
cat > wait_for <<'END'
# wait_for TEXT FILE...: until it is in one of them; not for ever: a program that has ended meanwhile has no map
n=0
until grep -qs "$@" || [ $n -ge 300 ]; do
	n=$((n + 1))
	sleep 0.01
done
END
cp "$TESTPROGS/reload" ./prog
"$HOTVAR" -q -o report -- sh -c './prog 400000000 "$1/libreload_one.so" "$1/libreload_two.so" & sh wait_for libreload_one "/proc/$!/maps"; rm prog; wait' \
	sh "$TESTPROGS" > out 2> err
between "of a deleted program" 40 "$(share 'one_var [libreload_one.so]' report)" 60
# What hotvar has read of a file, it keeps: in a folder that had nothing before.
cp "$TESTPROGS/libreload_one.so" "$TESTPROGS/libreload_two.so" .
XDG_CACHE_HOME=$tmp/kept "$HOTVAR" -q -o report -- sh -c '"$1/reload" 400000000 ./libreload_one.so ./libreload_two.so & sh wait_for -r one_var kept
	cp libreload_two.so new; mv new libreload_one.so; wait' sh "$TESTPROGS" > out 2> err
between "of a replaced library: the names it had when it was mapped" 40 "$(share 'one_var [libreload_one.so]' report)" 60

# ---- processes ----
"$HOTVAR" -q -o report -- "$TESTPROGS/fork_write" 30000000 > out 2> err
between "copies of two processes are one variable" 40 "$(share 'copied [fork_write]' report)" 55
between "and so is what they share" 40 "$(share '[shm]' report)" 55
if command -v python3 > /dev/null; then
	"$HOTVAR" --per-process --json -o report -- "$TESTPROGS/fork_write" 30000000 > out 2> err
	check "with --per-process they are kept apart" python3 - out report <<'PY'
import json, sys
pids = sorted(map(int, open(sys.argv[1]).read().split()))
rows = [json.loads(line) for line in open(sys.argv[2])]
copies = [r for r in rows if r.get("name") == "copied"]
shared = [r for r in rows if r["type"] == "variable" and r["kind"] == "shm"]
assert sorted(r["pid"] for r in copies) == pids, (pids, copies)
assert all(r["private"] and r["comm"] == "fork_write" and 0.15 < r["share"] < 0.35 for r in copies), copies
assert not any(r["private"] for r in shared), shared
PY
	"$HOTVAR" --json -o report -- "$TESTPROGS/spin_threads" 3 150 > out 2> err
	check "threads are counted" python3 - report <<'PY'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
spun = next(r for r in rows if r.get("name") == "spun")
assert spun["threads"] == 3, spun
PY
else
	skip "with --per-process they are kept apart" "there is no python3"
fi

done_testing
