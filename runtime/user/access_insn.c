// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "access_insn.h"

#include <string.h>

#include "decode.h"
#include "decode_regs.h"

enum {
	FAR = 1 << 14, /* bytes from a function's start that are decoded; in a longer one from near by */
	RUN = 4096,    /* bytes of code read at a time */
	AROUND = 96,   /* bytes before an address that are tried where no function is known */
	AGREE = 8,     /* places there that must lead to the same instruction */
};

static bool decode_at(const struct access_code *code, uint64_t ip, struct decode_insn *in)
{
	uint8_t bytes[DECODE_MAX_LEN];
	size_t n = code->read(code->ctx, ip, bytes, sizeof(bytes));

	return n && !decode(bytes, n, code->is32, in);
}

/* ---- faults ---- */

/* Reads and writes of @m, a write going first. */
static uint32_t kind_of(const struct decode_mem *m)
{
	return m->flags & DECODE_MEM_WRITE ? HVAR_ACCESS_WRITE : m->flags & DECODE_MEM_READ ? HVAR_ACCESS_READ : 0;
}

uint32_t access_insn_fault(const struct access_code *code, uint64_t ip, const uint64_t regs[STREAM_REGS], uint64_t fs,
			   uint64_t gs, uint64_t addr)
{
	struct decode_insn in;
	struct decode_regs r;
	uint32_t all = 0, here = 0;
	bool known = decode_at(code, ip, &in);

	if (known && regs)
		decode_regs_init(&r, regs, (uint32_t)regs[STREAM_RFLAGS]);
	for (unsigned i = 0; known && i < in.n_mem; i++) {
		const struct decode_mem *m = &in.mem[i];
		uint64_t from;

		all |= kind_of(m);
		/* At the first byte of it that was not there. */
		if (regs && decode_regs_address(&r, m, ip, fs, gs, &from) && addr - from < m->size)
			here |= kind_of(m);
	}
	if (here)
		return here & HVAR_ACCESS_WRITE ? HVAR_ACCESS_WRITE : here;
	if (addr - ip < DECODE_MAX_LEN)
		return HVAR_ACCESS_EXEC;
	return all == HVAR_ACCESS_READ || all == HVAR_ACCESS_WRITE ? all : 0;
}

/* ---- the instruction before ---- */

/* Decode from @from on: the last instruction that begins before @end, if it ends there; its length, 0: none. */
static unsigned last_before(const struct access_code *code, uint64_t from, uint64_t end, struct decode_insn *in)
{
	uint8_t bytes[RUN];
	uint64_t at = from, have = 0, base = from;

	while (at < end) {
		if (at - base + DECODE_MAX_LEN > have) {
			base = at;
			have = code->read(code->ctx, at, bytes, sizeof(bytes));
		}
		if (at - base >= have)
			return 0;
		/* Bytes that are no instruction, data between functions: go on with the next one. */
		if (decode(bytes + (at - base), have - (at - base), code->is32, in)) {
			at++;
			continue;
		}
		if (at + in->len == end)
			return in->len;
		at += in->len;
	}
	return 0;
}

/* Where no function is known: instructions decoded from any byte soon fall into step with the true ones. */
static unsigned in_step(const struct access_code *code, uint64_t end, struct decode_insn *in)
{
	struct decode_insn one;
	unsigned found = 0, agree = 0;

	for (uint64_t from = end - AROUND; from < end - AROUND / 2; from++) {
		unsigned len = last_before(code, from, end, &one);

		if (!len)
			continue;
		if (found && len != found)
			return 0;
		found = len;
		*in = one;
		agree++;
	}
	return agree >= AGREE ? found : 0;
}

/* The instruction that ends at @end: its length; 0: not known. */
static unsigned before(const struct access_code *code, uint64_t end, struct decode_insn *in)
{
	uint64_t start;

	if (code->function(code->ctx, end - 1, &start) && start < end && end - start <= FAR)
		return last_before(code, start, end, in);
	return end > AROUND ? in_step(code, end, in) : 0;
}

enum fit { NEVER, MAYBE, SURELY };

/* One that goes on with RSI or RDI has them behind what it accessed now; where that is, the engine has seen. */
static bool steps(const struct decode_insn *in, uint8_t reg)
{
	for (unsigned i = 0; i < in->n_effects; i++)
		if (in->effects[i].op == DECODE_STEP && in->effects[i].dst == reg)
			return true;
	return false;
}

/* Can operand @m of @in at @ip be an access to the range? */
static enum fit fits_operand(const struct decode_insn *in, const struct decode_mem *m, uint64_t ip,
			     const struct stream_watched_at *at, uint64_t start, uint32_t size)
{
	if (!(m->flags & (DECODE_MEM_READ | DECODE_MEM_WRITE)) || m->flags & DECODE_MEM_STACK)
		return NEVER;
	if (m->segment == DECODE_SEG_FLAT && m->index == DECODE_NONE && (m->base == DECODE_RIP || m->base == DECODE_NONE)) {
		uint64_t from = (m->base == DECODE_RIP ? ip : 0) + (uint64_t)m->disp;

		if (m->addr_bits < 64)
			from = (uint32_t)from;
		return from < start + size && start < from + m->size ? SURELY : NEVER;
	}
	if (m->base == STREAM_RSI && steps(in, STREAM_RSI))
		return at->flags & STREAM_WATCHED_SI ? MAYBE : NEVER;
	if (m->base == STREAM_RDI && steps(in, STREAM_RDI))
		return at->flags & STREAM_WATCHED_DI ? MAYBE : NEVER;
	return MAYBE;
}

static enum fit fits(const struct decode_insn *in, uint64_t ip, const struct stream_watched_at *at, uint64_t start,
		     uint32_t size, uint32_t *flags)
{
	enum fit best = NEVER;

	*flags = 0;
	for (unsigned i = 0; i < in->n_mem; i++) {
		enum fit f = fits_operand(in, &in->mem[i], ip, at, start, size);
		uint32_t kind = in->mem[i].flags & (DECODE_MEM_READ | DECODE_MEM_WRITE);

		if (f == NEVER || f < best)
			continue;
		/* Of two operands that may be it, one reads and the other writes: it is not told which. */
		*flags = f > best || *flags == kind ? kind : 0;
		best = f;
	}
	return best;
}

struct choice {
	enum fit fit;
	struct access_insn who;
	bool several;
};

/* Is it @in at @ip? */
static void consider(struct choice *c, const struct decode_insn *in, uint64_t ip, const struct stream_watched_at *at,
		     uint64_t start, uint32_t size)
{
	uint32_t flags;
	enum fit fit = fits(in, ip, at, start, size, &flags);

	if (fit == NEVER || fit < c->fit)
		return;
	if (fit > c->fit) {
		*c = (struct choice){ .fit = fit, .who = { ip, flags } };
		return;
	}
	c->several = true;
	if (c->who.flags != flags)
		c->who.flags = 0;
}

void access_insn_before(const struct access_code *code, const struct stream_watched_at *at, uint64_t start, uint32_t size,
			struct access_insn *out)
{
	struct choice c = { NEVER, { 0, 0 }, false };
	struct decode_insn in;
	unsigned len = before(code, at->ip, &in);
	bool conclusive = len > 0;

	/* What goes elsewhere does not come to the place behind it. */
	if (len && (in.flow == DECODE_NEXT || in.flow == DECODE_COND))
		consider(&c, &in, at->ip - len, at, start, size);
	if (decode_at(code, at->ip, &in) && in.is_rep)
		consider(&c, &in, at->ip, at, start, size);
	len = at->word ? before(code, at->word, &in) : 0;
	if (len && in.flow == DECODE_INDIRECT_CALL)
		consider(&c, &in, at->word - len, at, start, size);
	*out = c.who;
	if (c.several)
		out->ip = 0;
	/* No instruction there does it: control came by a jump that read where to go. */
	if (c.fit == NEVER && conclusive)
		out->flags = HVAR_ACCESS_READ;
}
