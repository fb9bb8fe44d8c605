// SPDX-License-Identifier: GPL-2.0-or-later
/* test_stap_script.c - what scripts name, and words that name nothing. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "translator-hooks/stap_script.h"

/* Arguments of all scripts here. */
static const char *arguments[] = { "/bin/first", "77", "\"/bin/third\"", "second word" };
static const struct stap_words args = { arguments, 4, 4 };

static const struct {
	const char *text, *want; /* "KIND NAME;" for each */
} scripts[] = {
	{ "", "" },
	{ "probe begin { println(\"hello\") }", "" },
	{ "probe process(\"/bin/app\").begin {}", "program /bin/app;" },
	{ "probe process ( \"app\" ) . begin {}", "program app;" },
	{ "probe process(\"/opt/*/app\").begin {}", "program /opt/*/app;" },
	{ "probe process(\"/bin/app\").library(\"/lib/libx.so\").function(\"/f\") {}",
	  "program /bin/app;library /lib/libx.so;file /f;" },
	{ "probe process.library(\"libx.so\").function(\"f\") {}", "library libx.so;" },
	{ "probe process(1234).begin {}", "pid 1234;" },
	{ "probe process(\"1234\").begin {}", "pid 1234;" },
	{ "probe process(@1).begin {}", "program /bin/first;" },
	{ "probe process($2).begin {}", "pid 77;" },
	{ "probe process($3).begin {}", "program /bin/third;" },
	{ "probe process(@9).begin {}", "" },
	{ "probe process($x).begin {}", "" },
	{ "probe process($1x).begin {}", "" },
	{ "@vma_map(\"app\", { println(path) })", "program app;" },
	{ "@vma_unmap(@1, { println(path) })", "program /bin/first;" },
	{ "@each(\"app\", 1)", "" },
	{ "vma_map(\"app\")", "" },
	{ "@vma_ (\"app\")", "" },
	/* strings next to each other are one */
	{ "probe process(\"/bin\" \"/app\").begin {}", "program /bin/app;" },
	{ "probe process(\"/usr\" @1 ).begin {}", "program /usr/bin/first;" },
	/* escapes */
	{ "probe process(\"/bin/a\\\"b\\101\\\\\").begin {}", "program /bin/a\"bA\\;" },
	{ "probe process(\"/a\\0b\").begin {}", "" },
	/* comments */
	{ "# process(\"/bin/a\")\n// process(\"/bin/b\")\n/* process(\"/bin/c\") */ probe process(/* x */\"/bin/d\").begin {}",
	  "program /bin/d;" },
	{ "probe begin { printf(\"// %s\", \"/etc/x\") } # \"/bin/y\"", "file // %s;file /etc/x;" },
	/* other strings */
	{ "global where = \"/bin/app\" probe process(where).begin {}", "file /bin/app;" },
	{ "@define app %( \"/bin/app\" %) probe process(@app).begin {}", "file /bin/app;" },
	{ "probe begin { if (x / y > \"/\") next }", "" },
	{ "probe begin { println(\"relative/path\") }", "" },
	/* what stap would not take */
	{ "probe process(\"/bin/app", "program /bin/app;" },
	{ "probe process(\"/bin/app\\", "program /bin/app\\;" },
	{ "/* no end", "" },
	{ "process(", "" },
	{ "@", "" },
	{ "$", "" },
	{ "%( kernel_v >= \"3\" %? process(\"/bin/a\") %: process(\"/bin/b\") %)", "program /bin/a;program /bin/b;" },
};

static char got[4096];

static int note(void *ctx, enum stap_names what, const char *name)
{
	static const char *const kinds[] = { "program", "library", "pid", "file" };
	size_t n = strlen(got);

	(void)ctx;
	snprintf(got + n, sizeof(got) - n, "%s %s;", kinds[what], name);
	return 0;
}

static void names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		*got = '\0';
		assert_int_equal(stap_script_names(scripts[i].text, &args, note, NULL), 0);
		if (strcmp(got, scripts[i].want))
			fail_msg("%s: '%s', not '%s'", scripts[i].text, got, scripts[i].want);
	}
}

static int stop(void *ctx, enum stap_names what, const char *name)
{
	(void)what;
	(void)name;
	return ++*(int *)ctx == 2 ? 42 : 0;
}

static void stops(void **state)
{
	int n = 0;

	(void)state;
	assert_int_equal(stap_script_names("\"/a\" + \"/b\" + \"/c\"", &args, stop, &n), 42);
	assert_int_equal(n, 2);
}

static int count(void *ctx, enum stap_names what, const char *name)
{
	(void)what;
	*(size_t *)ctx += strlen(name);
	return 0;
}

/* Whatever the text, what is found fits: under AddressSanitizer, and by its end. */
static void anything(void **state)
{
	static const char *const parts[] = { "\"", "process(", "@1", "$3", "/", "*", "\\", "\n", "#", "(", ")",
					     "@vma_x(", "7", " ", "a", "library(\"/", "/*", "*/" };
	unsigned seed = 12345;
	char text[400];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t n = 0, total = 0;

		while (n < sizeof(text) - 20) {
			const char *p;

			seed = seed * 1103515245 + 12345;
			p = parts[(seed >> 16) % (sizeof(parts) / sizeof(parts[0]))];
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", p);
		}
		assert_int_equal(stap_script_names(text, &args, count, &total), 0);
		assert_true(total < sizeof(text) * 20);
	}
}

static void uses(void **state)
{
	(void)state;
	assert_true(stap_script_uses_vma("probe vma.map {}"));
	assert_true(stap_script_uses_vma("println(vma_symdata(x))"));
	assert_true(stap_script_uses_vma("@vma_map(\"x\", {})"));
	assert_false(stap_script_uses_vma("probe begin { exit() }"));
	assert_false(stap_script_uses_vma("probe kernel.function(\"do_vma\") { println(my_vma) }"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(stops),
		cmocka_unit_test(anything),
		cmocka_unit_test(uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
