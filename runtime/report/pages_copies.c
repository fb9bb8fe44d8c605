// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages_copies.c - which variables' pages were copied, by whom, at which instruction.
 *
 *	PAGES FAULTS  PROCESS        VARIABLE            WRITTEN AT
 *	    3      3  1234 child     table [app]         fill+0x12 [app]
 */
#include "config.h"

#include "pages_copies.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "printable.h"
#include "runtime/user/page_map.h"
#include "translator-hooks/image_name.h"

enum { NAME_WIDTH = 32 }; /* of a column */

/* One page copied: who, what, where; rows are runs of equal ones. */
struct row {
	pid_t pid;
	uint32_t module, kind, code_module;
	char *name, *site; /* owned; site NULL: a system call */
	uint64_t page;
	uint64_t pages, faults;
};

static int compare(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	int d = strcmp(a->name, b->name);

	if (!d && a->module != b->module)
		d = a->module < b->module ? -1 : 1;
	if (!d && a->pid != b->pid)
		d = a->pid < b->pid ? -1 : 1;
	if (!d)
		d = strcmp(a->site ? a->site : "", b->site ? b->site : "");
	if (!d && a->page != b->page)
		d = a->page < b->page ? -1 : 1;
	return d;
}

static int most_first(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->pages != b->pages)
		return a->pages > b->pages ? -1 : 1;
	return compare(x, y);
}

static char *name_of(struct live *l, uint64_t addr, bool offset, struct hvar_place *p)
{
	uint32_t why;

	live_resolve(l, addr, p);
	return image_place_name(p, p->module ? live_image(l, p->module, &why) : NULL, live_path(l, p->module), offset);
}

/* @c's copies as rows of one page each: their number, or -ENOMEM. */
static ssize_t name_all(const struct page_copies *c, struct live *l, struct row *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct page_copy *v = &c->v[i];
		struct row *r = &rows[n];
		struct hvar_place p, code;

		live_resolve(l, v->addr, &p);
		if (p.vma.region != HVAR_REGION_NONE && p.vma.prot & HVAR_PROT_SHARED)
			continue;
		*r = (struct row){ .pid = v->pid, .page = v->addr >> PAGE_BITS, .pages = 1, .faults = v->faults };
		r->name = name_of(l, v->addr, false, &p);
		n++; /* it is to be freed from here on */
		r->module = p.module;
		r->kind = p.kind;
		if (v->ip) {
			r->site = name_of(l, v->ip, true, &code);
			r->code_module = code.module;
		}
		if (!r->name || (v->ip && !r->site))
			return -ENOMEM;
	}
	return (ssize_t)n;
}

/* Rows that differ in nothing but the page become one. */
static size_t merge(struct row *rows, size_t n)
{
	size_t to = 0;

	qsort(rows, n, sizeof(*rows), compare);
	for (size_t i = 0; i < n; i++) {
		struct row *last = to ? &rows[to - 1] : NULL, *r = &rows[i];
		uint64_t page = r->page;

		if (last) {
			r->page = last->page; /* to be compared without it */
			if (!compare(last, r)) {
				last->pages += last->page != page;
				last->page = page;
				last->faults += r->faults;
				free(r->name);
				free(r->site);
				r->name = r->site = NULL;
				continue;
			}
			r->page = page;
		}
		if (&rows[to] != r) {
			rows[to] = *r;
			r->name = r->site = NULL;
		}
		to++;
	}
	return to;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void write_json(FILE *f, const struct row *r, const struct page_copies *c, struct live *l)
{
	struct json j;

	json_begin(&j, f, "copy");
	json_i64(&j, "pid", r->pid);
	json_bool(&j, "child", r->pid != c->pid);
	json_str(&j, "name", r->name);
	json_str(&j, "module", r->module ? live_path(l, r->module) : NULL);
	json_str(&j, "kind", hvar_kind_name(r->kind));
	json_u64(&j, "pages", r->pages);
	json_u64(&j, "faults", r->faults);
	json_str(&j, "site", r->site);
	json_str(&j, "site_module", r->site && r->code_module ? live_path(l, r->code_module) : NULL);
	json_end(&j);
}

/* Returns the columns taken. */
static int put_module(FILE *f, const char *path)
{
	int n;

	fputs(" [", f);
	n = printable_put(f, last_part(path));
	putc(']', f);
	return n + 3;
}

static void write_text(FILE *f, const struct row *r, const struct page_copies *c, struct live *l)
{
	char who[32];
	int n;

	snprintf(who, sizeof(who), "%d %s", (int)r->pid, r->pid == c->pid ? "parent" : "child");
	fprintf(f, "%8" PRIu64 " %8" PRIu64 "  %-16s ", r->pages, r->faults, who);
	n = printable_put(f, r->name);
	if (r->module)
		n += put_module(f, live_path(l, r->module));
	fprintf(f, "%*s", n < NAME_WIDTH ? NAME_WIDTH - n + 1 : 1, "");
	printable_put(f, r->site ? r->site : "[system call]");
	if (r->site && r->code_module)
		put_module(f, live_path(l, r->code_module));
	putc('\n', f);
}

int pages_copies_write(FILE *f, bool json, const struct page_copies *c, struct live *l, size_t *out)
{
	struct row *rows = calloc(c->n + 1, sizeof(*rows));
	ssize_t n = rows ? name_all(c, l, rows) : -ENOMEM;
	uint64_t pages = 0;
	struct json j;

	if (n >= 0) {
		*out = merge(rows, (size_t)n);
		qsort(rows, *out, sizeof(*rows), most_first);
		if (json) {
			json_meta(&j, f, "pages");
			json_i64(&j, "pid", c->pid);
			json_str(&j, "rows", "copy");
			json_end(&j);
		} else if (page_copies_unknown(c)) {
			fprintf(f, "Which pages process %d and its children copied is not known\n", (int)c->pid);
		} else if (!*out) {
			fprintf(f, "Process %d and its children copied no page\n", (int)c->pid);
		} else {
			fprintf(f, "Pages that process %d and its children copied\n   PAGES   FAULTS  PROCESS          %-32s WRITTEN AT\n",
				(int)c->pid, "VARIABLE");
		}
		for (size_t i = 0; i < *out; i++) {
			pages += rows[i].pages;
			(json ? write_json : write_text)(f, &rows[i], c, l);
		}
	}
	if (n >= 0 && json) {
		json_begin(&j, f, "total");
		json_u64(&j, "rows", *out);
		if (page_copies_unknown(c))
			json_null(&j, "pages");
		else
			json_u64(&j, "pages", pages);
		json_u64(&j, "lost", c->lost + page_faults_lost(c->faults));
		json_str(&j, "source", c->told ? "tracepoint" : "faults");
		json_end(&j);
	}
	for (size_t i = 0; rows && i < c->n; i++) {
		free(rows[i].name);
		free(rows[i].site);
	}
	free(rows);
	return n < 0 ? (int)n : 0;
}
