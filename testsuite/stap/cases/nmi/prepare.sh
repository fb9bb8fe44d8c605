# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - the module that sends NMIs.
kernel=$(cd "$root/lib/modules" && echo *-amd64)
echo 'obj-m := nmisend.o' > sender/Kbuild
"$lab/enter" "$root" "$work" make -s -C "/lib/modules/$kernel/build" M=/srv/nmi/sender modules &&
	mv sender/nmisend.ko . && rm -rf sender
