# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - stap needs the program when it compiles; and a runtime that hotvar has mended, where need be.
mkdir -p hv/tapset
cp "$HOTVAR" hv/hotvar
cp "$work"/hotvar/tapset/* hv/tapset/
ldd "$HOTVAR" | grep -o '/[^ )]*' | while read -r l; do cp -L "$l" hv/; done
cp -L "$(ldd "$HOTVAR" | grep -o '/[^ ]*ld-linux[^ ]*' | head -n 1)" hv/ld.so
# as it will be built again for all cases: byte by byte the same
"$lab/enter" "$root" "$work" sh -c "cd /srv/uprobes && gcc -I/mnt/programs -O1 -g -o touched touched.c" || exit 1
release=$(cd "$root/lib/modules" && ls -d -- *-amd64 | sort -V | tail -n 1)
"$lab/enter" "$root" "$work" /srv/uprobes/hv/ld.so --library-path /srv/uprobes/hv /srv/uprobes/hv/hotvar stap -r "$release" -p4 -DSTP_NO_OVERLOAD \
	-m functions /srv/uprobes/functions.txt || exit 1
mv "$work/functions.ko" .
rm -r hv
