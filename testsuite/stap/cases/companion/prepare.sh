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
