#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# advise-walks.sh - hotvar advise: walks so fast that they are anywhere at the next sample get no advice; what
# jumps from access to access, or from record to record, gets it.
. "$top_srcdir/testsuite/lib.sh"

cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"
export ADVISE_NO_THP=1
"$HOTVAR" doctor --json | grep -q '"name":"perf-timer","ok":true' || skip_all "no perf timer here (hotvar doctor says why)"
"$HOTVAR" -v -- "$TESTPROGS/advise_walks" strided 16 0.2 > "$tmp/out" 2> "$tmp/err"
! grep -q 'no breakpoints could be set' "$tmp/err" || skip_all "another program has the CPU's breakpoints, or there are none"

field() {
	sed -n "/^{\"type\":\"$2\"/{s/.*\"$3\":\\(\"[^\"]*\"\\|[^,}]*\\).*/\\1/;s/\"//g;p;q;}" "$1"
}
# verdict HOW SECONDS: of the program's own area
verdict() {
	"$HOTVAR" advise --json -o "$tmp/json" -- "$TESTPROGS/advise_walks" "$1" $mib "$2" > "$tmp/out" 2> "$tmp/err"
	start=$(sed -n 's/^range \([^ ]*\) .*/\1/p' "$tmp/out")
	grep "\"start\":\"$start\"" "$tmp/json" > "$tmp/row"
	echo "$(field "$tmp/row" advice why)"
}

"$HOTVAR" advise --json -o "$tmp/json" -- true
reach=$(field "$tmp/json" machine tlb_reach)
mib=64
while [ $mib -lt $((reach / 262144)) ]; do # four times what the TLB reaches
	mib=$((2 * mib))
done
for how in strided streams copy threads; do
	is "$how: no advice" "$(verdict $how 0.3)" in-order
done
for how in records search mixed; do
	is "$how: advised" "$(verdict $how 0.4)" given
done
done_testing
