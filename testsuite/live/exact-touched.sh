# SPDX-License-Identifier: GPL-2.0-or-later
# exact-touched.sh - hotvar --exact --by region and page: pages touched, against what the kernel has in memory natively.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

program=$TESTPROGS/touch_pages
"$program" > "$tmp/native"
is "the program runs natively" $? 0
"$HOTVAR" record -q --exact -o "$tmp/rec" -- "$program" > "$tmp/out"
is "and under hotvar" $? 0
"$HOTVAR" report --json --by region -i "$tmp/rec" > "$tmp/regions"

# region PAGES KEY: of the one mapping of so many pages
region() {
	sed -n "s/^{\"type\":\"region\",.*\"pages\":$1,.*\"$2\":\([0-9]*\).*/\1/p" "$tmp/regions"
}
# native NAME FIELD: 2 pages of the mapping, 3 touched by the program's own word, 4 in memory by its pagemap
native() {
	awk -v name="$1" -v field="$2" '$1 == name { print $field }' "$tmp/native"
}

# The mail's question: is a mapping of /dev/zero there from the start?
is "of a private mapping of /dev/zero no page is in memory before it is touched" "$(native zero-untouched 4)" 0
is "of a shared one neither" "$(native zero-shared-untouched 4)" 0
for name in anon shared shared-file zero zero-shared given-back moved by-call; do
	pages=$(native "$name" 2)
	is "$name: pages touched are those that the kernel has in memory" "$(region "$pages" touched) $(region "$pages" from_start)" "$(native "$name" 4) 0"
	is "$name: and those that the program says" "$(region "$pages" touched)" "$(native "$name" 3)"
done
for name in populated locked; do
	pages=$(native "$name" 2)
	is "$name: what was there from the start is told from what was touched" \
		"$(region "$pages" touched) $(($(region "$pages" touched) + $(region "$pages" from_start)))" "$(native "$name" 3) $(native "$name" 4)"
done
pages=$(native private-file 2)
around=$(($(native private-file 4) - $(native private-file 3)))
is "private-file: touched as the program says" "$(region "$pages" touched)" "$(native private-file 3)"
echo "# private-file: $(native private-file 4) pages in memory, $(region "$pages" touched) touched: fault-around has mapped $around of their neighbours"
# Up to 16 at a fault, of which one is touched; a written page is copied and has none.
is "private-file: the kernel has no more than fault-around explains" "$((around >= 0 && around <= 15 * $(region "$pages" touched)))" 1
is "what a system call wrote is told" "$(region "$(native by-call 2)" by_kernel)" 6
is "what was unmapped is not there" "$(region 151 touched)" ""

# The peak and the line to it.
total() {
	sed -n "s/^{\"type\":\"total\",.*\"$1\":\([0-9]*\).*/\1/p" "$tmp/regions"
}
is "the sum of the regions is the peak" "$(sed -n 's/^{"type":"region",.*"touched":\([0-9]*\).*/\1/p' "$tmp/regions" | awk '{ n += $1 } END { print n }')" "$(total touched)"
is "the peak is the time line's highest" "$(sed -n 's/^{"type":"touched",.*"touched":\([0-9]*\).*/\1/p' "$tmp/regions" | sort -n | tail -n 1)" "$(total touched)"
is "code and data, private and shared are all of it" "$(($(total code) + $(total data))) $(($(total private) + $(total shared)))" "$(total touched) $(total touched)"
is "what came and went is more" "$(($(total ever) - $(total touched) >= 100 + 15))" 1

# Pages with names.
"$HOTVAR" report --json --by page -i "$tmp/rec" > "$tmp/pages"
is "pages that hold a variable" "$(grep -c '"type":"page".*"touched":true.*"symbols":\[[^]]*"bss_area"' "$tmp/pages")" "$(native bss 4)"
is "as many pages as the regions have" "$(grep -c '"type":"page".*"touched":true' "$tmp/pages")" "$(total touched)"
is "code has been executed" "$(grep '"symbols":\[[^]]*"main"' "$tmp/pages" | sed 's/.*"executed":\([a-z]*\).*/\1/')" true
"$HOTVAR" report --by region --limit 5 -i "$tmp/rec" > "$tmp/text"
like "as text" "$(head -n 1 "$tmp/text")" "touch_pages: at most $(total touched) pages .* touched at a time, at "

# The child has what its parent has touched, the peak is of both.
cat > "$tmp/forks.c" <<'END'
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	char *p = mmap(0, 65 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(p += 4096, 63 * 4096, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 40; i++)
		p[i * 4096] = 1;
	if (!fork()) {
		for (int i = 35; i < 45; i++)
			p[i * 4096] = 1;
		_exit(0);
	}
	wait(0);
	return 0;
}
END
check "a program that forks" "${CC:-cc}" -O1 -o "$tmp/forks" "$tmp/forks.c"
"$HOTVAR" --exact --json --by region -o "$tmp/regions" -- "$tmp/forks"
is "parent and child" "$(sed -n 's/^{"type":"region",.*"end":"\(0x[0-9a-f]*\)",.*"pages":63,.*"touched":\([0-9]*\).*"mm":\([0-9]*\),.*/\3 \2/p' "$tmp/regions" | sort | tr '\n' ' ')" "1 40 2 45 "

"$HOTVAR" record -q -o "$tmp/sampled" -- "$TESTPROGS/loop" 1000000 > "$tmp/out" 2>&1
"$HOTVAR" report --by region -i "$tmp/sampled" > "$tmp/out" 2> "$tmp/err"
is "a sampled recording does not know" "$? $(grep -c 'measure with --exact' "$tmp/err")" "1 1"

done_testing
