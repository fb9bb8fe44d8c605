/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metas.h - what a recording says of itself, by key: the last value of each.
 */
#ifndef METAS_H
#define METAS_H

#include <stddef.h>

struct metas {
	struct meta {
		char *key, *value;
	} *v;
	size_t n;
};

/* The @n bytes at @key and the string @value, which is taken.  Returns 0 or -ENOMEM. */
int metas_set(struct metas *m, const char *key, size_t n, char *value);

/* NULL: there is none; good until metas_set() of the same. */
const char *metas_get(const struct metas *m, const char *key);

void metas_fini(struct metas *m);

#endif /* METAS_H */
