# SPDX-License-Identifier: GPL-2.0-or-later
# sym-origin - each symbol says where it is known from, and that is the best place that has it.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

HOTVAR_DEBUGDIR=$tmp/debug
export HOTVAR_DEBUGDIR

cat > "$tmp/v.c" << 'END'
#include <unistd.h>
int known = 7;
static int hidden[5];
static __thread int own[2];
static int step(int x) { return x + known + hidden[x & 3] + own[x & 1]; }
int (*volatile call)(int) = step;
int main(int argc, char **argv) { if (argc > 1) pause(); return call(argc) + !argv; }
END
have objcopy && have strip || skip_all "no objcopy or no strip here"
build "a program" "$CC" -O0 -g -rdynamic -Wl,--build-id=sha1 v.c -o whole || { done_testing; exit; }
value() {
	nm "$tmp/whole" | sed -n "s/^\\([0-9a-f]*\\) . $1\$/0x\\1/p"
}
known=$(value known) hidden=$(value hidden) step=$(value step)
# origin TEXT ADDRESS WANT: "NAME ORIGIN" of what is in $tmp/v
origin() {
	is "$1" "$("$HOTVAR" sym -q --no-members --json -e "$tmp/v" "$2" | sed -n 's/.*"symbol":"\{0,1\}\([^",]*\)"\{0,1\},.*"origin":"\{0,1\}\([^",]*\)"\{0,1\},.*/\1 \2/p')" "$3"
}
cp "$tmp/whole" "$tmp/v"
origin "in .symtab" "$hidden" "hidden symtab"
origin "in .symtab and .dynsym" "$known" "known symtab"
origin "no symbol, no origin" 0x10 "null null"
like "hotvar symbols counts them" "$("$HOTVAR" symbols --json "$tmp/v")" '"origins":\{"symtab":[1-9][0-9]*\}'

objcopy --only-keep-debug "$tmp/whole" "$tmp/v.debug"
strip -s "$tmp/whole" -o "$tmp/v"
origin "in .dynsym alone" "$known" "known dynsym"
id=$(readelf -n "$tmp/v" | sed -n 's/.*Build ID: //p')
mkdir -p "$tmp/debug/.build-id/$(printf %.2s "$id")"
by_id=$tmp/debug/.build-id/$(printf %.2s "$id")/$(printf %s "$id" | cut -c 3-).debug
cp "$tmp/v.debug" "$by_id"
origin "in the debug file, by build-id" "$hidden" "hidden build-id"
origin "in .dynsym too: that goes first" "$known" "known dynsym"
like "hotvar symbols counts both" "$("$HOTVAR" symbols --json "$tmp/v")" '"origins":\{"dynsym":[1-9][0-9]*,"build-id":[1-9][0-9]*\}'
rm "$by_id"
(cd "$tmp" && objcopy --add-gnu-debuglink=v.debug v)
origin "in the debug file, by .gnu_debuglink" "$hidden" "hidden debuglink"
rm "$tmp/v.debug"

if have xz; then
	nm "$tmp/whole" --format=posix --defined-only | awk '$2 ~ /^[Tt]$/ { print $1 }' > "$tmp/keep"
	objcopy -S --keep-symbols="$tmp/keep" "$tmp/whole" "$tmp/mini" 2> "$tmp/objcopy.err"
	xz -c "$tmp/mini" > "$tmp/mini.xz"
	objcopy --add-section .gnu_debugdata="$tmp/mini.xz" "$tmp/v"
	origin "in .gnu_debugdata" "$step" "step debugdata"
else
	skip "in .gnu_debugdata" "no xz here"
fi

objcopy --strip-symbol=hidden "$tmp/whole" "$tmp/v"
origin "in the debug information alone" "$hidden" "hidden dwarf"

# dwz moves a class that two programs have to their common file; the variable's name is there then
echo 'struct Shared { int a, b, c, d; static int counted; static int second; int f(); int g(int, long, char *); };' > "$tmp/s.h"
for p in 1 2; do
	printf '#include "s.h"\nint Shared::counted = %s;\nint Shared::f() { return counted + a; }\nint main() { Shared s = {}; return s.f(); }\n' $p > "$tmp/s$p.cc"
done
if have dwz && have g++ && build "dwz" sh -c 'g++ -O0 -g -gdwarf-4 s1.cc -o s1 && g++ -O0 -g -gdwarf-4 s2.cc -o s2 && dwz -m common s1 s2'; then
	counted=$(nm "$tmp/s1" | sed -n 's/^\([0-9a-f]*\) . _ZN6Shared7countedE$/0x\1/p')
	objcopy --strip-symbol=_ZN6Shared7countedE "$tmp/s1" "$tmp/v"
	if readelf -SW "$tmp/v" | grep -q gnu_debugaltlink; then
		origin "in dwz's common file" "$counted" "_ZN6Shared7countedE dwz"
	else
		skip "in dwz's common file" "dwz found nothing in common"
	fi
else
	skip "in dwz's common file" "no dwz or no g++ here"
fi

cp "$tmp/whole" "$tmp/v"
"$tmp/v" wait &
pid=$!
# The child of a shell has the shell's own [vdso] until it has executed the program.
until_true 20 sh -c 'grep -q "$1\$" "/proc/$2/maps" && grep -q "\[vdso\]" "/proc/$2/maps"' executed "$tmp/v" "$pid"
vdso=$(sed -n 's/^\([0-9a-f]*\)-.*\[vdso\]$/0x\1/p' "/proc/$pid/maps")
# some function begins in the first 0x2000 bytes of any [vdso]
i=0
while [ $i -lt 8192 ]; do
	printf '%#x\n' $((vdso + i))
	i=$((i + 16))
done > "$tmp/addrs"
is "in [vdso]" "$("$HOTVAR" sym -q --json -p "$pid" < "$tmp/addrs" | sed -n 's/.*"symbol":"[^"]*",.*"origin":\([^,]*\),.*/\1/p' | sort -u)" '"vdso"'
stop

done_testing
