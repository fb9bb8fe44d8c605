#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-stripped.sh - a stripped program's functions are known by its unwind information.
#
# `mixes` says how many reads and writes it makes; with symbols or without, a report must have
# the same share of writes, and as little time in code that accesses no memory.
. "$top_srcdir/testsuite/lib.sh"

for tool in strip awk; do
	command -v $tool > "$tmp/null" || skip_all "there is no $tool"
done
cp "$TESTPROGS/mixes" "$tmp/whole"
strip -o "$tmp/stripped" "$tmp/whole"

# writes' percentage of the accesses of our own module's rows, and that of time without any
shares() {
	awk -v module="\"module\":\"$tmp/$1\"" '
	function value(key) {
		if (!match($0, "\"" key "\":[0-9.e+-]+"))
			return 0
		return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
	}
	/"type":"variable"/ && index($0, module) { all += value("share"); writes += value("share") * value("write_share") }
	/"type":"total"/ { sub(/.*"unattributed_time_share":/, ""); none = value("no-memory-operand") }
	END { if (all) printf "%.1f %.1f %.1f\n", 100 * writes / all, 100 * none, 100 * all }' "$2"
}

for p in whole stripped; do
	"$HOTVAR" --json -q -o "$tmp/$p.json" -- "$tmp/$p" > "$tmp/$p.out" 2> "$tmp/$p.err" ||
		not_ok "hotvar runs $p" "$(tail -n 5 "$tmp/$p.err")"
	want=$(awk '/^reads/ { printf "%.1f", 100 * $4 / ($2 + $4) }' "$tmp/$p.out")
	set -- $(shares $p "$tmp/$p.json")
	if awk "BEGIN { exit !(${3:-0} > 95 && ${1:-0} > $want - 5 && ${1:-0} < $want + 5) }"; then
		ok "$p: writes are ${want} % of the accesses, within 5 points"
	else
		not_ok "$p: writes are ${want} % of the accesses, within 5 points" \
			"got ${1:-nothing} %, of ${3:-0} % of all accesses" "$(tail -n 5 "$tmp/$p.json")"
	fi
	echo "${2:-100}" > "$tmp/$p.none"
done
a=$(cat "$tmp/whole.none") b=$(cat "$tmp/stripped.none")
if awk "BEGIN { d = $a - $b; exit !(d < 10 && d > -10) }"; then
	ok "time in code that accesses no memory is the same with and without symbols, within 10 points"
else
	not_ok "time in code that accesses no memory is the same with and without symbols, within 10 points" \
		"with symbols $a %, without $b %"
fi
done_testing
