#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# signals.sh - signals that are sent to hotvar alone: CMD has them, nothing measured is lost, and CMD is left whole or
# ended, however hotvar ends; and outputs whose reader goes away.
. "$top_srcdir/testsuite/lib.sh"
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

# Its own copy, so that it can be told from others'.
cp "$TESTPROGS/signals" cmd
command -v valgrind > /dev/null && "$HOTVAR" -q --exact -o exact.out -- true > out 2> err && exact=--exact
perf=
"$HOTVAR" record -q --source perf -o probe.rec -- true 2> err && perf=1

# begin COMMAND...: hotvar in $hotvar, CMD in $cmd, which waits for signals
begin() {
	: > out
	"$HOTVAR" "$@" -- ./cmd > out 2> err &
	hotvar=$!
	until_true 60 grep -q '^signals ready' out
	cmd=$(sed -n 's/^signals ready //p' out)
}

# said N: CMD has said so many lines of signals
said() { [ "$(sed 1d out | grep -c .)" -eq "$1" ]; }

gone() { ! kill -0 "$cmd" 2> /dev/null || grep -q '^State:.Z' "/proc/$cmd/status"; }

# Each that would end a process by default, and means CMD.
# HUP USR1 USR2 ALRM STKFLT VTALRM PROF IO PWR, real-time (valgrind has the last for itself); not every shell knows all by name
signals="1 10 12 14 16 26 27 29 30 34 60"
want=$(for s in $signals; do echo $s mapped; done)
commands="--source=ptrace|record --source=ptrace -o a.rec|maps -o m|maps --source=look -o m|pages|advise"
[ -z "$perf" ] || commands="--source=perf|record --source=perf -o a.rec|maps --source=perf -o m|$commands"
[ -z "${exact-}" ] || commands="--exact|$commands"
IFS='|'
for command in $commands; do
	IFS=' '
	# shellcheck disable=SC2086
	begin $command
	kill -37 $hotvar # its own, SIGRTMIN+3: it stays with it, and does nothing
	for s in $signals; do
		kill -$s $hotvar
	done
	until_true 20 said 11
	kill -TERM $hotvar
	wait $hotvar
	is "$command: SIGTERM goes on to CMD, whose status is hotvar's" $? 7
	is "$command: and so do the others, while hotvar goes on" "$(sed 1d out | sort -n)" "$want"
	case $command in
	record*) check "$command: all is recorded" sh -c '"$HOTVAR" maps -i a.rec | grep -q " exit  *cmd\| exit "' ;;
	maps*) like "$command: the map is told to the end" "$(tail -n 1 m)" ' exit ' ;;
	esac
done

# ---- while and after a report is written of a CMD that runs on ----
for command in ${perf:+--source=perf} --source=ptrace ${exact-}; do
	begin $command -d 0.01
	kill -USR1 $hotvar
	until_true 20 said 1
	until_true 20 grep -q . err
	kill -USR2 $hotvar
	until_true 20 said 2
	is "$command, after -d, too" "$(sed 1d out)" "$(printf '10 mapped\n12 mapped')"
	kill -TERM $hotvar
	wait $hotvar
	is "$command, and its status" $? 7
done

# ---- a process that runs ----
./cmd > out &
cmd=$!
until_true 20 grep -q '^signals ready' out
for command in "" "record -o p.rec" "maps -o m" "advise" "pages -d 100" "pages --copies"; do
	for s in 10 14 64; do
		# shellcheck disable=SC2086
		"$HOTVAR" $command -p $cmd > p.out 2> err &
		hotvar=$!
		until_true 20 sh -c "grep -q '^SigCgt:.*[1-9a-f]' /proc/$hotvar/status && [ \$((0x\$(sed -n 's/^SigCgt:[^0-9a-f]*//p' /proc/$hotvar/status) & 0x200)) -ne 0 ]"
		kill -$s $hotvar
		wait $hotvar
		status=$?
		[ $status -le 1 ] || bad="${bad-} $command $s: $status"
	done
done
is "-p: any of them ends the measuring, with a report" "${bad-}" ""
kill -USR2 $cmd
until_true 20 said 1
is "and the process goes on, without any of them" "$(sed 1d out)" "12 mapped"
kill $cmd
wait $cmd

# ---- hotvar itself is ended ----
IFS='|'
for command in $commands; do
	IFS=' '
	for s in SEGV KILL; do
		: > out
		: > pid
		# shellcheck disable=SC2086
		(ulimit -c 0; "$HOTVAR" $command -- ./cmd > out 2> err & echo $! > pid; wait $! 2> /dev/null) &
		until_true 60 grep -q '^signals ready' out
		until_true 60 test -s pid
		cmd=$(sed -n 's/^signals ready //p' out)
		hotvar=$(cat pid)
		kill -$s "$hotvar"
		wait
		case $command in
		*=ptrace* | "maps -o m")
			until_true 20 gone
			check "$command, SIG$s: CMD has ended with it" gone
			;;
		*)
			kill -USR1 "$cmd"
			until_true 20 said 1
			is "$command, SIG$s: CMD goes on, and maps memory" "$(sed 1d out)" "10 mapped"
			kill "$cmd"
			until_true 20 gone
			;;
		esac
	done
done

# ---- nobody reads on ----
"$HOTVAR" record -q -o a.rec -- "$TESTPROGS/loop" cpu 10000000 > out 2>&1
address=0x$(nm "$TESTPROGS/loop" | sed -n 's/ [Tt] main$//p')
# closed WANT COMMAND...: its status, where it writes into a pipe that nobody reads
mkfifo pipe
closed() {
	closed_want=$1
	shift
	exec 5<> pipe
	exec 6> pipe
	exec 5>&-
	"$@" >&6 2>&6 5>&-
	closed_status=$?
	exec 6>&-
	is "$*: nobody reads" $closed_status "$closed_want"
}
closed 3 "$HOTVAR" -- sh -c 'exit 3'
closed 0 "$HOTVAR" -- sh -c 'exit 0'
closed 3 "$HOTVAR" maps -- sh -c 'exit 3'
closed 3 "$HOTVAR" pages -- sh -c 'exit 3'
closed 3 "$HOTVAR" advise -- sh -c 'exit 3'
closed 0 "$HOTVAR" report -i a.rec
closed 0 "$HOTVAR" report --json -i a.rec
closed 0 "$HOTVAR" maps -i a.rec
closed 0 "$HOTVAR" --help
closed 0 "$HOTVAR" symbols "$TESTPROGS/loop"
closed 0 "$HOTVAR" doctor
# These would never end by themselves.
sleep 1000 &
sleeper=$!
trap 'kill $sleeper; tap_cleanup' EXIT
until_true 20 grep -q sleep "/proc/$sleeper/comm" # until then it is a shell, that executes another program meanwhile
closed 0 timeout 60 "$HOTVAR" pages --interval 0.01 -p $sleeper
closed 0 sh -c "yes $address | timeout 60 '$HOTVAR' sym -e '$TESTPROGS/loop'"
kill $sleeper
trap tap_cleanup EXIT
# What CMD has of a signal that hotvar ignores is what hotvar was given.
bits() { # these three: libc keeps signals 32 and 33 for itself
	echo $((0x$(sed 's/.*[[:space:]]//') & 0x1001001000))
}
is "CMD has SIGPIPE, SIGXFSZ and signal 37 as hotvar had them" "$("$HOTVAR" -q -o /dev/null -- grep SigIgn /proc/self/status | bits)" \
	"$(grep SigIgn /proc/self/status | bits)"
done_testing
