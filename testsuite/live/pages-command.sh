#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pages-command.sh - hotvar pages of a command that executes one program after the other, or may not be looked at.
. "$top_srcdir/testsuite/lib.sh"

# ---- looks that an exec overtakes are made anew, and are no failure ------------------------------------------

"$HOTVAR" pages -q --interval 0.001 -o "$tmp/rows" -- "$TESTPROGS/exec_chain" 120 5 > "$tmp/out" 2> "$tmp/err"
is "a command that executes itself, looked at all the time" "$? $(cat "$tmp/err")" "7 "
"$HOTVAR" pages -q -d 0.001 -o "$tmp/rows" -- "$TESTPROGS/exec_chain" 20 1 > "$tmp/out" 2> "$tmp/err"
is "the same, looked at once" "$? $(cat "$tmp/err")" "7 "

# ---- a program that a thread executes which is not the traced one: its pages are shown, and its end is the end ------

cp "$(command -v sh)" "$tmp/last"
for how in main other; do
	wrong=
	for n in 1 2 3 4 5 6 7 8 9 10; do
		"$HOTVAR" pages -q -o "$tmp/rows" -- "$TESTPROGS/exec_thread" $how "$tmp/last" -c "exit $n" > "$tmp/out" 2> "$tmp/err"
		status=$?
		if [ $status -ne $n ] || ! grep -q "rw-p .* $tmp/last\$" "$tmp/rows" || grep -q exec_thread "$tmp/rows"; then
			wrong="$wrong; $n: $status $(cat "$tmp/err")"
		fi
	done
	is "executed by another thread than the traced one, $how: the last program's pages, and its status" "$wrong" ""
	# It begins as it would: not stopped, and with no signal that it has not been sent.
	"$HOTVAR" pages -q -o "$tmp/rows" -- "$TESTPROGS/exec_thread" $how grep '^\(Sig\|Shd\)Pnd' /proc/self/status > "$tmp/out"
	is "$how: no signal is left for it" "$(awk '{ print $2 }' "$tmp/out" | sort -u)" 0000000000000000
	"$HOTVAR" advise --json -o "$tmp/rows" -- "$TESTPROGS/exec_thread" $how "$TESTPROGS/advise_access" random 64 1 > "$tmp/out" 2> "$tmp/err"
	start=$(set -- $(sed -n 's/^range //p' "$tmp/out") && echo "$1")
	is "$how: advise: the last program's area is judged" \
		"$(grep -c "\"type\":\"advice\".*\"start\":\"$start\"" "$tmp/rows") $(cat "$tmp/err")" "1 "
done
# One that ends by another thread's exit_group(2), or by a signal, has ended.
"$HOTVAR" pages -q -o "$tmp/rows" -- "$TESTPROGS/exec_thread" main /nowhere > "$tmp/out" 2>&1
is "exit_group by another thread is the end" $? 3
check "and its pages are shown" grep -q exec_thread "$tmp/rows"

# ---- one that may not be looked at: it is said once, and not asked for again ---------------------------------

drop=
[ "$(id -u)" != 0 ] || drop="setpriv --reuid=65534 --regid=65534 --clear-groups"
chmod 777 "$tmp"
# Who may not read a program may not look at it either, from its first instruction on: execve(2), prctl(2).
cp "$(command -v cat)" "$tmp/guarded"
chmod 111 "$tmp/guarded"
number() { # of what /proc/PID/FILE says of KEY: number FILE KEY
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$hotvar/$1"
}
mark() {
	waits=$(number status voluntary_ctxt_switches)
	reads=$(number io syscr)
}
# hotvar goes on waiting, and while it has done so 10 times it has read next to nothing: not one file for each time
is_quiet() {
	waited=$waits had=$reads
	[ "$(number status voluntary_ctxt_switches)" -ge $((waited + 10)) ] || return 1
	mark
	[ $((reads - had)) -lt 10 ]
}
if [ "$(id -u)" = 0 ] && ! command -v setpriv > "$tmp/where"; then
	skip "a command that may not be looked at" "no setpriv"
elif [ ! -r /proc/self/io ]; then
	skip "a command that may not be looked at" "no /proc/PID/io"
else
	for how in "-d 0.001" "--interval 0.001"; do
		rm -f "$tmp/in"
		mkfifo "$tmp/in"
		$drop "$HOTVAR" pages -q $how -o "$tmp/rows.$$" -- "$tmp/guarded" < "$tmp/in" > "$tmp/out" 2> "$tmp/err" &
		hotvar=$!
		exec 3> "$tmp/in"
		echo guarded >&3
		until_true 30 grep -q guarded "$tmp/out" || not_ok "pages $how" "the command does not begin: $(cat "$tmp/err")"
		mark
		check "pages $how: it waits for the command's end" until_true 30 is_quiet
		exec 3>&-
		wait $hotvar
		is "pages $how: it fails" "$?" 125
		like "pages $how: why is said" "$(cat "$tmp/err")" "^hotvar: cannot .* process [0-9]*: .*(guards its memory|cannot be read)"
		is "pages $how: once" "$(grep -c . "$tmp/err")" 1
	done
	# A thread that is not traced executes it: it runs all the same, to its end.
	for how in main other; do
		echo guarded | timeout -s KILL 30 $drop "$HOTVAR" pages -q -o "$tmp/rows.$$" -- "$TESTPROGS/exec_thread" $how "$tmp/guarded" > "$tmp/out" 2> "$tmp/err"
		is "pages, $how executes it: it runs, and hotvar fails" "$? $(cat "$tmp/out")" "125 guarded"
		like "pages, $how executes it: why is said" "$(cat "$tmp/err")" "^hotvar: cannot .*exec_thread'.*guards its memory"
		echo guarded | timeout -s KILL 30 $drop "$HOTVAR" advise -q -o "$tmp/rows.$$" -- "$TESTPROGS/exec_thread" $how "$tmp/guarded" > "$tmp/out" 2> "$tmp/err"
		is "advise, $how executes it: it runs" "$? $(cat "$tmp/out")" "0 guarded"
	done
fi
done_testing
