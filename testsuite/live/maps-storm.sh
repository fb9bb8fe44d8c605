#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-storm - storms of processes, of programs and of libraries, from each source: nothing is missed that is not said.
#
# STORM_FORKS (400) children, STORM_EXECS (60) programs, STORM_LOADS (200) libraries: `make check-random` makes 20,000, 5,000, 10,000.
. "$top_srcdir/testsuite/lib.sh"

command -v python3 > /dev/null || skip_all "no python3 here"
storm=$TESTPROGS/storm one=$(realpath "$TESTPROGS/libreload_one.so") two=$(realpath "$TESTPROGS/libreload_two.so")

# storm_by SOURCE WHAT N EXPECTED ARGUMENT...: launched
storm_by() {
	source=$1 what=$2 n=$3 expected=$4
	shift 4
	timeout -k 5 ${STORM_TIME:-100} "$HOTVAR" maps -q --json --source $source -o "$tmp/events" -- "$storm" $what $n "$@" > "$tmp/out" 2> "$tmp/err"
	rc=$?
	[ $what != execs ] || set -- $1
	said=$(python3 "$top_srcdir/testsuite/maps/storm.py" "$tmp/events" $what $expected "$@" 2>&1)
	if [ $? -eq 0 ] && [ $rc -eq 0 ] && [ "$(cat "$tmp/out")" = $expected ]; then
		ok "$source, $what: $said"
	else
		not_ok "$source, $what: status $rc, $(cat "$tmp/out") of $expected" "$said" "$(cat "$tmp/err")"
	fi
}

for source in ptrace perf; do
	if ! "$HOTVAR" maps -q --source $source -o /dev/null -- true 2> "$tmp/err"; then
		skip "$source" "$(tail -n 1 "$tmp/err")"
		continue
	fi
	storm_by $source forks ${STORM_FORKS:-400} $((${STORM_FORKS:-400} + 8)) 8
	storm_by $source execs ${STORM_EXECS:-60} $((${STORM_EXECS:-60} + 4)) 4
	storm_by $source loads ${STORM_LOADS:-200} ${STORM_LOADS:-200} "$one" "$two"
done
done_testing
