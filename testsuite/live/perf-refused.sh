#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf-refused - where perf is refused, ptrace takes its place, and the report says so.
. "$top_srcdir/testsuite/lib.sh"

without=$TESTPROGS/without
"$without" perf EPERM true
case $? in
0) ;;
*) skip_all "no seccomp filter can be installed here" ;;
esac

# headline: of a report on stdin, in one line however long the program's name is
headline() {
	head -n 3 | tr -s '\n ' ' '
}

for code in EPERM EACCES; do
	"$without" perf $code "$HOTVAR" --json -o "$tmp/out" -- "$TESTPROGS/spin_threads" 2 300 > "$tmp/cmd"
	is "$code: the program runs" $? 0
	like "$code: to its end" "$(cat "$tmp/cmd")" '^cpu_ms [0-9]+$'
	like "$code: its variable is found" "$(cat "$tmp/out")" '"name":"spun"'
	"$without" perf $code "$HOTVAR" -o "$tmp/text" -- "$TESTPROGS/spin_threads" 1 50 > /dev/null
	like "$code: the report says how it was sampled" "$(cat "$tmp/text")" 'ptrace'
	like "$code: and how often" "$(headline < "$tmp/text")" ' at 200 Hz of CPU time'
	like "$code: in JSON too" "$(head -n 1 "$tmp/out")" '"hz":"?200[",]'
done
"$without" perf EPERM "$HOTVAR" -F 150 -o "$tmp/text" -- "$TESTPROGS/spin_threads" 1 50 > /dev/null
like "a rate that stops can do is left as it is" "$(headline < "$tmp/text")" ' at 150 Hz of CPU time'
"$without" perf EPERM "$HOTVAR" record -q -o "$tmp/rec" -- "$TESTPROGS/spin_threads" 1 50 > /dev/null
like "a recording says it too" "$("$HOTVAR" report -i "$tmp/rec" | headline)" ' at 200 Hz of CPU time'

# A program that calls the kernel all the time: no sample is lost to its calls.
"$TESTPROGS/loop" getppid 1000000000000 &
calls=$!
trap 'kill -9 $calls; tap_cleanup' EXIT
"$without" perf EPERM "$HOTVAR" record -q -o "$tmp/rec" -p $calls -d 1
"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/out"
n=$(sed -n 's/^{"type":"total","samples":\([0-9]*\).*/\1/p' "$tmp/out")
check "attached, it is sampled again and again ($n times)" [ "${n:-0}" -ge 20 ]
like "its map is read now and then" "$(head -n 1 "$tmp/out")" '"maps":"proc"'
kill -STOP $calls
until_true 10 grep -q '^State:.T' /proc/$calls/status
for how in "$without perf EPERM $HOTVAR" "$HOTVAR"; do
	$how -q -p $calls -d 0.2 2> "$tmp/text"
	like "a stopped one is said to be stopped" "$(tr -s '\n ' ' ' < "$tmp/text")" "is stopped.*kill -CONT $calls"
done
kill -9 $calls
trap tap_cleanup EXIT

"$without" perf EPERM "$HOTVAR" --source perf -o "$tmp/out" -- true 2> "$tmp/err"
is "--source perf fails then" $? 125
is "with one line" "$(wc -l < "$tmp/err")" 1
like "that says what, why and what to do" "$(cat "$tmp/err")" 'perf.*refused.*(seccomp|paranoid)'

"$without" both EPERM "$HOTVAR" -o "$tmp/out" -- true 2> "$tmp/err"
is "with ptrace refused as well" $? 125
is "there is one line" "$(wc -l < "$tmp/err")" 1

"$without" both EPERM "$HOTVAR" doctor > "$tmp/doctor"
is "doctor says that the main job cannot run" $? 1
like "in words" "$(cat "$tmp/doctor")" 'cannot run here'
"$without" perf EPERM "$HOTVAR" doctor > "$tmp/doctor"
is "and that it can with either" $? 0
like "by ptrace" "$(cat "$tmp/doctor")" 'ptrace stops'
done_testing
