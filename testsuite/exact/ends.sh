# SPDX-License-Identifier: GPL-2.0-or-later
# ends.sh - hotvar --exact: processes that end in every way, threads that come and go.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

"$HOTVAR" --exact --json -o "$tmp/report" -- "$TESTPROGS/exact_threads" 150 100 3 > "$tmp/out" 2>&1
is "threads that come and go are told apart" "$(count shared)" "30001 15000 151"
"$HOTVAR" --exact --json -o "$tmp/report" -- "$TESTPROGS/exact_threads" 80 100 80 > "$tmp/out" 2>&1
is "more threads at a time than can be told apart: none is lost" "$(count shared | cut -d ' ' -f 1,2)" "16001 8000"
like "and it is said" "$(head -n 1 "$tmp/report")" '"note":"[0-9]* threads, beyond 63 at a time, count as one'

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
check "a program that ends in many ways" "${CC:-cc}" -O1 -g -o "$tmp/ends" "$tmp/ends.c"
for how in exit:3 abort:134 segv:139 kill:137; do
	"$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/ends" ${how%:*} > "$tmp/out" 2> "$tmp/err"
	is "${how%:*}: the exit status is CMD's" $? ${how#*:}
	is "${how%:*}: all that it did" "$(count parent_var)" "200 200 1"
	is "${how%:*}: its child, until it executes" "$(count child_var)" "200 200 1"
	is "${how%:*}: and then" "$(count again_var)" "300 300 1"
done
rm -f "$tmp/out" "$tmp/report" # of the run before
"$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/ends" forever > "$tmp/out" 2> "$tmp/err" &
pid=$!
until_true 60 grep -q ready "$tmp/out" || not_ok "it gets ready"
kill -TERM $pid
wait $pid
is "SIGTERM goes to CMD, whose status it is" $? 143
is "nothing is lost by it" "$(count parent_var) $(count again_var)" "200 200 1 300 300 1"
rm -f "$tmp/out" "$tmp/report" # of the run before
"$HOTVAR" --exact -d 600 --json -o "$tmp/report" -- "$tmp/ends" forever > "$tmp/out" 2> "$tmp/err" &
pid=$!
until_true 60 grep -q ready "$tmp/out" || not_ok "it gets ready"
kill -TERM $pid
wait $pid
is "with a duration, too" "$(count parent_var)" "200 200 1"

rm -f "$tmp/out" "$tmp/report" # of the run before
"$HOTVAR" --exact -d 0.5 --json -o "$tmp/report" -- "$tmp/ends" forever > "$tmp/out" 2> "$tmp/err" &
pid=$!
until_true 60 grep -q '"type":"total"' "$tmp/report" || not_ok "-d ends the measuring"
until_true 60 grep -q ready "$tmp/out"
is "CMD runs on after -d" $? 0
kill -TERM $pid
wait $pid
is "and its status is waited for" $? 143
unlike "what was counted by then is whole" "$(cat "$tmp/report")" 'counted twice'

done_testing
