// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - the command hotvar: finds the subcommand, runs it, prints its error.
 *
 * What is no subcommand is a program to run and report on.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cli/cli.h"
#include "runtime/core/hvar_env.h"
#include "runtime/user/launch.h"
#include "runtime/user/ticker.h"

const struct cli_command cli_commands[] = {
	{ "record", "the same, but only write a recording", cmd_record },
	{ "report", "report a recording, as often and in as many ways as wanted", cmd_report },
	{ "maps", "print every change of the memory map, as it happens", cmd_maps },
	{ "pages", "say which pages are in memory, touched, written, private or shared", cmd_pages },
	{ "advise", "say which memory should be in huge pages, on what evidence, and how", cmd_advise },
	{ "sym", "name addresses of a process or of an ELF file", cmd_sym },
	{ "symbols", "build and list symbol images; fill the cache", cmd_symbols },
	{ "stap", "run SystemTap's stap with the vma tapset and the symbol images it needs", cmd_stap },
	{ "doctor", "say what works on this machine, and the command that mends what does not", cmd_doctor },
	{ NULL, NULL, NULL },
};

/* Names the interface keeps for subcommands that this version does not have. */
static const char *const reserved[] = { "top", NULL };

static const struct cli_command *find_command(const char *name)
{
	const struct cli_command *c;

	for (c = cli_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static bool is_reserved(const char *name)
{
	const char *const *r;

	for (r = reserved; *r; r++)
		if (!strcmp(*r, name))
			return true;
	return false;
}

static void overview(FILE *f)
{
	const struct cli_command *c;

	fputs("Usage: hotvar [OPTION...] -- CMD [ARG...]   run CMD and report its hot variables\n"
	      "       hotvar [OPTION...] -p PID            the same for a running process\n"
	      "       hotvar SUBCOMMAND [OPTION...]        see 'hotvar SUBCOMMAND --help'\n\n"
	      "Which variables does a program spend its memory accesses on?\n\n",
	      f);
	for (c = cli_commands; c->name; c++)
		fprintf(f, "  %-8s %s\n", c->name, c->summary);
	fputs("\nFirst steps: 'hotvar -- ./program', 'hotvar doctor'.\n", f);
}

static bool is_program(const char *word)
{
	char *argv[] = { (char *)word, NULL };
	struct launch l;

	return !launch_find(&l, argv, NULL);
}

/* @word is neither a subcommand nor a program: was a subcommand meant? */
static const char *meant_command(const char *word)
{
	const char *known[HVAR_ARRAY_SIZE(cli_commands)];
	size_t n = 0;

	for (; cli_commands[n].name; n++)
		known[n] = cli_commands[n].name;
	known[n] = NULL;
	if (word[0] == '-' || strchr(word, '/') || is_program(word))
		return NULL;
	if (!strcmp(word, "help") || !strcmp(word, "version"))
		return *word == 'h' ? "--help" : "--version";
	return cli_nearest(word, known);
}

/* "lines", "members": what the report can be by, written as if it were a subcommand; NULL: not so. */
static const char *meant_by(const char *word)
{
	static const char *const by[][2] = {
		{ "cacheline", "cacheline" }, { "line", "cacheline" }, { "variable", "variable" },
		{ "member", "member" }, { "phase", "phase" }, { "region", "region" },
	};
	size_t i;

	for (i = 0; i < HVAR_ARRAY_SIZE(by); i++) {
		size_t n = strlen(by[i][0]);

		if (!strncmp(word, by[i][0], n) && (!word[n] || !strcmp(word + n, "s")))
			return by[i][1];
	}
	return NULL;
}

static int dispatch(int argc, char **argv, struct err *e)
{
	const struct cli_command *c;
	const char *meant;

	if (argc < 2) {
		overview(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?")) {
		char *help[] = { "hotvar", "--help", NULL };

		overview(stdout);
		puts("\nOptions of 'hotvar [OPTION...] -- CMD':\n");
		return cmd_run(2, help, e);
	}
	c = find_command(argv[1]);
	if (c)
		return c->run(argc - 1, argv + 1, e);
	if (is_reserved(argv[1])) {
		err_exit(e, ENOSYS, CLI_USAGE,
			 "'hotvar %s' is not in version %s: to profile the program '%s' write 'hotvar -- %s'",
			 argv[1], PACKAGE_VERSION, argv[1], argv[1]);
		return CLI_USAGE;
	}
	meant = meant_command(argv[1]);
	if (!meant && meant_by(argv[1]) && !is_program(argv[1])) {
		err_exit(e, ENOENT, CLI_USAGE,
			 "'%s' is neither a subcommand nor a program; did you mean 'hotvar --by %s -- CMD'? See 'hotvar --help'",
			 argv[1], meant_by(argv[1]));
		return CLI_USAGE;
	}
	if (meant) {
		err_exit(e, ENOENT, CLI_USAGE,
			 "'%s' is neither a subcommand nor a program; did you mean 'hotvar %s'? See 'hotvar --help'",
			 argv[1], meant);
		return CLI_USAGE;
	}
	return cmd_run(argc, argv, e);
}

/*
 * Were one of 0 to 2 closed, the next file opened would be it, and what is said would be written into that
 * file.  CMD has it closed, as it was.
 */
static void hold_closed(void)
{
	int fd;

	do {
		fd = open("/", O_PATH | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/*
 * Two are errors of the write that fails, too, and the ticker's is no news from outside, nor when it comes late; CMD gets
 * what we were given.
 */
static void ignore_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(TICKER_SIGNAL, SIG_IGN);
}

int main(int argc, char **argv)
{
	struct err e = { 0, "" };
	int status;

	hold_closed();
	ignore_signals();
	status = dispatch(argc, argv, &e);
	if (e.text[0]) {
		fflush(stdout);
		cli_say(e.text);
	}
	return status;
}
