#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pages-command.sh - hotvar pages of a command that executes one program after the other, or may not be looked at.
. "$top_srcdir/testsuite/lib.sh"

# ---- looks that an exec overtakes are made anew, and are no failure ------------------------------------------

"$HOTVAR" pages -q --interval 0.001 -o "$tmp/rows" -- "$TESTPROGS/exec_chain" 120 5 > "$tmp/out" 2> "$tmp/err"
is "a command that executes itself, looked at all the time" "$? $(cat "$tmp/err")" "7 "
"$HOTVAR" pages -q -d 0.001 -o "$tmp/rows" -- "$TESTPROGS/exec_chain" 20 1 > "$tmp/out" 2> "$tmp/err"
is "the same, looked at once" "$? $(cat "$tmp/err")" "7 "

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
fi
done_testing
