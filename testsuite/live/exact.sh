# SPDX-License-Identifier: GPL-2.0-or-later
# exact.sh - hotvar --exact: every access counted, whatever the instruction, the thread, the process and its end.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

truth "every kind of access" "$TESTPROGS/access_kinds"
is "a compare-and-swap is a read and a write" "$(count pair)" "100 100 1"
is "a load whose value nobody uses is one" "$(count unread)" "700 0 1"
like "ci is null, time too" "$(grep '"name":"pair"' "$tmp/report")" '"ci":null,"time_share":null,"samples":null,"accesses":200,'
like "its meta says so" "$(head -n 1 "$tmp/report")" '"mode":"exact".*"source":"valgrind"'

# Threads: nothing is lost, and each is known.
"$HOTVAR" --exact --json -o "$tmp/report" -- "$TESTPROGS/exact_threads" 8 1000 8 > "$tmp/out" 2>&1
is "eight threads" "$(cat "$tmp/out")" "8000 8000"
# Valgrind makes a locked instruction of a load and a compare-and-swap: two reads and a write.
is "all they do to one variable" "$(count shared)" "16001 8000 9"
is "and to others" "$(count own)" "8000 8000 8"
is "what one does alone" "$(count alone)" "10 10 1"
# One address, two libraries.
"$HOTVAR" --exact --json -o "$tmp/report" -- "$TESTPROGS/reload" 5000 "$TESTPROGS/libreload_one.so" "$TESTPROGS/libreload_two.so" > "$tmp/out" 2>&1
is "a library in another's place has its address" "$(sort -u "$tmp/out" | grep -c .)" 1
is "the first's variable (the loader clears a part of it)" "$(count one_var | cut -d " " -f 1,3)" "5000 1"
is "the second's" "$(count two_var | cut -d " " -f 1,3)" "5000 1"

# What a handler finds in the registers is what it finds without us.
cat > "$tmp/handler.c" <<'END'
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
static sigjmp_buf back;
static volatile long long seen;
static void on(int s, siginfo_t *i, void *c)
{
	(void)s, (void)i;
	seen = ((ucontext_t *)c)->uc_mcontext.gregs[REG_RBX];
	siglongjmp(back, 1);
}
#define TRY(name, code) do { seen = -1; if (!sigsetjmp(back, 1)) __asm__ volatile("mov $0x1234, %%ebx\n" code "\nmov $0x5678, %%ebx" : : "r"(page) : "rax", "rbx", "cc", "memory"); \
	printf("%s %llx\n", name, seen); } while (0)
int main(void)
{
	struct sigaction a = { .sa_sigaction = on, .sa_flags = SA_SIGINFO | SA_NODEFER };
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &a, NULL);
	TRY("cmpxchg", "lock cmpxchg %%rax, (%0)");
	TRY("xadd", "lock xadd %%rax, (%0)");
	TRY("fxsave", "fxsave (%0)");
	return 0;
}
END
check "a program with a handler" "${CC:-cc}" -O1 -g -static -o "$tmp/handler" "$tmp/handler.c"
"$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/handler" > "$tmp/out" 2>&1
is "a handler finds the registers of the program" "$(cat "$tmp/out")" "$("$tmp/handler")"

# Processes, and how they end.
cat > "$tmp/ends.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long parent_var, child_var, again_var;
static void many(volatile long *v, long n) { for (long i = 0; i < n; i++) (*v)++; }
int main(int argc, char **argv)
{
	const char *how = argv[1];
	if (argc > 2) { many(&again_var, 300); return 9; }
	many(&parent_var, 100);
	if (!fork()) { many(&child_var, 200); execl(argv[0], argv[0], "x", "again", NULL); }
	wait(NULL);
	many(&parent_var, 100);
	if (!strcmp(how, "exit")) return 3;
	if (!strcmp(how, "abort")) abort();
	if (!strcmp(how, "segv")) *(volatile int *)8 = 1;
	if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
	if (!strcmp(how, "forever")) { puts("ready"); fflush(stdout); for (;;) pause(); }
	return 0;
}
END
check "a program that ends in many ways" "${CC:-cc}" -O1 -g -static -o "$tmp/ends" "$tmp/ends.c"
"$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/ends" kill > "$tmp/out" 2> "$tmp/err"
is "the exit status is CMD's, also after SIGKILL" $? 137
is "and all that it did is counted, its child until it executes, and then" \
	"$(count parent_var) $(count child_var) $(count again_var)" "200 200 1 200 200 1 300 300 1"

# A recording is a report later.
"$HOTVAR" record -q --exact -o "$tmp/rec" -- "$tmp/ends" exit > "$tmp/out" 2> "$tmp/err"
is "record: the status is CMD's" $? 3
"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/report"
is "a recording has the same" "$(count parent_var) $(count child_var) $(count again_var)" "200 200 1 200 200 1 300 300 1"
like "as text" "$("$HOTVAR" report -i "$tmp/rec")" '^counted by valgrind: '
"$HOTVAR" report --json --per-process -i "$tmp/rec" > "$tmp/report"
is "processes apart" "$(grep -c '"name":"\(parent\|child\|again\)_var"' "$tmp/report")" 3

# When, and by how many.
cat > "$tmp/times.c" <<'END'
#include <time.h>
volatile long early_var, late_var, busy_var;
int main(void)
{
	struct timespec t, begin; /* valgrind's own beginning is in it */
	early_var++;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	do busy_var++, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while ((t.tv_sec - begin.tv_sec) * 1000000000l + t.tv_nsec - begin.tv_nsec < 300000000);
	late_var++;
	return 0;
}
END
check "a program that touches one variable early, another late" "${CC:-cc}" -O1 -g -static -o "$tmp/times" "$tmp/times.c"
"$HOTVAR" record -q --exact -o "$tmp/rec" -- "$tmp/times"
"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/report"
field() { # NAME KEY
	sed -n "s/^{\"type\":\"variable\",.*\"name\":\"$1\".*\"$2\":\([0-9]*\).*/\1/p" "$tmp/report"
}
is "the last touch of the one is before the first of the other" "$(($(field early_var last_ns) < $(field late_var first_ns)))" 1
is "in between is what went on all the time" \
	"$(($(field busy_var first_ns) < $(field late_var first_ns) && $(field busy_var last_ns) >= $(field late_var last_ns)))" 1
"$HOTVAR" report -v --limit 0 -i "$tmp/rec" > "$tmp/text"
like "-v has them as text" "$(sed -n 2p "$tmp/text")" ' accesses  wr% threads    first     last  kind '
is "for each row" "$(awk '$NF == "[times]" && $(NF - 1) == "early_var" { print $3, $4, $5, $6 == $7 }' "$tmp/text")" "2 50 1 1"

# What cannot be done is said.
"$HOTVAR" --exact -- "$tmp/none" 2> "$tmp/err"
is "no such command" "$? $(grep -c 'cannot run' "$tmp/err")" "127 1"
PATH=/nowhere "$HOTVAR" --exact -- "$tmp/ends" exit > "$tmp/out" 2> "$tmp/err"
is "no valgrind" "$? $(grep -c 'there is no valgrind along PATH: install it: apt-get install valgrind' "$tmp/err")" "125 1"
if cp "$tmp/ends" "$tmp/setuid" && chown 65534 "$tmp/setuid" 2> /dev/null && chmod 4755 "$tmp/setuid"; then
	"$HOTVAR" --exact -- "$tmp/setuid" exit > "$tmp/out" 2> "$tmp/err"
	is "a set-user-ID program" "$? $(grep -c 'set-user-ID' "$tmp/err") $(grep -c . "$tmp/out")" "125 1 0"
else
	skip "a set-user-ID program" "only root can give a file away"
fi
printf '\177ELF\001\001\001' > "$tmp/old" && head -c 100 /dev/zero >> "$tmp/old" && chmod 755 "$tmp/old"
"$HOTVAR" --exact -- "$tmp/old" > "$tmp/out" 2> "$tmp/err"
is "a 32-bit program" "$? $(grep -c 'it is a 32-bit program' "$tmp/err")" "125 1"

done_testing
