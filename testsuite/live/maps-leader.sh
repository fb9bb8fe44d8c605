#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-leader - what goes after a process's first thread has ended is told by each source, or found at a look.
. "$top_srcdir/testsuite/lib.sh"

# Perf without news of calls; the mounts are not seen outside.
without_it() {
	[ "$(id -u)" -eq 0 ] || { "$@"; return; } # it is for root alone
	unshare -m sh -c 'umount -q -l /sys/kernel/debug/tracing 2> /dev/null; umount -q -l /sys/kernel/tracing; exec "$@"' sh "$@"
}

mkfifo "$tmp/go"
for source in ptrace perf perf-returns look; do
	within=
	[ $source != perf-returns ] || within=without_it
	if ! $within "$HOTVAR" maps -q --source $source -o /dev/null -- true 2> "$tmp/err"; then
		skip "$source" "not here: $(tail -n 1 "$tmp/err")"
		continue
	fi
	rm -f "$tmp/events"
	: > "$tmp/said"
	"$TESTPROGS/leader_unmaps" < "$tmp/go" > "$tmp/said" &
	pid=$!
	exec 3> "$tmp/go"
	until_true 20 grep -q ready "$tmp/said"
	# A function's shell would keep the pipe open beside what 3>&- closes.
	(
		exec 3>&-
		$within "$HOTVAR" maps -q --json --source $source -o "$tmp/events" -p $pid 2> "$tmp/err"
	) &
	hotvar=$!
	until_true 20 grep -q '"event":"initial".*"start":"0x6e0000000000"' "$tmp/events"
	echo >&3
	until_true 20 grep -q unmapped "$tmp/said"
	check "$source: it is told" until_true 30 grep -q '"event":"unmap".*"start":"0x6e0000000000"' "$tmp/events"
	exec 3>&-
	wait $pid
	wait $hotvar
	is "$source: status" $? 0
done
done_testing
