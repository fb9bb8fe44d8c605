#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ptrace.sh - where perf is refused: samples by timed stops against a count of every access, over some programs of the suite.
#
# At 200 Hz and without breakpoints less is known, which the intervals must say.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

build=$top_builddir/testsuite/accuracy-ptrace
mkdir -p "$build"
# shellcheck disable=SC2086
exec python3 "$top_srcdir/testsuite/accuracy/accuracy.py" --hotvar "$HOTVAR" --build "$build" --options "--source ptrace" --no-cost \
	--only lru,lu,blur --work lru=40000000,lu=500,blur=400 --goal "mean error=5" --goal "top 5=0.9" --goal own=1 ${ACCURACY_PTRACE:-}
