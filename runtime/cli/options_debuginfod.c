// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options_debuginfod.c - "--debuginfod", and what a user sees of it.
 */
#include "config.h"

#include "options_debuginfod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "translator-hooks/debug_server.h"

enum { KEY_DEBUGINFOD = 0x6100 };

static const struct argp_option options[] = {
	{ "debuginfod", KEY_DEBUGINFOD, NULL, 0,
	  "Ask the servers in DEBUGINFOD_URLS for debug files that are not here", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != KEY_DEBUGINFOD)
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

const struct argp debuginfod_argp = { .options = options, .parser = parse };

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* One line of the terminal, written over each time: names of files may be anything. */
static void progress(const char *name, long bytes, long all)
{
	char text[64];
	size_t i;

	if (all < 0) {
		fputs("\r\033[K", stderr);
		return;
	}
	snprintf(text, sizeof(text), "%s", last_part(name));
	for (i = 0; text[i]; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			text[i] = '?';
	fprintf(stderr, "\r\033[Khotvar: debuginfod: debug file of %s", text);
	if (all > 0)
		fprintf(stderr, ": %.1f of %.1f MB", (double)bytes / 1e6, (double)all / 1e6);
	fputs(" (^C skips)", stderr);
	fflush(stderr);
}

static void without(const char *name, const char *why)
{
	char *text;

	if (asprintf(&text, "going on without the debug file of '%s' from debuginfod: %s", name, why) < 0)
		return;
	cli_say(text);
	free(text);
}

int debuginfod_start(const struct cli_common *c, struct err *e)
{
	static struct debug_server_hooks hooks;
	const char *why = debug_server_why();
	char text[512];
	unsigned i;

	if (why) {
		err_set(e, ENOTSUP, "cannot ask debuginfod: %s", why);
		return CLI_FAILED;
	}
	for (i = 0; i < DEBUG_SERVER_NUMBERS && !c->quiet; i++)
		if (debug_server_bad_number(i, text, sizeof(text)))
			cli_say(text);
	if (!c->quiet)
		hooks.without = without;
	hooks.absent = c->verbose;
	if (!c->quiet && isatty(STDERR_FILENO))
		hooks.progress = progress;
	debug_server_ask(&hooks);
	return CLI_OK;
}
