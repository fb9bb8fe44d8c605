// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_code_source - code of a stream and of a file, in pieces of any size, against an array of each.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/report/code_source.h"

enum { PAGE = 4096, PAGES = 40, SIZE = PAGES * PAGE - 100, MODULE = 3, ROUNDS = 300 };

static uint8_t file[SIZE], streamed[PAGES]; /* whose bytes differ from the file's */

/* ---- in place of images.c ---- */

uint32_t images_canon(const struct images *s, uint32_t id)
{
	(void)s;
	return id;
}

const struct hvar_image *images_code_of(struct images *s, uint32_t id)
{
	(void)s;
	(void)id;
	return NULL;
}

size_t images_read(struct images *s, uint32_t id, uint64_t offset, void *buf, size_t n)
{
	(void)s;
	assert_int_equal(id, MODULE);
	if (offset >= SIZE)
		return 0;
	n = n < SIZE - offset ? n : SIZE - offset;
	memcpy(buf, file + offset, n);
	return n;
}

/* ---- */

static uint8_t byte_at(size_t i)
{
	return streamed[i / PAGE] ? (uint8_t)~file[i] : file[i];
}

static struct code_source *begin(void)
{
	struct code_source *c = code_source_new(NULL);

	assert_non_null(c);
	for (size_t i = 0; i < SIZE; i++)
		file[i] = (uint8_t)rand();
	memset(streamed, 0, sizeof(streamed));
	return c;
}

static void put(struct code_source *c, size_t page)
{
	struct {
		struct stream_code head;
		uint8_t bytes[PAGE];
	} r = { .head = { .module = MODULE, .where = page * PAGE } };

	streamed[page] = 1;
	for (size_t i = 0; i < PAGE; i++)
		r.bytes[i] = byte_at(page * PAGE + i);
	code_source_put(c, &r.head, sizeof(r.head) + PAGE);
}

static void get(struct code_source *c, size_t at, size_t n)
{
	static uint8_t buf[2 * SIZE];
	struct code_site site = { MODULE, 0, at };
	size_t end = at + n < SIZE ? at + n : SIZE;

	assert_int_equal(code_source_get(c, &site, buf, n), at < end ? end - at : 0);
	for (size_t i = at; i < end; i++)
		assert_int_equal(buf[i - at], byte_at(i));
}

/* The pages of the file that were read are handed out once each, and none that the stream has. */
static void test_any(void **state)
{
	(void)state;
	for (int r = 0; r < 8; r++) {
		struct code_source *c = begin();
		uint8_t got[PAGES] = { 0 };
		struct stream_code head;
		const uint8_t *fresh;
		size_t len, all = 0;

		for (size_t k = 0; k < 7; k++)
			put(c, (size_t)rand() % (PAGES - 1));
		for (int i = 0; i < ROUNDS; i++) {
			get(c, (size_t)rand() % SIZE, (size_t)rand() % (i % 2 ? 40 : SIZE));
			while ((fresh = code_source_fresh(c, &head, &len))) {
				size_t page = head.where / PAGE;

				assert_int_equal(head.module, MODULE);
				assert_int_equal(head.where % PAGE, 0);
				assert_int_equal(len, page == PAGES - 1 ? SIZE % PAGE : PAGE);
				assert_memory_equal(fresh, file + head.where, len);
				assert_false(streamed[page] || got[page]);
				got[page] = 1;
				all++;
			}
		}
		get(c, 0, SIZE);
		while (code_source_fresh(c, &head, &len))
			all++;
		for (size_t page = 0; page < PAGES; page++)
			all += streamed[page];
		assert_int_equal(all, PAGES);
		assert_int_equal(code_source_lost(c) + code_source_lost_fresh(c), 0);
		code_source_free(c);
	}
}

static void test_behind_the_end(void **state)
{
	struct code_source *c = begin();
	struct code_site none = { 0, 1, 0 };
	uint8_t buf[8];

	(void)state;
	get(c, SIZE - 1, SIZE);
	get(c, SIZE, 1);
	get(c, SIZE + 10 * PAGE, SIZE);
	assert_int_equal(code_source_get(c, &none, buf, sizeof(buf)), 0);
	code_source_free(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_behind_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
