// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lines_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_row(const struct lines_row *r)
{
	return r->judged.verdict > LINE_ONCE;
}

/* By weight, then so that no two reports of one recording differ. */
static int by_weight(const void *pa, const void *pb)
{
	const struct lines_row *a = pa, *b = pb;

	if (is_row(a) != is_row(b))
		return is_row(a) ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->line->mm != b->line->mm)
		return a->line->mm < b->line->mm ? -1 : 1;
	if (a->line->addr != b->line->addr)
		return a->line->addr < b->line->addr ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

int lines_rows_make(struct lines_rows *r, const struct lines *l)
{
	size_t n = lines_n(l), i, k = 0;
	double all = 0;

	memset(r, 0, sizeof(*r));
	r->v = calloc(n + 1, sizeof(*r->v));
	if (!r->v)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct lines_row *row = &r->v[k];

		row->line = lines_at(l, i);
		lines_judge(row->line, &row->judged);
		row->weight = (double)row->judged.most_true + (double)row->judged.most_false;
		r->exact = r->exact || row->line->exact;
		r->pmu = r->pmu || row->line->hitm;
		if (row->judged.order) {
			r->handovers += row->judged.handovers;
			r->handovers_most = row->judged.handovers > r->handovers_most ? row->judged.handovers : r->handovers_most;
		}
		k += row->line->n_threads > 1;
	}
	for (i = 0; r->pmu && i < k; i++) /* the processor itself has seen how often */
		r->v[i].weight = (double)r->v[i].line->hitm;
	qsort(r->v, k, sizeof(*r->v), by_weight);
	for (i = 0; i < k && is_row(&r->v[i]); i++)
		all += r->v[i].weight;
	r->n = i;
	r->others = k - i;
	for (i = 0; i < k; i++)
		r->v[i].share = all > 0 && i < r->n ? r->v[i].weight / all : 0;
	return 0;
}

double lines_seconds(const struct analysis_totals *t)
{
	return (double)(t->ended ? t->end.elapsed_ns : t->last_ns - t->first_ns) / 1e9;
}

void lines_rows_fini(struct lines_rows *r)
{
	free(r->v);
	r->v = NULL;
	r->n = r->others = 0;
}
