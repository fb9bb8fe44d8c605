// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_analysis - events become rows, against the stupidest model: a table of pages for each process.
 *
 * Random mappings of three libraries, of shared and private memory, forks, execs
 * and exits, with accesses in between; the model counts each access under the name
 * that its page has at that moment.  The libraries' symbols are known by construction:
 * variable k of library L covers bytes [256 k, 256 k + 192) of its data page.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_vmas.h"
#include "runtime/report/analysis.h"
#include "runtime/report/rows.h"
#include "runtime/user/stream.h"
#include "testsuite/golden/tiny_elf.h"
#include "translator-hooks/image_build.h"

enum { LIBS = 3, VARS = 16, PROCS = 8, PAGES = 48, PAGE = 4096, STEPS = 20000, NAMES = 256 };

#define BASE UINT64_C(0x7f0000000000)

/* What a page holds. */
enum what { NOTHING, ANON, HEAP, SHM, LIB_TEXT, LIB_DATA };

struct page {
	enum what what;
	unsigned lib;
	bool read_only;
};

struct process {
	bool alive;
	uint32_t pid, mm;
	struct page pages[PAGES];
};

struct count {
	char name[64];
	uint32_t mm;
	uint64_t reads, writes;
};

static struct process procs[PROCS];
static uint32_t last_pid, last_mm;
static struct count counts[NAMES * PROCS];
static unsigned n_counts;
static uint64_t now, n_accesses;
static struct analysis *analysis;

static unsigned seed = 1;

static unsigned rnd(unsigned n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* ---- feeding ---- */

static void feed(enum stream_type type, const void *data, size_t len)
{
	struct stream_record r = { .type = type, .len = len, .data = data };

	analysis_record(analysis, &r);
}

static void feed_library(unsigned lib)
{
	struct tiny_elf t = { .n_segs = 2, .n_sections = 2, .n_syms = VARS };
	struct stream_module *m;
	struct stream_image *im;
	char names[VARS][32], path[64];
	void *elf, *image;
	size_t n = 0, size = 0;
	struct err e;
	unsigned k;

	t.segs[0] = (struct tiny_seg){ 0, 0, PAGE, PAGE, PF_R | PF_X };
	t.segs[1] = (struct tiny_seg){ PAGE, PAGE, PAGE, PAGE, PF_R | PF_W };
	t.sections[0] = (struct tiny_section){ ".text", 512, 512, PAGE - 512, SHF_EXECINSTR, SHT_PROGBITS };
	t.sections[1] = (struct tiny_section){ ".data", PAGE, PAGE, PAGE, SHF_WRITE, SHT_PROGBITS };
	for (k = 0; k < VARS; k++) {
		snprintf(names[k], sizeof(names[k]), "lib%u_var%u", lib, k);
		t.syms[k] = (struct tiny_sym){ .name = names[k], .vaddr = PAGE + 256 * k, .size = 192,
					       .section = 1, .type = STT_OBJECT, .bind = STB_GLOBAL };
	}
	elf = tiny_elf_build(&t, &n);
	assert_non_null(elf);
	assert_int_equal(image_build_mem(elf, n, "library", &image, &size, &e), 0);

	snprintf(path, sizeof(path), "/lib/lib%u.so", lib);
	m = calloc(1, sizeof(*m) + sizeof(path));
	m->id = lib + 1;
	m->path_len = (uint32_t)strlen(path);
	m->m.ino = 100 + lib;
	m->m.flags = HVAR_MODULE_ELF;
	memcpy(m->path, path, m->path_len);
	feed(STREAM_MODULE, m, sizeof(*m) + m->path_len);
	im = calloc(1, sizeof(*im) + size);
	im->module = lib + 1;
	memcpy(im->bytes, image, size);
	feed(STREAM_IMAGE, im, sizeof(*im) + size);
	free(im);
	free(m);
	free(image);
	free(elf);
}

static struct hvar_event event(uint32_t type, const struct process *p)
{
	struct hvar_event ev = { .time_ns = ++now, .type = type, .mm = p->mm, .pid = p->pid, .tid = p->pid };

	return ev;
}

/* Pages [from, from + n) of @p hold @what now, as one mapping. */
static void map(struct process *p, unsigned from, unsigned n, struct page what, uint64_t pgoff)
{
	struct hvar_event ev = event(what.what == NOTHING ? HVAR_EVENT_UNMAP : HVAR_EVENT_MAP, p);
	unsigned i;

	ev.u.map.start = BASE + (uint64_t)from * PAGE;
	ev.u.map.end = ev.u.map.start + (uint64_t)n * PAGE;
	ev.u.map.pgoff = pgoff;
	ev.u.map.prot = what.what == NOTHING ? 0 : HVAR_PROT_READ | HVAR_PROT_WRITE;
	switch (what.what) {
	case NOTHING:
		break;
	case ANON:
		ev.u.map.region = HVAR_REGION_ANON;
		break;
	case HEAP:
		ev.u.map.region = HVAR_REGION_HEAP;
		break;
	case SHM:
		ev.u.map.region = HVAR_REGION_SHM;
		ev.u.map.prot |= HVAR_PROT_SHARED;
		break;
	case LIB_TEXT:
		ev.u.map.prot = HVAR_PROT_READ | HVAR_PROT_EXEC;
		/* fall through */
	case LIB_DATA:
		ev.u.map.region = HVAR_REGION_FILE;
		ev.module = what.lib + 1;
		if (what.read_only)
			ev.u.map.prot = HVAR_PROT_READ;
	}
	feed(STREAM_EVENT, &ev, sizeof(ev));
	for (i = 0; i < n; i++)
		p->pages[from + i] = what;
}

/* As a loader does: text and data next to each other. */
static void load(struct process *p, unsigned from, unsigned lib)
{
	map(p, from, 1, (struct page){ LIB_TEXT, lib, false }, 0);
	map(p, from + 1, 1, (struct page){ LIB_DATA, lib, false }, PAGE);
}

/* What is left of a library without its other half has no names: take both away. */
static void clear(struct process *p, unsigned from, unsigned n)
{
	if (from && p->pages[from].what == LIB_DATA) {
		from--;
		n++;
	}
	if (from + n < PAGES && p->pages[from + n - 1].what == LIB_TEXT)
		n++;
	map(p, from, n, (struct page){ NOTHING, 0, false }, 0);
}

/* ---- the model's rows ---- */

static void expect(const char *name, uint32_t mm, bool write)
{
	unsigned i;

	for (i = 0; i < n_counts; i++)
		if (!strcmp(counts[i].name, name) && counts[i].mm == mm)
			break;
	if (i == n_counts) {
		assert_true(n_counts < NAMES * PROCS);
		snprintf(counts[i].name, sizeof(counts[i].name), "%s", name);
		counts[i].mm = mm;
		counts[i].reads = counts[i].writes = 0;
		n_counts++;
	}
	if (write)
		counts[i].writes++;
	else
		counts[i].reads++;
	n_accesses++;
}

static void access_memory(const struct process *p, bool per_process)
{
	struct hvar_event ev = event(HVAR_EVENT_ACCESS, p);
	unsigned n = rnd(PAGES), in = rnd(PAGE);
	const struct page *page = &p->pages[n];
	bool write = rnd(2);
	char name[64];

	ev.u.access.addr = BASE + (uint64_t)n * PAGE + in;
	ev.u.access.weight = 65536;
	ev.u.access.size = 1;
	ev.u.access.flags = write ? HVAR_ACCESS_WRITE : HVAR_ACCESS_READ;
	switch (page->what) {
	case NOTHING:
		snprintf(name, sizeof(name), "[unmapped]");
		break;
	case ANON:
		snprintf(name, sizeof(name), "[anon]");
		break;
	case HEAP:
		snprintf(name, sizeof(name), "[heap]");
		break;
	case SHM:
		snprintf(name, sizeof(name), "[shm]");
		break;
	case LIB_TEXT:
		if (in < 512) /* the ELF header: no section */
			snprintf(name, sizeof(name), "?");
		else
			snprintf(name, sizeof(name), "lib%u.so:.text", page->lib);
		break;
	case LIB_DATA:
		if (in % 256 < 192)
			snprintf(name, sizeof(name), "lib%u_var%u", page->lib, in / 256);
		else
			snprintf(name, sizeof(name), "lib%u.so:.data", page->lib);
	}
	if (name[0] == '?')
		return;
	feed(STREAM_EVENT, &ev, sizeof(ev));
	expect(name, per_process ? p->mm : 0, write);
}

static void compare(void)
{
	struct rows_options o = { 0 };
	struct rows rows;
	double sum = 0;
	struct err e;
	size_t i;
	unsigned k;

	assert_int_equal(rows_make(&rows, analysis, &o, &e), 0);
	assert_true(rows.exact);
	assert_int_equal(rows.n, n_counts);
	assert_int_equal(rows.accesses, n_accesses);
	assert_int_equal(rows.totals.misfits, 0);
	assert_int_equal(rows.lost, 0);
	for (i = 0; i < rows.n; i++) {
		const struct row *r = &rows.v[i];

		for (k = 0; k < n_counts; k++)
			if (!strcmp(counts[k].name, r->var.name) && counts[k].mm == r->var.mm)
				break;
		if (k == n_counts)
			fail_msg("row '%s' should not be there", r->var.name);
		assert_int_equal(r->reads, counts[k].reads);
		assert_int_equal(r->writes, counts[k].writes);
		assert_true(i == 0 || rows.v[i - 1].share >= r->share);
		sum += r->share;
	}
	assert_true(fabs(sum - 1) < 1e-9);
	rows_fini(&rows);
}

/* ---- random lives ---- */

static struct process *free_process(void)
{
	unsigned i;

	for (i = 0; i < PROCS; i++)
		if (!procs[i].alive)
			return &procs[i];
	return NULL;
}

static void do_fork(struct process *p)
{
	struct process *child = free_process();
	struct hvar_event ev = event(HVAR_EVENT_FORK, p);

	if (!child)
		return;
	*child = *p;
	child->pid = ++last_pid;
	child->mm = ++last_mm;
	ev.u.task.child = ev.u.task.child_pid = child->pid;
	ev.u.task.child_mm = child->mm;
	feed(STREAM_EVENT, &ev, sizeof(ev));
}

static void do_exec(struct process *p)
{
	struct hvar_event ev;

	p->mm = ++last_mm;
	memset(p->pages, 0, sizeof(p->pages));
	ev = event(HVAR_EVENT_EXEC, p);
	feed(STREAM_EVENT, &ev, sizeof(ev));
}

static void do_exit(struct process *p)
{
	struct hvar_event ev = event(HVAR_EVENT_EXIT, p);

	feed(STREAM_EVENT, &ev, sizeof(ev));
	p->alive = false;
}

static void change(struct process *p)
{
	static const enum what kinds[] = { ANON, HEAP, SHM };
	unsigned n = 1 + rnd(4), from = rnd(PAGES - n);

	clear(p, from, n);
	switch (rnd(3)) {
	case 0:
		break;
	case 1:
		map(p, from, n, (struct page){ kinds[rnd(3)], 0, false }, 0);
		break;
	case 2:
		if (n >= 2)
			load(p, from, rnd(LIBS));
		break;
	}
}

static void random_lives(bool per_process)
{
	struct analysis_options o = { .per_process = per_process };
	struct err e;
	unsigned i, step;

	analysis = analysis_new(&o, &e);
	assert_non_null(analysis);
	memset(procs, 0, sizeof(procs));
	n_counts = 0;
	n_accesses = 0;
	for (i = 0; i < LIBS; i++)
		feed_library(i);
	for (step = 0; step < STEPS; step++) {
		struct process *p = &procs[rnd(PROCS)];

		if (!p->alive) {
			unsigned alive = 0;

			for (i = 0; i < PROCS; i++)
				alive += procs[i].alive;
			if (!alive) {
				memset(p, 0, sizeof(*p));
				p->alive = true;
				p->pid = ++last_pid;
				p->mm = ++last_mm;
				change(p);
			}
			continue;
		}
		switch (rnd(40)) {
		case 0:
			do_fork(p);
			break;
		case 1:
			do_exec(p);
			change(p);
			break;
		case 2:
			do_exit(p);
			break;
		case 3: case 4: case 5: case 6: case 7: case 8: case 9: case 10:
			change(p);
			break;
		default:
			access_memory(p, per_process);
		}
	}
	assert_true(n_accesses > STEPS / 10);
	compare();
	analysis_free(analysis);
}

static void together(void **state)
{
	(void)state;
	random_lives(false);
}

static void apart(void **state)
{
	(void)state;
	random_lives(true);
}

/* Nothing at all is no rows, not a division by nothing. */
static void empty(void **state)
{
	struct analysis_options ao = { 0 };
	struct rows_options o = { 0 };
	struct rows rows;
	struct err e;

	(void)state;
	analysis = analysis_new(&ao, &e);
	assert_non_null(analysis);
	assert_int_equal(rows_make(&rows, analysis, &o, &e), 0);
	assert_int_equal(rows.n, 0);
	assert_int_equal(rows.n_un, 0);
	rows_fini(&rows);
	analysis_free(analysis);
}

/* --limit and --min-share hide rows, and say how much they hide; --sort=time has nothing to sort here. */
static void hidden(void **state)
{
	struct analysis_options ao = { 0 };
	struct rows_options limit = { .limit = 3 }, share = { .min_share = 0.3 };
	struct process p = { .pid = 1, .mm = 1 };
	struct rows rows;
	struct err e;
	unsigned i;

	(void)state;
	analysis = analysis_new(&ao, &e);
	assert_non_null(analysis);
	feed_library(0);
	load(&p, 0, 0);
	for (i = 0; i < 10; i++) { /* var 0: 4, var 1: 3, var 2: 2, var 3: 1 */
		static const unsigned var[] = { 0, 0, 0, 0, 1, 1, 1, 2, 2, 3 };
		struct hvar_event ev = event(HVAR_EVENT_ACCESS, &p);

		ev.u.access.addr = BASE + PAGE + 256 * var[i];
		ev.u.access.weight = 65536;
		ev.u.access.flags = HVAR_ACCESS_READ;
		feed(STREAM_EVENT, &ev, sizeof(ev));
	}
	assert_int_equal(rows_make(&rows, analysis, &limit, &e), 0);
	assert_int_equal(rows.n, 3);
	assert_string_equal(rows.v[0].var.name, "lib0_var0");
	assert_string_equal(rows.v[2].var.name, "lib0_var2");
	assert_int_equal(rows.hidden, 1);
	assert_true(fabs(rows.hidden_share - 0.1) < 1e-9);
	rows_fini(&rows);
	assert_int_equal(rows_make(&rows, analysis, &share, &e), 0);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.hidden, 2);
	assert_true(fabs(rows.hidden_share - 0.3) < 1e-9);
	rows_fini(&rows);
	analysis_free(analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(together),
		cmocka_unit_test(apart),
		cmocka_unit_test(empty),
		cmocka_unit_test(hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
