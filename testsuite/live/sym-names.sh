#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sym-names - of all the symbols around an address the right one: aliases, labels, versions, statics, copies.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

# value FILE NAME: what nm has for it
value() {
	nm "$1" | awk -v s="$2" '$NF == s { print "0x" $1; exit }'
}
# name FILE ADDR: the name that is given, without offset or the rest
name() {
	sym -e "$1" "$2" | sed 's/  .*//'
}

# ---- copy relocations: stdout and environ live in the program ----
cat > "$tmp/copy.c" << 'END'
#include "say.h"
extern char **environ;
int main(void)
{
	SAY(&stdout, "stdout  bss  .bss");
	SAY((char *)&environ + 7, "environ+0x7  bss  .bss");
	done();
}
END
copy() {
	build "copy relocations: $*" "$@" copy.c -o copy || return
	readelf -rW "$tmp/copy" | grep -q R_X86_64_COPY || {
		skip "copy relocations: $*" "this compiler makes none"
		return
	}
	start "$tmp/copy" && agree "copy relocations: $*" "$tmp/copy"
	stop
}
copy "$CC" -O0 -no-pie -fno-pie
copy "$CC" -O0 -pie -fPIE
if have clang && have ld.lld; then # with RELRO of its own, where lld puts what was read-only
	copy clang -O0 -no-pie -fno-pie -fuse-ld=lld
fi

# ---- aliases ----
cat > "$tmp/alias.c" << 'END'
int base_v[8] = { 1 };
extern int ali_v[8] __attribute__((alias("base_v")));
extern int weak_v[8] __attribute__((alias("base_v"), weak));
static int loc_v[8] __attribute__((alias("base_v"), used));
extern int _und_v[8] __attribute__((alias("base_v")));
int main(void) { return base_v[1]; }
END
for o in "-O0" "-O0 -Wl,--sort-common -Wl,-O2" "-O0 -rdynamic"; do
	# shellcheck disable=SC2086
	build "aliases: $o" "$CC" $o alias.c -o alias || continue
	v=$(value "$tmp/alias" base_v)
	is "aliases: $o" "$(name "$tmp/alias" "$v")" ali_v
	"$HOTVAR" sym --json -e "$tmp/alias" "$v" > "$tmp/json"
	like "aliases: the others are listed, $o" "$(cat "$tmp/json")" '"aliases":\["base_v","weak_v","loc_v","_und_v"\]'
	like "aliases: binding and size, $o" "$(cat "$tmp/json")" '"symbol":"ali_v","offset":0,"size":32,.*"binding":"global"'
done
build "aliases: stripped" strip "$tmp/alias" -o alias.s &&
	is "aliases: the same from .dynsym" "$(name "$tmp/alias.s" "$v")" ali_v

# ---- labels ----
cat > "$tmp/label.c" << 'END'
__asm__(".data\n.globl outer\n.type outer,@object\n.size outer,64\nouter:\n.zero 36\n.globl lab\nlab:\n.zero 28\n"
	".globl bare\nbare:\n.zero 16\n.text\n");
static int counted;
int main(void) { return counted++; }
END
if build "labels" "$CC" -O0 label.c -o label; then
	o=$(value "$tmp/label" outer)
	is "a sized symbol beats a label in it" "$(name "$tmp/label" "$(printf '%#x' $((o + 36)))")" outer+0x24
	is "and behind it" "$(name "$tmp/label" "$(printf '%#x' $((o + 40)))")" outer+0x28
	is "a label names its own address" "$(name "$tmp/label" "$(value "$tmp/label" bare)")" bare
	like "and no other" "$(sym -e "$tmp/label" "$(printf '%#x' $(($(value "$tmp/label" bare) + 1)))")" '\(no-symbol\)$'
	is "__bss_start does not hide what starts there" \
		"$(name "$tmp/label" "$(value "$tmp/label" __bss_start)")" "$(nm -S "$tmp/label" |
			awk -v s="$(nm "$tmp/label" | awk '$3 == "__bss_start" { print $1 }')" '$1 == s && NF == 4 { print $4 }')"
	like "_end names nothing" "$(sym -e "$tmp/label" "$(value "$tmp/label" _end)")" '(unmapped|gap)'
fi

# ---- statics of one name ----
for f in a b; do
	echo "static int counter[10] = { 1 }; int *${f}_counter(void) { static int hits; hits++; counter[0] += hits; return counter; }
int *${f}_hits(void) { static int hits = 3; hits++; return &hits; }" > "$tmp/$f.c"
done
cat > "$tmp/m.c" << 'END'
#include "say.h"
static int counter[5];
static int alone[5];
int *a_counter(void), *b_counter(void), *a_hits(void), *b_hits(void);
int main(void)
{
	counter[0] = alone[0] = 1;
	SAY(a_counter() + 9, "counter@a.c+0x24  data  .data");
	SAY(b_counter(), "counter@b.c  data  .data");
	SAY(counter, "counter@m.c  bss  .bss");
	SAY(alone, "alone  bss  .bss");
	done();
}
END
if build "statics" "$CC" -O0 a.c b.c m.c -o statics; then
	start "$tmp/statics" && agree "statics of one name are told apart by file" "$tmp/statics"
	stop
	nm "$tmp/statics" | awk '$3 ~ /^hits/ { print $1, $3 }' > "$tmp/hits"
	check "function statics are there" test "$(grep -c . "$tmp/hits")" -eq 4
	while read -r v s; do
		like "function static $s keeps its number" "$(name "$tmp/statics" "0x$v")" "^$s(@[ab]\\.c)?\$"
	done < "$tmp/hits"
fi
if build "LTO" "$CC" -O2 -flto -fno-ipa-sra a.c b.c m.c -o lto; then
	nm -S "$tmp/lto" | awk 'NF == 4 && $4 ~ /counter\.lto_priv/ { print $1, $4 }' > "$tmp/priv"
	if [ -s "$tmp/priv" ]; then
		while read -r v s; do
			is "LTO: $s" "$(name "$tmp/lto" "0x$v")" "$s"
		done < "$tmp/priv"
	else
		skip "LTO" "this compiler renames nothing"
	fi
fi

# ---- IFUNC ----
cat > "$tmp/ifn.c" << 'END'
static int impl(void) { return 1; }
static void *pick(void) { return impl; }
int ifn(void) __attribute__((ifunc("pick")));
int main(void) { return ifn(); }
END
if build "IFUNC" "$CC" -O0 -no-pie -fno-pie ifn.c -o ifn; then
	is "IFUNC: the resolver" "$(name "$tmp/ifn" "$(value "$tmp/ifn" pick)")" ifn
	is "IFUNC: the implementation" "$(name "$tmp/ifn" "$(value "$tmp/ifn" impl)")" impl
fi

# ---- versions: one name, two objects ----
cat > "$tmp/ver.c" << 'END'
int old_tab[16] = { 1 }, new_tab[32] = { 2 }, other[4] = { 3 };
__asm__(".symver old_tab,tab@V_1\n.symver new_tab,tab@@V_2\n.symver other,single@@V_2");
END
printf 'V_1 { global: tab; local: *; };\nV_2 { global: tab; single; } V_1;\n' > "$tmp/ver.map"
if build "versions" "$CC" -shared -fPIC -Wl,--version-script=ver.map ver.c -o libver.so; then
	strip "$tmp/libver.so" -o "$tmp/libver.s.so"
	for f in libver.so libver.s.so; do
		nm -D --with-symbol-versions "$tmp/$f" | awk '$3 ~ /^(tab|single)@/ { print $1, $3 }' > "$tmp/vers"
		is "versions: $f has three" "$(grep -c . "$tmp/vers")" 3
		while read -r v s; do
			case $s in
			single*) s=single ;; # no other has that name
			esac
			is "versions: $f $s" "$(name "$tmp/$f" "0x$v")" "$s"
		done < "$tmp/vers"
	done
fi

# ---- C++ ----
cat > "$tmp/u.cc" << 'END'
template <class T> struct S { static int cnt; static int *get() { static int once = rnd(); return &once; } static int rnd(); };
template <class T> int S<T>::cnt = 1;
template <class T> int S<T>::rnd() { return 4; }
struct V { virtual int f(); int x; };
int V::f() { return x; }
namespace { int anon_ns_var = 3; }
int *g() { anon_ns_var++; S<int>::cnt++; return S<int>::get() + (long)&anon_ns_var; }
END
if have g++ && build "C++" g++ -O0 -shared -fPIC u.cc -o libu.so; then
	# nm and c++filt know the demangled names; what they say is what is to be said
	nm -S "$tmp/libu.so" | awk 'NF == 4 && $4 ~ /3cntE|4once|_ZTV1V|anon_ns_var/' > "$tmp/cxx"
	check "C++: the variables are there" test "$(grep -c . "$tmp/cxx")" -ge 5
	while read -r v _ _ s; do
		if have c++filt && [ -n "$(ldconfig -p 2> /dev/null | grep 'libstdc++\.so\.6')" ]; then
			is "C++: $s" "$(name "$tmp/libu.so" "0x$v")" "$(c++filt "$s")"
		fi
		is "C++: $s with --no-demangle" "$("$HOTVAR" sym -q --no-demangle -e "$tmp/libu.so" "$v" | awk '{ print $2 }')" "$s"
	done < "$tmp/cxx"
	if nm "$tmp/libu.so" | grep -q ' u _ZN1SIiE3cntE'; then
		like "C++: UNIQUE" "$("$HOTVAR" sym --json -e "$tmp/libu.so" "$(value "$tmp/libu.so" _ZN1SIiE3cntE)")" '"binding":"unique"'
	fi
	is "C++: the vtable's section" "$(sym -e "$tmp/libu.so" "$(value "$tmp/libu.so" _ZTV1V)" | awk '{ print $(NF-2), $(NF-1) }')" "relro .data.rel.ro"
else
	skip "C++" "no g++"
fi

# ---- everything there is, against readelf: the first byte of each sized symbol ----
for f in "$tmp/statics" "$HOTVAR"; do
	readelf -sW "$f" | awk '$4 ~ /^(OBJECT|FUNC|NOTYPE|IFUNC)$/ && $3 != 0 && $7 ~ /^[0-9]+$/ {
		sub(/@.*/, "", $8); print $2, $8 }' | sort -u > "$tmp/all"
	awk '{ print $1 }' "$tmp/all" | "$HOTVAR" sym -q --no-members --no-demangle -e "$f" | awk '{ print $1, $2 }' > "$tmp/first"
	bad=$(awk 'NR == FNR { names[$1] = names[$1] " " $2 " "; next }
		{ a = substr($1, 3); while (length(a) < 16) a = "0" a; n = $2; sub(/@.*/, "", n)
		  if (!index(names[a], " " n " ")) print }' "$tmp/all" "$tmp/first")
	is "each symbol of ${f##*/} is named by a name of its own" "$bad" ""
	check "and there are some" test "$(grep -c . "$tmp/first")" -gt 15
done

done_testing
