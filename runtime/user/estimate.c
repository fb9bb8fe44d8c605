/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate.c - taking in samples.
 *
 * Here a sample becomes evidence at code sites; estimate_rows.c turns the
 * evidence into rows.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "estimate_rows.h"
#include "estimate_window.h"

const char *estimate_reason_name(enum estimate_reason r)
{
	static const char *const names[ESTIMATE_REASONS] = {
		[ESTIMATE_OK] = "ok",
		[ESTIMATE_NO_OPERAND] = "no-memory-operand",
		[ESTIMATE_REGISTER_LOST] = "register-lost",
		[ESTIMATE_NO_CODE] = "no-code",
		[ESTIMATE_BAD_CODE] = "bad-code",
		[ESTIMATE_NO_REGS] = "no-registers",
		[ESTIMATE_TABLE_FULL] = "table-full",
		[ESTIMATE_NO_BLOCK] = "no-block",
		[ESTIMATE_NOT_MAPPED] = "not-mapped",
	};

	return (unsigned)r < ESTIMATE_REASONS ? names[r] : "";
}

struct estimate *estimate_new(const struct estimate_env *env)
{
	struct estimate *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->env = *env;
	if (sites_init(&e->sites)) {
		free(e);
		return NULL;
	}
	return e;
}

void estimate_free(struct estimate *e)
{
	if (!e)
		return;
	sites_fini(&e->sites);
	walks_fini(&e->walks);
	free(e->stack.v);
	free(e->tls.v);
	free(e->vars);
	free(e->tids);
	free(e->result.rows);
	free(e);
}

struct estimate_var *estimate_var(struct estimate *e, uint32_t variable)
{
	if (variable >= e->n_vars) {
		size_t n = e->n_vars ? e->n_vars : 64;
		struct estimate_var *v;

		while (n <= variable)
			n *= 2;
		v = realloc(e->vars, n * sizeof(*v));
		if (!v)
			return NULL;
		memset(v + e->n_vars, 0, (n - e->n_vars) * sizeof(*v));
		e->vars = v;
		e->n_vars = n;
	}
	return &e->vars[variable];
}

static size_t tid_slot(const uint64_t *tids, size_t n, uint64_t key)
{
	size_t i = (size_t)(key * 0x9e3779b97f4a7c15ull >> 20) & (n - 1);

	while (tids[i] && tids[i] != key)
		i = (i + 1) & (n - 1);
	return i;
}

/* Is it news that thread @tid touches @variable?  The set only grows. */
static bool new_tid(struct estimate *e, uint32_t variable, uint32_t tid)
{
	uint64_t key = ((uint64_t)variable + 1) << 32 | tid;
	size_t i;

	if (2 * (e->used_tids + 1) > e->n_tids) {
		size_t n = e->n_tids ? 2 * e->n_tids : 256;
		uint64_t *t = calloc(n, sizeof(*t));

		if (!t)
			return false;
		for (size_t k = 0; k < e->n_tids; k++)
			if (e->tids[k])
				t[tid_slot(t, n, e->tids[k])] = e->tids[k];
		free(e->tids);
		e->tids = t;
		e->n_tids = n;
	}
	i = tid_slot(e->tids, e->n_tids, key);
	if (e->tids[i])
		return false;
	e->tids[i] = key;
	e->used_tids++;
	return true;
}

/* One sample on its way. */
struct taking {
	struct estimate *e;
	const struct stream_sample *s;
	uint32_t insn; /* where it fell */
	unsigned n_own, n_proven, n_full, n_unmapped, n_shown;
	struct pairs_shown shown[PAIRS_SHOWN]; /* of operands that may touch now this, now that */
};

static void count_variable(struct estimate *e, uint32_t variable, uint32_t tid)
{
	struct estimate_var *v = &e->vars[variable];

	if (v->stamp == e->result.samples)
		return;
	v->stamp = e->result.samples;
	v->samples++;
	if (v->last_tid != tid || !v->threads) {
		v->last_tid = tid;
		if (new_tid(e, variable, tid))
			v->threads++;
	}
}

/* An address on the stack that the operand at @i is based on; 0 if that is not certain. */
static uint64_t stack_base(const struct site_function *f, uint32_t i,
			   const struct decode_mem *m, const struct decode_regs *regs)
{
	bool is_frame = m->base == 5 && i >= f->frame;

	if (m->segment != DECODE_SEG_FLAT || (m->base != 4 && !is_frame) ||
	    regs->known[m->base] < m->addr_bits)
		return 0;
	return m->addr_bits == 64 ? regs->v[m->base] : (uint32_t)regs->v[m->base];
}

uint32_t estimate_variable_at(struct estimate *e, const struct stream_sample *s,
			      const struct site_function *f, uint32_t i, uint32_t mem,
			      uint64_t addr, const struct decode_regs *regs)
{
	const struct estimate_env *env = &e->env;
	const struct decode_mem *m = &f->b->insn[i].mem[mem];
	struct site_operand *o = &f->ops[i][mem];
	bool tls = window_is_tls(&s->ev, m);
	bool fixed = f->module && m->index == DECODE_NONE && (tls || m->segment == DECODE_SEG_FLAT) &&
		     (m->base == DECODE_RIP || m->base == DECODE_NONE);
	struct estimate_tls at = { f->module, m->base == DECODE_NONE, addr };

	if (fixed && o->known_mm && o->known_mm == s->ev.mm)
		return o->known_variable;
	o->known_variable = tls ? env->tls(env->ctx, &s->ev, &at)
				: env->variable(env->ctx, &s->ev, addr,
						stack_base(f, i, m, regs));
	o->known_mm = fixed ? s->ev.mm : 0;
	return o->known_variable;
}

/* How often a rep prefix repeats: RCX says it before it begins. */
static void note_repetition(const struct taking *t, uint32_t i,
			    const struct decode_mem *m, struct site_operand *o,
			    const struct decode_regs *regs)
{
	double n;

	if (!(m->flags & DECODE_MEM_REP) || regs->known[1] < m->addr_bits)
		return;
	n = (double)(m->addr_bits == 64 ? regs->v[1] : (uint32_t)regs->v[1]);
	if (n > 1e12)
		return;
	/* Caught in the middle, at a time as likely as any other, half is still to come. */
	o->rep_sum += i == t->insn ? 2 * n : n;
	o->rep_n++;
}

static void take_operand(void *ctx, struct site_function *f, uint32_t i, uint32_t mem,
			 bool proven, uint64_t addr, bool own,
			 const struct decode_regs *regs)
{
	struct taking *t = ctx;
	const struct decode_mem *m = &f->b->insn[i].mem[mem];
	struct site_operand *o = site_operands(f, i);
	uint32_t variable;

	if (!o)
		return;
	o += mem;
	t->n_own += own;
	if (!proven) {
		o->lost += own;
		return;
	}
	site_operand_shown(o);
	note_repetition(t, i, m, o, regs);
	variable = estimate_variable_at(t->e, t->s, f, i, mem, addr, regs);
	if (variable == ESTIMATE_NOTHING_THERE) {
		o->unmapped++;
		t->n_unmapped += own;
		return;
	}
	if (variable == HVAR_HOT_NONE || !estimate_var(t->e, variable)) {
		o->full++;
		t->n_full += own;
		return;
	}
	site_operand_note(o, variable);
	if (t->e->env.accessed && !(m->flags & DECODE_MEM_MAYBE) && !window_is_tls(&t->s->ev, m)) {
		const struct code_site at = { .module = f->module, .mm = f->mm, .where = f->start + f->b->off[i] };

		t->e->env.accessed(t->e->env.ctx, &t->s->ev, &at, addr, m->size, m->flags & (DECODE_MEM_READ | DECODE_MEM_WRITE));
	}
	if (own && m->base == 4 && m->index == DECODE_NONE) {
		site_operand_note(&f->stack, variable);
		site_operand_note(&t->e->stack, variable);
	}
	if (own && t->n_shown < PAIRS_SHOWN && m->base != DECODE_RIP && m->base != 4)
		t->shown[t->n_shown++] = (struct pairs_shown){ i, mem, variable };
	if (own) {
		t->n_proven++;
		count_variable(t->e, variable, t->s->ev.tid);
	}
}

static void take_branch(void *ctx, struct site_function *f, uint32_t i, bool taken)
{
	(void)ctx;
	if (taken)
		f->branches[i].taken++;
	else
		f->branches[i].not_taken++;
}

static void take_jump(void *ctx, struct site_function *f, uint32_t i, uint64_t off,
		      bool own)
{
	uint32_t to = blocks_find(f->b, off);

	(void)ctx;
	if (to == BLOCKS_NONE)
		return;
	blocks_saw_jump(f->b, i, to);
	if (own)
		site_jump_note(f, i, to);
}

static enum estimate_reason take(struct taking *t)
{
	const struct window_sink sink = { t, take_operand, take_branch, take_jump, 0 };
	struct site_function *f;
	enum estimate_reason r;
	double ns = (double)t->s->ev.u.sample.period_ns;

	r = sites_find(&t->e->sites, &t->e->env, &t->s->ev, &f, &t->insn);
	if (r != ESTIMATE_OK)
		return r;
	known_fill(t->e, f, t->insn, &t->s->ev);
	f->samples++;
	f->hits[t->insn]++;
	f->time_ns[t->insn] += ns;
	slices_take(&t->e->slices, &t->e->sites, f, t->insn, ns);
	t->e->placed_ns += ns;
	if (t->s->ev.u.sample.flags & HVAR_SAMPLE_NOREGS)
		return ESTIMATE_NO_REGS;
	site_keep(f, t->insn, t->s->regs);
	series_sample(&t->e->sites.series, t->s, f, t->insn);
	window_run(t->s, f, t->insn, &sink);
	pairs_sample(&f->pairs, t->s, t->insn, t->shown, t->n_shown);
	if (!t->n_own)
		return f->b->headless && !f->b->span[t->insn].first ? ESTIMATE_NO_BLOCK : ESTIMATE_NO_OPERAND;
	if (t->n_proven)
		return ESTIMATE_OK;
	if (t->n_full)
		return ESTIMATE_TABLE_FULL;
	return t->n_unmapped ? ESTIMATE_NOT_MAPPED : ESTIMATE_REGISTER_LOST;
}

void estimate_sample(struct estimate *e, const struct stream_sample *s)
{
	struct taking t = { .e = e, .s = s };
	enum estimate_reason r;

	e->result.samples++;
	e->all_ns += (double)s->ev.u.sample.period_ns;
	r = take(&t);
	e->result.by_reason[r]++;
	e->by_reason_ns[r] += (double)s->ev.u.sample.period_ns;
	e->result.attributed = e->result.by_reason[ESTIMATE_OK];
}
