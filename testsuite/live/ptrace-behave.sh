#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ptrace-behave - a traced program sees of signals, stops, waits and itself what it sees alone.
. "$top_srcdir/testsuite/lib.sh"

"$TESTPROGS/behave" > "$tmp/alone"
is "the program alone" $? 42

# same TEXT COMMAND...
same() {
	text=$1
	shift
	timeout 60 "$@" > "$tmp/out" 2> "$tmp/err"
	is "$text: status" $? 42
	if diff "$tmp/alone" "$tmp/out" > "$tmp/diff"; then
		ok "$text: the same"
	else
		not_ok "$text: the same" "$(cat "$tmp/diff" "$tmp/err")"
	fi
}

same "maps" "$HOTVAR" maps -o "$tmp/maps" -- "$TESTPROGS/behave"
same "sampled by perf" "$HOTVAR" -o "$tmp/report" --source ptrace -- "$TESTPROGS/behave"
# sh starts asynchronous lists with SIGINT and SIGQUIT ignored, nohup ignores SIGHUP: that is handed on.
(trap '' HUP USR2 && "$TESTPROGS/behave") | grep SigIgn > "$tmp/alone"
(trap '' HUP USR2 && "$HOTVAR" maps -o "$tmp/maps" -- "$TESTPROGS/behave") | grep SigIgn > "$tmp/out"
is "ignored signals stay ignored" "$(cat "$tmp/out")" "$(cat "$tmp/alone")"
unlike "and there were some" "$(cat "$tmp/out")" '0000000000000000'

# Descriptors: one that was handed on is there, none of hotvar's is.
is "no descriptor leaks" \
	"$(timeout 60 "$HOTVAR" maps -o "$tmp/maps" -- sh -c 'ls /proc/self/fd | wc -l' 7< /dev/null)" \
	"$(sh -c 'ls /proc/self/fd | wc -l' 7< /dev/null)"
is "stdin is the program's" "$(echo text | "$HOTVAR" maps -o "$tmp/maps" -- cat)" text
is "a pipeline" "$("$HOTVAR" maps -o "$tmp/maps" -- sh -c 'seq 1000 | sort -n | tail -n 1')" 1000

# ^Z at a terminal: both stop, the program first.
check "^Z stops hotvar and the program, fg continues both" \
	timeout 60 "$TESTPROGS/stop_group" "$HOTVAR" maps -o "$tmp/maps" -- "$TESTPROGS/tree" spin

# A reader of the lines that goes away does not cost the program its life.
"$HOTVAR" maps -o - -- sh -c "'$TESTPROGS/tree' mmap 3000; echo \$? > '$tmp/ended'" | head -n 1 > "$tmp/head"
is "the reader is gone, the program ends as always" "$(cat "$tmp/ended")" 0
done_testing
