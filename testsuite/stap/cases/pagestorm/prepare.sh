# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - the walk in a module of its own, which asks from NMIs.
kernel=$(cd "$root/lib/modules" && echo *-amd64)
printf 'obj-m := pagenmi.o\nccflags-y := -I/mnt/hotvar -DHVK_OBJECT\n' > nmi/Kbuild
"$lab/enter" "$root" "$work" make -s -C "/lib/modules/$kernel/build" M=/srv/pagestorm/nmi modules &&
	mv nmi/pagenmi.ko . && rm -rf nmi
