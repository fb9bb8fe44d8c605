#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-walks.sh - threads that stand still for a moment, so that which way they go on can be seen; and do not notice it.
. "$top_srcdir/testsuite/lib.sh"

# walk ROUNDS THREADS: all of them do the same and add up what came out; "nap": sleep between short runs
cat > "$tmp/walk.c" << 'END'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static uint64_t even[64], odd[64];
static long rounds;
static uint64_t turn(uint64_t x, long n)
{
	while (n--) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		if (x >> 63)
			__atomic_fetch_add(&odd[x >> 40 & 63], 1, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&even[x >> 40 & 63], 1, __ATOMIC_RELAXED);
	}
	return x;
}
static void *run(void *arg)
{
	*(uint64_t *)arg = turn(*(uint64_t *)arg, rounds);
	return NULL;
}
int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1;
	uint64_t x[64], sum = 0;
	pthread_t t[64];

	rounds = argc > 1 ? atol(argv[1]) : 1;
	if (argc > 3) {
		for (int i = 0; i < 40; i++) {
			nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
			sum = turn(sum, rounds);
		}
		printf("%llu\n", (unsigned long long)sum);
		return 0;
	}
	for (int i = 0; i < n; i++) {
		x[i] = (uint64_t)i + 1;
		if (pthread_create(&t[i], NULL, run, &x[i]))
			return 1;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(t[i], NULL);
		sum += x[i];
	}
	for (int i = 0; i < 64; i++)
		sum += even[i] * 3 + odd[i];
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
END
cc "$tmp/walk.c" -O2 -g -pthread -o "$tmp/walk"

# total KEY: of the last line of the report
total() {
	sed -n 's/^{"type":"total",.*"'"$1"'":\([0-9.e-]*\).*/\1/p' "$tmp/json"
}

# walked NAME WORDS...: the program does under hotvar what it does without; then the recording's report
walked() {
	name=$1
	shift
	"$tmp/walk" "$@" > "$tmp/alone"
	rm -f "$tmp/rec"
	"$HOTVAR" record --source perf -o "$tmp/rec" -- "$tmp/walk" "$@" > "$tmp/out" 2> "$tmp/err"
	is "$name: the program ends as it does alone" "$?" "0"
	check "$name: and says the same" cmp "$tmp/alone" "$tmp/out"
	"$HOTVAR" report -i "$tmp/rec" --json -o "$tmp/json"
}

if ! "$HOTVAR" record --source perf -o "$tmp/rec" -- "$tmp/walk" 1000000 > "$tmp/out" 2> "$tmp/err"; then
	skip_all "perf's timer is refused here: $(tail -n 1 "$tmp/err")"
fi

walked "one thread" 60000000
check "one thread: walks are in the recording" test "$(total walks)" -gt 0
check "one thread: and are as long as some tens of instructions" test "$(total walk_insns)" -gt $(($(total walks) * 30))
cp "$tmp/json" "$tmp/one"
"$HOTVAR" report -i "$tmp/rec" --json -o "$tmp/two"
check "reports of one recording agree" cmp "$tmp/one" "$tmp/two"

walked "twenty threads" 8000000 20
walked "one that sleeps" 20000 1 nap

# threads that hand over to each other after some microseconds, each time
cat > "$tmp/turns.c" << 'END'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int whose;
static uint64_t even[64], odd[64];
static long rounds;
static void *run(void *arg)
{
	int me = arg != NULL;
	uint64_t x = 1;
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		while (whose != me)
			pthread_cond_wait(&changed, &lock);
		for (int k = 0; k < 3000; k++) {
			x = x * 6364136223846793005ull + 1442695040888963407ull;
			if (x >> 63)
				odd[x >> 40 & 63]++;
			else
				even[x >> 40 & 63]++;
		}
		whose = !me;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	rounds = argc > 1 ? atol(argv[1]) : 1;
	pthread_create(&t, NULL, run, &t);
	run(NULL);
	pthread_join(t, NULL);
	printf("%llu %llu\n", (unsigned long long)even[5], (unsigned long long)odd[5]);
	return 0;
}
END
mv "$tmp/walk" "$tmp/walk.first"
cc "$tmp/turns.c" -O2 -g -pthread -o "$tmp/walk"
walked "two that take turns" 60000
check "two that take turns: walks are in the recording" test "$(total walks)" -gt 0
check "two that take turns: and are as long as some tens of instructions" test "$(total walk_insns)" -gt $(($(total walks) * 30))
"$HOTVAR" record --source perf -F 2000 -o "$tmp/often" -- "$tmp/walk" 60000 > "$tmp/out" 2> "$tmp/err"
"$HOTVAR" report -i "$tmp/often" --json -o "$tmp/json"
is "two that take turns: with so many samples that rings hold less time nobody is heard" "$(total walks)" ""
mv "$tmp/walk.first" "$tmp/walk"

"$HOTVAR" --source perf --budget 0.05% --json -o "$tmp/json" -- "$tmp/walk" 60000000 > "$tmp/out" 2> "$tmp/err"
is "with next to nothing to spend there are none" "$(total walks)" ""

# hotvar is killed: the program goes on
"$tmp/walk" 60000000 > "$tmp/alone"
rm -f "$tmp/rec"
"$tmp/walk" 60000000 > "$tmp/out" &
program=$!
"$HOTVAR" record --source perf -o "$tmp/rec" -p "$program" > /dev/null 2>&1 &
hotvar=$!
grown() {
	[ "$(wc -c < "$tmp/rec")" -gt "$1" ]
}
until_true 20 grown 0
until_true 20 grown $(($(wc -c < "$tmp/rec") + 1))
kill -KILL "$hotvar"
wait "$hotvar" 2> /dev/null
wait "$program"
is "hotvar killed: the program ends as it does alone" "$?" "0"
check "hotvar killed: and says the same" cmp "$tmp/alone" "$tmp/out"
done_testing
