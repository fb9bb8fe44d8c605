#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# short-threads.sh - threads that end before their first sample: what the report says of their time is true.
. "$top_srcdir/testsuite/lib.sh"
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

cat > short.c << 'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
volatile int word;
static double cpu(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void *use(void *seconds)
{
	while (cpu(CLOCK_THREAD_CPUTIME_ID) < *(double *)seconds)
		for (int i = 0; i < 20000; i++) /* most of the time is the program's own, not the kernel's */
			word++;
	return NULL;
}
/* short SECONDS TIMES: so many threads, one after the other, that use that much CPU time each; then our own, until stdin ends */
int main(int argc, char **argv)
{
	double seconds = atof(argv[1]);
	char c;

	for (int i = 0; argc > 2 && i < atoi(argv[2]); i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, use, &seconds) || pthread_join(t, NULL))
			return 1;
	}
	printf("%.6f\n", cpu(CLOCK_PROCESS_CPUTIME_ID));
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
C
check "the program builds" "${CC:-cc}" -O1 -pthread -o short short.c
total() { sed -n 's/.*"'"$1"'":\([0-9.e+-]*\).*/\1/p' report | tail -n 1; }

"$HOTVAR" record -q --source perf -o probe.rec -- true 2> err && perf=perf
for source in ${perf-} ptrace; do
	# 20 ms in all, of which one sample stands for 100
	"$HOTVAR" --source $source -F 10 -o report -- ./short 0.002 10 > used < /dev/null
	like "$source: less CPU time than a sample stands for" "$(tr -s '\n ' ' ' < report)" \
		"no sample was taken at 10 Hz: the program used less CPU time than one stands for: let it do more, raise"
	# 300 ms, by threads that have 10 each
	"$HOTVAR" --source $source -F 10 -o report -- ./short 0.01 30 > used < /dev/null
	text=$(tr -s '\n ' ' ' < report)
	like "$source: more CPU time than that, without a sample" "$text" \
		"no sample was taken at 10 Hz of the [0-9.]+ seconds of CPU time that the program used: .*threads that end before they have used as much as one sample stands for: raise the rate with -F, or count each access with --exact"
	told=$(printf '%s\n' "$text" | sed -n 's/.*of the \([0-9.]*\) seconds of CPU.*/\1/p')
	is "$source: and it is what the program used" "$(awk -v own="$(cat used)" -v told="$told" 'BEGIN { print (own >= 0.3 && told >= own - 0.01) }')" 1
	"$HOTVAR" --source $source -F 10 --json -o report -- ./short 0.01 3 > used < /dev/null
	is "$source: cpu_seconds is no less than the program's own" "$(awk -v own="$(cat used)" -v told="$(total cpu_seconds)" 'BEGIN { print (own >= 0.03 && told >= own - 0.0001) }')" 1
done

# A process that runs: from the attach on.
mkfifo end
./short 0 0 < end > used &
pid=$!
exec 5> end
until_true 20 test -s used
"$HOTVAR" -F 1000 -d 0.1 --json -o report -p $pid
is "-p of one that only waits: nothing is found" $? 1
is "and hardly any CPU time" "$(awk -v told="$(total cpu_seconds)" 'BEGIN { print (told + 0 < 0.1) }')" 1
exec 5>&-
wait $pid

if [ -n "${perf-}" ]; then
	# Nine tenths and more are of threads without a sample; what main() does itself may have one.
	"$HOTVAR" -F 100 -o report -- ./short 0.002 100 > used < /dev/null
	text=$(tr -s '\n ' ' ' < report)
	like "few samples of much time: is said" "$text" "note: samples stand for 0.[0-9]* of the 0.[0-9]* seconds of CPU time that the program used: .*threads.*--exact|no sample was taken at 100 Hz of the 0.[0-9]* seconds of CPU time"
	"$HOTVAR" -o report -- ./short 0.3 1 > used < /dev/null
	unlike "samples of nearly all the time: nothing is said" "$(tr -s '\n ' ' ' < report)" 'samples stand for|no sample was taken'
fi
done_testing
