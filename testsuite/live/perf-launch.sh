#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf-launch - programs that are launched and sampled by perf's timer.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" doctor --json | grep -q '"name":"perf-timer","ok":true' ||
	skip_all "perf's timer cannot be used here"

# number KEY FILE: of the total line
number() {
	sed -n 's/^{"type":"total",.*"'"$1"'":\([0-9][0-9.]*\).*/\1/p' "$2"
}
# within N LOW HIGH
within() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# The program says how much CPU time it had; at 1000 Hz each ms of user time is a sample.
"$HOTVAR" --source perf --json -o "$tmp/threads" -F 1000 -- "$TESTPROGS/spin_threads" 8 60 > "$tmp/out"
is "a program of many threads ends as it does alone" $? 0
cpu=$(sed -n 's/^cpu_ms //p' "$tmp/out")
samples=$(number samples "$tmp/threads")
check "samples arrive from all its threads ($samples in ${cpu:-no} ms)" \
	within "${samples:-0}" $((cpu / 2)) $((cpu * 11 / 10 + 10))
is "none was lost" "$(number lost "$tmp/threads")" 0

"$HOTVAR" --source perf --json -o "$tmp/chain" -- "$TESTPROGS/exec_chain" 4 30
is "a program that executes others has the last one's status" $? 7
samples=$(number samples "$tmp/chain")
check "each of the five was sampled ($samples in 150 ms)" within "${samples:-0}" 75 1000
like "and their variable is found" "$(cat "$tmp/chain")" '"name":"chained"'

"$HOTVAR" record --source perf -o "$tmp/rec" -- "$TESTPROGS/exec_chain" 4 1
"$HOTVAR" maps --json -i "$tmp/rec" > "$tmp/maps"
is "each exec is told once" "$(grep -c '"event":"exec"' "$tmp/maps")" 5
pid=$(sed -n 's/.*"pid":\([0-9]*\),.*"event":"exec".*/\1/p' "$tmp/maps" | sort -u | wc -l)
is "all of them of one process" "$pid" 1

"$HOTVAR" --source perf -o "$tmp/true" -- true
is "a program that ends at once" $? 0
"$HOTVAR" --source perf -o "$tmp/false" -- false
is "or fails at once" $? 1
"$HOTVAR" --source perf -o "$tmp/kill" -- sh -c 'kill -9 $$'
is "or is killed by a signal" $? 137
"$HOTVAR" --source perf -o "$tmp/none" -- /nonexistent/program 2> "$tmp/err"
is "or is not there" $? 127

"$HOTVAR" --source perf -d 0.3 --json -o "$tmp/d" -- sh -c \
	"\"$TESTPROGS/spin_threads\" 1 600 > /dev/null; echo late > $tmp/late; exit 5"
is "after -d the program runs on, and its status is ours" $? 5
is "to its own end" "$(cat "$tmp/late" 2>&1)" late
samples=$(number samples "$tmp/d")
check "and only -d was measured ($samples samples)" within "${samples:-999}" 0 450

if [ "$(id -u)" -ne 0 ]; then
	skip "an unprivileged user samples" "not root, so all of the above was unprivileged"
elif ! su nobody -s /bin/sh -c "test -x '$HOTVAR' && test -x '$TESTPROGS/spin_threads'"; then
	skip "an unprivileged user samples" "nobody may not reach $HOTVAR"
else
	mkdir -m 777 "$tmp/nobody"
	chmod 755 "$tmp"
	su nobody -s /bin/sh -c "XDG_CACHE_HOME='$tmp/nobody' '$HOTVAR' --source perf --json -o '$tmp/nobody/out' -- '$TESTPROGS/spin_threads' 2 50" > /dev/null
	is "an unprivileged user samples" $? 0
	samples=$(number samples "$tmp/nobody/out")
	check "as much as root ($samples in 100 ms)" within "${samples:-0}" 50 150
fi
done_testing
