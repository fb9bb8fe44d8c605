// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_code_capture - the code put to a stream is the code that memory holds.
 *
 * The program captures its own: from its file, from a page without one that
 * changes, from [vdso], and from where nothing can be read.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/code_capture.h"
#include "runtime/user/stream.h"
#include "runtime/user/tracker.h"

enum { PAGE = 4096, SECOND = 1000000000 };

static struct stream *out;
static struct stream_reader *in;
static struct tracker *t;
static struct code_capture *c;
static uint32_t mm;
static uint64_t now = 1000;

static int set_up(void **state)
{
	pid_t pid;

	(void)state;
	out = stream_to_queue(NULL);
	in = out ? stream_reader_of_queue(out) : NULL;
	t = out ? tracker_new(out, NULL) : NULL;
	c = t ? code_capture_new(t, out) : NULL;
	if (!c || !in || tracker_add(t, getpid(), getpid(), now, NULL))
		return -1;
	return tracker_knows(t, getpid(), &pid, &mm) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	code_capture_free(c);
	tracker_free(t);
	stream_close(out, NULL);
	stream_reader_free(in);
	return 0;
}

static void at(const void *ip)
{
	code_capture_at(c, getpid(), getpid(), mm, (uint64_t)(uintptr_t)ip, now);
}

static struct stream_code *codes[16];
static size_t lens[16], n_codes;
static uint64_t losses;

/*
 * What was put since the last call.  A queue's reader waits for more, so a record
 * of ours marks the end.
 */
static void collect(void)
{
	struct stream_record r;

	while (n_codes)
		free(codes[--n_codes]);
	losses = 0;
	stream_put_meta(out, "end", "of the step");
	stream_flush(out);
	while (stream_next(in, &r) == 1 && r.type != STREAM_META) {
		if (r.type == STREAM_LOSS &&
		    ((const struct stream_loss *)r.data)->what == STREAM_LOST_CODE)
			losses += ((const struct stream_loss *)r.data)->count;
		if (r.type != STREAM_CODE)
			continue;
		assert_true(n_codes < 16);
		codes[n_codes] = malloc(r.len);
		assert_non_null(codes[n_codes]);
		memcpy(codes[n_codes], r.data, r.len);
		lens[n_codes++] = r.len - sizeof(struct stream_code);
	}
}

static const uint8_t *page_of(const void *p)
{
	return (const uint8_t *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1));
}

/* Is code @i the @n bytes of the page at @p? */
static void assert_is(size_t i, const void *p, size_t n)
{
	assert_int_equal(lens[i], n);
	assert_memory_equal(codes[i]->bytes, p, n);
}

static void from_the_file(void **state)
{
	const uint8_t *page = page_of((const void *)(uintptr_t)set_up);
	const struct hvar_module *m;
	size_t first;

	(void)state;
	at(page + 1000);
	at(page + 2000);
	collect();
	assert_int_equal(n_codes, 1); /* once, however often it is sampled */
	assert_is(0, page, PAGE);
	assert_int_equal(codes[0]->mm, 0);
	assert_int_equal(codes[0]->where % PAGE, 0);
	m = tracker_module(t, codes[0]->module);
	assert_non_null(m);
	first = codes[0]->where;

	/* Near an end, the neighbour as well. */
	at(page + PAGE - 1);
	collect();
	if (n_codes) { /* unless the code ends there */
		assert_int_equal(n_codes, 1);
		assert_int_equal(codes[0]->where, first + PAGE);
		assert_is(0, page + PAGE, lens[0]);
	}
}

/* A page made up at run time, alone in its mapping, and changed. */
static void without_a_file(void **state)
{
	uint8_t *p = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	p += PAGE;
	assert_int_equal(mprotect(p, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	memset(p, 0x90, PAGE);
	memset(p + PAGE, 0xc3, PAGE);
	tracker_look(t, getpid(), 0, ~0ull, 0, ++now);

	at(p + 1000);
	collect();
	assert_int_equal(n_codes, 1);
	assert_is(0, p, PAGE);
	assert_int_equal(codes[0]->module, 0);
	assert_int_equal(codes[0]->mm, mm);
	assert_int_equal(codes[0]->where, (uintptr_t)p);

	/* Changed at once: not read again before a second has passed. */
	p[7] = 0xcc;
	now += SECOND / 2;
	at(p + 1000);
	collect();
	assert_int_equal(n_codes, 0);
	now += SECOND;
	at(p + 1000);
	collect();
	assert_int_equal(n_codes, 1);
	assert_is(0, p, PAGE);
	/* Unchanged: read, not put. */
	now += 2 * (uint64_t)SECOND;
	at(p + 1000);
	collect();
	assert_int_equal(n_codes, 0);

	/* A window over the end takes in the next page, but no page that cannot be executed. */
	at(p + PAGE - 1);
	collect();
	assert_int_equal(n_codes, 1);
	assert_is(0, p + PAGE, PAGE);
	now += 2 * (uint64_t)SECOND;
	at(p + 5);
	at(p + 2 * PAGE - 5);
	collect();
	assert_int_equal(n_codes, 0);
	code_capture_tell_losses(c, now);
	collect();
	assert_int_equal(losses, 0);
	munmap(p - PAGE, 4 * PAGE);
}

static void from_the_vdso(void **state)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);

	(void)state;
	if (!vdso)
		skip();
	at(vdso + 2048);
	collect();
	assert_int_equal(n_codes, 1);
	assert_is(0, vdso, PAGE);
}

/* Counted once a page, and nothing is put. */
static void where_nothing_can_be_read(void **state)
{
	uint8_t *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t nobody = 0x7ffffff0;

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	tracker_look(t, getpid(), 0, ~0ull, 0, ++now);
	for (int i = 0; i < 3; i++) {
		code_capture_at(c, nobody, getpid(), mm, (uintptr_t)p + 1024, now);
		now += 2 * (uint64_t)SECOND;
	}
	code_capture_tell_losses(c, now);
	collect();
	assert_int_equal(n_codes, 0);
	assert_int_equal(losses, 1);
	code_capture_tell_losses(c, now);
	collect();
	assert_int_equal(losses, 0);
	munmap(p, PAGE);
}

static void where_nothing_is_mapped(void **state)
{
	(void)state;
	at((const void *)16);
	at((const void *)UINTPTR_MAX);
	collect();
	assert_int_equal(n_codes, 0);
}

/* More pages than the first table holds. */
static void many_pages(void **state)
{
	enum { PAGES = 3000 };
	uint8_t *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t put = 0;

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	tracker_look(t, getpid(), 0, ~0ull, 0, ++now);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < PAGES; i++) {
			p[i * PAGE] = (uint8_t)i;
			at(p + i * PAGE + 2000);
			if (i % 8 == 7) {
				collect();
				put += n_codes;
			}
		}
	}
	assert_int_equal(put, PAGES);
	munmap(p, PAGES * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(from_the_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(from_the_vdso, set_up, tear_down),
		cmocka_unit_test_setup_teardown(where_nothing_can_be_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(where_nothing_is_mapped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_pages, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
