// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_stap_options.c - command lines of stap, as stap(1) says they are read.
 *
 * What each option of stap 4.8, 5.1 and 5.6 takes is copied from their --help; where a stap is
 * installed here, its own --help is asked too.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "translator-hooks/stap_options.h"

/* ---- which options take an argument ---- */

static const struct {
	const char *since, *name;
	int takes;
} known[] = {
	{ "4.8", "-h", 0 },
	{ "4.8", "--help", 0 },
	{ "4.8", "-V", 0 },
	{ "4.8", "--version", 0 },
	{ "4.8", "-p", 1 },
	{ "4.8", "-v", 0 },
	{ "4.8", "--vp", 1 },
	{ "4.8", "-k", 0 },
	{ "4.8", "-u", 0 },
	{ "4.8", "-w", 0 },
	{ "4.8", "-W", 0 },
	{ "4.8", "-g", 0 },
	{ "4.8", "-P", 0 },
	{ "4.8", "-b", 0 },
	{ "4.8", "-s", 1 },
	{ "4.8", "-I", 1 },
	{ "4.8", "-D", 1 },
	{ "4.8", "-B", 1 },
	{ "4.8", "--modinfo", 1 },
	{ "4.8", "-G", 1 },
	{ "4.8", "-R", 1 },
	{ "4.8", "-r", 1 },
	{ "4.8", "-a", 1 },
	{ "4.8", "-m", 1 },
	{ "4.8", "-o", 1 },
	{ "4.8", "-E", 1 },
	{ "4.8", "-e", 1 },
	{ "4.8", "-l", 1 },
	{ "4.8", "-L", 1 },
	{ "4.8", "-c", 1 },
	{ "4.8", "-x", 1 },
	{ "4.8", "-F", 0 },
	{ "4.8", "-S", 1 },
	{ "4.8", "-d", 1 },
	{ "4.8", "--ldd", 0 },
	{ "4.8", "--all-modules", 0 },
	{ "4.8", "-t", 0 },
	{ "4.8", "-T", 1 },
	{ "4.8", "-q", 0 },
	{ "4.8", "-i", 0 },
	{ "4.8", "--runtime", 1 },
	{ "4.8", "--bpf", 0 },
	{ "4.8", "--prologue-searching", 2 },
	{ "4.8", "--privilege", 1 },
	{ "4.8", "--unprivileged", 0 },
	{ "4.8", "--compatible", 1 },
	{ "4.8", "--check-version", 0 },
	{ "4.8", "--skip-badvars", 0 },
	{ "4.8", "--suppress-handler-errors", 0 },
	{ "4.8", "--use-server", 2 },
	{ "4.8", "--list-servers", 2 },
	{ "4.8", "--trust-servers", 2 },
	{ "4.8", "--use-server-on-error", 2 },
	{ "4.8", "--remote", 1 },
	{ "4.8", "--remote-prefix", 0 },
	{ "4.8", "--tmpdir", 1 },
	{ "4.8", "--download-debuginfo", 2 },
	{ "4.8", "--dump-probe-types", 0 },
	{ "4.8", "--dump-probe-aliases", 0 },
	{ "4.8", "--dump-functions", 0 },
	{ "4.8", "--sysroot", 1 },
	{ "4.8", "--sysenv", 1 },
	{ "4.8", "--suppress-time-limits", 0 },
	{ "4.8", "--save-uprobes", 0 },
	{ "4.8", "--target-namespaces", 1 },
	{ "4.8", "--color", 2 },
	{ "4.8", "--monitor", 2 },
	{ "4.8", "--interactive", 0 },
	{ "4.8", "--disable-cache", 0 },
	{ "4.8", "--poison-cache", 0 },
	{ "4.8", "--clean-cache", 0 },
	{ "4.8", "--dyninst", 0 },
	{ "4.8", "--rlimit-as", 1 },
	{ "4.8", "--rlimit-cpu", 1 },
	{ "4.8", "--rlimit-nproc", 1 },
	{ "4.8", "--rlimit-stack", 1 },
	{ "4.8", "--rlimit-fsize", 1 },
	{ "4.8", "--sign-module", 2 },
	{ "4.8", "--example", 0 },
	{ "5.1", "--build-as", 2 },
	{ "5.1", "--no-global-var-display", 0 },
	{ "5.6", "--debug", 0 },
	{ "5.6", "--semantic-keep-going", 0 },
};

static void takes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (stap_options_takes(known[i].name) != known[i].takes)
			fail_msg("%s of stap %s: %d instead of %d", known[i].name, known[i].since,
				 stap_options_takes(known[i].name), known[i].takes);
	assert_int_equal(stap_options_takes("-z"), -1);
	assert_int_equal(stap_options_takes("-:"), -1);
	assert_int_equal(stap_options_takes("--no-such"), -1);
	assert_int_equal(stap_options_takes("--r"), -1);      /* remote, runtime, rlimit-... */
	assert_int_equal(stap_options_takes("--colo"), 2);    /* color and colour are one */
	assert_int_equal(stap_options_takes("--sysr"), 1);
	assert_int_equal(stap_options_takes("--remote"), 1);  /* whole, though --remote-prefix begins so */
}

/*
 * A line of stap's own help:
 *
 *	   -h --help  show help
 *	   -p NUM     stop after pass NUM
 *	   --remote=HOSTNAME
 *	   --prologue-searching[=WHEN]
 */
static bool check_line(char *line)
{
	char *save, *word, *next, name[64];
	int want = 0;
	size_t n;

	if (strncmp(line, "   -", 4))
		return false;
	word = strtok_r(line, " \n", &save);
	if (!strcmp(word, "--"))
		return false;
	next = strtok_r(NULL, " \n", &save);
	n = strcspn(word, "=[");
	snprintf(name, sizeof(name), "%.*s", (int)n, word);
	if (word[n] == '=')
		want = 1;
	else if (word[n] == '[')
		want = 2;
	else if (next && (strchr("{", *next) || (*next >= 'A' && *next <= 'Z' && next[1] >= 'A' && next[1] <= 'Z')))
		want = 1;
	else if (next && !strncmp(next, "size[", 5))
		want = 1;
	/* 4.8 to 5.6 print the last letter of --target-namespaces not; a beginning will do */
	if (stap_options_takes(name) != want && strcmp(name, "--build-as"))
		fail_msg("stap --help says of %s: %d, and we %d", name, want, stap_options_takes(name));
	return true;
}

static void own_help(void **state)
{
	FILE *p = popen("stap --help 2>&1", "r");
	char line[512];
	int n = 0;

	(void)state;
	while (p && fgets(line, sizeof(line), p))
		n += check_line(line);
	if (p)
		pclose(p);
	if (!n)
		skip();
	assert_true(n > 40);
}

/* ---- command lines ---- */

/* Up to 16 words; what is not named is not given. */
struct line {
	const char *words[16];
	struct {
		int pass;
		const char *script, *file, *command, *pid, *release, *runtime, *remote;
		const char *args[4], *more[2], *objects[2], *include[2], *also[2];
		bool lists, asks, interactive, no_module, server, verbose, quiet, help, all, no_images, images_only;
	} want;
	const char *rest[16]; /* NULL: all words */
};

static const struct line lines[] = {
	{ { "x.stp" }, { .file = "x.stp" }, { 0 } },
	{ { "-" }, { .file = "-" }, { 0 } },
	{ { "-e", "probe begin {}" }, { .script = "probe begin {}" }, { 0 } },
	{ { "-eprobe begin {}" }, { .script = "probe begin {}" }, { 0 } },
	/* options and words mixed; the first word is the script, the others are its arguments */
	{ { "x.stp", "-c", "ls -l", "one", "two" }, { .file = "x.stp", .command = "ls -l", .args = { "one", "two" } }, { 0 } },
	{ { "one", "-e", "probe x {}", "two" }, { .script = "probe x {}", .args = { "one", "two" } }, { 0 } },
	{ { "x.stp", "--", "-c", "ls" }, { .file = "x.stp", .args = { "-c", "ls" } }, { 0 } },
	{ { "-x", "12", "--", "x.stp" }, { .file = "x.stp", .pid = "12" }, { 0 } },
	/* short options in one word */
	{ { "-gvp4", "x.stp" }, { .pass = 4, .file = "x.stp", .verbose = true }, { 0 } },
	{ { "-vkc", "ls", "x.stp" }, { .file = "x.stp", .command = "ls", .verbose = true }, { 0 } },
	{ { "-wtx42", "x.stp" }, { .file = "x.stp", .pid = "42", .quiet = true }, { 0 } },
	/* arguments that look like scripts or options */
	{ { "-m", "name", "-o", "out.stp", "-T", "5", "x.stp" }, { .file = "x.stp" }, { 0 } },
	{ { "-G", "a=1", "-D", "MAXACTION=9", "-B", "V=1", "-s", "64", "-S", "1,2", "x.stp" }, { .file = "x.stp" }, { 0 } },
	{ { "-c", "-x", "x.stp" }, { .file = "x.stp", .command = "-x" }, { 0 } },
	{ { "--vp", "00002", "--tmpdir", "/t", "x.stp" }, { .file = "x.stp" }, { 0 } },
	{ { "--vp=00002", "--tmpdir=/t", "x.stp" }, { .file = "x.stp" }, { 0 } },
	{ { "--color", "x.stp" }, { .file = "x.stp" }, { 0 } },
	{ { "--color=never", "x.stp" }, { .file = "x.stp" }, { 0 } },
	{ { "-J", "1", "-j", "x.stp" }, { .file = "x.stp" }, { 0 } },
	/* what is cut short */
	{ { "--rem", "host", "x.stp" }, { .file = "host", .args = { "x.stp" } }, { 0 } }, /* ambiguous: stap refuses it */
	{ { "--remote", "host", "x.stp" }, { .file = "x.stp", .remote = "host" }, { 0 } },
	{ { "--remote=host", "--remote=other", "x.stp" }, { .file = "x.stp", .remote = "host" }, { 0 } },
	{ { "--run=dyninst", "x.stp" }, { .file = "x.stp", .no_module = true }, { 0 } },
	{ { "--runtime", "kernel", "x.stp" }, { .file = "x.stp" }, { 0 } },
	{ { "--bpf", "x.stp" }, { .file = "x.stp", .no_module = true }, { 0 } },
	/* repeated */
	{ { "-E", "probe a {}", "-Eprobe b {}", "-d", "/bin/ls", "-dkernel", "-I", "t", "x.stp" },
	  { .file = "x.stp", .more = { "probe a {}", "probe b {}" }, .objects = { "/bin/ls", "kernel" }, .include = { "t" } }, { 0 } },
	{ { "-p1", "-p", "2", "x.stp" }, { .pass = 2, .file = "x.stp" }, { 0 } },
	{ { "-r", "6.1.0", "-R", "/rt", "-p4", "x.stp" }, { .pass = 4, .file = "x.stp", .release = "6.1.0", .runtime = "/rt" }, { 0 } },
	/* no script */
	{ { "-L", "vma.*" }, { .lists = true }, { 0 } },
	{ { "-lvma.*", "more" }, { .lists = true, .args = { "more" } }, { 0 } },
	{ { "--dump-functions" }, { .lists = true }, { 0 } },
	{ { "--list-servers" }, { .asks = true }, { 0 } },
	{ { "-V" }, { .asks = true }, { 0 } },
	{ { "--version" }, { .asks = true }, { 0 } },
	{ { "-i" }, { .interactive = true }, { 0 } },
	{ { "--use-server=h", "x.stp" }, { .file = "x.stp", .server = true }, { 0 } },
	{ { "-h" }, { .help = true, .asks = true }, { 0 } },
	{ { "--help" }, { .help = true, .asks = true }, { 0 } },
	/* an argument that is not there: stap says so */
	{ { "x.stp", "-c" }, { .file = "x.stp" }, { 0 } },
	{ { "x.stp", "--remote" }, { .file = "x.stp" }, { 0 } },
	/* ours, which stap does not get to see */
	{ { "--also", "/bin/ls", "x.stp", "--also=lib.so", "-v" },
	  { .file = "x.stp", .also = { "/bin/ls", "lib.so" }, .verbose = true }, { "x.stp", "-v" } },
	{ { "--images-only", "x.stp" }, { .file = "x.stp", .images_only = true }, { "x.stp" } },
	{ { "--all", "--no-images", "x.stp" }, { .file = "x.stp", .all = true, .no_images = true }, { "x.stp" } },
	{ { "--all-modules", "x.stp" }, { .file = "x.stp" }, { 0 } },
	{ { "-c", "--all", "x.stp" }, { .file = "x.stp", .command = "--all" }, { 0 } },
	{ { "x.stp", "--", "--also", "a" }, { .file = "x.stp", .args = { "--also", "a" } }, { 0 } },
};

static void same(const struct line *l, const char *what, const char *got, const char *want)
{
	if ((got && want) ? strcmp(got, want) : got != want)
		fail_msg("%s %s ...: %s is '%s', not '%s'", l->words[0], l->words[1] ? l->words[1] : "", what,
			 got ? got : "(none)", want ? want : "(none)");
}

static void same_words(const struct line *l, const char *what, const struct stap_words *got,
		       const char *const *want, size_t max)
{
	for (size_t i = 0; i < max; i++)
		same(l, what, i < got->n ? got->v[i] : NULL, want[i]);
	assert_true(got->n <= max);
}

static void same_flag(const struct line *l, const char *what, bool got, bool want)
{
	same(l, what, got ? "true" : "false", want ? "true" : "false");
}

static void one_line(const struct line *l)
{
	const char *argv[18] = { "stap" };
	struct stap_options o;
	struct err e = { 0, "" };
	int argc = 1;

	while (argc <= 16 && l->words[argc - 1]) {
		argv[argc] = l->words[argc - 1];
		argc++;
	}
	stap_options_init(&o);
	assert_int_equal(stap_options_read(&o, argc, (char *const *)argv, true, &e), 0);
	assert_int_equal(o.pass, l->want.pass ? l->want.pass : 5);
	same(l, "-e", o.script, l->want.script);
	same(l, "file", o.file, l->want.file);
	same(l, "-c", o.command, l->want.command);
	same(l, "-x", o.pid, l->want.pid);
	same(l, "-r", o.release, l->want.release);
	same(l, "-R", o.runtime, l->want.runtime);
	same(l, "--remote", o.remote, l->want.remote);
	same_words(l, "arguments", &o.args, l->want.args, 4);
	same_words(l, "-E", &o.more, l->want.more, 2);
	same_words(l, "-d", &o.objects, l->want.objects, 2);
	same_words(l, "-I", &o.include, l->want.include, 2);
	same_words(l, "--also", &o.also, l->want.also, 2);
	same_words(l, "for stap", &o.rest, l->rest[0] ? l->rest : l->words, 16);
	same_flag(l, "lists", o.lists, l->want.lists);
	same_flag(l, "asks", o.asks, l->want.asks);
	same_flag(l, "interactive", o.interactive, l->want.interactive);
	same_flag(l, "no module", o.no_module, l->want.no_module);
	same_flag(l, "server", o.server, l->want.server);
	same_flag(l, "-v", o.verbose, l->want.verbose);
	same_flag(l, "-w", o.quiet, l->want.quiet);
	same_flag(l, "help", o.help, l->want.help);
	same_flag(l, "--all", o.all, l->want.all);
	same_flag(l, "--images-only", o.images_only, l->want.images_only);
	same_flag(l, "--no-images", o.no_images, l->want.no_images);
	stap_options_fini(&o);
}

static void command_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		one_line(&lines[i]);
}

/* The words of the rc file come first, and none of them goes to stap again. */
static void rc_file(void **state)
{
	const char *rc[] = { "stap", "-R", "/rt", "-v", "-I", "mine" };
	const char *argv[] = { "stap", "-p4", "x.stp" };
	struct stap_options o;
	struct err e = { 0, "" };

	(void)state;
	stap_options_init(&o);
	assert_int_equal(stap_options_read(&o, 6, (char *const *)rc, false, &e), 0);
	assert_int_equal(stap_options_read(&o, 3, (char *const *)argv, true, &e), 0);
	assert_string_equal(o.runtime, "/rt");
	assert_true(o.verbose);
	assert_int_equal(o.pass, 4);
	assert_string_equal(o.file, "x.stp");
	assert_int_equal(o.rest.n, 2);
	stap_options_fini(&o);
}

static void bad_use(void **state)
{
	static const char *const bad[][3] = {
		{ "--also" }, { "--also=" }, { "--also", "" }, { "--all=x" }, { "--no-images=1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *argv[4] = { "stap", bad[i][0], bad[i][1] };
		struct stap_options o;
		struct err e = { 0, "" };

		stap_options_init(&o);
		assert_int_equal(stap_options_read(&o, bad[i][1] ? 3 : 2, (char *const *)argv, true, &e), -EINVAL);
		assert_int_equal(e.status, 2);
		assert_true(e.text[0]);
		stap_options_fini(&o);
	}
}

static void posixly(void **state)
{
	const char *argv[] = { "stap", "x.stp", "-c", "ls" };
	struct stap_options o;
	struct err e = { 0, "" };

	(void)state;
	setenv("POSIXLY_CORRECT", "1", 1);
	stap_options_init(&o);
	assert_int_equal(stap_options_read(&o, 4, (char *const *)argv, true, &e), 0);
	unsetenv("POSIXLY_CORRECT");
	assert_null(o.command);
	assert_int_equal(o.args.n, 2);
	stap_options_fini(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes),	 cmocka_unit_test(own_help), cmocka_unit_test(command_lines),
		cmocka_unit_test(rc_file),	 cmocka_unit_test(bad_use),  cmocka_unit_test(posixly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
