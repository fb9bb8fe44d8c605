# SPDX-License-Identifier: GPL-2.0-or-later
# elf.sh - make the seeds of the ELF fuzz target: elf.sh FOLDER-OF-THIS FOLDER-TO-MAKE CC
#
# What this machine's compiler cannot make is left out and said; one that works must make the first two.
set -e
from=$1 to=$2 cc=$3
rm -rf "$to"
mkdir -p "$to"

# seed NAME OPTION...; a small page, so that a mutation of its bytes hits something
seed() {
	out=$to/$1.so
	shift
	$cc -O1 -fPIC -shared -nostdlib -Wl,--build-id=sha1,--hash-style=both,-z,max-page-size=4096 \
		-Wl,-z,noseparate-code -o "$out" "$@" "$from/shapes.c"
}
# without_sections NAME OTHER: e_shoff, e_shnum and e_shstrndx of a 64-bit header are 0 (elf(5))
without_sections() {
	cp "$to/$1.so" "$to/$2.so"
	dd if=/dev/zero of="$to/$2.so" bs=1 seek=40 count=8 conv=notrunc 2> /dev/null
	dd if=/dev/zero of="$to/$2.so" bs=1 seek=60 count=4 conv=notrunc 2> /dev/null
}
maybe() {
	seed "$@" 2> /dev/null || { rm -f "$to/$1.so"; echo "  $cc cannot make the fuzz seed $1: without it" >&2; }
}

seed shapes
without_sections shapes nosec
maybe stripped -s
maybe versions -DVERSIONED -Wl,--version-script="$from/shapes.map"
maybe debug -g
maybe m32 -m32
maybe lld -fuse-ld=lld
$cc -x c++ -g -O1 -fPIC -shared -nostdlib -Wl,-z,max-page-size=4096 -Wl,-z,noseparate-code -o "$to/virtual.so" "$from/virtual.cc" 2> /dev/null ||
	{ rm -f "$to/virtual.so"; echo "  $cc cannot make the fuzz seed virtual: without it" >&2; }
# A reference to dwz's common file that is nowhere: it is missing, however the program is read.
if [ -f "$to/debug.so" ] && printf 'common\000build-id' > "$to/link" &&
	objcopy --add-section .gnu_debugaltlink="$to/link" "$to/debug.so" "$to/altlink.so" 2> /dev/null; then
	:
else
	rm -f "$to/altlink.so"
	echo "  no objcopy can make the fuzz seed altlink: without it" >&2
fi
rm -f "$to/link"
# The same files where fuzz_debug takes them: its first byte says what the others are.
debug=$(dirname "$to")/debug
rm -rf "$debug"
mkdir -p "$debug"
for f in "$to"/*.so; do
	for mode in 2 3 4 6; do
		{ printf "\\$mode"; cat "$f"; } > "$debug/$mode-$(basename "$f" .so)"
	done
done
