/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_valgrind.h - where valgrind and hotvar's tool for it are, and whether they can run a program.
 */
#ifndef EXACT_VALGRIND_H
#define EXACT_VALGRIND_H

#include <stdbool.h>

#include "err.h"

struct exact_valgrind {
	char launcher[4096]; /* valgrind's own program */
	unsigned prefetches; /* as struct session has it */
	bool callers;	     /* counts are wanted by instruction, too */
	bool lines;	     /* likewise by cache line and thread */
	bool stopped;	     /* nothing is to be counted until the program asks for it */
	char folder[4096];   /* of the tool, and of links to valgrind's files: VALGRIND_LIB */
};

/* Find both.  Returns 0, or -ENOENT and @e with what to install. */
int exact_valgrind_find(struct exact_valgrind *v, struct err *e);

/* Can the file @path be run under it?  0, or -errno and @e; with the status 126 or 127 where nothing could run it. */
int exact_valgrind_can_run(const char *path, struct err *e);

/* It has ended with @wait_status of waitpid(2) and has not begun to run @name: say so.  Returns -errno. */
int exact_valgrind_failed(const char *name, int wait_status, struct err *e);

/*
 * The arguments that run @argv, the file @path, under @v, for a hotvar that listens to @socket, with the malloc that
 * @whose says (session.h); malloc'd in one piece, which borrows @argv's and @v's strings.  NULL: no memory.
 */
char **exact_valgrind_argv(const struct exact_valgrind *v, char *const *argv, const char *path, const char *socket,
			   const char *whose);

/* Does the program keep its own malloc with @whose?  Else v->folder/heap is where valgrind finds what takes its place. */
bool exact_valgrind_keeps_malloc(const char *whose);

#endif /* EXACT_VALGRIND_H */
