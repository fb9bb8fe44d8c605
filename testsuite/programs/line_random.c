/* hotvar-cflags: -O2 -g -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * line_random - threads that access a few cache lines at random, one after the other, and what must come of it:
 * line_random SEED STEPS
 *
 * One thread at a time has the baton.  Each step of the script, made beforehand, is one access by one thread.  Says for each line
 * "line ADDR HANDOVERS RETURNS TRUE FALSE", and for each thread that was there "thread ADDR TID READS WRITES READ WRITTEN",
 * of which the last two are the bytes, a bit each: from the script alone, by what the words mean.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3, LINES = 6, SIZE = 64, MOST = 20000 };

static _Alignas(64) volatile unsigned char memory[LINES][SIZE];

static struct step {
	unsigned char thread, line, at, size, write;
} steps[MOST];
static unsigned n_steps, now;
static sem_t baton[THREADS];
static pthread_barrier_t begin, end;
static int tids[THREADS];

static __attribute__((noinline)) void do_step(const struct step *s)
{
	volatile unsigned char *p = &memory[s->line][s->at];

	switch (s->size + (s->write ? 100 : 0)) {
	case 1:
		(void)*p;
		break;
	case 2:
		(void)*(volatile uint16_t *)p;
		break;
	case 4:
		(void)*(volatile uint32_t *)p;
		break;
	case 8:
		(void)*(volatile uint64_t *)p;
		break;
	case 101:
		*p = s->at;
		break;
	case 102:
		*(volatile uint16_t *)p = s->at;
		break;
	case 104:
		*(volatile uint32_t *)p = s->at;
		break;
	case 108:
		*(volatile uint64_t *)p = s->at;
		break;
	}
}

static void *run(void *arg)
{
	int me = (int)(intptr_t)arg;

	tids[me] = (int)gettid();
	pthread_barrier_wait(&begin);
	for (;;) {
		sem_wait(&baton[me]);
		while (now < n_steps && steps[now].thread == me)
			do_step(&steps[now++]);
		if (now == n_steps)
			break;
		sem_post(&baton[steps[now].thread]);
	}
	for (int i = 0; i < THREADS; i++)
		sem_post(&baton[i]);
	pthread_barrier_wait(&end); /* none ends while another may still come */
	return NULL;
}

/* ---- what must come of it ---- */

static uint64_t bytes_of(const struct step *s)
{
	return (((uint64_t)1 << s->size) - 1) << s->at;
}

/* Of steps [from, to) on @line, all of one thread. */
struct did {
	unsigned long reads, writes;
	uint64_t read, written;
};

static struct did did(unsigned line, unsigned from, unsigned to, int thread)
{
	struct did d = { 0, 0, 0, 0 };
	unsigned i;

	for (i = from; i < to; i++) {
		if (steps[i].line != line || steps[i].thread != thread)
			continue;
		if (steps[i].write) {
			d.writes++;
			d.written |= bytes_of(&steps[i]);
		} else {
			d.reads++;
			d.read |= bytes_of(&steps[i]);
		}
	}
	return d;
}

static unsigned long least(unsigned long a, unsigned long b)
{
	return a < b ? a : b;
}

static void two(const struct did *a, const struct did *b, unsigned long *most_true, unsigned long *most_false)
{
	unsigned long most = 0;

	if (a->writes && b->writes)
		most = 2 * least(a->reads + a->writes, b->reads + b->writes);
	else if (a->writes)
		most = least(a->writes, b->reads);
	else if (b->writes)
		most = least(a->reads, b->writes);
	if ((a->written & b->read) || (a->written & b->written) || (a->read & b->written))
		*most_true += most;
	else
		*most_false += most;
}

/* When was @line last accessed by @thread (@write: written to), before step @until?  -1: never. */
static long last(unsigned line, unsigned until, int thread, int write)
{
	long i;

	for (i = (long)until - 1; i >= 0; i--)
		if (steps[i].line == line && steps[i].thread == thread && (!write || steps[i].write))
			break;
	return i;
}

static void tell(unsigned line)
{
	unsigned long handovers = 0, returns = 0, most_true = 0, most_false = 0;
	int before = -1, thread, other;
	unsigned i, first = 0, first_before = 0;

	for (i = 0; i < n_steps; i++) {
		long written = -1, mine;
		int writer = -1;

		if (steps[i].line != line || steps[i].thread == before)
			continue;
		thread = steps[i].thread;
		for (other = 0; other < THREADS; other++)
			if (last(line, i, other, 1) > written) {
				written = last(line, i, other, 1);
				writer = other;
			}
		mine = last(line, i, thread, 0);
		if (writer >= 0 && writer != thread && mine < written) {
			handovers++;
			returns += mine >= 0;
		}
		if (before >= 0) {
			/* steps [first_before, first) and [first, i) are two stretches, if there are two */
			if (first > first_before) {
				struct did a = did(line, first_before, first, steps[first_before].thread);
				struct did b = did(line, first, i, before);

				two(&a, &b, &most_true, &most_false);
			}
			first_before = first;
		} else {
			first_before = i;
		}
		first = i;
		before = thread;
	}
	if (before >= 0 && first > first_before) {
		struct did a = did(line, first_before, first, steps[first_before].thread);
		struct did b = did(line, first, n_steps, before);

		two(&a, &b, &most_true, &most_false);
	}
	printf("line %p %lu %lu %lu %lu\n", (void *)memory[line], handovers, returns, most_true, most_false);
	for (thread = 0; thread < THREADS; thread++) {
		struct did d = did(line, 0, n_steps, thread);

		if (d.reads + d.writes)
			printf("thread %p %d %lu %lu 0x%llx 0x%llx\n", (void *)memory[line], tids[thread], d.reads, d.writes,
			       (unsigned long long)d.read, (unsigned long long)d.written);
	}
}

int main(int argc, char **argv)
{
	unsigned kinds[LINES], i;
	pthread_t id[THREADS];

	if (argc < 3 || (n_steps = (unsigned)atoi(argv[2])) > MOST || !n_steps)
		return 2;
	srand((unsigned)atoi(argv[1]));
	for (i = 0; i < LINES; i++)
		kinds[i] = (unsigned)rand() % 4;
	for (i = 0; i < n_steps; i++) {
		struct step *s = &steps[i];

		s->thread = i && rand() % 3 ? steps[i - 1].thread : (unsigned char)(rand() % THREADS);
		s->line = (unsigned char)(rand() % LINES);
		s->size = (unsigned char)(1 << rand() % 4);
		s->at = (unsigned char)(rand() % (SIZE / s->size) * s->size);
		if (kinds[s->line] == 0) /* to each its own */
			s->at = (unsigned char)(s->thread * 16 + s->at % 16 / s->size * s->size);
		s->write = kinds[s->line] == 1 ? 0 : kinds[s->line] == 2 ? s->thread == 0 : rand() % 2;
	}
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		sem_init(&baton[i], 0, 0);
		if (pthread_create(&id[i], NULL, run, (void *)(intptr_t)i))
			return 1;
	}
	pthread_barrier_wait(&begin);
	sem_post(&baton[steps[0].thread]);
	for (i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	for (i = 0; i < LINES; i++)
		tell(i);
	return 0;
}
