# SPDX-License-Identifier: GPL-2.0-or-later
# exact-frames.sh - hotvar --exact: accesses to stacks by function and local variable, as the program itself knows them.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

# Volatile variables are accessed as often as the source says, whatever the compiler does with the rest.
cat > "$tmp/frames.c" <<'END'
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <string.h>
#include <unistd.h>
#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif
struct pair { volatile long key, value; };
struct big { volatile long words[12]; };
static volatile long sink;
static jmp_buf back;
/* through a pointer: into a frame that is not the accessing function's */
KEEP static void fill(volatile long *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }
KEEP static void counted(int n) { volatile long counter = 0; for (int i = 0; i < n; i++) counter++; }
KEEP static void recursed(int depth) { volatile long level = depth; if (depth) recursed(depth - 1); level++; }
KEEP static void filled(int n) { volatile long array[16]; for (int i = 0; i < n; i++) fill(array, 16); }
KEEP static void indexed(int n) { volatile int table[8]; for (int i = 0; i < n; i++) table[i & 7] = i; sink = table[0]; }
KEEP static void members(int n)
{
	struct pair pairs[4];
	for (int i = 0; i < n; i++) { pairs[i & 3].key = i; pairs[i & 3].value = i; pairs[i & 3].value++; }
}
KEEP static long passed(struct big b, int n) { for (int i = 0; i < n; i++) b.words[i % 12]++; return b.words[0]; }
static inline __attribute__((always_inline)) void inlined(int n) { volatile long inner = 0; for (int i = 0; i < n; i++) inner++; }
KEEP static void outer(int n) { volatile long own = 0; own++; inlined(n); }
KEEP static void dynamic(int n) { volatile long *p = alloca(8 * n), vla[n], total = 0; fill(p, n); fill(vla, n); total += p[0] + vla[0]; }
/* where that lay */
KEEP static void wide(void) { volatile long rest[120]; fill(rest, 1); }
/* one place on the stack, two functions after each other, by pointers both */
KEEP static void first(void) { volatile long one[8]; fill(one, 8); }
KEEP static void second(void) { volatile long two[8]; fill(two, 4); }
KEEP static void jumps(int n) { volatile long gone[8]; fill(gone, 8); if (n) jumps(n - 1); else longjmp(back, 1); }
static void handler(int sig) { volatile long handled[4]; (void)sig; fill(handled, 4); }
static void *thread(void *arg) { volatile long mine[6]; (void)arg; for (int i = 0; i < 5; i++) fill(mine, 6); counted(10); return NULL; }
int main(void)
{
	volatile long in_main[10];
	struct big b;
	pthread_t t;
	counted(1000);
	recursed(50);
	filled(20);
	indexed(800);
	members(100);
	memset((void *)&b, 0, sizeof(b));
	sink = passed(b, 600);
	outer(300);
	dynamic(40);
	wide();
	for (int i = 0; i < 10; i++) { first(); second(); }
	if (!setjmp(back)) jumps(9);
	first();
	signal(SIGUSR1, handler);
	kill(getpid(), SIGUSR1);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	fill(in_main, 10);
	if (!fork()) { fill(in_main, 10); _exit(0); }
	wait(NULL);
	_exit(0);
}
END
# local NAME: "reads writes" of it
local_() {
	count "$1" | cut -d ' ' -f 1,2
}
# writes NAME: only those: clang takes memory off the stack by a pop, which reads what lay there last
writes() {
	count "$1" | cut -d ' ' -f 2
}
# EXACT_FRAMES: other ways to build it, one a line
printf '%s\n' "${EXACT_FRAMES:-${CC:-cc} -O0
${CC:-cc} -O0 -static
${CC:-cc} -O2 -fno-omit-frame-pointer}" > "$tmp/ways"
while read -r how; do
	if ! command -v "${how%% *}" > /dev/null; then
		skip "$how" "it is not here"
		continue
	fi
	# shellcheck disable=SC2086
	check "$how: builds" $how -g -w -fno-pie -no-pie -pthread -o "$tmp/frames" "$tmp/frames.c"
	"$HOTVAR" --exact --limit 0 --json -o "$tmp/report" -- "$tmp/frames" < /dev/null > "$tmp/out" 2>&1
	is "$how: a loop's local, of two threads" "$(local_ counted:counter)" "1010 1012"
	is "$how: that of every level of a recursion" "$(writes recursed:level)" "102"
	is "$how: an array that a callee fills" "$(writes filled:array)" "320"
	is "$how: one by an index" "$(local_ indexed:table)" "1 800"
	is "$how: a local of an inlined function, and of the one around it" "$(local_ inlined:inner) $(local_ outer:own)" "300 301 1 2"
	is "$how: one place, two functions" "$(local_ first:one) $(local_ second:two)" "0 88 0 40"
	is "$how: one where another's alloca() was" "$(local_ wide:rest)" "0 1"
	is "$how: functions that longjmp() left" "$(local_ jumps:gone)" "0 80"
	is "$how: a signal's handler" "$(local_ handler:handled)" "0 4"
	is "$how: a thread's function" "$(writes thread:mine)" "30"
	is "$how: what is there at the end, of parent and child" "$(local_ main:in_main)" "0 20"
	"$HOTVAR" --exact --limit 0 --by member --json -o "$tmp/report" -- "$tmp/frames" < /dev/null > "$tmp/out" 2>&1
	is "$how: members" "$(local_ 'members:pairs[].key') $(local_ 'members:pairs[].value')" "0 100 100 200"
done < "$tmp/ways"

# Recordings carry the names; the totals are those of a trace.
"$HOTVAR" record -q --exact -o "$tmp/rec" -- "$tmp/frames" > "$tmp/out" 2>&1
mv "$tmp/frames" "$tmp/moved"
"$HOTVAR" report --limit 0 --json -i "$tmp/rec" > "$tmp/report"
is "a recording has the names where the program is not" "$(local_ counted:counter) $(writes filled:array)" "1010 1012 320"
printf '#include <stdio.h>\nint main(void) { char b[64]; for (int i = 0; i < 9; i++) printf("%%s", b + !sprintf(b, "%%d\\n", i)); return 0; }\n' > "$tmp/prints.c"
check "a program that prints" "${CC:-cc}" -O2 -g -fno-pie -no-pie -o "$tmp/prints" "$tmp/prints.c"
truth "printf()" "$tmp/prints"

done_testing
