# SPDX-License-Identifier: GPL-2.0-or-later
# install.sh - make install puts files where they belong and nowhere else; make uninstall takes away those alone.
. "$top_srcdir/testsuite/lib.sh"

cd "$top_builddir" || exit 1
# -o: what is built is to be installed, not built once more.  Always into a DESTDIR: a mistake must not reach the machine's folders.
mk_for() {
	for_prefix=$1
	shift
	make -s -o hotvar -o config.status prefix="$for_prefix" libexecdir="$for_prefix/libexec" mandir="$for_prefix/share/man" DESTDIR="$tmp/root" "$@"
}
mk() {
	mk_for /usr "$@"
}

tapset=$(printf 'include Makefile\nshow:; @echo $(tapsetdir)\n' | mk -f - show)
valgrind=$(sed -n 's/^VALGRIND_FILES = *//p' Makefile)
images=$(sed -n 's/^imagedir = //p' Makefile | sed 's,^${localstatedir},/usr/var,')

mkdir -p "$tmp/root/usr/share/doc/other" "$tmp/root$tapset" "$tmp/root/usr/bin"
echo foreign > "$tmp/root/usr/share/doc/README.md"
echo foreign > "$tmp/root/usr/bin/other"
echo '// foreign' > "$tmp/root$tapset/vm.stp"
find "$tmp/root" | sort > "$tmp/before"

check "make install" mk install
find "$tmp/root" ! -type d | sort | sed "s,^$tmp/root,," > "$tmp/installed"
src() {
	(cd "$top_srcdir" && for f in $1; do echo "$2/${f#"$3"}"; done)
}
share=/usr/share/hotvar
{
	echo "/usr/bin/hotvar"
	echo "/usr/bin/other"
	echo "/usr/include/hotvar.h"
	[ -z "$valgrind" ] || printf '%s\n' /usr/libexec/hotvar/default.supp /usr/libexec/hotvar/hotvar-amd64-linux /usr/libexec/hotvar/vgpreload_core-amd64-linux.so \
		/usr/libexec/hotvar/hotvar-x86-linux /usr/libexec/hotvar/heap/hotvar-x86-linux \
		/usr/libexec/hotvar/heap/default.supp /usr/libexec/hotvar/heap/hotvar-amd64-linux /usr/libexec/hotvar/heap/vgpreload_core-amd64-linux.so \
		/usr/libexec/hotvar/heap/vgpreload_hotvar-amd64-linux.so
	echo "$tapset/vm.stp"
	echo "/usr/share/doc/README.md"
	src "COPYING NEWS README.md" /usr/share/doc/hotvar
	src "doc/*.1" /usr/share/man/man1 doc/
	src "runtime/core/*.[ch] runtime/kernel/*.[ch] examples/*.*" $share
	src "tapset/*.stp tapset/*.stpm tapset/*.in" $tapset tapset/ | sed 's/\.in$//'
	ls doc/man3 | sed 's,^,/usr/share/man/man3/,'
} | sort -u > "$tmp/wanted"
is "the files are these" "$(diff "$tmp/wanted" "$tmp/installed")" ""
like "with the tapset's pages" "$(cat "$tmp/installed")" '/man3/probe::vma\.map\.3stap$'
is "all but programs are for reading alone" \
	"$(cd "$tmp/root" && find usr -type f ! -perm 644 | sort)" "$(cd "$tmp/root" && ls -d usr/bin/hotvar usr/libexec/hotvar/hotvar-amd64-linux usr/libexec/hotvar/hotvar-x86-linux 2> /dev/null)"
is "the folder of images is there for one writer" "$(stat -c %a "$tmp/root$images")" 755

# The tapset names what is installed, in its place for good, and the hash of just that.
runtime=$tmp/root/usr/share/hotvar/runtime
filled=$tmp/root$tapset/vma_runtime.stp
is "the tapset includes the installed runtime" "$(sed -n 's/^#include "\(.*\)"$/\1/p' "$filled")" $share/runtime/kernel/hvk_host.c
like "and has its hash where stap's cache sees it" "$(sed -n '/^%{/,/^%}/p' "$filled")" "$(cat "$runtime"/core/* "$runtime"/kernel/* | sha1sum | cut -c -16)"
like "and the folder of images" "$(cat "$filled")" "^#define HVK_IMAGE_DIR \"$images\"\$"
is "nothing in it is left to fill in" "$(grep -rE '@[A-Z_]{3,}@' "$tmp/root$tapset" "$tmp/root/usr/share/man")" ""
is "nothing names this build" "$(grep -rlF -e "$top_builddir" -e "$top_srcdir" -e "$tmp" "$tmp/root/usr/share")" ""

# What the tapset includes is all there: a compiler finds each file.
missing=$(cd "$runtime" && grep -hoE '#[ \t]*include "[^"]*"' core/*.[ch] kernel/*.[ch] | cut -d '"' -f 2 | sort -u | while read -r f; do
	[ -f "core/$f" ] || [ -f "kernel/$f" ] || [ -f "../$f" ] || echo "$f"
done)
is "what the runtime includes is there" "$missing" ""

is "one of another's of the same name is as it was" "$(cat "$tmp/root/usr/share/doc/README.md")" foreign
is "what is installed runs" "$("$tmp/root/usr/bin/hotvar" --version 2>&1 | grep -c "$VERSION")" 1

touch "$tmp/root$images/0123.img"
check "make uninstall" mk uninstall
is "symbol images may be in use by others: they stay" "$(ls "$tmp/root$images")" 0123.img
rm -r "$tmp/root$images"
[ -z "$valgrind" ] || rmdir "$tmp/root/usr/libexec"
rmdir "$tmp/root/usr/include"
rmdir "$tmp/root/usr/share/man/man1" "$tmp/root/usr/share/man/man3" "$tmp/root/usr/share/man"
(cd "$tmp/root" && rmdir -p ".${images%/*}") 2> /dev/null
find "$tmp/root" | sort > "$tmp/after"
is "what was there before is there, and nothing else" "$(diff "$tmp/before" "$tmp/after")" ""

# A folder that holds something of another's stays.
mk install > /dev/null 2>&1
echo foreign > "$tmp/root/usr/share/doc/hotvar/copyright"
check "make uninstall beside another's file" mk uninstall
is "leaves it" "$(ls "$tmp/root/usr/share/doc/hotvar")" copyright

rm -rf "$tmp/root"

# Another prefix than configure's: all of it goes there, and hotvar finds what is beside it.
check "make install prefix=/elsewhere" mk_for /elsewhere imagedir=/elsewhere/images install
is "nothing is outside" "$(ls "$tmp/root")" elsewhere
if [ "$(sed -n 's/^tapsetdir_here = //p' Makefile)" = '${datadir}/systemtap/tapset' ] || command -v stap > /dev/null; then
	check "the tapset is there" test -f "$tmp/root/elsewhere/share/systemtap/tapset/vma.stp"
fi
if [ -n "$valgrind" ]; then
	"$tmp/root/elsewhere/bin/hotvar" --exact --json -o "$tmp/json" -- true > "$tmp/out" 2> "$tmp/err"
	is "--exact finds its tool beside it" "$? $(grep -c '"type":"total"' "$tmp/json")" "0 1"
	mkdir "$tmp/alone"
	mv "$tmp/root/elsewhere/bin/hotvar" "$tmp/alone"
	"$tmp/alone/hotvar" --exact -- true > "$tmp/out" 2> "$tmp/err"
	is "hotvar alone: exit status" $? 125
	like "and where the tool was looked for" "$(cat "$tmp/err")" "not where this hotvar was configured for, $(sed -n 's/^#define HOTVAR_VALGRIND_DIR "\(.*\)"/\1/p' config.h), nor in \.\./libexec/hotvar from $tmp/alone: .*configure --prefix=DIR"
	# Configured for another folder of programs that others run: an old tool where they lie by default is not taken.
	mkdir -p "$tmp/inc" "$tmp/there/bin" "$tmp/there/libexec/hotvar" "$tmp/there/lib/hotvar"
	sed 's,^#define HOTVAR_BINDIR .*,#define HOTVAR_BINDIR "'"$tmp"'/there/bin",; s,^#define HOTVAR_VALGRIND_DIR .*,#define HOTVAR_VALGRIND_DIR "'"$tmp"'/there/lib/hotvar",' \
		config.h > "$tmp/inc/config.h"
	cat > "$tmp/finds.c" << 'C'
#include <stdio.h>
#include "runtime/user/exact_valgrind.c"
int main(void)
{
	struct exact_valgrind v = { 0 };
	struct err e = { 0 };

	return puts(exact_valgrind_find(&v, &e) ? e.text : v.folder) < 0;
}
C
	# shellcheck disable=SC2086
	check "a program that looks for the tool builds" ${CC:-cc} ${LINK_FLAGS-} -I"$tmp/inc" -I"$top_srcdir" -o "$tmp/there/bin/finds" "$tmp/finds.c" libhotvar.a $LIBS -lm -pthread
	for f in libexec lib; do
		cp "$tmp/root/elsewhere/libexec/hotvar/hotvar-amd64-linux" "$tmp/there/$f/hotvar/"
		touch "$tmp/there/$f/hotvar/vgpreload_core-amd64-linux.so"
	done
	is "where it was to be installed: in the folder that was configured" "$("$tmp/there/bin/finds")" "$tmp/there/lib/hotvar"
	cp -r "$tmp/there" "$tmp/moved"
	is "the same, moved: beside it" "$("$tmp/moved/bin/finds")" "$tmp/moved/bin/../libexec/hotvar"
	like "doctor says so, too" "$("$tmp/alone/hotvar" doctor --json | grep '"name":"valgrind"')" "nor in \.\./libexec/hotvar from $tmp/alone"
fi

done_testing
