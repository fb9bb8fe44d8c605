#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-budget.sh - breakpoints that calibrate samples, and what measuring may cost.
. "$top_srcdir/testsuite/lib.sh"

# Three of four numbers are odd.  The loads that the branch waits for are of a table that no cache holds.
cat > "$tmp/lean.c" << 'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
uint8_t far_away[1 << 26];
uint64_t often[16], seldom[16];
int main(int argc, char **argv)
{
	uint64_t x = 1;
	long n = argc > 1 ? atol(argv[1]) : 1;

	for (long i = 0; i < 1 << 26; i += 4096)
		far_away[i] = 1;
	for (long i = 0; i < n; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		if (far_away[x >> 38] + (x >> 60) < 12)
			often[x >> 44 & 15]++;
		else
			seldom[x >> 48 & 15]++;
	}
	printf("%llu\n", (unsigned long long)(often[3] + seldom[3]));
	return 0;
}
END
cc "$tmp/lean.c" -O2 -g -o "$tmp/lean"

# total KEY: of the last line of the report
total() {
	sed -n 's/^{"type":"total",.*"'"$1"'":\([0-9.e-]*\).*/\1/p' "$tmp/json"
}

meta() {
	sed -n 's/^{"type":"meta",.*"'"$1"'":\([0-9.]*\).*/\1/p' "$tmp/json"
}

measure() {
	"$HOTVAR" --source perf --json -o "$tmp/json" "$@" > "$tmp/out" 2> "$tmp/err"
}

if ! measure -- "$tmp/lean" 60000000; then
	skip_all "perf's timer is refused here: $(tail -n 1 "$tmp/err")"
fi
check "the report says what measuring took of the program's time" test -n "$(total slowdown)"
check "and what one sample takes, as measured" test "$(total sample_ns)" -gt 0
if grep -q 'no breakpoints could be set' "$tmp/json"; then
	skip "breakpoints were hit" "another program has the CPU's breakpoints"
else
	check "breakpoints were hit" test "$(total hits)" -gt 0
fi
share() {
	sed -n 's/^{"type":"variable",.*"symbol":"'"$1"'",.*"share":\([0-9.]*\),.*/\1/p' "$tmp/json"
}
check "what is accessed three times as often has most" awk -v a="$(share often)" -v b="$(share seldom)" 'BEGIN { exit !(a > b) }'

measure --budget 0.5% -- "$tmp/lean" 30000000
# of 5 ms a second two thirds are for samples, of which one takes as long as was measured
each=$(total sample_ns)
is "a small budget: as many samples a second as it is good for" "$(meta hz)" "$(awk -v each="${each:-16000}" 'BEGIN { printf "%d", 0.005 * 2 / 3 * 1e9 / each }')"
check "and it is said" grep -q '"note":"[^"]*to cost no more than --budget says' "$tmp/json"
measure --budget 50 -- "$tmp/lean" 30000000
is "a large one: as many as usual" "$(meta hz)" "1000"
for bad in 0 -1 101 x 5x ''; do
	"$HOTVAR" --budget "$bad" -- true > "$tmp/out" 2> "$tmp/err"
	is "--budget '$bad' is refused" "$?" "2"
	check "and it is said what is wrong" grep -q -e "--budget" "$tmp/err"
done

# A recording keeps the hits: both reports of it agree.
"$HOTVAR" record --source perf -o "$tmp/rec" -- "$tmp/lean" 30000000 > "$tmp/out" 2> "$tmp/err"
"$HOTVAR" report -i "$tmp/rec" --json -o "$tmp/one"
"$HOTVAR" report -i "$tmp/rec" --json -o "$tmp/two"
check "reports of one recording agree" cmp -s "$tmp/one" "$tmp/two"
done_testing
