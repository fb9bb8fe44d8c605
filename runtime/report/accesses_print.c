// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "accesses_print.h"

#include <inttypes.h>
#include <math.h>

bool accesses_print_any(const struct rows *r)
{
	size_t i;
	unsigned l;

	for (i = 0; r->addressed && i < r->n + r->hidden; i++) {
		if (r->all[i].sampled.latency_weight > 0)
			return true;
		for (l = 0; l < PMU_LEVELS; l++)
			if (r->all[i].sampled.levels[l])
				return true;
	}
	return false;
}

int accesses_print_text(FILE *f, const struct row *row)
{
	int n;

	if (row->sampled.latency_weight > 0)
		n = fprintf(f, " %7.0f", row->sampled.latency / row->sampled.latency_weight);
	else
		n = fprintf(f, " %7s", "-");
	return n + fprintf(f, " %5" PRIu64, row->sampled.hitm);
}

void accesses_print_json(struct json *j, const struct row *row)
{
	const struct accesses_sum *s = &row->sampled;
	uint64_t told = 0;
	unsigned l;

	if (row->told)
		json_str(j, "told_by", "perf");
	json_num(j, "latency_mean", s->latency_weight > 0 ? s->latency / s->latency_weight : NAN);
	for (l = 0; l < PMU_LEVELS; l++)
		told += s->levels[l];
	if (!told) {
		json_null(j, "sources");
		return;
	}
	json_open(j, "sources", '{');
	json_u64(j, "told", told);
	json_u64(j, "hitm", s->hitm);
	json_u64(j, "hitm_remote", s->hitm_remote);
	json_u64(j, "tlb_misses", s->tlb_misses);
	json_u64(j, "locked", s->locked);
	json_open(j, "levels", '{');
	for (l = 0; l < PMU_LEVELS; l++)
		if (s->levels[l])
			json_u64(j, pmu_level_name((enum pmu_level)l), s->levels[l]);
	json_close(j, '}');
	json_close(j, '}');
}
