# SPDX-License-Identifier: GPL-2.0-or-later
# run-members - a report by member: its rows add up to those of the variables, and hot members are hot.
. "$top_srcdir/testsuite/lib.sh"

XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
mkdir "$tmp/cache"
cat > "$tmp/hot.c" << 'END'
#include <stdio.h>
struct slot { long key; double value; char pad[16]; } slots[4096];
static struct { long hits, misses; long other[4]; } stats;
static long alone[64];
int main(void)
{
	for (long r = 0; r < 60000; r++) {
		for (long i = 0; i < 4096; i += 3) {
			if (slots[i].key == i)
				stats.hits++;
			else
				stats.misses++, slots[i].key = i;
			*(volatile long *)&stats.other[i & 3] += 1;
			*(volatile long *)&alone[i & 63] += 1;
		}
	}
	printf("%ld\n", stats.hits);
	return 0;
}
END
check "the program builds" "${CC:-cc}" -O1 -g "$tmp/hot.c" -o "$tmp/hot"
"$HOTVAR" record -q -F 5000 -o "$tmp/rec" -- "$tmp/hot" > "$tmp/out" 2> "$tmp/err"
is "it is recorded" "$?$(cat "$tmp/err")" 0
for by in variable member; do
	"$HOTVAR" report -q --json -i "$tmp/rec" --by $by > "$tmp/$by" 2> "$tmp/err"
	is "reported by $by" "$?$(cat "$tmp/err")" 0
done
# "symbol share time_share samples", summed over the rows of each symbol of the program; one sample in the dynamic
# linker may tell of two members of a variable, and counts for each.
sums() {
	sed -n 's/^{"type":"variable",.*"symbol":"\([^"]*\)",.*"module":"[^"]*\/hot".*"share":\([^,]*\),"ci.*"time_share":\([^,]*\),.*"samples":\([^,]*\),.*/\1 \2 \3 \4/p' "$1" |
		awk '{ a[$1] += $2; t[$1] += $3; n[$1] += $4 } END { for (s in a) printf "%s %.4f %.4f %d\n", s, a[s], t[s], n[s] }' | sort
}
like "there are rows" "$(sums "$tmp/variable")" '^slots 0\.[1-9]'
is "members of a variable add up to it" "$(sums "$tmp/member")" "$(sums "$tmp/variable")"
like "an array in a struct, all of it together" "$(cat "$tmp/member")" '"name":"stats\.other\[\]","symbol":"stats","member":"\.other\[\]","type_name":"long int"'
like "a member of a struct in an array" "$(cat "$tmp/member")" '"name":"slots\[\]\.key","symbol":"slots","member":"\[\]\.key"'
unlike "no element for itself" "$(cat "$tmp/member")" '"name":"[^"]*\[[0-9]'
unlike "by variable there are none" "$(cat "$tmp/variable")" '"member"'
is "what is never touched is no row" "$(grep -c 'slots\[\]\.\(value\|pad\)' "$tmp/member")" 0
first=$(sed -n 's/^{"type":"variable","rank":1,"name":"\([^"]*\)".*/\1/p' "$tmp/member")
like "the hottest is one of those that each round reads and writes" "$first" '^(stats\.other|alone)\[\]$'
strip -g "$tmp/hot" && rm -rf "$tmp/cache/hotvar"
"$HOTVAR" -q --by member --json -o "$tmp/none" -- "$tmp/hot" > "$tmp/out" 2>&1
like "without debug information, variables" "$(cat "$tmp/none")" '"name":"slots","symbol":"slots","module"'

done_testing
