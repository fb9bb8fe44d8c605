// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_codes - bytes of code that are known here and there, against a flag for each byte.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/report/codes.h"

enum { ALL = 5 * 4096 + 77, MODULES = 3, ROUNDS = 3000 };

static uint8_t bytes[MODULES][ALL];
static uint8_t known[MODULES][ALL];

/* How many bytes from @at on are known one after the other, at most @n. */
static size_t model(int m, size_t at, size_t n)
{
	size_t i = 0;

	while (i < n && at + i < ALL && known[m][at + i])
		i++;
	return i;
}

static void put(struct codes *c, int m, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++) {
		bytes[m][i] = (uint8_t)rand();
		known[m][i] = 1;
	}
	assert_int_equal(codes_put(c, (uint32_t)m, 7, at, bytes[m] + at, n), 0);
}

static void get(const struct codes *c, int m, size_t at, size_t n)
{
	uint8_t buf[ALL + 64];
	size_t got = codes_get(c, (uint32_t)m, 7, at, buf, n);

	assert_int_equal(got, model(m, at, n));
	assert_memory_equal(buf, bytes[m] + at, got);
}

static void forget(void)
{
	memset(known, 0, sizeof(known));
}

/* Pieces at the bounds of words and pages. */
static void test_edges(void **state)
{
	static const size_t at[] = { 0, 1, 62, 63, 64, 65, 127, 128, 4095, 4096, 4097, 8191, 8192 };
	static const size_t len[] = { 1, 2, 63, 64, 65, 128, 4095, 4096, 4097, 8192 };

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		for (size_t k = 0; k < sizeof(len) / sizeof(len[0]); k++) {
			struct codes *c = codes_new();

			forget();
			get(c, 1, at[i], len[k]);
			put(c, 1, at[i], len[k]);
			for (size_t b = 0; b < 3; b++) {
				get(c, 1, at[i] + b, len[k] + 70);
				get(c, 1, at[i] + b, 1);
				if (at[i] > b)
					get(c, 1, at[i] - b, 64);
			}
			get(c, 1, at[i] + len[k], 64);
			get(c, 2, at[i], 64);
			codes_free(c);
		}
	}
}

static void test_random(void **state)
{
	struct codes *c = codes_new();

	(void)state;
	srand(20);
	forget();
	for (int r = 0; r < ROUNDS; r++) {
		int m = rand() % MODULES;
		size_t at = (size_t)rand() % ALL, n = (size_t)rand() % (rand() % 4 ? 200 : 9000);

		n = n < ALL - at ? n : ALL - at;
		if (rand() % 3)
			get(c, m, at, n);
		else
			put(c, m, at, rand() % 2 ? n % 70 : n);
	}
	codes_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
