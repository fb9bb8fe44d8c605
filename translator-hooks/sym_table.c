// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sym_table.c - symbols gathered from a file: strings, sorting, the choice of names.
 */
#include "config.h"

#include "sym_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_image_format.h"
#include "sym_extents.h"

/* ---- strings ---- */

static uint32_t hash(const char *s, size_t len)
{
	return (uint32_t)hvar_image_hash(0, s, len);
}

static int grow_slots(struct sym_strs *p)
{
	uint32_t n = p->n_slots * 2, i, k;
	struct sym_slot *slots;

	if (!n)
		return -EFBIG;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < p->n_slots; i++) {
		if (!p->slots[i].id)
			continue;
		for (k = p->slots[i].hash & (n - 1); slots[k].id; k = (k + 1) & (n - 1))
			;
		slots[k] = p->slots[i];
	}
	free(p->slots);
	p->slots = slots;
	p->n_slots = n;
	return 0;
}

static int append(struct sym_strs *p, const char *s, size_t len)
{
	if (p->used + len + 1 > UINT32_MAX)
		return -EFBIG;
	if (p->used + len + 1 > p->cap) {
		uint64_t cap = (p->used + len + 1) * 2;
		char *bytes = realloc(p->bytes, cap);

		if (!bytes)
			return -ENOMEM;
		p->bytes = bytes;
		p->cap = cap;
	}
	if (p->n == p->n_cap) {
		uint32_t cap = p->n_cap ? p->n_cap * 2 : 64;
		uint32_t *offsets = realloc(p->offsets, (size_t)cap * sizeof(*offsets));

		if (!offsets)
			return -ENOMEM;
		p->offsets = offsets;
		p->n_cap = cap;
	}
	memcpy(p->bytes + p->used, s, len);
	p->bytes[p->used + len] = 0;
	p->offsets[p->n++] = (uint32_t)p->used;
	p->used += len + 1;
	return 0;
}

int sym_table_str(struct sym_table *t, const char *s, size_t len, uint32_t *out)
{
	struct sym_strs *p = &t->strs;
	uint32_t h = hash(s, len), k;
	int r;

	if (p->n >= p->n_slots / 2) {
		r = grow_slots(p);
		if (r)
			return r;
	}
	for (k = h & (p->n_slots - 1); p->slots[k].id; k = (k + 1) & (p->n_slots - 1)) {
		const char *have;

		if (p->slots[k].hash != h)
			continue;
		have = p->bytes + p->offsets[p->slots[k].id - 1];
		if (!strncmp(have, s, len) && !have[len]) {
			*out = p->slots[k].id - 1;
			return 0;
		}
	}
	r = append(p, s, len);
	if (r)
		return r;
	p->slots[k] = (struct sym_slot){ p->n, h };
	*out = p->n - 1;
	return 0;
}

static const char *str(const struct sym_table *t, uint32_t id)
{
	return t->strs.bytes + t->strs.offsets[id];
}

int sym_table_init(struct sym_table *t)
{
	uint32_t zero;

	memset(t, 0, sizeof(*t));
	t->strs.n_slots = 256;
	t->strs.slots = calloc(t->strs.n_slots, sizeof(*t->strs.slots));
	return t->strs.slots ? sym_table_str(t, "", 0, &zero) : -ENOMEM;
}

static void rows_fini(struct sym_rows *r)
{
	free(r->v);
	free(r->extents);
}

void sym_table_fini(struct sym_table *t)
{
	free(t->strs.bytes);
	free(t->strs.offsets);
	free(t->strs.slots);
	rows_fini(&t->syms);
	rows_fini(&t->tls);
}

/* ---- adding ---- */

static uint8_t binding_of(uint8_t stb)
{
	switch (stb) {
	case STB_GLOBAL:
		return HVAR_BIND_GLOBAL;
	case STB_WEAK:
		return HVAR_BIND_WEAK;
	case STB_GNU_UNIQUE:
		return HVAR_BIND_UNIQUE;
	default:
		return HVAR_BIND_LOCAL;
	}
}

static uint8_t type_of(uint8_t stt)
{
	switch (stt) {
	case STT_OBJECT:
		return HVAR_SYM_OBJECT;
	case STT_FUNC:
		return HVAR_SYM_FUNC;
	case STT_TLS:
		return HVAR_SYM_TLS;
	case STT_GNU_IFUNC:
		return HVAR_SYM_IFUNC;
	case STT_COMMON:
		return HVAR_SYM_COMMON;
	default:
		return HVAR_SYM_NOTYPE;
	}
}

/* "@V_1" or "@@V_2" as one string. */
static int add_version(struct sym_table *t, const struct elf_sym *s, uint32_t *out)
{
	char buf[256];

	*out = 0;
	if (!s->version || s->version_len > sizeof(buf) - 2)
		return 0;
	buf[0] = '@';
	buf[1] = '@';
	memcpy(buf + 1 + s->is_default, s->version, s->version_len);
	return sym_table_str(t, buf, 1 + s->is_default + s->version_len, out);
}

int sym_table_add(struct sym_table *t, const struct elf_sym *s, uint32_t section)
{
	struct sym_rows *rows = s->type == STT_TLS ? &t->tls : &t->syms;
	struct sym_row *y;
	int r;

	if (rows->n == rows->cap) {
		uint32_t cap = rows->cap ? rows->cap * 2 : 256;
		struct sym_row *v = realloc(rows->v, (size_t)cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		rows->v = v;
		rows->cap = cap;
	}
	y = &rows->v[rows->n];
	memset(y, 0, sizeof(*y));
	r = sym_table_str(t, s->name, s->len, &y->name);
	if (!r)
		r = add_version(t, s, &y->version);
	if (!r && s->file && s->file != t->last_file) {
		r = sym_table_str(t, s->file, strlen(s->file), &t->last_file_id);
		t->last_file = r ? NULL : s->file;
	}
	if (r)
		return r;
	y->plain = y->name;
	y->vaddr = s->value;
	y->size = s->size;
	/* a size that runs over the end of memory is no size */
	if (y->size && y->vaddr + (y->size - 1) < y->vaddr)
		y->size = 0;
	y->file = s->file ? t->last_file_id : 0;
	y->section = section;
	y->binding = binding_of(s->binding);
	y->type = type_of(s->type);
	y->origin = s->origin ? s->origin :
		    s->debug ? HVAR_ORIGIN_DWARF :
		    s->dynamic ? HVAR_ORIGIN_DYNSYM : HVAR_ORIGIN_SYMTAB;
	y->tls = s->type == STT_TLS;
	y->flags = (y->size ? 0 : HVAR_SYM_LABEL) |
		   (s->dynamic ? HVAR_SYM_DYNSYM : 0) |
		   (s->debug ? HVAR_SYM_DEBUG : 0);
	rows->n++;
	return 0;
}

/* ---- settling ---- */

/* By address, eight bits at a time, passing over bytes that are alike in all. */
static int sort_vaddr(struct sym_rows *rows)
{
	struct sym_row *from = rows->v, *to, *own;
	uint64_t alike = ~(uint64_t)0;
	uint32_t i;
	int shift;

	own = malloc((size_t)rows->n * sizeof(*own));
	if (!own)
		return -ENOMEM;
	to = own;
	for (i = 1; i < rows->n; i++)
		alike &= ~(from[i].vaddr ^ from[0].vaddr);
	for (shift = 0; shift < 64; shift += 8) {
		uint32_t at[257] = { 0 };
		struct sym_row *swap;

		if ((alike >> shift & 0xff) == 0xff)
			continue;
		for (i = 0; i < rows->n; i++)
			at[(from[i].vaddr >> shift & 0xff) + 1]++;
		for (i = 1; i < 257; i++)
			at[i] += at[i - 1];
		for (i = 0; i < rows->n; i++)
			to[at[from[i].vaddr >> shift & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	rows->v = from;
	rows->cap = rows->n;
	free(to);
	return 0;
}

/* Within one address: by size, then name, so that twins stand side by side. */
static int by_name(const void *pa, const void *pb)
{
	const struct sym_row *a = pa, *b = pb;

	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
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
	x = str(t, a->plain);
	y = str(t, b->plain);
	if (underscores(x) != underscores(y))
		return underscores(x) < underscores(y) ? -1 : 1;
	if (weakness(a->binding) != weakness(b->binding))
		return weakness(a->binding) - weakness(b->binding);
	m = strlen(x);
	n = strlen(y);
	if (m != n)
		return m < n ? -1 : 1;
	order = strcmp(x, y);
	return order ? order : strcmp(str(t, a->name), str(t, b->name));
}

/* Has a symbol of a table, @y, the name of the variable @v, or its size? */
static bool is_of(const struct sym_table *t, const struct sym_row *y, const struct sym_row *v)
{
	const char *name = str(t, v->name), *s = str(t, y->name);
	size_t n = strlen(name);

	if (y->flags & HVAR_SYM_DEBUG || !y->size)
		return false;
	/* the linker's and the compiler's own endings: "counter.0" */
	return !v->size || y->size == v->size || (!strncmp(s, name, n) && (!s[n] || s[n] == '.'));
}

/* At one place; those behind are not compared: a file made to deceive could make it dear. */
#define ALIASES_MAX 1024

/* Variables of the debug information are symbols only where no table has one for them. */
static void drop_known(struct sym_table *t, struct sym_rows *rows)
{
	uint32_t i, j, k, end, n = 0;

	for (i = 0; i < rows->n; i = end) {
		for (end = i + 1; end < rows->n && rows->v[end].vaddr == rows->v[i].vaddr; end++)
			;
		for (j = i; j < end; j++) {
			k = end;
			if (rows->v[j].flags & HVAR_SYM_DEBUG)
				for (k = i; k < end && k - i < ALIASES_MAX && !is_of(t, &rows->v[k], &rows->v[j]); k++)
					;
			rows->v[j].known = k < end && k - i < ALIASES_MAX;
		}
		for (j = i; j < end; j++)
			if (!rows->v[j].known)
				rows->v[n++] = rows->v[j];
	}
	rows->n = n;
}

/* One row of each (address, size, name); it keeps the best of what each table knew. */
static void merge_twins(struct sym_rows *rows)
{
	uint32_t i, k = 0;

	for (i = 0; i < rows->n; i++) {
		struct sym_row *a = k ? &rows->v[k - 1] : NULL, *b = &rows->v[i];

		if (a && a->vaddr == b->vaddr && a->size == b->size &&
		    a->name == b->name) {
			if (!a->version)
				a->version = b->version;
			if (weakness(b->binding) < weakness(a->binding))
				a->binding = b->binding;
			if (a->section == HVAR_IMAGE_NONE)
				a->section = b->section;
			if (b->origin < a->origin)
				a->origin = b->origin;
			continue;
		}
		rows->v[k++] = *b;
	}
	rows->n = k;
}

/* Call @sort on every run of rows of one address. */
static void each_run(struct sym_table *t, struct sym_rows *rows, bool by_ranks)
{
	uint32_t i, k;

	for (i = 0; i < rows->n; i = k) {
		for (k = i + 1; k < rows->n && rows->v[k].vaddr == rows->v[i].vaddr; k++)
			;
		if (k - i < 2)
			continue;
		if (by_ranks)
			qsort_r(rows->v + i, k - i, sizeof(*rows->v), by_rank, t);
		else
			qsort(rows->v + i, k - i, sizeof(*rows->v), by_name);
	}
}

/* What is known of each name, by its number: of all symbols, and of those not local. */
struct name_use {
	uint64_t where, public_where;
	bool seen, several, public_seen, public_several;
};

static void note_names(const struct sym_rows *rows, struct name_use *use)
{
	uint32_t i;

	for (i = 0; i < rows->n; i++) {
		const struct sym_row *y = &rows->v[i];
		struct name_use *u = &use[y->name];
		/* offsets in TLS and addresses are different places */
		uint64_t where = y->tls ? ~y->vaddr : y->vaddr;

		if (u->seen && u->where != where)
			u->several = true;
		u->seen = true;
		u->where = where;
		if (y->binding == HVAR_BIND_LOCAL)
			continue;
		if (u->public_seen && u->public_where != where)
			u->public_several = true;
		u->public_seen = true;
		u->public_where = where;
	}
}

/* "tab" at two addresses becomes "tab@V_1" and "tab@@V_2"; statics are flagged. */
static int tell_apart(struct sym_table *t, struct sym_rows *rows,
		      const struct name_use *use)
{
	uint32_t i;

	for (i = 0; i < rows->n; i++) {
		struct sym_row *y = &rows->v[i];
		const char *name, *version;
		char *both;
		int r;

		if (y->binding == HVAR_BIND_LOCAL) {
			if (use[y->name].several)
				y->flags |= HVAR_SYM_SAME_NAME;
			continue;
		}
		if (!y->version || !use[y->name].public_several)
			continue;
		name = str(t, y->name);
		version = str(t, y->version);
		both = malloc(strlen(name) + strlen(version) + 1);
		if (!both)
			return -ENOMEM;
		strcpy(stpcpy(both, name), version);
		r = sym_table_str(t, both, strlen(both), &y->name);
		free(both);
		if (r)
			return r;
	}
	return 0;
}

static int settle_names(struct sym_table *t)
{
	struct name_use *use = calloc(t->strs.n, sizeof(*use));
	int r;

	if (!use)
		return -ENOMEM;
	note_names(&t->syms, use);
	note_names(&t->tls, use);
	r = tell_apart(t, &t->syms, use);
	if (!r)
		r = tell_apart(t, &t->tls, use);
	free(use);
	return r;
}

int sym_table_settle(struct sym_table *t, const struct hvar_image_seg *segs,
		     uint32_t n, uint64_t tls_size)
{
	struct hvar_image_seg block = { .memsz = tls_size };
	struct sym_rows *all[2] = { &t->syms, &t->tls };
	int i, r = 0;

	for (i = 0; i < 2 && !r; i++) {
		if (all[i]->n)
			r = sort_vaddr(all[i]);
		if (!r) {
			drop_known(t, all[i]);
			each_run(t, all[i], false);
			merge_twins(all[i]);
		}
	}
	if (!r)
		r = settle_names(t);
	for (i = 0; i < 2 && !r; i++)
		each_run(t, all[i], true);
	if (!r)
		r = sym_extents(&t->syms, segs, n);
	if (!r)
		r = sym_extents(&t->tls, &block, tls_size ? 1 : 0);
	return r;
}
