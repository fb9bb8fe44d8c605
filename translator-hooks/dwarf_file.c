// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_file.c - the debug sections of one ELF file, in memory, and the units in them.
 */
#include "config.h"

#include "dwarf_file.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_die.h"
#include "dwarf_name.h"
#include "dwarf_sections.h"

/* More than the largest programs have; a unit costs more memory here than in the file. */
#define UNITS_MAX (1u << 20)

/* ---- cursors ---- */

static bool take(struct dwarf_cursor *c, uint64_t n)
{
	if (n <= (uint64_t)(c->end - c->p))
		return true;
	c->p = c->end;
	c->bad = true;
	return false;
}

uint64_t dwarf_fixed(struct dwarf_cursor *c, unsigned n)
{
	uint64_t v = 0;

	if (!take(c, n))
		return 0;
	memcpy(&v, c->p, n);
	c->p += n;
	return v;
}

/* The 7 bits a byte of a LEB128 number; *@shift: how many there were, 64 at most; *@last: the last byte. */
static uint64_t leb128(struct dwarf_cursor *c, unsigned *shift, uint8_t *last)
{
	uint64_t v = 0;

	*shift = 0;
	do {
		if (c->p == c->end) {
			c->bad = true;
			*shift = 64;
			return 0;
		}
		*last = *c->p++;
		if (*shift < 64)
			v |= (uint64_t)(*last & 0x7f) << *shift;
		*shift = *shift < 64 ? *shift + 7 : 64;
	} while (*last & 0x80);
	return v;
}

uint64_t dwarf_uleb(struct dwarf_cursor *c)
{
	unsigned shift;
	uint8_t last;

	return leb128(c, &shift, &last);
}

int64_t dwarf_sleb(struct dwarf_cursor *c)
{
	unsigned shift;
	uint8_t last = 0;
	uint64_t v = leb128(c, &shift, &last);

	if (shift < 64 && last & 0x40)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

const char *dwarf_string(struct dwarf_cursor *c)
{
	const uint8_t *s = c->p, *nul = memchr(s, 0, (size_t)(c->end - s));

	if (!nul) {
		c->p = c->end;
		c->bad = true;
		return "";
	}
	c->p = nul + 1;
	return (const char *)s;
}

void dwarf_skip(struct dwarf_cursor *c, uint64_t n)
{
	if (take(c, n))
		c->p += n;
}

/* ---- units ---- */

static struct dwarf_unit *new_unit(struct dwarf_file *d, uint32_t *cap)
{
	if (d->n_units == *cap) {
		uint32_t n = *cap ? *cap * 2 : 64;
		struct dwarf_unit *v = realloc(d->units, n * sizeof(*v));

		if (!v)
			return NULL;
		d->units = v;
		*cap = n;
	}
	memset(&d->units[d->n_units], 0, sizeof(*d->units));
	return &d->units[d->n_units];
}

/*
 * The header at @c, which is left behind the unit.  False: the unit is none that can be read, or
 * (c->bad) nothing that follows can.
 */
static bool read_header(struct dwarf_cursor *c, bool types, struct dwarf_unit *u, uint64_t *abbrev)
{
	struct dwarf_cursor in = { c->p, c->end, false };
	uint64_t n = dwarf_fixed(&in, 4);

	u->start = c->p;
	u->offset_size = 4;
	if (n == 0xffffffff) {
		u->offset_size = 8;
		n = dwarf_fixed(&in, 8);
	} else if (n >= 0xfffffff0) {
		in.bad = true;
	}
	if (in.bad || n > (uint64_t)(in.end - in.p)) {
		c->bad = true;
		return false;
	}
	in.end = u->end = in.p + n;
	c->p = u->end;
	u->version = (uint16_t)dwarf_fixed(&in, 2);
	if (u->version < 2 || u->version > 5)
		return false;
	u->type = types ? DW_UT_type : DW_UT_compile;
	if (u->version >= 5) {
		u->type = (uint8_t)dwarf_fixed(&in, 1);
		u->addr_size = (uint8_t)dwarf_fixed(&in, 1);
	}
	*abbrev = dwarf_fixed(&in, u->offset_size);
	if (u->version < 5)
		u->addr_size = (uint8_t)dwarf_fixed(&in, 1);
	if (u->type == DW_UT_type || u->type == DW_UT_split_type) {
		u->id = dwarf_fixed(&in, 8);
		u->type_die = dwarf_fixed(&in, u->offset_size);
		u->has_id = true;
	} else if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile) {
		u->id = dwarf_fixed(&in, 8);
		u->has_id = true;
	}
	u->die = in.p;
	return !in.bad && (u->addr_size == 4 || u->addr_size == 8);
}

/* Which part of a package's shared sections the unit whose bytes start at @p has. */
struct part {
	uint64_t start, n;
	struct dwarf_base base;
};

struct parts {
	struct part *v;
	uint32_t n;
};

static int by_start(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/*
 * A package's index (DWARF 5, 7.3.5.3; the GNU form has version 2 and other numbers for sections):
 *
 *	version, columns, units, slots; slots ids of 8 bytes; slots row numbers of 4 bytes;
 *	columns section numbers; units rows of offsets; units rows of sizes
 */
static int read_index(const struct dwarf_bytes *b, bool types, struct parts *out)
{
	struct dwarf_cursor c = dwarf_cursor_at(b, 0), sizes;
	uint32_t version = (uint32_t)dwarf_fixed(&c, 4), cols, rows, slots, i, k;
	uint32_t kind[16];

	cols = (uint32_t)dwarf_fixed(&c, 4);
	rows = (uint32_t)dwarf_fixed(&c, 4);
	slots = (uint32_t)dwarf_fixed(&c, 4);
	if (c.bad || ((version & 0xffff) != 5 && version != 2) || cols > 16)
		return -EBADMSG;
	dwarf_skip(&c, (uint64_t)slots * 12);
	for (i = 0; i < cols; i++)
		kind[i] = (uint32_t)dwarf_fixed(&c, 4);
	/* Rows without a column take no room, however many: there are none. */
	if (c.bad || (rows && !cols) || (uint64_t)rows * cols * 8 > (uint64_t)(c.end - c.p))
		return -EBADMSG;
	sizes = c;
	dwarf_skip(&sizes, (uint64_t)rows * cols * 4);
	out->v = calloc((size_t)rows + 1, sizeof(*out->v));
	if (!out->v)
		return -ENOMEM;
	for (i = 0; i < rows; i++) {
		struct part *p = &out->v[out->n++];

		for (k = 0; k < cols; k++) {
			uint64_t at = dwarf_fixed(&c, 4), n = dwarf_fixed(&sizes, 4);

			if (kind[k] == (version == 2 && types ? 2 : 1))
				p->start = at, p->n = n;
			else if (kind[k] == 3)
				p->base.abbrev = at;
			else if (kind[k] == 4)
				p->base.line = at;
			else if (kind[k] == 6)
				p->base.str_offsets = at;
		}
	}
	qsort(out->v, out->n, sizeof(*out->v), by_start);
	return 0;
}

static const struct dwarf_base *part_of(const struct parts *p, uint64_t at)
{
	uint32_t lo = 0, hi = p->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->v[mid].start <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && at - p->v[lo - 1].start < p->v[lo - 1].n ? &p->v[lo - 1].base : NULL;
}

/* @offsets grows with the units: where the abbreviations of each are. */
static int read_units(struct dwarf_file *d, enum dwarf_sec sec, const struct parts *parts,
		      uint32_t *cap, uint64_t **offsets, uint32_t *cap_offsets)
{
	struct dwarf_cursor c = dwarf_cursor_at(&d->sec[sec], 0);
	uint64_t abbrev;

	while (c.p < c.end && !c.bad) {
		const struct dwarf_base *base = NULL;
		struct dwarf_unit *u;

		if (d->n_units == UNITS_MAX) {
			d->broken++;
			return 0;
		}
		u = new_unit(d, cap);
		if (!u)
			return -ENOMEM;
		if (!read_header(&c, sec == DWARF_TYPES, u, &abbrev)) {
			/* zeros may fill the end of a section */
			if (u->end != u->start + 4)
				d->broken++;
			continue;
		}
		if (parts->n) {
			base = part_of(parts, (uint64_t)(u->start - d->sec[sec].p));
			if (!base) {
				d->broken++;
				continue;
			}
			abbrev += base->abbrev;
			u->line = base->line;
		}
		u->str_base = base ? base->str_offsets : 0;
		if (d->split && u->version >= 5)
			u->str_base += u->offset_size == 8 ? 16 : 8;
		u->file = d;
		u->split = d->split;
		if (d->n_units >= *cap_offsets) {
			uint64_t *v = realloc(*offsets, *cap * sizeof(*v));

			if (!v)
				return -ENOMEM;
			*offsets = v;
			*cap_offsets = *cap;
		}
		(*offsets)[d->n_units++] = abbrev;
	}
	return 0;
}

static int by_u64(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* One entry for each place that units have abbreviations at. */
static int index_abbrevs(struct dwarf_file *d, const uint64_t *offsets)
{
	uint64_t *sorted;
	uint32_t i, lo, hi;

	if (!d->n_units)
		return 0;
	sorted = malloc(d->n_units * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, offsets, d->n_units * sizeof(*sorted));
	qsort(sorted, d->n_units, sizeof(*sorted), by_u64);
	d->abbrevs = calloc(d->n_units, sizeof(*d->abbrevs));
	for (i = 0; i < d->n_units && d->abbrevs; i++)
		if (!i || sorted[i] != sorted[i - 1])
			d->abbrevs[d->n_abbrevs++].offset = sorted[i];
	free(sorted);
	if (!d->abbrevs)
		return -ENOMEM;
	for (i = 0; i < d->n_units; i++) {
		for (lo = 0, hi = d->n_abbrevs; hi - lo > 1;) {
			uint32_t mid = lo + (hi - lo) / 2;

			if (d->abbrevs[mid].offset <= offsets[i])
				lo = mid;
			else
				hi = mid;
		}
		d->units[i].abbrevs = &d->abbrevs[lo];
	}
	return 0;
}

static int by_id(const void *pa, const void *pb, void *ctx)
{
	const struct dwarf_unit *u = ctx, *a = &u[*(const uint32_t *)pa], *b = &u[*(const uint32_t *)pb];

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int index_ids(struct dwarf_file *d)
{
	uint32_t i;

	d->by_id = malloc((d->n_units + 1) * sizeof(*d->by_id));
	if (!d->by_id)
		return -ENOMEM;
	for (i = 0; i < d->n_units; i++) {
		struct dwarf_unit *u = &d->units[i];

		/* the GNU form of DWARF 4 has the id among the attributes */
		if (u->split && u->type == DW_UT_compile)
			dwarf_unit_attrs(u);
		if (u->has_id && (u->type == DW_UT_type || u->type == DW_UT_split_type || u->split))
			d->by_id[d->n_by_id++] = i;
	}
	qsort_r(d->by_id, d->n_by_id, sizeof(*d->by_id), by_id, d->units);
	return 0;
}

static int read_all(struct dwarf_file *d)
{
	struct parts cu = { NULL, 0 }, tu = { NULL, 0 }, both = { NULL, 0 };
	uint32_t cap = 0, cap_offsets = 0;
	uint64_t *offsets = NULL;
	int r = 0;

	if (d->sec[DWARF_CU_INDEX].n)
		r = read_index(&d->sec[DWARF_CU_INDEX], false, &cu);
	if (!r && d->sec[DWARF_TU_INDEX].n)
		r = read_index(&d->sec[DWARF_TU_INDEX], true, &tu);
	/* without a section of their own, type units stand among the others */
	if (!r && tu.n && !d->sec[DWARF_TYPES].n) {
		both.v = calloc((size_t)cu.n + tu.n, sizeof(*both.v));
		if (both.v) {
			if (cu.n)
				memcpy(both.v, cu.v, cu.n * sizeof(*cu.v));
			memcpy(both.v + cu.n, tu.v, tu.n * sizeof(*tu.v));
			both.n = cu.n + tu.n;
			qsort(both.v, both.n, sizeof(*both.v), by_start);
		} else {
			r = -ENOMEM;
		}
	}
	if (!r)
		r = read_units(d, DWARF_INFO, both.n ? &both : &cu, &cap, &offsets, &cap_offsets);
	d->n_info = d->n_units;
	if (!r && d->sec[DWARF_TYPES].n)
		r = read_units(d, DWARF_TYPES, &tu, &cap, &offsets, &cap_offsets);
	if (!r)
		r = index_abbrevs(d, offsets);
	if (!r)
		r = index_ids(d);
	free(cu.v);
	free(tu.v);
	free(both.v);
	free(offsets);
	return r;
}

int dwarf_file_open(const struct elf_file *f, bool split, uint64_t limit, struct dwarf_file **out)
{
	struct dwarf_file *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	d->split = split;
	r = dwarf_sections_read(f, split, limit, d->sec, &d->bytes);
	if (!r) {
		d->abbrev_left = d->sec[DWARF_ABBREV].n;
		r = read_all(d);
	}
	if (r) {
		dwarf_file_free(d);
		return r;
	}
	*out = d;
	return 0;
}

void dwarf_file_free(struct dwarf_file *d)
{
	uint32_t i;

	if (!d)
		return;
	for (i = 0; i < d->n_abbrevs; i++) {
		free(d->abbrevs[i].v);
		free(d->abbrevs[i].specs);
	}
	for (i = 0; i < DWARF_SECS; i++)
		free(d->sec[i].p);
	for (i = 0; i < d->n_units; i++)
		dwarf_name_forget(&d->units[i]);
	free(d->abbrevs);
	free(d->units);
	free(d->by_id);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static struct dwarf_unit *unit_in(struct dwarf_unit *u, uint32_t n, const uint8_t *p)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (u[mid].start <= p)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && p < u[lo - 1].end ? &u[lo - 1] : NULL;
}

struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *d, const uint8_t *p)
{
	const struct dwarf_bytes *b = &d->sec[DWARF_INFO];

	if (b->p && p >= b->p && p < b->p + b->n)
		return unit_in(d->units, d->n_info, p);
	return unit_in(d->units + d->n_info, d->n_units - d->n_info, p);
}

struct dwarf_unit *dwarf_file_by_id(const struct dwarf_file *d, uint64_t id, bool split)
{
	uint32_t lo = 0, hi = d->n_by_id;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (d->units[d->by_id[mid]].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < d->n_by_id; lo++) {
		struct dwarf_unit *u = &d->units[d->by_id[lo]];

		if (u->id != id)
			break;
		if (split == !(u->type == DW_UT_type || u->type == DW_UT_split_type))
			return u;
	}
	return NULL;
}
