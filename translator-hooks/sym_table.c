// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sym_table.c - symbols gathered from a file: strings, and rows for the symbols.
 */
#include "config.h"

#include "sym_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "big_alloc.h"
#include "runtime/core/hvar_image_format.h"

/* A string table with more bytes than this for each symbol holds other things too. */
#define NAME_BYTES ((uint64_t)256)

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

/* Room for @len bytes, and @more where it has to be made: memory that nobody writes to costs nothing. */
static int make_room(struct sym_strs *p, uint64_t len, uint64_t more)
{
	uint64_t cap;
	char *buf;

	if (len > SYM_SPARE || p->used + len > SYM_SPARE)
		return -EFBIG;
	if (p->used + len <= p->cap)
		return 0;
	cap = p->used + len + (p->used + len) / 4 + 4096 + more;
	buf = big_realloc(p->buf, SYM_STRS_HEAD + cap);
	if (!buf)
		return -ENOMEM;
	p->buf = buf;
	p->cap = cap;
	return 0;
}

/* @len bytes at @s and a NUL. */
static int append(struct sym_strs *p, const char *s, uint64_t len, uint32_t *out)
{
	int r = make_room(p, len + 1, 0);
	char *to;

	if (r)
		return r;
	to = p->buf + SYM_STRS_HEAD + p->used;
	if (len)
		memcpy(to, s, len);
	to[len] = '\0';
	*out = (uint32_t)p->used;
	p->used += len + 1;
	return 0;
}

static int enter(struct sym_table *t, const char *s, size_t len, uint32_t h, uint32_t *out)
{
	struct sym_strs *p = &t->strs;
	uint32_t k;
	int r;

	*out = 0;
	if (!len)
		return 0;
	if (p->n >= p->n_slots / 2) {
		r = grow_slots(p);
		if (r)
			return r;
	}
	for (k = h & (p->n_slots - 1); p->slots[k].id; k = (k + 1) & (p->n_slots - 1)) {
		const char *have;

		if (p->slots[k].hash != h)
			continue;
		have = sym_table_text(t, p->slots[k].id);
		if (!strncmp(have, s, len) && !have[len]) {
			*out = p->slots[k].id;
			return 0;
		}
	}
	r = append(p, s, len, out);
	if (r)
		return r;
	p->slots[k] = (struct sym_slot){ *out, h };
	p->n++;
	return 0;
}

int sym_table_str(struct sym_table *t, const char *s, size_t len, uint32_t *out)
{
	return enter(t, s, len, hash(s, len), out);
}

int sym_table_init(struct sym_table *t)
{
	uint32_t zero;
	int r;

	memset(t, 0, sizeof(*t));
	t->strs.n_slots = 256;
	t->strs.slots = calloc(t->strs.n_slots, sizeof(*t->strs.slots));
	r = t->strs.slots ? append(&t->strs, "", 0, &zero) : -ENOMEM;
	if (!r)
		memset(t->strs.buf, 0, SYM_STRS_HEAD);
	return r;
}

static void rows_fini(struct sym_rows *r)
{
	free(r->v);
	free(r->extents);
}

void sym_table_fini(struct sym_table *t)
{
	free(t->strs.buf);
	free(t->strs.slots);
	big_free(t->spare);
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

int sym_table_begin(struct sym_table *t, const struct elf_sym *s)
{
	uint64_t size = s->strs_size;
	int r;

	t->block = NULL;
	if (!s->strs || size >= SYM_SPARE || size / NAME_BYTES > s->n_syms + 16)
		return 0;
	if (s->dynamic && t->syms.n + t->tls.n) {
		/* .symtab has mostly named them already */
		if (t->spare)
			return 0;
		t->spare = s->strs;
		*s->taken = true;
		t->base = SYM_SPARE;
	} else {
		/* the image will be here, with some 48 bytes for each symbol */
		r = make_room(&t->strs, size + 1, 48 * s->n_syms);
		if (!r)
			r = append(&t->strs, s->strs, size, &t->base);
		if (r)
			return r;
	}
	t->block = s->strs;
	return 0;
}

/* Room for @more rows. */
static int grow_rows(struct sym_rows *rows, uint64_t more)
{
	uint64_t cap = rows->n + more;
	struct sym_row *v;

	if (cap >= UINT32_MAX)
		return -EFBIG;
	if (cap <= rows->cap)
		return 0;
	v = big_realloc(rows->v, cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	rows->v = v;
	rows->cap = (uint32_t)cap;
	return 0;
}

static int put_name(struct sym_table *t, const struct elf_sym *s, struct sym_row *y)
{
	y->hash = hash(s->name, s->len);
	/* with the version cut off it stands nowhere */
	if (!t->block || s->name[s->len])
		return enter(t, s->name, s->len, y->hash, &y->name);
	/* each is a part of the table, but all together may be more than any table */
	t->length += s->len + 1;
	if (t->length > UINT32_MAX)
		return -EFBIG;
	y->name = t->base + (uint32_t)(s->name - t->block);
	return 0;
}

static int put_file(struct sym_table *t, const struct elf_sym *s, struct sym_row *y)
{
	if (!s->file)
		return 0;
	if (!t->block)
		return sym_table_str(t, s->file, strlen(s->file), &y->file);
	y->file = t->base + (uint32_t)(s->file - t->block);
	return 0;
}

/* "@V_1" or "@@V_2" as one string. */
static int put_version(struct sym_table *t, const struct elf_sym *s, struct sym_row *y)
{
	char buf[256];

	if (!s->version || s->version_len > sizeof(buf) - 2)
		return 0;
	buf[0] = '@';
	buf[1] = '@';
	memcpy(buf + 1 + s->is_default, s->version, s->version_len);
	return sym_table_str(t, buf, 1 + s->is_default + s->version_len, &y->version);
}

int sym_table_add(struct sym_table *t, const struct elf_sym *s, uint32_t section)
{
	struct sym_rows *rows = s->type == STT_TLS ? &t->tls : &t->syms;
	struct sym_row *y;
	int r = 0;

	if (!s->strs)
		t->block = NULL;
	if (rows->n == rows->cap)
		r = grow_rows(rows, (s->type == STT_TLS || rows->n ? 0 : s->n_syms) + rows->n / 2 + 64);
	if (r)
		return r;
	y = &rows->v[rows->n];
	memset(y, 0, sizeof(*y));
	r = put_name(t, s, y);
	if (!r)
		r = put_version(t, s, y);
	if (!r)
		r = put_file(t, s, y);
	if (r)
		return r;
	y->vaddr = s->value;
	y->size = s->size;
	/* a size that runs over the end of memory is no size */
	if (y->size && y->vaddr + (y->size - 1) < y->vaddr)
		y->size = 0;
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
	t->any_debug |= s->debug;
	rows->n++;
	return 0;
}

size_t sym_table_plain(const struct sym_table *t, const struct sym_row *y, const char **name)
{
	*name = sym_table_text(t, y->name);
	return strlen(*name) - (y->apart ? strlen(sym_table_text(t, y->version)) : 0);
}
