#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pages-copies.sh - hotvar pages --copies against a program whose copies are known.

# Root mounts tracefs where it is not; nobody outside sees that.
if [ "$(id -u)" = 0 ] && [ ! -d /sys/kernel/tracing/events ] && [ -z "${with_tracefs-}" ] && unshare -m true 2> /dev/null; then
	with_tracefs=tried
	export with_tracefs
	exec unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing; exec sh "$0"' "$0"
fi
. "$top_srcdir/testsuite/lib.sh"

# found FILE: "who name pages site" of each row whose name is one of the tables
found() {
	sed -n 's/^{"type":"copy","pid":[0-9]*,"child":\([a-z]*\),"name":"\(first_table\|second_table\|from_pipe\|only_read\)",.*"pages":\([0-9]*\),.*"site":\(null\|"[a-z_]*\).*/\1 \2 \3 \4/p' "$1" | tr -d '"' | sort
}
want='false first_table 1 write_third
true first_table 3 write_first
true from_pipe 1 null
true second_table 2 write_second'
# faults in system calls are not everybody's to see
mine=$(printf '%s\n' "$want" | grep -v from_pipe)

"$HOTVAR" pages --copies --json -o "$tmp/launched" -- "$TESTPROGS/page_copies" > "$tmp/out" 2> "$tmp/err"
is "CMD ends as it does" "$?" 0
if grep -q '"source":"tracepoint"' "$tmp/launched"; then
	is "which pages were copied, by whom, where" "$(cat "$tmp/err")$(found "$tmp/launched")" "$want"
	unlike "what is shared is no copy" "$(cat "$tmp/launched")" '"kind":"shm"'
	is "text has the same" "$("$HOTVAR" pages --copies -o - -- "$TESTPROGS/page_copies" 2>&1 | grep -cE '^ +(3|2|1) +[0-9]+  [0-9]+ (child|parent) +(first_table|second_table|from_pipe) ')" 4
else
	skip "which pages were copied" "no tracepoint of page faults: as root, with tracefs"
fi

"$HOTVAR" pages --copies -o "$tmp/none" -- /bin/true
like "none, as text" "$(cat "$tmp/none")" '^Process [0-9]+ and its children copied no page$'

# attached WHO [COMMAND...]
attached() {
	who=$1
	shift
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	"$@" "$TESTPROGS/page_copies" wait < "$tmp/in" > "$tmp/$who.out" &
	exec 3> "$tmp/in"
	until_true 30 grep -q '^pid' "$tmp/$who.out"
	pid=$(sed -n 's/^pid //p' "$tmp/$who.out")
	"$@" "$HOTVAR" pages -q --copies -p "$pid" --json < /dev/null > "$tmp/$who" 2> "$tmp/$who.err" &
	hotvar=$!
	# it has its rings, one for each processor, and what was there before, once it waits
	# in poll() or ppoll(): opening events may sleep, too
	until_true 30 sh -c "ls -l /proc/$hotvar/fd | grep -q perf_event && grep -qE '^(7|271) ' /proc/$hotvar/syscall"
	echo >&3
	until_true 30 grep -q '^done' "$tmp/$who.out"
	kill -INT $hotvar
	wait $hotvar
	is "$who: ^C ends the watching" "$? $(cat "$tmp/$who.err")" "0 "
	exec 3>&-
}
attached running
case $(grep -o '"source":"[a-z]*"' "$tmp/running") in
*tracepoint*) is "a running process" "$(found "$tmp/running")" "$want" ;;
*) is "a running process" "$(found "$tmp/running" | grep -v from_pipe)" "$mine" ;;
esac
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	chmod 777 "$tmp"
	XDG_CACHE_HOME="$tmp/nobodys-cache"
	export XDG_CACHE_HOME
	attached nobody setpriv --reuid=65534 --regid=65534 --clear-groups
	is "nobody: by what was there before" "$(found "$tmp/nobody" | grep -v from_pipe)" "$mine"
	# of a command nothing was
	setpriv --reuid=65534 --regid=65534 --clear-groups "$HOTVAR" pages --copies --json -o "$tmp/untold" -- "$TESTPROGS/page_copies" \
		> "$tmp/out" 2> "$tmp/err"
	is "nobody: what a command copies is not known, and not 0" "$? $(tail -n 1 "$tmp/untold" | grep -o '"rows":0,"pages":[^,]*,"lost":0,"source":"faults"')" \
		'0 "rows":0,"pages":null,"lost":0,"source":"faults"'
	like "nobody: it is said what would tell" "$(cat "$tmp/err")" "^hotvar: note: page faults alone do not tell .* tracefs"
fi

# What an executed program copies of its own is not what was shared.
"$HOTVAR" pages --copies --json -o "$tmp/shell" -- sh -c 'v=1; (v=2; :); "$0" > /dev/null; "$0" > /dev/null; exit 4' "$TESTPROGS/page_copies"
is "a shell that executes programs" "$? $(found "$tmp/shell")" "4 "
"$HOTVAR" pages --copies --summary -p $$ > "$tmp/out" 2>&1
is "--copies has rows of its own" $? 2
done_testing
