// SPDX-License-Identifier: GPL-2.0-or-later
/* test_json.c - one line, any bytes; Python's reader is the judge in testsuite/live. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/report/json.h"

static char *text;
static size_t size;

static FILE *begin(void)
{
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	return f;
}

static void expect(FILE *f, const char *want)
{
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void test_members(void **state)
{
	struct json j;
	FILE *f = begin();

	(void)state;
	json_begin(&j, f, "x");
	json_u64(&j, "u", UINT64_MAX);
	json_i64(&j, "i", -5);
	json_hex(&j, "h", 0x1f);
	json_num(&j, "n", 0.25);
	json_num(&j, "nan", NAN);
	json_num(&j, "inf", INFINITY);
	json_bool(&j, "b", false);
	json_null(&j, "z");
	json_str(&j, "s", NULL);
	json_open(&j, "a", '[');
	json_str(&j, NULL, "p");
	json_u64(&j, NULL, 2);
	json_close(&j, ']');
	json_open(&j, "o", '{');
	json_close(&j, '}');
	json_end(&j);
	expect(f, "{\"type\":\"x\",\"u\":18446744073709551615,\"i\":-5,\"h\":\"0x1f\",\"n\":0.25,"
		  "\"nan\":null,\"inf\":null,\"b\":false,\"z\":null,\"s\":null,"
		  "\"a\":[\"p\",2],\"o\":{}}\n");
}

/* What each string becomes; the escapes are those of RFC 8259 and of surrogateescape. */
static void test_strings(void **state)
{
	static const struct { const char *s, *want; } rows[] = {
		{ "", "" },
		{ "a b/c", "a b/c" },
		{ "q\"b\\", "q\\\"b\\\\" },
		{ "t\tn\nd\x7f", "t\\u0009n\\u000ad\\u007f" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\xff\xfe", "\\udcff\\udcfe" },
		{ "\xc0\xaf", "\\udcc0\\udcaf" },		/* overlong */
		{ "\xe0\x80\xaf", "\\udce0\\udc80\\udcaf" },	/* overlong */
		{ "\xed\xa0\x80", "\\udced\\udca0\\udc80" },	/* surrogate */
		{ "\xf4\x90\x80\x80", "\\udcf4\\udc90\\udc80\\udc80" }, /* past U+10FFFF */
		{ "\xe2\x82", "\\udce2\\udc82" },		/* cut */
		{ "\xe2\x82z", "\\udce2\\udc82z" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char want[128];
		struct json j;
		FILE *f = begin();

		json_begin(&j, f, rows[i].s);
		json_end(&j);
		snprintf(want, sizeof(want), "{\"type\":\"%s\"}\n", rows[i].want);
		expect(f, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
