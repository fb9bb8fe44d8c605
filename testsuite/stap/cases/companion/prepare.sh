# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - the command hotvar with its libraries, of the machine that built it, and the tapset beside it.
mkdir -p bin hv/tapset
cp "$HOTVAR" hv/hotvar
cp "$work"/hotvar/tapset/* hv/tapset/
ldd "$HOTVAR" | grep -o '/[^ )]*' | while read -r l; do
	cp -L "$l" hv/
done
cp -L "$(ldd "$HOTVAR" | grep -o '/[^ ]*ld-linux[^ ]*' | head -n 1)" hv/ld.so
mv stap.sh bin/stap
chmod 755 bin/stap hv/ld.so hv/hotvar
cat > bin/hotvar <<'END'
#!/bin/sh
exec /srv/companion/hv/ld.so --library-path /srv/companion/hv /srv/companion/hv/hotvar "$@"
END
chmod 755 bin/hotvar

# In the root, with the root's own stap and nothing mended but by hotvar: a module that the guest loads.
release=$(cd "$root/lib/modules" && ls -d -- *-amd64 | sort -V | tail -n 1)
hotvar() {
	"$lab/enter" "$root" "$work" /srv/companion/bin/hotvar stap -r "$release" "$@"
}
hotvar -p4 -DSTP_NO_OVERLOAD -m by_hotvar -I /mnt/tapset /srv/companion/marks.stp > by_hotvar.said 2>&1 || { cat by_hotvar.said; exit 1; }
mv "$work/by_hotvar.ko" .
hotvar -L 'vma.*' > probes || exit 1
# What is wrong with a script is stap's to say.
hotvar -p2 -e 'probe vma.no_such {}' > wrong 2>&1
echo $? > wrong.status
