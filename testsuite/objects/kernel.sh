# SPDX-License-Identifier: GPL-2.0-or-later
# kernel.sh - the kernel host, with the core in it, as an object of its own, W=1 clean.
#
# In a stap module it is one translation unit; so it is here. What the stap runtime gives is left undefined.
# Newer kernels' own headers declare after statements; our files do not, since older ones refuse that.
. "$top_srcdir/testsuite/lib.sh"

strangers() {
	nm -u "$1" | awk '{ print $2 }' | grep -E "$2" | tr '\n' ' '
}

host() {
	k=$tmp/kernel
	mkdir -p "$k/kernel" "$k/core"
	ln -sf "$top_srcdir"/runtime/kernel/*.[ch] "$k/kernel/"
	ln -sf "$top_srcdir"/runtime/core/*.[ch] "$k/core/"
	{
		echo "obj-m := host.o"
		echo "host-y := kernel/hvk_host.o"
		echo "ccflags-y := -I$top_srcdir -DHVK_OBJECT -Werror -Wdeclaration-after-statement -Wno-error=declaration-after-statement -Wframe-larger-than=1024"
	} > "$k/Kbuild"
	make -C "$KERNEL_HEADERS" M="$k" W=1 kernel/hvk_host.o
}

if [ -n "${KERNEL_HEADERS-}" ] && [ -f "$KERNEL_HEADERS/Makefile" ]; then
	check "kernel host builds with W=1 ($(basename "$(realpath "$KERNEL_HEADERS")"))" host
	if [ -f "$tmp/kernel/kernel/hvk_host.o" ]; then
		unlike "kernel host: no warning" "$(cat "$tmp/check.out")" '(^|/)hv(ar|k)_[a-z_0-9]*\.[ch]:.*warning:'
		is "kernel host: nothing of its own is left undefined" "$(strangers "$tmp/kernel/kernel/hvk_host.o" '^hv(ar|k)_')" ""
		is "kernel host: no 64-bit division by a library call, no floats" "$(strangers "$tmp/kernel/kernel/hvk_host.o" '^__(u?div|u?mod|float|fix|add[sd]f)')" ""
	else
		not_ok "kernel host: the rest" "there is no object"
	fi
else
	skip "kernel host" "no kernel headers here (apt-get install linux-headers-amd64, then configure again)"
fi

done_testing
