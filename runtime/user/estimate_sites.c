/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_sites.c - finding and decoding the function around a sample.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_bounds.h"
#include "estimate_sites.h"

enum {
	CACHE = 8192,		  /* entries, a power of 2 */
	NEAR_BITS = 9,		  /* bytes of code whose entries are side by side: memory is touched for what runs alone */
	WINDOW = 2048,		  /* bytes read where a function's bounds are not known */
	MAX_FUNCTION = 256 << 10, /* bytes; a larger one is taken as windows */
	MAX_VARS = 4096,	  /* of one operand */
};

static const double FEWEST_SWITCHES = 8, PHASED = 0.3;

struct site_cache {
	uint64_t where;
	uint32_t module, mm;
	struct site_function *f;
	uint32_t insn;
};

int sites_init(struct sites *s)
{
	memset(s, 0, sizeof(*s));
	s->cache = calloc(CACHE, sizeof(*s->cache));
	return s->cache ? 0 : -ENOMEM;
}

static void function_free(struct site_function *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; f->ops && i < f->n; i++) {
		if (!f->ops[i])
			continue;
		for (int m = 0; m < f->b->insn[i].n_mem; m++)
			free(f->ops[i][m].v);
		free(f->ops[i]);
	}
	for (uint32_t i = 0; f->slices && i < f->n; i++)
		free(f->slices[i]);
	free(f->slices);
	free(f->ops);
	free(f->hits);
	free(f->time_ns);
	free(f->stack.v);
	free(f->branches);
	free(f->kept);
	free(f->jumps);
	free(f->counted);
	pairs_free(f->pairs);
	free(f->counted_at);
	blocks_free(f->b);
	free(f);
}

void sites_fini(struct sites *s)
{
	for (size_t i = 0; i < s->n; i++)
		function_free(s->v[i]);
	free(s->v);
	free(s->cache);
	free(s->ranges);
	series_fini(&s->series);
	memset(s, 0, sizeof(*s));
}

static int compare(const struct site_function *f, uint32_t module, uint32_t mm,
		   uint64_t where)
{
	if (f->module != module)
		return f->module < module ? -1 : 1;
	if (f->mm != mm)
		return f->mm < mm ? -1 : 1;
	if (f->end <= where)
		return -1;
	return f->start > where;
}

/* Where the first function lies that does not end before @at. */
static size_t lower_bound(const struct sites *s, const struct code_site *at)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare(s->v[mid], at->module, at->mm, at->where) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct reader {
	const struct estimate_env *env;
	const struct hvar_event *ev;
	uint64_t addr; /* of the function */
};

/* A jump table lies in other memory than the code: ask where it comes from. */
static size_t read_program(void *ctx, uint64_t off, void *buf, size_t len)
{
	const struct reader *r = ctx;
	struct code_site at;
	uint64_t start, end;

	if (!r->env->site(r->env->ctx, r->ev, r->addr + off, &at, &start, &end) ||
	    r->addr + off >= end)
		return 0;
	if (len > end - (r->addr + off))
		len = end - (r->addr + off);
	return r->env->code(r->env->ctx, &at, buf, len);
}

static bool allocate(struct site_function *f)
{
	size_t n = f->b->n ? f->b->n : 1;

	f->n = f->b->n;
	f->hits = calloc(n, sizeof(*f->hits));
	f->time_ns = calloc(n, sizeof(*f->time_ns));
	f->ops = calloc(n, sizeof(struct site_operand *));
	f->branches = calloc(n, sizeof(*f->branches));
	return f->hits && f->time_ns && f->ops && f->branches;
}

static struct site_function *function_new(const struct estimate_env *env,
					  const struct hvar_event *ev,
					  const struct code_site *at, uint64_t start,
					  uint64_t end, bool window)
{
	struct site_function *f = calloc(1, sizeof(*f));
	struct code_site from = *at;
	struct reader r = { env, ev, ev->u.sample.ip - (at->where - start) };
	uint8_t *code = malloc(end - start);
	size_t got;

	if (!f || !code)
		goto fail;
	f->module = at->module;
	f->mm = at->mm;
	f->start = start;
	f->end = end;
	f->cut = window;
	from.where = start;
	got = env->code(env->ctx, &from, code, end - start);
	if (got > end - start)
		got = end - start;
	if (got) {
		f->b = blocks_new(code, got, r.addr,
				  ev->u.sample.flags & HVAR_SAMPLE_ABI32, window,
				  read_program, &r);
		if (!f->b || !allocate(f))
			goto fail;
		if (window)
			f->end = start + (f->b->size ? f->b->size : 1);
	} else if (window) {
		f->end = start + 1;
	}
	free(code);
	return f;
fail:
	free(code);
	function_free(f);
	return NULL;
}

static bool insert(struct sites *s, size_t at, struct site_function *f)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct site_function **v = realloc(s->v, cap * sizeof(*v));

		if (!v)
			return false;
		s->v = v;
		s->cap = cap;
	}
	memmove(&s->v[at + 1], &s->v[at], (s->n - at) * sizeof(struct site_function *));
	s->v[at] = f;
	s->n++;
	return true;
}

/* Is @start..@end free of functions already decoded?  Else cut it short. */
static void make_room(const struct sites *s, const struct code_site *at,
		      uint64_t *start, uint64_t *end, bool *window)
{
	size_t i = lower_bound(s, at);

	if (i && s->v[i - 1]->module == at->module && s->v[i - 1]->mm == at->mm &&
	    s->v[i - 1]->end > *start) {
		*start = at->where;
		*window = true;
	}
	if (i < s->n && s->v[i]->module == at->module && s->v[i]->mm == at->mm &&
	    s->v[i]->start < *end)
		*end = s->v[i]->start;
}

/* By its code: what is around @at and in nothing that is decoded already; @before bytes of its mapping are before it. */
static struct site_function *guess_around(const struct sites *s, const struct estimate_env *env,
					  const struct hvar_event *ev, const struct code_site *at,
					  uint64_t before, uint64_t left)
{
	uint64_t lowest = at->where - (before < at->where ? before : at->where);
	uint64_t highest = at->where + left;
	size_t i = lower_bound(s, at);
	struct site_function *f;
	bool edge = true;
	struct bounds b;

	if (i && s->v[i - 1]->module == at->module && s->v[i - 1]->mm == at->mm && s->v[i - 1]->end > lowest) {
		lowest = s->v[i - 1]->end;
		edge = !s->v[i - 1]->cut;
	}
	if (i < s->n && s->v[i]->module == at->module && s->v[i]->mm == at->mm && s->v[i]->start < highest)
		highest = s->v[i]->start;
	if (!bounds_find(env, at, ev->u.sample.flags & HVAR_SAMPLE_ABI32, lowest, highest, edge, &b))
		return NULL;
	f = function_new(env, ev, at, b.start, b.end, false);
	if (f)
		f->cut = !b.ends;
	if (f && f->b) {
		f->b->bounded = b.begins;
		f->b->headless = !b.begins;
	}
	return f;
}

static struct site_function *decode_around(struct sites *s,
					   const struct estimate_env *env,
					   const struct hvar_event *ev,
					   const struct code_site *at,
					   uint64_t before, uint64_t left)
{
	uint64_t start = at->where, end = at->where;
	bool window = !env->function(env->ctx, at, &start, &end) ||
		      start > at->where || end <= at->where ||
		      end - start > MAX_FUNCTION ||
		      /* the part before ip must be mapped where we think */
		      at->where - start > ev->u.sample.ip;
	struct site_function *f = NULL;

	if (window) {
		f = guess_around(s, env, ev, at, before, left);
		start = at->where;
		end = start + (left < WINDOW ? left : WINDOW);
	}
	if (!f) {
		make_room(s, at, &start, &end, &window);
		f = function_new(env, ev, at, start, end, window);
		if (f && f->b)
			f->b->headless = window;
	}
	if (f && !insert(s, lower_bound(s, at), f)) {
		function_free(f);
		f = NULL;
	}
	if (!f)
		s->failed = true;
	return f;
}

/*
 * A sample in the middle of what the sweep took for one instruction: data in
 * between, or a jump into a prefix.  From here on decode anew, as a function that
 * begins here.
 */
static struct site_function *split(struct sites *s, const struct estimate_env *env,
				   const struct hvar_event *ev,
				   const struct code_site *at,
				   struct site_function *old)
{
	struct site_function *f;
	uint64_t end = old->end;

	if (at->where <= old->start)
		return NULL;
	old->end = at->where;
	f = function_new(env, ev, at, at->where, end, true);
	if (f && !insert(s, lower_bound(s, at), f)) {
		function_free(f);
		f = NULL;
	}
	if (!f)
		s->failed = true;
	return f;
}

struct site_function *sites_at(const struct sites *s, uint32_t module, uint32_t mm,
			       uint64_t where)
{
	struct code_site at = { module, mm, where };
	size_t i = lower_bound(s, &at);

	if (i == s->n || s->v[i]->module != module || s->v[i]->mm != mm ||
	    s->v[i]->start != where)
		return NULL;
	return s->v[i];
}

struct site_function *sites_decode(struct sites *s, const struct estimate_env *env,
				   const struct site_range *r, uint64_t where)
{
	struct code_site at = { r->module, r->mm, where };
	struct hvar_event ev = r->ev;
	size_t i = lower_bound(s, &at);
	uint64_t start, end;

	if (i < s->n && !compare(s->v[i], r->module, r->mm, where))
		return s->v[i];
	if (!env->function(env->ctx, &at, &start, &end) || start > where ||
	    end <= where || end - start > MAX_FUNCTION || start < r->start ||
	    end > r->end)
		return NULL;
	ev.u.sample.ip = where + r->bias;
	return decode_around(s, env, &ev, &at, where - r->start, r->end - where);
}

/* Remember the mapping around @ip, for later looks at its other functions. */
static void note_range(struct sites *s, const struct hvar_event *ev,
		       const struct code_site *at, uint64_t start, uint64_t end)
{
	uint64_t ip = ev->u.sample.ip, first = at->where - (ip - start);
	struct site_range *r;

	for (size_t i = 0; i < s->n_ranges; i++) {
		r = &s->ranges[i];
		if (r->module == at->module && r->mm == at->mm && at->where >= r->start &&
		    at->where < r->end)
			return;
	}
	if (ip - start > at->where)
		return;
	if (s->n_ranges == s->cap_ranges) {
		size_t cap = s->cap_ranges ? 2 * s->cap_ranges : 8;

		r = realloc(s->ranges, cap * sizeof(*r));
		if (!r) {
			s->failed = true;
			return;
		}
		s->ranges = r;
		s->cap_ranges = cap;
	}
	s->ranges[s->n_ranges++] = (struct site_range){ at->module, at->mm, first,
							first + (end - start),
							start - first, *ev };
}

static struct site_cache *cache_entry(const struct sites *s, const struct code_site *at)
{
	uint64_t far = ((at->where >> NEAR_BITS) + at->module + ((uint64_t)at->mm << 32)) * 0x9e3779b97f4a7c15ull;

	return &s->cache[((far >> 40) + at->where % (1u << NEAR_BITS)) % CACHE];
}

enum estimate_reason sites_find(struct sites *s, const struct estimate_env *env,
				const struct hvar_event *ev,
				struct site_function **f, uint32_t *insn)
{
	struct code_site at = { 0 };
	struct site_cache *c;
	uint64_t start, end, ip = ev->u.sample.ip;
	size_t i;

	if (!env->site(env->ctx, ev, ip, &at, &start, &end) || ip >= end)
		return ESTIMATE_NO_CODE;
	if (at.module)
		at.mm = 0;
	c = cache_entry(s, &at);
	if (c->f && c->where == at.where && c->module == at.module && c->mm == at.mm) {
		*f = c->f;
		*insn = c->insn;
		return ESTIMATE_OK;
	}
	i = lower_bound(s, &at);
	if (i < s->n && !compare(s->v[i], at.module, at.mm, at.where))
		*f = s->v[i];
	else
		*f = decode_around(s, env, ev, &at, ip - start, end - ip);
	note_range(s, ev, &at, start, end);
	if (!*f || !(*f)->b)
		return ESTIMATE_NO_CODE;
	*insn = blocks_find((*f)->b, at.where - (*f)->start);
	if (*insn == BLOCKS_NONE) {
		*f = split(s, env, ev, &at, *f);
		if (!*f || !(*f)->b)
			return ESTIMATE_BAD_CODE;
		*insn = blocks_find((*f)->b, 0);
		if (*insn == BLOCKS_NONE)
			return ESTIMATE_BAD_CODE;
	}
	*c = (struct site_cache){ at.where, at.module, at.mm, *f, *insn };
	return ESTIMATE_OK;
}

struct site_operand *site_operands(struct site_function *f, uint32_t i)
{
	if (!f->ops[i])
		f->ops[i] = calloc(f->b->insn[i].n_mem, sizeof(**f->ops));
	return f->ops[i];
}

void site_operand_shown(struct site_operand *o)
{
	if (!o->filled)
		return;
	o->filled = false;
	o->n = o->proven = o->full = o->unmapped = 0;
}

void site_operand_note(struct site_operand *o, uint32_t variable)
{
	o->switches += o->proven && o->last_variable != variable;
	o->last_variable = variable;
	o->proven++;
	for (uint32_t i = 0; i < o->n; i++) {
		if (o->v[i].variable != variable)
			continue;
		o->v[i].count++;
		/* What comes often is found soon. */
		if (i && o->v[i].count > o->v[i - 1].count) {
			struct site_var t = o->v[i];

			o->v[i] = o->v[i - 1];
			o->v[i - 1] = t;
		}
		return;
	}
	if (o->n == o->cap) {
		uint32_t cap = o->cap ? 2 * o->cap : 2;
		struct site_var *v;

		if (o->n == MAX_VARS || !(v = realloc(o->v, cap * sizeof(*v)))) {
			o->full++;
			return;
		}
		o->v = v;
		o->cap = cap;
	}
	o->v[o->n++] = (struct site_var){ variable, 1, 0 };
}

bool site_operand_phased(const struct site_operand *o)
{
	double same = 0, expected;

	if (o->rounds > 0 || o->n < 2)
		return false;
	for (uint32_t k = 0; k < o->n; k++)
		same += (double)o->v[k].count * o->v[k].count;
	/* So many are to be expected if each sample has its variable by chance. */
	expected = o->proven - same / o->proven;
	return expected >= FEWEST_SWITCHES && o->switches < PHASED * expected;
}

void site_keep(struct site_function *f, uint32_t i, const uint64_t regs[DECODE_REGS])
{
	uint32_t at = f->n_kept;

	if (at == f->cap_kept && at < SITE_KEPT) {
		uint32_t cap = at ? 2 * at : 8;
		struct site_kept *v = realloc(f->kept, cap * sizeof(*v));

		if (!v)
			return;
		f->kept = v;
		f->cap_kept = cap;
	}
	f->n_kept++;
	/* Each sample has the same chance to be among the kept, whenever it comes. */
	if (at >= SITE_KEPT)
		at = (uint32_t)((uint64_t)(uint32_t)(at * 0x9e3779b97f4a7c15ull >> 32) *
				(at + 1) >> 32);
	if (at < SITE_KEPT) {
		f->kept[at].insn = i;
		memcpy(f->kept[at].regs, regs, sizeof(f->kept[at].regs));
	}
}
