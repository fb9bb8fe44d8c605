#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# hottest.sh - the hottest static variables of programs that count for themselves.
# hotvar-test: alone
#
# Each hot_* program prints "hot NAME COUNT", most first.  The five it touches
# most must be the five that hotvar finds; ACCURACY_RUNS=20 asks for that many times.
. "$top_srcdir/testsuite/lib.sh"

programs=$(cd "$TESTPROGS" && ls | grep '^hot_[a-z]*$')
[ -n "$programs" ] || skip_all "no hot_* programs were built"

# The first five names of our own module with a symbol, as a report has them.
found_top() {
	sed -n 's/^{"type":"variable","rank":[0-9]*,"name":"[^"]*","symbol":"\([^"]*\)","module":"[^"]*\/'"$1"'".*/\1/p' "$2" |
		head -n 5
}

for p in $programs; do
	bad=
	run=0
	while [ $run -lt "${ACCURACY_RUNS:-1}" ]; do
		run=$((run + 1))
		if ! "$HOTVAR" --json -q -o "$tmp/$p.json" -- "$TESTPROGS/$p" > "$tmp/$p.out" 2> "$tmp/$p.err"; then
			bad="hotvar failed: $(tail -n 3 "$tmp/$p.err")"
			break
		fi
		sed -n 's/^hot \([^ ]*\) [0-9]*$/\1/p' "$tmp/$p.out" | head -n 5 > "$tmp/want"
		found_top "$p" "$tmp/$p.json" > "$tmp/got"
		if [ "$(wc -l < "$tmp/want")" -ne 5 ]; then
			bad="$p does not say five names"
			break
		fi
		if [ "$(sort "$tmp/want")" != "$(sort "$tmp/got")" ]; then
			bad="$bad
run $run: want $(tr '\n' ' ' < "$tmp/want")
run $run: got  $(tr '\n' ' ' < "$tmp/got")"
		fi
	done
	if [ -z "$bad" ]; then
		ok "$p: the five variables it touches most are hotvar's five"
	else
		not_ok "$p: the five variables it touches most are hotvar's five" "$bad"
	fi
done
done_testing
