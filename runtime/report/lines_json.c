// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lines_json.c - shared cache lines, for programs: one "line" each, then the "total".
 */
#include "config.h"

#include "lines_rows.h"

#include <inttypes.h>
#include <string.h>

#include "accesses.h"
#include "callers.h"
#include "json.h"
#include "losses.h"
#include "pages.h"
#include "runtime/core/hvar_image.h"

static void number(struct json *j, const char *key, bool known, uint64_t n)
{
	if (known)
		json_u64(j, key, n);
	else
		json_null(j, key);
}

static void counts(struct json *j, const struct line *l, const struct line_part_count *c)
{
	number(j, "reads", l->exact, c->reads);
	number(j, "writes", l->exact, c->writes);
	if (!l->exact) {
		json_u64(j, "read_samples", c->reads);
		json_u64(j, "write_samples", c->writes);
	}
	json_hex(j, "read_bytes", c->read);
	json_hex(j, "written_bytes", c->written);
}

static void who(struct json *j, const struct line_thread *t)
{
	json_u64(j, "tid", t->tid);
	json_u64(j, "pid", t->pid);
	json_u64(j, "mm", t->mm);
}

static void threads(struct json *j, const struct line *l, const struct line_part *p)
{
	uint32_t i;

	json_open(j, "threads", '[');
	for (i = 0; i < l->n_threads; i++) {
		struct line_part_count c = lines_part_count(p, &l->threads[i]);

		if (!(c.read | c.written))
			continue;
		json_open(j, NULL, '{');
		who(j, &l->threads[i]);
		counts(j, l, &c);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void part(struct json *j, const struct line *l, const struct line_part *p, const struct analysis *a)
{
	const struct line_name *n = &l->names[p->first];
	const char *path = images_path(analysis_images(a), n->module);
	unsigned i;

	json_open(j, NULL, '{');
	json_str(j, "name", n->name);
	json_open(j, "also", '[');
	for (i = p->first + 1u; i <= p->last; i++)
		json_str(j, NULL, l->names[i].name);
	json_close(j, ']');
	json_str(j, "member", *n->path ? n->path : NULL);
	json_str(j, "module", path && *path ? path : NULL);
	json_str(j, "kind", hvar_kind_name(n->kind));
	json_u64(j, "line_offset", p->start);
	json_u64(j, "size", (uint64_t)(p->end - p->start));
	number(j, "offset", n->symbol != HVAR_IMAGE_NONE || n->object, n->offset + (uint64_t)(p->start - n->start));
	threads(j, l, p);
	json_close(j, '}');
}

static void sites(struct json *j, const struct line *l, struct analysis *a)
{
	uint32_t i;

	json_open(j, "sites", '[');
	for (i = 0; i < l->n_sites; i++) {
		const struct line_site *s = &l->sites[i];
		struct caller c;

		callers_get(analysis_callers(a), s->caller, &c);
		json_open(j, NULL, '{');
		who(j, &l->threads[s->thread]);
		json_str(j, "function", *c.function ? c.function : NULL);
		json_str(j, "file", *c.file ? c.file : NULL);
		number(j, "line", c.line, c.line);
		number(j, "reads", l->exact, s->reads);
		number(j, "writes", l->exact, s->writes);
		if (!l->exact) {
			json_u64(j, "read_samples", s->reads);
			json_u64(j, "write_samples", s->writes);
		}
		json_u64(j, "words", s->words);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void advice(struct json *j, const struct lines_row *r)
{
	struct line_advice d;

	lines_advise(r->line, &r->judged, &d);
	if (d.what == LINE_ADVICE_NONE) {
		json_null(j, "advice");
		return;
	}
	json_open(j, "advice", '{');
	json_str(j, "do", lines_advice_name(d.what));
	json_str(j, "name", *d.name ? d.name : NULL);
	json_str(j, "of", *d.of ? d.of : NULL);
	number(j, "from", d.from, d.from);
	number(j, "to", d.to, d.to);
	number(j, "size", d.size, d.size);
	number(j, "new_size", d.new_size, d.new_size);
	json_close(j, '}');
}

static void row(FILE *f, const struct lines_row *r, size_t rank, struct analysis *a)
{
	const struct line *l = r->line;
	struct line_part parts[LINES_SIZE];
	unsigned n = lines_parts(l, parts), i;
	struct json j;
	char key[96];

	pages_key(&l->key, key, sizeof(key));
	json_begin(&j, f, "line");
	json_u64(&j, "rank", rank);
	json_str(&j, "sharing", lines_verdict_name(r->judged.verdict));
	json_bool(&j, "likely", !l->exact);
	json_num(&j, "share", r->share);
	json_hex(&j, "addr", l->addr);
	json_u64(&j, "mm", l->mm);
	json_u64(&j, "pid", l->pid);
	json_str(&j, "key", key);
	json_u64(&j, "size", LINES_SIZE);
	number(&j, "handovers", r->judged.order, r->judged.handovers);
	number(&j, "returns", r->judged.order, r->judged.returns);
	if (l->exact)
		json_bool(&j, "unseen", r->judged.unseen);
	else
		json_null(&j, "unseen");
	number(&j, "most_true", l->exact, r->judged.most_true);
	number(&j, "most_false", l->exact, r->judged.most_false);
	number(&j, "samples_true", !l->exact, r->judged.most_true);
	number(&j, "samples_false", !l->exact, r->judged.most_false);
	json_u64(&j, "hitm", l->hitm);
	json_bool(&j, "processes", r->judged.processes);
	json_open(&j, "variables", '[');
	for (i = 0; i < n; i++)
		part(&j, l, &parts[i], a);
	json_close(&j, ']');
	sites(&j, l, a);
	advice(&j, r);
	json_end(&j);
}

void lines_json(FILE *f, const struct lines_rows *r, struct analysis *a, const struct lines_options *o)
{
	size_t shown = 0, i;
	struct analysis_totals t;
	struct json j;

	while (shown < r->n && r->v[shown].share >= o->min_share && (!o->limit || shown < o->limit))
		shown++;
	json_meta(&j, f, "report");
	json_str(&j, "by", "cacheline");
	json_str(&j, "mode", r->exact ? "exact" : "sampled");
	if (analysis_meta(a, "argv"))
		json_str(&j, "argv", analysis_meta(a, "argv"));
	json_end(&j);
	for (i = 0; i < shown; i++)
		row(f, &r->v[i], i + 1, a);
	analysis_totals(a, &t);
	json_begin(&j, f, "total");
	json_u64(&j, "samples", t.samples + accesses_total(analysis_accesses(a))->samples);
	number(&j, "accesses", r->exact, (t.accesses + t.accesses_lost) >> 16);
	number(&j, "handovers", r->exact, r->handovers);
	json_u64(&j, "lines", r->n);
	json_u64(&j, "hidden", r->n - shown);
	json_u64(&j, "not_back_and_forth", r->others);
	json_num(&j, "seconds", lines_seconds(&t));
	json_u64(&j, "processes", t.processes);
	json_u64(&j, "lost", t.lost[STREAM_LOST_SAMPLES] + t.lost[STREAM_LOST_MEMORY]);
	json_u64(&j, "lost_memory", t.lost[STREAM_LOST_MEMORY]);
	losses_json(&j, &t);
	json_bool(&j, "whole", !analysis_why(a) && t.ended);
	json_str(&j, "why", analysis_why(a));
	json_end(&j);
}
