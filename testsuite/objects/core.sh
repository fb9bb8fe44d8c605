# SPDX-License-Identifier: GPL-2.0-or-later
# core.sh - the one core, unchanged, as a user, a kernel and a Valgrind tool object.
#
# Each file of runtime/core is compiled as its three hosts compile it, and each whole core is linked into one
# relocatable object whose undefined symbols are read: a core that calls anything else would not load in a host.
# A warning is an error in each.
. "$top_srcdir/testsuite/lib.sh"

core=$top_srcdir/runtime/core
CC=${CC:-gcc}
strict="-Wall -Wextra -Wshadow -Werror -std=gnu89 -Wdeclaration-after-statement -Wframe-larger-than=512"
files=$(cd "$core" && ls *.c | sed 's/\.c$//')

# build FOLDER FLAGS...: every file into FOLDER, then FOLDER/core.o of them all
build() {
	dir=$1
	shift
	mkdir -p "$dir"
	for f in $files; do
		# shellcheck disable=SC2086
		$CC -I"$top_srcdir" "$@" $strict -c -o "$dir/$f.o" "$core/$f.c" || return 1
	done
	ld -r -o "$dir/core.o" $(for f in $files; do echo "$dir/$f.o"; done)
}

# strangers FILE ALLOWED-REGEX: undefined symbols of FILE that the core may not need
strangers() {
	nm -u "$1" | awk '{ print $2 }' | grep -Evx "$2" | tr '\n' ' '
}

# no_float FILE: no instruction of FILE uses a floating-point or vector register
no_float() {
	objdump -d --no-show-raw-insn "$1" > "$tmp/dis" || return 1
	! grep -E '%([xyz]mm[0-9]|st\b|mm[0-7])' "$tmp/dis"
}

four='memcpy|memmove|memset|memcmp'

# ---- user: a freestanding object, as the library has it ----------------------------------------------------------

check "user object builds, freestanding" build "$tmp/user" -O2 -ffreestanding
if [ -f "$tmp/user/core.o" ]; then
	is "user object needs only $four" "$(strangers "$tmp/user/core.o" "$four")" ""
else
	not_ok "user object needs only $four" "there is no object"
fi

# 32-bit code shows what x86-64 hides: a 64-bit / or % calls __udivdi3 there, as it does not link in a kernel, and
# without SSE or x87 a float is an error.  Its only headers are the compiler's own and these two: a machine
# has no 32-bit libc unless asked to.
mkdir -p "$tmp/include"
ln -s /usr/include/asm-generic "$tmp/include/asm-generic"
echo '#include <asm-generic/errno.h>' > "$tmp/include/errno.h"
cat > "$tmp/include/string.h" <<'EOF'
void *memcpy(void *, const void *, __SIZE_TYPE__);
void *memmove(void *, const void *, __SIZE_TYPE__);
void *memset(void *, int, __SIZE_TYPE__);
int memcmp(const void *, const void *, __SIZE_TYPE__);
EOF
i386() {
	mkdir -p "$tmp/i386"
	for f in $files; do
		# shellcheck disable=SC2086
		$CC -nostdinc -isystem "$($CC -print-file-name=include)" -isystem "$tmp/include" -I"$top_srcdir" \
			-m32 -O2 -ffreestanding -fno-pic -mgeneral-regs-only $strict -c -o "$tmp/i386/$f.o" "$core/$f.c" || return 1
	done
}
check "i386 object builds with four functions and errno as its whole libc, no floats" i386
is "no 64-bit division (no libgcc call on i386)" \
	"$(for f in $files; do strangers "$tmp/i386/$f.o" "$four|hvar_.*" 2>&1; done)" ""

# Whatever optimisation a host chooses, frames stay small: it is part of a kernel stack.
check "frames stay under 512 bytes at -O1, -Os and -O3 too" sh -c '
	for o in -O1 -Os -O3; do
		for f in "$1"/*.c; do "$2" -I"$3" $o -ffreestanding -Werror -Wframe-larger-than=512 -S -o /dev/null "$f" || exit 1; done
	done' frames "$core" "$CC" "$top_srcdir"

# Recursion: no function of the core reaches itself.
recursion() {
	objdump -dr --no-show-raw-insn "$1" | awk '
		/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f); next }
		/R_X86_64_(PLT32|PC32)/ { t = $NF; sub(/[-+]0x.*/, "", t); calls[f] = calls[f] " " t; next }
		/\t(call|jmp) +[0-9a-f]+ </ { t = $NF; gsub(/[<>]/, "", t); if (t !~ /\+/) calls[f] = calls[f] " " t }
		function reach(g, h,   n, a, i) {
			n = split(calls[g], a)
			for (i = 1; i <= n; i++) {
				if (a[i] == h) return 1
				if (!seen[a[i]]++ && reach(a[i], h)) return 1
			}
			return 0
		}
		END { for (f in calls) { split("", seen); if (reach(f, f)) { print f " reaches itself"; bad = 1 } } exit bad }'
}
check "user object has functions to look at" sh -c 'build=$1; n=$(nm "$build" | grep -c " [tT] "); [ "$n" -gt 20 ]' count "$tmp/user/core.o"
# At -O2 a static helper may be inlined, but a loop in the call graph cannot be inlined away.
check "no recursion" recursion "$tmp/user/core.o"

# ---- Valgrind tool ----------------------------------------------------------------------------------------------

if [ -n "${VALGRIND_INCLUDE-}" ]; then
	# The flags with which a tool is compiled: no libc, no stack protector (there is no TLS to keep its guard in).
	check "Valgrind tool object builds" build "$tmp/valgrind" -O2 -fno-stack-protector -fno-builtin -fno-pie -fomit-frame-pointer -ffreestanding \
		-DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 -isystem "$VALGRIND_INCLUDE"
	if [ -f "$tmp/valgrind/core.o" ]; then
		is "Valgrind tool object needs only $four" "$(strangers "$tmp/valgrind/core.o" "$four")" ""
	else
		not_ok "Valgrind tool object needs only $four" "there is no object"
	fi
else
	skip "Valgrind tool object" "no tool headers here (apt-get install valgrind, then configure again)"
fi

# ---- kernel -----------------------------------------------------------------------------------------------------

# What the kernel's own compiler flags put into every object, whatever the source says:
#   __x86_return_thunk, __x86_indirect_thunk_*   -mfunction-return, -mindirect-branch (retpolines)
#   __fentry__                                   -pg -mfentry (ftrace)
#   __stack_chk_fail                             -fstack-protector-strong
#   __ubsan_*                                    -fsanitize=bounds, shift (CONFIG_UBSAN)
#   __fortify_panic, fortify_panic, __write_overflow_field, __read_overflow2_field, __warn_printk
#                                                memcpy's and memmove's own checks (CONFIG_FORTIFY_SOURCE)
#   __SCT__*, __sanitizer_cov_*, __tsan_*, __asan_* are not among them: no distribution kernel has those
inserted='__x86_return_thunk|__x86_indirect_thunk_[a-z0-9]+|__fentry__|__stack_chk_fail|__ubsan_[a-z_]+|__?fortify_panic|__(read|write)_overflow[a-z0-9_]*|__warn_printk|__memcpy|__memset|__memmove'

kernel() {
	k=$tmp/kernel
	mkdir -p "$k"
	ln -sf "$core"/*.[ch] "$k/"
	{
		echo "obj-m := core.o"
		echo "core-y := $(for f in $files; do printf '%s.o ' "$f"; done)"
		echo "ccflags-y := -I$top_srcdir -DHVAR_KERNEL_OBJECT -Werror -Wdeclaration-after-statement -Wframe-larger-than=512"
	} > "$k/Kbuild"
	make -C "$KERNEL_HEADERS" M="$k" W=1 core.o
}

if [ -n "${KERNEL_HEADERS-}" ] && [ -f "$KERNEL_HEADERS/Makefile" ]; then
	check "kernel object builds with W=1 ($(basename "$(realpath "$KERNEL_HEADERS")"))" kernel
	if [ -f "$tmp/kernel/core.o" ]; then
		unlike "kernel object: no warning" "$(cat "$tmp/check.out")" 'warning:'
		is "kernel object needs only $four" "$(strangers "$tmp/kernel/core.o" "$four|$inserted")" ""
		check "kernel object has no floating-point instruction" no_float "$tmp/kernel/core.o"
		# The same functions in all three: nothing is left out of a host.
		is "kernel object exports what the user object does" \
			"$(nm -g --defined-only "$tmp/kernel/core.o" | awk '$2 == "T" && $3 ~ /^hvar_/ { print $3 }' | sort | tr '\n' ' ')" \
			"$(nm -g --defined-only "$tmp/user/core.o" | awk '$2 == "T" { print $3 }' | sort | tr '\n' ' ')"
	else
		not_ok "kernel object: the rest" "there is no object"
	fi
else
	skip "kernel object" "no kernel headers here (apt-get install linux-headers-amd64, then configure again)"
fi

done_testing
