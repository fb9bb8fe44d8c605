#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-memory - memory that has no address of its own in a file: thread-local variables, and the stacks of threads.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" --json -q -o "$tmp/json" -- "$TESTPROGS/thread_memory" > "$tmp/out" 2> "$tmp/err"
is "hotvar and the program succeed" "$? $(cat "$tmp/err")" "0 "

# third NAME KIND: it has a third of the accesses, as in the program.
third() {
	row=$(grep -F "\"name\":\"$1\"" "$tmp/json")
	like "$1 is of kind $2" "$row" "\"symbol\":($3),.*\"kind\":\"$2\""
	share=$(echo "$row" | sed -n 's/.*"share":\([0-9.e-]*\).*/\1/p')
	check "and has a third of the accesses (${share:-none})" \
		awk "BEGIN { exit !(${share:-0} > 0.28 && ${share:-0} < 0.38) }"
}
third 'own@tls' tls '"own"'
third '[stack]' stack null
third global bss '"global"'
unlike "nothing is taken for anonymous memory" "$(cat "$tmp/json")" '"name":"\[anon\]".*"share":0\.[1-9]'
done_testing
