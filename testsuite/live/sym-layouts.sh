#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sym-layouts - each byte gets its own variable's name, however the linker lays a file out and wherever it is mapped.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

# ---- one program, many layouts: five things in five sections ----
cat > "$tmp/v.c" << 'END'
#include "say.h"
int hot_data = 7;
char hot_bss[9000];
int *const hot_relro = &hot_data;
const char hot_ro[64] = "ro";
int hot_fn(int x) { return x + hot_data; }
int main(void)
{
	SAY(&hot_data, "hot_data  data  .data");
	SAY(hot_bss, "hot_bss  bss  .bss");
	SAY(hot_bss + 8999, "hot_bss+0x2327  bss  .bss");
	SAY(RELRO ? (char *)&hot_relro : (char *)&hot_data, RELRO ? "hot_relro  relro  .data.rel.ro" : "hot_data  data  .data");
	SAY(hot_ro + 63, "hot_ro+0x3f  rodata  .rodata");
	SAY(hot_fn, "hot_fn  text  .text");
	done();
}
END
n=0
layout() {
	n=$((n + 1))
	build "layout: $*" "$@" v.c -o "v$n" || return
	start "$tmp/v$n" || return
	agree "layout: $*" "$tmp/v$n"
	stop
}
layout "$CC" -O0 -DRELRO=1 -fPIE -pie
layout "$CC" -O0 -DRELRO=0 -fno-pie -no-pie
layout "$CC" -O0 -DRELRO=1 -static
layout "$CC" -O0 -DRELRO=1 -static-pie -fPIE
layout "$CC" -O0 -DRELRO=1 -fPIE -pie -Wl,-z,max-page-size=0x200000
layout "$CC" -O0 -DRELRO=1 -fPIE -pie -Wl,-z,noseparate-code
layout "$CC" -O0 -DRELRO=0 -fno-pie -no-pie -Wl,-z,norelro -Wl,-z,noseparate-code
layout "$CC" -O0 -DRELRO=1 -fPIE -pie -Wl,-z,now -Wl,-z,separate-code -Wl,-z,common-page-size=0x10000 -Wl,-z,max-page-size=0x10000
layout "$CC" -O0 -DRELRO=0 -fno-pie -no-pie -Wl,-Ttext-segment=0x10000
if have clang && have ld.lld; then
	layout clang -O0 -DRELRO=1 -fPIE -pie -fuse-ld=lld
	layout clang -O0 -DRELRO=0 -fno-pie -no-pie -fuse-ld=lld
	layout clang -O0 -DRELRO=1 -fPIE -pie -fuse-ld=lld -Wl,-z,max-page-size=0x200000
	layout clang -O0 -DRELRO=1 -fPIE -pie -fuse-ld=lld -Wl,-z,separate-code
	layout clang -O0 -DRELRO=0 -fPIE -pie -fuse-ld=lld -Wl,-z,norelro -Wl,--no-rosegment
else
	skip "layouts of lld" "no clang or no lld"
fi

# without ASLR the heap and .bss may be one area, called [heap]
if have setarch && build "no ASLR" "$CC" -O0 -DRELRO=0 -fno-pie -no-pie v.c -o noaslr; then
	if setarch -R true 2> /dev/null; then
		start setarch -R "$tmp/noaslr" && agree "without ASLR" "$tmp/noaslr"
		stop
	else
		skip "without ASLR" "personality(2) is refused here"
	fi
fi

# sections may be stripped away altogether: the dynamic section still tells
if build "no section headers" "$CC" -O0 -DRELRO=0 -fPIE -pie -rdynamic -Wl,-z,norelro v.c -o nosec; then
	# e_shoff, e_shnum, e_shstrndx
	printf '\0\0\0\0\0\0\0\0' | dd of="$tmp/nosec" bs=1 seek=40 conv=notrunc 2> /dev/null
	printf '\0\0\0\0' | dd of="$tmp/nosec" bs=1 seek=60 conv=notrunc 2> /dev/null
	start "$tmp/nosec" && {
		sed -i 's/  \.[a-z.]*$//' "$tmp/out" # no section has a name now
		agree "no section headers" "$tmp/nosec"
	}
	stop
fi

# ---- a PT_LOAD without any bytes in the file ----
cat > "$tmp/z.c" << 'END'
char zbss[0x3000];
const char ro[32] = "x";
void _start(void)
{
	zbss[1] = ro[0];
	for (;;)
		__asm__ volatile("syscall" :: "a"(34L) : "rcx", "r11", "memory"); /* pause */
}
END
if have clang && have ld.lld && build "filesz 0" clang -O0 -static -nostdlib -fno-pie -fno-stack-protector -fuse-ld=lld z.c -o z; then
	zbss=0x$(nm "$tmp/z" | awk '$3 == "zbss" { print $1 }')
	ro=0x$(nm "$tmp/z" | awk '$3 == "ro" { print $1 }')
	"$tmp/z" &
	pid=$!
	until_true 20 grep -q "^[0-9a-f]*-[0-9a-f]* r.*/z\$" "/proc/$pid/maps"
	is "filesz 0: first byte" "$(sym -p $pid "$zbss")" "zbss  bss  .bss  $tmp/z"
	is "filesz 0: last byte" "$(sym -p $pid "$(printf '%#x' $((zbss + 0x2fff)))")" "zbss+0x2fff  bss  .bss  $tmp/z"
	like "filesz 0: slack before it names nothing" "$(sym -p $pid "$(printf '%#x' $((zbss - 1)))")" '\(gap\)$'
	like "filesz 0: slack behind it names nothing" "$(sym -p $pid "$(printf '%#x' $((zbss + 0x3000)))")" '\(gap\)$'
	is "filesz 0: others are not hurt" "$(sym -p $pid "$ro")" "ro  rodata  .rodata  $tmp/z"
	stop
else
	skip "filesz 0" "no clang or no lld"
fi

# ---- a library in 3 or 4 areas; with a link base of its own; where that is taken ----
cat > "$tmp/q.c" << 'END'
int q_data[10] = { 1 };
char q_bss_small[16];
char q_bss_big[3 * 4096];
int *const q_relro[4] = { q_data };
END
cat > "$tmp/m.c" << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "say.h"
int main(int argc, char **argv)
{
	void *h;

	if (argc > 2)
		mmap((void *)strtoul(argv[2], 0, 16), 0x10000, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	h = dlopen(argv[1], RTLD_NOW);
	if (!h)
		return puts(dlerror());
	SAY(dlsym(h, "q_relro"), "q_relro  relro  .data.rel.ro");
	SAY(dlsym(h, "q_data"), "q_data  data  .data");
	SAY(dlsym(h, "q_bss_small"), "q_bss_small  bss  .bss");
	SAY((char *)dlsym(h, "q_bss_big") + 12287, "q_bss_big+0x2fff  bss  .bss");
	done();
}
END
library() {
	base=$1
	shift
	n=$((n + 1))
	build "library: $*" "$@" q.c -o "libq$n.so" || return
	start "$tmp/m" "$tmp/libq$n.so" && agree "library: $*" "$tmp/libq$n.so"
	stop
	[ -n "$base" ] || return
	start "$tmp/m" "$tmp/libq$n.so" "$base" && agree "library: $*, its place taken" "$tmp/libq$n.so"
	stop
}
if build "libraries" "$CC" -O0 m.c -o m -ldl; then
	library "" "$CC" -shared -fPIC
	library "" "$CC" -shared -fPIC -s
	library 0x30fd800000 "$CC" -shared -fPIC -Wl,-Ttext-segment=0x30fd800000
	if have clang && have ld.lld; then
		library "" clang -shared -fPIC -fuse-ld=lld
		library 0x30fd800000 clang -shared -fPIC -fuse-ld=lld -Wl,--image-base=0x30fd800000
	fi
fi

# ---- 32-bit programs ----
cat > "$tmp/x.c" << 'END'
int xdata = 5;
char xbss[5000];
const char xro[16] = "ro";
void _start(void)
{
	xbss[0] = xro[0] + xdata;
	for (;;)
		__asm__ volatile("int $0x80" :: "a"(29) : "memory"); /* pause */
}
END
small() {
	n=$((n + 1))
	build "32-bit: $*" "$@" x.c -o "x$n" || return
	"$tmp/x$n" 2> /dev/null &
	pid=$!
	until_true 5 grep -q "x$n\$" "/proc/$pid/maps" || {
		skip "32-bit: $*" "this kernel runs no 32-bit programs"
		stop
		return
	}
	start=$(sed -n "s|^\\([0-9a-f]*\\)-.*/x$n\$|\\1|p" "/proc/$pid/maps" | head -n 1)
	base=$(readelf -lW "$tmp/x$n" | awk '$1 == "LOAD" { print $3; exit }')
	for s in xdata:xdata:data:.data xro+15:xro+0xf:rodata:.rodata xbss+4999:xbss+0x1387:bss:.bss; do
		name=${s%%:*} want=$(echo "${s#*:}" | sed 's/:/  /g')
		value=0x$(nm "$tmp/x$n" | awk -v s="${name%+*}" '$3 == s { print $1 }')
		addr=$(printf '%#x' $((0x$start - base / 4096 * 4096 + value + $(expr "$name" : '.*+\(.*\)' || :) + 0)))
		is "32-bit: $* $name" "$(sym -p "$pid" "$addr")" "$want  $tmp/x$n"
	done
	stop
}
if have clang && have ld.lld; then
	small clang -m32 -O0 -nostdlib -static -fno-pic -fuse-ld=lld
	small clang -m32 -O0 -nostdlib -fPIE -pie -fuse-ld=lld -Wl,--no-dynamic-linker
else
	skip "32-bit programs" "no clang or no lld"
fi

done_testing
