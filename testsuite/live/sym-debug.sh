#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sym-debug - names of a stripped program from its debug file, wherever it is kept, and from no other; and from .gnu_debugdata.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

HOTVAR_DEBUGDIR=$tmp/debug
export HOTVAR_DEBUGDIR

cat > "$tmp/v.c" << 'END'
#include "say.h"
int hot_data = 7;
char hot_bss[9000];
const int *const hot_relro = &hot_data;
const char hot_ro[64] = "ro";
static int hot_static[5];
__thread int hot_tls;
int hot_fn(int x) { return x + hot_data + hot_static[x & 3]; }
int main(int argc, char **argv)
{
	SAY((char *)&hot_data + 1, "hot_data+0x1  data  .data");
	SAY(hot_bss + 8999, "hot_bss+0x2327  bss  .bss");
	SAY(&hot_relro, "hot_relro  relro  .data.rel.ro");
	SAY(hot_ro, "hot_ro  rodata  .rodata");
	SAY(&hot_static[1], "hot_static+0x4  bss  .bss");
	SAY((char *)hot_fn, "hot_fn  text  .text");
	done();
	return hot_fn(argc) + !argv;
}
END
built=
whole() {
	build "$1" "$CC" -O0 -g -fPIE -pie -Wl,--build-id="${2:-sha1}" v.c -o "${3:-v}" && built=yes
}
# split FILE: FILE.debug is what is stripped from FILE
split() {
	objcopy --only-keep-debug "$1" "$1.debug" && strip -s "$1"
}
link() {
	(cd "${2%/*}" && objcopy --add-gnu-debuglink="${2##*/}" "$1")
}
# nameless FILE ADDRESS: what is said of an address in .data that has no name
nameless() {
	data=0x$(readelf -SW "$1" | awk '{ for (i = 1; i < NF; i++) if ($i == ".data" && $(i + 1) == "PROGBITS") print $(i + 2) }')
	printf 'v:.data+0x%x\n' $(($2 - data))
}
# look TEXT NAME: what the second byte of hot_data is said to be
look() {
	start "$tmp/v" || return
	at=$(sed -n 's/ hot_data+.*//p' "$tmp/out")
	is "$1" "$(sym -p "$pid" "$at" | sed 's/  .*//')" "$2"
	stop
}

if ! have objcopy || ! have strip || ! whole "a program"; then
	[ -n "$built" ] || skip "debug files" "no objcopy or no strip here"
	done_testing
	exit
fi
cp "$tmp/v" "$tmp/v.whole"
hot_data=$(nm "$tmp/v" | sed -n 's/^\([0-9a-f]*\) . hot_data$/0x\1/p')
id=$(readelf -n "$tmp/v" | sed -n 's/.*Build ID: //p')
split "$tmp/v"

# ---- nothing there yet: no name, and none that is wrong ----
is "no debug file: no name" "$(sym -e "$tmp/v" "$hot_data" | sed 's/  .*//')" "$(nameless "$tmp/v" $hot_data)"

# ---- by build-id: found as soon as it is there, although the image is in the cache ----
mkdir -p "$tmp/debug/.build-id/$(printf %.2s "$id")"
by_id=$tmp/debug/.build-id/$(printf %.2s "$id")/$(printf %s "$id" | cut -c 3-).debug
cp "$tmp/v.debug" "$by_id"
start "$tmp/v" && agree "by build-id" "$tmp/v"
stop
# sections under other numbers than in the program
objcopy --remove-section .interp --remove-section .gnu.hash "$tmp/v.debug" "$by_id" 2> /dev/null
start "$tmp/v" && agree "sections of other numbers" "$tmp/v"
stop
rm "$by_id"
"$HOTVAR" symbols -v "$tmp/v" > "$tmp/missing"
like "what is missing is said, and how to get it" "$(cat "$tmp/missing")" "^  missing   names of static .*members .*: install the package with \.build-id/${by_id#*/.build-id/} .*--debuginfod"
mkfifo "$by_id"
is "a FIFO in its place is not waited for" "$(timeout 20 "$HOTVAR" sym -q -e "$tmp/v" "$hot_data" > /dev/null 2>&1; echo $?)" 1
rm "$by_id"
printf 'int other_data = 1; char pad[64] = { 1 }; int main(void) { return 0; }\n' > "$tmp/o.c"
if build "another program" "$CC" -O0 -g -fPIE -pie o.c -o o; then
	cp "$tmp/o" "$by_id"
	unlike "one with another build-id names nothing" "$(sym -e "$tmp/v" "$hot_data")" '^other_data|^pad'
	like "and is said to be wrong" "$("$HOTVAR" symbols "$tmp/v" 2>&1)" "cannot use the debug file '$by_id' of '$tmp/v': its build-id is another"
	rm "$by_id"
fi
head -c 3000 "$tmp/v.debug" > "$by_id"
unlike "one that is cut short names nothing" "$(sym -e "$tmp/v" "$hot_data")" '^hot'
rm "$by_id"

# ---- by .gnu_debuglink ----
cp "$tmp/v" "$tmp/v.plain"
link "$tmp/v" "$tmp/v.debug"
start "$tmp/v" && agree "by .gnu_debuglink, beside it" "$tmp/v"
stop
mkdir "$tmp/.debug"
mv "$tmp/v.debug" "$tmp/.debug/"
start "$tmp/v" && agree "in .debug" "$tmp/v"
stop
mkdir -p "$tmp/debug/$tmp"
mv "$tmp/.debug/v.debug" "$tmp/debug/$tmp/"
start "$tmp/v" && agree "below the debug folder" "$tmp/v"
stop
HOTVAR_DEBUGDIR=$tmp/none:$tmp/debug look "in the second of two folders" hot_data+0x1
HOTVAR_DEBUGDIR=$tmp/none look "in neither" "$(nameless "$tmp/v" $((hot_data + 1)))"

# ---- without a build-id the CRC decides ----
if whole "without a build-id" none; then
	split "$tmp/v"
	link "$tmp/v" "$tmp/v.debug"
	start "$tmp/v" && agree "without a build-id: by the CRC" "$tmp/v"
	stop
	printf x >> "$tmp/v.debug"
	look "a wrong CRC names nothing" "$(nameless "$tmp/v" $((hot_data + 1)))"
	like "and it is said" "$("$HOTVAR" symbols "$tmp/v" 2>&1)" "cannot use the debug file .*: its CRC is not the one"
fi

# ---- split by elfutils ----
if have eu-strip && whole "a program for eu-strip"; then
	rm -f "$tmp/v.debug"
	(cd "$tmp" && eu-strip -f v.debug v)
	start "$tmp/v" && agree "split by eu-strip" "$tmp/v"
	stop
else
	skip "split by eu-strip" "no eu-strip here"
fi

# ---- .gnu_debugdata: the functions that a distribution leaves in ----
if have xz && whole "a program for .gnu_debugdata"; then
	rm -f "$tmp/v.debug"
	nm "$tmp/v" --format=posix --defined-only | awk '$2 ~ /^[Tt]$/ { print $1 }' > "$tmp/keep"
	objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols="$tmp/keep" "$tmp/v" "$tmp/mini" 2> /dev/null
	fn=$(nm "$tmp/v" | sed -n 's/^\([0-9a-f]*\) . hot_fn$/0x\1/p')
	xz -c "$tmp/mini" > "$tmp/mini.xz"
	strip -s "$tmp/v"
	cp "$tmp/v" "$tmp/v.plain"
	is "before: no name for a function" "$(sym -e "$tmp/v" "$fn" | grep -c '^hot_fn')" 0
	objcopy --add-section .gnu_debugdata="$tmp/mini.xz" "$tmp/v"
	is "with .gnu_debugdata: its name" "$(sym -e "$tmp/v" "$fn" | sed 's/  .*//')" hot_fn
	is "a variable is not in it" "$(sym -e "$tmp/v" "$hot_data" | grep -c '^hot_data')" 0
	head -c 200 "$tmp/mini.xz" > "$tmp/cut.xz"
	cp "$tmp/v.plain" "$tmp/v"
	objcopy --add-section .gnu_debugdata="$tmp/cut.xz" "$tmp/v"
	is "cut short: no name, and no failure" "$(sym -e "$tmp/v" "$fn" | grep -c '^hot_fn'), $("$HOTVAR" symbols "$tmp/v" > /dev/null 2>&1; echo $?)" "0, 0"
	# a gigabyte of zeros in 150 kB
	if head -c 1000000000 /dev/zero | xz -1 > "$tmp/bomb.xz"; then
		cp "$tmp/v.plain" "$tmp/v"
		objcopy --add-section .gnu_debugdata="$tmp/bomb.xz" "$tmp/v"
		is "one that unpacks to a gigabyte: no name, little memory" \
			"$( (ulimit -v 700000; "$HOTVAR" sym -q -e "$tmp/v" "$fn" > "$tmp/bomb.out" 2>&1; echo $?) ), $(grep -c hot_fn "$tmp/bomb.out")" "1, 0"
	fi
else
	skip ".gnu_debugdata" "no xz here"
fi

done_testing
