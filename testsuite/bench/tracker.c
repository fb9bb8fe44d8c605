// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracker.c - what following a map costs, at few and at many areas.
 *
 * The tracker follows this very process.  Only its own work is timed, not the
 * calls it is told of.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/user/tracker.h"

enum { PG = 4096, PAIRS = 20000, LOOKS = 20 };

static struct stream *s;
static struct stream_reader *r;

/* CPU time, of which others on the machine take none. */
static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The reader's part: not what is measured, but without it the queue would grow. */
static void drain(void)
{
	struct stream_record rec;

	stream_put_meta(s, "mark", "%d", 1);
	stream_flush(s);
	while (stream_next(r, &rec) == 1 && rec.type != STREAM_META)
		;
}

static void told(struct tracker *t, uint32_t cause, uint64_t a0, uint64_t len, int64_t ret,
		 uint64_t *sum)
{
	struct hvar_call c = { .cause = cause, .args = { a0, len, PROT_READ,
							 MAP_PRIVATE | MAP_ANONYMOUS, -1ull, 0 },
			       .ret = ret };
	uint64_t before = now();

	tracker_call(t, getpid(), &c, before);
	*sum += now() - before;
}

/* Nanoseconds for one mmap and its munmap. */
static double pair(struct tracker *t)
{
	uint64_t sum = 0;

	for (int i = 0; i < PAIRS; i++) {
		char *p = mmap(NULL, 4 * PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		told(t, HVAR_CAUSE_MMAP, 0, 4 * PG, (int64_t)(intptr_t)p, &sum);
		munmap(p, 4 * PG);
		told(t, HVAR_CAUSE_MUNMAP, (uint64_t)(uintptr_t)p, 4 * PG, 0, &sum);
		if (i % 256 == 0)
			drain();
	}
	return (double)sum / PAIRS;
}

static double look(struct tracker *t)
{
	uint64_t sum = 0;

	for (int i = 0; i < LOOKS; i++) {
		uint64_t before = now();

		tracker_look(t, getpid(), 0, UINT64_MAX, HVAR_CAUSE_NONE, before);
		sum += now() - before;
		drain();
	}
	return (double)sum / LOOKS;
}

int main(void)
{
	static const size_t areas[] = { 100, 10000, 60000 };
	double pairs[3], looks[3];
	struct err e = { 0 };
	struct tracker *t;
	size_t have = 0;
	char *p;

	s = stream_to_queue(&e);
	r = s ? stream_reader_of_queue(s) : NULL;
	t = r ? tracker_new(s, &e) : NULL;
	p = mmap(NULL, 60000 * PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!t || p == MAP_FAILED || tracker_add(t, getpid(), getpid(), now(), &e)) {
		fprintf(stderr, "bench tracker: %s\n", e.text);
		return 1;
	}
	for (int i = 0; i < 3; i++) {
		for (; have + 1 < areas[i]; have += 2)
			if (mprotect(p + have * PG, PG, PROT_NONE)) {
				perror("bench tracker: mprotect");
				return 77; /* vm.max_map_count is lower here */
			}
		tracker_look(t, getpid(), 0, UINT64_MAX, HVAR_CAUSE_NONE, now());
		drain();
		pairs[i] = pair(t);
		looks[i] = look(t);
		fprintf(stderr, "%6zu areas: %7.2f us for an mmap and its munmap, %9.1f us for a look at all\n",
			areas[i], pairs[i] / 1000, looks[i] / 1000);
	}
	printf("bench tracker_pair_60000_to_100 ratio %.2f goal <= 2\n", pairs[2] / pairs[0]);
	printf("bench tracker_pair_to_look_at_100 ratio %.3f goal <= 0.5\n", pairs[0] / looks[0]);
	tracker_free(t);
	stream_close(s, NULL);
	stream_reader_free(r);
	return 0;
}
