/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages_watch.h - hotvar pages --copies: from its begin to its rows.
 */
#ifndef PAGES_WATCH_H
#define PAGES_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "runtime/user/err.h"
#include "runtime/user/page_target.h"

struct pages_watch {
	FILE *f;
	bool json, quiet;
	char **argv; /* CMD, or NULL: */
	pid_t pid;
	double seconds; /* 0: until ^C, or the end of CMD */
	struct page_target *target; /* of CMD; found already */
	volatile sig_atomic_t *asked; /* the signal that asked to end, or 0 */
	size_t rows; /* written */
};

/* 0, or -errno and @e.  CMD has ended then. */
int pages_watch_copies(struct pages_watch *w, struct err *e);

#endif /* PAGES_WATCH_H */
