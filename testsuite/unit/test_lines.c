// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_lines - samples of cache lines: verdicts, parts and counts against the stupidest model, and what is advised.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "runtime/report/lines.h"
#include "runtime/report/lines_advice.h"
#include "runtime/report/lines_judge.h"
#include "runtime/report/lines_rows.h"
#include "runtime/user/stream_frame.h"

#define AREA 0x10000000u

enum { LINES = 8, THREADS = 4, STEPS = 4000, ROUNDS = 40, SITES = 5 };

struct stage {
	struct images *images;
	struct variables *variables;
	struct spaces *spaces;
	struct lines *lines;
	struct callers *callers;
	struct code_callers *code;
};

static void map(struct stage *s, uint32_t mm, uint32_t pid, uint8_t prot)
{
	struct hvar_event ev = { .type = HVAR_EVENT_INITIAL, .mm = mm, .pid = pid, .tid = pid };

	ev.u.map.start = AREA;
	ev.u.map.end = AREA + 0x10000;
	ev.u.map.prot = prot;
	ev.u.map.region = prot & HVAR_PROT_SHARED ? HVAR_REGION_SHM : HVAR_REGION_ANON;
	spaces_event(s->spaces, &ev);
}

static struct stage stage(void)
{
	struct stage s = { .images = images_new(false), .spaces = spaces_new(), .callers = callers_new() };

	assert_non_null(s.images);
	assert_non_null(s.spaces);
	s.variables = variables_new(s.images, false, false);
	assert_non_null(s.variables);
	assert_non_null(s.callers);
	s.code = code_callers_new(s.images, s.callers);
	assert_non_null(s.code);
	s.lines = lines_new(s.images, s.variables, NULL, s.code);
	assert_non_null(s.lines);
	map(&s, 1, 7, HVAR_PROT_READ | HVAR_PROT_WRITE);
	map(&s, 2, 8, HVAR_PROT_READ | HVAR_PROT_WRITE);
	return s;
}

static void end(struct stage *s)
{
	lines_free(s->lines);
	code_callers_free(s->code);
	callers_free(s->callers);
	variables_free(s->variables);
	spaces_free(s->spaces);
	images_free(s->images);
}

/* Code that does accesses, by number. */
static struct code_site code_of(uint32_t n)
{
	return (struct code_site){ .mm = 1, .where = AREA + 0x8000 + 4 * n };
}

static void access_from(struct stage *s, uint32_t mm, uint32_t tid, const struct code_site *at, uint64_t offset, uint32_t size,
			uint32_t flags)
{
	const struct hvar_event ev = { .type = HVAR_EVENT_SAMPLE, .mm = mm, .pid = mm + 6, .tid = tid };

	lines_access(s->lines, s->spaces, &ev, at, AREA + offset, size, flags, 1);
}

static void access_by(struct stage *s, uint32_t mm, uint32_t tid, uint64_t offset, uint32_t size, uint32_t flags)
{
	access_from(s, mm, tid, NULL, offset, size, flags);
}

static const struct line *line_of(const struct stage *s, uint32_t mm, uint64_t offset)
{
	size_t i;

	for (i = 0; i < lines_n(s->lines); i++)
		if (lines_at(s->lines, i)->addr == AREA + offset && lines_at(s->lines, i)->mm == mm)
			return lines_at(s->lines, i);
	return NULL;
}

/* ---- against the model ---- */

static struct one {
	uint32_t tid, at, size, flags, code;
} did[STEPS];

/* Has thread @tid done something to byte @b (with @flags) in the first @n steps? */
static bool has(unsigned n, uint32_t tid, uint32_t b, uint32_t flags)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (did[i].tid == tid && did[i].flags & flags && b >= did[i].at && b < did[i].at + did[i].size)
			return true;
	return false;
}

static uint64_t count(uint32_t tid, uint32_t line, uint32_t flags)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < STEPS; i++)
		n += did[i].tid == tid && did[i].at / 64 == line && did[i].flags & flags;
	return n;
}

/* No thread gets it oftener than it is there, or than others write; and who is the first does not get it. */
static uint64_t most_possible(uint32_t line)
{
	uint64_t all = 0, writes = 0, sum = 0;
	uint32_t t;

	for (t = 1; t <= THREADS; t++) {
		all += count(t, line, HVAR_ACCESS_READ) + count(t, line, HVAR_ACCESS_WRITE);
		writes += count(t, line, HVAR_ACCESS_WRITE);
	}
	for (t = 1; t <= THREADS; t++) {
		uint64_t w = count(t, line, HVAR_ACCESS_WRITE), n = count(t, line, HVAR_ACCESS_READ) + w;

		sum += n < writes - w ? n : writes - w;
	}
	return sum < all - 1 ? sum : all - 1;
}

static void check_verdict(const struct line *l, uint32_t line)
{
	uint64_t most_true = 0, most_false = 0, turns = 0, seen = 0, possible;
	enum line_verdict want;
	struct line_judged j;
	uint32_t a, b, i, before = 0;

	for (a = 1; a <= THREADS; a++) {
		for (b = a + 1; b <= THREADS; b++) {
			uint64_t ra = count(a, line, HVAR_ACCESS_READ), wa = count(a, line, HVAR_ACCESS_WRITE);
			uint64_t rb = count(b, line, HVAR_ACCESS_READ), wb = count(b, line, HVAR_ACCESS_WRITE), most = 0;
			bool common = false;

			for (i = 64 * line; i < 64 * line + 64; i++)
				common = common || (has(STEPS, a, i, HVAR_ACCESS_WRITE) && has(STEPS, b, i, 3)) ||
					 (has(STEPS, b, i, HVAR_ACCESS_WRITE) && has(STEPS, a, i, 3));
			/* Each gets the line from the other as often as it is there, but not oftener than the other writes. */
			most = (ra + wa < wb ? ra + wa : wb) + (rb + wb < wa ? rb + wb : wa);
			most_true += common ? most : 0;
			most_false += common ? 0 : most;
		}
	}
	for (i = 0; i < STEPS; i++) {
		if (did[i].at / 64 != line)
			continue;
		turns += before && did[i].tid != before && seen >> did[i].tid & 1;
		seen |= (uint64_t)1 << did[i].tid;
		before = did[i].tid;
	}
	lines_judge(l, &j);
	possible = most_possible(line);
	assert_true(j.most_true <= most_true);
	if (most_true + most_false <= possible) {
		assert_int_equal(j.most_true, most_true);
		assert_int_equal(j.most_false, most_false);
	} else {
		assert_int_equal(j.most_true + j.most_false, possible);
		most_true = j.most_true;
		most_false = j.most_false;
	}
	assert_int_equal(l->turns, turns);
	if (!(most_true + most_false))
		want = LINE_NONE;
	else if (turns < 2)
		want = LINE_ONCE;
	else if (most_false * 10 <= most_true + most_false && most_false < (most_true + most_false) / 10 + 1)
		want = LINE_TRUE;
	else if (most_true < (most_true + most_false) / 10 + 1)
		want = LINE_FALSE;
	else
		want = LINE_BOTH;
	assert_int_equal(j.verdict, want);
}

static void check_parts(const struct line *l, uint32_t line)
{
	struct line_part p[LINES_SIZE];
	unsigned n = lines_parts(l, p), i, b, in;
	uint32_t t;

	for (b = 0; b < 64; b++) {
		bool touched = false;

		for (t = 1; t <= THREADS; t++)
			touched = touched || has(STEPS, t, 64 * line + b, 3);
		for (i = 0, in = 0; i < n; i++)
			in += b >= p[i].start && b < p[i].end;
		assert_in_range(in, touched, 1);
	}
	for (t = 0; t < l->n_threads; t++) {
		uint64_t reads = 0, writes = 0;

		for (i = 0; i < n; i++) {
			struct line_part_count c = lines_part_count(&p[i], &l->threads[t]);

			reads += c.reads;
			writes += c.writes;
		}
		assert_int_equal(reads, count(l->threads[t].tid, line, HVAR_ACCESS_READ));
		assert_int_equal(writes, count(l->threads[t].tid, line, HVAR_ACCESS_WRITE));
	}
}

/* By which code, from when on a second thread has it. */
static void check_sites(const struct stage *s, const struct line *l, uint32_t line)
{
	uint64_t reads[THREADS + 1][SITES] = { { 0 } }, writes[THREADS + 1][SITES] = { { 0 } };
	uint32_t words[THREADS + 1][SITES] = { { 0 } }, first = 0, i, n = 0, code, w;
	bool shared = false;

	for (i = 0; i < STEPS; i++) {
		if (did[i].at / 64 != line)
			continue;
		first = first ? first : did[i].tid;
		shared = shared || did[i].tid != first;
		if (!shared)
			continue;
		reads[did[i].tid][did[i].code] += did[i].flags & HVAR_ACCESS_READ ? 1 : 0;
		writes[did[i].tid][did[i].code] += did[i].flags & HVAR_ACCESS_WRITE ? 1 : 0;
		for (w = 0; w < 16; w++)
			if (did[i].at % 64 < 4 * w + 4 && did[i].at % 64 + did[i].size > 4 * w)
				words[did[i].tid][did[i].code] |= 1u << w;
	}
	for (i = 1; i <= THREADS; i++)
		for (code = 0; code < SITES; code++)
			n += words[i][code] != 0;
	assert_int_equal(l->n_sites, n);
	for (i = 0; i < n; i++) {
		const struct line_site *x = &l->sites[i];
		uint32_t tid = l->threads[x->thread].tid, caller = 0;

		for (code = 0; code < SITES; code++) {
			const struct code_site at = code_of(code);

			assert_true(code_callers_number(s->code, &at, false, &caller));
			if (caller == x->caller)
				break;
		}
		assert_in_range(code, 0, SITES - 1);
		assert_int_equal(x->reads, reads[tid][code]);
		assert_int_equal(x->writes, writes[tid][code]);
		assert_int_equal(x->words, words[tid][code]);
	}
}

static void random_accesses(void **state)
{
	unsigned round, i;

	(void)state;
	srand(1);
	for (round = 0; round < ROUNDS; round++) {
		struct stage s = stage();
		uint32_t kind = round % 5, line;

		for (i = 0; i < STEPS; i++) {
			struct one *o = &did[i];
			struct code_site at;

			o->tid = i && rand() % 2 ? did[i - 1].tid : 1 + (uint32_t)rand() % THREADS;
			if (kind == 4) /* one after the other */
				o->tid = 1 + i * THREADS / STEPS;
			o->size = 1u << rand() % 4;
			o->at = (uint32_t)rand() % (64 * LINES / o->size) * o->size;
			if (kind < 2 && rand() % 100 >= (int)(5 * kind)) /* to each its own */
				o->at = o->at / 64 * 64 + 16 * (o->tid - 1) + o->at % 16;
			o->flags = 1 + (uint32_t)rand() % 3;
			if (kind == 3)
				o->flags = o->tid == 1 ? HVAR_ACCESS_WRITE : HVAR_ACCESS_READ;
			o->code = (uint32_t)rand() % SITES;
			at = code_of(o->code);
			access_from(&s, 1, o->tid, &at, o->at, o->size, o->flags);
		}
		for (line = 0; line < LINES; line++) {
			const struct line *l = line_of(&s, 1, 64 * line);

			assert_non_null(l);
			if (line == round % LINES) /* the model is slow */
				check_verdict(l, line);
			check_parts(l, line);
			check_sites(&s, l, line);
		}
		end(&s);
	}
}

/* ---- by hand ---- */

static void across_lines(void **state)
{
	struct stage s = stage();

	(void)state;
	access_by(&s, 1, 1, 60, 8, HVAR_ACCESS_WRITE);
	assert_int_equal(lines_n(s.lines), 2);
	assert_int_equal(line_of(&s, 1, 0)->threads[0].written, 0xf000000000000000u);
	assert_int_equal(line_of(&s, 1, 64)->threads[0].written, 0xf);
	access_by(&s, 1, 1, 0x20000, 8, HVAR_ACCESS_WRITE); /* not mapped */
	assert_int_equal(lines_n(s.lines), 2);
	end(&s);
}

static void two_processes(void **state)
{
	struct line_judged j;
	struct stage s = stage();
	unsigned i;

	(void)state;
	/* private memory at one address is two lines, each of one thread */
	for (i = 0; i < 10; i++) {
		access_by(&s, 1, 7, 0, 8, HVAR_ACCESS_WRITE);
		access_by(&s, 2, 8, 0, 8, HVAR_ACCESS_WRITE);
	}
	assert_int_equal(lines_n(s.lines), 2);
	lines_judge(lines_at(s.lines, 0), &j);
	assert_int_equal(j.verdict, LINE_NONE);
	lines_judge(lines_at(s.lines, 1), &j);
	assert_int_equal(j.verdict, LINE_NONE);
	end(&s);
}

/* One load or store of 8 bytes that a PMU told of: @hitm, the line was modified in another cache. */
static void told(struct stage *s, uint32_t tid, uint64_t offset, uint32_t flags, uint64_t weight, bool hitm)
{
	struct stream_access a = { .ev = { .type = HVAR_EVENT_ACCESS, .mm = 1, .pid = 7, .tid = tid } };
	union perf_mem_data_src source = { .val = 0 };

	a.ev.u.access.addr = AREA + offset;
	a.ev.u.access.size = 8;
	a.ev.u.access.flags = flags;
	a.ev.u.access.weight = weight << 16;
	source.mem_snoop = hitm ? PERF_MEM_SNOOP_HITM : PERF_MEM_SNOOP_MISS;
	a.source = source.val;
	lines_pmu(s->lines, s->spaces, &a);
}

/* Two lines shared by the same accesses: the processor saw one of them in other caches. */
static void pmu(void **state)
{
	struct stage s = stage();
	struct lines_rows r;
	unsigned i;

	(void)state;
	for (i = 0; i < 10; i++) {
		told(&s, 7, 0, HVAR_ACCESS_WRITE, 1, false);
		told(&s, 8, 0, HVAR_ACCESS_READ, 1, false);
		told(&s, 7, 128, HVAR_ACCESS_WRITE, 1, false);
		told(&s, 8, 136, HVAR_ACCESS_WRITE, 3, true);
	}
	assert_int_equal(lines_rows_make(&r, s.lines), 0);
	assert_int_equal(r.n, 2);
	assert_true(r.pmu);
	assert_int_equal(r.v[0].line->addr, AREA + 128);
	assert_int_equal(r.v[0].line->hitm, 30);
	assert_int_equal(r.v[0].judged.verdict, LINE_FALSE);
	assert_true(r.v[0].share > 0.999);
	assert_int_equal(r.v[1].line->hitm, 0);
	assert_int_equal(r.v[1].judged.verdict, LINE_TRUE);
	lines_rows_fini(&r);
	end(&s);
}

/* A whole record, and what may not be in one. */
static void records(void **state)
{
	static const char stack[] = "f\0a.c\0007\0m\00010";
	struct {
		struct stream_line line;
		struct stream_line_part parts[2];
		struct stream_line_site site;
		char text[sizeof(stack)];
	} r, bad;
	const uint32_t len = (uint32_t)(offsetof(__typeof__(r), text) + sizeof(stack));
	struct stage s = stage();
	struct line_part p[LINES_SIZE];

	(void)state;
	memset(&r, 0, sizeof(r));
	r.line = (struct stream_line){ .mm = 1, .pid = 7, .addr = AREA, .handovers = 5, .returns = 4, .most_false = 9, .n_parts = 2,
				       .n_sites = 1 };
	r.parts[0] = (struct stream_line_part){ .tid = 7, .written = 0xff, .object = AREA - 16, .object_size = 56,
						.heap_len = sizeof(stack) };
	r.parts[0].writes[0] = 3;
	r.parts[1] = (struct stream_line_part){ .tid = 9, .written = 0xffull << 48 };
	r.parts[1].writes[12] = 4;
	r.site = (struct stream_line_site){ .part = 1, .flags = HVAR_ACCESS_WRITE, .words = 1 << 12, .count = 4 };
	memcpy(r.text, stack, sizeof(stack));
	assert_true(stream_well_formed(STREAM_LINE, &r, len));
	lines_record(s.lines, s.spaces, &r.line);
	assert_int_equal(lines_n(s.lines), 1);
	assert_int_equal(lines_parts(lines_at(s.lines, 0), p), 2);
	assert_string_equal(lines_at(s.lines, 0)->names[p[0].first].name, "heap:f@a.c:7");
	assert_int_equal(lines_at(s.lines, 0)->names[p[0].first].offset, 16);
	assert_string_equal(lines_at(s.lines, 0)->names[p[1].first].name, "[anon]");
	assert_int_equal(lines_at(s.lines, 0)->sites[0].writes, 4);
	end(&s);
#define NOT(change)                                                                     \
	do {                                                                            \
		bad = r;                                                                \
		bad.change;                                                             \
		assert_false(stream_well_formed(STREAM_LINE, &bad, len));               \
	} while (0)
	NOT(line.mm = 0);
	NOT(line.addr += 8);
	NOT(line.n_parts = 0);
	NOT(line.n_parts = 3);
	NOT(line.n_parts = 1000000);
	NOT(line.n_sites = 2);
	NOT(line.n_sites = UINT32_MAX);
	NOT(line.returns = 6);
	NOT(line.handovers = (uint64_t)1 << 60);
	NOT(parts[0].heap_len = UINT32_MAX);
	NOT(parts[0].heap_len -= 1);
	NOT(parts[1].heap_len = 1);
	NOT(parts[0].object_size = UINT64_MAX);
	NOT(parts[0].mapped = 2);
	NOT(parts[1].writes[15] = UINT64_MAX);
	NOT(site.part = 2);
	NOT(site.caller = 1u << 24);
	NOT(site.flags = 3);
	NOT(site.words = 1 << 16);
	NOT(text[sizeof(stack) - 1] = 'x');
	NOT(text[1] = 'x'); /* four strings */
#undef NOT
	assert_false(stream_well_formed(STREAM_LINE, &r, len - 1));
	assert_false(stream_well_formed(STREAM_LINE, &r, sizeof(r.line) - 8));
}

static struct line_name name(unsigned start, unsigned end_at, uint32_t symbol, uint64_t offset, char *text, char *path)
{
	return (struct line_name){ .start = (uint8_t)start, .end = (uint8_t)end_at, .member = true, .module = 1, .symbol = symbol,
				   .offset = offset, .size = 200, .name = text, .path = path };
}

/* Two threads, each at one of two names. */
static struct line_advice advice(struct line_name *names)
{
	struct line_thread threads[2] = { { .tid = 1, .mm = 1 }, { .tid = 2, .mm = 1 } };
	struct line l = { .names = names, .n_names = 2, .threads = threads, .n_threads = 2, .turns = 9 };
	struct line_judged j;
	struct line_advice out;
	unsigned i;

	for (i = 0; i < 2; i++) {
		threads[i].written = threads[i].read = (uint64_t)0xf << names[i].start;
		threads[i].writes[names[i].start / 4] = threads[i].reads[names[i].start / 4] = 50;
	}
	lines_judge(&l, &j);
	assert_int_equal(j.verdict, LINE_FALSE);
	lines_advise(&l, &j, &out);
	return out;
}

static void advices(void **state)
{
	static char a[] = "s.st.a", pa[] = ".st.a", b[] = "s.st.b.x", pb[] = ".st.b.x", c[] = "s.c", pc[] = ".c", d[] = "s.d", pd[] = ".d";
	static char e[] = "t[3].n", pe[] = "[3].n", f[] = "t[5].n", pf[] = "[5].n", g[] = "v", pg[] = "";
	struct line_advice x;

	(void)state;
	x = advice((struct line_name[]){ name(0, 4, 1, 64, c, pc), name(8, 12, 1, 72, d, pd) });
	assert_int_equal(x.what, LINE_ADVICE_MEMBER);
	assert_string_equal(x.name, ".d");
	assert_string_equal(x.of, "s");
	assert_int_equal(x.from, 72);
	assert_int_equal(x.to, 128);
	assert_int_equal(x.size, 200);
	assert_int_equal(x.new_size, 256); /* 128 more bytes from 128 on */
	x = advice((struct line_name[]){ name(0, 4, 1, 64, a, pa), name(8, 12, 1, 72, b, pb) });
	assert_int_equal(x.what, LINE_ADVICE_MEMBER);
	assert_string_equal(x.name, ".st.b");
	assert_int_equal(x.new_size, 0);
	x = advice((struct line_name[]){ name(0, 4, 1, 24, e, pe), name(16, 20, 1, 40, f, pf) });
	assert_int_equal(x.what, LINE_ADVICE_ELEMENT);
	assert_string_equal(x.name, "t");
	assert_int_equal(x.from, 8);
	assert_int_equal(x.to, 64);
	x = advice((struct line_name[]){ name(0, 4, 1, 0, c, pc), name(4, 8, 2, 0, g, pg) });
	assert_int_equal(x.what, LINE_ADVICE_VARIABLES);
	assert_string_equal(x.name, "s");
	assert_string_equal(x.of, "v");
	x = advice((struct line_name[]){ name(0, 4, HVAR_IMAGE_NONE, 0, g, pg), name(40, 44, HVAR_IMAGE_NONE, 0, g, pg) });
	assert_int_equal(x.what, LINE_ADVICE_APART);
	assert_int_equal(x.from, 40);
}

/* Of very many threads those with most accesses, wherever they stand: the two busy ones are the last. */
static void very_many_threads(void **state)
{
	enum { ALL = 5000, MET = 4096 };
	struct line_thread *threads = calloc(ALL, sizeof(*threads));
	struct line l = { .threads = threads, .n_threads = ALL, .turns = 9 };
	struct line_judged j;
	unsigned i;

	(void)state;
	assert_non_null(threads);
	for (i = 0; i < ALL; i++) {
		threads[i].tid = i + 1;
		threads[i].mm = 1;
		threads[i].written = 0xf;
		threads[i].writes[0] = i < ALL - 2 ? 1 : 100;
	}
	lines_judge(&l, &j);
	/* all write: as often as there are accesses, but for the first; no oftener than others write */
	assert_int_equal(j.most_true, ALL - 2 + 200 - 1);
	assert_int_equal(j.most_false, 0);
	assert_int_equal(j.verdict, LINE_TRUE);
	free(threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_accesses),
		cmocka_unit_test(across_lines),
		cmocka_unit_test(two_processes),
		cmocka_unit_test(pmu),
		cmocka_unit_test(records),
		cmocka_unit_test(advices),
		cmocka_unit_test(very_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
