#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# thread-relay.sh - a process whose first thread has ended, and whose others end one after the other, each as it is looked
# through: its memory is there all the time.
. "$top_srcdir/testsuite/lib.sh"

program=$TESTPROGS/thread_relay
cd "$tmp" || exit 1
mkfifo in
"$program" < in > out 2>&1 &
pid=$!
exec 3> in
zombie() {
	grep -q 'State:.Z' "/proc/$pid/status"
}
until_true 60 zombie || not_ok "the program" "its first thread goes on: $(cat out)"

# named TEXT N: N looks at its variable
named() {
	table=$(sed -n 's/^table //p' out | tail -n 1)
	for i in $(seq "$2"); do
		"$HOTVAR" sym -p "$pid" "$table" 2>&1
	done | sort | uniq -c > said
	is "sym -p, $1" "$(awk '{ print $1, $3, $4, $6 }' said)" "$2 table[0] data $program"
}
named "each time" 40
"$HOTVAR" pages -p "$pid" --variable table --json > json 2> err
is "pages -p: the variable's pages" "$(grep -c '"type":"page".*"present":true' json) $(cat err)" "3 "
for source in look perf; do
	"$HOTVAR" maps -q -p "$pid" --source $source -d 1 --json > json 2> err
	is "maps by $source: exit status" $? 0
	check "maps by $source: its area" grep -q '"event":"initial".*"path":"'"$program"'"' json
	is "maps by $source: nothing was executed" "$(grep -c '"event":"exec"' json)" 0
	[ $source = perf ] || is "maps by $source: it has not ended" "$(grep -c '"event":"exit"' json)" 0
done

# ---- it executes a program, which the thread of the moment does ---------------------------------------------

rm -f json # what is in it by now is of another
"$HOTVAR" maps -p "$pid" --source look --json > json 2> err 3>&- &
hotvar=$!
until_true 60 grep -q '"event":"initial".*"kind":"stack"' json || not_ok "maps by look" "does not begin: $(cat err)"
echo >&3
executed() {
	grep -q '"event":"exec"' json && [ "$(grep -c table out)" = 2 ] && zombie
}
until_true 60 executed || not_ok "maps by look" "it did not execute: $(cat json err out)"
named "of what it has executed" 10

"$HOTVAR" pages -p "$pid" --interval 0.1 > rows 2> err 3>&- &
pages=$!
until_true 60 grep -q 'code' rows || not_ok "pages --interval" "does not begin: $(cat err)"
echo >&3
wait $pages
is "pages --interval: exit status" $? 125
is "pages --interval: it executed a program" "$(grep -v note: err)" "hotvar: cannot look at the pages of process $pid: it has executed another program meanwhile; look again"
twice() {
	[ "$(grep -c '"event":"exec"' json)" = 2 ]
}
until_true 60 twice || not_ok "maps by look" "it did not execute again: $(cat err)"
exec 3>&-
wait $pid
is "the program ends as it does" $? 0
wait $hotvar
is "maps by look, to the end: exit status" $? 0
is "maps by look: its one end is the last" "$(grep '"event":"ex' json | sed 's/.*"event":"\([a-z]*\)".*/\1/' | tr '\n' ' ')" "exec exec exit "

done_testing
