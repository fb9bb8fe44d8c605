// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages_text.c - the rows of "hotvar pages" for people.
 *
 *	START-END                  PROT KIND      PAGES PRESENT TOUCHED WRITTEN PRIVATE SHARED  HUGE  SWAP  PATH
 *	0x55d0c0ffe000-0x55d0...   rw-p data          1       1       1       1       1      0     0     0  /usr/bin/app
 *
 * "?" is what cannot be told, "3..7" what is at least 3 and at most 7.
 */
#include "config.h"

#include "pages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "translator-hooks/image_name.h"

void pages_prot(uint8_t prot, char out[5])
{
	snprintf(out, 5, "%c%c%c%c", prot & HVAR_PROT_READ ? 'r' : '-', prot & HVAR_PROT_WRITE ? 'w' : '-',
		 prot & HVAR_PROT_EXEC ? 'x' : '-', prot & HVAR_PROT_SHARED ? 's' : 'p');
}

static void put(FILE *f, const struct pages_count *c, int width)
{
	if (c->unknown)
		fprintf(f, " %*s", width, "?");
	else
		fprintf(f, " %*" PRIu64, width, c->n);
}

static void put_range(FILE *f, const struct page_range *r, int width)
{
	char text[48];

	if (page_range_known(r))
		snprintf(text, sizeof(text), "%" PRIu64, r->least);
	else if (r->most == PAGE_RANGE_ANY)
		snprintf(text, sizeof(text), "?");
	else
		snprintf(text, sizeof(text), "%" PRIu64 "..%" PRIu64, r->least, r->most);
	fprintf(f, " %*s", width, text);
}

static void put_counts(FILE *f, const struct pages_counts *c)
{
	fprintf(f, " %9" PRIu64, c->pages);
	put(f, &c->present, 8);
	put_range(f, &c->touched, 10);
	put(f, &c->written, 8);
	put(f, &c->private, 8);
	put(f, &c->shared, 8);
	put(f, &c->huge, 6);
	put(f, &c->swapped, 6);
}

#define COLUMNS "     PAGES  PRESENT    TOUCHED  WRITTEN  PRIVATE   SHARED   HUGE   SWAP"

static void head(FILE *f, int pid, double seconds, const char *what)
{
	fprintf(f, "Pages of process %d", pid);
	if (seconds > 0 && strcmp(what, "moment")) /* those have their own */
		fprintf(f, ", touched within %.3g s", seconds);
	fputs(", of 4096 bytes\n", f);
	if (!strcmp(what, "region"))
		fprintf(f, "%-35s PROT KIND   %s  PATH\n", "START-END", COLUMNS);
	else if (!strcmp(what, "group"))
		fprintf(f, "%-9s REGIONS%s  MODULE\n", "KIND", COLUMNS);
	else if (!strcmp(what, "moment"))
		fprintf(f, "  SECONDS CLASS%s PRIVATE-TOUCHED SHARED-TOUCHED  MODULE\n", COLUMNS);
	else
		fputs("ADDRESS             STATE                              MAPPED  NODE  SECTION AND SYMBOLS\n", f);
}

static void region(FILE *f, const struct hvar_vma *v, const struct pages_where *w,
		   const struct pages_counts *c)
{
	char prot[5], range[48];

	pages_prot(v->prot, prot);
	snprintf(range, sizeof(range), "0x%" PRIx64 "-0x%" PRIx64, v->start, v->end);
	fprintf(f, "%-35s %s %-7s", range, prot, hvar_kind_name(w->kind));
	put_counts(f, c);
	fputs("  ", f);
	printable_put(f, w->path);
	if (w->deleted)
		fputs(" (deleted)", f);
	putc('\n', f);
}

static void group(FILE *f, const struct pages_group *g)
{
	fprintf(f, "%-9s %7" PRIu64, g->kind ? g->kind : "all", g->counts.regions);
	put_counts(f, &g->counts);
	if (g->path) {
		fputs("  ", f);
		printable_put(f, *g->path ? g->path : "[no file]");
	}
	putc('\n', f);
}

static void moment(FILE *f, const struct pages_moment *m)
{
	fprintf(f, "%9.3f %-5s", m->seconds, m->code ? "code" : "data");
	put_counts(f, &m->counts);
	put_range(f, &m->counts.touched_private, 15);
	put_range(f, &m->counts.touched_shared, 14);
	fputs("  ", f);
	printable_put(f, !m->path ? "[all]" : *m->path ? m->path : "[no file]");
	fputs(m->peak ? "  (the peak)\n" : "\n", f);
}

/* ---- pages ---- */

static void add_word(char *text, size_t size, const char *word)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s", n ? " " : "", word);
}

static void put_names(FILE *f, struct pages_names *n)
{
	const char *name;
	uint32_t i, k = 0;

	for (; (name = pages_names_section(n)) != NULL; k++)
		fputs(k ? "," : "  ", f), printable_put(f, name);
	while ((i = pages_names_symbol(n)) != HVAR_IMAGE_NONE) {
		char *written = image_name(n->img, i);

		fputs("  ", f);
		printable_put(f, written ? written : hvar_image_str(n->img, n->img->syms[i].name));
		free(written);
	}
}

static void page(FILE *f, const struct pages_page *p)
{
	bool present = page_present(p->entry);
	char text[128] = "";

	if (!present)
		add_word(text, sizeof(text), page_swapped(p->entry) ? "swapped" : "absent");
	else if (p->zero > 0)
		add_word(text, sizeof(text), "zero");
	else
		add_word(text, sizeof(text), p->anon > 0 ? "anon" : p->anon == 0 ? "file" : "present");
	if (present)
		add_word(text, sizeof(text), p->entry & PAGE_EXCLUSIVE ? "private" : "shared");
	if (p->written > 0)
		add_word(text, sizeof(text), "written");
	if (p->touched >= 0)
		add_word(text, sizeof(text), p->touched ? "touched" : "untouched");
	if (p->huge > 0)
		add_word(text, sizeof(text), "huge");
	if (p->entry & PAGE_GUARD)
		add_word(text, sizeof(text), "guard");
	if (present && p->facts->flags >= 0 && p->facts->flags >> PAGE_KPF_KSM & 1)
		add_word(text, sizeof(text), "ksm");
	fprintf(f, "0x%-17" PRIx64 " %-34s", p->addr, text);
	if (present && p->facts->mapcount >= 0)
		fprintf(f, " %6" PRId64, p->facts->mapcount);
	else
		fprintf(f, " %6s", present ? "?" : "-");
	if (p->facts->node >= 0)
		fprintf(f, " %5d", p->facts->node);
	else
		fprintf(f, " %5s", "-");
	if (p->names)
		put_names(f, p->names);
	putc('\n', f);
}

static void total(FILE *f, const struct pages_counts *c)
{
	fprintf(f, "\nIn all: %" PRIu64 " region%s, %" PRIu64 " page%s", c->regions, c->regions == 1 ? "" : "s", c->pages,
		c->pages == 1 ? "" : "s");
	if (!c->present.unknown)
		fprintf(f, ", %" PRIu64 " present (%" PRIu64 " private, %" PRIu64 " shared)", c->present.n,
			c->private.n, c->shared.n);
	if (!c->written.unknown)
		fprintf(f, ", %" PRIu64 " written", c->written.n);
	if (page_range_known(&c->touched))
		fprintf(f, ", %" PRIu64 " touched", c->touched.least);
	else if (c->touched.least)
		fprintf(f, ", at least %" PRIu64 " touched", c->touched.least);
	if (c->huge.n)
		fprintf(f, ", %" PRIu64 " in huge pages", c->huge.n);
	if (c->swapped.n)
		fprintf(f, ", %" PRIu64 " swapped", c->swapped.n);
	putc('\n', f);
}

const struct pages_format pages_text = {
	.head = head,
	.region = region,
	.group = group,
	.moment = moment,
	.page = page,
	.total = total,
};
