// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_touched.c - touched pages against the stupidest model: a byte for each page of each address space.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/report/images.h"
#include "runtime/report/spaces.h"
#include "runtime/report/touched.h"

enum { PAGES = 40, SPACES = 5, STEPS = 4000, BASE = 0x10000 };

#define ADDR(page) (BASE + (uint64_t)(page) * 4096)

struct model {
	uint8_t what[SPACES][PAGES]; /* enum stream_touched_what; [mm - 1] */
	uint8_t peak[SPACES][PAGES]; /* the same at the first moment with the most */
	uint64_t most;
};

struct stage {
	struct images *images;
	struct spaces *spaces;
	struct touched *t;
	struct model m;
	uint64_t time_ns, seed;
	uint32_t n_mm; /* address spaces so far */
};

static uint32_t rnd(struct stage *s, uint32_t n)
{
	s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(s->seed >> 33) % n;
}

static void event(struct stage *s, struct hvar_event ev)
{
	ev.time_ns = s->time_ns += 1000000;
	touched_before(s->t, &ev);
	spaces_event(s->spaces, &ev);
	touched_after(s->t, &ev);
}

static void record(struct stage *s, struct stream_touched r)
{
	r.time_ns = s->time_ns += 1000000;
	r.pid = r.mm;
	touched_record(s->t, &r);
}

enum { TOUCHES = STREAM_TOUCHED_READ | STREAM_TOUCHED_WRITTEN | STREAM_TOUCHED_EXECUTED };

static uint64_t touched_in(uint8_t what[SPACES][PAGES])
{
	uint64_t n = 0;
	int m, p;

	for (m = 0; m < SPACES; m++)
		for (p = 0; p < PAGES; p++)
			n += !!(what[m][p] & TOUCHES);
	return n;
}

static void note(struct stage *s)
{
	uint64_t n = touched_in(s->m.what);

	if (n <= s->m.most)
		return;
	s->m.most = n;
	memcpy(s->m.peak, s->m.what, sizeof(s->m.peak));
}

static void map(struct stage *s, uint32_t mm, uint32_t type, int from, int to)
{
	struct hvar_event ev = { .type = type, .mm = mm, .pid = mm, .tid = mm };

	ev.u.map.start = ADDR(from);
	ev.u.map.end = ADDR(to);
	ev.u.map.prot = HVAR_PROT_READ | HVAR_PROT_WRITE;
	ev.u.map.region = HVAR_REGION_ANON;
	event(s, ev);
}

static void step(struct stage *s)
{
	uint32_t mm = 1 + rnd(s, s->n_mm), what;
	int from = (int)rnd(s, PAGES), to = from + 1 + (int)rnd(s, (uint32_t)(PAGES - from) < 6 ? (uint32_t)(PAGES - from) : 6), p;
	uint8_t *m = s->m.what[mm - 1];
	struct hvar_event fork = { .type = HVAR_EVENT_FORK, .mm = mm, .pid = mm, .tid = mm };

	if (to > PAGES)
		to = PAGES;
	switch (rnd(s, 20)) {
	case 0:
		map(s, mm, HVAR_EVENT_UNMAP, from, to);
		memset(m + from, 0, (size_t)(to - from));
		map(s, mm, HVAR_EVENT_MAP, from, to);
		break;
	case 1:
		record(s, (struct stream_touched){ .mm = mm, .what = STREAM_TOUCHED_BACK, .start = ADDR(from), .end = ADDR(to) });
		memset(m + from, 0, (size_t)(to - from));
		break;
	case 2:
		if (to > PAGES / 2)
			return;
		record(s, (struct stream_touched){ .mm = mm, .what = STREAM_TOUCHED_MOVED, .start = ADDR(PAGES / 2 + from),
						   .end = ADDR(PAGES / 2 + to), .from = ADDR(from) });
		for (p = from; p < to; p++) {
			if (m[p])
				m[PAGES / 2 + p] = m[p];
			m[p] = 0;
		}
		break;
	case 3:
		if (s->n_mm == SPACES || rnd(s, 40))
			return;
		fork.u.task.child = fork.u.task.child_pid = fork.u.task.child_mm = ++s->n_mm;
		event(s, fork);
		memcpy(s->m.what[s->n_mm - 1], m, PAGES);
		break;
	default:
		what = 1u << rnd(s, 5);
		if (what == STREAM_TOUCHED_BY_KERNEL)
			what |= STREAM_TOUCHED_READ;
		record(s, (struct stream_touched){ .mm = mm, .what = what, .start = ADDR(from), .end = ADDR(to) });
		for (p = from; p < to; p++)
			m[p] |= (uint8_t)what;
		break;
	}
	note(s);
}

static void begin(struct stage *s, uint64_t seed)
{
	struct hvar_event exec = { .type = HVAR_EVENT_EXEC, .mm = 1, .pid = 1, .tid = 1 };

	memset(s, 0, sizeof(*s));
	s->seed = seed;
	s->images = images_new(false);
	s->spaces = spaces_new();
	s->t = touched_new(s->images, s->spaces);
	assert_non_null(s->t);
	s->n_mm = 1;
	event(s, exec);
	map(s, 1, HVAR_EVENT_INITIAL, 0, PAGES);
}

static void end(struct stage *s)
{
	touched_free(s->t);
	spaces_free(s->spaces);
	images_free(s->images);
}

/* The pages that are said to have been there at the peak, and nothing else. */
static void check_peak(struct stage *s)
{
	struct touched_result r;
	uint8_t seen[SPACES][PAGES] = { { 0 } };
	uint64_t n = 0, most = 0;
	size_t i;

	assert_int_equal(touched_finish(s->t, &r), 0);
	assert_int_equal(r.peak.pages, s->m.most);
	assert_int_equal(r.lost, 0);
	for (i = 0; i < r.n_pages; i++) {
		uint64_t page = (r.pages[i].addr - BASE) / 4096;
		uint32_t mm = r.areas[r.pages[i].area].mm;

		assert_in_range(mm, 1, SPACES);
		assert_in_range(page, 0, PAGES - 1);
		if (r.pages[i].what & TOUCHES && s->m.peak[mm - 1][page] & TOUCHES) {
			seen[mm - 1][page] = STREAM_TOUCHED_READ;
			n++;
		}
	}
	assert_int_equal(n, s->m.most);
	assert_int_equal(touched_in(seen), s->m.most);
	for (i = 0; i < r.n_points; i++) {
		if (r.points[i].sum.pages > most)
			most = r.points[i].sum.pages;
		if (i)
			assert_true(r.points[i].time_ns > r.points[i - 1].time_ns);
	}
	assert_int_equal(most, s->m.most);
	n = 0;
	for (i = 0; i < r.n_areas; i++)
		n += r.areas[i].touched;
	assert_int_equal(n, s->m.most);
}

static void random_steps(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		struct stage s;
		int i, n = seed % 2 ? STEPS : (int)(seed * 7);

		begin(&s, seed);
		for (i = 0; i < n; i++)
			step(&s);
		check_peak(&s);
		end(&s);
	}
}

/* A process that ends gives its pages back; one that executes begins with none. */
static void tasks(void **state)
{
	struct stage s;
	struct hvar_event fork = { .type = HVAR_EVENT_FORK, .mm = 1, .pid = 1, .tid = 1 };
	struct hvar_event exec = { .type = HVAR_EVENT_EXEC, .mm = 3, .pid = 2, .tid = 2 };
	struct hvar_event exits = { .type = HVAR_EVENT_EXIT, .mm = 1, .pid = 1, .tid = 1 };
	struct touched_result r;

	(void)state;
	begin(&s, 1);
	record(&s, (struct stream_touched){ .mm = 1, .what = STREAM_TOUCHED_WRITTEN, .start = ADDR(0), .end = ADDR(10) });
	fork.u.task.child = fork.u.task.child_pid = fork.u.task.child_mm = 2;
	event(&s, fork);
	event(&s, exec);
	map(&s, 3, HVAR_EVENT_INITIAL, 0, PAGES);
	record(&s, (struct stream_touched){ .mm = 3, .what = STREAM_TOUCHED_EXECUTED, .start = ADDR(0), .end = ADDR(3) });
	event(&s, exits);
	record(&s, (struct stream_touched){ .mm = 3, .what = STREAM_TOUCHED_READ, .start = ADDR(3), .end = ADDR(9) });
	assert_int_equal(touched_finish(s.t, &r), 0);
	assert_int_equal(r.peak.pages, 20);
	assert_int_equal(r.peak.code, 0);
	assert_int_equal(r.ever, 10 + 10 + 3 + 6);
	assert_int_equal(r.points[r.n_points - 1].sum.pages, 9);
	assert_int_equal(r.points[r.n_points - 1].sum.code, 3);
	end(&s);
}

static void resize(struct stage *s, uint32_t type, int from, int to, int old_from, int old_to)
{
	struct hvar_event ev = { .type = type, .mm = 1, .pid = 1, .tid = 1 };

	ev.u.map.start = ADDR(from);
	ev.u.map.end = ADDR(to);
	ev.u.map.old_start = ADDR(old_from);
	ev.u.map.old_end = ADDR(old_to);
	ev.u.map.prot = HVAR_PROT_READ | HVAR_PROT_WRITE;
	ev.u.map.region = HVAR_REGION_ANON;
	event(s, ev);
}

static void write_to(struct stage *s, int from, int to)
{
	record(s, (struct stream_touched){ .mm = 1, .what = STREAM_TOUCHED_WRITTEN, .start = ADDR(from), .end = ADDR(to) });
}

/* An area that grows has the pages of what it grew by, and what it shrinks by takes its pages away. */
static void resized(void **state)
{
	struct stage s;
	struct touched_result r;

	(void)state;
	begin(&s, 1);
	resize(&s, HVAR_EVENT_GROW, 0, PAGES + 20, 0, PAGES);
	write_to(&s, 2, 8);
	write_to(&s, PAGES, PAGES + 20);
	resize(&s, HVAR_EVENT_SHRINK, 0, PAGES, 0, PAGES + 20);
	resize(&s, HVAR_EVENT_SHRINK, 4, PAGES, 0, PAGES);
	write_to(&s, PAGES - 1, PAGES);
	assert_int_equal(touched_finish(s.t, &r), 0);
	assert_int_equal(r.lost + r.unplaced, 0);
	assert_int_equal(r.peak.pages, 26);
	assert_int_equal(r.n_areas, 1);
	assert_int_equal(r.areas[0].vma.end, ADDR(PAGES + 20));
	assert_int_equal(r.areas[0].touched, 26);
	assert_int_equal(r.n_pages, 26);
	assert_int_equal(r.n_points, 5);
	assert_int_equal(r.points[2].sum.pages, 6);
	assert_int_equal(r.points[3].sum.pages, 4);
	assert_int_equal(r.points[4].sum.pages, 5);
	end(&s);
}

/* What mremap has moved is touched where it is now, what had no room there is gone, and that is not touched anew. */
static void moved(void **state)
{
	struct stage s;
	struct touched_result r;

	(void)state;
	begin(&s, 1);
	write_to(&s, 10, 18);
	resize(&s, HVAR_EVENT_MOVE, PAGES + 10, PAGES + 15, 10, 20);
	write_to(&s, PAGES + 10, PAGES + 15);
	write_to(&s, 0, 9);
	assert_int_equal(touched_finish(s.t, &r), 0);
	assert_int_equal(r.lost + r.unplaced, 0);
	assert_int_equal(r.points[1].sum.pages, 5);
	assert_int_equal(r.peak.pages, 14);
	assert_int_equal(r.ever, 8 + 9);
	assert_int_equal(r.n_pages, 14);
	assert_int_equal(r.pages[9].addr, ADDR(PAGES + 10));
	end(&s);
}

/* Pages without an area are said to be that, not to have found no memory. */
static void nowhere(void **state)
{
	struct stage s;
	struct touched_result r;

	(void)state;
	begin(&s, 1);
	write_to(&s, PAGES + 1, PAGES + 4);
	assert_int_equal(touched_finish(s.t, &r), 0);
	assert_int_equal(r.lost, 0);
	assert_int_equal(r.unplaced, 3);
	end(&s);
}

/* What a damaged recording says of terabytes is lost at once, and what else there is stays. */
static void terabytes(void **state)
{
	const uint64_t pages = (uint64_t)1 << 35;
	struct stage s;
	struct touched_result r;
	int i;

	(void)state;
	begin(&s, 1);
	record(&s, (struct stream_touched){ .mm = 1, .what = STREAM_TOUCHED_WRITTEN, .start = ADDR(0), .end = ADDR(10) });
	for (i = 0; i < 3; i++) {
		record(&s, (struct stream_touched){ .mm = 1, .what = STREAM_TOUCHED_READ, .start = 0, .end = pages * 4096 });
		record(&s, (struct stream_touched){ .mm = 1, .what = STREAM_TOUCHED_MOVED, .start = pages * 4096, .end = 2 * pages * 4096 });
		record(&s, (struct stream_touched){ .mm = 1, .what = STREAM_TOUCHED_BACK, .start = pages * 4096, .end = 2 * pages * 4096 });
	}
	assert_int_equal(touched_finish(s.t, &r), 0);
	assert_int_equal(r.peak.pages, 10);
	assert_int_equal(r.lost, 6 * pages);
	end(&s);

	begin(&s, 1);
	touched_most(s.t, 100);
	record(&s, (struct stream_touched){ .mm = 1, .what = STREAM_TOUCHED_READ, .start = ADDR(0), .end = ADDR(30) });
	record(&s, (struct stream_touched){ .mm = 1, .what = STREAM_TOUCHED_READ, .start = 0x10000000, .end = 0x10000000 + 6000 * 4096 });
	assert_int_equal(touched_finish(s.t, &r), 0);
	assert_in_range(r.peak.pages, 100, 5000);
	assert_true(r.peak.pages + r.lost >= 6030); /* besides, some are in no area */
	end(&s);
}

/* Numbers of address spaces and addresses that no key holds are lost, and not taken for others'. */
static void no_key(void **state)
{
	const struct stream_touched odd[] = {
		{ .mm = 0x53ec6001, .start = ADDR(0), .end = ADDR(2) },
		{ .mm = 0x10000000, .start = 0, .end = ADDR(0) },
		{ .mm = 1, .start = (uint64_t)1 << 48, .end = ((uint64_t)1 << 48) + 0x3000 },
	};
	struct stage s;
	struct touched_result r;
	size_t i;

	(void)state;
	begin(&s, 1);
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct stream_touched one = odd[i];

		one.what = STREAM_TOUCHED_READ;
		record(&s, one);
		one.what = STREAM_TOUCHED_BACK;
		record(&s, one);
	}
	record(&s, (struct stream_touched){ .mm = 1, .what = STREAM_TOUCHED_WRITTEN, .start = ADDR(0), .end = ADDR(4) });
	event(&s, (struct hvar_event){ .type = HVAR_EVENT_UNMAP, .mm = 0x10000001, .u.map = { .start = ADDR(0), .end = ADDR(4) } });
	assert_int_equal(touched_finish(s.t, &r), 0);
	assert_int_equal(r.peak.pages, 4);
	assert_int_equal(r.areas[0].touched, 4);
	assert_int_equal(r.lost, 2 + 0x10 + 3);
	end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_steps),
		cmocka_unit_test(tasks),
		cmocka_unit_test(resized),
		cmocka_unit_test(moved),
		cmocka_unit_test(nowhere),
		cmocka_unit_test(terabytes),
		cmocka_unit_test(no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
