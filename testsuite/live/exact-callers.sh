# SPDX-License-Identifier: GPL-2.0-or-later
# exact-callers.sh - hotvar --exact --callers: which lines of code accessed each variable, and how many bytes.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

cat > "$tmp/calls.c" <<'END'
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int64_t wide, array[5000];
volatile char narrow, *volatile pointer;
volatile struct { char c; int i; } mixed;
volatile int child_var;
__attribute__((noinline)) static void one(long n)
{
	for (long i = 0; i < n; i++)
		wide = i; /* line one-writes */
}
__attribute__((noinline)) static void two(long n)
{
	for (long i = 0; i < n; i++)
		if (wide == 5) return; /* line two-reads */
	for (long i = 0; i < n; i++)
		narrow = 1; /* line two-writes */
}
__attribute__((noinline)) static void three(void)
{
	for (long i = 0; i < 5000; i++)
		array[i * 7 % 5000] = i; /* line three-writes */
	*(volatile int *)((char *)array + 4093) = 9; /* line three-across */
	mixed.c = 1; mixed.i = 2; /* line three-mixed */
}
__attribute__((noinline)) static void four(void)
{
	for (int i = 0; i < 50; i++)
		child_var++; /* line four */
}
int main(int argc, char **argv)
{
	one(1000);
	two(300);
	three();
	pointer = malloc(100000);
	for (int i = 0; i < 100; i++)
		pointer[i] = 1;
	free((char *)pointer);
	if (!fork()) {
		four();
		if (argc > 1)
			kill(getpid(), SIGKILL);
		_exit(0);
	}
	wait(NULL);
	four();
	return strlen(argv[0]) == 0;
}
END
check "a program whose lines are known" "${CC:-cc}" -O1 -g -fno-tree-loop-distribute-patterns -static -o "$tmp/calls" "$tmp/calls.c"
line() {
	grep -n "line $1 " "$tmp/calls.c" | cut -d : -f 1
}
# calls NAME: "reads writes function line", each caller of the row NAME
calls() {
	python3 - "$tmp/report" "$1" <<'END'
import json
import sys
for l in open(sys.argv[1]):
    r = json.loads(l)
    if r["type"] == "variable" and r["name"] == sys.argv[2]:
        for c in r["callers"]:
            print(c["reads"], c["writes"], c["function"], c["line"])
        print(r["bytes"], "bytes")
END
}
"$HOTVAR" record -q --exact --callers -o "$tmp/rec" -- "$tmp/calls"
"$HOTVAR" report --json --callers -i "$tmp/rec" > "$tmp/report"
is "of one variable" "$(calls wide)" "0 1000 one $(line one-writes)
300 0 two $(line two-reads)
$((1300 * 8)) bytes"
is "of a byte" "$(calls narrow)" "0 300 two $(line two-writes)
300 bytes"
is "of an array, some of it across pages and words" "$(calls array)" "0 5000 three $(line three-writes)
0 1 three $(line three-across)
$((5000 * 8 + 4)) bytes"
is "two of a line are one" "$(calls mixed)" "0 2 three $(line three-mixed)
5 bytes"
is "of two processes" "$(calls child_var)" "100 100 four $(line four)
$((200 * 4)) bytes"
# Each access but those of the heap's objects, and of the kinds that are named, has its line.  Thread-local memory is
# known to be that at different times by counts and by calls.
sums() { # [KIND...]
	python3 - "$tmp/report" "$@" <<'END'
import json
import sys
rows = wrong = 0
for l in open(sys.argv[1]):
    r = json.loads(l)
    if r["type"] != "variable" or r["name"].startswith("heap:") or r["kind"] in sys.argv[2:]:
        continue
    rows += 1
    got = [sum(c[k] for c in r["callers"]) for k in ("reads", "writes")]
    if got != [r["reads"], r["writes"]]:
        print(r["name"], got, r["reads"], r["writes"])
        wrong += 1
print(rows > 50, wrong)
END
}
is "the lines of each row do all that is done to it" "$(sums tls anon stack)" "True 0"
"$HOTVAR" --exact --callers --json -o "$tmp/report" -- "$tmp/calls" kill
is "also of a process that is killed" "$(sums tls anon stack)" "True 0"
is "all of it" "$(calls child_var | head -n 1)" "100 100 four $(line four)"
"$HOTVAR" --exact --callers --json -o "$tmp/report" -- "$TESTPROGS/exact_threads" 8 1000 8 > "$tmp/out"
is "and of threads" "$(sums tls anon stack)" "True 0"
"$HOTVAR" --exact --callers --json -o "$tmp/report" -- "$TESTPROGS/reload" 500 "$TESTPROGS/libreload_one.so" "$TESTPROGS/libreload_two.so" > "$tmp/out"
is "and of a library in another's place" "$(sums tls anon stack)" "True 0"

"$HOTVAR" report --callers=1 -i "$tmp/rec" > "$tmp/text"
like "as text" "$(grep -A 2 ' wide \[calls\]' "$tmp/text" | tr -s ' \n' ' ')" "wide \[calls\] 76.9% one\(\) at calls.c:$(line one-writes) by 1 more line"
if command -v "${CXX:-g++}" > /dev/null; then
	cat > "$tmp/method.cc" <<'END'
struct counter {
	volatile long n;
	__attribute__((noinline)) void add(long much) { n += much; }
} total;
int main()
{
	for (long i = 0; i < 1000; i++)
		total.add(i);
}
END
	check "a program of C++" "${CXX:-g++}" -O1 -g -static -o "$tmp/method" "$tmp/method.cc"
	like "its functions have their parameters once" "$("$HOTVAR" --exact --callers=1 -o - -- "$tmp/method" | grep -A 1 ' total \[method\]')" ' counter::add\(long\) at method.cc:3$'
else
	skip "functions of C++" "there is no C++ compiler"
fi
"$HOTVAR" record -q --exact -o "$tmp/rec" -- "$tmp/calls"
"$HOTVAR" report --callers -i "$tmp/rec" > "$tmp/text"
like "a recording without says so" "$(tail -n 4 "$tmp/text" | tr -s ' \n' ' ')" 'no lines of code: record with --callers'
"$HOTVAR" --callers -- "$tmp/calls" > "$tmp/out" 2> "$tmp/err"
is "only where each access is counted" "$? $(grep -c 'give --exact, too' "$tmp/err")" "2 1"

done_testing
