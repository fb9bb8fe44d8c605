/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.c - decoding a function from its start, and finding its leaders.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "blocks.h"

enum {
	MAX_TARGETS = 1024, /* of one jump table */
	LOOK_BACK = 24,	    /* instructions from an indirect jump to its table's load */
};

void blocks_free(struct blocks *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < b->n_sw; i++)
		free(b->sw[i].targets);
	free(b->sw);
	free(b->insn);
	free(b->off);
	free(b->at);
	free(b->leader);
	free(b->span);
	free(b);
}

uint32_t blocks_find(const struct blocks *b, uint64_t off)
{
	return off < b->size ? b->at[off] : BLOCKS_NONE;
}

static bool goes_on(const struct decode_insn *in)
{
	switch (in->flow) {
	case DECODE_JUMP:
	case DECODE_RET:
	case DECODE_INDIRECT:
	case DECODE_STOP:
		return false;
	default:
		return true;
	}
}

static bool ends_block(const struct decode_insn *in)
{
	return in->flow != DECODE_NEXT;
}

static bool follows(const struct blocks *b, uint32_t i)
{
	return i + 1 < b->n && b->off[i + 1] == b->off[i] + b->insn[i].len;
}

static bool target_of(const struct blocks *b, uint32_t i, uint32_t *to)
{
	uint64_t off = b->off[i] + (uint64_t)b->insn[i].target;

	*to = blocks_find(b, off);
	return *to != BLOCKS_NONE;
}

static void sweep(struct blocks *b, const uint8_t *code, bool window)
{
	uint64_t off = 0, reach = 0;

	while (off < b->size) {
		struct decode_insn *in = &b->insn[b->n];
		uint64_t to;

		if (decode(code + off, b->size - off, b->is32, in)) {
			b->n_bad++;
			if (window)
				break;
			off++;
			continue;
		}
		b->at[off] = b->n;
		b->off[b->n] = (uint32_t)off;
		to = off + (uint64_t)in->target;
		if ((in->flow == DECODE_COND || in->flow == DECODE_JUMP) &&
		    to < b->size && to > reach)
			reach = to;
		b->n++;
		off += in->len;
		/* A window ends where nothing known jumps on: what follows is someone else's. */
		if (window && !goes_on(in) && off > reach)
			break;
	}
	if (window)
		b->size = off < b->size ? off : b->size;
}

static void add_leader(struct blocks *b, uint32_t i)
{
	if (!b->leader[i]) {
		b->leader[i] = 1;
		b->generation++;
	}
}

static void find_leaders(struct blocks *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct decode_insn *in = &b->insn[i];
		uint32_t to;

		if (i == 0 || !follows(b, i - 1))
			add_leader(b, i);
		if ((in->flow == DECODE_COND || in->flow == DECODE_JUMP) &&
		    target_of(b, i, &to))
			add_leader(b, to);
		if (ends_block(in) && i + 1 < b->n)
			add_leader(b, i + 1); /* padding too: a block nobody enters */
	}
}

/* The blocks that [@first, @end) is made of, which begins with a leader: each goes from one to the next. */
static void set_spans(struct blocks *b, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		b->span[i].first = b->leader[i] ? i : b->span[i - 1].first;
	for (uint32_t i = end; i-- > first;)
		b->span[i].end = i + 1 == end || b->leader[i + 1] ? i + 1 : b->span[i + 1].end;
}

static struct blocks_switch *add_switch(struct blocks *b, uint32_t jump)
{
	struct blocks_switch *sw = realloc(b->sw, (b->n_sw + 1) * sizeof(*sw));

	if (!sw)
		return NULL;
	b->sw = sw;
	sw = &b->sw[b->n_sw++];
	memset(sw, 0, sizeof(*sw));
	sw->jump = jump;
	sw->load = BLOCKS_NONE;
	return sw;
}

static bool add_target(struct blocks_switch *sw, uint32_t to)
{
	if (sw->n == sw->cap) {
		uint32_t cap = sw->cap ? 2 * sw->cap : 8;
		uint32_t *t = realloc(sw->targets, cap * sizeof(*t));

		if (!t)
			return false;
		sw->targets = t;
		sw->cap = cap;
	}
	sw->targets[sw->n++] = to;
	return true;
}

/*
 * The entries that a "cmp $N, index; ja default" before the load allows, or
 * MAX_TARGETS + 1 if none is seen.
 */
static uint32_t table_bound(const struct blocks *b, uint32_t load)
{
	for (uint32_t i = load, n = 0; i-- > 0 && n < LOOK_BACK; n++) {
		const struct decode_insn *in = &b->insn[i];

		if (in->flow == DECODE_COND && (in->cond == 7 || in->cond == 6) && i &&
		    b->insn[i - 1].flags_op == DECODE_FLAGS_SUB &&
		    b->insn[i - 1].flags_b == DECODE_NONE) {
			int64_t v = b->insn[i - 1].flags_imm;

			if (v >= 0 && v < MAX_TARGETS)
				return (uint32_t)v + 1;
		}
		if (!goes_on(in) || in->flow == DECODE_CALL)
			break;
	}
	return MAX_TARGETS + 1;
}

static void read_table(struct blocks *b, struct blocks_switch *sw, uint64_t addr,
		       uint32_t bound, blocks_read_fn read, void *ctx)
{
	uint8_t buf[MAX_TARGETS * 8];
	size_t width = sw->relative ? 4 : 8;
	uint32_t want = bound <= MAX_TARGETS ? bound : MAX_TARGETS;
	size_t got = read(ctx, sw->table, buf, want * width) / width;
	uint32_t i;

	for (i = 0; i < got; i++) {
		uint64_t off;
		uint32_t to;

		if (sw->relative) {
			int32_t v;

			memcpy(&v, buf + i * 4, 4);
			off = sw->table + (uint64_t)(int64_t)v;
		} else {
			memcpy(&off, buf + i * 8, 8);
			off -= addr;
		}
		to = blocks_find(b, off);
		if (to == BLOCKS_NONE || !add_target(sw, to))
			break;
		add_leader(b, to);
	}
	sw->closed = bound <= MAX_TARGETS && i == bound;
	sw->n_table = i;
}

/* jmp *table(,%rax,8), or of a position-independent program:
 *	lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax */
static bool find_table(struct blocks *b, struct blocks_switch *sw, uint64_t addr)
{
	const struct decode_insn *j = &b->insn[sw->jump];
	uint32_t load = BLOCKS_NONE;
	uint8_t base = DECODE_NONE;

	if (j->jump_reg == DECODE_NONE) {
		const struct decode_mem *m = &j->mem[0];

		if (!j->n_mem || m->base != DECODE_NONE || m->index == DECODE_NONE ||
		    m->scale != 8 || m->segment != DECODE_SEG_FLAT)
			return false;
		sw->load = sw->jump;
		sw->index = m->index;
		sw->result = DECODE_NONE;
		sw->table = (uint64_t)m->disp - addr;
		return true;
	}
	for (uint32_t i = sw->jump, n = 0; i-- > 0 && n < LOOK_BACK; n++) {
		const struct decode_insn *in = &b->insn[i];
		const struct decode_mem *m = &in->mem[0];

		if (load == BLOCKS_NONE) {
			if (in->n_mem == 1 && m->index != DECODE_NONE && m->scale == 4 &&
			    m->size == 4 && m->base < DECODE_REGS && !m->disp &&
			    (in->written & ~(1u << DECODE_RIP)) &&
			    !(in->written & (in->written - 1))) {
				load = i;
				base = m->base;
				sw->relative = true;
				sw->index = m->index;
				sw->result = (uint8_t)__builtin_ctz(in->written);
			} else if (in->n_mem == 1 && m->base == DECODE_NONE &&
				   m->index != DECODE_NONE && m->scale == 8 &&
				   m->size == 8 && in->written == 1u << j->jump_reg) {
				sw->load = i;
				sw->index = m->index;
				sw->result = j->jump_reg;
				sw->table = (uint64_t)m->disp - addr;
				return true;
			}
		} else if (in->written & (1u << base)) {
			if (in->n_effects == 1 && in->effects[0].op == DECODE_SET &&
			    in->effects[0].src == DECODE_RIP) {
				sw->load = load;
				sw->table = b->off[i] + (uint64_t)in->effects[0].imm;
				return true;
			}
			return false;
		}
		if (in->flow == DECODE_RET || in->flow == DECODE_INDIRECT)
			return false;
	}
	/* The table's address may have been loaded far ahead, outside of a loop. */
	for (uint32_t i = 0; load != BLOCKS_NONE && i < b->n; i++) {
		const struct decode_insn *in = &b->insn[i];

		if (in->n_effects == 1 && in->effects[0].op == DECODE_SET &&
		    in->effects[0].src == DECODE_RIP && in->effects[0].dst == base) {
			sw->load = load;
			sw->table = b->off[i] + (uint64_t)in->effects[0].imm;
			return true;
		}
	}
	return false;
}

static void find_switches(struct blocks *b, uint64_t addr, blocks_read_fn read,
			  void *ctx)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct blocks_switch *sw;

		if (b->insn[i].flow != DECODE_INDIRECT)
			continue;
		sw = add_switch(b, i);
		if (!sw)
			return;
		if (!b->is32 && read && find_table(b, sw, addr))
			read_table(b, sw, addr, table_bound(b, sw->load), read, ctx);
		if (!sw->n) {
			sw->load = BLOCKS_NONE;
			sw->closed = false;
		}
		if (!sw->closed)
			b->has_unknown_jump = true;
	}
}

struct blocks *blocks_new(const uint8_t *code, size_t n, uint64_t addr, bool is32,
			  bool window, blocks_read_fn read, void *ctx)
{
	struct blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->size = n;
	b->is32 = is32;
	b->bounded = !window;
	b->insn = malloc((n + 1) * sizeof(*b->insn));
	b->off = malloc((n + 1) * sizeof(*b->off));
	b->at = malloc((n + 1) * sizeof(*b->at));
	b->leader = calloc(n + 1, 1);
	if (!b->insn || !b->off || !b->at || !b->leader) {
		blocks_free(b);
		return NULL;
	}
	memset(b->at, 0xff, (n + 1) * sizeof(*b->at));
	sweep(b, code, window);
	if (b->n) {
		struct decode_insn *v = realloc(b->insn, b->n * sizeof(*v));

		if (v)
			b->insn = v;
	}
	if (window) { /* often of next to nothing, where there was room for all that is left */
		void *v = realloc(b->at, (b->size + 1) * sizeof(*b->at));

		b->at = v ? v : b->at;
		v = realloc(b->off, (b->n + 1) * sizeof(*b->off));
		b->off = v ? v : b->off;
		v = realloc(b->leader, b->size + 1);
		b->leader = v ? v : b->leader;
	}
	b->span = malloc((b->n + 1) * sizeof(*b->span));
	if (!b->span) {
		blocks_free(b);
		return NULL;
	}
	find_leaders(b);
	find_switches(b, addr, read, ctx);
	set_spans(b, 0, b->n);
	return b;
}

const struct blocks_switch *blocks_switch_of(const struct blocks *b, uint32_t i)
{
	for (uint32_t k = 0; k < b->n_sw; k++)
		if (b->sw[k].jump == i || b->sw[k].load == i)
			return &b->sw[k];
	return NULL;
}

void blocks_saw_jump(struct blocks *b, uint32_t i, uint32_t to)
{
	uint32_t lo = 0, hi = b->n_sw;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (b->sw[mid].jump < i)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (uint32_t k = lo; k < b->n_sw && k <= lo; k++) {
		struct blocks_switch *sw = &b->sw[k];

		if (sw->jump != i)
			continue;
		for (uint32_t t = 0; t < sw->n; t++)
			if (sw->targets[t] == to)
				return;
		/* A table's entries keep their numbers: what it lacks goes behind. */
		if (sw->n >= MAX_TARGETS || !add_target(sw, to) || b->leader[to])
			return;
		add_leader(b, to);
		set_spans(b, b->span[to].first, b->span[to].end);
		return;
	}
}

static bool listed(const uint32_t *v, uint32_t n, uint32_t x)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i] == x)
			return true;
	return false;
}

uint32_t blocks_next(const struct blocks *b, uint32_t i, uint32_t *out, uint32_t max,
		     bool *leaves)
{
	const struct decode_insn *in = &b->insn[i];
	const struct blocks_switch *sw;
	uint32_t n = 0, to;

	*leaves = false;
	if (in->flow == DECODE_COND || in->flow == DECODE_JUMP) {
		if (target_of(b, i, &to)) {
			if (n < max)
				out[n++] = to;
		} else {
			*leaves = true;
		}
	} else if (in->flow == DECODE_INDIRECT) {
		sw = blocks_switch_of(b, i);
		*leaves = !sw || !sw->closed;
		for (uint32_t t = 0; sw && t < sw->n; t++) {
			if (listed(out, n, sw->targets[t]))
				continue;
			if (n == max) {
				*leaves = true;
				break;
			}
			out[n++] = sw->targets[t];
		}
	} else if (in->flow == DECODE_RET || in->flow == DECODE_STOP) {
		*leaves = true;
	}
	if (goes_on(in)) {
		if (follows(b, i)) {
			if (n < max && !listed(out, n, i + 1))
				out[n++] = i + 1;
		} else {
			*leaves = true;
		}
	}
	return n;
}
