// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_abbrev.c - tables of abbreviations: what each code of an entry stands for.
 */
#include "config.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "dwarf_die.h"

static int grow(void *pv, uint32_t n, uint32_t *cap, size_t size)
{
	void **v = pv, *more;

	if (n < *cap)
		return 0;
	*cap = *cap ? *cap * 2 : 32;
	more = realloc(*v, *cap * size);
	if (!more)
		return -ENOMEM;
	*v = more;
	return 0;
}

static int by_code(const void *pa, const void *pb)
{
	const struct dwarf_abbrev *a = pa, *b = pb;

	return a->code < b->code ? -1 : a->code > b->code;
}

/* No compiler's entry has as many attributes. */
#define SPECS_MAX 128

static int read_specs(struct dwarf_cursor *c, struct dwarf_abbrevs *t, struct dwarf_abbrev *a,
		      uint32_t *cap)
{
	uint64_t name, form, fixed = 0;
	bool varies = false;
	unsigned n;

	for (;;) {
		struct dwarf_spec *s;

		name = dwarf_uleb(c);
		form = dwarf_uleb(c);
		if (c->bad || (!name && !form))
			break;
		if (a->n == SPECS_MAX) {
			c->bad = true;
			break;
		}
		if (grow(&t->specs, t->n_specs, cap, sizeof(*t->specs)))
			return -ENOMEM;
		s = &t->specs[t->n_specs++];
		s->form = form > UINT16_MAX ? 0 : (uint16_t)form;
		s->slot = dwarf_slot(name);
		s->implicit = form == DW_FORM_implicit_const ? dwarf_sleb(c) : 0;
		a->sibling |= name == DW_AT_sibling;
		n = dwarf_form_size(s->form);
		varies |= n == UINT32_MAX;
		fixed += n;
		a->n++;
	}
	a->fixed = varies || fixed >= UINT32_MAX ? UINT32_MAX : (uint32_t)fixed;
	return 0;
}

static int load(struct dwarf_file *d, struct dwarf_abbrevs *t)
{
	struct dwarf_cursor c = dwarf_cursor_at(&d->sec[DWARF_ABBREV], t->offset), from = c;
	uint32_t cap = 0, cap_specs = 0, i;
	int r = 0;

	/* tables that overlap are a trick: together they are no larger than the section */
	if (!c.bad && (uint64_t)(c.end - c.p) > d->abbrev_left)
		c.end = c.p + d->abbrev_left;
	for (;;) {
		struct dwarf_abbrev a = { .first = t->n_specs };

		a.code = dwarf_uleb(&c);
		if (c.bad || !a.code)
			break;
		a.tag = (uint16_t)dwarf_uleb(&c);
		a.children = dwarf_fixed(&c, 1);
		r = read_specs(&c, t, &a, &cap_specs);
		if (!r && !c.bad)
			r = grow(&t->v, t->n, &cap, sizeof(*t->v));
		if (r || c.bad)
			break;
		t->v[t->n++] = a;
	}
	d->abbrev_left -= (uint64_t)(c.p - from.p);
	t->bad = c.bad;
	t->dense = true;
	for (i = 0; i < t->n && t->dense; i++)
		t->dense = t->v[i].code == i + 1;
	if (!t->dense && t->n)
		qsort(t->v, t->n, sizeof(*t->v), by_code);
	return r;
}

const struct dwarf_abbrevs *dwarf_unit_abbrevs(struct dwarf_unit *u)
{
	struct dwarf_abbrevs *t = u->abbrevs;
	int r = 0;

	if (__atomic_load_n(&t->loaded, __ATOMIC_ACQUIRE))
		return t;
	pthread_mutex_lock(&u->file->lock);
	if (!t->loaded) {
		r = load(u->file, t);
		/* without memory it is a table of what was read: units that use more end there */
		__atomic_store_n(&t->loaded, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&u->file->lock);
	return r ? NULL : t;
}

const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *t, uint64_t code)
{
	uint32_t lo = 0, hi = t->n;

	if (t->dense)
		return code - 1 < t->n ? &t->v[code - 1] : NULL;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].code < code)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->n && t->v[lo].code == code ? &t->v[lo] : NULL;
}
