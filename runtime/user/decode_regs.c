/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode_regs.c - registers moved over instructions, forwards and backwards.
 */
#include "config.h"

#include <string.h>

#include "decode_regs.h"

enum { CF = 1, PF = 4, ZF = 0x40, SF = 0x80, DF = 0x400, OF = 0x800 };

static uint64_t low(uint64_t v, unsigned bits)
{
	return bits >= 64 ? v : v & ((1ull << bits) - 1);
}

static uint64_t sign_extend(uint64_t v, unsigned bits)
{
	uint64_t sign = 1ull << (bits - 1);

	if (bits >= 64)
		return v;
	v = low(v, bits);
	return (v ^ sign) - sign;
}

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

void decode_regs_init(struct decode_regs *s, const uint64_t regs[DECODE_REGS],
		      uint32_t rflags)
{
	memcpy(s->v, regs, sizeof(s->v));
	memset(s->known, 64, sizeof(s->known));
	s->flags = rflags;
	s->flags_known = s->carry_known = s->direction_known = true;
}

void decode_regs_merge(struct decode_regs *s, const struct decode_regs *other)
{
	for (int half = 0; half < DECODE_REGS; half += 8) {
		uint64_t mine, theirs;

		memcpy(&mine, s->known + half, sizeof(mine));
		memcpy(&theirs, other->known + half, sizeof(theirs));
		for (int r = half; mine != theirs && r < half + 8; r++) {
			if (other->known[r] > s->known[r]) {
				s->known[r] = other->known[r];
				s->v[r] = other->v[r];
			}
		}
	}
	if (!s->flags_known && other->flags_known) {
		s->flags_known = true;
		s->flags = (s->flags & (CF | DF)) | (other->flags & ~(uint32_t)(CF | DF));
	}
	if (!s->carry_known && other->carry_known) {
		s->carry_known = true;
		s->flags = (s->flags & ~(uint32_t)CF) | (other->flags & CF);
	}
}

bool decode_regs_address(const struct decode_regs *s, const struct decode_mem *m,
			 uint64_t ip, uint64_t fs, uint64_t gs, uint64_t *addr)
{
	uint64_t a = (uint64_t)m->disp;

	if (m->flags & DECODE_MEM_LOST)
		return false;
	if (m->base == DECODE_RIP) {
		a += ip;
	} else if (m->base != DECODE_NONE) {
		if (s->known[m->base] < m->addr_bits)
			return false;
		a += s->v[m->base];
	}
	if (m->index != DECODE_NONE) {
		if (s->known[m->index] < m->index_bits)
			return false;
		a += low(s->v[m->index], m->index_bits) * m->scale;
	}
	a = low(a, m->addr_bits);
	if (m->segment == DECODE_SEG_FS) {
		if (!fs)
			return false;
		a += fs;
	} else if (m->segment == DECODE_SEG_GS) {
		if (!gs)
			return false;
		a += gs;
	}
	*addr = a;
	return true;
}

/* SDM vol. 2, Jcc: pairs of opposite conditions, the low bit negates. */
int decode_regs_condition(const struct decode_regs *s, uint8_t cond)
{
	uint32_t f = s->flags;
	bool less = !(f & SF) != !(f & OF), v;

	if (cond > 15)
		return -1;
	switch (cond >> 1) {
	case 1: /* b */
		if (!s->carry_known)
			return -1;
		v = f & CF;
		break;
	case 3: /* be */
		if (!s->carry_known || !s->flags_known)
			return -1;
		v = f & (CF | ZF);
		break;
	default:
		if (!s->flags_known)
			return -1;
		switch (cond >> 1) {
		case 0:
			v = f & OF;
			break;
		case 2:
			v = f & ZF;
			break;
		case 4:
			v = f & SF;
			break;
		case 5:
			v = f & PF;
			break;
		case 6:
			v = less;
			break;
		default:
			v = less || (f & ZF);
			break;
		}
		break;
	}
	return v != (cond & 1);
}

struct flags {
	uint32_t v;
	bool known, carry_known;
};

/* The flags that @in leaves, from the registers before it.  SDM vol. 1, 3.4.3.1. */
static struct flags flags_after(const struct decode_regs *s, const struct decode_insn *in)
{
	struct flags out = { s->flags, false, s->carry_known };
	unsigned bits = in->flags_bits, carry_was = s->flags & CF;
	uint64_t a, b, r, sign;
	uint32_t f = s->flags & DF;
	bool sub = false, add = false;

	if (in->flags_op == DECODE_FLAGS_LOST ||
	    s->known[in->flags_a] < bits ||
	    (in->flags_b != DECODE_NONE && s->known[in->flags_b] < bits)) {
		if (in->flags_op != DECODE_FLAGS_INC &&
		    in->flags_op != DECODE_FLAGS_DEC)
			out.carry_known = false;
		return out;
	}
	a = low(s->v[in->flags_a], bits);
	b = low(in->flags_b == DECODE_NONE ? (uint64_t)in->flags_imm
					   : s->v[in->flags_b], bits);
	sign = 1ull << (bits - 1);
	switch (in->flags_op) {
	case DECODE_FLAGS_SUB:
	case DECODE_FLAGS_DEC:
		r = low(a - b, bits);
		sub = true;
		break;
	case DECODE_FLAGS_ADD:
	case DECODE_FLAGS_INC:
		r = low(a + b, bits);
		add = true;
		break;
	case DECODE_FLAGS_AND:
		r = a & b;
		break;
	case DECODE_FLAGS_OR:
		r = a | b;
		break;
	default:
		r = a ^ b;
		break;
	}
	if (!r)
		f |= ZF;
	if (r & sign)
		f |= SF;
	if (!__builtin_parity((unsigned)(r & 0xff)))
		f |= PF;
	if (sub && ((a ^ b) & (a ^ r) & sign))
		f |= OF;
	if (add && (~(a ^ b) & (a ^ r) & sign))
		f |= OF;
	if (in->flags_op == DECODE_FLAGS_INC || in->flags_op == DECODE_FLAGS_DEC) {
		f |= carry_was; /* and as well known as it was */
	} else {
		if ((sub && a < b) || (add && r < a))
			f |= CF;
		out.carry_known = true;
	}
	out.v = f;
	out.known = true;
	return out;
}

struct value {
	uint64_t v;
	unsigned known;
};

static struct value get(const struct decode_regs *s, uint8_t r)
{
	return (struct value){ s->v[r], s->known[r] };
}

static void put(struct decode_regs *s, uint8_t r, uint64_t v, unsigned known)
{
	s->v[r] = v;
	s->known[r] = (uint8_t)known;
}

/* The result of an operation of @bits: one of 32 clears the upper half. */
static void put_result(struct decode_regs *s, uint8_t r, uint64_t v,
		       unsigned known, unsigned bits)
{
	if (known >= bits)
		put(s, r, low(v, bits), 64);
	else
		put(s, r, v, known);
}

static uint64_t rotate(uint64_t v, unsigned by, unsigned bits)
{
	v = low(v, bits);
	return by ? low((v << by) | (v >> (bits - by)), bits) : v;
}

static uint64_t swap_bytes(uint64_t v, unsigned bits)
{
	return bits == 64 ? __builtin_bswap64(v) : __builtin_bswap32((uint32_t)v);
}

static struct value source(const struct decode_regs *s,
			   const struct decode_effect *e)
{
	if (e->src == DECODE_NONE)
		return (struct value){ (uint64_t)e->imm, 64 };
	return get(s, e->src);
}

static struct value lea_value(const struct decode_regs *s,
			      const struct decode_effect *e)
{
	struct value x = { (uint64_t)e->imm, 64 };

	if (e->base != DECODE_NONE) {
		x.v += s->v[e->base];
		x.known = min(x.known, s->known[e->base]);
	}
	if (e->index != DECODE_NONE) {
		x.v += s->v[e->index] * e->scale;
		x.known = min(x.known, s->known[e->index]);
	}
	return x;
}

static void effect_forward(struct decode_regs *s, const struct decode_effect *e,
			   const struct decode_insn *in, uint64_t ip)
{
	struct value d = get(s, e->dst), x;
	unsigned bits = e->bits, n;

	switch (e->op) {
	case DECODE_SET:
		put(s, e->dst,
		    low((uint64_t)e->imm + (e->src == DECODE_RIP ? ip : 0), bits), 64);
		break;
	case DECODE_COPY:
		x = get(s, e->src);
		put_result(s, e->dst, x.v, x.known, bits);
		break;
	case DECODE_ADD:
		x = source(s, e);
		put_result(s, e->dst, d.v + x.v, min(d.known, x.known), bits);
		break;
	case DECODE_SUB:
		x = source(s, e);
		put_result(s, e->dst, d.v - x.v, min(d.known, x.known), bits);
		break;
	case DECODE_XOR:
		x = source(s, e);
		put_result(s, e->dst, d.v ^ x.v, min(d.known, x.known), bits);
		break;
	case DECODE_AND:
		x = source(s, e);
		/* A mask that is all zero above makes up for what is not known there. */
		if (e->src == DECODE_NONE && e->imm >= 0 && d.known < 64 &&
		    !(x.v >> d.known))
			put(s, e->dst, low(d.v, d.known) & x.v, 64);
		else
			put_result(s, e->dst, d.v & x.v, min(d.known, x.known), bits);
		break;
	case DECODE_OR:
		x = source(s, e);
		put_result(s, e->dst, d.v | x.v, min(d.known, x.known), bits);
		break;
	case DECODE_SHL:
		put_result(s, e->dst, d.v << e->imm,
			   d.known ? min(d.known + (unsigned)e->imm, 64) : 0, bits);
		break;
	case DECODE_SHR:
	case DECODE_SAR:
		if (d.known < bits)
			put(s, e->dst, 0, 0);
		else if (e->op == DECODE_SHR)
			put(s, e->dst, low(d.v, bits) >> e->imm, 64);
		else
			put(s, e->dst,
			    low((uint64_t)((int64_t)sign_extend(d.v, bits) >> e->imm),
				bits), 64);
		break;
	case DECODE_ROL:
		if (d.known < bits)
			put(s, e->dst, 0, 0);
		else
			put(s, e->dst, rotate(d.v, (unsigned)e->imm, bits), 64);
		break;
	case DECODE_MUL:
		if (e->src == DECODE_NONE) {
			x = get(s, e->base);
			put_result(s, e->dst, x.v * (uint64_t)e->imm, x.known, bits);
		} else {
			x = get(s, e->src);
			put_result(s, e->dst, d.v * x.v, min(d.known, x.known), bits);
		}
		break;
	case DECODE_NEG:
		put_result(s, e->dst, 0 - d.v, d.known, bits);
		break;
	case DECODE_NOT:
		put_result(s, e->dst, ~d.v, d.known, bits);
		break;
	case DECODE_BSWAP:
		if (d.known < bits)
			put(s, e->dst, 0, 0);
		else
			put(s, e->dst, swap_bytes(d.v, bits), 64);
		break;
	case DECODE_LEA:
		x = lea_value(s, e);
		put_result(s, e->dst, x.v, x.known, bits);
		break;
	case DECODE_ZEXT:
		x = get(s, e->src);
		if (x.known >= e->src_bits)
			put(s, e->dst, low(x.v, e->src_bits), 64);
		else
			put(s, e->dst, x.v, x.known);
		break;
	case DECODE_SEXT:
		x = get(s, e->src);
		if (x.known >= e->src_bits)
			put(s, e->dst, low(sign_extend(x.v, e->src_bits), bits), 64);
		else
			put(s, e->dst, x.v, x.known);
		break;
	case DECODE_SWAP:
		x = get(s, e->src);
		put_result(s, e->dst, x.v, x.known, bits);
		put_result(s, e->src, d.v, d.known, bits);
		break;
	case DECODE_CMOV:
		switch (decode_regs_condition(s, (uint8_t)e->imm)) {
		case 1:
			x = get(s, e->src);
			put_result(s, e->dst, x.v, x.known, bits);
			break;
		case 0:
			put_result(s, e->dst, d.v, d.known, bits);
			break;
		default:
			put(s, e->dst, 0, 0);
			break;
		}
		break;
	case DECODE_STEP:
		n = in->is_rep ? s->known[1] : 64;
		x.v = in->is_rep ? low(s->v[1], bits) : 1;
		x.v *= (uint64_t)(s->flags & DF ? -e->imm : e->imm);
		put_result(s, e->dst, d.v + x.v,
			   s->direction_known && n >= bits ? d.known : 0, bits);
		break;
	default:
		put(s, e->dst, 0, 0);
		break;
	}
}

/* Registers that change without an effect that says how. */
static uint32_t lost_mask(const struct decode_insn *in)
{
	uint32_t lost = in->written;

	for (int i = 0; i < in->n_effects; i++) {
		lost &= ~(1u << in->effects[i].dst);
		if (in->effects[i].op == DECODE_SWAP)
			lost &= ~(1u << in->effects[i].src);
	}
	return lost;
}

static void lose(struct decode_regs *s, uint32_t mask)
{
	for (mask &= 0xffff; mask; mask &= mask - 1)
		s->known[__builtin_ctz(mask)] = 0;
}

void decode_regs_forward(struct decode_regs *s, const struct decode_insn *in,
			 uint64_t ip)
{
	bool keeps = in->flags_op == DECODE_FLAGS_KEPT;
	struct flags after;

	if (!keeps)
		after = flags_after(s, in);
	for (int i = 0; i < in->n_effects; i++)
		effect_forward(s, &in->effects[i], in, ip);
	lose(s, lost_mask(in));
	if (in->flow == DECODE_CALL || in->flow == DECODE_INDIRECT_CALL ||
	    in->flow == DECODE_SYSCALL)
		lose(s, 0xffff); /* whatever the callee keeps is no proof */
	if (!keeps) {
		s->flags = after.v;
		s->flags_known = after.known;
		s->carry_known = after.carry_known;
	}
	if (in->sets_direction)
		s->direction_known = false;
}

/* What @r held before, if that is more than is known already. */
static void learn(struct decode_regs *s, uint8_t r, uint64_t v, unsigned known)
{
	if (known > s->known[r])
		put(s, r, v, known);
}

/* x with x * odd == 1 mod 2^64: each step doubles the right bits, from 3. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

static void lea_backward(struct decode_regs *s, const struct decode_effect *e)
{
	struct value d = get(s, e->dst);
	unsigned known = min(d.known, e->bits);
	bool base_is = e->base == e->dst, index_is = e->index == e->dst;

	if (base_is || index_is)
		s->known[e->dst] = 0;
	else
		put(s, e->dst, 0, 0);
	if (base_is && index_is)
		return;
	if (e->index == DECODE_NONE && e->base == DECODE_NONE)
		return;
	if (e->index == DECODE_NONE) {
		learn(s, e->base, d.v - (uint64_t)e->imm, known);
		return;
	}
	if (e->base == DECODE_NONE) {
		if (e->scale == 1)
			learn(s, e->index, d.v - (uint64_t)e->imm, known);
		return;
	}
	if (s->known[e->index])
		learn(s, e->base,
		      d.v - (uint64_t)e->imm - s->v[e->index] * e->scale,
		      min(known, s->known[e->index]));
	else if (s->known[e->base] && e->scale == 1)
		learn(s, e->index, d.v - (uint64_t)e->imm - s->v[e->base],
		      min(known, s->known[e->base]));
}

static void effect_backward(struct decode_regs *s, const struct decode_effect *e,
			    const struct decode_insn *in)
{
	struct value d = get(s, e->dst), x;
	unsigned known = min(d.known, e->bits);
	bool same = e->src == e->dst;

	switch (e->op) {
	case DECODE_COPY:
		s->known[e->dst] = 0;
		learn(s, e->src, d.v, known);
		break;
	case DECODE_ADD:
	case DECODE_SUB:
	case DECODE_XOR:
		if (same) {
			s->known[e->dst] = 0;
			break;
		}
		x = source(s, e);
		if (e->op == DECODE_ADD)
			d.v -= x.v;
		else if (e->op == DECODE_SUB)
			d.v += x.v;
		else
			d.v ^= x.v;
		put(s, e->dst, d.v, min(known, x.known));
		break;
	case DECODE_ROL:
		if (known < e->bits)
			s->known[e->dst] = 0;
		else
			put(s, e->dst,
			    rotate(d.v, (unsigned)(e->bits - e->imm) & (e->bits - 1u),
				   e->bits), e->bits);
		break;
	case DECODE_MUL:
		s->known[e->dst] = 0;
		if (e->src == DECODE_NONE) {
			if (e->imm & 1)
				learn(s, e->base, d.v * inverse((uint64_t)e->imm), known);
		} else if (!same && s->known[e->src] && (s->v[e->src] & 1)) {
			put(s, e->dst, d.v * inverse(s->v[e->src]),
			    min(known, s->known[e->src]));
		}
		break;
	case DECODE_NEG:
		put(s, e->dst, 0 - d.v, known);
		break;
	case DECODE_NOT:
		put(s, e->dst, ~d.v, known);
		break;
	case DECODE_BSWAP:
		put(s, e->dst, swap_bytes(d.v, e->bits), known < e->bits ? 0 : e->bits);
		break;
	case DECODE_LEA:
		lea_backward(s, e);
		break;
	case DECODE_ZEXT:
	case DECODE_SEXT:
		s->known[e->dst] = 0;
		learn(s, e->src, d.v, min(d.known, e->src_bits));
		break;
	case DECODE_SWAP:
		x = get(s, e->src);
		put(s, e->dst, x.v, min(x.known, e->bits));
		put(s, e->src, d.v, known);
		break;
	case DECODE_STEP:
		if (in->is_rep || !s->direction_known)
			s->known[e->dst] = 0;
		else
			put(s, e->dst,
			    d.v + (uint64_t)(s->flags & DF ? e->imm : -e->imm), known);
		break;
	default: /* SET AND OR SHL SHR SAR CMOV: the old value is gone */
		s->known[e->dst] = 0;
		break;
	}
}

void decode_regs_backward(struct decode_regs *s, const struct decode_insn *in,
			  uint64_t ip)
{
	(void)ip;
	if (in->sets_direction)
		s->direction_known = false;
	lose(s, lost_mask(in));
	if (in->flow == DECODE_CALL || in->flow == DECODE_INDIRECT_CALL ||
	    in->flow == DECODE_SYSCALL)
		lose(s, 0xffff);
	for (int i = in->n_effects - 1; i >= 0; i--)
		effect_backward(s, &in->effects[i], in);
	if (in->flags_op != DECODE_FLAGS_KEPT) {
		s->flags_known = false;
		if (in->flags_op != DECODE_FLAGS_INC &&
		    in->flags_op != DECODE_FLAGS_DEC)
			s->carry_known = false;
	}
}
