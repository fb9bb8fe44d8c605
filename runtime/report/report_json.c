// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report_json.c - the report for programs: JSON Lines of schema 1.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "accesses_print.h"
#include "callers_print.h"
#include "heap_print.h"
#include "frames.h"
#include "json.h"
#include "losses.h"
#include "pages.h"
#include "prefetches_print.h"
#include "report.h"

/* The decimal number @text is, of what a recording says; null if it is none. */
static void number(struct json *j, const char *key, const char *text)
{
	uint64_t n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		json_null(j, key);
	else
		json_u64(j, key, n);
}

static void meta(FILE *f, const struct rows *r, const struct analysis *a)
{
	static const struct {
		const char *name;
		bool number;
	} keys[] = {
		{ "argv", false }, { "pid", true }, { "hz", true }, { "source", false },
		{ "maps", false }, { "faults", false }, { "kernel", false }, { "start", true }, { "input", false }, { "note", false },
	};
	struct json j;
	size_t i;

	json_meta(&j, f, "report");
	json_str(&j, "mode", r->faults ? "faults" : r->exact ? "exact" : "sampled");
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = analysis_meta(a, keys[i].name);

		if (value && *value && keys[i].number)
			number(&j, keys[i].name, value);
		else if (value && *value)
			json_str(&j, keys[i].name, value);
	}
	json_end(&j);
}

static void count(struct json *j, const char *key, bool known, uint64_t n)
{
	if (known)
		json_u64(j, key, n);
	else
		json_null(j, key);
}

static void interval(struct json *j, const char *key, const double ci[2])
{
	if (isnan(ci[0])) {
		json_null(j, key);
		return;
	}
	json_open(j, key, '[');
	json_num(j, NULL, ci[0]);
	json_num(j, NULL, ci[1]);
	json_close(j, ']');
}

static void variable(FILE *f, const struct rows *r, const struct analysis *a, size_t i)
{
	const struct row *row = &r->v[i];
	const struct variable *v = &row->var;
	struct json j;

	json_begin(&j, f, "variable");
	json_u64(&j, "rank", i + 1);
	json_str(&j, "name", v->name);
	json_str(&j, "symbol", v->symbol);
	if (v->member) {
		json_str(&j, "member", v->member);
		json_str(&j, "type_name", v->type);
	}
	if (v->frame) {
		json_str(&j, "function", *v->frame->function ? v->frame->function : NULL);
		json_str(&j, "local", *v->frame->local ? v->frame->local : NULL);
	}
	json_str(&j, "module", v->module);
	if (v->deleted)
		json_bool(&j, "deleted", true);
	json_str(&j, "kind", v->kind);
	json_u64(&j, "size", v->size);
	json_num(&j, "share", row->share);
	interval(&j, "ci", row->ci);
	json_num(&j, "time_share", row->time_share);
	if (!r->exact)
		interval(&j, "time_ci", row->time_ci);
	count(&j, "samples", !r->exact, row->samples);
	count(&j, "accesses", r->exact, row->accesses);
	count(&j, "reads", r->exact, row->reads);
	count(&j, "writes", r->exact, row->writes);
	json_num(&j, "write_share", row->write_share);
	if (v->mapped)
		json_bool(&j, "private", v->is_private);
	else
		json_null(&j, "private");
	json_u64(&j, "threads", row->threads);
	if (r->addressed)
		accesses_print_json(&j, row);
	if (r->faults) {
		json_u64(&j, "fetches", row->faults.fetches);
		json_u64(&j, "untold", row->faults.untold);
		json_u64(&j, "by_kernel", row->faults.by_kernel);
	}
	if (r->exact) {
		count(&j, "first_ns", v->first_ns, v->first_ns);
		count(&j, "last_ns", v->last_ns, v->last_ns);
	}
	if (v->heap)
		heap_print_json(&j, v->heap);
	json_str(&j, "reason", v->reason);
	if (r->callers && r->exact)
		callers_print_json(&j, a, row, r->callers);
	if (r->by_phase)
		json_str(&j, "phase", v->phase);
	if (v->mm) {
		json_u64(&j, "mm", v->mm);
		json_u64(&j, "pid", v->pid);
		json_str(&j, "comm", v->comm);
	}
	if (v->key) {
		char text[96];

		pages_key(v->key, text, sizeof(text));
		json_str(&j, "key", text);
	}
	json_end(&j);
}

static void total(FILE *f, const struct rows *r, const struct analysis *a)
{
	struct json j;
	size_t i;

	json_begin(&j, f, "total");
	json_u64(&j, "samples", r->samples);
	json_u64(&j, "attributed", r->attributed);
	json_open(&j, "unattributed", '{');
	for (i = 0; i < r->n_un; i++)
		json_u64(&j, r->un[i].reason, r->un[i].samples);
	json_close(&j, '}');
	json_open(&j, "unattributed_share", '{');
	for (i = 0; i < r->n_un; i++)
		json_num(&j, r->un[i].reason, r->un[i].share);
	json_close(&j, '}');
	json_open(&j, "unattributed_time_share", '{');
	for (i = 0; i < r->n_un; i++)
		json_num(&j, r->un[i].reason, r->un[i].time_share);
	json_close(&j, '}');
	count(&j, "accesses", r->exact, r->accesses);
	json_u64(&j, "lost", r->lost);
	losses_json(&j, &r->totals);
	json_num(&j, "seconds", r->seconds);
	if (r->exact)
		count(&j, "begin_ns", r->totals.first_ns, r->totals.first_ns);
	json_num(&j, "own_cpu_share", r->own_cpu_share);
	if (r->cpu_seconds > 0)
		json_num(&j, "cpu_seconds", r->cpu_seconds);
	if (r->slowdown > 0) {
		json_u64(&j, "hits", r->hits);
		json_num(&j, "slowdown", r->slowdown);
		count(&j, "sample_ns", r->sample_ns, r->sample_ns);
		count(&j, "walks", r->walks, r->walks);
		count(&j, "walk_insns", r->walks, r->walk_insns);
	}
	json_u64(&j, "processes", r->totals.processes);
	json_u64(&j, "misfits", r->totals.misfits);
	json_open(&j, "hidden", '{');
	json_u64(&j, "rows", r->hidden);
	json_num(&j, "share", r->hidden_share);
	json_num(&j, "time_share", r->hidden_time_share);
	json_close(&j, '}');
	json_bool(&j, "whole", !analysis_why(a) && r->totals.ended);
	json_str(&j, "why", analysis_why(a));
	json_end(&j);
}

void report_json(FILE *f, const struct rows *r, const struct analysis *a)
{
	size_t i;

	meta(f, r, a);
	for (i = 0; i < r->n; i++)
		variable(f, r, a, i);
	prefetches_print_json(f, (struct analysis *)a);
	total(f, r, a);
}
