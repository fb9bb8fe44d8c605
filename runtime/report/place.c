// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * place.c - an address and what was found for it, as a line of text or a "sym" record.
 *
 * Names of symbols are kept between answers: a stream of addresses asks for the
 * same few again and again, and demangling is dear.
 */
#include "config.h"

#include "place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "printable.h"
#include "translator-hooks/image_member.h"
#include "translator-hooks/image_name.h"

#define KEPT 1024 /* a power of 2 */

struct kept {
	const void *base; /* of the image; NULL: free */
	uint32_t symbol;
	bool tls;
	char *name;
};

struct place_writer {
	FILE *f;
	bool json;
	struct kept kept[KEPT];
	bool symbols_only;
	struct image_member member; /* of the last answer with a symbol */
};

struct place_writer *place_writer_new(FILE *f, bool json)
{
	struct place_writer *w = calloc(1, sizeof(*w));

	if (w) {
		w->f = f;
		w->json = json;
	}
	return w;
}

void place_writer_members(struct place_writer *w, bool members)
{
	w->symbols_only = !members;
}

void place_writer_free(struct place_writer *w)
{
	unsigned i;

	for (i = 0; w && i < KEPT; i++)
		free(w->kept[i].name);
	free(w);
}

/* The symbol's name, good until the next call; NULL: no memory. */
static const char *symbol_name(struct place_writer *w, const struct hvar_image *img,
			       const struct hvar_place *p)
{
	struct kept *k = &w->kept[p->symbol & (KEPT - 1)];
	bool tls = p->flags & HVAR_PLACE_TLS;

	if (k->base != img->base || k->symbol != p->symbol || k->tls != tls) {
		free(k->name);
		k->name = tls ? image_name_tls(img, p->symbol) : image_name(img, p->symbol);
		k->base = k->name ? img->base : NULL;
		k->symbol = p->symbol;
		k->tls = tls;
	}
	return k->name;
}

static const struct hvar_image_sym *symbol_of(const struct hvar_image *img, const struct hvar_place *p)
{
	return p->flags & HVAR_PLACE_TLS ? &img->tls_syms[p->symbol] : &img->syms[p->symbol];
}

static const char *reason(const struct hvar_place *p)
{
	return p->reason == HVAR_REASON_NONE ? NULL : hvar_reason_name(p->reason);
}

static const char *section(const struct place_answer *a)
{
	if (a->place->section == HVAR_IMAGE_NONE || !a->img)
		return NULL;
	return hvar_image_str(a->img, a->img->sections[a->place->section].name);
}

static const char *path_or_null(const char *path)
{
	return path && *path ? path : NULL;
}

/* The members at the address, if they are wanted. */
static void look_inside(struct place_writer *w, const struct place_answer *a)
{
	struct image_member *m = &w->member;

	image_member(a->img, a->place->symbol, a->place->flags & HVAR_PLACE_TLS, a->place->offset, m);
	if (!w->symbols_only)
		return;
	m->path[0] = '\0';
	m->rest = a->place->offset;
	m->type = NULL;
	m->walk.leaf = false; /* there is no other */
}

/* ---- text ---- */

static int write_text(struct place_writer *w, const struct place_answer *a)
{
	const struct hvar_place *p = a->place;
	char *own = NULL;
	const char *s;

	fprintf(w->f, "0x%" PRIx64 "  ", a->addr);
	if (a->jit) {
		printable_put(w->f, a->jit);
		if (a->addr != a->jit_start)
			fprintf(w->f, "+0x%" PRIx64, a->addr - a->jit_start);
		fprintf(w->f, "  %s\n", hvar_kind_name(HVAR_KIND_JIT));
		return 0;
	}
	if (p->symbol != HVAR_IMAGE_NONE && a->img)
		s = symbol_name(w, a->img, p);
	else
		s = own = image_place_name(p, a->img, a->module, false);
	if (!s)
		return -ENOMEM;
	printable_put(w->f, s);
	if (p->symbol != HVAR_IMAGE_NONE && a->img) {
		look_inside(w, a);
		printable_put(w->f, w->member.path);
		if (w->member.rest)
			fprintf(w->f, "+0x%" PRIx64, w->member.rest);
	}
	free(own);
	fprintf(w->f, "  %s", hvar_kind_name(p->kind));
	if ((s = section(a)) != NULL && *s)
		fputs("  ", w->f), printable_put(w->f, s);
	if ((s = path_or_null(a->module)) != NULL) {
		fputs("  ", w->f);
		printable_put(w->f, s);
		if (a->inside)
			fprintf(w->f, "@0x%" PRIx64, a->inside);
		if (p->vma.flags & HVAR_VMA_DELETED)
			fputs(" (deleted)", w->f);
	}
	if (p->flags & HVAR_PLACE_REMAPPED)
		fputs("  (remapped)", w->f);
	if ((s = reason(p)) != NULL)
		fprintf(w->f, "  (%s)", s);
	putc('\n', w->f);
	return 0;
}

/* ---- JSON ---- */

static const char *binding_name(uint8_t binding)
{
	static const char *const names[] = { "local", "global", "weak", "unique" };

	return names[binding];
}

static void write_build_id(struct json *j, const uint8_t *id, size_t n)
{
	char text[2 * HVAR_BUILD_ID_MAX + 1];
	size_t i;

	for (i = 0; i < n && i < HVAR_BUILD_ID_MAX; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
	text[2 * i] = '\0';
	json_str(j, "build_id", n ? text : NULL);
}

static void write_aliases(struct json *j, const struct hvar_image *img, const struct hvar_place *p)
{
	const struct hvar_image_sym *y = symbol_of(img, p), *first = y;
	const struct hvar_image_sym *end = p->flags & HVAR_PLACE_TLS ? img->tls_syms + img->n_tls_syms :
								       img->syms + img->n_syms;

	/* an owner is always the first of its group */
	json_open(j, "aliases", '[');
	for (y++; y < end && y->vaddr == first->vaddr && y->size == first->size; y++)
		json_str(j, NULL, hvar_image_str(img, y->name));
	json_close(j, ']');
}

static void write_symbol(struct json *j, const struct place_answer *a)
{
	const struct hvar_place *p = a->place;
	const struct hvar_image_sym *y;

	if (a->jit) {
		json_str(j, "symbol", a->jit);
		json_u64(j, "offset", a->addr - a->jit_start);
		json_u64(j, "size", a->jit_end - a->jit_start);
		return;
	}
	if (p->symbol == HVAR_IMAGE_NONE || !a->img) {
		json_null(j, "symbol");
		json_null(j, "offset");
		json_null(j, "size");
		return;
	}
	y = symbol_of(a->img, p);
	json_str(j, "symbol", hvar_image_str(a->img, y->name));
	json_u64(j, "offset", p->offset);
	json_u64(j, "size", p->size);
}

static const char *origin(const struct place_answer *a)
{
	const struct hvar_place *p = a->place;

	if (a->jit)
		return a->jit_dumped ? "jitdump" : "perf-map";
	if (p->symbol == HVAR_IMAGE_NONE || !a->img)
		return NULL;
	/* whatever table of it: it is in memory alone */
	if (p->vma.region == HVAR_REGION_VDSO)
		return "vdso";
	return hvar_origin_name(symbol_of(a->img, p)->origin);
}

static void write_vma(struct json *j, const struct place_answer *a)
{
	const struct hvar_vma *v = &a->place->vma;
	const struct hvar_module *m = a->vma_facts;
	char text[32];

	json_open(j, "vma", '{');
	json_hex(j, "start", v->start);
	json_hex(j, "end", v->end);
	json_hex(j, "pgoff", v->pgoff);
	snprintf(text, sizeof(text), "%c%c%c%c", v->prot & HVAR_PROT_READ ? 'r' : '-',
		 v->prot & HVAR_PROT_WRITE ? 'w' : '-', v->prot & HVAR_PROT_EXEC ? 'x' : '-',
		 v->prot & HVAR_PROT_SHARED ? 's' : 'p');
	json_str(j, "prot", text);
	snprintf(text, sizeof(text), "%02x:%02x", m ? m->dev_major : 0, m ? m->dev_minor : 0);
	json_str(j, "dev", text);
	json_u64(j, "ino", m ? m->ino : 0);
	json_str(j, "path", path_or_null(a->vma_path));
	if (v->flags & HVAR_VMA_DELETED)
		json_bool(j, "deleted", true);
	json_close(j, '}');
}

/* What the debug information tells; @name is the symbol's. */
static void write_member(struct json *j, struct image_member *m, const char *name, const char *path)
{
	char *decl = image_member_decl(m), *other;
	const char *function = m->var ? hvar_image_str(m->img, m->var->function) : "";
	bool several = false;

	json_str(j, "decl", decl);
	json_str(j, "type_name", m->type);
	if (*function)
		json_str(j, "function", function);
	free(decl);
	/* a union: all that the byte may be */
	while (image_member_next(m)) {
		if (!several) {
			json_open(j, "members", '[');
			json_str(j, NULL, path);
		}
		several = true;
		if (asprintf(&other, "%s%s", name, m->path) < 0)
			break;
		json_str(j, NULL, other);
		free(other);
	}
	if (several)
		json_close(j, ']');
}

static int write_json(struct place_writer *w, const struct place_answer *a)
{
	const struct hvar_place *p = a->place;
	bool symbol = p->symbol != HVAR_IMAGE_NONE && a->img;
	const char *name = NULL;
	char *own = NULL;
	struct json j;

	if (!symbol) {
		own = image_place_name(p, a->img, a->module, false);
	} else if ((name = symbol_name(w, a->img, p)) != NULL) {
		look_inside(w, a);
		if (asprintf(&own, "%s%s", name, w->member.path) < 0)
			own = NULL;
	}
	if (!own)
		return -ENOMEM;
	json_begin(&j, w->f, "sym");
	json_hex(&j, "addr", a->addr);
	json_str(&j, "kind", hvar_kind_name(a->jit ? HVAR_KIND_JIT : p->kind));
	json_str(&j, "name", a->jit ? a->jit : own);
	write_symbol(&j, a);
	json_str(&j, "section", section(a));
	json_str(&j, "module", path_or_null(a->module));
	if (a->inside)
		json_hex(&j, "elf_offset", a->inside);
	if (p->module && p->module == p->vma.module && p->vma.flags & HVAR_VMA_DELETED)
		json_bool(&j, "deleted", true);
	if (a->img && a->img->build_id_len)
		write_build_id(&j, a->img->build_id, a->img->build_id_len);
	else
		write_build_id(&j, a->facts ? a->facts->build_id : NULL,
			       a->facts ? a->facts->build_id_len : 0);
	if (p->flags & HVAR_PLACE_VADDR)
		json_hex(&j, "vaddr", p->vaddr);
	else
		json_null(&j, "vaddr");
	if (p->flags & HVAR_PLACE_OFFSET)
		json_hex(&j, "file_offset", p->file_offset);
	else
		json_null(&j, "file_offset");
	if (symbol) {
		write_aliases(&j, a->img, p);
		json_str(&j, "binding", binding_name(symbol_of(a->img, p)->binding));
	} else {
		json_open(&j, "aliases", '[');
		json_close(&j, ']');
		json_null(&j, "binding");
	}
	json_str(&j, "origin", origin(a));
	if (symbol) {
		write_member(&j, &w->member, name, own);
	} else {
		json_null(&j, "decl");
		json_null(&j, "type_name");
	}
	free(own);
	if (a->live && p->vma.region != HVAR_REGION_NONE) {
		write_vma(&j, a);
		json_bool(&j, "private", a->is_private);
	} else {
		if (a->live)
			json_null(&j, "vma");
		json_null(&j, "private");
	}
	if (p->flags & HVAR_PLACE_REMAPPED)
		json_bool(&j, "remapped", true);
	if (p->flags & HVAR_PLACE_TLS)
		json_hex(&j, "thread", a->thread);
	json_str(&j, "reason", a->jit ? NULL : reason(p));
	if (a->live && p->vma.region != HVAR_REGION_NONE)
		json_str(&j, "key", a->key);
	json_end(&j);
	return 0;
}

int place_write(struct place_writer *w, const struct place_answer *a)
{
	return w->json ? write_json(w, a) : write_text(w, a);
}
