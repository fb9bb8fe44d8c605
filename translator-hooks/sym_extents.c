// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sym_extents.c - one sweep over the symbols, with the open ones on a stack.
 *
 * Symbols come by start, so the one that starts last is on top; of several with
 * one start the shortest is pushed last.  Ends are looked at only when an end on
 * top uncovers what lies below: each symbol is pushed and popped once.
 */
#include "config.h"

#include "sym_extents.h"

#include <errno.h>
#include <stdlib.h>

#include "big_alloc.h"

/* An open symbol; @last is its last byte, as an end may be 2^64. */
struct open {
	uint64_t last;
	uint32_t row;
};

struct sweep {
	struct sym_rows *rows;
	const struct hvar_image_seg *segs;
	uint32_t n_segs, seg;
	struct open *stack;
	uint32_t depth;
};

static int emit(struct sym_rows *r, uint64_t start, uint32_t owner)
{
	struct sym_extent *x;

	/* what an end uncovered is covered again if the next one starts right there */
	if (r->n_extents && r->extents[r->n_extents - 1].start == start)
		r->n_extents--;
	if (r->n_extents && r->extents[r->n_extents - 1].owner == owner)
		return 0;
	if (r->n_extents == r->cap_extents) {
		uint32_t cap = r->cap_extents ? r->cap_extents * 2 : r->n + 256;

		x = big_realloc(r->extents, (size_t)cap * sizeof(*x));
		if (!x)
			return -ENOMEM;
		r->extents = x;
		r->cap_extents = cap;
	}
	x = &r->extents[r->n_extents++];
	x->start = start;
	x->owner = owner;
	return 0;
}

/* The last byte that row @i may own: its own, but within its segment. */
static uint64_t last_of(struct sweep *s, uint32_t i)
{
	const struct sym_row *y = &s->rows->v[i];
	uint64_t last = y->vaddr + (y->size ? y->size - 1 : 0), end;

	while (s->seg < s->n_segs &&
	       s->segs[s->seg].vaddr + (s->segs[s->seg].memsz - 1) < y->vaddr)
		s->seg++;
	if (s->seg == s->n_segs)
		return last;
	end = s->segs[s->seg].vaddr + (s->segs[s->seg].memsz - 1);
	return last < end ? last : end;
}

/*
 * Close all that ends before @next (@all: everything), and say what that uncovers:
 * the next open one, or nobody where the closed one's own end does not tell (it
 * was cut at its segment's end).
 */
static int close_before(struct sweep *s, uint64_t next, bool all)
{
	const struct sym_row *y;
	int r = 0;

	while (!r && s->depth && (all || s->stack[s->depth - 1].last < next)) {
		uint64_t last = s->stack[--s->depth].last;

		y = &s->rows->v[s->stack[s->depth].row];
		while (s->depth && s->stack[s->depth - 1].last <= last)
			s->depth--;
		if (s->depth)
			r = emit(s->rows, last + 1, s->stack[s->depth - 1].row);
		else if (y->size && y->vaddr + (y->size - 1) != last && last != UINT64_MAX)
			r = emit(s->rows, last + 1, HVAR_IMAGE_NONE);
	}
	return r;
}

/* Rows @i up to @k start at one address: labels first, then by size. */
static int open_run(struct sweep *s, uint32_t i, uint32_t k)
{
	const struct sym_row *v = s->rows->v;
	uint64_t start = v[i].vaddr;
	uint32_t sized = i, g = k;

	while (sized < k && !v[sized].size)
		sized++;
	if (sized == k) /* labels only: the first, where nothing sized is open */
		return s->depth ? 0 : emit(s->rows, start, i);
	/* the largest first; of each size the canonical one */
	while (g > sized) {
		g--;
		while (g > sized && v[g - 1].size == v[g].size)
			g--;
		s->stack[s->depth].last = last_of(s, g);
		s->stack[s->depth++].row = g;
	}
	return emit(s->rows, start, s->stack[s->depth - 1].row);
}

int sym_extents(struct sym_rows *rows, const struct hvar_image_seg *segs,
		uint32_t n)
{
	struct sweep s = { .rows = rows, .segs = segs, .n_segs = n };
	uint32_t i, k;
	int r = 0;

	if (!rows->n)
		return 0;
	s.stack = big_alloc((size_t)rows->n * sizeof(*s.stack));
	if (!s.stack)
		return -ENOMEM;
	for (i = 0; i < rows->n && !r; i = k) {
		for (k = i + 1; k < rows->n && rows->v[k].vaddr == rows->v[i].vaddr; k++)
			;
		r = close_before(&s, rows->v[i].vaddr, false);
		if (!r)
			r = open_run(&s, i, k);
	}
	if (!r)
		r = close_before(&s, 0, true);
	big_free(s.stack);
	return r;
}
