// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O1 -g -pthread */
/*
 * heap_random.c - objects that come, grow, move and go at random, in three threads, with accesses of every width.
 *
 * heap_random SEED STEPS; prints what heap_objects does, from a model: of each 8 bytes of each object whether an access began
 * there or may have reached there.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, OBJECTS = 60, SITES = 6, MOST = 70000, WORDS = MOST / 8 + 3 };

struct object {
	char *p;
	long size;
	int site;
	uint8_t read[WORDS], written[WORDS];
};

struct sums {
	long reads, writes, objects, bytes, live, live_bytes, never_read, never_written, threads;
};

struct worker {
	pthread_t thread;
	uint64_t random;
	long steps;
	struct object objects[OBJECTS];
	struct sums sums[SITES];
};

static struct worker workers[THREADS];
static int lines[SITES];
static __thread long got;
static __thread char got16[16] __attribute__((aligned(16)));

#define SITE(n, call)                                                             \
	static __attribute__((noinline)) void *site_##n(void *p, long size, long align) \
	{                                                                         \
		(void)p, (void)align;                                             \
		lines[n] = __LINE__;                                              \
		p = call;                                                         \
		return p;                                                         \
	}
SITE(0, malloc((size_t)size))
SITE(1, malloc((size_t)size))
SITE(2, calloc(1, (size_t)size))
SITE(3, memalign((size_t)align, (size_t)size))
SITE(4, realloc(p, (size_t)size))
SITE(5, realloc(p, (size_t)size))

static void *(*const sites[SITES])(void *, long, long) = { site_0, site_1, site_2, site_3, site_4, site_5 };

static long below(struct worker *w, long n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (long)((w->random >> 33) % (uint64_t)n);
}

static long some_size(struct worker *w)
{
	long most = below(w, 20) ? 300 : below(w, 4) ? 6000 : MOST;

	return 1 + below(w, most);
}

static void begin(struct worker *w, struct object *o, int site, long size)
{
	struct sums *s = &w->sums[site];

	o->p = sites[site](o->p, size, 16L << below(w, 5));
	if (!o->p)
		abort();
	o->size = size;
	o->site = site;
	memset(o->read, 0, (size_t)(size / 8 + 3));
	memset(o->written, 0, (size_t)(size / 8 + 3));
	s->objects++;
	s->bytes += size;
	s->live++;
	s->live_bytes += size;
}

static void sum_up(struct worker *w, const struct object *o)
{
	struct sums *s = &w->sums[o->site];
	long i;

	for (i = 0; i < o->size; i++) {
		s->never_read += !o->read[i / 8];
		s->never_written += !o->written[i / 8];
	}
}

static void end(struct worker *w, struct object *o)
{
	sum_up(w, o);
	w->sums[o->site].live--;
	w->sums[o->site].live_bytes -= o->size;
}

static void touch(uint8_t *v, long offset, long width)
{
	v[offset / 8] = 1;
	if (width <= 8) {
		if (offset % 8)
			v[offset / 8 + 1] = 1;
		return;
	}
	v[(offset + width - 1) / 8] = v[(offset + width - 1) / 8 - 1] = 1;
	if (offset % 8)
		v[offset / 8 + 1] = 1;
}

static void load(const char *p, long width)
{
	switch (width) {
	case 1:
		got = *(const volatile int8_t *)p;
		break;
	case 2:
		__asm__ volatile("movswq %1, %0" : "=r"(got) : "m"(*(const int16_t *)p));
		break;
	case 4:
		__asm__ volatile("movslq %1, %0" : "=r"(got) : "m"(*(const int32_t *)p));
		break;
	case 8:
		__asm__ volatile("movq %1, %0" : "=r"(got) : "m"(*(const int64_t *)p));
		break;
	default:
		__asm__ volatile("movups (%0), %%xmm0\n\tmovaps %%xmm0, (%1)" : : "r"(p), "r"(got16) : "xmm0", "memory");
	}
}

static void store(char *p, long width)
{
	switch (width) {
	case 1:
		__asm__ volatile("movb $1, (%0)" : : "r"(p) : "memory");
		break;
	case 2:
		__asm__ volatile("movw $1, (%0)" : : "r"(p) : "memory");
		break;
	case 4:
		__asm__ volatile("movl $1, (%0)" : : "r"(p) : "memory");
		break;
	case 8:
		__asm__ volatile("movq $1, (%0)" : : "r"(p) : "memory");
		break;
	default:
		__asm__ volatile("pxor %%xmm0, %%xmm0\n\tmovups %%xmm0, (%0)" : : "r"(p) : "xmm0", "memory");
	}
}

static void access_some(struct worker *w, struct object *o)
{
	struct sums *s = &w->sums[o->site];
	long n = 1 + below(w, 8);

	s->threads = 1;
	while (n--) {
		long width = 1L << below(w, 5), offset;

		if (width > o->size)
			width = 1;
		offset = below(w, o->size - width + 1);
		if (below(w, 2))
			offset &= ~7L;
		if (below(w, 2)) {
			load(o->p + offset, width);
			touch(o->read, offset, width);
			s->reads++;
		} else {
			store(o->p + offset, width);
			touch(o->written, offset, width);
			s->writes++;
		}
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (w->steps--) {
		struct object *o = &w->objects[below(w, OBJECTS)];

		if (!o->p) {
			begin(w, o, (int)below(w, SITES), some_size(w));
		} else if (!below(w, 3)) {
			end(w, o);
			if (below(w, 3)) {
				free(o->p);
				o->p = NULL;
			} else {
				begin(w, o, 4 + (int)below(w, 2), some_size(w));
			}
		} else {
			access_some(w, o);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long seed = argc > 1 ? atol(argv[1]) : 1, steps = argc > 2 ? atol(argv[2]) : 20000;
	int t, i, site;

	for (t = 0; t < THREADS; t++) {
		workers[t].random = (uint64_t)(seed * THREADS + t);
		workers[t].steps = steps;
		pthread_create(&workers[t].thread, NULL, work, &workers[t]);
	}
	for (t = 0; t < THREADS; t++) {
		pthread_join(workers[t].thread, NULL);
		for (i = 0; i < OBJECTS; i++)
			if (workers[t].objects[i].p)
				sum_up(&workers[t], &workers[t].objects[i]);
	}
	for (site = 0; site < SITES; site++) {
		struct sums all = { 0 };

		for (t = 0; t < THREADS; t++) {
			const struct sums *s = &workers[t].sums[site];

			all.reads += s->reads;
			all.writes += s->writes;
			all.objects += s->objects;
			all.bytes += s->bytes;
			all.live += s->live;
			all.live_bytes += s->live_bytes;
			all.never_read += s->never_read;
			all.never_written += s->never_written;
			all.threads += s->threads;
		}
		printf("heap:site_%d@heap_random.c:%d %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", site, lines[site], all.reads, all.writes, all.objects,
		       all.bytes, all.live, all.live_bytes, all.never_read, all.never_written, all.threads);
	}
	return 0;
}
