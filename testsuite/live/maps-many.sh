#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-many - a thousand threads in three processes, others being born meanwhile: attached, followed, let go of; nothing is
# lost (by perf: but what is said), no thread stays stopped.  MANY_PROCESSES and MANY_THREADS (of each) change the numbers.
. "$top_srcdir/testsuite/lib.sh"

processes=${MANY_PROCESSES:-3} threads=${MANY_THREADS:-333}
pids=
cleanup() {
	for p in $pids; do
		kill -9 "$p" 2> /dev/null
	done
	tap_cleanup
}
trap cleanup EXIT
mkfifo "$tmp/go"

# start: the processes, each with all its threads: $pids; $options for hotvar
start() {
	"$TESTPROGS/many_threads" "$processes" "$threads" < "$tmp/go" > "$tmp/said" 2> "$tmp/refused" &
	first=$!
	exec 3> "$tmp/go"
	until_true 60 sh -c "[ \$(grep -c ready '$tmp/said') -eq $processes ] || [ -s '$tmp/refused' ]"
	pids=$(sed -n 's/^ready //p' "$tmp/said")
	options=$(sed -n 's/^ready /-p /p' "$tmp/said")
}

# Whom do all threads belong to, and how many are stopped by no tracer's will?
tracers() {
	for p in $pids; do
		cat /proc/"$p"/task/*/status 2> /dev/null
	done | sed -n 's/^TracerPid:.//p' | sort -u | tr '\n' ' '
}
is_tracer() { [ "$(tracers)" = "$1 " ]; }
stopped() {
	for p in $pids; do
		cat /proc/"$p"/task/*/status 2> /dev/null
	done | grep -c '^State:.[tT]'
}
none_stopped() { [ "$(stopped)" -eq 0 ]; }

# Some were born in each process, and told: hotvar has come to all of them.
born_in_each() {
	for p in $pids; do
		[ "$(grep -c '"pid":'"$p"',.*"event":"fork"' "$tmp/events")" -ge 5 ] || return 1
	done
}

# attach: follow them, $hotvar, until each thread there is is traced and some that were born meanwhile have been told
attach() {
	rm -f "$tmp/events"
	# A shell has background jobs ignore SIGINT: not this one.
	env --default-signal=INT "$HOTVAR" maps --json -o "$tmp/events" $options 3>&- &
	hotvar=$!
	until_true 60 is_tracer $hotvar
	until_true 60 sh -c "[ \$(grep -c '\"event\":\"fork\"' '$tmp/events') -ge 20 ]"
}

# Each that was born (after the first look, whose time is that of all perf has of before) and has ended did in between what it does: one map and one unmap of a page.  Prints what is wrong
# with those that did not live at a time of which it is said that news were lost.
complete() {
	awk -F'[:,]' '
		function field(name,  s) { s = $0; if (!sub(".*\"" name "\":", "", s)) return ""; sub(/[,}].*/, "", s); return s }
		/"event":"initial"/ { begun = field("time_ns") "" }
		/"event":"fork"/ && field("time_ns") "" != begun { born[field("child")] = field("time_ns") }
		/"event":"(map|grow)","syscall":("mmap"|null)/ { maps[field("tid")]++ }
		/"syscall":"munmap"/ { unmaps[field("tid")]++ }
		/"event":"exit"/ { tid = field("tid"); if (tid in born) { ended++
			if (!maps[tid] || !unmaps[tid]) { from[++bad] = born[tid]; to[bad] = field("time_ns"); what[bad] = tid " " maps[tid] + 0 " " unmaps[tid] + 0 } } }
		/"type":"gap"/ { since[++gaps] = field("since_ns"); till[gaps] = field("time_ns") }
		END {
			if (!ended) print "none was born and ended"
			for (i = 1; i <= bad; i++) {
				for (g = 1; g <= gaps && (from[i] + 0 > till[g] + 0 || to[i] + 0 < since[g] + 0); g++)
					;
				if (g > gaps && ++wrong < 5) said = said what[i] "; "
			}
			if (wrong) print wrong, "of", ended, "not in", gaps + 0, "gaps:", said
		}' "$1"
}

# Perf stops nothing: where the machine is so busy that its rings fill it loses news, says how many, and since when, and looks.
said_lost() {
	like "$1" "$(tail -n 1 "$tmp/events")" '"lost_maps":[0-9]+,"lost_tasks":[0-9]+,"lost_memory":0,"broken":null'
	lost=$(tail -n 1 "$tmp/events" | sed 's/.*"lost_maps":\([0-9]*\),.*/\1/')
	gaps=$(grep -c '^{"type":"gap"' "$tmp/events")
	check "$1: $lost, at $gaps times" [ "$((lost > 0))" -eq "$((gaps > 0))" ]
}

start
if [ -s "$tmp/refused" ]; then
	exec 3>&-
	skip_all "so many threads are not to be had here: $(head -n 1 "$tmp/refused")"
fi
for sig in INT TERM KILL; do
	attach
	is "SIG$sig: followed, all of them" "$(tracers)" "$hotvar "
	kill -$sig $hotvar
	wait $hotvar 2> /dev/null
	rc=$?
	[ $sig = KILL ] || is "SIG$sig: status" $rc 0
	check "SIG$sig: none is traced" until_true 30 is_tracer 0
	check "SIG$sig: none stays stopped" until_true 30 none_stopped
	[ $sig = KILL ] || like "SIG$sig: nothing was lost" "$(tail -n 1 "$tmp/events")" \
		'"lost_maps":0,"lost_tasks":0,"lost_memory":0,"broken":null'
	is "SIG$sig: what was born did what it does" "$(complete "$tmp/events")" ""
done
# Nothing was lost on the way: all wake, and end, while they are followed.
attach
exec 3>&-
wait $first
is "all threads woke and ended" "$? $(grep -c ": $threads threads woke" "$tmp/said")" "0 $processes"
wait $hotvar
is "followed to the end: status" $? 0
like "followed to the end: nothing was lost" "$(tail -n 1 "$tmp/events")" \
	'"lost_maps":0,"lost_tasks":0,"lost_memory":0,"broken":null'
ended=$(grep '"event":"exit"' "$tmp/events" | sed 's/.*"tid":\([0-9]*\).*/\1/' | sort -u | wc -l)
born=$(grep -c '"event":"fork"' "$tmp/events")
# The first of each process, its threads, and the one that makes others; perhaps one that was on its way when hotvar came.
there=$((processes * (threads + 2)))
check "followed to the end: each thread's end is told ($there and $born born, $ended ended)" \
	sh -c "[ $ended -ge $((there + born)) ] && [ $ended -le $((there + born + processes)) ]"

# Where the kernel tells calls as they begin, the same without a stop.
start
rm -f "$tmp/events"
env --default-signal=INT "$HOTVAR" maps --json --source perf -o "$tmp/events" $options 2> "$tmp/err" 3>&- &
hotvar=$!
until_true 60 sh -c "[ \$(grep -c '\"event\":\"fork\"' '$tmp/events') -ge 20 ] || ! kill -0 $hotvar"
is "perf: nobody is traced" "$(tracers)" "0 "
kill -INT $hotvar
wait $hotvar
rc=$?
if grep -q "looked up about" "$tmp/err" || [ $rc -eq 125 ] || [ "$("$HOTVAR" doctor --json | grep -c '"name":"bpf-calls","ok":true')" -eq 0 ]; then
	exec 3>&-
	skip "perf: followed without a stop" "not here: $(tail -n 1 "$tmp/err")"
else
	is "perf: status" $rc 0
	said_lost "perf: what was lost is said"
	is "perf: what was born did what it does, but for what was lost" "$(complete "$tmp/events")" ""
	rm -f "$tmp/events"
	"$HOTVAR" maps --json --source perf -o "$tmp/events" $options 3>&- &
	hotvar=$!
	until_true 60 born_in_each
	exec 3>&-
	wait $first
	wait $hotvar
	is "perf: followed to the end: status" $? 0
	said_lost "perf: followed to the end: what was lost is said"
	ended=$(grep '"event":"exit"' "$tmp/events" | sed 's/.*"tid":\([0-9]*\).*/\1/' | sort -u | wc -l)
	born=$(grep -c '"event":"fork"' "$tmp/events")
	is "perf: followed to the end: what was born did what it does, but for what was lost" "$(complete "$tmp/events")" ""
	check "perf: followed to the end: each thread's end is told ($there and $born born, $ended ended)" \
		sh -c "[ $ended -ge $((there + born)) ] && [ $ended -le $((there + born + processes)) ]"
fi
done_testing
