/* hotvar-cflags: -O2 -g -pthread -static */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * line_random - threads that access a few cache lines at random, one after the other, and what must come of it:
 * line_random SEED STEPS
 *
 * One thread at a time has the baton.  Each step of the script, made beforehand, is one access by one thread.  Says for each line
 * "line ADDR HANDOVERS RETURNS TRUE FALSE POSSIBLE", and for each thread that was there "thread ADDR TID READS WRITES READ WRITTEN",
 * of which the last two are the bytes, a bit each: from the script alone, by what the words mean.  TRUE and FALSE are of those that came after
 * each other, POSSIBLE is what can be in any order.
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

/* Two stretches of a line, one after the other: who accesses or writes how often, and what of it is in a hand-over with the one before. */
struct stretch {
	struct did d;
	int thread;
	unsigned long got, gave; /* accesses, writes */
};

/* @b gets the line from @a as often as it is there and @a has written; and so the other way round.  @before: the one before @a, or NULL. */
static void two(const struct stretch *before, struct stretch *a, struct stretch *b, unsigned long *most_true, unsigned long *most_false)
{
	unsigned long accesses = a->d.reads + a->d.writes - a->got, writes = a->d.writes;

	if (before && before->thread == b->thread) /* it has got it from these already */
		writes -= a->gave;
	b->got = least(b->d.reads + b->d.writes, writes);
	b->gave = least(accesses, b->d.writes);
	if ((a->d.written & (b->d.read | b->d.written)) || (a->d.read & b->d.written))
		*most_true += b->got + b->gave;
	else
		*most_false += b->got + b->gave;
}

/* No thread gets it oftener than it is there, or than others write; and who is the first does not get it. */
static unsigned long possible(unsigned line)
{
	unsigned long all = 0, writes = 0, sum = 0;
	struct did d[THREADS];
	int t;

	for (t = 0; t < THREADS; t++) {
		d[t] = did(line, 0, n_steps, t);
		all += d[t].reads + d[t].writes;
		writes += d[t].writes;
	}
	for (t = 0; t < THREADS; t++)
		sum += least(d[t].reads + d[t].writes, writes - d[t].writes);
	return least(sum, all - 1);
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
	static struct stretch all[MOST];
	int before = -1, thread, other;
	unsigned i, k, n = 0, first = 0;

	for (i = 0; i <= n_steps; i++) {
		long written = -1, mine;
		int writer = -1;

		if (i < n_steps && (steps[i].line != line || steps[i].thread == before))
			continue;
		if (before >= 0) /* steps [first, i) are a stretch */
			all[n++] = (struct stretch){ did(line, first, i, before), before, 0, 0 };
		first = i;
		if (i == n_steps)
			break;
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
		before = thread;
	}
	for (k = 1; k < n; k++)
		two(k > 1 ? &all[k - 2] : NULL, &all[k - 1], &all[k], &most_true, &most_false);
	printf("line %p %lu %lu %lu %lu %lu\n", (void *)memory[line], handovers, returns, most_true, most_false, possible(line));
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
