// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_recording.c - the evidence for huge pages that a recording's samples hold.
 */
#include "config.h"

#include "advise_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "images.h"
#include "translator-hooks/image_name.h"

enum { SPACES = 16 };
#define AGAIN_NS 100000000ull

struct space {
	uint32_t mm, pid;
	struct advise_jumps *jumps;
	struct advise_regions regions;
	uint64_t next_ns; /* when what is mapped is looked at again */
};

struct advise_recording {
	struct analysis *a; /* while it is read */
	uint64_t reach;
	struct space v[SPACES];
	size_t n;
	uint64_t lost, unwatched; /* samples without a map; of others */
	struct advise_of of[SPACES];
};

static struct space *space_of(struct advise_recording *r, uint32_t mm, uint32_t pid)
{
	struct space *s;

	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].mm == mm)
			return &r->v[i];
	if (r->n == SPACES)
		return NULL;
	s = &r->v[r->n];
	s->jumps = advise_jumps_new();
	if (!s->jumps)
		return NULL;
	r->n++;
	s->mm = mm;
	s->pid = pid;
	s->regions.reach = r->reach;
	return s;
}

static char *name_of(struct advise_recording *r, const struct hvar_vmas *vmas, uint64_t addr, bool offset, struct hvar_place *p)
{
	void *images = (void *)analysis_images(r->a);
	uint32_t why;

	hvar_resolve(vmas, addr, images_of, images, p);
	return image_place_name(p, p->module ? images_of(images, p->module, &why) : NULL,
				p->module ? images_path(images, p->module) : NULL, offset);
}

static void name_region(struct advise_recording *r, const struct hvar_vmas *vmas, struct advise_region *g)
{
	struct hvar_place p, code;
	char *name = name_of(r, vmas, g->jumps.top, false, &p), *site = name_of(r, vmas, g->jumps.top_ip, true, &code);
	const char *path = images_path(analysis_images(r->a), p.module ? p.module : g->vma.module);

	if (p.kind == HVAR_KIND_FILE) { /* its path says it all */
		free(name);
		name = NULL;
		g->kind = p.kind;
	}
	if (name) {
		free(g->name);
		g->name = name;
		g->kind = p.kind;
		g->object = p.symbol != HVAR_IMAGE_NONE ? g->jumps.top - p.offset : 0;
		g->object_size = p.symbol != HVAR_IMAGE_NONE ? p.size : 0;
	}
	if (site) {
		free(g->code);
		g->code = site;
	}
	if (path && *path) {
		free(g->path);
		g->path = strdup(path);
	}
}

/* What is mapped now and large. */
static void look(struct advise_recording *r, struct space *s, const struct hvar_vmas *vmas)
{
	const struct hvar_vma *v;

	for (v = hvar_vmas_next(vmas, 0); v; v = hvar_vmas_next(vmas, v->end)) {
		struct advise_jumps_sum sum;
		struct advise_region *g;

		if ((v->end - v->start) / 4096 <= r->reach || v->region == HVAR_REGION_STACK)
			continue;
		advise_jumps_sum(s->jumps, v->start, v->end, &sum);
		g = sum.accesses ? advise_regions_of(&s->regions, v) : NULL;
		if (!g || sum.accesses < g->jumps.accesses)
			continue;
		g->jumps = sum;
		g->touched = sum.pages;
		if (v->end - v->start >= g->vma.end - g->vma.start)
			g->vma = *v;
		advise_spans_begin(&g->spans, g->vma.start, g->vma.end);
		advise_spans_full(&g->spans);
		if (sum.top)
			name_region(r, vmas, g);
	}
}

static void take(void *ctx, const struct estimate_env *env, const struct hvar_vmas *vmas, const struct stream_sample *sample)
{
	struct advise_recording *r = ctx;
	struct space *s = space_of(r, sample->ev.mm, sample->ev.pid);

	if (!s || !vmas) {
		(*(s ? &r->lost : &r->unwatched))++;
		return;
	}
	/* before this one: it may be the first after a long time, and what was mapped goes */
	if (sample->ev.time_ns >= s->next_ns) {
		look(r, s, vmas);
		s->next_ns = sample->ev.time_ns + AGAIN_NS;
	}
	advise_jumps_sample(s->jumps, env, vmas, sample);
}

static void take_hit(void *ctx, const struct estimate_env *env, const struct hvar_vmas *vmas, const struct stream_sample *hit)
{
	struct space *s = space_of(ctx, hit->ev.mm, hit->ev.pid);

	(void)vmas;
	if (s)
		advise_jumps_hit(s->jumps, env, hit);
}

/* The last look, at what is mapped at the end or was before. */
static void finish(struct advise_recording *r)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->v[i].regions.n; k++) {
			struct advise_region *g = &r->v[i].regions.v[k];

			advise_jumps_sum(r->v[i].jumps, g->vma.start, g->vma.end, &g->jumps);
			g->touched = g->jumps.pages;
		}
}

struct advise_recording *advise_recording_read(const char *path, uint64_t reach, struct err *e)
{
	struct advise_recording *r = calloc(1, sizeof(*r));
	struct analysis_options o = { .sample = take, .hit = take_hit, .sample_ctx = r };
	struct stream_reader *reader = stream_reader_of_file(path, e);

	if (!r && reader)
		err_set(e, ENOMEM, "cannot read '%s': no memory: free some", path);
	if (r && reader) {
		r->reach = reach;
		r->a = analysis_new(&o, e);
	}
	if (r && r->a) {
		analysis_read(r->a, reader);
		if (analysis_why(r->a))
			err_set(e, EPIPE, "%s", analysis_why(r->a));
		finish(r);
		analysis_free(r->a);
		r->a = NULL;
	} else {
		free(r);
		r = NULL;
	}
	stream_reader_free(reader);
	return r;
}

void advise_recording_free(struct advise_recording *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++) {
		advise_jumps_free(r->v[i].jumps);
		advise_regions_fini(&r->v[i].regions);
	}
	free(r);
}

static int by_samples(const void *pa, const void *pb)
{
	const struct space *a = pa, *b = pb;
	uint64_t x = advise_jumps_samples(a->jumps), y = advise_jumps_samples(b->jumps);

	return x != y ? (x < y) - (x > y) : (a->mm > b->mm) - (a->mm < b->mm);
}

void advise_recording_report(struct advise_recording *r, struct advise_report *out)
{
	qsort(r->v, r->n, sizeof(*r->v), by_samples);
	out->of = r->of;
	out->n_of = r->n;
	out->lost = r->lost;
	out->unwatched = r->unwatched;
	for (size_t i = 0; i < r->n; i++) {
		const struct advise_jumps *j = r->v[i].jumps;

		r->of[i] = (struct advise_of){ .pid = (int)r->v[i].pid, .comm = "", .regions = &r->v[i].regions };
		out->samples += advise_jumps_samples(j);
		out->unproven += advise_jumps_unproven(j);
		out->lost += advise_jumps_lost(j);
	}
}
