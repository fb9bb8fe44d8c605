// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walk_insn.h"

#include <errno.h>
#include <string.h>

#include "walk_cpu.h"
#include "walk_kind.h"
#include "walk_stub.h"

enum { RSP = 4, RCX = 1, CANARY = 0x28 };

/* Condition of a conditional jump as in its opcode. */
static uint8_t condition(const ZydisDecodedInstruction *z)
{
	return z->opcode & 15;
}

/* ---- what it reads and writes ---- */

/* The vector register behind an XMM, YMM or ZMM. */
static bool is_vec(ZydisRegister r)
{
	ZydisRegisterClass c = ZydisRegisterGetClass(r);

	return c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM ||
	       c == ZYDIS_REGCLASS_ZMM;
}

static void note_gpr(struct walk_insn *in, uint8_t r,
		     const ZydisDecodedOperand *o)
{
	uint16_t bit = (uint16_t)(1u << r);

	if (o->actions &
	    (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE))
		in->gpr_read |= bit;
	if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	in->gpr_written |= bit;
	if (ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value) <
	    32)
		in->gpr_merged |= bit;
}

/* Moves into a whole register of 16 bytes what is less: the rest becomes 0. */
static bool fills_up(const ZydisDecodedInstruction *z,
		     const ZydisDecodedOperand *from)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_MOVQ:
		return true;
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
		return from->type == ZYDIS_OPERAND_TYPE_MEMORY;
	default:
		return false;
	}
}

/* Of a source that is said to be 8 or 16 bytes the upper half is what is read. */
static uint8_t bytes_read(const ZydisDecodedInstruction *z, uint8_t said)
{
	bool legacy = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;

	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_UNPCKHPD:
	case ZYDIS_MNEMONIC_PUNPCKHBW:
	case ZYDIS_MNEMONIC_PUNPCKHWD:
	case ZYDIS_MNEMONIC_PUNPCKHDQ:
	case ZYDIS_MNEMONIC_PUNPCKHQDQ:
	case ZYDIS_MNEMONIC_MOVHLPS:
	case ZYDIS_MNEMONIC_MOVHPD:
	case ZYDIS_MNEMONIC_MOVHPS:
		return legacy && said < 16 ? 16 : said;
	case ZYDIS_MNEMONIC_VEXTRACTF128:
	case ZYDIS_MNEMONIC_VEXTRACTI128:
		return said < 32 ? 32 : said;
	default:
		return said;
	}
}

static bool is_high(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_MOVHPS || m == ZYDIS_MNEMONIC_MOVHPD ||
	       m == ZYDIS_MNEMONIC_MOVLHPS;
}

static bool note_vec(struct walk_insn *in, const ZydisDecodedInstruction *z,
		     const ZydisDecodedOperand *o,
		     const ZydisDecodedOperand *second)
{
	bool legacy = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	struct walk_vec_use u = {
		.reg = (uint8_t)ZydisRegisterGetId(o->reg.value),
		.bytes = (uint8_t)(o->size / 8)};
	uint8_t whole =
		(uint8_t)(ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64,
						o->reg.value) /
			  8);

	if (u.bytes > 64 || in->n_vec_read == WALK_VEC_USES ||
	    in->n_vec_written == WALK_VEC_USES)
		return false;
	/* Where only one element counts, and the others are passed on, not to know these is no matter. */
	if (o->actions &
	    (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE))
		in->vec_read[in->n_vec_read++] = (struct walk_vec_use){ .reg = u.reg, .bytes = bytes_read(z, u.bytes) };
	if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return true;
	if (legacy && is_high(z->mnemonic)) {
		in->vec_read[in->n_vec_read++] =
			(struct walk_vec_use){.reg = u.reg, .bytes = 8};
		u.bytes = 16;
	}
	if (legacy && fills_up(z, second))
		u.bytes = 16;
	if (!legacy)
		u.bytes = whole;
	u.rest = legacy;
	in->zeroes_above |= !legacy;
	in->vec_written[in->n_vec_written++] = u;
	return true;
}

static bool note_register(struct walk_insn *in,
			  const ZydisDecodedInstruction *z,
			  const ZydisDecodedOperand *o,
			  const ZydisDecodedOperand *second)
{
	ZydisRegister r = o->reg.value;
	uint8_t gpr = walk_gpr(r);

	if (gpr != WALK_NO_REG) {
		note_gpr(in, gpr, o);
		return true;
	}
	if (is_vec(r))
		return note_vec(in, z, o, second);
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_MASK:
		if (o->encoding == ZYDIS_OPERAND_ENCODING_MASK &&
		    r == ZYDIS_REGISTER_K0)
			return true; /* none */
		if (o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ |
				  ZYDIS_OPERAND_ACTION_CONDWRITE))
			in->k_read |= (uint8_t)(1u << ZydisRegisterGetId(r));
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			in->k_written |= (uint8_t)(1u << ZydisRegisterGetId(r));
		return true;
	case ZYDIS_REGCLASS_FLAGS:
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
			in->flags_read |=
				WALK_STATUS; /* a shift by nothing leaves them as they were */
		return true;
	case ZYDIS_REGCLASS_X87:
	case ZYDIS_REGCLASS_MMX:
		in->kind =
			in->kind == WALK_STUB
				? WALK_OPAQUE
				: in->kind; /* we have none, and nobody asks */
		return true;
	case ZYDIS_REGCLASS_IP:
		return true;
	default:
		return in->kind == WALK_OPAQUE || in->kind == WALK_NOTHING;
	}
}

static bool is_masked_store(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_VMASKMOVPS || m == ZYDIS_MNEMONIC_VMASKMOVPD || m == ZYDIS_MNEMONIC_VPMASKMOVD || m == ZYDIS_MNEMONIC_VPMASKMOVQ;
}

static bool note_memory(struct walk_insn *in, const ZydisDecodedInstruction *z,
			const ZydisDecodedOperand *o)
{
	struct walk_mem *m = &in->mem;

	if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN && in->kind != WALK_LEA)
		return in->kind == WALK_NOTHING;
	if (m->size || o->size / 8 > WALK_SLOT)
		return false;
	*m = (struct walk_mem){
		.base = walk_gpr(o->mem.base),
		.index = walk_gpr(o->mem.index),
		.scale = o->mem.scale,
		.size = (uint8_t)(o->size / 8),
		.disp = o->mem.disp.value,
		.short_address = z->address_width == 32,
		.read = o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ |
				      ZYDIS_OPERAND_ACTION_CONDWRITE),
		.write = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE};
	if (o->mem.base == ZYDIS_REGISTER_RIP ||
	    o->mem.base == ZYDIS_REGISTER_EIP)
		m->disp += (int64_t)(in->ip + z->length);
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		m->segment = 'f';
	if (o->mem.segment == ZYDIS_REGISTER_GS)
		m->segment = 'g';
	/* A masked store leaves what it does not write. */
	if (m->write && (in->k_read || is_masked_store(z->mnemonic)))
		m->read = true;
	/* A gather reads elsewhere. */
	if (in->kind == WALK_OPAQUE && o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		m->read = false;
	/* A bit beside the operand may be meant. */
	if (z->meta.category == ZYDIS_CATEGORY_BITBYTE &&
	    z->operand_count_visible == 2 && z->mnemonic >= ZYDIS_MNEMONIC_BT &&
	    z->mnemonic <= ZYDIS_MNEMONIC_BTS)
		in->kind = z->opcode == 0xba ? in->kind
			   : m->write	     ? WALK_NOT_DONE
					     : WALK_OPAQUE;
	return m->size || in->kind == WALK_LEA;
}

/* Nothing comes of these but 0, or all ones, whatever was there. */
static bool is_idiom(const ZydisDecodedInstruction *z,
		     const ZydisDecodedOperand *ops)
{
	unsigned n = z->operand_count_visible;

	if (n < 2 || n > 3 || ops[n - 1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    ops[n - 2].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    ops[n - 1].reg.value != ops[n - 2].reg.value)
		return false;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
		return ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64,
					     ops[0].reg.value) >= 32;
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_PCMPEQB:
	case ZYDIS_MNEMONIC_PCMPEQW:
	case ZYDIS_MNEMONIC_PCMPEQD:
	case ZYDIS_MNEMONIC_VPCMPEQB:
	case ZYDIS_MNEMONIC_VPCMPEQW:
	case ZYDIS_MNEMONIC_VPCMPEQD:
		return z->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX;
	default:
		return false;
	}
}

/* The stack protector's word is what it was: nobody has overwritten it. */
static bool is_canary_test(const struct walk_insn *in,
			   const ZydisDecodedInstruction *z)
{
	return in->mem.segment == 'f' && in->mem.base == WALK_NO_REG &&
	       in->mem.index == WALK_NO_REG && in->mem.disp == CANARY &&
	       (z->mnemonic == ZYDIS_MNEMONIC_SUB ||
		z->mnemonic == ZYDIS_MNEMONIC_XOR ||
		z->mnemonic == ZYDIS_MNEMONIC_CMP);
}

static bool writes_gpr(const struct walk_insn *in, uint8_t r)
{
	return r != WALK_NO_REG && in->gpr_written & 1u << r;
}

static bool note_operands(struct walk_insn *in,
			  const ZydisDecodedInstruction *z,
			  const ZydisDecodedOperand *ops)
{
	const ZydisAccessedFlags *f = z->cpu_flags;

	in->flags_read = f->tested & (WALK_STATUS | WALK_DF);
	in->flags_written = (f->modified | f->set_0 | f->set_1 | f->undefined) &
			    (WALK_STATUS | WALK_DF);
	for (unsigned i = 0; i < z->operand_count; i++) {
		const ZydisDecodedOperand *o = &ops[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    !note_register(in, z, o,
				   &ops[z->operand_count_visible > 1]))
			return false;
	}
	for (unsigned i = 0; i < z->operand_count; i++) {
		if (ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (i < z->operand_count_visible ? !note_memory(in, z, &ops[i])
						 : in->kind == WALK_STUB)
			return false;
	}
	if (is_idiom(z, ops)) {
		in->gpr_read = 0;
		in->n_vec_read = 0;
	}
	in->same = is_canary_test(in, z);
	in->hides = in->mem.size && in->mem.read && (writes_gpr(in, in->mem.base) || writes_gpr(in, in->mem.index));
	return true;
}

/* ---- */

static void note_target(struct walk_insn *in, const ZydisDecodedInstruction *z,
			const ZydisDecodedOperand *ops)
{
	ZyanU64 to = 0;

	if (ZYAN_FAILED(ZydisCalcAbsoluteAddress(z, &ops[0], in->ip, &to)))
		in->kind = WALK_NOT_DONE;
	in->target = to;
	in->cond = in->kind == WALK_LOOP ? z->opcode : condition(z);
}

static void note_one_operand(struct walk_insn *in,
			     const ZydisDecodedInstruction *z,
			     const ZydisDecodedOperand *ops)
{
	in->reg = WALK_NO_REG;
	if (!z->operand_count_visible)
		return;
	if (ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		in->reg = walk_gpr(ops[0].reg.value);
	if (ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		in->imm = ops[0].imm.value.s;
	in->width = (uint8_t)(ops[0].size / 8);
}

static void note_more(struct walk_insn *in, const ZydisDecodedInstruction *z,
		      const ZydisDecodedOperand *ops)
{
	switch (in->kind) {
	case WALK_JUMP:
	case WALK_JCC:
	case WALK_LOOP:
	case WALK_CALL:
		note_target(in, z, ops);
		break;
	case WALK_PUSH:
	case WALK_POP:
		note_one_operand(in, z, ops);
		/* Of 16 bits, or a segment's: hardly anybody's. */
		if (z->operand_width != 64 ||
		    (ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		     in->reg == WALK_NO_REG))
			in->kind = WALK_NOT_DONE;
		break;
	case WALK_RET:
	case WALK_LEA:
	case WALK_JUMP_TO:
	case WALK_CALL_TO:
		note_one_operand(in, z, ops);
		break;
	case WALK_DIVIDE:
		note_one_operand(in, z, ops);
		in->is_signed = z->mnemonic == ZYDIS_MNEMONIC_IDIV;
		if (ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ops[0].reg.value >= ZYDIS_REGISTER_AH &&
		    ops[0].reg.value <= ZYDIS_REGISTER_BH)
			in->kind = WALK_NOT_DONE;
		break;
	default:
		break;
	}
}

static bool has_operands(uint8_t kind)
{
	return kind != WALK_STRING && kind != WALK_SYSTEM_CALL &&
	       kind != WALK_PAUSE && kind != WALK_NOTHING &&
	       kind != WALK_NOT_DONE;
}

int walk_insn_make(struct walk_insn *in, const uint8_t *code, size_t n,
		   uint64_t ip, struct walk_room *room)
{
	static __thread ZydisDecoder decoder;
	static __thread bool ready;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZyanStatus s;
	int err;

	if (!ready)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
				 ZYDIS_STACK_WIDTH_64);
	ready = true;
	s = ZydisDecoderDecodeFull(&decoder, code, n, &z, ops);
	if (ZYAN_FAILED(s))
		return s == ZYDIS_STATUS_NO_MORE_DATA ? -ENODATA : -EINVAL;
	*in = (struct walk_insn){.ip = ip, .mm = in->mm, .len = z.length};
	memcpy(in->code, code, z.length);
	in->mem.base = in->mem.index = in->reg = WALK_NO_REG;
	in->kind = (uint8_t)walk_kind_of(in, &z, ops);
	if (has_operands(in->kind) && !note_operands(in, &z, ops))
		in->kind = WALK_NOT_DONE;
	note_more(in, &z, ops);
	if (in->kind != WALK_STUB && in->kind != WALK_DIVIDE)
		return 0;
	err = walk_cpu_has(&z) ? walk_stub_make(in, &z, ops, room) : -EINVAL;
	if (err ==
	    -EINVAL) { /* no such CPU, all registers used, or a form that is not known: hardly any */
		in->kind = in->mem.write ? WALK_NOT_DONE : WALK_OPAQUE;
		err = 0;
	}
	return err;
}
