// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In the words of the reports, by enum estimate_reason. */
static const char *const reason_texts[ESTIMATE_REASONS] = {
	[ESTIMATE_NO_OPERAND] = "code that accesses no memory",
	[ESTIMATE_REGISTER_LOST] = "address unprovable: register changed or unknown",
	[ESTIMATE_NO_CODE] = "code that could not be read",
	[ESTIMATE_BAD_CODE] = "bytes that are no instruction",
	[ESTIMATE_NO_REGS] = "the kernel gave no registers",
	[ESTIMATE_TABLE_FULL] = "no memory for more variables",
	[ESTIMATE_NO_BLOCK] = "code whose beginning is not known",
	[ESTIMATE_NOT_MAPPED] = "address unprovable: no memory is known there",
};

static const char *reason_text(uint32_t reason)
{
	return reason < ESTIMATE_REASONS && reason_texts[reason] ? reason_texts[reason] : "";
}

/* ---- order ---- */


static double or_zero(double x)
{
	return isnan(x) ? 0 : x;
}

static double sorted_by(const struct row *r, enum rows_sort sort)
{
	return or_zero(sort == ROWS_BY_TIME ? r->time_share : r->share);
}

static int by_string(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* By share, then so that no two runs over one recording can differ. */
static int compare(const void *pa, const void *pb, void *ctx)
{
	const struct row *a = pa, *b = pb;
	enum rows_sort sort = *(const enum rows_sort *)ctx;
	enum rows_sort other = sort == ROWS_BY_TIME ? ROWS_BY_ACCESSES : ROWS_BY_TIME;
	double x = sorted_by(a, sort), y = sorted_by(b, sort);
	int d;

	if (x != y)
		return x > y ? -1 : 1;
	x = sorted_by(a, other);
	y = sorted_by(b, other);
	if (x != y)
		return x > y ? -1 : 1;
	d = by_string(a->var.name, b->var.name);
	if (!d)
		d = by_string(a->var.module, b->var.module);
	if (!d)
		d = by_string(a->var.kind, b->var.kind);
	if (!d)
		d = by_string(a->var.phase, b->var.phase);
	if (!d)
		d = (a->var.mm > b->var.mm) - (a->var.mm < b->var.mm);
	return d;
}

/* ---- the three sources ---- */

static uint64_t whole(uint64_t fixed)
{
	return fixed / 65536 + (fixed % 65536 >= 32768);
}

static int from_counts(struct rows *r, struct analysis *a)
{
	struct variables *vars = analysis_variables(a);
	uint32_t n = variables_n(vars), i;
	double total = 0;

	r->exact = true;
	r->faults = faulted_n(analysis_faulted(a)) > 0;
	r->all = calloc(n + 1, sizeof(*r->all));
	if (!r->all)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct hvar_hot *h = variables_hot(vars, i);
		struct row *row = &r->all[r->n];
		double counted = (double)h->reads + (double)h->writes, told = counted;

		if (variables_describe(vars, i, &row->var))
			return -ENOMEM;
		faulted_row(analysis_faulted(a), i, &row->faults);
		counted += 65536.0 * (double)(row->faults.fetches + row->faults.untold);
		if (!counted && !(row->var.heap && row->var.heap->objects)) /* memory that nothing accessed was asked for, too */
			continue;
		row->entry = i;
		row->share = counted;
		row->ci[0] = row->ci[1] = row->time_share = NAN;
		row->time_ci[0] = row->time_ci[1] = NAN;
		row->write_share = told > 0 ? (double)h->writes / told : NAN;
		row->reads = whole(h->reads);
		row->writes = whole(h->writes);
		row->accesses = row->reads + row->writes + row->faults.fetches + row->faults.untold;
		row->threads = h->threads;
		total += counted;
		r->n++;
	}
	if (r->totals.accesses_lost) {
		total += (double)r->totals.accesses_lost;
		r->un[r->n_un++] = (struct rows_unattributed){
			.reason = estimate_reason_name(ESTIMATE_TABLE_FULL),
			.text = reason_text(ESTIMATE_TABLE_FULL),
			.share = (double)r->totals.accesses_lost / total,
		};
	}
	for (i = 0; i < r->n; i++) {
		r->all[i].share /= total;
		r->accesses += r->all[i].accesses;
	}
	r->accesses += whole(r->totals.accesses_lost);
	return 0;
}

static int from_samples(struct rows *r, struct analysis *a)
{
	const struct estimate_result *res = analysis_solve(a);
	struct variables *vars = analysis_variables(a);
	size_t i;

	if (!res)
		return -ENOMEM;
	r->all = calloc(res->n + 1, sizeof(*r->all));
	if (!r->all)
		return -ENOMEM;
	for (i = 0; i < res->n; i++) {
		const struct estimate_row *from = &res->rows[i];
		struct row *row = &r->all[i];
		double counted = from->reads + from->writes;

		if (variables_describe(vars, from->variable, &row->var))
			return -ENOMEM;
		row->share = from->share;
		row->ci[0] = from->ci[0];
		row->ci[1] = from->ci[1];
		row->time_share = from->time_share;
		row->time_ci[0] = from->time_ci[0];
		row->time_ci[1] = from->time_ci[1];
		row->write_share = counted > 0 ? from->writes / counted : NAN;
		row->samples = from->samples;
		row->threads = from->threads;
	}
	r->n = res->n;
	r->samples = res->samples;
	r->attributed = res->attributed;
	for (i = ESTIMATE_OK + 1; i < ESTIMATE_REASONS; i++) {
		if (!res->by_reason[i] && !(res->share_lost[i] > 0) && !(res->time_lost[i] > 0))
			continue;
		r->un[r->n_un++] = (struct rows_unattributed){
			.reason = estimate_reason_name((enum estimate_reason)i),
			.text = reason_text((uint32_t)i),
			.samples = res->by_reason[i],
			.share = res->share_lost[i],
			.time_share = res->time_lost[i],
		};
	}
	return 0;
}

static double share_of(double part, double all)
{
	return all > 0 ? part / all : NAN;
}

/* A name of perf's, of a file whose place in memory is not known. */
static int describe_told(struct row *row, const struct accesses_row *from)
{
	static const struct {
		const char *module, *kind;
	} kinds[] = { { "[heap]", "heap" }, { "[stack]", "stack" }, { "//anon", "anon" }, { "[vdso]", "vdso" }, { "[vvar]", "vvar" } };
	size_t i;

	row->var = (struct variable){ .name = from->symbol, .symbol = from->symbol, .module = from->module, .kind = "file",
				      .mm = from->mm, .pid = from->pid, .comm = from->comm };
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(from->module, kinds[i].module))
			continue;
		row->var.kind = kinds[i].kind;
		row->var.module = NULL;
	}
	if (!*from->module)
		row->var.module = NULL;
	if (*from->symbol)
		return 0;
	row->var.symbol = NULL;
	row->var.reason = "no-map";
	if (!row->var.module)
		row->var.name = !strcmp(from->module, "//anon") ? "[anon]" : from->module;
	else
		row->var.name = variables_file_name(from->module);
	return 0;
}

static int from_accesses(struct rows *r, struct analysis *a)
{
	const struct accesses *from = analysis_accesses(a);
	const struct accesses_sum *all = accesses_total(from);
	struct variables *vars = analysis_variables(a);
	size_t n = accesses_rows(from), i;

	r->addressed = true;
	r->all = calloc(n + 1, sizeof(*r->all));
	if (!r->all)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct row *row = &r->all[r->n];
		struct accesses_row got;

		accesses_row(from, i, &got);
		if (!got.sum.samples)
			continue;
		row->entry = got.entry;
		if (got.entry == HVAR_HOT_NONE ? describe_told(row, &got) : variables_describe(vars, got.entry, &row->var))
			return -ENOMEM;
		row->sampled = got.sum;
		row->samples = got.sum.samples;
		row->threads = got.threads;
		row->share = share_of(got.sum.weight, all->weight);
		row->told = got.entry == HVAR_HOT_NONE;
		row->time_share = got.sum.latency_weight > 0 ? share_of(got.sum.latency, all->latency) : NAN;
		row->write_share = share_of(got.sum.writes, got.sum.reads + got.sum.writes);
		accesses_interval(&got.sum, all, row->ci);
		row->time_ci[0] = row->time_ci[1] = NAN;
		if (got.sum.latency_weight > 0)
			accesses_latency_interval(&got.sum, all, row->time_ci);
		r->attributed += row->samples;
		r->n++;
	}
	for (i = 0; i < ACCESSES_REASONS; i++) {
		const struct accesses_sum *un = accesses_unattributed(from, (enum accesses_reason)i);

		if (!un->samples)
			continue;
		r->un[r->n_un++] = (struct rows_unattributed){
			.reason = accesses_reason_name((enum accesses_reason)i),
			.text = accesses_reason_text((enum accesses_reason)i),
			.samples = un->samples,
			.share = share_of(un->weight, all->weight),
			.time_share = all->latency_weight > 0 ? or_zero(share_of(un->latency, all->latency)) : NAN,
		};
	}
	r->samples = all->samples;
	return 0;
}

static void hide(struct rows *r, const struct rows_options *o)
{
	size_t shown = 0, i;

	while (shown < r->n && sorted_by(&r->all[shown], o->sort) >= o->min_share &&
	       (!o->limit || shown < o->limit))
		shown++;
	for (i = shown; i < r->n; i++) {
		r->hidden_share += r->all[i].share;
		r->hidden_time_share += or_zero(r->all[i].time_share);
	}
	r->hidden = r->n - shown;
	r->n = shown;
	r->v = r->all;
}

static uint64_t meta_number(const struct analysis *a, const char *key)
{
	const char *text = analysis_meta(a, key);

	return text ? strtoull(text, NULL, 10) : 0;
}

/* What the engine says it took of the program's time, by the time that samples stand for. */
static void cost(struct rows *r, const struct analysis *a)
{
	const char *hz = analysis_meta(a, "hz");
	double ran_ns = hz && !r->addressed && atof(hz) > 0 ? 1e9 / atof(hz) * (double)r->samples : 0;

	r->hits = meta_number(a, "hits");
	r->walks = meta_number(a, "walks");
	r->walk_insns = meta_number(a, "walk_insns");
	r->sample_ns = meta_number(a, "sample_ns");
	r->slowdown = NAN;
	if (ran_ns > 0 && analysis_meta(a, "cost"))
		r->slowdown = (double)meta_number(a, "cost") / ran_ns;
}

/* A sample stands for as much CPU time as passes until the next: what the kernel has counted beyond all of them has none. */
static void unsampled(struct rows *r, const struct analysis *a, const char *source)
{
	const char *hz = analysis_meta(a, "hz");
	double cpu_ns = (double)meta_number(a, "cpu_ns"), samples = (double)r->totals.samples + (double)r->totals.lost[STREAM_LOST_SAMPLES];

	r->cpu_seconds = cpu_ns > 0 ? cpu_ns / 1e9 : NAN;
	r->unsampled = NAN;
	if (cpu_ns > 0 && hz && atof(hz) > 0 && !r->addressed && !r->totals.lost[STREAM_LOST_THROTTLED] && source && (!strcmp(source, "perf") || !strcmp(source, "ptrace")))
		r->unsampled = fmax(1 - samples / atof(hz) / r->cpu_seconds, 0);
}

int rows_make(struct rows *r, struct analysis *a, const struct rows_options *o, struct err *e)
{
	const char *source = analysis_meta(a, "source");
	enum rows_sort sort = o->sort;
	int ret = 0;
	size_t i;

	memset(r, 0, sizeof(*r));
	r->by_phase = o->by_phase;
	r->callers = o->callers;
	analysis_totals(a, &r->totals);
	if (accesses_total(analysis_accesses(a))->samples)
		ret = from_accesses(r, a);
	else if (r->totals.samples)
		ret = from_samples(r, a);
	else if (r->totals.accesses || faulted_n(analysis_faulted(a)))
		ret = from_counts(r, a);
	else
		r->exact = source && (!strcmp(source, "valgrind") || !strcmp(source, "fault"));
	r->faults = r->faults || (r->exact && source && !strcmp(source, "fault"));
	if (ret) {
		rows_fini(r);
		return err_set(e, ENOMEM, "cannot make the report: no memory: free some");
	}
	for (i = 0; i < r->n; i++)
		r->phases = r->phases || (r->all[i].var.phase && *r->all[i].var.phase);
	if (r->n)
		qsort_r(r->all, r->n, sizeof(*r->all), compare, &sort);
	hide(r, o);
	if (r->addressed && !(accesses_total(analysis_accesses(a))->latency_weight > 0)) /* no cycles were told */
		r->hidden_time_share = NAN;
	r->lost = r->totals.lost[STREAM_LOST_SAMPLES] + r->totals.lost[STREAM_LOST_MEMORY];
	if (r->totals.ended)
		r->seconds = (double)r->totals.end.elapsed_ns / 1e9;
	else
		r->seconds = (double)(r->totals.last_ns - r->totals.first_ns) / 1e9;
	cost(r, a);
	unsampled(r, a, source);
	r->own_cpu_share = NAN;
	if (r->totals.ended && r->seconds > 0 && r->totals.end.own_cpu_ns)
		r->own_cpu_share = (double)r->totals.end.own_cpu_ns / 1e9 / r->seconds;
	return 0;
}

void rows_fini(struct rows *r)
{
	free(r->all);
	r->all = r->v = NULL;
	r->n = 0;
}
