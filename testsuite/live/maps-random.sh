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

done=0
while [ $done -lt $calls ]; do
	for source in "launched ofvxsb" "attached tfvxsb" "launched fvxsb" "recorded ofvxsb" "attached ofvxsb" "recorded tfvxsb" "launched tfvxsb"; do
		[ $done -lt $calls ] || break
		rm -f "$tmp/log" "$tmp/events"
		$source
		done=$((done + run)) seed=$((seed + 1))
	done
done

# A replay that cannot fail proves nothing.
grep -v '"event":"unmap","syscall":"munmap"' "$tmp/events" > "$tmp/less"
unlike "events without munmap are found wrong" "$(python3 "$top_srcdir/testsuite/maps/replay.py" "$tmp/log" "$tmp/less")" '^([0-9]+) of \1 barriers'
done_testing
