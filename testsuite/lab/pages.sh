#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pages.sh - hotvar pages on other kernels, in an emulator: with swap, which this machine is spared, and on one without PAGEMAP_SCAN.
#
# Each kernel is that of a root of testsuite/lab/root.  The program and hotvar run there; what they say is compared here.
. "$top_srcdir/testsuite/lib.sh"

lab=$top_srcdir/testsuite/lab oracle=$top_srcdir/testsuite/live/pages_oracle.py
[ "$(id -u)" = 0 ] || skip_all "that needs root"
command -v qemu-system-x86_64 > /dev/null || skip_all "no qemu-system-x86_64 (apt-get install qemu-system-x86)"

# The module of a RAM disk for the root's kernel, uncompressed, as $tmp/brd.ko; it is in the kernel's package, of which the root has the kernel alone.
module() {
	k=$(ls "$1"/boot/vmlinuz-* | sort -V | tail -n 1)
	k=${k##*/vmlinuz-}
	rm -rf "$tmp/module"
	mkdir -p "$tmp/module"
	found=$(find "$1/lib/modules/$k" -name 'brd.ko*' 2> /dev/null | head -n 1)
	if [ -n "$found" ]; then
		cp "$found" "$tmp/module"
	else
		# of the root's own sources, with lists outside of it, which has none; the modules' package is the one or the other
		timeout 300 sh "$lab/enter" "$1" "$tmp/module" sh -c '
			mkdir -p lists/partial cache/archives/partial &&
			set -- "$1" -q -o Dir::State::lists=/mnt/lists -o Dir::Cache=/mnt/cache -o Acquire::Languages=none -o APT::Sandbox::User=root &&
			k=$1 && shift && apt-get "$@" -o Acquire::Check-Valid-Until=false update &&
			{ apt-get "$@" download "linux-modules-$k" || apt-get "$@" download "linux-image-$k"; }' module "$k" > "$tmp/apt" 2>&1 ||
			sed 's/^/# apt: /' "$tmp/apt"
		for d in "$tmp"/module/*.deb; do
			[ ! -e "$d" ] || dpkg-deb --fsys-tarfile "$d" | tar -C "$tmp/module" -x --wildcards '*/brd.ko*'
			rm -f "$d"
		done
	fi
	rm -f "$tmp/brd.ko"
	found=$(find "$tmp/module" -name 'brd.ko*' | head -n 1)
	case $found in
	*.xz) xz -dc "$found" > "$tmp/brd.ko" ;;
	*.zst) zstd -qdc "$found" > "$tmp/brd.ko" ;;
	*.ko) cp "$found" "$tmp/brd.ko" ;;
	*) return 1 ;;
	esac
}

# What runs in the guest.  Its one address space that is looked at sleeps.
guest() {
	cat <<-'EOF'
	export LD_LIBRARY_PATH=/lib-hotvar TMPDIR=/tmp HOME=/tmp
	if [ -e /brd.ko ] && insmod /brd.ko rd_nr=1 rd_size=65536 && mkswap /dev/ram0 > /dev/null && swapon /dev/ram0; then
		echo swap > /out/swap
	fi
	echo 4 > /proc/sys/vm/nr_hugepages
	keep() {
		mkdir -p /out/$1.of
		/page_read dump $2 > /out/$1.of/dump
		cat /proc/$2/smaps > /out/$1.of/smaps
		cat /proc/$2/numa_maps > /out/$1.of/numa_maps
	}
	run() {
		mkfifo /tmp/$1.in
		/pages $2 < /tmp/$1.in > /out/$1 2> /out/$1.err &
		exec 3> /tmp/$1.in
		until grep -q '^ready' /out/$1; do sleep 1; done
		pid=$(sed -n 's/^pid //p' /out/$1)
		/hotvar pages -p $pid --json > /out/$1.json 2>> /out/$1.err
		/hotvar pages -p $pid --by page --json > /out/$1.pages 2>> /out/$1.err
		keep $1 $pid
		exec 3>&-
		wait # its end would interrupt the opening of the next one's pipe
	}
	run regions regions
	[ ! -e /out/swap ] || run swap swap
	/hotvar pages --json -o /out/launched.json -- /pages regions launched < /dev/null > /out/launched 2> /out/launched.err
	echo 4096 > /sys/kernel/debug/fault_around_bytes
	/hotvar pages --json -o /out/one.json -- /pages regions launched < /dev/null > /out/one 2> /out/one.err
	/hotvar doctor > /out/doctor 2>&1
	mkfifo /tmp/touch.in
	/pages touch < /tmp/touch.in > /out/touch 2>&1 &
	exec 3> /tmp/touch.in
	until grep -q '^region idle' /out/touch; do sleep 1; done
	pid=$(sed -n 's/^pid //p' /out/touch)
	idle=$(sed -n 's/^region idle 0x//p' /out/touch)
	/hotvar pages -p $pid -d 1000 --json > /out/touch.json 2> /out/touch.err &
	hotvar=$!
	until sed -n "/^$idle-/,/^VmFlags/p" /proc/$pid/smaps | grep -q '^Referenced: *0 kB'; do sleep 1; done
	echo go >&3
	until grep -q '^region populate' /out/touch; do sleep 1; done
	kill -INT $(pidof ld.so)
	wait $hotvar
	exec 3>&-
	sed -i '/^region idle/d' /out/touch
	EOF
}

try() {
	suite=$1
	root=$(sh "$lab/root" "$suite" 2> "$tmp/why")
	if [ -z "$root" ]; then
		skip "$suite" "$(tail -n 1 "$tmp/why")"
		return
	fi
	rm -rf "$tmp/files" "$tmp/out"
	mkdir -p "$tmp/files/lib-hotvar" "$tmp/files/lib64"
	cp "$lab/init" "$tmp/files/init"
	chmod +x "$tmp/files/init"
	cp "$HOTVAR" "$tmp/files/hotvar.bin"
	cp "$TESTPROGS/pages" "$TESTPROGS/page_read" "$tmp/files/"
	# hotvar is this machine's, with its own C library
	ldd "$HOTVAR" | grep -o '/[^ )]*' | while read -r l; do cp -L "$l" "$tmp/files/lib-hotvar/"; done
	cp "$tmp"/files/lib-hotvar/ld-linux* "$tmp/files/ld.so"
	printf '#!/bin/sh\nexec /ld.so --library-path /lib-hotvar /hotvar.bin "$@"\n' > "$tmp/files/hotvar"
	chmod +x "$tmp/files/hotvar"
	if module "$root"; then cp "$tmp/brd.ko" "$tmp/files/"; fi
	guest > "$tmp/files/guest"
	sh "$lab/initramfs" "$root" "$tmp/files" "$tmp/initramfs"
	if ! sh "$lab/boot" "$root" "$tmp/initramfs" "$tmp/out" 300 1024 > "$tmp/boot" 2>&1; then
		not_ok "$suite: boots" "$(cat "$tmp/boot")"
		return
	fi
	for name in regions swap; do
		[ ! -e "$tmp/out/$name.json" ] || cat "$tmp/out/$name.json" "$tmp/out/$name.pages" > "$tmp/out/$name.all"
	done
	ok "$suite: boots ($(sed -n 's/^lab: begin //p' "$tmp/out/console" | tr -d '\r'))"
	check "$suite: regions as the program knows them" python3 "$oracle" told "$tmp/out/regions" "$tmp/out/regions.all"
	check "$suite: every field as its /proc has it" python3 "$oracle" compare "$tmp/out/regions.of" "$tmp/out/regions.all"
	check "$suite: their numbers hold together" python3 "$oracle" sane "$tmp/out/regions.json"
	if [ -e "$tmp/out/swap" ]; then
		check "$suite: swapped pages" python3 "$oracle" told "$tmp/out/swap" "$tmp/out/swap.all"
		check "$suite: with swap, every field as its /proc has it" python3 "$oracle" compare "$tmp/out/swap.of" "$tmp/out/swap.all"
		like "$suite: there were some" "$(cat "$tmp/out/swap.json")" '"present":4,.*"swapped":6'
		is "$suite: and in the rows of pages" "$(grep -c '"present":false,.*"written":true,"anon":true.*"swapped":true' "$tmp/out/swap.pages" | awk '{ print ($1 >= 6) }')" 1
	else
		skip "$suite: swapped pages" "its kernel's module brd could not be had"
	fi
	check "$suite: a command from its start" python3 "$oracle" told "$tmp/out/launched" "$tmp/out/launched.json"
	sed -i 's/\(region file_read .*\)touched_most=16/\1touched=16/; s/\(region file_cow .*\)touched_least=5/\1touched=5/; s/\(region file_cow .*\)present>4/\1present=5/' "$tmp/out/one"
	check "$suite: a running process, since a moment" python3 "$oracle" told "$tmp/out/touch" "$tmp/out/touch.json"
	check "$suite: without fault-around pages of files too" python3 "$oracle" told "$tmp/out/one" "$tmp/out/one.json"
	[ -z "${PAGES_KEEP-}" ] || cp -r "$tmp/out" "$PAGES_KEEP/$suite"
}

for suite in ${PAGES_SUITES:-bookworm trixie forky}; do
	try "$suite"
done
done_testing
