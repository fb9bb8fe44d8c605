# SPDX-License-Identifier: GPL-2.0-or-later
# sym-kinds - kinds of symbols and of memory that are easily taken for others: each byte has its one right name, or none.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

value() {
	nm "$1" | awk -v s="$2" '$NF == s { print "0x" $1; exit }'
}
# at FILE SYMBOL MORE: what is said of the byte MORE behind it
at() {
	sym -e "$1" "$(printf '%#x' $(($(value "$1" "$2") + $3)))" | sed "s|  $1||"
}

# ---- symbols in symbols, over symbols, and beside them ----
cat > "$tmp/nest.s" << 'END'
	.macro sym name, start, size, bind=globl
	.\bind \name
	.type \name, @object
	.set \name, block + \start
	.size \name, \size
	.endm
	.data
	.balign 64
	.skip 64
block:	.skip 256
	sym outer, 0, 128
	sym inner, 32, 64
	sym innermost, 40, 8
	# the one that starts last has what is in both
	sym first, 136, 40
	sym second, 160, 40
	# of two that start together the shorter
	sym short, 208, 8
	sym long, 208, 24
	# an absolute value that happens to be an address is none
	.globl absolute
	.type absolute, @object
	.set absolute, 0x404100
	.size absolute, 64
	.text
	.globl main
main:	xor %eax, %eax
	ret
	.section .note.GNU-stack, "", @progbits
END
if build "nested symbols" "$CC" -no-pie nest.s -o nest; then
	while read -r from to name; do
		while [ "$from" -lt "$to" ]; do
			printf '%#x %s\n' $(($(value "$tmp/nest" outer) + from)) "$name"
			from=$((from + 1))
		done
	done > "$tmp/out" << 'END'
0 32 outer
32 40 inner
40 48 innermost
48 96 inner
96 128 outer
128 136 -
136 160 first
160 200 second
200 208 -
208 216 short
216 232 long
232 256 -
END
	sed 's/ .*//' "$tmp/out" > "$tmp/addrs"
	sym -e "$tmp/nest" < "$tmp/addrs" | sed 's/  .*//; s/+.*//; s/^\[.*/-/; s/^nest:.*/-/' > "$tmp/got"
	is "nested, overlapping, and what lies between: all 256 bytes" \
		"$(paste -d ' ' "$tmp/addrs" "$tmp/got" | diff "$tmp/out" - | head -n 20)" ""
	like "padding says why it has no name" "$(at "$tmp/nest" outer 130)" '^nest:\.data\+0x[0-9a-f]*  data  \.data  \(no-symbol\)$'
	is "an absolute symbol is in its place" "$(value "$tmp/nest" absolute)" 0x0000000000404100
	unlike "and names nothing there" "$("$HOTVAR" sym --json -e "$tmp/nest" 0x404100 0x404101)" absolute
fi

# ---- COMMON ----
echo 'int common_v[10]; int main(void) { return common_v[1]; }' > "$tmp/common.c"
build "COMMON" "$CC" -O0 -fcommon common.c -o common &&
	is "COMMON" "$(at "$tmp/common" common_v 39)" "common_v+0x27  bss  .bss"

# ---- objects of more than 4 GiB ----
echo 'char before[16]; char big[6ul << 30]; int main(void) { return big[5ul << 30] + before[1]; }' > "$tmp/large.c"
if build "6 GiB" "$CC" -O0 -mcmodel=large -fno-pie -no-pie large.c -o large; then
	is "byte 5 GiB of 6" "$(at "$tmp/large" big $((5 << 30)))" "big+0x140000000  bss  .bss"
	is "the last byte" "$(at "$tmp/large" big $(((6 << 30) - 1)))" "big+0x17fffffff  bss  .bss"
	like "and no further" "$(at "$tmp/large" big $((6 << 30)))" '^(before|\[|large:)'
	like "its size" "$("$HOTVAR" sym --json -e "$tmp/large" "$(value "$tmp/large" big)")" '"offset":0,"size":6442450944,'
fi

# ---- more sections than 16 bits can number ----
awk 'BEGIN { n = split("0 65270 65279 65280 65300 65535 65536 65999", v); for (k = 1; k <= n; k++) named[v[k]]
	for (i = 0; i < 66000; i++) {
		printf ".section s%d,\"aw\"\n", i
		if (i in named)
			printf ".globl v%d\n.type v%d,@object\n.size v%d,4\nv%d:\n", i, i, i, i
		print ".long 1"
	}
	print ".text\n.globl _start\n_start: nop" }' > "$tmp/many.s"
if build "66,000 sections" sh -c "$CC -c many.s -o many.o && $CC -nostdlib -static -Wl,-z,norelro many.o -o many"; then
	check "there are so many" test "$(readelf -hW "$tmp/many" | sed -n 's/.*Number of section headers: .*(\([0-9]*\)).*/\1/p')" -gt 65280
	for i in 0 65270 65279 65280 65300 65535 65536 65999; do
		echo "v$i+0x3  data  s$i"
	done > "$tmp/want"
	nm "$tmp/many" | awk '$3 ~ /^v[0-9]/ { print substr($3, 2), $1 }' | sort -n | cut -d ' ' -f 2 | while read -r v; do
		printf '%#x\n' $((0x$v + 3))
	done | sym -e "$tmp/many" | sed "s|  $tmp/many||" > "$tmp/got"
	is "each in its own section" "$(diff "$tmp/want" "$tmp/got")" ""
fi
rm -f "$tmp/many" "$tmp/many.o" "$tmp/many.s"

# ---- a .bss with foreign memory right behind it, in one area; and huge pages in place of all text and data ----
cat > "$tmp/next.c" << 'END'
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include "say.h"
int data[3000] = { 1 };
char zeros[40000];
extern char _end[], data_start[];
int main(void)
{
	char *end = (char *)(((unsigned long)_end + 4095) & ~4095ul);
	char *p = mmap(end, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	char *from = (char *)(((unsigned long)data + 4095) & ~4095ul), *to = (char *)((unsigned long)&data[2999] & ~4095ul);
	char copy[16384];

	if (p != end)
		return puts("taken");
	SAY(&zeros[39999], "zeros+0x9c3f  bss  .bss");
	SAY(p, "[anon]  anon  (no-file)");
	SAY(p + 8191, "[anon]  anon  (no-file)");
	SAY(p - 1, (char *)p == _end ? "zeros+0x9c3f  bss  .bss" : "next[slack]");
	memcpy(copy, from, to - from);
	mmap(from, to - from, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(from, copy, to - from);
	SAY(&data[0], "data  data  .data");
	SAY(from, "data+?  data  .data");
	done();
}
END
if build "merged" "$CC" -O0 -no-pie -fno-pie next.c -o next; then
	start "$tmp/next" && {
		one=$(awk -v a="$(sed -n 's/^0x\([0-9a-f]*\) zeros.*/\1/p' "$tmp/out" | head -n 1)" -v b="$(sed -n 's/^0x\([0-9a-f]*\) \[anon\].*/\1/p' "$tmp/out" | head -n 1)" '
			function pad(s) { while (length(s) < 16) s = "0" s; return s }
			{ split($1, r, "-"); if (pad(r[1]) <= pad(a) && pad(a) < pad(r[2]) && pad(r[1]) <= pad(b) && pad(b) < pad(r[2])) print "one" }' "/proc/$pid/maps")
		is "the kernel has merged the .bss and what follows" "$one" one
		bss=$(sed -n 's/ zeros.*//p' "$tmp/out" | head -n 1)
		anon=$(sed -n 's/ \[anon\].*//p' "$tmp/out" | tr '\n' ' ')
		is "the .bss has its names" "$(sym -p "$pid" "$bss")" "zeros+0x9c3f  bss  .bss  $tmp/next"
		# shellcheck disable=SC2086
		is "and not a page further" "$(sym -p "$pid" $anon | sort -u)" "[anon]  anon  (no-file)"
		slack=$(sed -n 's/ next\[slack\]//p' "$tmp/out")
		[ -z "$slack" ] || like "the slack of its last page has none" "$(sym -p "$pid" "$slack")" '\(gap\)$'
		from=$(sed -n 's/ data+?.*//p' "$tmp/out") base=$(sed -n 's/ data  data.*//p' "$tmp/out")
		is "pages in place of the file's own" "$(sym -p "$pid" "$from" "$base" | tr '\n' '|')" \
			"data+$(printf '%#x' $((from - base)))  data  .data  $tmp/next  (remapped)|data  data  .data  $tmp/next|"
	}
	stop
fi

# ---- the gap between two segments of a library belongs to neither ----
printf 'int q_data[2] = { 1 };\nint q_fn(void) { return q_data[1]; }\n' > "$tmp/gap.c"
printf '#include <dlfcn.h>\n#include "say.h"\nint main(int c, char **v) { void *h = dlopen(v[1], RTLD_NOW); SAY(dlsym(h, "q_fn"), "text"); SAY(dlsym(h, "q_data"), "data"); done(); }\n' > "$tmp/m.c"
if build "gaps" sh -c "$CC -shared -fPIC -Wl,-z,max-page-size=0x200000,-z,separate-code gap.c -o libgap.so && $CC m.c -o m -ldl" && start "$tmp/m" "$tmp/libgap.so"; then
	# between the text's area and the data's, whatever the loader left there
	awk -v t="$(sed -n 's/^0x\([0-9a-f]*\) text/\1/p' "$tmp/out")" -v d="$(sed -n 's/^0x\([0-9a-f]*\) data/\1/p' "$tmp/out")" '
		function pad(s) { while (length(s) < 16) s = "0" s; return s }
		{ split($1, r, "-"); s = pad(r[1]); if (s > pad(t) && s < pad(d) && $2 ~ /^---/) print "0x" r[1] }' "/proc/$pid/maps" > "$tmp/gaps"
	if [ -s "$tmp/gaps" ]; then
		sym -p "$pid" < "$tmp/gaps" > "$tmp/got"
		is "gaps of a library name nothing" "$(grep -c q_ "$tmp/got")" 0
		is "each says why" "$(grep -vc '([a-z-]*)$' "$tmp/got")" 0
	else
		text=$(sed -n 's/ text//p' "$tmp/out")
		like "behind the text, nothing is mapped" "$(sym -p "$pid" "$(printf '%#x' $((text + 0x100000)))")" '\[unmapped\]|\(gap\)'
	fi
	stop
fi

# ---- variables behind such a gap, in a PT_LOAD of their own without a byte in the file ----
printf 'char q_wide[100] __attribute__((aligned(8192)));\nint q_data[2] = { 1 };\n' > "$tmp/wide.c"
printf '#include <dlfcn.h>\n#include "say.h"\nint main(int c, char **v) { void *h = dlopen(v[1], RTLD_NOW); char *q = dlsym(h, "q_wide"); SAY(q, "q_wide  bss  .bss"); SAY(q + 99, "q_wide+0x63  bss  .bss"); SAY(dlsym(h, "q_data"), "q_data  data  .data"); done(); }\n' > "$tmp/w.c"
if build "behind a gap" sh -c "$CC -shared -fPIC wide.c -o libwide.so && $CC w.c -o w -ldl" && start "$tmp/w" "$tmp/libwide.so"; then
	agree "behind a gap" "$tmp/libwide.so"
	stop
fi

# ---- a PLT entry is not the function that it leads to ----
printf 'static int impl(void) { return 1; }\nstatic void *pick(void) { return impl; }\nint ifn(void) __attribute__((ifunc("pick")));\n#include "say.h"\nint main(void) { printf("%%p plt\\n", (void *)ifn); SAY(impl, "impl  text  .text"); SAY(ifn() ? (char *)pick + 1 : 0, "ifn+0x1  text  .text"); done(); }\n' > "$tmp/ifn.c"
if build "IFUNC" "$CC" -O0 -no-pie -fno-pie ifn.c -o ifn && start "$tmp/ifn"; then
	plt=$(sed -n 's/ plt//p' "$tmp/out")
	sed -i '/plt$/d' "$tmp/out"
	agree "IFUNC: what it leads to, and who chooses" "$tmp/ifn"
	[ "$(nm "$tmp/ifn" | awk -v a="$plt" '"0x" $1 == a' | grep -c .)" != 0 ] ||
		unlike "its address in the program is a PLT entry, which has no name" "$(sym -p "$pid" "$plt")" '^(impl|pick|ifn|main)(\+|  )'
	stop
fi

done_testing
