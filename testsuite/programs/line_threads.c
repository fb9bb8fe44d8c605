/* hotvar-cflags: -O2 -g -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * line_threads - two threads on one cache line, or not: line_threads WHAT [TIMES]
 *
 *	false	each counts in a member of its own, on one line
 *	true	both count in one variable
 *	padded	each counts in a member that begins a line
 *	array	each counts in an element of its own
 *	apart	each counts in a variable of its own, on one line
 *	heap	each counts in an element of its own of an object of the heap, that is freed in the end
 *	after	both count in one variable, but the second begins when the first has ended
 *	turns	each writes once to one variable, and then waits for the other
 *
 * Each adds 1 to its number TIMES times, and now and then waits until the other has come as far: neither is done before
 * the other has begun, however busy a machine is.  Says "thread TID NAME" for both, and "done".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	_Alignas(64) long before; /* all is on one line */
	long first;
	int little;
	int second;
} counters;

static struct {
	_Alignas(64) long first;
	_Alignas(64) long second;
} padded;

static _Alignas(64) volatile long both;
static _Alignas(64) struct slot {
	long hits, misses;
} slots[4];
static struct slot *object;

/* Next to each other, whatever a compiler thinks of it. */
__asm__(".pushsection .data\n.balign 64\n"
	".type left, @object\n.size left, 8\n.globl left\nleft: .quad 1\n"
	".type right, @object\n.size right, 8\n.globl right\nright: .quad 1\n"
	".balign 64\n.popsection");
extern volatile long left, right;

enum { ROUNDS = 20 };

static long times;
static int alone;
static int pipes[2][2]; /* [i]: thread i is told that the other has come: no line of memory is passed on for that */
static pthread_barrier_t begin, end;
static sem_t turn[2];

static struct thread {
	const char *name;
	volatile long *n;	/* counts there */
	volatile int *small;	/* or there */
	int number;
} threads[2];

static __attribute__((noinline)) void meet(int me)
{
	char c = 0;

	if (!alone && (write(pipes[!me][1], &c, 1) != 1 || read(pipes[me][0], &c, 1) != 1))
		abort();
}

/* How many times in a round. */
static long part(int round)
{
	return times / ROUNDS + (round < times % ROUNDS);
}

static __attribute__((noinline)) void count(volatile long *n, int me)
{
	long i, k;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0, k = part(round); i < k; i++)
			++*n;
		meet(me);
	}
}

static __attribute__((noinline)) void count_small(volatile int *n, int me)
{
	long i, k;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0, k = part(round); i < k; i++)
			++*n;
		meet(me);
	}
}

static __attribute__((noinline)) void take_turns(int me)
{
	long i;

	for (i = 0; i < times; i++) {
		sem_wait(&turn[me]);
		both = i;
		sem_post(&turn[!me]);
	}
}

static void *run(void *arg)
{
	struct thread *t = arg;

	printf("thread %d %s\n", (int)gettid(), t->name);
	pthread_barrier_wait(&begin);
	if (t->n)
		count(t->n, t->number);
	else if (t->small)
		count_small(t->small, t->number);
	else
		take_turns(t->number);
	pthread_barrier_wait(&end); /* one that has ended hands nothing over */
	return NULL;
}

static __attribute__((noinline)) int set(const char *what)
{
	if (!strcmp(what, "false")) {
		threads[0] = (struct thread){ .name = "counters.first", .n = &counters.first };
		threads[1] = (struct thread){ .name = "counters.second", .small = &counters.second };
	} else if (!strcmp(what, "true") || !strcmp(what, "after")) {
		threads[0] = threads[1] = (struct thread){ .name = "both", .n = &both };
	} else if (!strcmp(what, "padded")) {
		threads[0] = (struct thread){ .name = "padded.first", .n = &padded.first };
		threads[1] = (struct thread){ .name = "padded.second", .n = &padded.second };
	} else if (!strcmp(what, "array")) {
		threads[0] = (struct thread){ .name = "slots[1].hits", .n = &slots[1].hits };
		threads[1] = (struct thread){ .name = "slots[2].hits", .n = &slots[2].hits };
	} else if (!strcmp(what, "apart")) {
		threads[0] = (struct thread){ .name = "left", .n = &left };
		threads[1] = (struct thread){ .name = "right", .n = &right };
	} else if (!strcmp(what, "heap")) {
		object = aligned_alloc(64, 4 * sizeof(*object)); /* of the heap */
		threads[0] = (struct thread){ .name = "first", .n = &object[0].misses };
		threads[1] = (struct thread){ .name = "second", .n = &object[3].hits };
	} else if (!strcmp(what, "turns")) {
		threads[0].name = threads[1].name = "both";
	} else {
		return 1;
	}
	threads[1].number = 1;
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t id[2];
	int i;

	alone = argc > 1 && !strcmp(argv[1], "after");
	times = argc > 2 ? atol(argv[2]) : 2000000;
	if (argc < 2 || set(argv[1]) || pipe(pipes[0]) || pipe(pipes[1]) || pthread_barrier_init(&begin, NULL, alone ? 1 : 2) ||
	    pthread_barrier_init(&end, NULL, alone ? 1 : 2) || sem_init(&turn[0], 0, 1) || sem_init(&turn[1], 0, 0))
		return 2;
	for (i = 0; i < 2; i++) {
		if (pthread_create(&id[i], NULL, run, &threads[i]))
			return 1;
		if (alone)
			pthread_join(id[i], NULL);
	}
	for (i = 0; i < 2 && !alone; i++)
		pthread_join(id[i], NULL);
	free(object);
	puts("done");
	return 0;
}
