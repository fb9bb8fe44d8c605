// SPDX-License-Identifier: GPL-2.0-or-later
/* test_cli.c - options as a person types them, well and badly. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Not in the library: a command's own file. */
#include "runtime/cli/cli.c"

struct seen {
	struct cli_common common;
	const char *pid, *arg;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct seen *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->common;
		return 0;
	case 'p':
		if (strcmp(arg, "7"))
			return cli_bad_value("-p", arg, "the number 7");
		s->pid = arg;
		return 0;
	case ARGP_KEY_ARG:
		s->arg = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "doc", 0 },
	{ "process", 0, NULL, OPTION_ALIAS, NULL, 0 },
	{ "min-share", 1000, "X", 0, "doc", 0 },
	{ 0 },
};
static const struct argp_child children[] = { { &cli_common_argp, 0, "Common:", 20 }, { 0 } };
static const struct argp argp = { .options = options, .parser = parse, .children = children };

struct row {
	const char *line; /* words parted by one blank */
	bool stop;
	int status, rest;
	const char *text; /* part of the error */
};

static void check(const struct row *r, struct seen *s)
{
	static char buf[256]; /* @s points into it */
	char *argv[16];
	struct err e = { 0, "" };
	int argc = 0, rest = -1, status;
	char *save, *w;

	memset(s, 0, sizeof(*s));
	snprintf(buf, sizeof(buf), "%s", r->line);
	for (w = strtok_r(buf, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	status = cli_parse(&argp, argc, argv, r->stop, &rest, s, &e);
	if (status != r->status || (!status && rest != r->rest))
		fail_msg("'%s': status %d rest %d: %s", r->line, status, rest, e.text);
	if (r->text && !strstr(e.text, r->text))
		fail_msg("'%s': said '%s'", r->line, e.text);
}

static void test_table(void **state)
{
	static const struct row rows[] = {
		{ "sym", false, 0, 1, NULL },
		{ "sym -p 7 0x10", false, 0, 4, NULL },
		{ "sym -p7 -- a", false, 0, 3, NULL },
		{ "sym --pid=7 --", false, 0, 3, NULL },
		{ "sym --process 7", false, 0, 3, NULL },
		{ "hotvar ./app -x --json", true, 0, 1, NULL },
		{ "hotvar --json -p 7 ./app -x", true, 0, 4, NULL },
		{ "hotvar -q -v -- -x", true, 0, 4, NULL },
		{ "hotvar -", true, 0, 1, NULL },
		{ "sym --jsn", false, 2, 0, "did you mean '--json'" },
		{ "sym --min-shaer=1", false, 2, 0, "did you mean '--min-share'" },
		{ "sym --zzzzzzzz", false, 2, 0, "unknown option '--zzzzzzzz'; see 'hotvar sym --help'" },
		{ "sym --p", false, 2, 0, "ambiguous" },
		{ "sym --json=1", false, 2, 0, "takes no value" },
		{ "sym -Z", false, 2, 0, "unknown option '-Z'" },
		{ "sym -p", false, 2, 0, "needs a value" },
		{ "sym --min-share", false, 2, 0, "needs a value" },
		{ "sym -p 8", false, 2, 0, "bad value '8' for -p: it takes the number 7" },
		{ "sym --color=red", false, 2, 0, "auto, always or never" },
	};
	struct seen s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check(&rows[i], &s);
	check(&rows[1], &s);
	assert_string_equal(s.pid, "7");
	assert_string_equal(s.arg, "0x10");
	check(&rows[7], &s);
	assert_int_equal(s.common.verbose, 1);
	assert_true(s.common.quiet);
}

static void test_number(void **state)
{
	static const struct { const char *s; bool ok; unsigned long long v; } rows[] = {
		{ "0", true, 0 }, { "42", true, 42 }, { "0x10", true, 16 }, { "0XfF", true, 255 },
		{ "18446744073709551615", true, UINT64_MAX }, { "0xffffffffffffffff", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 }, { "", false, 0 }, { "0x", false, 0 },
		{ "-1", false, 0 }, { "+1", false, 0 }, { " 1", false, 0 }, { "1 ", false, 0 },
		{ "12a", false, 0 }, { "a", false, 0 }, { "0x0x1", false, 0 }, { "0xg", false, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unsigned long long v = 0;
		bool ok = cli_number(rows[i].s, &v);

		if (ok != rows[i].ok || (ok && v != rows[i].v))
			fail_msg("'%s' gave %d %llu", rows[i].s, ok, v);
	}
}

static void test_nearest(void **state)
{
	static const char *const known[] = { "record", "report", "maps", "sym", "symbols", "doctor", NULL };
	static const struct { const char *word, *near; } rows[] = {
		{ "syms", "sym" }, { "recrod", "record" }, { "reprot", "report" }, { "map", "maps" },
		{ "symbol", "symbols" }, { "doc", "doctor" }, { "ls", NULL }, { "python3", NULL },
		{ "", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *near = cli_nearest(rows[i].word, known);

		if (!near != !rows[i].near || (near && strcmp(near, rows[i].near)))
			fail_msg("'%s' gave %s", rows[i].word, near ? near : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
