# SPDX-License-Identifier: GPL-2.0-or-later
# exact-requests.sh - hotvar --exact: what a program says of itself by the macros of hotvar.h.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

cat > "$tmp/asks.c" <<'END'
#include <hotvar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char arena[65536];
volatile long always_var, apart_var, phase_var, child_var, pool_var[100], last_var;

static void many(volatile long *v, long n) { for (long i = 0; i < n; i++) (*v)++; }
static void fill(void *p, long n) { for (long i = 0; i < n; i++) *(volatile long *)p = i; }

int main(int argc, char **argv)
{
	char *mapped, *objects;

	if (argc > 1 && !strcmp(argv[1], "counting")) {
		printf("%d ", HOTVAR_COUNTING);
		many(&always_var, 10);
		HOTVAR_START;
		many(&apart_var, 20);
		printf("%d\n", HOTVAR_COUNTING);
		return 0;
	}
	many(&always_var, 100);
	HOTVAR_STOP;
	many(&always_var, 1000);
	many(&apart_var, 1000);
	HOTVAR_STOP;
	HOTVAR_START;
	HOTVAR_START;
	many(&always_var, 10);

	many(&phase_var, 1);
	HOTVAR_PHASE("load");
	many(&phase_var, 20);
	HOTVAR_PHASE("run it");
	many(&phase_var, 300);
	if (!fork()) {
		many(&child_var, 7);
		HOTVAR_PHASE("load");
		many(&child_var, 8);
		_exit(0);
	}
	wait(NULL);
	HOTVAR_PHASE("load");
	many(&phase_var, 4000);

	/* A pool that knows pieces of its own: of a static array, of mapped memory, of an object of malloc's. */
	fill(arena, 5);
	HOTVAR_REGION(arena + 4, 1000, "pool");
	fill(arena, 50);
	fill(arena + 4, 60);
	fill(arena + 1003, 70); /* begins in the last byte */
	fill(arena + 1004, 80);
	HOTVAR_REGION(arena + 100, 50, "a piece");
	fill(arena + 104, 90);
	HOTVAR_REGION_END(arena + 100);
	fill(arena + 104, 1);
	mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	HOTVAR_REGION(mapped, 8192, "mapped");
	fill(mapped + 4096, 110);
	munmap(mapped, 8192);
	mapped = mmap(mapped, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	fill(mapped + 4096, 120);
	objects = malloc(4096);
	HOTVAR_REGION(objects + 1024, 512, "in malloc");
	fill(objects + 1024, 130);
	fill(objects, 140);
	HOTVAR_REGION(objects, 0, "nothing");
	HOTVAR_REGION(NULL, -1L, "nothing");
	HOTVAR_REGION(objects, 8, "");
	HOTVAR_REGION(objects, 8, (char *)16);
	HOTVAR_PHASE((char *)-1L);
	HOTVAR_REGION_END(objects + 1);
	many(&last_var, 9);
	return 0;
}
END
check "a program that asks" "${CC:-cc}" -O1 -g -Wall -Wextra -Werror -pedantic -I"$top_srcdir/runtime/valgrind" -o "$tmp/asks" "$tmp/asks.c"
check "natively it does nothing" "$tmp/asks"
is "and says that nothing counts" "$("$tmp/asks" counting)" "0 0"
valgrind -q --tool=none "$tmp/asks" > "$tmp/out" 2>&1
is "nor under another tool of valgrind's" "$? $(cat "$tmp/out")" "0 "
"$HOTVAR" record -q --exact -o "$tmp/rec" -- "$tmp/asks"
is "under hotvar" $? 0
"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/report"
is "what was done while it was stopped is not counted" "$(count always_var)" "110 110 1"
is "not even once" "$(count apart_var)" ""

# phase NAME PHASE: reads and writes there
phase() {
	sed -n "s/^{\"type\":\"variable\",.*\"name\":\"$1\".*\"reads\":\([0-9]*\),\"writes\":\([0-9]*\),.*\"phase\":$2[,}].*/\1 \2/p" "$tmp/phases"
}
"$HOTVAR" report --json --by phase -i "$tmp/rec" > "$tmp/phases"
is "before the first phase" "$(phase phase_var null)" "1 1"
is "in a phase that came twice" "$(phase phase_var '"load"')" "4020 4020"
is "in another" "$(phase phase_var '"run it"')" "300 300"
is "a child is in its parent's phase" "$(phase child_var '"run it"')" "7 7"
is "until it says another" "$(phase child_var '"load"')" "8 8"
is "no access is lost by it" "$(sed -n 's/^{"type":"total".*"accesses":\([0-9]*\).*/\1/p' "$tmp/phases")" "$(sed -n 's/^{"type":"total".*"accesses":\([0-9]*\).*/\1/p' "$tmp/report")"
like "as text" "$("$HOTVAR" report --by phase -i "$tmp/rec")" 'phase_var \[asks\] in run it'
unlike "then there are phases" "$("$HOTVAR" report --by phase --limit 1 -i "$tmp/rec")" 'no phases'
like "a program that tells of none" "$("$HOTVAR" --exact --by phase -o - -- /bin/true)" '^no phases: the program told of none'
"$HOTVAR" record -q -o "$tmp/sampled" -- "$tmp/asks"
like "samples have none" "$("$HOTVAR" report --by phase -i "$tmp/sampled")" '^no phases: record with --exact'
"$HOTVAR" report --callers -i "$tmp/sampled" > "$tmp/out" 2> "$tmp/err"
is "nor lines of code: refused" "$? $(wc -c < "$tmp/out")" "2 0"
like "and why is said" "$(cat "$tmp/err")" 'samples do not tell who accesses what: record with --exact --callers'
is "a phase without a readable name is none" "$(phase last_var null)" "9 9"

# named NAME: writes of the row, whose name may have blanks
named() {
	sed -n "s/^{\"type\":\"variable\",.*\"name\":\"region:$1\".*\"writes\":\([0-9]*\),.*/\1/p" "$tmp/report"
}
is "a named piece of an array" "$(named pool)" "$((60 + 70))"
is "what lies beside it, and a piece that has no name any more, is the array's" "$(count arena | cut -d ' ' -f 2)" "$((5 + 50 + 80 + 1))"
is "a piece in it has its own" "$(named 'a piece')" 90
is "mapped memory" "$(named mapped)" 110
is "a piece of an object of malloc's" "$(named 'in malloc')" 130
is "names that make no sense name nothing" "$(grep -c '"name":"region:' "$tmp/report")" 4

"$HOTVAR" --exact --exact-from=request --json -o "$tmp/report" -- "$tmp/asks" counting > "$tmp/out"
is "--exact-from=request: the program knows" "$(cat "$tmp/out")" "0 1"
like "none is asked for: no access is counted" "$("$HOTVAR" --exact --exact-from=request -o - -- /bin/true)" 'no access was counted'
is "nothing is counted before it is asked for" "$(count always_var) $(count apart_var)" " 20 20 1"

done_testing
