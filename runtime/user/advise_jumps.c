// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_jumps.c - do accesses jump about in memory, or walk through it?
 *
 * Kept by aligned 2 MiB of memory in a hash table of at most MAX_BLOCKS, so memory does not grow with
 * the program; the last address of each operand is in a table of fixed size, where a newer
 * operand takes an older one's place.
 */
#include "config.h"

#include "advise_jumps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise_strides.h"
#include "estimate_sites.h"
#include "estimate_window.h"
#include "grow.h"

enum { BLOCK_BITS = 21, PAGE_SHIFT = 12, MAX_BLOCKS = 1 << 18, FIRST_SLOTS = 1024, OPERANDS = 1 << 14, OWN = 16, RCX = 1, REP_MOST = 1 << 30 };

struct block {
	uint64_t block;	      /* address >> 21 */
	uint64_t jumped[8];   /* a bit for each page that a jump landed on */
	uint64_t unknown[8];  /* likewise, if it was one */
	uint64_t at, ip;      /* of the last jump that its vote has not outweighed */
	uint32_t votes;	      /* for ip: what most jumps here are by */
	uint32_t accesses, pairs;
	uint32_t far[ADVISE_STRIDES]; /* of the pairs, by what was known of the operand */
};

struct operand {
	uint64_t op, addr, time_ns;
	uint64_t start; /* of the area */
	uint32_t tid;	/* 0: free */
};

struct advise_jumps {
	struct sites sites;
	struct block *v;
	size_t n, cap;
	uint32_t *slots; /* 1 + index */
	size_t nslots;
	struct operand *operands;
	struct advise_strides *strides;
	uint64_t samples, unproven, lost;
};

struct advise_jumps *advise_jumps_new(void)
{
	struct advise_jumps *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->operands = calloc(OPERANDS, sizeof(*j->operands));
	j->slots = calloc(FIRST_SLOTS, sizeof(*j->slots));
	j->nslots = FIRST_SLOTS;
	j->strides = advise_strides_new();
	if (j->strides && j->operands && j->slots && !sites_init(&j->sites))
		return j;
	advise_jumps_free(j);
	return NULL;
}

void advise_jumps_free(struct advise_jumps *j)
{
	if (!j)
		return;
	sites_fini(&j->sites);
	advise_strides_free(j->strides);
	free(j->operands);
	free(j->slots);
	free(j->v);
	free(j);
}

static uint64_t mix(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

static uint32_t *slot_of(struct advise_jumps *j, uint64_t block)
{
	size_t i = mix(block) & (j->nslots - 1);

	while (j->slots[i] && j->v[j->slots[i] - 1].block != block)
		i = (i + 1) & (j->nslots - 1);
	return &j->slots[i];
}

static int more_slots(struct advise_jumps *j)
{
	size_t n = 2 * j->nslots;
	uint32_t *v = calloc(n, sizeof(*v));

	if (!v)
		return -1;
	free(j->slots);
	j->slots = v;
	j->nslots = n;
	for (size_t i = 0; i < j->n; i++)
		*slot_of(j, j->v[i].block) = (uint32_t)i + 1;
	return 0;
}

/* The block of @addr, made if need be; NULL: no room. */
static struct block *block_of(struct advise_jumps *j, uint64_t addr)
{
	uint32_t *slot = slot_of(j, addr >> BLOCK_BITS);

	if (*slot)
		return &j->v[*slot - 1];
	if (j->n >= MAX_BLOCKS || grow_array((void **)&j->v, &j->cap, j->n + 1, sizeof(*j->v)))
		return NULL;
	if (2 * (j->n + 1) > j->nslots) {
		if (more_slots(j))
			return NULL;
		slot = slot_of(j, addr >> BLOCK_BITS);
	}
	memset(&j->v[j->n], 0, sizeof(*j->v));
	j->v[j->n].block = addr >> BLOCK_BITS;
	*slot = (uint32_t)++j->n;
	return &j->v[j->n - 1];
}

/* Bytes from one to the other in area @v, the shorter way around. */
static uint64_t distance(const struct hvar_vma *v, uint64_t a, uint64_t b)
{
	uint64_t d = a > b ? a - b : b - a, size = v->end - v->start;

	return size > d && size - d < d ? size - d : d;
}

static void went_far(struct block *b, uint64_t addr, uint64_t ip, enum advise_stride how)
{
	uint64_t page = addr >> PAGE_SHIFT & 511, bit = 1ull << (page & 63);

	b->far[how]++;
	if (how == ADVISE_STRIDE_WALKS)
		return;
	if (how == ADVISE_STRIDE_JUMPS)
		b->jumped[page / 64] |= bit;
	else
		b->unknown[page / 64] |= bit;
	if (!b->votes) {
		b->ip = ip;
		b->at = addr;
	}
	if (b->ip == ip)
		b->votes++;
	else
		b->votes--;
}

void advise_jumps_access(struct advise_jumps *j, uint32_t tid, uint64_t op, const struct hvar_vma *v, uint64_t addr,
			 uint64_t time_ns, uint64_t ip)
{
	struct operand *o = &j->operands[mix(op * 31 + tid) & (OPERANDS - 1)];
	bool same = o->tid == tid && o->op == op && o->start == v->start && time_ns > o->time_ns;
	uint64_t gap = same ? time_ns - o->time_ns : 0;
	struct block *b = block_of(j, addr);

	if (!b) {
		j->lost++;
		return;
	}
	b->accesses++;
	if (gap && gap <= ADVISE_PAIR_NS) {
		uint64_t walk = gap * ADVISE_WALK_SPEED;

		b->pairs++;
		if (walk < ADVISE_WALK_LEAST)
			walk = ADVISE_WALK_LEAST;
		if (distance(v, o->addr, addr) > walk) /* nobody walks through code */
			went_far(b, addr, ip, op ? advise_strides_far(j->strides, op, ip, tid) : ADVISE_STRIDE_JUMPS);
	}
	*o = (struct operand){ .op = op, .addr = addr, .time_ns = time_ns, .start = v->start, .tid = tid };
}

/* A walk is met on its way at @addr, which is as good as a pair. */
static void walks(struct advise_jumps *j, uint64_t addr)
{
	struct block *b = block_of(j, addr);

	if (!b) {
		j->lost++;
		return;
	}
	b->accesses++;
	b->pairs++;
}

void advise_jumps_next(struct advise_jumps *j, uint32_t tid, uint64_t op, uint64_t addr, uint64_t bytes, uint64_t time_ns)
{
	advise_strides_hit(j->strides, op, tid, addr, bytes, time_ns);
}

bool advise_jumps_wanted(struct advise_jumps *j, uint32_t *tid, uint64_t *ip)
{
	return advise_strides_wanted(j->strides, tid, ip);
}

/* ---- samples ---- */

struct taking {
	struct advise_jumps *j;
	const struct hvar_vmas *vmas;
	const struct stream_sample *s;
	uint64_t base; /* address of the function's first byte */
	uint64_t ops[OWN];
	unsigned n;
	bool hit, any;
};

/* What a repetition has before it, or one access. */
static uint64_t bytes_of(const struct decode_mem *m, const struct decode_regs *regs)
{
	uint64_t n = regs->v[RCX];

	if (!(m->flags & DECODE_MEM_REP) || regs->known[RCX] < m->addr_bits)
		return m->size;
	if (m->addr_bits < 64)
		n &= (1ull << m->addr_bits) - 1;
	return n < REP_MOST ? n * m->size : (uint64_t)REP_MOST * m->size;
}

static void take_operand(void *ctx, struct site_function *f, uint32_t i, uint32_t mem, bool proven, uint64_t addr,
			 bool own, const struct decode_regs *regs)
{
	struct taking *t = ctx;
	uint64_t ip = t->base + f->b->off[i], op = ip * 4 + mem;
	const struct decode_mem *m = &f->b->insn[i].mem[mem];
	uint64_t bytes = bytes_of(m, regs);
	const struct hvar_vma *v;
	unsigned k = 0;

	if (!own || !proven || window_is_tls(&t->s->ev, m))
		return;
	t->any = true;
	/* a loop's next round is too near to tell anything */
	while (k < t->n && t->ops[k] != op)
		k++;
	if (k < t->n || t->n == OWN)
		return;
	t->ops[t->n++] = op;
	if (t->hit) {
		advise_jumps_next(t->j, t->s->ev.tid, op, addr, bytes, t->s->ev.time_ns);
		return;
	}
	v = hvar_vmas_find(t->vmas, addr);
	if (!v || v->region == HVAR_REGION_STACK)
		return;
	if (m->flags & DECODE_MEM_REP && bytes >= ADVISE_STRIDE_RUN)
		walks(t->j, addr);
	else
		advise_jumps_access(t->j, t->s->ev.tid, op, v, addr, t->s->ev.time_ns, ip);
}

static void take_branch(void *ctx, struct site_function *f, uint32_t i, bool taken)
{
	(void)ctx;
	(void)f;
	(void)i;
	(void)taken;
}

static void take_jump(void *ctx, struct site_function *f, uint32_t i, uint64_t off, bool own)
{
	uint32_t to = blocks_find(f->b, off);

	(void)ctx;
	(void)own;
	if (to != BLOCKS_NONE)
		blocks_saw_jump(f->b, i, to);
}

void advise_jumps_sample(struct advise_jumps *j, const struct estimate_env *env, const struct hvar_vmas *vmas,
			 const struct stream_sample *s)
{
	struct taking t = { .j = j, .vmas = vmas, .s = s };
	const struct window_sink sink = { &t, take_operand, take_branch, take_jump, 0 };
	const struct hvar_vma *code = vmas ? hvar_vmas_find(vmas, s->ev.u.sample.ip) : NULL;
	struct site_function *f;
	uint32_t insn;

	j->samples++;
	if (code) /* the code itself is memory that is read */
		advise_jumps_access(j, s->ev.tid, 0, code, s->ev.u.sample.ip, s->ev.time_ns, s->ev.u.sample.ip);
	if (!code || s->ev.u.sample.flags & HVAR_SAMPLE_NOREGS ||
	    sites_find(&j->sites, env, &s->ev, &f, &insn) != ESTIMATE_OK) {
		j->unproven++;
		return;
	}
	t.base = s->ev.u.sample.ip - f->b->off[insn];
	window_run(s, f, insn, &sink);
	j->unproven += !t.any;
}

void advise_jumps_hit(struct advise_jumps *j, const struct estimate_env *env, const struct stream_sample *s)
{
	struct taking t = { .j = j, .s = s, .hit = true };
	const struct window_sink sink = { &t, take_operand, take_branch, take_jump, 0 };
	struct site_function *f;
	uint32_t insn;

	if (s->ev.u.sample.flags & HVAR_SAMPLE_NOREGS || sites_find(&j->sites, env, &s->ev, &f, &insn) != ESTIMATE_OK)
		return;
	t.base = s->ev.u.sample.ip - f->b->off[insn];
	window_run(s, f, insn, &sink);
}

/* ---- what came of it ---- */

/* Pages of @b in [@start, @end) that jumps landed on, those that may have been some, too, if @unknown. */
static uint64_t pages_between(const struct block *b, uint64_t start, uint64_t end, bool unknown)
{
	uint64_t n = 0;

	for (uint64_t p = 0; p < 512; p++) {
		uint64_t a = (b->block << BLOCK_BITS) + (p << PAGE_SHIFT);

		n += a >= start && a < end && (b->jumped[p / 64] | (unknown ? b->unknown[p / 64] : 0)) >> (p & 63) & 1;
	}
	return n;
}

/* Whose block is it that an area's end cuts in two?  The one's that has more of it. */
static bool belongs(const struct block *b, uint64_t start, uint64_t end)
{
	uint64_t mid = (b->block << BLOCK_BITS) + (1ull << (BLOCK_BITS - 1));
	uint64_t first = start >> BLOCK_BITS, last = (end - 1) >> BLOCK_BITS;

	return b->block >= first && b->block <= last && ((mid >= start && mid < end) || first == last);
}

void advise_jumps_sum(const struct advise_jumps *j, uint64_t start, uint64_t end, struct advise_jumps_sum *out)
{
	uint64_t far[ADVISE_STRIDES] = { 0 }, known;
	uint32_t votes = 0;
	bool most;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < j->n; i++) {
		const struct block *b = &j->v[i];

		if (!belongs(b, start, end))
			continue;
		out->accesses += b->accesses;
		out->pairs += b->pairs;
		for (int k = 0; k < ADVISE_STRIDES; k++)
			far[k] += b->far[k];
		if ((b->far[ADVISE_STRIDE_UNKNOWN] || b->far[ADVISE_STRIDE_JUMPS]) && b->votes >= votes) {
			votes = b->votes;
			out->top = b->at;
			out->top_ip = b->ip;
		}
	}
	/* of what is not known as many jump as of what is */
	known = far[ADVISE_STRIDE_WALKS] + far[ADVISE_STRIDE_JUMPS];
	most = 2 * far[ADVISE_STRIDE_JUMPS] >= known;
	out->far = far[ADVISE_STRIDE_JUMPS] + (known ? far[ADVISE_STRIDE_UNKNOWN] * far[ADVISE_STRIDE_JUMPS] / known : far[ADVISE_STRIDE_UNKNOWN]);
	for (size_t i = 0; out->far && i < j->n; i++)
		if (belongs(&j->v[i], start, end))
			out->pages += pages_between(&j->v[i], start, end, most);
	out->landed = far[ADVISE_STRIDE_JUMPS] + (most ? far[ADVISE_STRIDE_UNKNOWN] : 0);
	if (!out->far)
		out->top = out->top_ip = 0;
}

uint64_t advise_jumps_pages(const struct advise_jumps_sum *s)
{
	return s->pages < s->far ? s->pages : s->far;
}

uint64_t advise_jumps_samples(const struct advise_jumps *j)
{
	return j->samples;
}

uint64_t advise_jumps_unproven(const struct advise_jumps *j)
{
	return j->unproven;
}

uint64_t advise_jumps_lost(const struct advise_jumps *j)
{
	return j->lost;
}

int advise_jumps_exceed(uint64_t pages, uint64_t n, uint64_t reach)
{
	double r = (double)reach;

	if (!reach)
		return pages > 0;
	/* each page is missed by all with (1 - 1/r)^n */
	return (double)pages > r * -expm1((double)n * log1p(-1 / (r > 1 ? r : 1.0000001)));
}
