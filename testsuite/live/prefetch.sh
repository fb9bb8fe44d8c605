# SPDX-License-Identifier: GPL-2.0-or-later
# prefetch.sh - hotvar --exact --prefetches: what prefetch instructions ask for, by the line of code.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

src=$top_srcdir/testsuite/programs
# rows FORMAT: each prefetch record in $tmp/report, by the names of its keys
rows() {
	python3 - "$tmp/report" "$@" <<'END'
import json
import sys
for l in open(sys.argv[1]):
    r = json.loads(l)
    if r["type"] == "prefetch":
        print(*[r[k] for k in sys.argv[2:]])
END
}
# places FUNCTION: "bad position base distance" of what it asked for
places() {
	python3 - "$tmp/report" "$1" <<'END'
import json
import sys
for l in open(sys.argv[1]):
    r = json.loads(l)
    if r["type"] == "prefetch" and r["function"] == sys.argv[2]:
        for p in r["places"]:
            print(p["bad"], p["position"], p["base"], p["distance"])
END
}

# Past the end of an array, into memory that is unmapped; and the same program without the mistake.
"$HOTVAR" --exact --prefetches --json -o "$tmp/report" -- "$TESTPROGS/prefetch_past" > "$tmp/out"
line=$(grep -n 'the line that is at fault' "$src/prefetch_past.c" | cut -d : -f 1)
is "a prefetch past its array's end is found, by its line" "$(rows function file line executed unmapped unused)" \
	"walk prefetch_past.c $line $(awk '{ print $2, $4 }' "$tmp/out") 0"
is "and by its array" "$(places walk)" "unmapped past table 0"
"$HOTVAR" --exact --prefetches --json -o "$tmp/report" -- "$TESTPROGS/prefetch_right" > "$tmp/out"
is "of the program without the mistake nothing is" "$(rows function executed unmapped unused places)" \
	"walk $(awk '{ print $2 }' "$tmp/out") 0 0 []"
is "what one line of code does is all there is" "$(rows used redundant at_end unjudged)" "$(awk '{ print $2 }' "$tmp/out") 0 0 0"

# Every form of address.
"$HOTVAR" --exact --prefetches --json -o "$tmp/report" -- "$TESTPROGS/prefetch_forms" > "$tmp/out"
is "all forms of address: how many" "prefetches $(rows executed unmapped | awk '{ n += $1; bad += $2 } END { print n " unmapped " bad }')" \
	"$(cat "$tmp/out")"
is "each has one that is mapped, and one that is not" "$(rows executed unmapped line | awk '$1 > 1 && $1 != 2 * $2')" ""

# What is used, late, never; told by the program.
"$HOTVAR" record -q --exact --prefetches=256 -o "$tmp/rec" -- "$TESTPROGS/prefetch_unused" > "$tmp/out"
"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/report"
is "used soon, late, never, and at the end" "$(rows function executed unused used at_end | grep -v ask_busy | sort)" \
	"$(grep -v ask_busy "$tmp/out" | sort)"
is "nothing was unmapped, or not judged" "$(rows unmapped unjudged lines | sort -u)" "0 0 256"
check "a line in use is in use already, but for once in many" awk '$1 == "ask_busy" { ok = $2 == 1000 && $3 >= 990 && $3 + $4 == 1000 } END { exit !ok }' <<END
$(rows function executed redundant used)
END
is "a variable's" "$(places ask_never) $(places ask_late)" "unused in never 0 unused in late 0"
is "behind an object of the heap" "$(places ask_past | sed 's/@[^ ]*//')" "unused past heap:main 0"
is "in a mapping that was gone before" "$(places ask_unmapped | sed 's/@[^ ]*//')" "unused in mmap:ask_unmapped 0"
"$HOTVAR" report -i "$tmp/rec" > "$tmp/text"
like "the text has the line" "$(cat "$tmp/text")" '^  *100  *-  *100  *-  *-  ask_never\(\) at prefetch_unused.c:[0-9]*$'
like "and the object" "$(cat "$tmp/text")" 'unused: right behind heap:main@prefetch_unused.c:[0-9]*, in '
like "and how many lines it takes" "$(cat "$tmp/text")" 'not touched before 256 other lines'

# Children have their own; what their parent asked for is not theirs.
cat > "$tmp/children.c" <<'END'
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static char lines[64 * 64] __attribute__((aligned(64)));
static volatile char many[64 * 16384];
__attribute__((noinline)) static void ask(const char *at)
{
	for (int i = 0; i < 64; i++)
		__asm__ volatile("prefetcht0 %0" : : "m"(at[i * 64])); /* both */
}
int main(void)
{
	ask(lines);
	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			ask((char *)-4096);
			ask((char *)0x400000000000);
			for (int k = 0; k < 16384; k++)
				many[k * 64]++;
			if (i)
				kill(getpid(), 9);
			_exit(0);
		}
		wait(0);
	}
	for (int i = 0; i < 64; i++)
		((volatile char *)lines)[i * 64]++;
}
END
sed -i '1i #include <signal.h>' "$tmp/children.c"
check "a program with children" "${CC:-cc}" -O1 -g -static -o "$tmp/children" "$tmp/children.c"
"$HOTVAR" --exact --prefetches=2048 --json -o "$tmp/report" -- "$tmp/children"
is "children, one of which is killed" "$(rows function executed unmapped unused used at_end)" "ask $((64 * 5)) $((64 * 4)) 0 64 0"
is "what is asked for near nothing has no variable" "$(places ask)" "unmapped None None None"

# So many lines that the tool's numbers of when a line was touched begin anew (65,000 times 64 of them), twice.
cat > "$tmp/long.c" <<'END'
struct line { volatile char c[64]; };
static struct line work[1024] __attribute__((aligned(64))), never[8000] __attribute__((aligned(64)));
__attribute__((noinline)) static void near(int i) { __asm__ volatile("prefetcht0 %0" : : "m"(work[i])); }
__attribute__((noinline)) static void far(int i) { __asm__ volatile("prefetcht0 %0" : : "m"(never[i])); }
int main(void)
{
	for (int k = 0; k < 8000; k++) {
		far(k);
		for (int i = 0; i < 1024; i++) {
			near((i + 8) % 1024);
			work[i].c[0]++;
		}
	}
}
END
check "a program that goes on for long" "${CC:-cc}" -O1 -g -static -o "$tmp/long" "$tmp/long.c"
"$HOTVAR" --exact --prefetches=64 --json -o "$tmp/report" -- "$tmp/long"
is "none that is used is unused but the last eight, and none used that is not" \
	"$(rows function executed unused at_end redundant used | awk '{ print $1, $2, $3 + $4, $5, $6 }')" "far 8000 8000 0 0
near 8192000 8 0 8191992"

# Loads and stores of what is not there, counted as the program says, by their lines.
wild() {
	python3 - "$tmp/report" <<'END'
import json
import sys
for l in open(sys.argv[1]):
    r = json.loads(l)
    if r["type"] == "wild":
        print(r["function"].split(".")[0], r["accesses"], r["line"])
END
}
wild_line() {
	grep -n "wild $1 " "$src/wild.c" | cut -d : -f 1
}
"$HOTVAR" --exact --prefetches --json -o "$tmp/report" -- "$TESTPROGS/wild" > "$tmp/out"
is "wild loads and stores" "$(wild | sort)" "$(awk '{ print $1, $2 }' "$tmp/out" | while read -r w n; do echo "$w $n $(wild_line "${w%s}")"; done)"
"$HOTVAR" --exact --prefetches --json -o "$tmp/report" -- "$TESTPROGS/wild" fatal > "$tmp/out" 2> "$tmp/err"
is "and the one that ends the program" "$(wild | grep '^main' | cut -d ' ' -f 1,2)" "main 1"

"$HOTVAR" --exact --prefetches -o "$tmp/text" -- true
like "no prefetch at all" "$(cat "$tmp/text")" '^prefetches: none was executed$'
"$HOTVAR" record -q --exact -o "$tmp/rec" -- true
like "none were watched" "$("$HOTVAR" report --prefetches -i "$tmp/rec")" '^no prefetches: record with --exact --prefetches'
"$HOTVAR" --exact --json -o "$tmp/report" -- "$TESTPROGS/prefetch_past" > "$tmp/out"
"$HOTVAR" --exact --prefetches --json -o "$tmp/report2" -- "$TESTPROGS/prefetch_right" > "$tmp/out"
is "nor is anything wild in a program that is well" "$(grep -c '"type":"wild"' "$tmp/report2")" 0
is "they are watched only when that is asked for" "$(rows function)" ""
# Samples prove the addresses of some: of this program half of those go past the end.
"$HOTVAR" --prefetches --json -o "$tmp/report" -- "$TESTPROGS/prefetch_past" 10000000 16 > "$tmp/out"
is "samples find it, too, by its line and its array" "$(rows function file line mode executed unused) $(places walk | sed 's/ [0-9]*$//')" \
	"walk prefetch_past.c $line sampled None None unmapped past table"
check "about half" awk '{ exit !($1 >= 50 && $2 > 0.2 * $1 && $2 < 0.8 * $1) }' <<END
$(rows proven unmapped)
END
"$HOTVAR" record -q -o "$tmp/rec" -- "$TESTPROGS/prefetch_right" 10000000 16 > "$tmp/out"
"$HOTVAR" report --prefetches --json -i "$tmp/rec" > "$tmp/report"
is "and nothing of the program without the mistake" "$(rows function mode unmapped places)" "walk sampled 0 []"
like "which is said" "$("$HOTVAR" report --prefetches -i "$tmp/rec")" 'none is of unmapped memory$'
"$HOTVAR" record --prefetches -o "$tmp/rec" -- true 2> "$tmp/err"
is "to record them takes --exact: usage" $? 2
like "and why" "$(cat "$tmp/err")" '--prefetches needs each access to be counted: give --exact, too'
"$HOTVAR" --exact --prefetches=63 -- true 2> "$tmp/err"
is "too few lines: usage" $? 2
like "and what there may be" "$(cat "$tmp/err")" "'63' for --prefetches: .* from 64 to 1048576"
done_testing
