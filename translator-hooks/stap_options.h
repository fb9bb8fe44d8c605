/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_options.h - what a command line of stap says, as far as hotvar must know it.
 *
 * It is read as stap reads it, by getopt_long(3)'s rules: options and other words mixed,
 * short options in one word, long ones cut short.  What stap would refuse is no
 * error here: stap says it.  Options of our own are taken out, and nothing else is
 * changed.  Strings are borrowed from the words that were read.
 */
#ifndef STAP_OPTIONS_H
#define STAP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/user/err.h"

/* Strings in order.  All zero at first. */
struct stap_words {
	const char **v;
	size_t n, cap;
};

/* Returns 0 or -ENOMEM. */
int stap_words_add(struct stap_words *w, const char *s);
void stap_words_fini(struct stap_words *w);

struct stap_options {
	/* stap's own */
	int pass;		/* -p: the last one, 5 if not given */
	bool lists;		/* -l, -L, --dump-*: no script, nothing runs */
	bool asks;		/* --help, --version, servers and the like: no script at all */
	bool interactive;	/* -i, --language-server: scripts come later */
	bool no_module;		/* --dyninst, --bpf: what runs is no kernel module */
	bool server;		/* --use-server: another stap compiles */
	bool verbose, quiet;	/* -v, -w */
	const char *remote;	/* the first --remote */
	const char *release;	/* -r */
	const char *arch;	/* -a */
	const char *sysroot;
	const char *runtime;	/* -R */
	const char *command;	/* -c */
	const char *pid;	/* -x */
	const char *script;	/* -e */
	const char *file;	/* of the script, "-" for stdin */
	struct stap_words more;	   /* -E, scripts too */
	struct stap_words objects; /* -d */
	struct stap_words include; /* -I */
	struct stap_words args;	   /* of the script: $1, @1 */
	/* ours */
	bool help;		/* --help, -h: ours goes first */
	bool all;		/* --all */
	bool no_images;		/* --no-images */
	bool images_only;	/* --images-only */
	struct stap_words also;	/* --also */
	/* what is left for stap, without argv[0] */
	struct stap_words rest;
};

/*
 * Read @argv from its second word on.  Call it first with the words of stap's rc file, @ours
 * false, and then with the command line: as stap does.  Returns 0, -EINVAL with @e
 * for a bad use of an option of our own, or -ENOMEM with @e.
 */
int stap_options_read(struct stap_options *o, int argc, char *const *argv, bool ours,
		      struct err *e);
/* All zero but for the last pass. */
void stap_options_init(struct stap_options *o);
void stap_options_fini(struct stap_options *o);

/*
 * Does stap take an argument with option @name, written as "-x" or "--name"?  1: always, 0: never,
 * 2: maybe, after "=", -1: it is not known.  For tests.
 */
int stap_options_takes(const char *name);

#endif /* STAP_OPTIONS_H */
