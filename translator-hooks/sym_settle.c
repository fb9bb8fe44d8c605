// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sym_settle.c - symbols by address, each once, the one whose name is chosen first.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "big_alloc.h"
#include "sort_keys.h"
#include "sym_extents.h"
#include "sym_names.h"
#include "sym_table.h"

/* Bits that @v takes. */
static unsigned width(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* Rows are moved once, when it is known where to. */
static int move_rows(struct sym_rows *rows, const uint64_t *keys)
{
	struct sym_row *to = big_alloc((size_t)rows->n * sizeof(*to));
	uint32_t i, n = rows->n;

	if (!to)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		__builtin_prefetch(&rows->v[(uint32_t)keys[i + 16 < n ? i + 16 : i]]);
		to[i] = rows->v[(uint32_t)keys[i]];
	}
	big_free(rows->v);
	rows->v = to;
	rows->cap = n;
	return 0;
}

/* By address, and else as they were. */
static int sort_vaddr(struct sym_rows *rows)
{
	uint64_t min = UINT64_MAX, max = 0, last = 0, *keys, *sorted, *spare;
	bool sorted_already = true;
	uint32_t i, n = rows->n;
	int r;

	for (i = 0; i < n; i++) {
		uint64_t at = rows->v[i].vaddr;

		sorted_already &= at >= last;
		min = at < min ? at : min;
		max = at > max ? at : max;
		last = at;
	}
	if (sorted_already)
		return 0;
	keys = big_alloc((size_t)n * 2 * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		keys[i] = (rows->v[i].vaddr - min) << 32 | i;
	sorted = sort_keys(keys, keys + n, n, width(max - min));
	/* further apart than 32 bits tell */
	if ((max - min) >> 32) {
		for (i = 0; i < n; i++)
			sorted[i] = (rows->v[(uint32_t)sorted[i]].vaddr - min) >> 32 << 32 |
				    (uint32_t)sorted[i];
		spare = sorted == keys ? keys + n : keys;
		sorted = sort_keys(sorted, spare, n, width((max - min) >> 32));
	}
	r = move_rows(rows, sorted);
	big_free(keys);
	return r;
}

static int same_text(const struct sym_table *t, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(sym_table_text(t, a), sym_table_text(t, b));
}

/* Within one address: by size, then name, so that twins stand side by side. */
static int by_name(const void *pa, const void *pb, void *ctx)
{
	const struct sym_row *a = pa, *b = pb;
	int order;

	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	order = same_text(ctx, a->name, b->name);
	if (order)
		return order;
	/* .symtab before .dynsym: it knows more; a version before none */
	if ((a->flags ^ b->flags) & HVAR_SYM_DYNSYM)
		return a->flags & HVAR_SYM_DYNSYM ? 1 : -1;
	if (a->version != b->version)
		return a->version > b->version ? -1 : 1;
	return (int)a->binding - (int)b->binding;
}

static unsigned underscores(const char *s)
{
	unsigned n = 0;

	while (s[n] == '_')
		n++;
	return n;
}

static int weakness(uint8_t binding)
{
	return binding == HVAR_BIND_LOCAL ? 2 : binding == HVAR_BIND_WEAK;
}

/* The canonical one first. */
static int by_rank(const void *pa, const void *pb, void *ctx)
{
	const struct sym_row *a = pa, *b = pb;
	const struct sym_table *t = ctx;
	const char *x, *y;
	size_t m, n;
	int order;

	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	m = sym_table_plain(t, a, &x);
	n = sym_table_plain(t, b, &y);
	if (underscores(x) != underscores(y))
		return underscores(x) < underscores(y) ? -1 : 1;
	if (weakness(a->binding) != weakness(b->binding))
		return weakness(a->binding) - weakness(b->binding);
	if (m != n)
		return m < n ? -1 : 1;
	order = memcmp(x, y, m);
	return order ? order : strcmp(x, y);
}

/* Sort @n rows of one address: mostly two. */
static void sort_few(struct sym_table *t, struct sym_row *v, uint32_t n,
		     int (*compare)(const void *, const void *, void *))
{
	uint32_t i, k;

	if (n > 8) {
		qsort_r(v, n, sizeof(*v), compare, t);
		return;
	}
	for (i = 1; i < n; i++) {
		struct sym_row y = v[i];

		for (k = i; k && compare(&y, &v[k - 1], t) < 0; k--)
			v[k] = v[k - 1];
		v[k] = y;
	}
}

/* How many rows from @i on have one address. */
static uint32_t run(const struct sym_rows *rows, uint32_t i)
{
	uint32_t k = i + 1;

	while (k < rows->n && rows->v[k].vaddr == rows->v[i].vaddr)
		k++;
	return k - i;
}

/* Has a symbol of a table, @y, the name of the variable @v, or its size? */
static bool is_of(const struct sym_table *t, const struct sym_row *y, const struct sym_row *v)
{
	const char *name = sym_table_text(t, v->name), *s = sym_table_text(t, y->name);
	size_t n = strlen(name);

	if (y->flags & HVAR_SYM_DEBUG || !y->size)
		return false;
	/* the linker's and the compiler's own endings: "counter.0" */
	return !v->size || y->size == v->size || (!strncmp(s, name, n) && (!s[n] || s[n] == '.'));
}

/* At one place; those behind are not compared: a file made to deceive could make it dear. */
#define ALIASES_MAX 1024

/*
 * Of @n rows of one address: variables of the debug information are symbols only where no table has one for
 * them.  Returns how many are left.
 */
static uint32_t drop_known(const struct sym_table *t, struct sym_row *v, uint32_t n)
{
	uint32_t i, k, left = 0;

	/* what is compared with stays where it is: rows of tables come first, in the order they were added */
	for (i = 0; i < n; i++) {
		bool known = false;

		if (v[i].flags & HVAR_SYM_DEBUG)
			for (k = 0; k < n && k < ALIASES_MAX && !known; k++)
				known = is_of(t, &v[k], &v[i]);
		if (!known)
			v[left++] = v[i];
	}
	return left;
}

/* @a and @b are one: it keeps the best of what each table knew. */
static void merge(struct sym_row *a, const struct sym_row *b)
{
	if (!a->version)
		a->version = b->version;
	if (weakness(b->binding) < weakness(a->binding))
		a->binding = b->binding;
	if (a->section == HVAR_IMAGE_NONE)
		a->section = b->section;
	if (b->origin < a->origin)
		a->origin = b->origin;
}

/* Of @n sorted rows of one address one of each (size, name). */
static uint32_t merge_twins(const struct sym_table *t, struct sym_row *v, uint32_t n)
{
	uint32_t i, k = 1;

	for (i = 1; i < n; i++) {
		struct sym_row *a = &v[k - 1], *b = &v[i];

		if (a->size != b->size || a->hash != b->hash || same_text(t, a->name, b->name)) {
			v[k++] = *b;
			continue;
		}
		merge(a, b);
	}
	return k;
}

/* Most that share an address are two that .symtab and .dynsym have: there @b, which is of the latter, goes. */
static bool are_twins(const struct sym_table *t, const struct sym_row *a, const struct sym_row *b)
{
	return a->size == b->size && a->hash == b->hash && (a->flags ^ b->flags) == HVAR_SYM_DYNSYM &&
	       b->flags & HVAR_SYM_DYNSYM && !same_text(t, a->name, b->name);
}

static void settle_rows(struct sym_table *t, struct sym_rows *rows)
{
	uint32_t i, n, left, kept = 0;

	for (i = 0; i < rows->n; i += n) {
		struct sym_row *v = &rows->v[i];

		n = left = run(rows, i);
		if (n == 2 && are_twins(t, &v[0], &v[1])) {
			merge(&v[0], &v[1]);
			left = 1;
		} else if (n > 1) {
			if (t->any_debug)
				left = drop_known(t, v, n);
			sort_few(t, v, left, by_name);
			left = merge_twins(t, v, left);
		}
		if (kept != i)
			memmove(&rows->v[kept], v, left * sizeof(*v));
		kept += left;
	}
	rows->n = kept;
}

/* What is still named in the spare table only. */
static int keep_spare(struct sym_table *t, struct sym_rows *rows)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < rows->n && !r; i++) {
		struct sym_row *y = &rows->v[i];
		const char *s;

		if (y->name & SYM_SPARE) {
			s = sym_table_text(t, y->name);
			r = sym_table_str(t, s, strlen(s), &y->name);
		}
		if (y->file & SYM_SPARE && !r) {
			s = sym_table_text(t, y->file);
			r = sym_table_str(t, s, strlen(s), &y->file);
		}
	}
	return r;
}

static void rank_rows(struct sym_table *t, struct sym_rows *rows)
{
	uint32_t i, n;

	for (i = 0; i < rows->n; i += n) {
		n = run(rows, i);
		if (n > 1)
			sort_few(t, &rows->v[i], n, by_rank);
	}
}

int sym_table_settle(struct sym_table *t, const struct hvar_image_seg *segs,
		     uint32_t n, uint64_t tls_size)
{
	struct hvar_image_seg block = { .memsz = tls_size };
	struct sym_rows *all[2] = { &t->syms, &t->tls };
	int i, r = 0;

	for (i = 0; i < 2 && !r; i++) {
		r = sort_vaddr(all[i]);
		if (!r)
			settle_rows(t, all[i]);
		if (!r && t->spare)
			r = keep_spare(t, all[i]);
	}
	big_free(t->spare);
	t->spare = NULL;
	if (!r)
		r = sym_names(t);
	for (i = 0; i < 2 && !r; i++)
		rank_rows(t, all[i]);
	if (!r)
		r = sym_extents(&t->syms, segs, n);
	if (!r)
		r = sym_extents(&t->tls, &block, tls_size ? 1 : 0);
	return r;
}
