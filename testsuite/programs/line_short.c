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
 *	relay	likewise, four times, and main() reads the other's member once before it ends
 *	served	twelve are begun, each when the one before is gone, which nobody has waited for: they have one stack, and a line each; they
 *		are detached, so each gives its stack back itself
 *	swept	likewise, but main() detaches each when it is gone, and so gives its stack back
 *	sites	forty count, each 80 times by as many instructions
 *	again	the first works with an object of the heap, which main() frees when that is at its end; the second with one that
 *		main() gets then; says "the same memory" if it is there
 *	tried	as after, but main() asks again and again (pthread_tryjoin_np())
 *	timed	as after, but main() would not wait for ever
 *	late	main() gives up waiting for the first, which then ends; the second begins when it is gone
 *	refused	likewise, but the first is detached: to wait for it fails
 *	self	as after, but the first has tried to wait for itself
 *	mainend	main() ends; one waits for that
 *	next	each of eight counts and begins the next one then
 *	once	each of eight counts once, with an element of its own
 *	crowd	likewise, but each as often as all others here do
 *	stack	the second begins when the first is gone, and has its stack, behind which their members are
 *	resized	the first works with an object of the heap, which main() then makes smaller: it stays where it is; says "the same memory"
 *	recycled the first works with an object of the heap, and once with its neighbour; then main() frees it, and gets its memory for
 *		the second; says "the same memory"
 *	kept	likewise, but the first works as much with the neighbour
 *
 * Nothing here makes threads wait for each other but what is said.  "done" at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
	_Alignas(64) volatile long first;
	volatile long second, third;
	_Alignas(64) volatile long apart;
} counters;

static struct {
	_Alignas(4096) char stack[1 << 17];
	_Alignas(64) volatile long first;
	volatile long second;
} behind;

static _Alignas(64) volatile long each[8];
static volatile long sum;
static volatile int gone; /* the thread with this number is about to end */
static volatile int may_go;
static long times;
static pthread_t id[3], id_of_main;
static volatile long *neighbour;
static long neighbour_times;

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
	gone = gettid();
	return NULL;
}

static void *count_when_let(void *n)
{
	while (!may_go)
		sched_yield();
	return count_and_say(n);
}

static void *count_after_self(void *n)
{
	if (pthread_join(pthread_self(), NULL) != EDEADLK)
		abort();
	return count_and_say(n);
}

static void *count_after_main(void *n)
{
	if (pthread_join(id_of_main, NULL))
		abort();
	count(n);
	puts("done");
	return NULL;
}

static void *count_two(void *n)
{
	long i;

	count(n);
	for (i = 0; i < neighbour_times; i++)
		++*neighbour;
	gone = gettid();
	return NULL;
}

static void *count_once(void *n)
{
	++*(volatile long *)n;
	return NULL;
}

static void *count_and_begin(void *n)
{
	static pthread_t next[8];
	static int begun;
	int i = begun++; /* the one before has begun this one after that */

	count(n);
	if (i + 1 < 8 && pthread_create(&next[i], NULL, count_and_begin, (void *)&each[i % 8]))
		abort();
	if (i + 1 < 8)
		pthread_join(next[i], NULL);
	return NULL;
}

/* Wait till the one that has said that it is about to end is no more: without waiting for its end, as threads have it. */
static void until_gone(void)
{
	char path[64];

	while (!gone)
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d", gone);
	while (!access(path, F_OK))
		usleep(1000);
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
	until_gone();
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

static void say_whether(int same)
{
	if (same)
		puts("the same memory");
}

static void resized(void)
{
	long *object = aligned_alloc(64, 64);
	uintptr_t before = (uintptr_t)object;

	begin(0, count_and_say, object);
	until_gone();
	object = realloc(object, 56);
	say_whether((uintptr_t)object == before);
	begin(1, count, object + 1);
	wait_for(1);
	wait_for(0);
	free(object);
}

/* An object, and one that begins on its line. */
static long *neighbours(void)
{
	long *object = malloc(8), *next;
	int i;

	for (i = 0; i < 100; i++, object = next) {
		next = malloc(8);
		if (!(((uintptr_t)object ^ (uintptr_t)next) & ~(uintptr_t)63)) {
			neighbour = next;
			return object;
		}
	}
	return NULL;
}

static void recycled(long both)
{
	long *object = neighbours();
	uintptr_t before = (uintptr_t)object;

	if (!object)
		return;
	neighbour_times = both;
	begin(0, count_two, object);
	until_gone();
	free(object);
	object = malloc(8);
	say_whether((uintptr_t)object == before);
	begin(1, count, object);
	wait_for(1);
	wait_for(0);
}

static void on_one_stack(void)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, behind.stack, sizeof(behind.stack));
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&id[0], &attr, count_and_say, (void *)&behind.first))
		abort();
	until_gone();
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE);
	if (pthread_create(&id[1], &attr, count, (void *)&behind.second))
		abort();
	wait_for(1);
}

static void eight(void *(*run)(void *))
{
	pthread_t t[8];
	int i;

	for (i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, run, (void *)&each[i]))
			abort();
	for (i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

static void *count_and_wait(void *n)
{
	count_and_say(n);
	while (!may_go)
		sched_yield();
	return NULL;
}

static void relay(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		count((void *)&counters.second);
		gone = may_go = 0;
		begin(0, count_and_wait, &counters.first);
		while (!gone)
			sched_yield();
		sum = counters.first;
		may_go = 1;
		wait_for(0);
	}
}

static void served(int detached)
{
	static struct {
		_Alignas(64) volatile long n;
	} own[12];
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	if (detached)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (i = 0; i < 12; i++) {
		gone = 0;
		if (pthread_create(&id[0], &attr, count_and_say, (void *)&own[i].n))
			abort();
		until_gone();
		if (!detached)
			pthread_detach(id[0]);
	}
}

#define FIVE(n) (++*(n), ++*(n), ++*(n), ++*(n), ++*(n))
#define TWENTY(n) (FIVE(n), FIVE(n), FIVE(n), FIVE(n))

static void *count_by_many(void *n)
{
	volatile long *p = n;

	TWENTY(p), TWENTY(p), TWENTY(p), TWENTY(p);
	return NULL;
}

static void sites(void)
{
	pthread_t t[40];
	int i;

	for (i = 0; i < 40; i++)
		if (pthread_create(&t[i], NULL, count_by_many, (void *)&each[i % 8]))
			abort();
	for (i = 0; i < 40; i++)
		pthread_join(t[i], NULL);
}

/* To wait for the first, which may not go on yet, is to no avail. */
static void in_vain(int late)
{
	struct timespec past = { .tv_sec = 1 };
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	if (!late)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&id[0], &attr, count_when_let, (void *)&counters.first) ||
	    (late ? pthread_timedjoin_np(id[0], NULL, &past) != ETIMEDOUT : pthread_join(id[0], NULL) != EINVAL))
		abort();
	may_go = 1;
	until_gone();
	begin(1, count, &counters.second);
	wait_for(1);
	if (late)
		wait_for(0);
}

/* As these threads are; 0: @what is none of them. */
static int others(const char *what)
{
	struct timespec until;

	if (!strcmp(what, "timed")) {
		begin(0, count_when_let, &counters.first);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += 600;
		may_go = 1;
		if (pthread_timedjoin_np(id[0], NULL, &until))
			abort();
		begin(1, count, &counters.second);
		wait_for(1);
	} else if (!strcmp(what, "late") || !strcmp(what, "refused")) {
		in_vain(what[0] == 'l');
	} else if (!strcmp(what, "self")) {
		begin(0, count_after_self, &counters.first);
		until_gone();
		wait_for(0);
		begin(1, count, &counters.second);
		wait_for(1);
	} else if (!strcmp(what, "mainend")) {
		id_of_main = pthread_self();
		begin(0, count_after_main, &counters.first);
		count((void *)&counters.second);
		pthread_exit(NULL);
	} else if (!strcmp(what, "next")) {
		begin(0, count_and_begin, &each[7]);
		wait_for(0);
	} else if (!strcmp(what, "once") || !strcmp(what, "crowd")) {
		eight(what[0] == 'o' ? count_once : count);
	} else if (!strcmp(what, "relay")) {
		relay();
	} else if (!strcmp(what, "served") || !strcmp(what, "swept")) {
		served(what[1] == 'e');
	} else if (!strcmp(what, "sites")) {
		sites();
	} else if (!strcmp(what, "stack")) {
		on_one_stack();
	} else if (!strcmp(what, "resized")) {
		resized();
	} else if (!strcmp(what, "recycled") || !strcmp(what, "kept")) {
		recycled(what[0] == 'r' ? 1 : times);
	} else {
		return 0;
	}
	return 1;
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
	if (together(what) || others(what)) {
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
