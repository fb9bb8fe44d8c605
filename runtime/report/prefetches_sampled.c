// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "prefetches_sampled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_names.h"
#include "runtime/user/decode_regs.h"
#include "runtime/user/grow.h"
#include "runtime/valgrind/hvt_prefetch_code.h"

enum {
	STEPS = 96,    /* instructions from a sample on */
	WINDOW = 256,  /* bytes of code looked at together */
	TEXT = 8192,
	KNOWN_MAX = 1024,
	STACK_MOST = 8 << 20, /* the usual limit */
};

/* A prefetch instruction. */
struct known {
	struct code_site at;
	uint64_t good; /* what it asked for last that is mapped; 0: nothing yet */
	uint32_t mm;   /* where */
	uint32_t text_len;
	char *text;
	/* Its first of unmapped memory, while nothing good is known there; addr 0: none.  The last here: it has no end. */
	struct stream_prefetch wild;
};

struct prefetches_sampled {
	struct prefetches *to;
	struct code_names *names;
	struct known *v;
	size_t n, cap;
	uint64_t rec[(sizeof(struct stream_prefetch) + TEXT) / 8 + 1];
};

/* Code around an address, as one sample finds it. */
struct code {
	const struct estimate_env *env;
	const struct hvar_event *ev;
	struct code_site at; /* of ip */
	uint64_t ip;
	size_t n;
	uint8_t bytes[WINDOW];
};

/* The bytes at @ip, as many of an instruction's as there are; NULL: none. */
static const uint8_t *code_at(struct code *c, uint64_t ip, size_t *n)
{
	uint64_t start, end;

	if (!c->n || ip < c->ip || ip - c->ip + DECODE_MAX_LEN > c->n) {
		c->n = 0;
		if (!c->env->site(c->env->ctx, c->ev, ip, &c->at, &start, &end))
			return NULL;
		c->ip = ip;
		c->n = c->env->code(c->env->ctx, &c->at, c->bytes, end - ip < WINDOW ? end - ip : WINDOW);
	}
	*n = c->n - (ip - c->ip);
	return c->n ? c->bytes + (ip - c->ip) : NULL;
}

static struct known *known_of(struct prefetches_sampled *p, const struct code *c, uint64_t ip)
{
	struct code_site at = c->at;
	struct code_name name;
	char text[TEXT];
	struct known *k;
	size_t i;
	int n;

	at.where += ip - c->ip;
	for (i = 0; i < p->n; i++)
		if (p->v[i].at.where == at.where && p->v[i].at.module == at.module && p->v[i].at.mm == at.mm)
			return &p->v[i];
	if (p->n == KNOWN_MAX || grow_array((void **)&p->v, &p->cap, p->n + 1, sizeof(*p->v)))
		return NULL;
	code_names_find(p->names, &at, &name);
	n = snprintf(text, sizeof(text), "%.4000s%c%.4000s%c%u", name.function, 0, name.file, 0, name.line);
	k = &p->v[p->n];
	*k = (struct known){ .at = at, .text_len = (uint32_t)n + 1, .text = malloc((size_t)n + 1) };
	if (!k->text)
		return NULL;
	memcpy(k->text, text, k->text_len);
	p->n++;
	return k;
}

static void tell(struct prefetches_sampled *p, const struct known *k, const struct stream_prefetch *as)
{
	struct stream_prefetch *r = (struct stream_prefetch *)p->rec;

	*r = *as;
	r->code_len = k->text_len;
	memcpy(r->text, k->text, k->text_len);
	prefetches_sampled_record(p->to, r);
}

/* Where the first bad one lies is told by a good one of the same instruction, whichever is sampled first. */
static void tell_wild(struct prefetches_sampled *p, struct known *k)
{
	if (!k->wild.addr)
		return;
	k->wild.base = k->mm == k->wild.mm ? k->good : 0;
	tell(p, k, &k->wild);
	k->wild.addr = 0;
}

/* The first thread's stack grows down to whatever is touched: how far it has is not always known. */
static bool may_be_stack(const struct hvar_vmas *vmas, uint64_t addr)
{
	const struct hvar_vma *v = hvar_vmas_next(vmas, addr);

	return v && v->region == HVAR_REGION_STACK && v->start - addr <= STACK_MOST;
}

static void found(struct prefetches_sampled *p, struct code *c, const struct hvar_vmas *vmas, uint64_t ip, uint64_t addr)
{
	const struct hvar_vma *v = hvar_vmas_find(vmas, addr);
	struct known *k = known_of(p, c, ip);
	struct stream_prefetch r = { .time_ns = c->ev->time_ns, .mm = c->ev->mm, .pid = c->ev->pid, .ip = ip, .executed = 1 };

	if (!k)
		prefetches_lose(p->to);
	if (!k || (!v && may_be_stack(vmas, addr)))
		return;
	if (v && v->prot & (HVAR_PROT_READ | HVAR_PROT_WRITE | HVAR_PROT_EXEC)) {
		k->good = addr;
		k->mm = c->ev->mm;
		r.used = 1;
		tell(p, k, &r);
		tell_wild(p, k);
		return;
	}
	/* What was unmapped a moment ago may have been taken for good: the map is known late. */
	if (k->mm == c->ev->mm && !hvar_vmas_find(vmas, k->good))
		k->good = 0;
	r.unmapped = 1;
	tell(p, k, &r);
	r.executed = r.unmapped = 0;
	r.what = STREAM_PREFETCH_UNMAPPED;
	r.addr = addr;
	r.base = k->mm == c->ev->mm ? k->good : 0;
	if (r.base)
		tell(p, k, &r);
	else if (!k->wild.addr)
		k->wild = r;
}

void prefetches_sampled_end(struct prefetches_sampled *p)
{
	size_t i;

	for (i = 0; p && i < p->n; i++)
		tell_wild(p, &p->v[i]);
}

static bool address(const struct hvt_prefetch_code *p, unsigned len, const struct decode_regs *regs, uint64_t ip,
		    const struct stream_sample *s, uint64_t *addr)
{
	const struct decode_mem m = {
		.base = p->base == HVT_PREFETCH_NONE ? DECODE_NONE : p->base == HVT_PREFETCH_IP ? DECODE_RIP : (uint8_t)p->base,
		.index = p->index == HVT_PREFETCH_NONE ? DECODE_NONE : (uint8_t)p->index,
		.scale = (uint8_t)(1u << p->shift),
		.segment = p->segment == HVT_PREFETCH_FS ? DECODE_SEG_FS : p->segment == HVT_PREFETCH_GS ? DECODE_SEG_GS : DECODE_SEG_FLAT,
		.addr_bits = p->narrow ? 32 : 64,
		.index_bits = p->narrow ? 32 : 64,
		.elements = 1,
		.size = 1,
		.disp = p->disp + (p->base == HVT_PREFETCH_IP ? len : 0),
	};

	return decode_regs_address(regs, &m, ip, s->fs_base, s->gs_base, addr);
}

/* Where control goes after @in at @ip; false: that is not sure. */
static bool next(const struct decode_insn *in, const struct decode_regs *before, uint64_t *ip)
{
	int holds;

	switch (in->flow) {
	case DECODE_NEXT:
		*ip += in->len;
		return true;
	case DECODE_JUMP:
		*ip += (uint64_t)in->target;
		return true;
	case DECODE_COND:
		holds = in->cond == DECODE_NONE ? -1 : decode_regs_condition(before, in->cond);
		*ip += holds == 1 ? (uint64_t)in->target : in->len;
		return holds >= 0;
	default:
		return false;
	}
}

void prefetches_sampled_take(struct prefetches_sampled *p, const struct estimate_env *env, const struct hvar_vmas *vmas,
			     const struct stream_sample *s)
{
	struct code c = { .env = env, .ev = &s->ev };
	uint64_t ip = s->ev.u.sample.ip, addr;
	struct hvt_prefetch_code pre;
	struct decode_regs regs;
	struct decode_insn in;
	const uint8_t *bytes;
	size_t n;
	int step;

	if (!vmas || s->ev.u.sample.flags & (HVAR_SAMPLE_ABI32 | HVAR_SAMPLE_NOREGS))
		return;
	decode_regs_init(&regs, s->regs, (uint32_t)s->regs[STREAM_RFLAGS]);
	for (step = 0; step < STEPS; step++) {
		bytes = code_at(&c, ip, &n);
		if (!bytes || decode(bytes, n, false, &in))
			return;
		if (hvt_prefetch_code(bytes, in.len, &pre) && address(&pre, in.len, &regs, ip, s, &addr))
			found(p, &c, vmas, ip, addr);
		addr = ip;
		if (!next(&in, &regs, &ip))
			return;
		decode_regs_forward(&regs, &in, addr);
	}
}

struct prefetches_sampled *prefetches_sampled_new(struct prefetches *to, struct images *images)
{
	struct prefetches_sampled *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->to = to;
	p->names = code_names_new(images);
	if (!p->names) {
		free(p);
		return NULL;
	}
	return p;
}

void prefetches_sampled_free(struct prefetches_sampled *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->n; i++)
		free(p->v[i].text);
	free(p->v);
	code_names_free(p->names);
	free(p);
}
