# SPDX-License-Identifier: GPL-2.0-or-later
# install.sh - make install puts files where they belong and nowhere else; make uninstall takes away those alone.
. "$top_srcdir/testsuite/lib.sh"

cd "$top_builddir" || exit 1
# -o: what is built is to be installed, not built once more.
mk() {
	make -s -o hotvar -o config.status prefix=/usr mandir=/usr/share/man DESTDIR="$tmp/root" "$@"
}

mkdir -p "$tmp/root/usr/share/doc/other" "$tmp/root/usr/bin"
echo foreign > "$tmp/root/usr/share/doc/README.md"
echo foreign > "$tmp/root/usr/bin/other"
find "$tmp/root" | sort > "$tmp/before"

check "make install" mk install
find "$tmp/root" ! -type d | sort | sed "s,^$tmp/root,," > "$tmp/installed"
is "the files are these" "$(cat "$tmp/installed")" "/usr/bin/hotvar
/usr/bin/other
/usr/share/doc/README.md
/usr/share/doc/hotvar/COPYING
/usr/share/doc/hotvar/NEWS
/usr/share/doc/hotvar/README.md
/usr/share/man/man1/hotvar.1"
is "one of another's of the same name is as it was" "$(cat "$tmp/root/usr/share/doc/README.md")" foreign
is "what is installed runs" "$("$tmp/root/usr/bin/hotvar" --version 2>&1 | grep -c "$VERSION")" 1

check "make uninstall" mk uninstall
rmdir "$tmp/root/usr/share/man/man1" "$tmp/root/usr/share/man"
find "$tmp/root" | sort > "$tmp/after"
is "what was there before is there, and nothing else" "$(diff "$tmp/before" "$tmp/after")" ""

# A folder that holds something of another's stays.
mk install > /dev/null 2>&1
echo foreign > "$tmp/root/usr/share/doc/hotvar/copyright"
check "make uninstall beside another's file" mk uninstall
is "leaves it" "$(ls "$tmp/root/usr/share/doc/hotvar")" copyright

done_testing
