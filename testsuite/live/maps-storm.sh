#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-storm - storms of processes, of programs and of libraries, from each source: nothing is missed that is not said.
#
# STORM_FORKS (400) children, STORM_EXECS (60) programs, STORM_LOADS (200) libraries: `make check-random` makes 20,000, 5,000, 10,000.
# STORM_BURSTS (60) processes that load libraries after a while of nothing.
. "$top_srcdir/testsuite/lib.sh"

command -v python3 > /dev/null || skip_all "no python3 here"
storm=$TESTPROGS/storm one=$(realpath "$TESTPROGS/libreload_one.so") two=$(realpath "$TESTPROGS/libreload_two.so")

# Perf tells of calls as they begin, or, where tracefs is mounted, as they return; without either it looks.  Neither mount is seen outside.
in_tracefs() {
	unshare -m sh -c '[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing || exit 99; exec "$@"' sh "$@"
}
without_it() {
	[ "$(id -u)" -eq 0 ] || { "$@"; return; } # it is for root alone
	unshare -m sh -c 'umount -q -l /sys/kernel/debug/tracing; umount -q -l /sys/kernel/tracing; [ ! -d /sys/kernel/tracing/events ] || exit 99; exec "$@"' sh "$@"
}

# storm_by SOURCE WHAT N EXPECTED ARGUMENT...: launched, by $within; $some is what the source promises less
storm_by() {
	source=$1 what=$2 n=$3 expected=$4
	shift 4
	$within timeout -k 5 ${STORM_TIME:-100} "$HOTVAR" maps -q --json --source $source -o "$tmp/events" -- "$storm" $what $n "$@" > "$tmp/out" 2> "$tmp/err"
	rc=$?
	[ $what != execs ] || set -- $1
	said=$(python3 "$top_srcdir/testsuite/maps/storm.py" $some "$tmp/events" $what $expected "$@" 2>&1)
	if [ $? -eq 0 ] && [ $rc -eq 0 ] && [ "$(cat "$tmp/out")" = $expected ]; then
		ok "$source${within:+, $within}, $what: $said"
	else
		not_ok "$source${within:+, $within}, $what: status $rc, $(cat "$tmp/out") of $expected" "$said" "$(cat "$tmp/err")"
	fi
}

# storms SOURCE WITHIN [--mappings]
storms() {
	within=$2 some=$3
	$within "$HOTVAR" maps --source $1 -o /dev/null -- true > /dev/null 2> "$tmp/err"
	rc=$?
	less=
	! grep -q "looked up about" "$tmp/err" || less=--mappings
	if [ $rc -ne 0 ] || { [ $1 != ptrace ] && [ "$less" != "$some" ]; }; then
		skip "$1${2:+, $2}" "not here: $(tail -n 1 "$tmp/err")"
		return
	fi
	storm_by $1 forks ${STORM_FORKS:-400} $((${STORM_FORKS:-400} + 8)) 8
	storm_by $1 execs ${STORM_EXECS:-60} $((${STORM_EXECS:-60} + 4)) 4
	storm_by $1 loads ${STORM_LOADS:-200} ${STORM_LOADS:-200} "$one" "$two"
	# Each of them is looked at when it has had no news for a while, and may go on just then.
	[ $1 = ptrace ] || storm_by $1 bursts ${STORM_BURSTS:-60} $((${STORM_BURSTS:-60} * 10)) "$one" "$two"
}

storms ptrace ""
storms perf ""
storms perf-returns in_tracefs
storms perf-returns without_it --mappings
done_testing
