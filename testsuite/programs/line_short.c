/* hotvar-cflags: -O1 -g -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * line_short - threads on one cache line that do so little that one may be done before the next begins: line_short WHAT [TIMES]
 *
 *	false	two threads, each with a member of its own
 *	true	two with one and the same
 *	three	three, each with its own
 *	padded	two, each with a line of its own
 *	main	one, and main() beside it, which has set both members before
 *	ended	the second begins when the first is at its end, which nobody has waited for
 *	detached	likewise, and nobody ever waits for the first, whose stack the second gets
 *	between	main() waits for the first and reads both members; the second, begun with it, comes then
 *	after	the second begins when main() has waited for the first
 *	chain	each of three waits for the one before it, which main() has begun, and begins then
 *	before	main() works with one before the thread begins, and after it has waited for it
 *	again	the first works with an object of the heap, which main() frees when that is at its end; the second with one that
 *		main() gets then; says "the same memory" if it is there
 *	tried	as after, but main() asks again and again (pthread_tryjoin_np())
 *
 * Nothing here makes threads wait for each other but what is said.  "done" at the end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	_Alignas(64) volatile long first;
	volatile long second, third;
	_Alignas(64) volatile long apart;
} counters;

static volatile long sum;
static volatile int gone; /* a thread is about to end */
static long times;
static pthread_t id[3];

static void *count(void *n)
{
	volatile long *p = n;
	long i;

	for (i = 0; i < times; i++)
		++*p;
	return NULL;
}

static void *count_and_say(void *n)
{
	count(n);
	gone = 1;
	return NULL;
}

/* Begins when the one before is gone. */
static void *count_after(void *n)
{
	if (pthread_join(id[n == &counters.third], NULL))
		abort();
	return count(n);
}

static void begin(int i, void *(*run)(void *), volatile long *n)
{
	if (pthread_create(&id[i], NULL, run, (void *)n))
		abort();
}

static void wait_for(int i)
{
	if (pthread_join(id[i], NULL))
		abort();
}

/* The second, when the first is at its end, or nearly so. */
static void one_at_its_end(int detached, int objects)
{
	volatile long *first = objects ? aligned_alloc(64, 64) : &counters.first, *second = &counters.second;
	uintptr_t before = (uintptr_t)first;

	begin(0, count_and_say, first);
	while (!gone)
		sched_yield();
	usleep(50000);
	if (detached)
		pthread_detach(id[0]);
	if (objects) {
		free((void *)first);
		second = aligned_alloc(64, 64);
		if ((uintptr_t)second == before)
			puts("the same memory");
	}
	begin(1, count, second);
	wait_for(1);
	if (!detached)
		wait_for(0);
	if (objects)
		free((void *)second);
}

static int together(const char *what)
{
	int two = !strcmp(what, "true"), padded = !strcmp(what, "padded"), three = !strcmp(what, "three");

	if (!two && !padded && !three && strcmp(what, "false"))
		return 0;
	begin(0, count, &counters.first);
	begin(1, count, two ? &counters.first : padded ? &counters.apart : &counters.second);
	if (three) {
		begin(2, count, &counters.third);
		wait_for(2);
	}
	wait_for(0);
	wait_for(1);
	return 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	times = argc > 2 ? atol(argv[2]) : 1000;
	counters.first = counters.second = 0;
	if (together(what)) {
		sum = 0;
	} else if (!strcmp(what, "main")) {
		begin(0, count, &counters.first);
		count((void *)&counters.second);
		wait_for(0);
	} else if (!strcmp(what, "ended") || !strcmp(what, "detached")) {
		one_at_its_end(what[0] == 'd', 0);
	} else if (!strcmp(what, "between")) {
		begin(0, count, &counters.first);
		begin(1, count, &counters.second);
		wait_for(0);
		sum = counters.first + counters.second;
		wait_for(1);
	} else if (!strcmp(what, "after")) {
		begin(0, count, &counters.first);
		wait_for(0);
		begin(1, count, &counters.second);
		wait_for(1);
	} else if (!strcmp(what, "tried")) {
		begin(0, count, &counters.first);
		while (pthread_tryjoin_np(id[0], NULL))
			sched_yield();
		begin(1, count, &counters.second);
		wait_for(1);
	} else if (!strcmp(what, "chain")) {
		begin(0, count, &counters.first);
		begin(1, count_after, &counters.second);
		begin(2, count_after, &counters.third);
		wait_for(2);
	} else if (!strcmp(what, "before")) {
		count((void *)&counters.second);
		begin(0, count, &counters.first);
		wait_for(0);
		count((void *)&counters.second);
	} else if (!strcmp(what, "again")) {
		one_at_its_end(0, 1);
	} else {
		return 2;
	}
	puts("done");
	return 0;
}
