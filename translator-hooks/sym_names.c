// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sym_names.c - rows are brought together by the hashes of their names; most stand alone.
 */
#include "config.h"

#include "sym_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "big_alloc.h"
#include "sort_keys.h"

/* Row number @key's lower half: of syms, then of tls. */
static struct sym_row *row(const struct sym_table *t, uint64_t key)
{
	uint32_t i = (uint32_t)key;

	return i < t->syms.n ? &t->syms.v[i] : &t->tls.v[i - t->syms.n];
}

static int compare(const struct sym_table *t, uint64_t a, uint64_t b)
{
	uint32_t x = row(t, a)->name, y = row(t, b)->name;

	return x == y ? 0 : strcmp(sym_table_text(t, x), sym_table_text(t, y));
}

static int by_text(const void *pa, const void *pb, void *ctx)
{
	return compare(ctx, *(const uint64_t *)pa, *(const uint64_t *)pb);
}

/* Offsets in TLS and addresses are different places. */
static uint64_t place(const struct sym_row *y)
{
	return y->tls ? ~y->vaddr : y->vaddr;
}

static int put_version(struct sym_table *t, struct sym_row *y)
{
	const char *name = sym_table_text(t, y->name), *version = sym_table_text(t, y->version);
	char *both = malloc(strlen(name) + strlen(version) + 1);
	int r;

	if (!both)
		return -ENOMEM;
	strcpy(stpcpy(both, name), version);
	r = sym_table_str(t, both, strlen(both), &y->name);
	y->apart = !r;
	free(both);
	return r;
}

/* The @n rows at @keys have one name. */
static int same_name(struct sym_table *t, const uint64_t *keys, uint32_t n)
{
	const struct sym_row *first = row(t, keys[0]), *public = NULL;
	bool several = false, public_several = false;
	uint32_t i;
	int r = 0;

	for (i = 0; i < n; i++) {
		const struct sym_row *y = row(t, keys[i]);

		several |= place(y) != place(first);
		if (y->binding == HVAR_BIND_LOCAL)
			continue;
		if (!public)
			public = y;
		public_several |= place(y) != place(public);
	}
	for (i = 0; i < n && several && !r; i++) {
		struct sym_row *y = row(t, keys[i]);

		if (y->binding == HVAR_BIND_LOCAL)
			y->flags |= HVAR_SYM_SAME_NAME;
		else if (y->version && public_several)
			r = put_version(t, y);
	}
	return r;
}

/* The @n rows at @keys have names of one hash. */
static int same_hash(struct sym_table *t, uint64_t *keys, uint32_t n)
{
	uint32_t i, k;
	int r = 0;

	for (i = 1; i < n && !compare(t, keys[0], keys[i]); i++)
		;
	if (i < n)
		qsort_r(keys, n, sizeof(*keys), by_text, t);
	for (i = 0; i < n && !r; i = k) {
		/* what same_name() does to a name, the next is not compared with */
		for (k = i + 1; k < n && !compare(t, keys[i], keys[k]); k++)
			;
		if (k - i > 1)
			r = same_name(t, keys + i, k - i);
	}
	return r;
}

/* Nothing is to be told apart where all are public and without versions. */
static uint32_t gather(const struct sym_table *t, uint64_t *keys)
{
	uint32_t i, n = t->syms.n + t->tls.n;
	bool any = false;

	for (i = 0; i < n; i++) {
		const struct sym_row *y = row(t, i);

		any |= y->binding == HVAR_BIND_LOCAL || y->version;
		keys[i] = (uint64_t)y->hash << 32 | i;
	}
	return any ? n : 0;
}

int sym_names(struct sym_table *t)
{
	uint64_t all = (uint64_t)t->syms.n + t->tls.n, *keys, *sorted;
	uint32_t n, i, k;
	int r = 0;

	if (all >= UINT32_MAX)
		return -EFBIG;
	keys = big_alloc(2 * all * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	n = gather(t, keys);
	sorted = sort_keys(keys, keys + n, n, 32);
	for (i = 0; i < n && !r; i = k) {
		for (k = i + 1; k < n && !((sorted[k] ^ sorted[i]) >> 32); k++)
			;
		if (k - i > 1)
			r = same_hash(t, sorted + i, k - i);
	}
	big_free(keys);
	return r;
}
