// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watched_report.c - accesses to watched variables, as text for people and JSON Lines for programs.
 *
 *	 accesses     reads    writes  variable [module]
 *	     9000      6000      3000  counter [app]: 8 bytes at 0x55d0c0ffe010 of app, process 4711
 *	     6000      6000         0    by thread 4711
 *	     3000         0      3000    by thread 4712
 *	     6000      6000         0    look() at app.c:40
 */
#include "config.h"

#include "watched_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "near_names.h"
#include "printable.h"
#include "watched.h"

struct by_thread {
	uint32_t tid;
	struct watched_count n;
};

struct by_site {
	struct code_site at;
	bool known;
	struct watched_count n;
};

/* A spot's threads and lines of code, those with the most accesses first. */
struct summary {
	struct by_thread *threads;
	size_t n_threads;
	struct by_site *sites;
	size_t n_sites;
};

static const char *watch_name(const struct analysis *a, size_t i)
{
	char key[32];

	snprintf(key, sizeof(key), "watch.%zu", i);
	return i < STREAM_WATCHES_MAX ? analysis_meta(a, key) : NULL;
}

/* Why it was watched in none, or not in all. */
static const char *watch_why(const struct analysis *a, size_t i)
{
	char key[32];

	snprintf(key, sizeof(key), "watch.%zu.why", i);
	return analysis_meta(a, key);
}

bool watched_report_is(const struct analysis *a)
{
	return watch_name(a, 0) != NULL;
}

/* ---- sums ---- */

static void add(struct watched_count *to, const struct watched_count *n)
{
	to->accesses += n->accesses;
	to->reads += n->reads;
	to->writes += n->writes;
	to->untold += n->untold;
}

static int by_tid(const void *pa, const void *pb)
{
	const struct by_thread *a = pa, *b = pb;

	if (a->n.accesses != b->n.accesses)
		return a->n.accesses > b->n.accesses ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static int by_place(const void *pa, const void *pb)
{
	const struct by_site *a = pa, *b = pb;

	if (a->n.accesses != b->n.accesses)
		return a->n.accesses > b->n.accesses ? -1 : 1;
	return (a->at.where > b->at.where) - (a->at.where < b->at.where);
}

static bool same_site(const struct by_site *s, const struct watched_cell *c)
{
	return s->known == c->known && s->at.module == c->at.module && s->at.mm == c->at.mm && s->at.where == c->at.where;
}

/* False: no memory. */
static bool sum_up(struct summary *s, const struct watched_cell *cells, size_t n)
{
	size_t i, k;

	memset(s, 0, sizeof(*s));
	s->threads = calloc(n + 1, sizeof(*s->threads));
	s->sites = calloc(n + 1, sizeof(*s->sites));
	if (!s->threads || !s->sites)
		return false;
	for (i = 0; i < n; i++) {
		const struct watched_cell *c = &cells[i];

		for (k = 0; k < s->n_threads && s->threads[k].tid != c->tid; k++)
			;
		s->n_threads += k == s->n_threads;
		s->threads[k].tid = c->tid;
		add(&s->threads[k].n, &c->n);
		for (k = 0; k < s->n_sites && !same_site(&s->sites[k], c); k++)
			;
		s->n_sites += k == s->n_sites;
		s->sites[k].at = c->at;
		s->sites[k].known = c->known;
		add(&s->sites[k].n, &c->n);
	}
	qsort(s->threads, s->n_threads, sizeof(*s->threads), by_tid);
	qsort(s->sites, s->n_sites, sizeof(*s->sites), by_place);
	return true;
}

static void summary_fini(struct summary *s)
{
	free(s->threads);
	free(s->sites);
}

static struct images *images(const struct analysis *a)
{
	return (struct images *)analysis_images(a);
}

/* ---- JSON ---- */

static void json_count(struct json *j, const struct watched_count *n)
{
	json_u64(j, "accesses", n->accesses);
	json_u64(j, "reads", n->reads);
	json_u64(j, "writes", n->writes);
	json_u64(j, "untold", n->untold);
}

static void json_site(struct json *j, struct code_names *names, const struct by_site *s, const struct watched_cell *cells,
		      size_t n)
{
	struct code_name name = { .function = "", .file = "", .module = "" };
	size_t i;

	if (s->known)
		code_names_find(names, &s->at, &name);
	json_open(j, NULL, '{');
	json_str(j, "function", *name.function ? name.function : NULL);
	json_str(j, "file", *name.file ? name.file : NULL);
	if (name.line)
		json_u64(j, "line", name.line);
	else
		json_null(j, "line");
	json_str(j, "module", *name.module ? name.module : NULL);
	if (s->known)
		json_hex(j, "vaddr", name.vaddr);
	else
		json_null(j, "vaddr");
	json_count(j, &s->n);
	json_open(j, "threads", '[');
	for (i = 0; i < n; i++) {
		if (!same_site(s, &cells[i]))
			continue;
		json_open(j, NULL, '{');
		json_u64(j, "tid", cells[i].tid);
		json_count(j, &cells[i].n);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void json_spot(FILE *f, struct analysis *a, struct code_names *names, const struct watched_spot *s)
{
	const struct watched_cell *cells = watched_cells(analysis_watched(a), s);
	struct summary sum;
	struct json j;
	size_t i;

	json_begin(&j, f, "watched");
	json_str(&j, "name", watch_name(a, s->watch));
	json_str(&j, "module", s->module ? images_path(analysis_images(a), s->module) : NULL);
	json_hex(&j, "address", s->start);
	json_u64(&j, "size", s->size);
	json_u64(&j, "mm", s->mm);
	json_u64(&j, "pid", s->pid);
	json_str(&j, "comm", s->comm);
	json_count(&j, &s->n);
	json_u64(&j, "lost", s->lost);
	if (!sum_up(&sum, cells, s->n_cells))
		sum.n_threads = sum.n_sites = 0;
	json_open(&j, "threads", '[');
	for (i = 0; i < sum.n_threads; i++) {
		json_open(&j, NULL, '{');
		json_u64(&j, "tid", sum.threads[i].tid);
		json_count(&j, &sum.threads[i].n);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_open(&j, "sites", '[');
	for (i = 0; i < sum.n_sites; i++)
		json_site(&j, names, &sum.sites[i], cells, s->n_cells);
	json_close(&j, ']');
	json_end(&j);
	summary_fini(&sum);
}

/* One that was in no process. */
static void json_missing(FILE *f, struct analysis *a, size_t watch)
{
	const char *name = watch_name(a, watch), *why = watch_why(a, watch);
	char *v[NEAR_NAMES_MAX];
	size_t n = why ? 0 : near_names(images(a), name, v), i;
	struct json j;

	json_begin(&j, f, "watched");
	json_str(&j, "name", name);
	json_null(&j, "address");
	json_u64(&j, "accesses", 0);
	json_str(&j, "why", why);
	json_open(&j, "near", '[');
	for (i = 0; i < n; i++) {
		json_str(&j, NULL, v[i]);
		free(v[i]);
	}
	json_close(&j, ']');
	json_end(&j);
}

static void json_head(FILE *f, const struct analysis *a)
{
	static const char *const keys[] = { "argv", "pid", "source", "maps", "kernel", "start", "note" };
	struct json j;
	size_t i;

	json_meta(&j, f, "report");
	json_str(&j, "mode", "watched");
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = analysis_meta(a, keys[i]);
		char *end;
		uint64_t n = value ? strtoull(value, &end, 10) : 0;

		if (!value || !*value)
			continue;
		if ((!strcmp(keys[i], "pid") || !strcmp(keys[i], "start")) && !*end)
			json_u64(&j, keys[i], n);
		else
			json_str(&j, keys[i], value);
	}
	json_end(&j);
}

static double seconds_of(const struct analysis_totals *t)
{
	return (double)(t->ended ? t->end.elapsed_ns : t->last_ns - t->first_ns) / 1e9;
}

static void json_tail(FILE *f, struct analysis *a, const struct watched_count *all, uint64_t lost)
{
	struct analysis_totals t;
	struct json j;

	analysis_totals(a, &t);
	json_begin(&j, f, "total");
	json_count(&j, all);
	json_u64(&j, "lost", lost);
	json_open(&j, "lost_by", '{');
	if (t.lost[STREAM_LOST_MAPS])
		json_u64(&j, "maps", t.lost[STREAM_LOST_MAPS]);
	if (t.lost[STREAM_LOST_TASKS])
		json_u64(&j, "tasks", t.lost[STREAM_LOST_TASKS]);
	if (t.lost[STREAM_LOST_MEMORY])
		json_u64(&j, "memory", t.lost[STREAM_LOST_MEMORY]);
	json_close(&j, '}');
	json_num(&j, "seconds", seconds_of(&t));
	json_num(&j, "own_cpu_share", t.ended && t.end.elapsed_ns ? (double)t.end.own_cpu_ns / (double)t.end.elapsed_ns : NAN);
	json_u64(&j, "processes", t.processes);
	json_bool(&j, "whole", !analysis_why(a) && t.ended);
	json_str(&j, "why", analysis_why(a));
	json_end(&j);
}

/* Is variable number @watch in some process? */
static bool is_found(const struct watched_spot *s, size_t n, size_t watch)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (s[i].watch == watch)
			return true;
	return false;
}

/* Threads and processes of each are limited by @o in text only: programs get all. */
size_t watched_json(FILE *f, struct analysis *a, const struct watched_choice *o)
{
	struct code_names *names = code_names_new(images(a));
	struct watched_count all = { 0, 0, 0, 0 };
	uint64_t lost = watched_lost(analysis_watched(a));
	const struct watched_spot *s;
	size_t n, i, found = 0;

	(void)o;
	s = watched_spots(analysis_watched(a), &n);
	json_head(f, a);
	for (i = 0; names && i < n; i++) {
		json_spot(f, a, names, &s[i]);
		add(&all, &s[i].n);
		lost += s[i].lost;
	}
	for (i = 0; watch_name(a, i); i++) {
		if (is_found(s, n, i))
			found++;
		else
			json_missing(f, a, i);
	}
	json_tail(f, a, &all, lost);
	code_names_free(names);
	return found;
}

/* ---- text ---- */

static void numbers(FILE *f, const struct watched_count *n)
{
	fprintf(f, "%10" PRIu64 " %9" PRIu64 " %9" PRIu64 "  ", n->accesses, n->reads, n->writes);
}

static void text_site(FILE *f, struct code_names *names, const struct by_site *s)
{
	struct code_name name = { .function = "", .file = "", .module = "" };

	numbers(f, &s->n);
	if (!s->known) {
		fputs("  code that cannot be told\n", f);
		return;
	}
	code_names_find(names, &s->at, &name);
	fputs("  ", f);
	if (*name.function) {
		printable_put(f, name.function);
		fputs(strchr(name.function, '(') ? "" : "()", f);
	} else {
		fprintf(f, "0x%" PRIx64, name.vaddr);
	}
	if (*name.file) {
		fputs(" at ", f);
		printable_put(f, name.file);
		fprintf(f, ":%" PRIu32, name.line);
	} else if (*name.module) {
		fputs(" of ", f);
		printable_put(f, variables_file_name(name.module));
	}
	putc('\n', f);
}

static void text_more(FILE *f, size_t n, const char *what)
{
	if (n)
		fprintf(f, "%33s  %zu more %s%s\n", "", n, what, n == 1 ? "" : "s");
}

static void text_spot(FILE *f, struct analysis *a, struct code_names *names, const struct watched_spot *s, size_t lines)
{
	struct summary sum;
	size_t i;

	numbers(f, &s->n);
	printable_put(f, watch_name(a, s->watch));
	if (s->module) {
		fputs(" [", f);
		printable_put(f, variables_file_name(images_path(analysis_images(a), s->module)));
		putc(']', f);
	}
	fprintf(f, ": %" PRIu32 " byte%s at 0x%" PRIx64 " of ", s->size, s->size == 1 ? "" : "s", s->start);
	printable_put(f, s->comm);
	fprintf(f, "%sprocess %" PRIu32 "\n", *s->comm ? ", " : "", s->pid);
	if (sum_up(&sum, watched_cells(analysis_watched(a), s), s->n_cells)) {
		for (i = 0; i < sum.n_threads && (!lines || i < lines); i++) {
			numbers(f, &sum.threads[i].n);
			fprintf(f, "  by thread %" PRIu32 "\n", sum.threads[i].tid);
		}
		text_more(f, sum.n_threads - i, "thread");
		for (i = 0; i < sum.n_sites && (!lines || i < lines); i++)
			text_site(f, names, &sum.sites[i]);
		text_more(f, sum.n_sites - i, "place");
	}
	summary_fini(&sum);
	if (s->n.untold)
		fprintf(f, "%10" PRIu64 " of these accesses read or write: the code does not tell which\n", s->n.untold);
	if (s->lost)
		fprintf(f, "%10" PRIu64 " accesses besides were counted, and no more is known of them: they came faster than they could be read\n",
			s->lost);
}

/* START-END, as --watch takes it. */
static bool is_range(const char *name)
{
	char *end, *last;

	strtoull(name, &end, 16);
	if (end == name || *end != '-')
		return false;
	strtoull(end + 1, &last, 16);
	return last != end + 1 && !*last;
}

static void text_missing(FILE *f, struct analysis *a, size_t watch)
{
	const char *name = watch_name(a, watch), *why = watch_why(a, watch);
	char *v[NEAR_NAMES_MAX];
	size_t n, i, len = strcspn(name, ".[+");

	if (why) {
		printable_put(f, why);
		putc('\n', f);
		return;
	}
	if (is_range(name)) {
		fputs("nothing found: no process has memory at ", f);
		printable_put(f, name);
		putc('\n', f);
		return;
	}
	n = near_names(images(a), name, v);
	fputs("nothing found: no process has a variable '", f);
	printable_put(f, name);
	putc('\'', f);
	if (n && name[len] && strlen(v[0]) == len && !memcmp(v[0], name, len)) {
		fputs(": there is '", f);
		printable_put(f, v[0]);
		fputs("', which has no such part, or no debug information tells of it\n", f);
		while (n)
			free(v[--n]);
		return;
	}
	if (n && !strcmp(v[0], name)) {
		fputs(": a file has it, but in no process it is where that says\n", f);
		while (n)
			free(v[--n]);
		return;
	}
	for (i = 0; i < n; i++) {
		fputs(!i ? "; did you mean '" : i + 1 < n ? "', '" : "' or '", f);
		printable_put(f, v[i]);
		free(v[i]);
	}
	fputs(n ? "'?\n" : ": 'hotvar symbols FILE' says whether a file has names\n", f);
}

static void text_head(FILE *f, const struct analysis *a, const struct analysis_totals *t)
{
	const char *argv = analysis_meta(a, "argv"), *pid = analysis_meta(a, "pid");

	if (argv && *argv)
		printable_put(f, argv);
	else
		fputs(pid ? "process " : "a recording", f), printable_put(f, pid ? pid : "");
	fprintf(f, ": accesses to watched variables in %.2f s\n", seconds_of(t));
}

static void text_tail(FILE *f, struct analysis *a, const struct analysis_totals *t)
{
	const char *note = analysis_meta(a, "note");
	uint64_t tasks = t->lost[STREAM_LOST_TASKS], maps = t->lost[STREAM_LOST_MAPS], memory = t->lost[STREAM_LOST_MEMORY];

	fputs("accesses: of instructions to any byte that is watched, counted by the processor;\n"
	      "  what reads and writes is one access, and counts as both (a repeated string\n"
	      "  instruction: each time); what the kernel accesses in system calls is not among\n"
	      "  them\n", f);
	if (note && *note) {
		fputs("note: ", f);
		printable_put(f, note);
		putc('\n', f);
	}
	if (tasks || maps || memory)
		fprintf(f, "losses: %" PRIu64 " tasks not followed, %" PRIu64 " changes of the memory map seen late, %" PRIu64 " records lost for want of memory\n",
			tasks, maps, memory);
}

size_t watched_text(FILE *f, struct analysis *a, const struct watched_choice *o)
{
	struct code_names *names = code_names_new(images(a));
	struct analysis_totals t;
	const struct watched_spot *s;
	size_t n, i, found = 0, shown[STREAM_WATCHES_MAX] = { 0 };

	analysis_totals(a, &t);
	s = watched_spots(analysis_watched(a), &n);
	if (!o->quiet)
		text_head(f, a, &t);
	if (n)
		fprintf(f, "%10s %9s %9s  variable [module]\n", "accesses", "reads", "writes");
	for (i = 0; names && i < n; i++) {
		/* A copy that nobody accessed is no news beside those that were. */
		if (!s[i].n.accesses && !s[i].lost && shown[s[i].watch])
			continue;
		if (!o->limit || shown[s[i].watch] < o->limit)
			text_spot(f, a, names, &s[i], o->lines);
		shown[s[i].watch]++;
	}
	for (i = 0; watch_name(a, i); i++) {
		if (is_found(s, n, i) && watch_why(a, i))
			printable_put(f, watch_why(a, i)), putc('\n', f);
		if (o->limit && shown[i] > o->limit)
			fprintf(f, "%33s%zu more processes with %s\n", "", shown[i] - o->limit, watch_name(a, i));
		if (is_found(s, n, i))
			found++;
		else
			text_missing(f, a, i);
	}
	if (!o->quiet && n)
		text_tail(f, a, &t);
	else if (!o->quiet && analysis_meta(a, "note"))
		fputs("note: ", f), printable_put(f, analysis_meta(a, "note")), putc('\n', f);
	if (analysis_why(a))
		fprintf(f, "%s\n", analysis_why(a));
	code_names_free(names);
	return found;
}
