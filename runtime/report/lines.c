// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include "code_access.h"
#include "lines_names.h"
#include "runtime/user/grow.h"
#include "runtime/user/pmu_source.h"

enum { MOST_LINES = 1 << 21, MOST_THREADS = 1 << 16, MOST_SITES = 1 << 12, MOST_EXACT_SITES = 1 << 16, FIRST_BUCKETS = 1024 };

struct lines {
	struct images *images;
	struct variables *variables;
	const struct estimate_env *env;
	struct code_callers *code;
	struct line *v;
	size_t n, cap;
	uint32_t *buckets; /* number + 1, by key */
	size_t n_buckets;
	uint64_t lost;
	struct stream_line before; /* the last record */
	uint32_t before_at;	   /* its line */
};

/* ---- the table ---- */

static size_t bucket_of(const struct lines *l, const struct hvar_key *key)
{
	uint64_t h = (key->object * 0x9e3779b97f4a7c15u) ^ (key->where >> 6) * 0xff51afd7ed558ccdu ^ key->dev;

	return (size_t)((h ^ h >> 29) * 0x9e3779b97f4a7c15u >> 32) & (l->n_buckets - 1);
}

static bool make_room(struct lines *l)
{
	size_t n = l->n_buckets ? 2 * l->n_buckets : FIRST_BUCKETS, i;
	uint32_t *buckets;

	if (l->n == MOST_LINES || grow_array((void **)&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return false;
	if (l->n < l->n_buckets)
		return true;
	buckets = calloc(n, sizeof(*buckets));
	if (!buckets)
		return false;
	free(l->buckets);
	l->buckets = buckets;
	l->n_buckets = n;
	for (i = 0; i < l->n; i++) {
		uint32_t *b = &buckets[bucket_of(l, &l->v[i].key)];

		l->v[i].next = *b;
		*b = (uint32_t)i + 1;
	}
	return true;
}

/* The newest line with @key, in an area of @module; NULL: none. */
static struct line *find(struct lines *l, const struct hvar_key *key, uint32_t module)
{
	uint32_t i = l->n_buckets ? l->buckets[bucket_of(l, key)] : 0;

	for (; i; i = l->v[i - 1].next)
		if (hvar_key_same(&l->v[i - 1].key, key) && l->v[i - 1].module == module)
			return &l->v[i - 1];
	return NULL;
}

static struct line *add(struct lines *l, const struct hvar_key *key, uint32_t module, uint32_t mm, uint32_t pid, uint64_t addr)
{
	struct line *line;
	uint32_t *b;

	if (!make_room(l)) {
		l->lost++;
		return NULL;
	}
	b = &l->buckets[bucket_of(l, key)];
	line = &l->v[l->n++];
	*line = (struct line){ .key = *key, .module = module, .mm = mm, .pid = pid, .addr = addr, .next = *b };
	*b = (uint32_t)l->n;
	return line;
}

static struct line_thread *thread_of(struct lines *l, struct line *line, uint32_t mm, uint32_t pid, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < line->n_threads; i++)
		if (line->threads[i].tid == tid && line->threads[i].mm == mm)
			return &line->threads[i];
	if (i == MOST_THREADS || grow_array((void **)&line->threads, &line->cap_threads, i + (size_t)1, sizeof(*line->threads))) {
		l->lost++;
		return NULL;
	}
	line->threads[i] = (struct line_thread){ .mm = mm, .pid = pid, .tid = tid };
	line->n_threads++;
	return &line->threads[i];
}

/* What @t, one of @line's threads, does by code number @caller. */
static struct line_site *site_of(struct lines *l, struct line *line, const struct line_thread *t, uint32_t caller)
{
	uint32_t thread = (uint32_t)(t - line->threads), i;

	for (i = 0; i < line->n_sites; i++)
		if (line->sites[i].thread == thread && line->sites[i].caller == caller)
			return &line->sites[i];
	if (i >= (line->exact ? MOST_EXACT_SITES : MOST_SITES) || grow_array((void **)&line->sites, &line->cap_sites, i + (size_t)1, sizeof(*line->sites))) {
		l->lost++;
		return NULL;
	}
	line->sites[line->n_sites++] = (struct line_site){ .thread = thread, .caller = caller };
	return &line->sites[i];
}

/* What memory the line at @addr is to @v, its area in @mm. */
static struct hvar_key key_of(const struct lines *l, const struct hvar_vma *v, uint32_t mm, uint64_t addr, bool written)
{
	return hvar_key_of(v, images_facts(l->images, v->module), mm, addr, written ? HVAR_PAGE_COPIED : HVAR_PAGE_UNKNOWN);
}

/* ---- exact records ---- */

/* Has a thread of @mm accessed it? */
static bool has_mm(const struct line *line, uint32_t mm)
{
	uint32_t i;

	for (i = 0; i < line->n_threads; i++)
		if (line->threads[i].mm == mm)
			return true;
	return false;
}

static void add_part(struct lines *l, struct line *line, const struct stream_line *r, const struct stream_line_part *p)
{
	struct line_thread *t = thread_of(l, line, r->mm, r->pid, p->tid);
	unsigned i;

	if (!t)
		return;
	t->read |= p->read;
	t->written |= p->written;
	for (i = 0; i < LINES_WORDS; i++) {
		t->reads[i] += p->reads[i];
		t->writes[i] += p->writes[i];
	}
}

static void add_site(struct lines *l, struct line *line, const struct stream_line *r, uint32_t tid,
		     const struct stream_line_site *from)
{
	const struct line_thread *t = thread_of(l, line, r->mm, r->pid, tid);
	struct line_site *s = t ? site_of(l, line, t, from->caller) : NULL;

	if (!s)
		return;
	s->words |= from->words;
	if (from->flags & HVAR_ACCESS_WRITE)
		s->writes += from->count;
	else
		s->reads += from->count;
}

/* Does @r go on with what the last record was of? */
static bool goes_on(const struct lines *l, const struct stream_line *r)
{
	bool full = l->before.n_parts == STREAM_LINE_PARTS_MAX || l->before.n_sites == STREAM_LINE_SITES_MAX;

	return full && l->before.mm == r->mm && l->before.addr == r->addr && !r->handovers && !r->most_true && !r->most_false;
}

static struct line *line_of_record(struct lines *l, struct spaces *spaces, const struct stream_line *r)
{
	const struct stream_line_part *p = (const struct stream_line_part *)(r + 1);
	const struct hvar_event ev = { .type = HVAR_EVENT_ACCESS, .time_ns = r->time_ns, .mm = r->mm, .pid = r->pid };
	const struct hvar_vmas *vmas = spaces_of(spaces, &ev);
	const struct hvar_vma *v = vmas ? hvar_vmas_find(vmas, r->addr) : NULL;
	struct hvar_key key;
	struct line *line;
	bool written = false;
	uint32_t i;

	if (goes_on(l, r))
		return &l->v[l->before_at];
	if (!v) {
		l->lost++;
		return NULL;
	}
	for (i = 0; i < r->n_parts; i++)
		written = written || p[i].written;
	key = key_of(l, v, r->mm, r->addr, written);
	line = find(l, &key, v->module);
	if (line && has_mm(line, r->mm)) /* that was another life of the address */
		line = NULL;
	if (!line)
		line = add(l, &key, v->module, r->mm, r->pid, r->addr);
	if (line && !line->names)
		lines_names_make(line, r->addr, l->images, l->variables, vmas, &ev);
	return line;
}

void lines_record(struct lines *l, struct spaces *spaces, const struct stream_line *r)
{
	const struct stream_line_part *p = (const struct stream_line_part *)(r + 1);
	const struct stream_line_site *s = (const struct stream_line_site *)(p + r->n_parts);
	struct line *line = line_of_record(l, spaces, r);
	uint32_t i;

	l->before = (struct stream_line){ 0 };
	if (!line)
		return;
	line->exact = true;
	line->handovers += r->handovers;
	line->returns += r->returns;
	line->most_true += r->most_true;
	line->most_false += r->most_false;
	lines_names_objects(line, r);
	for (i = 0; i < r->n_parts; i++)
		add_part(l, line, r, &p[i]);
	for (i = 0; i < r->n_sites; i++)
		add_site(l, line, r, p[s[i].part].tid, &s[i]);
	l->before = *r;
	l->before_at = (uint32_t)(line - l->v);
}

void lines_unseen(struct lines *l, const struct stream_line_unseen *u)
{
	if (l->before.mm != u->mm || l->before.addr != u->addr)
		return;
	l->v[l->before_at].unseen_true += u->most_true;
	l->v[l->before_at].unseen_false += u->most_false;
}

/* ---- samples ---- */

static void count(struct line_thread *t, unsigned at, uint32_t size, uint32_t flags, uint64_t weight)
{
	uint64_t bytes = (size >= LINES_SIZE ? ~(uint64_t)0 : ((uint64_t)1 << size) - 1) << at;

	if (flags & HVAR_ACCESS_READ) {
		t->read |= bytes;
		t->reads[at / 4] += weight;
	}
	if (flags & HVAR_ACCESS_WRITE) {
		t->written |= bytes;
		t->writes[at / 4] += weight;
	}
}

/* The line at @addr that the thread of @ev accesses, which is noted to be there now. */
static struct line *line_at(struct lines *l, const struct hvar_vmas *vmas, const struct hvar_event *ev, uint64_t addr,
			    bool written, struct line_thread **t)
{
	const struct hvar_vma *v = hvar_vmas_find(vmas, addr);
	struct hvar_key key;
	struct line *line;
	uint32_t thread, before;

	if (!v)
		return NULL;
	key = key_of(l, v, ev->mm, addr, written);
	line = find(l, &key, v->module);
	if (!line)
		line = add(l, &key, v->module, ev->mm, ev->pid, addr);
	before = line ? line->n_threads : 0;
	*t = line ? thread_of(l, line, ev->mm, ev->pid, ev->tid) : NULL;
	if (!*t)
		return NULL;
	thread = (uint32_t)(*t - line->threads);
	line->turns += thread < before && line->last != thread;
	line->last = thread;
	if (line->n_threads > 1 && !line->names)
		lines_names_make(line, addr, l->images, l->variables, vmas, ev);
	return line;
}

/* Who has a line alone is not asked by which code. */
static void count_site(struct lines *l, struct line *line, const struct line_thread *t, const struct code_site *code, unsigned at,
		       uint32_t size, uint32_t flags, uint64_t weight)
{
	struct line_site *s;
	uint32_t caller;

	if (line->n_threads < 2 || !code || !l->code)
		return;
	if (!code_callers_number(l->code, code, false, &caller)) {
		l->lost++;
		return;
	}
	s = site_of(l, line, t, caller);
	if (!s)
		return;
	s->words |= (2u << (at + size - 1) / 4) - (1u << at / 4);
	s->reads += flags & HVAR_ACCESS_READ ? weight : 0;
	s->writes += flags & HVAR_ACCESS_WRITE ? weight : 0;
}

void lines_access(struct lines *l, struct spaces *spaces, const struct hvar_event *ev, const struct code_site *code, uint64_t addr,
		  uint32_t size, uint32_t flags, uint64_t weight)
{
	const struct hvar_vmas *vmas = spaces_of(spaces, ev);
	struct line_thread *t;
	struct line *line;

	if (!size || size > 4096 || addr + size < addr)
		size = 1;
	while (vmas && size) {
		unsigned at = (unsigned)(addr % LINES_SIZE);
		uint32_t n = size < LINES_SIZE - at ? size : LINES_SIZE - at;

		line = line_at(l, vmas, ev, addr - at, flags & HVAR_ACCESS_WRITE, &t);
		if (line) {
			count(t, at, n, flags, weight);
			count_site(l, line, t, code, at, n, flags, weight);
		}
		addr += n;
		size -= n;
	}
}

void lines_pmu(struct lines *l, struct spaces *spaces, const struct stream_access *a)
{
	const struct hvar_event *ev = &a->ev;
	const struct hvar_vmas *vmas = spaces_of(spaces, ev);
	uint64_t addr = ev->u.access.addr & ~(uint64_t)(LINES_SIZE - 1), weight = (ev->u.access.weight + 32768) / 65536;
	const struct code_access c = { l->env, ev };
	struct code_site at;
	bool known;
	struct line_thread *t;
	struct line *line;

	if (!vmas || a->flags & (STREAM_ACCESS_NO_ADDRESS | STREAM_ACCESS_NO_MAP))
		return;
	if (!weight)
		weight = 1;
	known = l->env && code_access_site(&c, ev->u.access.ip, &at);
	lines_access(l, spaces, ev, known ? &at : NULL, ev->u.access.addr, ev->u.access.size, ev->u.access.flags, weight);
	if (!pmu_source_hitm(a->source))
		return;
	line = line_at(l, vmas, ev, addr, ev->u.access.flags & HVAR_ACCESS_WRITE, &t);
	if (line)
		line->hitm += weight;
}

static bool one_line(const struct callers *callers, const struct line_site *a, const struct line_site *b)
{
	struct caller x, y;

	if (a->thread != b->thread)
		return false;
	callers_get(callers, a->caller, &x);
	if (!*x.function && !*x.file) /* code without a name is told apart */
		return a->caller == b->caller;
	callers_get(callers, b->caller, &y);
	return x.line == y.line && !strcmp(x.function, y.function) && !strcmp(x.file, y.file);
}

void lines_merge_sites(struct lines *l, const struct callers *callers)
{
	size_t k;

	for (k = 0; k < l->n; k++) {
		struct line *line = &l->v[k];
		uint32_t n = 0, i, j;

		if (line->exact) /* they are lines of code from the start */
			continue;
		for (i = 0; i < line->n_sites; i++) {
			for (j = 0; j < n && !one_line(callers, &line->sites[j], &line->sites[i]); j++)
				;
			if (j == n) {
				line->sites[n++] = line->sites[i];
				continue;
			}
			line->sites[j].words |= line->sites[i].words;
			line->sites[j].reads += line->sites[i].reads;
			line->sites[j].writes += line->sites[i].writes;
		}
		line->n_sites = n;
	}
}

/* ---- all ---- */

size_t lines_n(const struct lines *l)
{
	return l->n;
}

const struct line *lines_at(const struct lines *l, size_t i)
{
	return &l->v[i];
}

uint64_t lines_lost(const struct lines *l)
{
	return l->lost;
}

struct lines *lines_new(struct images *images, struct variables *variables, const struct estimate_env *env,
			struct code_callers *code)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->images = images;
	l->variables = variables;
	l->env = env;
	l->code = code;
	return l;
}

void lines_free(struct lines *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->n; i++) {
		lines_names_free(&l->v[i]);
		free(l->v[i].threads);
		free(l->v[i].sites);
	}
	free(l->v);
	free(l->buckets);
	free(l);
}
