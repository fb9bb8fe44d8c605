#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sym-files - the very file that is mapped, or none: other namespaces, replaced, deleted, changed, unreadable; and what is typed wrong.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

root=$([ "$(id -u)" = 0 ] && echo yes)

# ---- two libraries of one name: what is host_var in one is cont_var elsewhere in the other ----
echo 'int host_var[8] = { 1 };' > "$tmp/h.c"
echo 'int cont_pad[8] = { 1 }, cont_var[8] = { 2 };' > "$tmp/c.c"
cat > "$tmp/l.c" << 'END'
#include <dlfcn.h>
#include "say.h"
int main(int argc, char **argv)
{
	void *h = dlopen(argv[argc - 1], RTLD_NOW), *p;

	if (!h)
		return puts(dlerror());
	if ((p = dlsym(h, "host_var")) != NULL)
		SAY((char *)p + 4, "host_var+0x4  data  .data");
	if ((p = dlsym(h, "cont_var")) != NULL)
		SAY((char *)p + 4, "cont_var+0x4  data  .data");
	done();
}
END
mkdir "$tmp/a" "$tmp/b"
if ! build "libraries" "$CC" -O0 -shared -fPIC h.c -o a/lib.so || ! build "libraries" "$CC" -O0 -shared -fPIC c.c -o b/lib.so ||
	! build "libraries" "$CC" -O0 l.c -o l -ldl; then
	done_testing
	exit
fi
cp "$tmp/a/lib.so" "$tmp/host.so"
cp "$tmp/b/lib.so" "$tmp/cont.so"
touch -d '1 hour ago' "$tmp/a/lib.so" "$tmp/b/lib.so" "$tmp/host.so" "$tmp/cont.so" "$tmp/l"

start "$tmp/l" "$tmp/a/lib.so" && agree "a library" "$tmp/a/lib.so"

# replaced while it runs: another inode at the path
mv "$tmp/cont.so" "$tmp/a/lib.so"
if [ -n "$root" ]; then
	sed -i '/^0x/s|$|  '"$tmp"'/a/lib.so (deleted)|' "$tmp/out"
	agree "replaced while it runs: the old one's names"
	"$HOTVAR" sym -q --json -p "$pid" "$(sed -n 's/ host_var.*//p' "$tmp/out")" > "$tmp/json"
	like "and it is said to be deleted, not in the name" "$(cat "$tmp/json")" "\"module\":\"$tmp/a/lib.so\",\"deleted\":true"
	if su nobody -s /bin/sh -c : 2> /dev/null; then
		unlike "without the right to it no name at all" \
			"$(su nobody -s /bin/sh -c "'$HOTVAR' sym -q -p $pid $(sed -n 's/ host_var.*//p' "$tmp/out")" 2>&1)" '_var'
	fi
else
	unlike "replaced while it runs: no name of the new one" "$(sym -p "$pid" "$(sed -n 's/ host_var.*//p' "$tmp/out")")" cont_
fi
stop
cp "$tmp/host.so" "$tmp/a/lib.so"
touch -d '1 hour ago' "$tmp/a/lib.so"

# changed in place: its pages are the new file's, so nobody knows what is what
start "$tmp/l" "$tmp/a/lib.so" && {
	touch -d '1 hour' "$tmp/a/lib.so"
	like "changed after it was mapped" "$(sym -p "$pid" "$(sed -n 's/ host_var.*//p' "$tmp/out")")" '\(stale-file\)$'
	touch -d '1 hour ago' "$tmp/a/lib.so"
	agree "and not changed" "$tmp/a/lib.so"
}
stop

# another mount namespace: the same path is another file there
if [ -n "$root" ] && have unshare && unshare -m true 2> /dev/null; then
	start unshare -m --propagation private sh -c "mount --bind '$tmp/b' '$tmp/a' && exec '$tmp/l' '$tmp/a/lib.so'" &&
		agree "another mount namespace" "$tmp/a/lib.so"
	grep -q cont_var "$tmp/out" || not_ok "the namespace has the other library" "$(cat "$tmp/out")"
	stop
else
	skip "another mount namespace" "needs root and unshare"
fi

# names that need care
name=$(printf 'lib  a\tb (deleted)')
cp "$tmp/host.so" "$tmp/$name"
touch -d '1 hour ago' "$tmp/$name"
start "$tmp/l" "$tmp/$name" && agree "a name with blanks, a tab and '(deleted)'" "$tmp/lib  a"'\\x09b (deleted)' # as sed writes one backslash
stop
name=$(printf 'lib\nx.so')
cp "$tmp/host.so" "$tmp/$name"
touch -d '1 hour ago' "$tmp/$name"
start "$tmp/l" "$tmp/$name" && {
	"$HOTVAR" sym -q --json -p "$pid" "$(sed -n 's/ host_var.*//p' "$tmp/out")" > "$tmp/json"
	like "a name with a newline is one line of JSON" "$(cat "$tmp/json")" "\"symbol\":\"host_var\".*\"module\":\"$tmp/lib\\\\u000ax.so\""
}
stop

# ---- a stream of addresses ----
start "$tmp/l" "$tmp/host.so" && {
	addr=$(sed -n 's/ host_var.*//p' "$tmp/out")
	awk -v a="$addr" 'BEGIN { for (i = 0; i < 1000000; i++) print a }' | "$HOTVAR" sym -q -p "$pid" | sort | uniq -c > "$tmp/got"
	is "a million lines from stdin" "$(sed 's/^ *//' "$tmp/got")" "1000000 $addr  host_var+0x4  data  .data  $tmp/host.so"
	# each answer comes before the next question
	mkfifo "$tmp/ask"
	"$HOTVAR" sym -q -p "$pid" < "$tmp/ask" > "$tmp/answers" &
	exec 5> "$tmp/ask"
	for i in 1 2 3; do
		echo "$addr" >&5
		if until_true 10 sh -c "test \$(grep -c host_var '$tmp/answers') -eq $i"; then
			ok "answer $i comes before the next question"
		else
			not_ok "answer $i comes before the next question" "$(cat "$tmp/answers")"
		fi
	done
	exec 5>&-
	printf '%s' "$addr" | "$HOTVAR" sym -q -p "$pid" > "$tmp/got"
	like "the last line needs no newline" "$(cat "$tmp/got")" host_var
	printf '\n  %s \r\n' "$addr" | "$HOTVAR" sym -q -p "$pid" > "$tmp/got"
	is "blanks and empty lines do no harm" "$(grep -c host_var "$tmp/got")" 1
}
stop

# ---- what is typed wrong: one line, and the status that hotvar(1) lists ----
# refuses STATUS REGEX ARG...
refuses() {
	want=$1 regex=$2
	shift 2
	"$HOTVAR" "$@" > "$tmp/got" 2>&1 < /dev/null
	got=$?
	is "status of: $*" $got "$want"
	like "one line says why: $*" "$(cat "$tmp/got")" "$regex"
	is "and only one: $*" "$(grep -c . "$tmp/got")" 1
}
lib=$tmp/host.so
refuses 2 'Name a process with -p PID or a file with -e ELF$' sym
refuses 2 'cannot both be given' sym -p 1 -e "$lib" 0
refuses 2 "'0xgg' is no address" sym -e "$lib" 0xgg
refuses 2 "'-1' is no address|unknown option" sym -e "$lib" -- -1
refuses 2 "'11112222333344445' is no address" sym -e "$lib" 11112222333344445
refuses 2 'bad value' sym -p 0 10
refuses 2 'bad value' sym -p x 10
refuses 2 "did you mean '--elf'" sym --elff "$lib"
refuses 125 'no such process' sym -p 2147483647 10
refuses 125 "cannot open '$tmp/absent': No such file" sym -e "$tmp/absent" 0
refuses 125 'a directory, not a regular file' sym -e "$tmp" 0
refuses 125 'no regular file|not a regular file' sym -e /dev/null 0
refuses 125 'a FIFO, not a regular file' sym -e "$tmp/ask" 0
: > "$tmp/empty"
refuses 125 'it is empty' sym -e "$tmp/empty" 0
refuses 125 'no ELF file' sym -e "$tmp/l.c" 0
head -c 5000 "$lib" > "$tmp/cut.so"
refuses 125 'cut short' sym -e "$tmp/cut.so" 0
refuses 1 'unmapped' sym -e "$lib" 0xffffffffffffffff
"$HOTVAR" sym -e "$lib" 0x0 "$(nm "$lib" | awk '$3 == "host_var" { print $1 }')" > "$tmp/got"
is "one name of two is enough" $? 0
[ ! -w /dev/full ] || {
	"$HOTVAR" sym -e "$lib" 0 > /dev/full 2> "$tmp/got"
	is "a full disk is told" $? 125
	like "in one line" "$(cat "$tmp/got")" 'No space left'
}
sh -c : & # it is gone, or a zombie of this shell's
gone=$!
until_true 10 sh -c "! [ -e /proc/$gone/exe ] || ! readlink /proc/$gone/exe" # a zombie has none
refuses 125 'zombie|no such process' sym -p $gone 10
wait $gone

# ---- hotvar symbols ----
rm -rf "$tmp/cache"
mkdir "$tmp/cache"
"$HOTVAR" symbols "$lib" "$tmp/l" > "$tmp/got"
is "symbols: status" $? 0
like "symbols: counts" "$(cat "$tmp/got")" '^  symbols   1[0-9]* data|^  symbols   [1-9][0-9]* data'
like "symbols: the build-id that readelf has" "$(cat "$tmp/got")" \
	"^  build-id  $(readelf -n "$lib" | sed -n 's/.*Build ID: //p')\$"
is "symbols: the cache is filled" "$(find "$tmp/cache/hotvar" -name '*.img' | wc -l)" 2
"$HOTVAR" symbols --json "$lib" > "$tmp/got"
like "symbols: from the cache now" "$(cat "$tmp/got")" '"type":"image","file":".*host.so",.*"cached":true,"error":null'
"$HOTVAR" symbols --json "$lib" "$tmp/absent" "$tmp/l.c" > "$tmp/got" 2> "$tmp/err"
is "symbols: a file that cannot be used is a failure" $? 125
like "symbols: of that file only" "$(cat "$tmp/got")" '"file":".*host.so",.*"error":null'
is "symbols: each with its error" "$(grep -c '"error":"cannot' "$tmp/got")" 2
is "symbols: and a line on stderr" "$(grep -c '^hotvar: cannot' "$tmp/err")" 2
refuses 2 'Name at least one ELF file' symbols
HOME=$tmp/absent/x XDG_CACHE_HOME=relative "$HOTVAR" sym -e "$lib" 0x0 > "$tmp/got" 2> "$tmp/err"
is "without a cache the answer is the same" "$(cat "$tmp/got")" "$("$HOTVAR" sym -q -e "$lib" 0x0)"
is "nothing was left behind" "$(find "$tmp/cache" -name '.tmp*' | wc -l)" 0

done_testing
