#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ptrace-attach - a running process is followed and let go of, and nothing of it stays.
. "$top_srcdir/testsuite/lib.sh"

tree=$TESTPROGS/tree
pids=
cleanup() {
	for p in $pids; do
		kill -9 "$p" 2> /dev/null
	done
	tap_cleanup
}
trap cleanup EXIT

# Every thread of PID: "STATE TRACER" of each, once
states() {
	for t in /proc/"$1"/task/*/status; do
		awk '/^State:/ { s = $2 } /^TracerPid:/ { print s, $2 }' "$t" 2> /dev/null
	done | sort -u | tr '\n' ' '
}
is_state() { [ "$(states "$1")" = "$2" ]; }

# Two threads spin, the first waits for them.
running="R 0 S 0 "

# attach PID: follow it in the background, pid $hotvar, until its map has been told.
attach() {
	rm -f "$tmp/maps"
	# A shell has background jobs ignore SIGINT: not this one.
	env --default-signal=INT "$HOTVAR" maps -p "$1" > "$tmp/maps" &
	hotvar=$!
	until_true 10 grep -q initial "$tmp/maps"
}

"$tree" spin &
spin=$!
pids="$pids $spin"
until_true 10 sh -c "[ \$(ls /proc/$spin/task | wc -l) -eq 3 ]"

"$HOTVAR" maps -d 0.2 -p $spin > "$tmp/maps"
is "-d: status" $? 0
is "-d: each thread was there" "$(awk 'NR > 1 { print $2 }' "$tmp/maps" | sort -u | wc -l)" 1
like "-d: with its map" "$(cat "$tmp/maps")" 'initial +0x.*tree'
check "-d: all run on untraced" until_true 5 is_state $spin "$running"

for sig in INT TERM; do
	attach $spin
	kill -$sig $hotvar
	wait $hotvar
	is "SIG$sig: status" $? 0
	check "SIG$sig: all run on untraced" until_true 5 is_state $spin "$running"
done

# ^Z would leave the process without an answer at its next stop.
attach $spin
kill -TSTP $hotvar
is "^Z: is caught" $((0x$(sed -n 's/^SigCgt:.*\(.....\)$/\1/p' /proc/$hotvar/status) >> 19 & 1)) 1
kill -INT $hotvar
wait $hotvar
is "^Z: does not stop it" $? 0
check "^Z: all run on untraced" until_true 5 is_state $spin "$running"

# Nobody can catch SIGSTOP: the process waits for hotvar, but for nothing else.
"$tree" mmap 2000000000 &
mapping=$!
pids="$pids $mapping"
attach $mapping
kill -STOP $hotvar
check "SIGSTOP: the process waits at its next call" until_true 5 is_state $mapping "t $hotvar "
kill -CONT $hotvar
lines=$(wc -l < "$tmp/maps")
check "SIGCONT: it goes on, and is followed" until_true 5 sh -c "[ \$(wc -l < '$tmp/maps') -gt $((lines + 100)) ]"
kill -STOP $hotvar
until_true 5 is_state $mapping "t $hotvar "
kill -9 $hotvar
wait $hotvar 2> /dev/null
check "SIGSTOP, then SIGKILL: the process runs on untraced" until_true 5 is_state $mapping "R 0 "
kill -9 $mapping

attach $spin
kill -9 $hotvar
wait $hotvar 2> /dev/null
check "SIGKILL: all run on untraced" until_true 5 is_state $spin "$running"

"$HOTVAR" --source ptrace -d 0.3 -o "$tmp/report" -p $spin
is "sampled: status" $? 0
check "sampled: all run on untraced" until_true 5 is_state $spin "$running"

# A stopped process stays stopped, and keeps nobody waiting.
kill -STOP $spin
until_true 5 is_state $spin "T 0 "
"$HOTVAR" maps -d 0.2 -p $spin > "$tmp/maps"
is "stopped before: hotvar ends" $? 0
check "stopped before: stays stopped" until_true 5 is_state $spin "T 0 "
attach $spin
kill -INT $hotvar
wait $hotvar
is "stopped before: ^C" $? 0
check "stopped before: still stopped" until_true 5 is_state $spin "T 0 "
attach $spin
kill -CONT $spin
check "continued meanwhile: it runs" until_true 5 sh -c "grep -q '^State:.R' /proc/$spin/task/*/status"
kill -STOP $spin
check "stopped meanwhile: it stops" until_true 5 sh -c "! grep -q '^State:.R' /proc/$spin/task/*/status"
kill -INT $hotvar
wait $hotvar
is "stopped meanwhile: hotvar ends" $? 0
check "stopped meanwhile: stays stopped" until_true 5 is_state $spin "T 0 "
kill -CONT $spin
check "and can be continued" until_true 5 is_state $spin "$running"

# It is killed while it is followed.
attach $spin
kill -9 $spin
wait $hotvar
is "killed meanwhile: status" $? 0
is "killed meanwhile: all threads' ends are told" "$(grep -c 'exit  *exit' "$tmp/maps")" 3

# Signals that arrive while hotvar comes and goes: each once.
"$TESTPROGS/count_signals" 2000 > "$tmp/count" &
count=$!
pids="$pids $count"
until_true 10 grep -q ready "$tmp/count"
"$TESTPROGS/count_signals" send $count 2000 &
sender=$!
rounds=0
while kill -0 $sender 2> /dev/null && [ $rounds -lt 20 ]; do
	"$HOTVAR" maps -d 0.05 -p $count > /dev/null 2>&1
	rounds=$((rounds + 1))
done
wait $sender
wait $count
is "attached and let go $([ $rounds -gt 0 ] && echo again and again): no signal is lost" \
	"$(tail -n 1 "$tmp/count")" "2000 signals in order"

# refused TEXT REGEX PID
refused() {
	for how in maps "--source ptrace"; do
		timeout 20 "$HOTVAR" $how -p "$3" > "$tmp/out" 2> "$tmp/err"
		is "$1: status, $how" $? 125
		like "$1: why, $how" "$(cat "$tmp/err")" "^hotvar: cannot .*$2"
		is "$1: one line, $how" "$(wc -l < "$tmp/err")" 1
	done
}
refused "gone" "no such process" $spin
"$tree" zombie > "$tmp/zombie" &
parent=$!
pids="$pids $parent"
until_true 10 test -s "$tmp/zombie"
zombie=$(cat "$tmp/zombie")
until_true 10 grep -q '^State:.Z' /proc/"$zombie"/status
refused "a zombie" "zombie" "$zombie"
if grep -q '^Kthread:.1' /proc/2/status 2> /dev/null || [ "$(cut -c1-2 /proc/2/statm 2> /dev/null)" = "0 " ]; then
	refused "a kernel thread" "kernel thread" 2
else
	skip "a kernel thread" "none is to be seen here"
fi
"$tree" spin &
traced=$!
pids="$pids $traced"
attach $traced
refused "already traced" "already traced by process $hotvar" $traced
kill -INT $hotvar
wait $hotvar
thread=$(ls /proc/$traced/task | tail -n 1)
refused "a thread" "thread of process $traced" "$thread"
if [ "$(id -u)" -ne 0 ] || ! su nobody -s /bin/sh -c "'$tree' status 0" 2> /dev/null; then
	skip "not ours" "only root can become nobody, who must be able to run what was built"
else
	su nobody -s /bin/sh -c "'$HOTVAR' maps -p $traced" > "$tmp/out" 2> "$tmp/err"
	is "not ours: status" $? 125
	like "not ours: why" "$(cat "$tmp/err")" "^hotvar: cannot .*not ours.*run hotvar as"
fi
# Root, but with none of the capabilities that the process, also root's, has.
if [ "$(id -u)" -ne 0 ] || ! setpriv --bounding-set=-all true 2> /dev/null; then
	skip "root without capabilities" "only root can give up capabilities, by setpriv"
else
	for command in "" maps sym; do
		setpriv --bounding-set=-all "$HOTVAR" $command -p $traced > "$tmp/out" 2> "$tmp/err" < /dev/null
		is "root without capabilities: $command status" $? 125
		like "root without capabilities: $command why" "$(cat "$tmp/err")" \
			"^hotvar: cannot follow.*though we are root \(.*\): it has capabilities that we lack \(0x.*; run hotvar"
	done
fi
"$TESTPROGS/without" ptrace EPERM "$HOTVAR" maps --source ptrace -p $traced > "$tmp/out" 2> "$tmp/err"
case $? in
77) skip "no ptrace" "no seccomp filter can be installed here" ;;
*)
	like "no ptrace: why" "$(cat "$tmp/err")" "^hotvar: cannot trace.*ptrace is refused"
	is "no ptrace: one line" "$(wc -l < "$tmp/err")" 1
	;;
esac
done_testing
