#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf-many - thousands of processes, and many threads at once: nothing is lost.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" doctor --json | grep -q '"name":"perf-timer","ok":true' ||
	skip_all "perf's timer cannot be used here"

number() {
	sed -n 's/^{"type":"total",.*"'"$1"'":\([0-9][0-9.]*\).*/\1/p' "$2"
}

"$HOTVAR" record --source perf -o "$tmp/rec" -- "$TESTPROGS/fork_many" 2000
is "2000 children that end at once" $? 0
"$HOTVAR" maps --json -i "$tmp/rec" > "$tmp/maps"
is "each birth is told" "$(grep -c '"event":"fork"' "$tmp/maps")" 2000
is "and each end, with the parent's" "$(grep -c '"event":"exit"' "$tmp/maps")" 2001
"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/report"
is "nothing was lost" "$(number lost "$tmp/report")" 0
# Some 50 us each time, too short for a timer of 1 ms unless what is left of it is kept from child to child.
samples=$(number samples "$tmp/report")
check "their maker was sampled between them ($samples samples)" test "${samples:-0}" -ge 10

"$HOTVAR" --source perf -F 1000 --json -o "$tmp/out" -- "$TESTPROGS/spin_threads" 64 20 > /dev/null
is "64 threads at 1000 Hz" $? 0
is "lose nothing" "$(number lost "$tmp/out")" 0
threads=$(sed -n 's/^{"type":"variable",.*"name":"spun",.*"threads":\([0-9]*\).*/\1/p' "$tmp/out")
is "and each is seen at the variable they share" "$threads" 64

"$HOTVAR" record --source perf -o "$tmp/rec" -- "$TESTPROGS/spin_threads" 1000 2 > /dev/null
is "1,000 threads at a time" $? 0
"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/out"
is "lose nothing" "$(number lost "$tmp/out")" 0
"$HOTVAR" maps --json -i "$tmp/rec" > "$tmp/maps"
is "each birth is told" "$(grep -c '"event":"fork"' "$tmp/maps")" 1000
threads=$(sed -n 's/^{"type":"variable",.*"name":"spun",.*"threads":\([0-9]*\).*/\1/p' "$tmp/out")
check "most are seen in their 2 ms ($threads)" test "${threads:-0}" -ge 500
done_testing
