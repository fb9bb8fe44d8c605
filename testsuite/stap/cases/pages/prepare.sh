# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - the scripts that call every function that tells of a page, and what is made of it.
"$here/generate" functions "$work/hotvar/tapset" | sed '/^probe mark.address/,/^}/!d' |
	grep -E '^probe|^}|vma_page_|vma_is_private|vma_key' > pages.stp
# Those of the page alone: such a script follows no process.
"$here/generate" functions "$work/hotvar/tapset" | sed '/^probe mark.address/,/^}/!d' |
	grep -E '^probe|^}|vma_page_' > alone.stp
# Memory to swap to is a module of the kernel.
kernel=$(cd "$root/lib/modules" && echo *-amd64)
limits=
grep -q 'define blk_alloc_disk(.*,' "$root"/usr/src/linux-headers-*-common/include/linux/blkdev.h && limits=-DRAMDISK_LIMITS
printf 'obj-m := ramdisk.o\nccflags-y := %s\n' "$limits" > disk/Kbuild
"$lab/enter" "$root" "$work" make -s -C "/lib/modules/$kernel/build" M=/srv/pages/disk modules &&
	mv disk/ramdisk.ko . && rm -rf disk/[!s]* disk/.[!.]* && mv ramdisk.ko disk/
