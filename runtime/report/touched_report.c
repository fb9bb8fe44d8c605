// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * touched_report.c - touched pages, as text for people and JSON Lines for programs.
 *
 *	   pages touched written    code present  map  kind   what
 *	     452     121       0      93       0  r-xp text   /usr/lib/x86_64-linux-gnu/libc.so.6
 */
#include "config.h"

#include "touched_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "losses.h"
#include "printable.h"
#include "runtime/core/hvar_image.h"
#include "translator-hooks/image_name.h"

enum { LINES = 16, NAMES_MAX = 32 };

/* ---- what a page and an area are called ---- */

static const char *path_of(const struct analysis *a, const struct touched_area *area)
{
	uint32_t module = area->vma.module ? area->vma.module : area->module;

	return images_path(analysis_images(a), module);
}

static const char *prot_of(const struct touched_area *a, char text[8])
{
	uint8_t p = a->vma.prot;

	snprintf(text, 8, "%c%c%c%c", p & HVAR_PROT_READ ? 'r' : '-', p & HVAR_PROT_WRITE ? 'w' : '-',
		 p & HVAR_PROT_EXEC ? 'x' : '-', p & HVAR_PROT_SHARED ? 's' : 'p');
	return text;
}

static uint64_t pages_in(const struct touched_area *a)
{
	return (a->vma.end - a->vma.start) >> HVAR_PAGE_SHIFT;
}

static const struct hvar_image *image_of(const struct analysis *a, const struct touched_area *area)
{
	uint32_t why;

	return area->module && area->has_bias ? images_of((void *)analysis_images(a), area->module, &why) : NULL;
}

/* Give @fn each symbol of the page at @addr of @area, as far as there are not too many. */
static void each_symbol(const struct analysis *a, const struct touched_area *area, uint64_t addr,
			void (*fn)(void *ctx, const struct hvar_image *img, uint32_t symbol), void *ctx)
{
	const struct hvar_image *img = image_of(a, area);
	uint64_t at = addr - area->bias, end = at + HVAR_PAGE_SIZE;
	uint32_t last = HVAR_IMAGE_NONE, n = 0;

	while (img && at < end && n < NAMES_MAX) {
		uint32_t i = hvar_image_find(img, at);

		if (i != HVAR_IMAGE_NONE && i != last) {
			fn(ctx, img, i);
			last = i;
			n++;
		}
		at = hvar_image_same_until(img, at);
	}
}

static const char *section_of(const struct analysis *a, const struct touched_area *area, uint64_t addr)
{
	const struct hvar_image *img = image_of(a, area);
	uint64_t at = addr - area->bias;
	uint32_t i;

	if (!img)
		return NULL;
	i = hvar_image_section(img, at);
	if (i == HVAR_IMAGE_NONE) /* its begin lies before the segment's */
		i = hvar_image_section(img, at + HVAR_PAGE_SIZE - 1);
	return i == HVAR_IMAGE_NONE ? NULL : hvar_image_str(img, img->sections[i].name);
}

/* ---- JSON ---- */

static void json_sum(struct json *j, const struct touched_sum *s)
{
	json_u64(j, "touched", s->pages);
	json_u64(j, "code", s->code);
	json_u64(j, "data", s->pages - s->code);
	json_u64(j, "private", s->pages - s->shared);
	json_u64(j, "shared", s->shared);
	json_u64(j, "from_start", s->present);
}

static void region(FILE *f, const struct analysis *a, const struct touched_area *area)
{
	const char *path = path_of(a, area);
	char prot[8];
	struct json j;

	json_begin(&j, f, "region");
	json_hex(&j, "start", area->vma.start);
	json_hex(&j, "end", area->vma.end);
	json_str(&j, "prot", prot_of(area, prot));
	json_str(&j, "path", *path ? path : NULL);
	json_str(&j, "kind", hvar_kind_name(area->kind));
	json_u64(&j, "pages", pages_in(area));
	json_null(&j, "present");
	json_u64(&j, "touched", area->touched);
	json_u64(&j, "written", area->written);
	json_u64(&j, "executed", area->code);
	json_u64(&j, "by_kernel", area->by_kernel);
	json_u64(&j, "from_start", area->present);
	json_null(&j, "private");
	json_null(&j, "shared");
	json_null(&j, "huge");
	json_null(&j, "swapped");
	json_u64(&j, "mm", area->mm);
	json_u64(&j, "pid", area->pid);
	json_end(&j);
}

static void json_symbol(void *ctx, const struct hvar_image *img, uint32_t symbol)
{
	char *name = image_name(img, symbol);

	if (name)
		json_str(ctx, NULL, name);
	free(name);
}

static void page(FILE *f, const struct analysis *a, const struct touched_area *area, const struct touched_page *p)
{
	bool touched = p->what & (STREAM_TOUCHED_READ | STREAM_TOUCHED_WRITTEN | STREAM_TOUCHED_EXECUTED);
	struct json j;

	json_begin(&j, f, "page");
	json_hex(&j, "addr", p->addr);
	json_bool(&j, "present", true);
	json_bool(&j, "touched", touched);
	json_bool(&j, "written", p->what & STREAM_TOUCHED_WRITTEN);
	json_bool(&j, "executed", p->what & STREAM_TOUCHED_EXECUTED);
	json_bool(&j, "by_kernel", p->what & STREAM_TOUCHED_BY_KERNEL);
	json_bool(&j, "from_start", p->what & STREAM_TOUCHED_PRESENT);
	json_null(&j, "anon");
	json_null(&j, "exclusive");
	json_null(&j, "mapcount");
	json_str(&j, "section", section_of(a, area, p->addr));
	json_open(&j, "symbols", '[');
	each_symbol(a, area, p->addr, json_symbol, &j);
	json_close(&j, ']');
	json_str(&j, "kind", hvar_kind_name(area->kind));
	json_u64(&j, "mm", area->mm);
	json_u64(&j, "pid", area->pid);
	json_end(&j);
}

void touched_json(FILE *f, const struct touched_result *t, const struct analysis *a, const struct touched_choice *o)
{
	const char *argv = analysis_meta(a, "argv");
	struct analysis_totals totals;
	struct json j;
	size_t i;

	analysis_totals(a, &totals);
	json_meta(&j, f, "report");
	json_str(&j, "mode", "exact");
	json_str(&j, "by", o->by_page ? "page" : "region");
	json_str(&j, "argv", argv && *argv ? argv : NULL);
	json_end(&j);
	for (i = 0; i < t->n_points; i++) {
		json_begin(&j, f, "touched");
		json_u64(&j, "time_ns", t->points[i].time_ns);
		json_sum(&j, &t->points[i].sum);
		json_end(&j);
	}
	for (i = 0; i < t->n_areas && !o->by_page && (!o->limit || i < o->limit); i++)
		region(f, a, &t->areas[i]);
	for (i = 0; i < t->n_pages && o->by_page && (!o->limit || i < o->limit); i++)
		page(f, a, &t->areas[t->pages[i].area], &t->pages[i]);
	json_begin(&j, f, "total");
	json_u64(&j, "begin_ns", totals.first_ns);
	json_u64(&j, "peak_ns", t->peak_ns);
	json_sum(&j, &t->peak);
	json_u64(&j, "ever", t->ever);
	json_u64(&j, "page_size", HVAR_PAGE_SIZE);
	json_u64(&j, "lost", t->lost);
	json_u64(&j, "unplaced", t->unplaced);
	losses_json(&j, &totals);
	json_bool(&j, "whole", !analysis_why(a) && totals.ended);
	json_str(&j, "why", analysis_why(a));
	json_end(&j);
}

/* ---- text ---- */

/* What would move the cursor, as \xNN; no more than @room columns. */
static void put_name(FILE *f, const char *s, int room)
{
	int n = 0;

	while (*s) {
		int bytes = printable_control(s);

		n += bytes ? 4 * bytes : (*s & 0xc0) != 0x80;
		if (room > 0 && n > room) {
			fputs("…", f);
			return;
		}
		if (!bytes)
			putc(*s++, f);
		while (bytes--)
			fprintf(f, "\\x%02x", (unsigned char)*s++);
	}
}

static double seconds(const struct analysis_totals *totals, uint64_t ns)
{
	return ns > totals->first_ns ? (double)(ns - totals->first_ns) / 1e9 : 0;
}

static void heading(FILE *f, const struct touched_result *t, const struct analysis *a)
{
	const char *argv = analysis_meta(a, "argv");
	struct analysis_totals totals;

	analysis_totals(a, &totals);
	put_name(f, argv && *argv ? argv : "a recording", 0);
	fprintf(f, ": at most %" PRIu64 " pages (%.1f MB) touched at a time, at %.3f s\n", t->peak.pages,
		(double)(t->peak.pages * HVAR_PAGE_SIZE) / 1e6, seconds(&totals, t->peak_ns));
	fprintf(f, "of them %" PRIu64 " of code and %" PRIu64 " of data, %" PRIu64 " private and %" PRIu64 " shared; %" PRIu64
		   " more were there from the start and not touched\n",
		t->peak.code, t->peak.pages - t->peak.code, t->peak.pages - t->peak.shared, t->peak.shared,
		t->peak.present);
}

static void time_line(FILE *f, const struct touched_result *t, const struct analysis *a)
{
	struct analysis_totals totals;
	size_t i, k, n = t->n_points < LINES ? t->n_points : LINES;

	analysis_totals(a, &totals);
	fputs("   seconds   pages    code    data private  shared\n", f);
	for (i = 0; i < n; i++) {
		size_t from = i * t->n_points / n, to = (i + 1) * t->n_points / n, most = from;
		const struct touched_sum *s;

		for (k = from + 1; k < to; k++)
			if (t->points[k].sum.pages > t->points[most].sum.pages)
				most = k;
		s = &t->points[most].sum;
		fprintf(f, "%10.3f %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64 "%s\n",
			seconds(&totals, t->points[most].time_ns), s->pages, s->code, s->pages - s->code,
			s->pages - s->shared, s->shared, t->points[most].time_ns == t->peak_ns ? "  the most" : "");
	}
}

static int by_touched(const void *pa, const void *pb)
{
	const struct touched_area *a = *(const struct touched_area *const *)pa;
	const struct touched_area *b = *(const struct touched_area *const *)pb;

	if (a->touched != b->touched)
		return a->touched < b->touched ? 1 : -1;
	if (a->present != b->present)
		return a->present < b->present ? 1 : -1;
	return (a > b) - (a < b);
}

static void regions(FILE *f, const struct touched_result *t, const struct analysis *a, const struct touched_choice *o)
{
	const struct touched_area **v = calloc(t->n_areas + 1, sizeof(*v));
	uint64_t touched = 0;
	size_t i, n = 0;
	char prot[8];

	if (!v)
		return;
	for (i = 0; i < t->n_areas; i++)
		v[i] = &t->areas[i];
	qsort(v, t->n_areas, sizeof(*v), by_touched);
	fputs("   pages touched written    code from-start  map  kind     what\n", f);
	for (n = 0; n < t->n_areas && (v[n]->touched || v[n]->present) && (!o->limit || n < o->limit); n++) {
		const char *path = path_of(a, v[n]);

		fprintf(f, "%8" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %10" PRIu64 "  %s %-8s ", pages_in(v[n]),
			v[n]->touched, v[n]->written, v[n]->code, v[n]->present, prot_of(v[n], prot),
			hvar_kind_name(v[n]->kind));
		put_name(f, *path ? path : "-", o->width > 70 ? o->width - 62 : 0);
		putc('\n', f);
	}
	for (i = n; i < t->n_areas; i++)
		touched += v[i]->touched;
	if (n < t->n_areas)
		fprintf(f, "         %7" PRIu64 "  in %zu more areas\n", touched, t->n_areas - n);
	free(v);
}

static void text_symbol(void *ctx, const struct hvar_image *img, uint32_t symbol)
{
	char *name = image_name(img, symbol);

	putc(' ', ctx);
	put_name(ctx, name ? name : "?", 0);
	free(name);
}

static void pages(FILE *f, const struct touched_result *t, const struct analysis *a, const struct touched_choice *o)
{
	size_t i;

	fputs("             page  how        kind     what\n", f);
	for (i = 0; i < t->n_pages && (!o->limit || i < o->limit); i++) {
		const struct touched_page *p = &t->pages[i];
		const struct touched_area *area = &t->areas[p->area];
		const char *path = path_of(a, area), *section = section_of(a, area, p->addr), *slash = strrchr(path, '/');

		fprintf(f, "%#17" PRIx64 "  %c%c%c%s%s %-8s ", p->addr, p->what & STREAM_TOUCHED_READ ? 'r' : '-',
			p->what & STREAM_TOUCHED_WRITTEN ? 'w' : '-', p->what & STREAM_TOUCHED_EXECUTED ? 'x' : '-',
			p->what & STREAM_TOUCHED_BY_KERNEL ? " call" : "     ",
			p->what & STREAM_TOUCHED_PRESENT ? " *" : "  ", hvar_kind_name(area->kind));
		put_name(f, slash ? slash + 1 : *path ? path : "-", 0);
		if (section) {
			putc(' ', f);
			put_name(f, section, 0);
		}
		each_symbol(a, area, p->addr, text_symbol, f);
		putc('\n', f);
	}
	if (i < t->n_pages)
		fprintf(f, "... and %zu more pages\n", t->n_pages - i);
	fputs("call: a system call did it; *: there from the start\n", f);
}

static void losses(FILE *f, const struct touched_result *t, const struct analysis *a)
{
	struct analysis_totals totals;
	char *text;

	analysis_totals(a, &totals);
	text = losses_text(&totals);
	if (t->lost)
		fprintf(f, "losses: %" PRIu64 " pages, for want of memory\n", t->lost);
	if (t->unplaced)
		fprintf(f, "losses: %" PRIu64 " pages have no row, since nothing has told what was mapped there\n", t->unplaced);
	if (text && *text)
		fprintf(f, "losses: %s\n", text);
	free(text);
}

void touched_text(FILE *f, const struct touched_result *t, const struct analysis *a, const struct touched_choice *o)
{
	const char *source = analysis_meta(a, "source"), *looked = analysis_meta(a, "looked");

	heading(f, t, a);
	time_line(f, t, a);
	if (o->by_page)
		pages(f, t, a, o);
	else
		regions(f, t, a, o);
	losses(f, t, a);
	if (analysis_why(a)) {
		put_name(f, analysis_why(a), 0);
		putc('\n', f);
	}
	if (source && !strcmp(source, "fault"))
		fputs("by page faults: pages that were there already, or that the kernel brought along with a neighbour, are not among them\n", f);
	if (looked) {
		fputs("note: the map was looked at about 10 times a second: until then what is unmapped counts; what has moved does no more, what was given back still does; ",
		      f);
		put_name(f, looked, 0);
		putc('\n', f);
	}
}
