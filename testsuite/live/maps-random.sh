#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-random - thousands of random mapping calls, from each source: at each barrier the replayed list is /proc/self/maps.
#
# RANDOM_CALLS (10000) calls in all, in runs of RANDOM_RUN (2500), with seeds from RANDOM_SEED (1) on: `make check-random` makes a million.
. "$top_srcdir/testsuite/lib.sh"

program=$TESTPROGS/random_maps
calls=${RANDOM_CALLS:-10000} run=${RANDOM_RUN:-2500} seed=${RANDOM_SEED:-1}
command -v python3 > /dev/null || skip_all "no python3 here"
mkdir "$tmp/dir"

# compare TEXT [OPTION...]: of the log and the events of this run
compare() {
	text=$1
	shift
	said=$(python3 "$top_srcdir/testsuite/maps/replay.py" "$@" "$tmp/log" "$tmp/events" 2>&1)
	if [ $? -eq 0 ] && [ "$rc" = 0 ]; then
		ok "$text, seed $seed, $run calls: $(printf '%s\n' "$said" | tail -n 1)"
	else
		not_ok "$text, seed $seed, $run calls: status $rc" "$said" "$(cat "$tmp/err")"
		[ -z "${RANDOM_KEEP-}" ] || cp "$tmp/log" "$tmp/events" "$RANDOM_KEEP"
	fi
}

launched() {
	"$HOTVAR" maps -q --json -o "$tmp/events" -- "$program" $seed $run "$tmp/log" "$tmp/dir" $1 > "$tmp/out" 2> "$tmp/err"
	rc=$?
	compare "ptrace, launched ($1)"
}

# Attached while it waits in a read: all its calls come after.
attached() {
	mkfifo "$tmp/go"
	"$program" $seed $run "$tmp/log" "$tmp/dir" w$1 < "$tmp/go" > "$tmp/out" 2>&1 &
	pid=$!
	exec 3> "$tmp/go"
	"$HOTVAR" maps -q --json -o "$tmp/events" -p $pid 2> "$tmp/err" &
	hotvar=$!
	until_true 30 grep -q '"event":"initial".*"kind":"stack"' "$tmp/events"
	echo >&3
	exec 3>&-
	wait $pid
	rc=$?
	wait $hotvar || rc=$?
	rm "$tmp/go"
	compare "ptrace, attached ($1)"
}

recorded() {
	"$HOTVAR" record -q --source ptrace -o "$tmp/rec" -- "$program" $seed $run "$tmp/log" "$tmp/dir" $1 > "$tmp/out" 2> "$tmp/err"
	rc=$?
	"$HOTVAR" maps --json -i "$tmp/rec" > "$tmp/events"
	compare "recorded ($1)"
}

# ---- perf: with news of calls, as they begin or as they return, each change in its place; without, what a look has shown ----

# in_tracefs COMMAND...: where tracefs is mounted; without_it COMMAND...: where it is not.  Neither mount is seen outside.
# With SysV memory of its own, whose first segment has the number 0, as in a system just booted.
in_tracefs() {
	unshare -m -i sh -c '[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing || exit 99; exec "$@"' sh "$@"
}
without_it() {
	unshare -m sh -c 'umount -q -l /sys/kernel/debug/tracing; umount -q -l /sys/kernel/tracing; [ ! -d /sys/kernel/tracing/events ] || exit 99; exec "$@"' sh "$@"
}

# perf_launched SOURCE WHAT, perf_attached SOURCE WHAT
perf_launched() {
	in_tracefs timeout -k 5 300 "$HOTVAR" maps -q --json --source $1 -o "$tmp/events" -- "$program" $seed $run "$tmp/log" "$tmp/dir" $2 > "$tmp/out" 2> "$tmp/err"
	rc=$?
	compare "$1, launched ($2)" --no-vsyscall --may-miss
}

perf_attached() {
	mkfifo "$tmp/go"
	"$program" $seed $run "$tmp/log" "$tmp/dir" w$2 < "$tmp/go" > "$tmp/out" 2>&1 &
	pid=$!
	exec 3> "$tmp/go"
	in_tracefs timeout -k 5 300 "$HOTVAR" maps -q --json --source $1 -o "$tmp/events" -p $pid 2> "$tmp/err" &
	hotvar=$!
	until_true 30 grep -q '"event":"initial".*"kind":"stack"' "$tmp/events"
	echo >&3
	exec 3>&-
	wait $pid
	rc=$?
	wait $hotvar || rc=$?
	rm "$tmp/go"
	compare "$1, attached ($2)" --no-vsyscall --may-miss
}

# looked HOW SOURCE WHAT [--counted]: the program waits at each barrier until the list is right, however late looks come to it.
looked() {
	few=$((run / 10))
	mkfifo "$tmp/fifo" "$tmp/pipe"
	: > "$tmp/log"
	timeout -k 5 $((60 + run / 50)) python3 "$top_srcdir/testsuite/maps/replay.py" --no-vsyscall --may-miss $4 --fifo "$tmp/fifo" "$tmp/log" "$tmp/pipe" > "$tmp/said" 2>&1 &
	replay=$!
	$1 timeout -k 5 $((60 + run / 50)) "$HOTVAR" maps -q --json --source $2 -o "$tmp/pipe" -- "$program" $seed $few "$tmp/log" "$tmp/dir" $3 "$tmp/fifo" > "$tmp/out" 2> "$tmp/err"
	rc=$?
	if wait $replay && [ $rc -eq 0 ]; then
		ok "$2, looked at ($3${1:+, $1}), seed $seed, $few calls: $(tail -n 1 "$tmp/said")"
	else
		not_ok "$2, looked at ($3${1:+, $1}), seed $seed, $few calls: status $rc" "$(cat "$tmp/said" "$tmp/err")"
	fi
	rm "$tmp/fifo" "$tmp/pipe"
}

# tells_calls HOW SOURCE: have the calls news of their own here?
tells_calls() {
	$1 timeout -k 5 60 "$HOTVAR" maps --source $2 -o "$tmp/events" -- true 2> "$tmp/err" && ! grep -q "looked up about" "$tmp/err"
}

begun= returned=
if tells_calls without_it perf; then
	begun="perf_launched perf pfsbx,perf_attached perf pfsb"
	looked "" perf otfsb --counted
else
	skip "perf with the program that tells calls as they begin" "not here: $(tail -n 1 "$tmp/err")"
fi
seed=$((seed + 1))
if tells_calls in_tracefs perf-returns; then
	returned="perf_launched perf-returns pfsbx,perf_attached perf-returns pfsb"
	looked in_tracefs perf-returns fvtsb --counted
	# So does the other, where it may not have its program.
	in_tracefs "$TESTPROGS/without" bpf EPERM "$HOTVAR" maps --source perf -o "$tmp/events" -- true 2> "$tmp/err"
	is "perf without its program is told of returns" "$? $(grep -c "looked up about" "$tmp/err")" "0 0"
	like "perf without its program: a munmap" "$(cat "$tmp/events")" 'unmap +munmap'
else
	skip "perf with the tracepoint of system calls" "not here: $(tail -n 1 "$tmp/err")"
fi
seed=$((seed + 1))
looked "" look tsb
if without_it timeout -k 5 60 "$HOTVAR" maps --source perf-returns -o "$tmp/events" -- true 2> "$tmp/err"; then
	like "perf without it says what it misses" "$(cat "$tmp/err")" "hotvar: note: what was unmapped, moved or shrunk was looked up"
else
	skip "perf alone" "not here: $(tail -n 1 "$tmp/err")"
fi

done=0
while [ $done -lt $calls ]; do
	for source in "launched ofvxsb" "attached tfvxsb" "recorded ofvxsb" "${begun%,*}" "launched fvxsb" \
		"${begun#*,}" "attached ofvxsb" "${returned%,*}" "recorded tfvxsb" "${returned#*,}" "launched tfvxsb"; do
		[ $done -lt $calls ] || break
		[ -n "$source" ] || continue
		rm -f "$tmp/log" "$tmp/events"
		$source
		done=$((done + run)) seed=$((seed + 1))
	done
done

# A replay that cannot fail proves nothing.
grep -v '"event":"unmap","syscall":"munmap"' "$tmp/events" > "$tmp/less"
unlike "events without munmap are found wrong" "$(python3 "$top_srcdir/testsuite/maps/replay.py" "$tmp/log" "$tmp/less")" '^([0-9]+) of \1 barriers'
done_testing
