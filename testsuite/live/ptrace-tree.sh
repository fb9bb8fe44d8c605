#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ptrace-tree - processes and threads by the hundred, and in the ways that are hard to follow.
. "$top_srcdir/testsuite/lib.sh"

tree=$TESTPROGS/tree

# counts STATUS FORKS EXECS EXITS ARGS...: the first exec is the program's own
counts() {
	want="$1 $2 $3 $4"
	shift 4
	timeout 100 "$HOTVAR" maps --json -o "$tmp/events" -- "$tree" "$@" 2> "$tmp/err"
	rc=$?
	is "$*: status, forks, execs, exits" "$rc $(grep -c '"event":"fork"' "$tmp/events") $(
		grep -c '"event":"exec"' "$tmp/events") $(grep -c '"event":"exit"' "$tmp/events")" "$want"
	like "$*: nothing lost" "$(tail -n 1 "$tmp/events")" '"lost_maps":0,"lost_tasks":0,"lost_memory":0,"broken":null'
}

counts 3 1000 1 1001 forks 1000
counts 4 100 101 101 vforks 100
counts 5 1000 1 1001 threads 1000
counts 6 4 2 5 exec
is "exec from a thread: all is told before it but the last exit" \
	"$(sed -n 's/.*"event":"\(exec\|exit\)".*/\1/p' "$tmp/events" | tr '\n' ' ')" "exec exit exit exit exit exec exit "
counts 7 1 1 2 leader
is "every event is of a task that lives" "$(awk -F'"tid":' '
	/"event":"fork"/ { split($0, c, "\"child\":"); alive[c[2] + 0] = 1 }
	/"type":"map"/ { if (!first) { first = 1; alive[$2 + 0] = 1 }
		if (!alive[$2 + 0]) bad++ }
	/"event":"exit"/ { delete alive[$2 + 0] }
	END { print bad + 0 }' "$tmp/events")" 0

# A daemon outlives CMD: hotvar reports, and serves it at its gate to its end.
mkfifo "$tmp/fifo"
"$HOTVAR" maps -o "$tmp/maps" -- "$tree" daemon "$tmp/fifo" 2> "$tmp/err" &
hotvar=$!
exec 3> "$tmp/fifo" # blocks until the daemon has opened it
if until_true 10 grep -q 'exit  *exit' "$tmp/maps"; then
	ok "CMD's events are written while its daemon lives"
else
	not_ok "CMD's events are written while its daemon lives" "$(cat "$tmp/maps")"
fi
daemon=$(awk '$4 == "fork" { print $7 }' "$tmp/maps" | tail -n 1)
echo text >&3
check "the daemon lives" kill -0 "$daemon"
exec 3>&-
wait $hotvar
is "hotvar ends with the daemon, with CMD's status" $? 0
check "no process is left" sh -c "[ ! -e /proc/$daemon ] || grep '^State:.Z' /proc/$daemon/status"

# late TEXT STATUS COMMAND...: run by hotvar until its measuring has ended, CMD waits for that; then CMD's end is not told.
mkfifo "$tmp/end"
late() {
	text=$1 want=$2
	shift 2
	rm -f "$tmp/maps" "$tmp/trapped"
	"$@" -- sh -c "trap '' INT; : > '$tmp/trapped'; read line < '$tmp/end'; '$tree' mmap 10; exit $want" &
	hotvar=$!
	until_true 20 sh -c "test -e '$tmp/trapped' && $interrupt grep -q '\"type\":\"total\"' '$tmp/maps'"
	is "$text: the measuring ends" $? 0
	exec 3> "$tmp/end"
	exec 3>&-
	wait $hotvar
	is "$text: CMD's own status" $? "$want"
	is "$text: what came later is not told" "$(grep -c '"event":"\(exit\|fork\)"' "$tmp/maps")" 0
}
interrupt=
late "-d" 11 "$HOTVAR" maps --json -d 0.1 -o "$tmp/maps"
"$TESTPROGS/ungated" true
if [ $? -eq 77 ]; then
	skip "-d without a gate" "no seccomp filter can be installed here"
else
	late "-d without a gate" 12 "$TESTPROGS/ungated" "$HOTVAR" maps -q --json -d 0.1 -o "$tmp/maps"
fi
# CMD cares for no ^C: the first is left to CMD, the second ends the measuring, not CMD.
interrupt="kill -INT \$(cat '$tmp/pid');"
late "^C again and again" 13 env --default-signal=INT sh -c 'echo $$ > "$0"; exec "$@"' "$tmp/pid" \
	"$HOTVAR" maps --json -o "$tmp/maps"
done_testing
