# SPDX-License-Identifier: GPL-2.0-or-later
# tarball.sh - what a distribution does with hotvar: tarball, build elsewhere, install, uninstall; and what make makes again.
. "$top_srcdir/testsuite/lib.sh"

mk() {
	make -j"$(nproc)" "$@"
}

# The sources as they are now, though not yet committed.
name=hotvar-${VERSION:?}
mkdir "$tmp/dist" && cd "$tmp/dist" || exit 1
check "configure in a folder of its own" "$top_srcdir/configure"
check "make dist" mk dist
check "unpack" tar -xzf "$name.tar.gz"
cd "$name" || { done_testing; exit 1; }
chmod -R a-w .
mkdir "$tmp/build" && cd "$tmp/build" || exit 1

check "configure from the tarball, its folder not writable" "$tmp/dist/$name/configure" --prefix=/usr --enable-werror
check "make" mk
is "hotvar runs in place" "$(./hotvar --version 2>&1 | grep -c "$VERSION")" 1
check "make again does nothing" sh -c 'make -q all || { make -n all; exit 1; }'

# ---- what is made again ------------------------------------------------------------------------------------

made() {
	mk V=1 "$@" 2>&1 | grep -oE -- '-c -o [^ ]+|-o hotvar ' | awk '{ print $NF }' | sort -u
}
chmod -R u+w "$tmp/dist/$name"
touch "$tmp/dist/$name/runtime/core/hvar_vmas_tree.h"
again=$(made)
like "a changed header: its users are made again" "$again" '^runtime/core/hvar_vmas\.o$'
like "and so is what links them" "$again" '^hotvar$'
unlike "but nothing else" "$again" '^runtime/report/json\.o$'
again=$(made -n CFLAGS='-O1 -g')
like "other CFLAGS: all is made again" "$again" '^runtime/report/json\.o$'
is "all that the library and the command are of" "$(echo "$again" | grep -E '^(runtime/(core|user|report|cli)|translator-hooks)/')" \
	"$(find runtime/core runtime/user runtime/report runtime/cli translator-hooks -name '*.o' | LC_ALL=C sort)"
cat > "$tmp/dist/$name/runtime/user/added.c" <<'EOF'
int hotvar_added;
EOF
like "a new file needs no line in the Makefile" "$(made)" '^runtime/user/added\.o$'
rm "$tmp/dist/$name/runtime/user/added.c"
mk > "$tmp/out" 2>&1
is "and a removed one leaves the library" "$(nm libhotvar.a 2> /dev/null | grep -c hotvar_added)" 0

# ---- install, uninstall ------------------------------------------------------------------------------------

check "make install" mk install DESTDIR="$tmp/root"
is "what is installed runs" "$("$tmp/root/usr/bin/hotvar" --version 2>&1 | grep -c "$VERSION")" 1
check "the man page is there" test -s "$tmp/root/usr/share/man/man1/hotvar.1"
check "make uninstall" mk uninstall DESTDIR="$tmp/root"
is "uninstall leaves no file" "$(find "$tmp/root" ! -type d)" ""

check "the tarball can make itself" mk dist
is "with the same files" "$(tar -tzf "$name.tar.gz" | sort | cksum)" "$(tar -tzf "$tmp/dist/$name.tar.gz" | sort | cksum)"
check "make distclean" mk distclean
is "distclean leaves no file" "$(find . ! -type d)" ""

done_testing
