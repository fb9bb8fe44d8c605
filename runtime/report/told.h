/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * told.h - the modules that a stream has told of, by number.
 */
#ifndef TOLD_H
#define TOLD_H

#include <stddef.h>

#include "runtime/user/stream.h"

struct told {
	struct hvar_module m;
	char *path; /* no NUL */
	size_t path_len;
};

struct told_modules {
	struct told **v; /* by number */
	size_t n;
};

/* Keep what a STREAM_MODULE record says.  Returns 0 or -ENOMEM. */
int told_module(struct told_modules *t, const struct stream_module *m);
/* What was said last of number @id, or NULL. */
const struct told *told_get(const struct told_modules *t, uint32_t id);
void told_fini(struct told_modules *t);

#endif /* TOLD_H */
