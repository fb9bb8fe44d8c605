/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode_effect.c - what an instruction does to general registers and flags.
 *
 * Only what can be said exactly for every input becomes an effect; any other
 * register that Zydis says is written is simply marked so, and thereby lost.
 */
#include "config.h"

#include "decode_effect.h"

uint8_t decode_gpr(ZydisRegister r)
{
	ZydisRegister whole;

	if (r == ZYDIS_REGISTER_NONE)
		return DECODE_NONE;
	whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return DECODE_NONE;
	return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static bool is_high_byte(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_AH || r == ZYDIS_REGISTER_CH ||
	       r == ZYDIS_REGISTER_DH || r == ZYDIS_REGISTER_BH;
}

static bool reg_operand(const ZydisDecodedOperand *op, uint8_t *r)
{
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || is_high_byte(op->reg.value))
		return false;
	*r = decode_gpr(op->reg.value);
	return *r != DECODE_NONE;
}

static bool imm_operand(const ZydisDecodedOperand *op, int64_t *v)
{
	if (op->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return false;
	*v = op->imm.value.s;
	return true;
}

static struct decode_effect *effect(struct decode_insn *out, uint8_t op,
				    uint8_t dst, uint8_t bits)
{
	struct decode_effect *e;

	if (out->n_effects == DECODE_MAX_EFFECTS)
		return NULL;
	e = &out->effects[out->n_effects++];
	*e = (struct decode_effect){ .op = op,
				     .dst = dst,
				     .src = DECODE_NONE,
				     .bits = bits,
				     .base = DECODE_NONE,
				     .index = DECODE_NONE,
				     .scale = 1 };
	return e;
}

/* Every register that is read or written at all, hidden ones as well. */
static void touched(const ZydisDecodedInstruction *in,
		    const ZydisDecodedOperand *ops, struct decode_insn *out)
{
	for (int i = 0; i < in->operand_count; i++) {
		const ZydisDecodedOperand *op = &ops[i];
		uint8_t r;

		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			r = decode_gpr(op->mem.base);
			if (r != DECODE_NONE)
				out->read |= 1u << r;
			r = decode_gpr(op->mem.index);
			if (r != DECODE_NONE)
				out->read |= 1u << r;
			continue;
		}
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		r = decode_gpr(op->reg.value);
		if (r == DECODE_NONE)
			continue;
		if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			out->written |= 1u << r;
		if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			out->read |= 1u << r;
	}
}

static void flags_compare(struct decode_insn *out, uint8_t op,
			  const ZydisDecodedOperand *a,
			  const ZydisDecodedOperand *b)
{
	int64_t imm;
	uint8_t ra, rb;

	if (!reg_operand(a, &ra))
		return;
	if (reg_operand(b, &rb)) {
		out->flags_b = rb;
	} else if (imm_operand(b, &imm)) {
		out->flags_b = DECODE_NONE;
		out->flags_imm = imm;
	} else {
		return;
	}
	out->flags_a = ra;
	out->flags_op = op;
	out->flags_bits = (uint8_t)a->size;
}

static void flags(const ZydisDecodedInstruction *in,
		  const ZydisDecodedOperand *ops, struct decode_insn *out)
{
	const uint32_t conditions = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF |
				    ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF |
				    ZYDIS_CPUFLAG_PF;

	out->flags_a = out->flags_b = DECODE_NONE;
	if (!in->cpu_flags ||
	    !((in->cpu_flags->modified | in->cpu_flags->set_0 |
	       in->cpu_flags->set_1 | in->cpu_flags->undefined) &
	      conditions)) {
		out->flags_op = DECODE_FLAGS_KEPT;
		if (out->flow == DECODE_CALL || out->flow == DECODE_INDIRECT_CALL ||
		    out->flow == DECODE_SYSCALL)
			out->flags_op = DECODE_FLAGS_LOST;
		return;
	}
	out->flags_op = DECODE_FLAGS_LOST;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_SUB:
		flags_compare(out, DECODE_FLAGS_SUB, &ops[0], &ops[1]);
		break;
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_AND:
		flags_compare(out, DECODE_FLAGS_AND, &ops[0], &ops[1]);
		break;
	case ZYDIS_MNEMONIC_ADD:
		flags_compare(out, DECODE_FLAGS_ADD, &ops[0], &ops[1]);
		break;
	case ZYDIS_MNEMONIC_OR:
		flags_compare(out, DECODE_FLAGS_OR, &ops[0], &ops[1]);
		break;
	case ZYDIS_MNEMONIC_XOR:
		flags_compare(out, DECODE_FLAGS_XOR, &ops[0], &ops[1]);
		break;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		if (reg_operand(&ops[0], &out->flags_a)) {
			out->flags_op = in->mnemonic == ZYDIS_MNEMONIC_INC
						? DECODE_FLAGS_INC
						: DECODE_FLAGS_DEC;
			out->flags_bits = (uint8_t)ops[0].size;
			out->flags_imm = 1;
		}
		break;
	default:
		break;
	}
}

/* dst = dst OP src, where src is a register or a number. */
static void two_operands(const ZydisDecodedOperand *ops, uint8_t op, uint8_t dst,
			 uint8_t bits, struct decode_insn *out)
{
	struct decode_effect *e;
	int64_t imm;
	uint8_t src;

	if (reg_operand(&ops[1], &src)) {
		if (src == dst && (op == DECODE_XOR || op == DECODE_SUB)) {
			effect(out, DECODE_SET, dst, bits); /* zero, whatever it was */
			out->read &= ~(1u << dst);
			return;
		}
		e = effect(out, op, dst, bits);
		if (e)
			e->src = src;
	} else if (imm_operand(&ops[1], &imm)) {
		e = effect(out, op, dst, bits);
		if (e)
			e->imm = imm;
	}
}

static void shift(const ZydisDecodedOperand *ops, uint8_t op, uint8_t dst,
		  uint8_t bits, struct decode_insn *out)
{
	struct decode_effect *e;
	int64_t imm;

	if (!imm_operand(&ops[1], &imm))
		return;
	e = effect(out, op, dst, bits);
	if (e)
		e->imm = imm & (bits - 1);
}

static void lea(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
		uint8_t dst, uint8_t bits, struct decode_insn *out)
{
	const ZydisDecodedOperand *m = &ops[1];
	struct decode_effect *e;

	/* A cut address in a wider register: rare, and not worth a rule. */
	if (in->address_width < bits)
		return;
	if (m->mem.base == ZYDIS_REGISTER_RIP) {
		e = effect(out, DECODE_SET, dst, bits);
		if (e) {
			e->src = DECODE_RIP;
			e->imm = m->mem.disp.value + in->length;
		}
		return;
	}
	e = effect(out, DECODE_LEA, dst, bits);
	if (!e)
		return;
	e->base = decode_gpr(m->mem.base);
	e->index = decode_gpr(m->mem.index);
	e->scale = m->mem.scale ? m->mem.scale : 1;
	e->imm = m->mem.disp.value;
}

static void extend(const ZydisDecodedOperand *ops, uint8_t op, uint8_t dst,
		   uint8_t bits, struct decode_insn *out)
{
	struct decode_effect *e;
	uint8_t src;

	if (!reg_operand(&ops[1], &src))
		return;
	e = effect(out, op, dst, bits);
	if (e) {
		e->src = src;
		e->src_bits = (uint8_t)ops[1].size;
	}
}

static void multiply(const ZydisDecodedInstruction *in,
		     const ZydisDecodedOperand *ops, uint8_t dst, uint8_t bits,
		     struct decode_insn *out)
{
	struct decode_effect *e;
	int64_t imm = 0;
	uint8_t src;

	if (in->operand_count_visible < 2 || !reg_operand(&ops[1], &src))
		return;
	if (in->operand_count_visible == 3 && !imm_operand(&ops[2], &imm))
		return;
	e = effect(out, DECODE_MUL, dst, bits);
	if (!e)
		return;
	e->src = src;
	if (in->operand_count_visible == 3) {
		e->base = src; /* dst = base * imm; else dst *= src */
		e->src = DECODE_NONE;
		e->imm = imm;
	}
}

static void stack_pointer(struct decode_insn *out, int64_t by, bool is32)
{
	struct decode_effect *e =
		effect(out, DECODE_ADD, 4, is32 ? 32 : 64);

	if (e)
		e->imm = by;
}

static uint32_t stack_bytes(const struct decode_insn *out)
{
	for (int i = 0; i < out->n_mem; i++)
		if (out->mem[i].flags & DECODE_MEM_STACK)
			return out->mem[i].size * out->mem[i].elements;
	return 0;
}

static void string_steps(const ZydisDecodedInstruction *in, uint32_t size,
			 struct decode_insn *out)
{
	static const uint8_t regs[] = { 6, 7 };
	/* cmps is a6 and a7, scas ae and af (Intel SDM, volume 2) */
	bool until = (in->opcode & 0xf6) == 0xa6;

	/* Zydis does not list what cmps does to its pointers. */
	for (int i = 0; i < out->n_mem; i++)
		if (out->mem[i].base == regs[0] || out->mem[i].base == regs[1])
			out->written |= 1u << out->mem[i].base;
	if (out->is_rep)
		out->written |= 1u << 1;
	/* A repetition that data ends leaves who knows what. */
	if (until && out->is_rep)
		return;
	for (int i = 0; i < 2; i++) {
		struct decode_effect *e;

		if (!(out->written & (1u << regs[i])))
			continue;
		e = effect(out, DECODE_STEP, regs[i], (uint8_t)in->address_width);
		if (e)
			e->imm = size;
	}
	if (out->is_rep && (out->written & 2))
		effect(out, DECODE_SET, 1, (uint8_t)in->address_width);
}

/* The first operand is a general register of 32 or 64 bits that is written. */
static bool whole_register(const ZydisDecodedOperand *ops, uint8_t *dst,
			   uint8_t *bits)
{
	if (!reg_operand(&ops[0], dst) || ops[0].size < 32)
		return false;
	*bits = (uint8_t)ops[0].size;
	return true;
}

static void implicit(const ZydisDecodedInstruction *in,
		     const ZydisDecodedOperand *ops, bool is32,
		     struct decode_insn *out)
{
	uint32_t bytes = stack_bytes(out);
	int64_t imm = 0;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFD:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_PUSHA:
	case ZYDIS_MNEMONIC_PUSHAD:
		stack_pointer(out, -(int64_t)bytes, is32);
		break;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFD:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_POPA:
	case ZYDIS_MNEMONIC_POPAD:
		if (ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    decode_gpr(ops[0].reg.value) == 4)
			break; /* pop rsp */
		stack_pointer(out, bytes, is32);
		break;
	case ZYDIS_MNEMONIC_RET:
		if (in->operand_count_visible)
			imm_operand(&ops[0], &imm);
		stack_pointer(out, (int64_t)bytes + imm, is32);
		break;
	case ZYDIS_MNEMONIC_LEAVE: {
		struct decode_effect *e =
			effect(out, DECODE_LEA, 4, is32 ? 32 : 64);

		if (e) {
			e->base = 5;
			e->imm = bytes;
		}
		break;
	}
	default:
		break;
	}
}

static void explicit_dst(const ZydisDecodedInstruction *in,
			 const ZydisDecodedOperand *ops, uint8_t dst,
			 uint8_t bits, struct decode_insn *out)
{
	struct decode_effect *e;
	int64_t imm;
	uint8_t src;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (reg_operand(&ops[1], &src)) {
			e = effect(out, DECODE_COPY, dst, bits);
			if (e)
				e->src = src;
		} else if (imm_operand(&ops[1], &imm)) {
			e = effect(out, DECODE_SET, dst, bits);
			if (e)
				e->imm = imm;
		}
		break;
	case ZYDIS_MNEMONIC_LEA:
		lea(in, ops, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_ADD:
		two_operands(ops, DECODE_ADD, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_SUB:
		two_operands(ops, DECODE_SUB, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_XOR:
		two_operands(ops, DECODE_XOR, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_AND:
		two_operands(ops, DECODE_AND, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_OR:
		two_operands(ops, DECODE_OR, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		e = effect(out, DECODE_ADD, dst, bits);
		if (e)
			e->imm = in->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
		break;
	case ZYDIS_MNEMONIC_SHL:
		shift(ops, DECODE_SHL, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_SHR:
		shift(ops, DECODE_SHR, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_SAR:
		shift(ops, DECODE_SAR, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_ROL:
		shift(ops, DECODE_ROL, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_ROR:
		shift(ops, DECODE_ROL, dst, bits, out);
		if (out->n_effects)
			out->effects[0].imm = (bits - out->effects[0].imm) & (bits - 1);
		break;
	case ZYDIS_MNEMONIC_NOT:
		effect(out, DECODE_NOT, dst, bits);
		break;
	case ZYDIS_MNEMONIC_NEG:
		effect(out, DECODE_NEG, dst, bits);
		break;
	case ZYDIS_MNEMONIC_BSWAP:
		effect(out, DECODE_BSWAP, dst, bits);
		break;
	case ZYDIS_MNEMONIC_IMUL:
		multiply(in, ops, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_MOVZX:
		extend(ops, DECODE_ZEXT, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		extend(ops, DECODE_SEXT, dst, bits, out);
		break;
	case ZYDIS_MNEMONIC_XCHG:
		if (reg_operand(&ops[1], &src)) {
			e = effect(out, DECODE_SWAP, dst, bits);
			if (e)
				e->src = src;
		}
		break;
	default:
		if (in->meta.category == ZYDIS_CATEGORY_CMOV &&
		    reg_operand(&ops[1], &src)) {
			e = effect(out, DECODE_CMOV, dst, bits);
			if (e) {
				e->src = src;
				e->imm = in->opcode & 15; /* 0f 40+cc */
			}
		}
		break;
	}
}

/* cltq and its kin: sign extension inside RAX. */
static void accumulator(const ZydisDecodedInstruction *in, struct decode_insn *out)
{
	struct decode_effect *e;

	if (in->mnemonic != ZYDIS_MNEMONIC_CDQE && in->mnemonic != ZYDIS_MNEMONIC_CWDE)
		return;
	e = effect(out, DECODE_SEXT, 0, in->mnemonic == ZYDIS_MNEMONIC_CDQE ? 64 : 32);
	if (e) {
		e->src = 0;
		e->src_bits = in->mnemonic == ZYDIS_MNEMONIC_CDQE ? 32 : 16;
	}
}

static uint8_t moved(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, const struct decode_insn *out)
{
	uint8_t r;

	if (in->mnemonic != ZYDIS_MNEMONIC_MOV || out->n_mem != 1 || (out->mem[0].size != 4 && out->mem[0].size != 8))
		return DECODE_NONE;
	return reg_operand(&ops[0], &r) || reg_operand(&ops[1], &r) ? r : DECODE_NONE;
}

void decode_registers(const ZydisDecodedInstruction *in,
		      const ZydisDecodedOperand *ops, bool is32,
		      struct decode_insn *out)
{
	uint8_t dst, bits;

	out->moved = moved(in, ops, out);
	touched(in, ops, out);
	flags(in, ops, out);
	if (in->cpu_flags && ((in->cpu_flags->modified | in->cpu_flags->set_0 |
			       in->cpu_flags->set_1) & ZYDIS_CPUFLAG_DF))
		out->sets_direction = true;
	if (out->is_nop)
		return;
	if ((in->meta.category == ZYDIS_CATEGORY_STRINGOP ||
	     in->meta.category == ZYDIS_CATEGORY_IOSTRINGOP) &&
	    out->n_mem) {
		string_steps(in, out->mem[0].size, out);
		return;
	}
	implicit(in, ops, is32, out);
	accumulator(in, out);
	if (out->n_effects || !in->operand_count || !whole_register(ops, &dst, &bits))
		return;
	if (!(ops[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	explicit_dst(in, ops, dst, bits, out);
}
