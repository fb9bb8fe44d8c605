#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# accuracy-unfinished - a loop that the program never came to gets no accesses, whatever its code says it would do.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" --json -q -o "$tmp/json" -- "$TESTPROGS/two_loops" 2> "$tmp/err"
is "hotvar and the program succeed" "$? $(cat "$tmp/err")" "0 "
share=$(sed -n 's/.*"symbol":"first".*"share":\([0-9.e-]*\).*/\1/p' "$tmp/json")
check "the loop that ran has 95 % and more (${share:-none})" \
	awk "BEGIN { exit !(${share:-0} >= 0.95) }"
share=$(sed -n 's/.*"symbol":"second".*"share":\([0-9.e-]*\).*/\1/p' "$tmp/json")
check "the one that did not has nothing (${share:-none})" \
	awk "BEGIN { exit !(${share:-0} < 0.01) }"
done_testing
