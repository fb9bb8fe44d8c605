// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text_ranges.c - FDEs' ranges -> sorted, disjoint, within text, without what symbols cover.
 *
 * A range that is kept starts where an FDE says that a function does; only its end is cut:
 *
 *	FDEs     [----a----)  [---b---)   [----c----)
 *	symbols               [--fn---)        [-g--)
 *	kept     [----a----)              [-c--)
 */
#include "config.h"

#include "text_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf_frames.h"

struct gather {
	const struct elf_file *f;
	const struct image_parts *parts;
	const struct sym_table *syms;
	struct hvar_image_range *v;
	uint32_t n, cap;
};

/*
 * Without section headers: does it start with a jump through memory, or with a push from memory as
 * the entry for lazy binding does?  What starts so is no function with code of its own.
 *
 *	[f3 0f 1e fa] [f2] ff 25|a3|35|b3
 */
static bool starts_as_plt(const struct gather *g, uint64_t vaddr)
{
	static const uint8_t endbr[][4] = { { 0xf3, 0x0f, 0x1e, 0xfa }, { 0xf3, 0x0f, 0x1e, 0xfb } };
	uint8_t code[8] = { 0 }, *p = code;
	uint64_t at, left;

	if (!elf_file_vaddr(g->f, vaddr, &at, &left) ||
	    elf_file_read(g->f, at, code, left < 7 ? left : 7, NULL))
		return false;
	if (!memcmp(p, endbr[0], 4) || !memcmp(p, endbr[1], 4))
		p += 4;
	if (*p == 0xf2)
		p++;
	return p[0] == 0xff && (p[1] == 0x25 || p[1] == 0xa3 || p[1] == 0x35 || p[1] == 0xb3);
}

/* The linker describes a whole PLT as one function, which it is not. */
static bool in_plt(const struct gather *g, uint64_t vaddr)
{
	const struct hvar_image_section *s = g->parts->sections;
	uint32_t lo = 0, hi = g->parts->n_sections;
	const char *name;

	if (!hi)
		return starts_as_plt(g, vaddr);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s[mid].kind != HVAR_KIND_TLS && s[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || vaddr - s[lo - 1].vaddr >= s[lo - 1].size)
		return false;
	name = sym_table_text(g->syms, s[lo - 1].name);
	return !strncmp(name, ".plt", 4) || !strncmp(name, ".iplt", 5);
}

static bool in_text(const struct image_parts *p, uint64_t start, uint64_t end)
{
	const struct hvar_image_seg *s = p->segs;
	uint32_t lo = 0, hi = p->n_segs;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s[mid].vaddr <= start)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	s += lo - 1;
	return s->prot & HVAR_PROT_EXEC && start - s->vaddr < s->filesz &&
	       end - s->vaddr <= s->filesz;
}

static int take(void *ctx, uint64_t start, uint64_t end)
{
	struct gather *g = ctx;

	if (!in_text(g->parts, start, end) || in_plt(g, start))
		return 0;
	if (g->n == g->cap) {
		uint32_t cap = g->cap ? g->cap * 2 : 256;
		struct hvar_image_range *v = realloc(g->v, (size_t)cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		g->v = v;
		g->cap = cap;
	}
	g->v[g->n++] = (struct hvar_image_range){ start, end };
	return 0;
}

/* Of one start the longest first. */
static int by_start(const void *pa, const void *pb)
{
	const struct hvar_image_range *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* One of each start; of two that overlap, the first ends where the second starts. */
static void disjoin(struct gather *g)
{
	uint32_t i, k = 0;

	for (i = 0; i < g->n; i++) {
		if (k && g->v[k - 1].start == g->v[i].start)
			continue;
		if (k && g->v[k - 1].end > g->v[i].start)
			g->v[k - 1].end = g->v[i].start;
		g->v[k++] = g->v[i];
	}
	g->n = k;
}

/* Is vaddr @at, in extent @x, in a sized symbol of a function? */
static bool named(const struct sym_rows *rows, const struct sym_extent *x, uint64_t at)
{
	const struct sym_row *y;

	if (x->owner == HVAR_IMAGE_NONE)
		return false;
	y = &rows->v[x->owner];
	return (y->type == HVAR_SYM_FUNC || y->type == HVAR_SYM_IFUNC) &&
	       at - y->vaddr < y->size;
}

/* Both ascend: extents are passed over once. */
static void drop_named(struct gather *g, const struct sym_rows *rows)
{
	const struct sym_extent *x = rows->extents;
	uint32_t n = rows->n_extents, at = 0, i, k = 0;

	for (i = 0; i < g->n; i++) {
		struct hvar_image_range r = g->v[i];

		while (at < n && x[at].start <= r.start)
			at++;
		/* the extent before is the last that starts at or before r */
		if (at && named(rows, &x[at - 1], r.start))
			continue;
		for (; at < n && x[at].start < r.end; at++)
			if (named(rows, &x[at], x[at].start))
				r.end = x[at].start;
		g->v[k++] = r;
	}
	g->n = k;
}

int text_ranges(const struct elf_file *f, struct image_parts *p, const struct sym_table *t,
		struct err *e)
{
	struct gather g = { .f = f, .parts = p, .syms = t };
	int r = elf_frames_walk(f, take, &g, e);
	uint32_t i;

	if (r) {
		free(g.v);
		return r;
	}
	/* linkers keep them in the order of the code, mostly */
	for (i = 1; i < g.n && by_start(&g.v[i - 1], &g.v[i]) <= 0; i++)
		;
	if (i < g.n)
		qsort(g.v, g.n, sizeof(*g.v), by_start);
	disjoin(&g);
	drop_named(&g, &t->syms);
	p->ranges = g.v;
	p->n_ranges = g.n;
	return 0;
}
