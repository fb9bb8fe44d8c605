// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "analysis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "callers.h"
#include "carried.h"
#include "code_source.h"
#include "code_callers.h"
#include "faulted.h"
#include "frames.h"
#include "heap_rows.h"
#include "images.h"
#include "lines.h"
#include "metas.h"
#include "mm_set.h"
#include "runtime/core/hvar_image.h"
#include "runtime/user/code_capture.h"
#include "prefetches.h"
#include "prefetches_sampled.h"
#include "said.h"
#include "spaces.h"
#include "tls_blocks.h"
#include "touched.h"
#include "tls_seen.h"
#include "watched.h"

/* Of a record; weights have 16 bits below the point. */
#define COUNT_MAX ((uint64_t)1 << 46)

struct analysis {
	struct spaces *spaces;
	struct images *images;
	struct variables *variables;
	struct callers *callers;
	struct code_callers *code_callers;
	struct prefetches *prefetches;
	struct prefetches_sampled *prefetches_sampled; /* NULL: not asked for */
	struct accesses *accesses;
	struct faulted *faulted;
	struct watched *watched;
	struct touched *touched; /* NULL: not asked for */
	struct lines *lines;	 /* likewise */
	struct estimate *estimate;
	struct estimate_env env;  /* what that asks */
	void (*sample)(void *ctx, const struct estimate_env *env, const struct hvar_vmas *vmas, const struct stream_sample *s);
	void (*hit)(void *ctx, const struct estimate_env *env, const struct hvar_vmas *vmas, const struct stream_sample *s);
	void *sample_ctx;
	struct code_source *code;
	uint64_t need_head[sizeof(struct stream_code) / 8];
	char fact[CARRIED_TEXT];
	struct metas metas;
	struct analysis_totals totals;
	bool live, per_process, by_member, by_phase;
	const struct estimate_result *result; /* of the samples so far, NULL: more came since */
	struct mm_set mms; /* seen in samples and accesses */
	char *why;
};

/* ---- what the estimator asks ---- */

static bool env_site(void *ctx, const struct hvar_event *ev, uint64_t ip,
		     struct code_site *out, uint64_t *start, uint64_t *end)
{
	struct analysis *a = ctx;
	const struct hvar_vmas *vmas = spaces_of(a->spaces, ev);
	const struct hvar_vma *v = vmas ? hvar_vmas_find(vmas, ip) : NULL;

	if (!v)
		return false;
	code_site_of(v, ev->mm, ip, out);
	out->module = images_canon(a->images, out->module);
	*start = v->start;
	*end = v->end;
	return true;
}

static size_t env_code(void *ctx, const struct code_site *at, void *buf, size_t len)
{
	struct analysis *a = ctx;

	return code_source_get(a->code, at, buf, len);
}

static bool env_function(void *ctx, const struct code_site *at, uint64_t *start, uint64_t *end)
{
	struct analysis *a = ctx;

	return code_source_function(a->code, at, start, end);
}

static uint32_t env_variable(void *ctx, const struct hvar_event *ev, uint64_t addr,
			     uint64_t stack)
{
	struct analysis *a = ctx;

	return variables_touched(a->variables, spaces_of(a->spaces, ev), ev, addr, stack);
}

static uint32_t env_tls(void *ctx, const struct hvar_event *ev, const struct estimate_tls *at)
{
	struct analysis *a = ctx;

	return variables_tls(a->variables, a->live ? spaces_of(a->spaces, ev) : NULL, ev, at ? at->module : 0,
			     at && at->fixed, at ? at->offset : 0);
}

static void env_accessed(void *ctx, const struct hvar_event *ev, const struct code_site *at, uint64_t addr, uint32_t size,
			 uint32_t flags)
{
	struct analysis *a = ctx;

	if (a->lines)
		lines_access(a->lines, a->spaces, ev, at, addr, size, flags, 1);
}

/* ---- records ---- */

static void add(uint64_t *sum, uint64_t x)
{
	if (__builtin_add_overflow(*sum, x, sum))
		*sum = UINT64_MAX;
}

static void note_time(struct analysis *a, uint64_t ns)
{
	if (!a->totals.first_ns)
		a->totals.first_ns = ns; /* 0: not known */
	if (ns > a->totals.last_ns)
		a->totals.last_ns = ns;
}

static void note(struct analysis *a, uint32_t mm, uint64_t ns)
{
	note_time(a, ns);
	mm_set_add(&a->mms, mm);
}

static void take_event(struct analysis *a, const struct hvar_event *ev)
{
	uint32_t i;

	note_time(a, ev->time_ns);
	if (ev->type != HVAR_EVENT_ACCESS) {
		if (a->touched)
			touched_before(a->touched, ev);
		said_event(variables_said(a->variables), ev);
		spaces_event(a->spaces, ev);
		variables_map_changed(a->variables);
		if (a->touched)
			touched_after(a->touched, ev);
		tls_seen_event(variables_tls_seen(a->variables), ev);
		watched_event(a->watched, ev);
		if (ev->type == HVAR_EVENT_FORK)
			variables_fork(a->variables, ev->pid, ev->u.task.child_pid);
		else if (ev->module)
			images_mapped(a->images, ev);
		if (a->live && ev->type == HVAR_EVENT_FORK)
			tls_blocks_fork(variables_tls_blocks(a->variables), ev->mm, ev->u.task.child_mm);
		else if (a->live && ev->module)
			tls_blocks_mapped(variables_tls_blocks(a->variables), a->images, ev);
		return;
	}
	mm_set_add(&a->mms, ev->mm);
	if (a->lines)
		lines_access(a->lines, a->spaces, ev, NULL, ev->u.access.addr, ev->u.access.size, ev->u.access.flags,
			     (ev->u.access.weight + 65535) / 65536);
	add(&a->totals.accesses, ev->u.access.weight);
	i = variables_at(a->variables, spaces_of(a->spaces, ev), ev,
			 ev->u.access.addr);
	if (i == HVAR_HOT_NONE)
		add(&a->totals.accesses_lost, ev->u.access.weight);
	else
		variables_count(a->variables, i, ev);
}

/* The accesses of one kind that @ev, whose address is set, stands for. */
static void count(struct analysis *a, struct hvar_event *ev, uint32_t i, uint64_t n, uint32_t flags)
{
	if (!n)
		return;
	ev->u.access.weight = n << 16;
	ev->u.access.flags = flags;
	add(&a->totals.accesses, ev->u.access.weight);
	if (i == HVAR_HOT_NONE)
		add(&a->totals.accesses_lost, ev->u.access.weight);
	else
		variables_count(a->variables, i, ev);
}

static void take_counts(struct analysis *a, const struct stream_counts *c, size_t len)
{
	struct hvar_event ev = { .time_ns = c->time_ns, .type = HVAR_EVENT_ACCESS, .mm = c->mm,
				 .pid = c->pid, .tid = c->tid };
	size_t n = (len - sizeof(*c)) / sizeof(*c->v), k;
	const struct hvar_vmas *vmas = spaces_of(a->spaces, &ev);
	uint64_t from = 0, until = 0; /* all there has entry i */
	uint32_t i = HVAR_HOT_NONE;

	note(a, c->mm, c->time_ns);
	if (a->by_phase)
		variables_phase(a->variables, said_phase_of(variables_said(a->variables), c->mm));
	for (k = 0; k < n; k++) {
		if (!c->v[k].reads && !c->v[k].writes)
			continue;
		ev.u.access.addr = c->start + c->v[k].offset;
		ev.u.access.weight = ((uint64_t)c->v[k].reads + c->v[k].writes) << 16;
		if (ev.u.access.addr < from || ev.u.access.addr >= until) {
			from = ev.u.access.addr;
			i = variables_range(a->variables, vmas, &ev, from, &until);
		}
		count(a, &ev, i, c->v[k].reads, HVAR_ACCESS_READ);
		count(a, &ev, i, c->v[k].writes, HVAR_ACCESS_WRITE);
	}
	variables_phase(a->variables, 0);
}

static void take_heap(struct analysis *a, const struct stream_heap *h)
{
	uint64_t lost;

	note(a, h->mm, h->time_ns);
	add(&a->totals.accesses, heap_rows_count(a->variables, h, a->per_process, a->by_member, &lost));
	add(&a->totals.accesses_lost, lost);
}

static void take_stack(struct analysis *a, const struct stream_stack *s, size_t len)
{
	struct hvar_event ev = { .time_ns = s->time_ns, .type = HVAR_EVENT_ACCESS, .mm = s->mm, .pid = s->pid, .tid = s->tid };
	size_t n = (len - sizeof(*s)) / sizeof(*s->v), k;
	const struct hvar_vmas *vmas = spaces_of(a->spaces, &ev);

	note(a, s->mm, s->time_ns);
	if (a->by_phase)
		variables_phase(a->variables, said_phase_of(variables_said(a->variables), s->mm));
	for (k = 0; k < n; k++) {
		uint64_t reads = s->v[k].reads < COUNT_MAX ? s->v[k].reads : COUNT_MAX;
		uint64_t writes = s->v[k].writes < COUNT_MAX ? s->v[k].writes : COUNT_MAX;
		uint32_t i;

		if (!reads && !writes)
			continue;
		ev.u.access.size = s->v[k].size;
		ev.u.access.weight = (reads + writes) << 16;
		i = frames_at(variables_frames(a->variables), vmas, &s->v[k]);
		i = i == UINT32_MAX ? HVAR_HOT_NONE : variables_stack(a->variables, &ev, i);
		count(a, &ev, i, reads, HVAR_ACCESS_READ);
		count(a, &ev, i, writes, HVAR_ACCESS_WRITE);
	}
	variables_phase(a->variables, 0);
}

static void take_meta(struct analysis *a, const char *text, size_t len)
{
	const char *eq = memchr(text, '=', len);
	size_t n = (size_t)(eq - text);
	char *value = strndup(eq + 1, len - n - 1);

	if (value && carried_take(a->variables, a->images, text, n, value)) {
		free(value);
		return;
	}
	if (metas_set(&a->metas, text, n, value))
		a->totals.lost[STREAM_LOST_MEMORY]++;
}

void analysis_record(struct analysis *a, const struct stream_record *r)
{
	if (a->live)
		tls_blocks_poll(variables_tls_blocks(a->variables), a->images, a->spaces);
	switch (r->type) {
	case STREAM_META:
		take_meta(a, r->data, r->len);
		break;
	case STREAM_MODULE:
		images_module(a->images, r->data);
		break;
	case STREAM_EVENT:
		take_event(a, r->data);
		break;
	case STREAM_SAMPLE: {
		const struct stream_sample *s = r->data;

		note(a, s->ev.mm, s->ev.time_ns);
		a->totals.samples++;
		a->result = NULL;
		if (a->sample)
			a->sample(a->sample_ctx, &a->env, spaces_of(a->spaces, &s->ev), s);
		if (a->prefetches_sampled)
			prefetches_sampled_take(a->prefetches_sampled, &a->env, spaces_of(a->spaces, &s->ev), s);
		estimate_sample(a->estimate, s);
		break;
	}
	case STREAM_HIT: {
		const struct stream_sample *s = r->data;

		note_time(a, s->ev.time_ns);
		a->result = NULL;
		if (a->hit)
			a->hit(a->sample_ctx, &a->env, spaces_of(a->spaces, &s->ev), s);
		estimate_hit(a->estimate, s);
		break;
	}
	case STREAM_WALK:
		note_time(a, ((const struct stream_walk *)r->data)->s.ev.time_ns);
		a->result = NULL;
		estimate_walk(a->estimate, r->data);
		break;
	case STREAM_CODE:
		code_source_put(a->code, r->data, r->len);
		break;
	case STREAM_COMM:
		variables_comm(a->variables, r->data);
		accesses_comm(a->accesses, r->data);
		watched_comm(a->watched, r->data);
		break;
	case STREAM_ACCESS:
		note(a, ((const struct stream_access *)r->data)->ev.mm, ((const struct stream_access *)r->data)->ev.time_ns);
		accesses_take(a->accesses, a->spaces, r->data, r->len);
		if (a->lines)
			lines_pmu(a->lines, a->spaces, r->data);
		break;
	case STREAM_LOSS: {
		const struct stream_loss *l = r->data;

		add(&a->totals.lost[l->what], l->count);
		break;
	}
	case STREAM_IMAGE:
		images_image(a->images, r->data, r->len);
		break;
	case STREAM_END:
		memcpy(&a->totals.end, r->data, sizeof(a->totals.end));
		a->totals.ended = true;
		break;
	case STREAM_COUNTS:
		take_counts(a, r->data, r->len);
		break;
	case STREAM_HEAP:
		take_heap(a, r->data);
		break;
	case STREAM_TOUCHED:
		if (a->touched)
			touched_record(a->touched, r->data);
		break;
	case STREAM_CALLER:
		callers_name(a->callers, r->data, r->len);
		break;
	case STREAM_CALLS:
		callers_calls(a->callers, a->variables, a->spaces, r->data, r->len, a->by_phase);
		break;
	case STREAM_NAME:
		said_name(variables_said(a->variables), r->data, r->len);
		break;
	case STREAM_PHASE:
		said_phase(variables_said(a->variables), r->data, r->len);
		break;
	case STREAM_PREFETCH:
		prefetches_record(a->prefetches, r->data);
		break;
	case STREAM_STACK:
		take_stack(a, r->data, r->len);
		break;
	case STREAM_FAULT:
		note(a, ((const struct stream_fault *)r->data)->at.ev.mm, ((const struct stream_fault *)r->data)->at.ev.time_ns);
		faulted_take(a->faulted, r->data);
		break;
	case STREAM_WATCHED:
		note(a, ((const struct stream_watched *)r->data)->mm, ((const struct stream_watched *)r->data)->time_ns);
		watched_take(a->watched, r->data, r->len);
		break;
	case STREAM_LINE:
		mm_set_add(&a->mms, ((const struct stream_line *)r->data)->mm);
		if (a->lines)
			lines_record(a->lines, a->spaces, r->data);
		break;
	case STREAM_LINE_UNSEEN:
		if (a->lines)
			lines_unseen(a->lines, r->data);
		break;
	case STREAM_TYPES:
		break;
	}
}

void analysis_read(struct analysis *a, struct stream_reader *r)
{
	struct stream_record rec;
	int ret;

	while ((ret = stream_next(r, &rec)) > 0)
		analysis_record(a, &rec);
	if (ret < 0) {
		free(a->why);
		a->why = strdup(stream_reader_why(r));
	}
}

const char *analysis_why(const struct analysis *a)
{
	return a->why;
}

bool analysis_need(struct analysis *a, struct analysis_need *out)
{
	uint32_t id;

	out->head = a->need_head;
	if (images_fresh(a->images, &id, &out->body, &out->body_len)) {
		struct stream_image head = { .module = id };

		memcpy(a->need_head, &head, sizeof(head));
		out->type = STREAM_IMAGE;
		out->head_len = sizeof(head);
		return true;
	}
	out->body = carried_fresh(a->variables, a->fact);
	if (out->body) {
		out->type = STREAM_META;
		out->head_len = 0;
		out->body_len = strlen(out->body);
		return true;
	}
	out->body = code_source_fresh(a->code, (struct stream_code *)a->need_head, &out->body_len);
	out->type = STREAM_CODE;
	out->head_len = sizeof(struct stream_code);
	return out->body;
}

/* ---- what came out ---- */

const struct estimate_result *analysis_solve(struct analysis *a)
{
	if (!a->result && a->totals.samples)
		a->result = estimate_solve(a->estimate);
	return a->result;
}

struct callers *analysis_callers(struct analysis *a)
{
	code_callers_name(a->code_callers);
	return a->callers;
}

struct faulted *analysis_faulted(struct analysis *a)
{
	return a->faulted;
}

struct watched *analysis_watched(struct analysis *a)
{
	return a->watched;
}

struct accesses *analysis_accesses(struct analysis *a)
{
	return a->accesses;
}

struct prefetches *analysis_prefetches(struct analysis *a)
{
	prefetches_sampled_end(a->prefetches_sampled);
	return a->prefetches;
}

struct lines *analysis_lines(struct analysis *a)
{
	return a->lines;
}

struct touched *analysis_touched(struct analysis *a)
{
	return a->touched;
}

struct variables *analysis_variables(struct analysis *a)
{
	return a->variables;
}

const struct images *analysis_images(const struct analysis *a)
{
	return a->images;
}

void analysis_totals(const struct analysis *a, struct analysis_totals *out)
{
	*out = a->totals;
	out->processes = a->mms.n;
	add(&out->lost[STREAM_LOST_MEMORY], spaces_lost(a->spaces));
	add(&out->lost[STREAM_LOST_MEMORY], images_lost(a->images));
	add(&out->lost[STREAM_LOST_MEMORY], callers_lost(a->callers));
	add(&out->lost[STREAM_LOST_MEMORY], code_source_lost(a->code));
	add(&out->lost[STREAM_LOST_CODE], code_source_lost_fresh(a->code));
	if (a->lines)
		add(&out->lost[STREAM_LOST_MEMORY], lines_lost(a->lines));
	add(&out->lost[STREAM_LOST_MEMORY], prefetches_lost(a->prefetches));
	add(&out->lost[STREAM_LOST_MEMORY], said_lost(variables_said(a->variables)));
	add(&out->lost[STREAM_LOST_MEMORY], faulted_lost(a->faulted));
	add(&out->lost[STREAM_LOST_MEMORY], watched_lost(a->watched));
	out->misfits = spaces_misfits(a->spaces);
}

const char *analysis_meta(const struct analysis *a, const char *key)
{
	return metas_get(&a->metas, key);
}

struct analysis *analysis_new(const struct analysis_options *o, struct err *e)
{
	struct analysis *a = calloc(1, sizeof(*a));
	struct estimate_env env = {
		.ctx = a,
		.site = env_site,
		.code = env_code,
		.function = env_function,
		.variable = env_variable,
		.tls = env_tls,
		.accessed = env_accessed,
	};

	if (!a)
		goto no_memory;
	a->spaces = spaces_new();
	a->live = o->live;
	a->per_process = o->per_process;
	a->by_member = o->by_member;
	a->by_phase = o->by_phase;
	a->images = images_new(o->live);
	a->estimate = estimate_new(&env);
	a->env = env;
	a->sample = o->sample;
	a->hit = o->hit;
	a->sample_ctx = o->sample_ctx;
	if (a->images) {
		a->code = code_source_new(a->images);
		a->variables = variables_new(a->images, o->per_process, o->by_member);
	}
	if (!a->spaces || !a->images || !a->code || !a->estimate || !a->variables)
		goto no_memory;
	a->callers = callers_new();
	a->prefetches = prefetches_new(a->images, a->spaces);
	a->accesses = accesses_new(a->variables, o->per_process);
	if (!a->callers || !a->prefetches || !a->accesses)
		goto no_memory;
	if (o->prefetches) {
		a->prefetches_sampled = prefetches_sampled_new(a->prefetches, a->images);
		if (!a->prefetches_sampled)
			goto no_memory;
	}
	a->code_callers = code_callers_new(a->images, a->callers);
	if (!a->code_callers)
		goto no_memory;
	if (o->lines && !(a->lines = lines_new(a->images, a->variables, &a->env, a->code_callers)))
		goto no_memory;
	if (o->touched && !(a->touched = touched_new(a->images, a->spaces)))
		goto no_memory;
	a->faulted = faulted_new(&(struct faulted_parts){ &a->env, a->spaces, a->images, a->variables, a->callers,
							 a->code_callers, a->touched });
	a->watched = watched_new(&a->env, a->spaces, a->images);
	if (!a->faulted || !a->watched)
		goto no_memory;
	return a;

no_memory:
	analysis_free(a);
	err_set(e, ENOMEM, "cannot begin the report: no memory: free some");
	return NULL;
}

void analysis_free(struct analysis *a)
{
	if (!a)
		return;
	estimate_free(a->estimate);
	touched_free(a->touched);
	lines_free(a->lines);
	code_callers_free(a->code_callers);
	callers_free(a->callers);
	prefetches_sampled_free(a->prefetches_sampled);
	prefetches_free(a->prefetches);
	accesses_free(a->accesses);
	faulted_free(a->faulted);
	watched_free(a->watched);
	variables_free(a->variables);
	images_free(a->images);
	spaces_free(a->spaces);
	code_source_free(a->code);
	metas_fini(&a->metas);
	mm_set_fini(&a->mms);
	free(a->why);
	free(a);
}
