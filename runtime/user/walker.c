// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "walk_code.h"
#include "walk_memory.h"
#include "walk_string.h"

enum {
	RAX,
	RCX,
	RDX,
	RSP = 4,
	RBP,
	LOOK_UP_CLOCK = 64, /* instructions */
	FIRST_LOAD = 100,   /* instruction at which loads begin to be noted */
};

struct walker {
	struct walk_state s;
	struct walk_memory *mem;
	struct walk_code *code;
	uint64_t fs_base, gs_base;
	struct walk_path *out;
};

struct walker *walker_new(void)
{
	struct walker *w = aligned_alloc(64, (sizeof(*w) + 63) & ~(size_t)63);
	int err;

	if (!w)
		return NULL;
	memset(w, 0, sizeof(*w));
	w->mem = walk_memory_new();
	w->code = w->mem ? walk_code_new(w->mem) : NULL;
	if (w->code)
		return w;
	err = errno;
	walker_free(w);
	errno = err;
	return NULL;
}

void walker_free(struct walker *w)
{
	if (!w)
		return;
	walk_code_free(w->code);
	walk_memory_free(w->mem);
	free(w);
}

/* ---- operands ---- */

static bool is_known(const struct walk_state *s, uint8_t gpr)
{
	return s->gpr_known & 1u << gpr;
}

static void set_gpr(struct walk_state *s, uint8_t gpr, uint64_t v, bool known)
{
	s->gpr[gpr] = v;
	s->gpr_known =
		known ? s->gpr_known | 1u << gpr : s->gpr_known & ~(1u << gpr);
}

/* Where the memory operand is, without its segment; false: not known. */
static bool offset_of(const struct walk_state *s, const struct walk_mem *m,
		      uint64_t *addr)
{
	*addr = (uint64_t)m->disp;
	if (m->base != WALK_NO_REG) {
		if (!is_known(s, m->base))
			return false;
		*addr += s->gpr[m->base];
	}
	if (m->index != WALK_NO_REG) {
		if (!is_known(s, m->index))
			return false;
		*addr += s->gpr[m->index] * m->scale;
	}
	if (m->short_address)
		*addr = (uint32_t)*addr;
	return true;
}

static bool address_of(const struct walker *w, const struct walk_mem *m,
		       uint64_t *addr)
{
	uint64_t base = m->segment == 'f'   ? w->fs_base
			: m->segment == 'g' ? w->gs_base
					    : 0;

	if ((m->segment && !base) || !offset_of(&w->s, m, addr))
		return false;
	*addr += base;
	return true;
}

static bool inputs_known(const struct walk_state *s, const struct walk_insn *in)
{
	if ((in->gpr_read & ~s->gpr_known) || (in->k_read & ~s->k_known) ||
	    (in->flags_read & ~s->flags_known))
		return false;
	for (unsigned i = 0; i < in->n_vec_read; i++)
		if (s->vec_known[in->vec_read[i].reg] < in->vec_read[i].bytes)
			return false;
	return true;
}

static void outputs_known(struct walk_state *s, const struct walk_insn *in,
			  bool known)
{
	uint32_t whole = in->gpr_written & ~(uint32_t)in->gpr_merged;

	if (known) { /* of a part alone: only if the rest was */
		s->gpr_known |= whole;
		s->k_known |= in->k_written;
		s->flags_known |= in->flags_written;
	} else {
		s->gpr_known &= ~(uint32_t)in->gpr_written;
		s->k_known &= ~(uint32_t)in->k_written;
		s->flags_known &= ~in->flags_written;
	}
	for (unsigned i = 0; i < in->n_vec_written; i++) {
		const struct walk_vec_use *u = &in->vec_written[i];
		uint8_t *n = &s->vec_known[u->reg];

		if (!known)
			*n = 0;
		else if (!u->rest)
			*n = 64;
		else if (*n < u->bytes)
			*n = u->bytes;
		if (known && in->zeroes_above && u->bytes < 64)
			memset(s->vec[u->reg] + u->bytes, 0, 64 - u->bytes);
	}
}

/* The walk is over. */
static bool stop(struct walker *w, enum walk_end end)
{
	w->out->end = end;
	return false;
}

/* A register's or memory's @width bytes into *@v.  KNOWN, UNKNOWN, or NONE: there is no memory. */
static enum walk_memory_result value_of(struct walker *w,
					const struct walk_insn *in,
					size_t width, uint64_t *v)
{
	uint64_t addr;

	*v = 0;
	if (in->reg != WALK_NO_REG) {
		*v = w->s.gpr[in->reg];
		return is_known(&w->s, in->reg) ? WALK_MEMORY_KNOWN
						: WALK_MEMORY_UNKNOWN;
	}
	if (!address_of(w, &in->mem, &addr))
		return WALK_MEMORY_UNKNOWN;
	return walk_memory_read(w->mem, addr, v, width);
}

/* ---- what they do ---- */

/* Would a division by the operand fault? */
static bool divides(struct walker *w, const struct walk_insn *in)
{
	const struct walk_state *s = &w->s;
	unsigned bits = in->width * 8u;
	uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1, by = 0;
	unsigned __int128 dividend;

	if (in->reg == WALK_NO_REG)
		memcpy(&by, s->slot, in->width);
	else
		by = s->gpr[in->reg] & mask;
	if (bits == 8)
		dividend = s->gpr[RAX] & 0xffff;
	else
		dividend = (unsigned __int128)(s->gpr[RDX] & mask) << bits |
			   (s->gpr[RAX] & mask);
	if (!by)
		return false;
	if (!in->is_signed)
		return dividend / by <= mask;
	{
		unsigned up = 128 - 2 * bits, up64 = 64 - bits;
		__int128 d = (__int128)(dividend << up) >> up;
		int64_t b = (int64_t)(by << up64) >> up64;
		__int128 limit = (__int128)1 << (bits - 1), q;

		if (bits == 64 && b == -1)
			return d > -limit &&
			       d < limit; /* the least number by -1 faults in here, too */
		q = d / b;
		return q >= -limit && q < limit;
	}
}

/* Not at the start, where time is spent. */
static void note_load(struct walker *w, uint64_t ip, uint64_t addr)
{
	struct walk_path *out = w->out;

	if (out->insns >= FIRST_LOAD && out->n_loads < WALK_LOADS)
		out->loads[out->n_loads++] = (struct stream_walk_load){ ip, addr };
}

static bool do_stub(struct walker *w, const struct walk_insn *in)
{
	struct walk_state *s = &w->s;
	const struct walk_mem *m = &in->mem;
	bool known = inputs_known(s, in), where = true;
	uint64_t addr = 0;

	if (m->size)
		where = address_of(w, m, &addr);
	if (!where && m->write)
		return stop(w, WALK_UNKNOWN);
	if (in->same &&
	    !where) { /* the stack protector's word: no difference */
		s->flags = (s->flags & ~(uint64_t)WALK_STATUS) | 0x44;
		s->flags_known |= WALK_STATUS;
		for (uint8_t r = 0; r < WALK_GPRS; r++)
			if (in->gpr_written & 1u << r)
				set_gpr(s, r, 0, true);
		return true;
	}
	known &= where;
	if (m->size && m->read && where) {
		enum walk_memory_result r =
			walk_memory_read(w->mem, addr, s->slot, m->size);

		if (r == WALK_MEMORY_NONE)
			return stop(w, WALK_MEMORY);
		known &= r == WALK_MEMORY_KNOWN;
		if (in->hides)
			note_load(w, in->ip, addr);
	}
	if (known && in->kind == WALK_DIVIDE && !divides(w, in))
		return stop(w, WALK_MEMORY);
	known &= in->kind != WALK_OPAQUE;
	if (known)
		in->stub(s);
	outputs_known(s, in, known);
	if (m->write &&
	    !walk_memory_write(w->mem, addr, known ? s->slot : NULL, m->size))
		return stop(w, WALK_MEMORY);
	return true;
}

static void do_lea(struct walk_state *s, const struct walk_insn *in)
{
	uint64_t v;
	bool known = offset_of(s, &in->mem, &v);

	if (in->width == 2)
		v = (s->gpr[in->reg] & ~0xffffull) | (v & 0xffff);
	else if (in->width == 4)
		v = (uint32_t)v;
	set_gpr(s, in->reg, v,
		known && (in->width > 2 || is_known(s, in->reg)));
}

static bool push(struct walker *w, uint64_t v, bool known)
{
	struct walk_state *s = &w->s;

	if (!is_known(s, RSP))
		return stop(w, WALK_UNKNOWN);
	s->gpr[RSP] -= 8;
	return walk_memory_write(w->mem, s->gpr[RSP], known ? &v : NULL, 8) ||
	       stop(w, WALK_MEMORY);
}

static bool pop(struct walker *w, uint64_t *v, bool *known)
{
	struct walk_state *s = &w->s;
	enum walk_memory_result r;

	if (!is_known(s, RSP))
		return stop(w, WALK_UNKNOWN);
	r = walk_memory_read(w->mem, s->gpr[RSP], v, 8);
	if (r == WALK_MEMORY_NONE)
		return stop(w, WALK_MEMORY);
	*known = r == WALK_MEMORY_KNOWN;
	s->gpr[RSP] += 8;
	return true;
}

static bool do_push(struct walker *w, const struct walk_insn *in)
{
	uint64_t v = (uint64_t)in->imm;
	enum walk_memory_result r = WALK_MEMORY_KNOWN;

	if (in->reg != WALK_NO_REG || in->mem.size)
		r = value_of(w, in, 8, &v);
	if (r == WALK_MEMORY_NONE)
		return stop(w, WALK_MEMORY);
	return push(w, v, r == WALK_MEMORY_KNOWN);
}

static bool do_pop(struct walker *w, const struct walk_insn *in)
{
	uint64_t v, addr;
	bool known;

	if (!pop(w, &v, &known))
		return false;
	if (in->reg != WALK_NO_REG) {
		set_gpr(&w->s, in->reg, v, known);
		return true;
	}
	if (!address_of(w, &in->mem, &addr)) /* by RSP as it is afterwards */
		return stop(w, WALK_UNKNOWN);
	return walk_memory_write(w->mem, addr, known ? &v : NULL, 8) ||
	       stop(w, WALK_MEMORY);
}

static bool do_leave(struct walker *w)
{
	struct walk_state *s = &w->s;
	uint64_t v;
	bool known;

	set_gpr(s, RSP, s->gpr[RBP], is_known(s, RBP));
	if (!pop(w, &v, &known))
		return false;
	set_gpr(s, RBP, v, known);
	return true;
}

static void do_vzeroupper(struct walk_state *s)
{
	for (unsigned i = 0; i < 16; i++) {
		memset(s->vec[i] + 16, 0, 48);
		if (s->vec_known[i] >= 16)
			s->vec_known[i] = 64;
	}
}

/* Does condition @cond, as in an opcode, hold?  -1: not known. */
static int holds(const struct walk_state *s, uint8_t cond)
{
	enum { CF = 1, PF = 4, ZF = 0x40, SF = 0x80, OF = 0x800 };
	static const uint32_t needs[8] = {OF, CF, ZF,	   CF | ZF,
					  SF, PF, SF | OF, SF | OF | ZF};
	uint64_t f = s->flags;
	bool less = !(f & SF) != !(f & OF), r = false;

	if (needs[cond >> 1] & ~s->flags_known)
		return -1;
	switch (cond >> 1) {
	case 6:
		r = less;
		break;
	case 7:
		r = less || f & ZF;
		break;
	default:
		r = f & needs[cond >> 1];
	}
	return r != (cond & 1);
}

/* loopne E0, loope E1, loop E2, jrcxz E3. */
static int loops(struct walk_state *s, uint8_t opcode)
{
	if (!is_known(s, RCX) || (opcode < 0xe2 && !(s->flags_known & 0x40)))
		return -1;
	if (opcode == 0xe3)
		return !s->gpr[RCX];
	s->gpr[RCX]--;
	if (opcode == 0xe2)
		return s->gpr[RCX] != 0;
	return s->gpr[RCX] != 0 && !(s->flags & 0x40) == (opcode == 0xe0);
}

/* ---- on the way ---- */

static bool note_bit(struct walker *w, bool taken)
{
	struct walk_path *out = w->out;

	if (out->n_bits == WALK_BITS)
		return stop(w, WALK_ENOUGH);
	if (taken)
		out->bits[out->n_bits / 8] |= (uint8_t)(1u << out->n_bits % 8);
	out->n_bits++;
	return true;
}

static bool note_target(struct walker *w, uint64_t target)
{
	if (w->out->n_targets == WALK_TARGETS)
		return stop(w, WALK_ENOUGH);
	w->out->targets[w->out->n_targets++] = target;
	return true;
}

/* Over a jump, call or return; NULL: the walk is over. */
static struct walk_insn *turn(struct walker *w, struct walk_insn *in)
{
	uint64_t next = in->ip + in->len, to = in->target;
	enum walk_memory_result r;
	bool known = true;
	int taken = 1;

	switch (in->kind) {
	case WALK_JCC:
	case WALK_LOOP:
		taken = in->kind == WALK_JCC ? holds(&w->s, in->cond)
					     : loops(&w->s, in->cond);
		if (taken < 0)
			return stop(w, WALK_UNKNOWN), NULL;
		if (!note_bit(w, taken))
			return NULL;
		break;
	case WALK_CALL:
		if (!push(w, next, true))
			return NULL;
		break;
	case WALK_JUMP_TO:
	case WALK_CALL_TO:
		r = value_of(w, in, 8, &to);
		if (r != WALK_MEMORY_KNOWN)
			return stop(w, r == WALK_MEMORY_NONE ? WALK_MEMORY
							     : WALK_UNKNOWN),
			       NULL;
		if ((in->kind == WALK_CALL_TO && !push(w, next, true)) || !note_target(w, to))
			return NULL;
		break;
	case WALK_RET:
		if (!pop(w, &to, &known))
			return NULL;
		if (!known)
			return stop(w, WALK_UNKNOWN), NULL;
		w->s.gpr[RSP] += (uint16_t)in->imm;
		if (!note_target(w, to))
			return NULL;
		break;
	default:
		break;
	}
	w->out->insns++;
	in = taken ? walk_code_follow(w->code, &in->taken, to) : walk_code_follow(w->code, &in->next, next);
	if (!in)
		stop(w, w->code->no_room ? WALK_ENOUGH : WALK_MEMORY);
	return in;
}

/* Over any other; false: the walk is over. */
static bool pass(struct walker *w, const struct walk_insn *in)
{
	switch (in->kind) {
	case WALK_STUB:
	case WALK_OPAQUE:
	case WALK_DIVIDE:
		return do_stub(w, in);
	case WALK_NOTHING:
		return true;
	case WALK_LEA:
		do_lea(&w->s, in);
		return true;
	case WALK_PUSH:
		return do_push(w, in);
	case WALK_POP:
		return do_pop(w, in);
	case WALK_LEAVE:
		return do_leave(w);
	case WALK_STRING: {
		enum walk_end why = walk_string_do(&w->s, w->mem, in);

		return why == WALK_ENDS || stop(w, why);
	}
	case WALK_VZEROUPPER:
		do_vzeroupper(&w->s);
		return true;
	case WALK_SYSTEM_CALL:
	case WALK_PAUSE:
		return stop(w, WALK_SYSCALL);
	default:
		return stop(w, WALK_INSTRUCTION);
	}
}

static bool is_turn(const struct walk_insn *in)
{
	return in->kind >= WALK_JUMP && in->kind <= WALK_RET;
}

static void begin(struct walker *w, const struct walk_start *at)
{
	struct walk_state *s = &w->s;

	walk_memory_begin(w->mem, at->pid);
	walk_code_begin(w->code, at->mm);
	w->fs_base = at->fs_base;
	w->gs_base = at->gs_base;
	memcpy(s->gpr, at->regs, sizeof(s->gpr));
	s->flags = (at->regs[STREAM_RFLAGS] & (WALK_STATUS | WALK_DF)) | 2;
	s->gpr_known = 0xffff;
	s->flags_known = WALK_STATUS | WALK_DF;
	s->k_known = 0;
	memset(s->vec_known, 0, sizeof(s->vec_known));
}

void walker_walk(struct walker *w, const struct walk_start *at,
		 struct walk_path *out)
{
	struct walk_insn *in;

	*out = (struct walk_path){.end = WALK_ENOUGH};
	w->out = out;
	begin(w, at);
	in = walk_code_at(w->code, at->regs[STREAM_RIP]);
	if (!in)
		out->end = w->code->no_room ? WALK_ENOUGH : WALK_MEMORY;
	while (in && out->insns < at->most_insns) {
		if ((in->kind == WALK_STRING || out->insns % LOOK_UP_CLOCK == LOOK_UP_CLOCK - 1) && clock_now_ns() >= at->until_ns)
			break;
		if (is_turn(in)) {
			in = turn(w, in);
			continue;
		}
		if (!pass(w, in))
			break;
		out->insns++;
		in = walk_code_follow(w->code, &in->next, in->ip + in->len);
		if (!in)
			out->end = w->code->no_room ? WALK_ENOUGH : WALK_MEMORY;
	}
}
