#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-killed - SIGKILL of hotvar at random points: an attached program runs on, a launched one ends with it or needs it not.
#
# KILLS (20) in all, from KILL_SEED (1) on: `make check-random` kills 1,000 times.
. "$top_srcdir/testsuite/lib.sh"

command -v python3 > /dev/null || skip_all "no python3 here"
each=$((${KILLS:-20} / 4))
cp "$TESTPROGS/random_maps" "$tmp/mapper"
mkdir "$tmp/dir"

for way in ptrace-attached ptrace-launched perf-attached perf-launched; do
	if ! "$HOTVAR" maps -q --source ${way%-*} -o /dev/null -- true 2> "$tmp/err"; then
		skip "$way" "$(tail -n 1 "$tmp/err")"
		continue
	fi
	said=$(python3 "$top_srcdir/testsuite/maps/killed.py" "$HOTVAR" "$tmp/mapper" "$tmp/dir" $each ${KILL_SEED:-1} $way 2>&1)
	like "$way: $(printf '%s\n' "$said" | tail -n 1)" "$said" "^$each times, 0 bad"
done
done_testing
