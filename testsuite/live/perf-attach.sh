#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf-attach - processes that run already, sampled by perf's timer.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" doctor --json | grep -q '"name":"perf-timer","ok":true' ||
	skip_all "perf's timer cannot be used here"

target=
stop_target() {
	[ -z "$target" ] || kill -9 "$target" 2> /dev/null
	target=
}
trap 'stop_target; tap_cleanup' EXIT

number() {
	sed -n 's/^{"type":"total",.*"'"$1"'":\([0-9][0-9.]*\).*/\1/p' "$2"
}
within() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}
# CPU time of the target so far, in ms: fields 14 and 15 of stat, after the name; in ticks of 10 ms
cpu_ms() {
	sed 's/.*) //' "/proc/$target/stat" | { read -r _ _ _ _ _ _ _ _ _ _ _ u s _; echo $(((u + s) * 10)); }
}
start() {
	"$TESTPROGS/spin_threads" "$@" > "$tmp/ready" &
	target=$!
	until_true 10 grep -q ready "$tmp/ready"
}
state() {
	sed 's/.*) \(.\).*/\1/' "/proc/$target/stat"
}

# measure TEXT: half a second of the target, against the CPU time it had meanwhile
measure() {
	before=$(cpu_ms)
	"$HOTVAR" --source perf --json -o "$tmp/out" -F 1000 -p "$target" -d 0.5
	is "$1: the report is made" $? 0
	after=$(cpu_ms)
	samples=$(number samples "$tmp/out")
	# Time before and after the measuring is in the CPU time too, so only the upper bound is sharp.
	check "$1: no time is counted twice ($samples samples, $((after - before)) ms)" \
		within "${samples:-0}" 10 $((after - before + 40))
	is "$1: none was lost" "$(number lost "$tmp/out")" 0
	like "$1: the variable is found" "$(cat "$tmp/out")" '"name":"spun"'
	like "$1: the process goes on untouched" "$(state)" '^[RSD]$'
}

start 4 1000000
measure "four threads"
stop_target

start churn 4 1000000
measure "threads born all the time"
stop_target

# Once it has the target's events besides those of its own, and the target has run some more.
sampled() {
	until_true 10 sh -c "[ \$(ls -l /proc/$hotvar/fd | grep -c perf_event) -gt $(nproc) ]"
	ran=$(cpu_ms)
	until_true 10 ran_on
}
ran_on() {
	[ "$(cpu_ms)" -ge $((ran + 50)) ]
}

start 1 1000000
"$HOTVAR" --source perf --json -o "$tmp/end" -p "$target" &
hotvar=$!
sampled
kill -9 "$target"
wait "$hotvar"
is "a process that ends while it is measured" $? 0
target=

# A shell starts its background jobs with SIGINT ignored.
start 1 1000000
env --default-signal=INT "$HOTVAR" --source perf --json -o "$tmp/int" -p "$target" &
hotvar=$!
sampled
kill -INT "$hotvar"
wait "$hotvar"
is "SIGINT ends the measuring" $? 0
check "with what was measured" grep -q '"type":"total"' "$tmp/int"
like "and the process goes on" "$(state)" '^[RSD]$'
stop_target

"$HOTVAR" --source perf -o "$tmp/gone" -p 4194303 2> "$tmp/err"
is "a process that is not there" $? 125
done_testing
