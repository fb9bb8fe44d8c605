// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages_json.c - the rows of "hotvar pages" as JSON Lines.
 */
#include "config.h"

#include "pages.h"

#include <string.h>

#include "json.h"
#include "translator-hooks/image_name.h"

#include <stdlib.h>

static void put(struct json *j, const char *name, const struct pages_count *c)
{
	if (c->unknown)
		json_null(j, name);
	else
		json_u64(j, name, c->n);
}

/* The number, if it is known; else null, and what it is at least and at most. */
static void put_range(struct json *j, const char *name, const struct page_range *r)
{
	char text[32];

	if (page_range_known(r)) {
		json_u64(j, name, r->least);
		return;
	}
	json_null(j, name);
	if (r->most == PAGE_RANGE_ANY)
		return;
	snprintf(text, sizeof(text), "%s_least", name);
	json_u64(j, text, r->least);
	snprintf(text, sizeof(text), "%s_most", name);
	json_u64(j, text, r->most);
}

static void put_counts(struct json *j, const struct pages_counts *c)
{
	json_u64(j, "pages", c->pages);
	put(j, "present", &c->present);
	put_range(j, "touched", &c->touched);
	put(j, "written", &c->written);
	put(j, "private", &c->private);
	put(j, "shared", &c->shared);
	put(j, "huge", &c->huge);
	put(j, "swapped", &c->swapped);
	put(j, "anon", &c->anon);
	put(j, "zero", &c->zero);
}

static void put_touched(struct json *j, const struct pages_counts *c)
{
	put_range(j, "touched_private", &c->touched_private);
	put_range(j, "touched_shared", &c->touched_shared);
}

static void head(FILE *f, int pid, double seconds, const char *what)
{
	struct json j;

	json_meta(&j, f, "pages");
	json_i64(&j, "pid", pid);
	json_str(&j, "rows", what);
	if (seconds > 0)
		json_num(&j, "seconds", seconds);
	json_end(&j);
}

static void region(FILE *f, const struct hvar_vma *v, const struct pages_where *w,
		   const struct pages_counts *c)
{
	struct json j;
	char prot[5];

	pages_prot(v->prot, prot);
	json_begin(&j, f, "region");
	json_hex(&j, "start", v->start);
	json_hex(&j, "end", v->end);
	json_str(&j, "prot", prot);
	json_str(&j, "path", *w->path ? w->path : NULL);
	if (w->deleted)
		json_bool(&j, "deleted", true);
	json_str(&j, "kind", hvar_kind_name(w->kind));
	put_counts(&j, c);
	put_touched(&j, c);
	json_end(&j);
}

static void group(FILE *f, const struct pages_group *g)
{
	struct json j;

	json_begin(&j, f, "group");
	json_str(&j, "module", g->path && *g->path ? g->path : NULL);
	json_str(&j, "kind", g->kind);
	json_u64(&j, "regions", g->counts.regions);
	put_counts(&j, &g->counts);
	put_touched(&j, &g->counts);
	json_end(&j);
}

static void moment(FILE *f, const struct pages_moment *m)
{
	struct json j;

	json_begin(&j, f, m->peak ? "peak" : "moment");
	json_num(&j, "seconds", m->seconds);
	json_str(&j, "module", m->path && *m->path ? m->path : NULL);
	if (!m->path)
		json_bool(&j, "all", true);
	json_str(&j, "class", m->code ? "code" : "data");
	put_counts(&j, &m->counts);
	put_touched(&j, &m->counts);
	json_end(&j);
}

static void put_bool(struct json *j, const char *name, int v)
{
	if (v < 0)
		json_null(j, name);
	else
		json_bool(j, name, v);
}

static void put_number(struct json *j, const char *name, int64_t n)
{
	if (n < 0)
		json_null(j, name);
	else
		json_i64(j, name, n);
}

static void put_names(struct json *j, struct pages_names *n)
{
	const char *name = pages_names_section(n), *more;
	uint32_t i;

	json_str(j, "section", name);
	more = pages_names_section(n);
	if (more) {
		json_open(j, "sections", '[');
		json_str(j, NULL, name);
		for (; more; more = pages_names_section(n))
			json_str(j, NULL, more);
		json_close(j, ']');
	}
	json_open(j, "symbols", '[');
	while ((i = pages_names_symbol(n)) != HVAR_IMAGE_NONE) {
		char *written = image_name(n->img, i);

		json_str(j, NULL, written ? written : hvar_image_str(n->img, n->img->syms[i].name));
		free(written);
	}
	json_close(j, ']');
}

static void page(FILE *f, const struct pages_page *p)
{
	bool present = page_present(p->entry);
	struct json j;

	json_begin(&j, f, "page");
	json_hex(&j, "addr", p->addr);
	json_bool(&j, "present", present);
	put_bool(&j, "touched", p->touched);
	put_bool(&j, "written", p->written);
	put_bool(&j, "anon", p->anon);
	if (present)
		json_bool(&j, "exclusive", p->entry & PAGE_EXCLUSIVE);
	else
		json_null(&j, "exclusive");
	put_number(&j, "mapcount", present ? p->facts->mapcount : -1);
	put_bool(&j, "zero", p->zero);
	put_bool(&j, "huge", p->huge);
	put_number(&j, "folio", present ? p->facts->folio : -1);
	json_bool(&j, "swapped", page_swapped(p->entry));
	if (p->entry & PAGE_GUARD)
		json_bool(&j, "guard", true);
	if (present && p->facts->flags >= 0 && p->facts->flags >> PAGE_KPF_KSM & 1)
		json_bool(&j, "ksm", true);
	if (p->entry & PAGE_UFFD_WP)
		json_bool(&j, "uffd_wp", true);
	if (p->entry & PAGE_SOFT_DIRTY)
		json_bool(&j, "soft_dirty", true);
	put_number(&j, "node", p->facts->node);
	json_str(&j, "key", p->key);
	if (p->names) {
		put_names(&j, p->names);
	} else {
		json_null(&j, "section");
		json_null(&j, "symbols");
	}
	json_end(&j);
}

static void total(FILE *f, const struct pages_counts *c)
{
	struct json j;

	json_begin(&j, f, "total");
	json_u64(&j, "regions", c->regions);
	put_counts(&j, c);
	put_touched(&j, c);
	json_end(&j);
}

const struct pages_format pages_json = {
	.head = head,
	.region = region,
	.group = group,
	.moment = moment,
	.page = page,
	.total = total,
};
