#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pages-keys.sh - two processes' keys are equal exactly where a write by one is seen by the other: it is tried.
. "$top_srcdir/testsuite/lib.sh"
TMPDIR=$tmp
export TMPDIR

# try WHO [COMMAND...]
try() {
	who=$1
	shift
	mkfifo "$tmp/$who.in"
	"$@" "$TESTPROGS/page_keys" < "$tmp/$who.in" > "$tmp/$who" 2> "$tmp/$who.err" &
	exec 3> "$tmp/$who.in"
	until_true 30 grep -q '^ready' "$tmp/$who" || not_ok "$who: the program" "$(cat "$tmp/$who.err")"
	ask before "$@"
	echo >&3
	until_true 30 grep -q '^done' "$tmp/$who"
	ask after "$@"
	grep '^seen' "$tmp/$who" | while read -r _ name seen; do
		for when in before after; do
			# what was written is copied; the others' keys stay
			echo "$when $name $seen $(sed -n "s/^$name //p" "$tmp/$who.$when")"
		done
	done | awk '{ equal = $4 == $5; if (equal != $3 || $4 == "" || $4 == "null") print "not", $0; else print "ok", $0 }' > "$tmp/$who.judged"
	exec 3>&-
	is "$who: keys are equal where a write is seen, before and after" "$(grep ^not "$tmp/$who.judged")" ""
	[ "$(grep -c ^ok "$tmp/$who.judged")" -ge 46 ] && [ "$(grep -c ' 1 ' "$tmp/$who.judged")" -ge 18 ] &&
		ok "$who: all cases were tried" || not_ok "$who: all cases were tried" "$(cat "$tmp/$who.judged")"
	like "$who: private is told with it" "$(sed -n 's/^anon_copied //p' "$tmp/$who.after")" '^mm:[0-9]*@0x[0-9a-f]* mm:[0-9]*@0x[0-9a-f]*$'
}

# ask WHEN [COMMAND...]: lines "NAME KEY KEY", as sym and as the rows of pages have them
ask() {
	when=$1
	shift
	for pid in $(awk '/^case/ { print $3; print $5 }' "$tmp/$who" | sort -u); do
		awk -v pid="$pid" '/^case/ { if ($3 == pid) print $4; if ($5 == pid) print $6 }' "$tmp/$who" |
			"$@" "$HOTVAR" sym -p "$pid" --json | sed -n "s/.*\"addr\":\"\\([^\"]*\\)\".*\"private\":\\([a-z]*\\),.*\"key\":\"\\([^\"]*\\)\".*/$pid \\1 \\3 \\2/p"
	done | sort -u > "$tmp/$who.keys"
	awk 'NR == FNR { key[$1 " " $2] = $3; next } /^case/ { print $2, key[$3 " " $4], key[$5 " " $6] }' \
		"$tmp/$who.keys" "$tmp/$who" > "$tmp/$who.$when"
	# each page's row has the key that sym has of its first byte
	for pid in $(cut -d ' ' -f 1 "$tmp/$who.keys" | sort -u); do
		"$@" "$HOTVAR" pages -p "$pid" --by page --json |
			sed -n 's/.*"addr":"\([^"]*\)",.*"key":"\([^"]*\)".*/\1 \2/p' > "$tmp/$who.rows"
		awk '{ print $1 }' "$tmp/$who.rows" | "$@" "$HOTVAR" sym -p "$pid" --json |
			sed -n 's/.*"addr":"\([^"]*\)".*"key":"\([^"]*\)".*/\1 \2/p' | diff "$tmp/$who.rows" - | grep '^[<>]'
		grep -c . "$tmp/$who.rows" >> "$tmp/$who.n"
	done > "$tmp/$who.different"
	is "$who, $when: rows of pages have the same keys" "$(cat "$tmp/$who.different")" ""
	check "$who, $when: and there were some" awk '{ n += $1 } END { exit !(n > 100) }' "$tmp/$who.n"
	is "$who, $when: keys of one address space are private, and only those" \
		"$(awk '($3 ~ /^mm:/) != ($4 == "true")' "$tmp/$who.keys")" ""
}

try me
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	chmod 777 "$tmp"
	rm -f "$tmp/keys"
	XDG_CACHE_HOME="$tmp/nobodys-cache"
	export XDG_CACHE_HOME
	try nobody setpriv --reuid=65534 --regid=65534 --clear-groups
fi
if [ "$(id -u)" = 0 ] && unshare -i true 2> /dev/null; then
	mkfifo "$tmp/elsewhere.in"
	unshare -i "$TESTPROGS/page_keys" < "$tmp/elsewhere.in" > "$tmp/elsewhere" 2>&1 &
	exec 4> "$tmp/elsewhere.in"
	until_true 30 grep -q '^ready' "$tmp/elsewhere"
	who=elsewhere
	ask there
	unlike "segment 0 of another IPC namespace is another" "$(grep '^sysv ' "$tmp/elsewhere.there" "$tmp/me.before")" \
		"sysv:$(stat -L -c %i /proc/self/ns/ipc):.* sysv:$(stat -L -c %i /proc/self/ns/ipc):.*elsewhere"
	like "its namespace is in the key" "$(grep '^sysv ' "$tmp/elsewhere.there")" '^sysv sysv:[0-9]+:0\+0x8 sysv:[0-9]+:0\+0x8$'
	exec 4>&-
fi
done_testing
