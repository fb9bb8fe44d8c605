// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_json.c - what "hotvar advise" writes as JSON Lines.
 */
#include "config.h"

#include "advise.h"
#include "json.h"
#include "pages.h"
#include "runtime/core/hvar_image.h"

static void head(FILE *f, const struct advise_report *r)
{
	struct json j;

	json_meta(&j, f, "advise");
	if (r->pid)
		json_i64(&j, "pid", r->pid);
	if (r->pid)
		json_num(&j, "seconds", r->seconds);
	json_end(&j);
	json_begin(&j, f, "machine");
	if (r->tlb->small)
		json_u64(&j, "tlb_4k", r->tlb->small);
	else
		json_null(&j, "tlb_4k");
	if (r->tlb->huge)
		json_u64(&j, "tlb_2m", r->tlb->huge);
	else
		json_null(&j, "tlb_2m");
	json_str(&j, "tlb_source", r->tlb->source);
	json_u64(&j, "tlb_reach", advise_tlb_pages(r->tlb) * 4096);
	if (r->thp) {
		json_str(&j, "thp", advise_mode_name(r->thp->enabled));
		json_str(&j, "thp_shmem", *r->thp->shmem_word ? r->thp->shmem_word : NULL);
		json_str(&j, "thp_defrag", *r->thp->defrag ? r->thp->defrag : NULL);
		json_bool(&j, "thp_disabled", r->disabled);
		json_bool(&j, "watched_without", r->without);
		json_u64(&j, "pool", r->thp->pool_pages);
		json_u64(&j, "pool_free", r->thp->pool_free);
	}
	json_end(&j);
}

static void put_step(void *ctx, enum advise_call c, const char *text)
{
	struct json *j = ctx;

	json_open(j, NULL, '{');
	json_str(j, "call", advise_call_name(c));
	json_str(j, "text", text);
	json_close(j, '}');
}

/* What smaps tells is null where there was none. */
static void put_told(struct json *j, const struct advise_region *g, const char *key, uint64_t n)
{
	if (g->smaps)
		json_u64(j, key, n);
	else
		json_null(j, key);
}

static void area(FILE *f, const struct advise_report *r, const struct advise_of *of, const struct advise_region *g)
{
	enum advise_why why = advise_report_why(r, g);
	struct json j;
	char prot[5];

	pages_prot(g->vma.prot, prot);
	json_begin(&j, f, "advice");
	json_hex(&j, "start", g->vma.start);
	json_hex(&j, "end", g->vma.end);
	json_i64(&j, "pid", of->pid);
	json_str(&j, "comm", *of->comm ? of->comm : NULL);
	json_str(&j, "prot", prot);
	json_str(&j, "kind", hvar_kind_name(g->kind));
	json_str(&j, "name", g->name);
	json_str(&j, "path", g->path);
	json_bool(&j, "gone", g->gone);
	json_bool(&j, "advised", why == ADVISE_GIVEN);
	json_str(&j, "why", advise_why_name(why));
	json_u64(&j, "touched", g->touched);
	put_told(&j, g, "intervals", g->intervals);
	put_told(&j, g, "intervals_over", g->often);
	if (r->no_samples) {
		json_null(&j, "pairs");
		json_null(&j, "jumps");
		json_null(&j, "jump_pages");
	} else {
		json_u64(&j, "pairs", g->jumps.pairs);
		json_u64(&j, "jumps", g->jumps.far);
		json_u64(&j, "jump_pages", advise_jumps_pages(&g->jumps));
	}
	json_str(&j, "code", g->code);
	put_told(&j, g, "present", g->rss);
	put_told(&j, g, "huge", g->spans.huge);
	if (g->smaps) {
		json_bool(&j, "asked", g->asked);
		json_bool(&j, "refused", g->refused);
		json_bool(&j, "eligible", g->eligible);
	}
	json_u64(&j, "spans", g->spans.spans);
	json_u64(&j, "ends", g->spans.ends);
	json_u64(&j, "faults_now", advise_spans_now(&g->spans));
	json_u64(&j, "faults_without", advise_spans_without(&g->spans));
	json_u64(&j, "faults_with", advise_spans_with(&g->spans));
	json_u64(&j, "more_bytes", advise_spans_more(&g->spans));
	json_open(&j, "calls", '[');
	if (why == ADVISE_GIVEN)
		advise_steps(r, g, put_step, &j);
	json_close(&j, ']');
	json_end(&j);
}

size_t advise_json(FILE *f, const struct advise_report *r)
{
	size_t given = 0;
	struct json j;

	head(f, r);
	for (size_t k = 0; k < r->n_of; k++)
		for (size_t i = 0; i < r->of[k].regions->n; i++) {
			area(f, r, &r->of[k], &r->of[k].regions->v[i]);
			given += advise_report_why(r, &r->of[k].regions->v[i]) == ADVISE_GIVEN;
		}
	json_begin(&j, f, "total");
	json_u64(&j, "advised", given);
	json_u64(&j, "areas", advise_report_areas(r));
	json_u64(&j, "areas_lost", advise_report_lost(r));
	json_u64(&j, "processes", r->n_of);
	if (r->pid && r->n_of)
		json_u64(&j, "small_touched", r->of->regions->small_touched);
	json_u64(&j, "samples", r->samples);
	json_u64(&j, "samples_unproven", r->unproven);
	json_u64(&j, "samples_lost", r->lost);
	json_u64(&j, "samples_unwatched", r->unwatched);
	json_u64(&j, "samples_unread", r->unread);
	if (r->left) {
		json_u64(&j, "left", r->left);
		json_u64(&j, "left_one", (uint64_t)r->left_one);
	}
	if (r->no_samples)
		json_str(&j, "no_samples", r->no_samples);
	if (r->pid)
		json_bool(&j, "starved", r->starved), json_u64(&j, "guarded", r->guarded);
	if (r->pid)
		json_num(&j, "interval", r->interval);
	if (r->pid)
		json_bool(&j, "cleared", !r->since_start);
	json_end(&j);
	return given;
}
