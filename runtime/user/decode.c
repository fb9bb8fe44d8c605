/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode.c - memory operands and control flow of one instruction.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "decode.h"
#include "decode_effect.h"

static const ZydisDecoder *decoder_for(bool is32)
{
	static __thread ZydisDecoder decoders[2];
	static __thread bool ready;

	if (!ready) {
		ZydisDecoderInit(&decoders[0], ZYDIS_MACHINE_MODE_LONG_64,
				 ZYDIS_STACK_WIDTH_64);
		ZydisDecoderInit(&decoders[1], ZYDIS_MACHINE_MODE_LEGACY_32,
				 ZYDIS_STACK_WIDTH_32);
		ready = true;
	}
	return &decoders[is32];
}

/* Has a memory operand, but touches no memory that a program would miss. */
static bool touches_nothing(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
	case ZYDIS_CATEGORY_MPX:
		return true;
	default:
		break;
	}
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_PREFETCH:
	case ZYDIS_MNEMONIC_PREFETCHNTA:
	case ZYDIS_MNEMONIC_PREFETCHT0:
	case ZYDIS_MNEMONIC_PREFETCHT1:
	case ZYDIS_MNEMONIC_PREFETCHT2:
	case ZYDIS_MNEMONIC_PREFETCHW:
	case ZYDIS_MNEMONIC_PREFETCHWT1:
	case ZYDIS_MNEMONIC_INVLPG:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
		return true;
	default:
		return false;
	}
}

static uint32_t operand_bytes(const ZydisDecodedInstruction *in,
			      const ZydisDecodedOperand *op)
{
	uint32_t bytes = op->size / 8;

	if (bytes)
		return bytes;
	/* Sizes that depend on the machine: the legacy area of an xsave. */
	return in->meta.category == ZYDIS_CATEGORY_XSAVE ||
			       in->meta.category == ZYDIS_CATEGORY_XSAVEOPT
		       ? 512 + 64
		       : 1;
}

/* The stack pointer moves before a push, after a pop: SDM vol. 2, PUSH, POP, CALL, RET. */
static void stack_operand(const ZydisDecodedInstruction *in, struct decode_mem *m)
{
	m->flags |= DECODE_MEM_STACK;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFD:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_CALL:
		m->disp = -(int64_t)m->size;
		break;
	case ZYDIS_MNEMONIC_PUSHA:
	case ZYDIS_MNEMONIC_PUSHAD:
		m->elements = 8;
		m->size = in->operand_width / 8;
		m->disp = -8 * (int64_t)m->size;
		break;
	case ZYDIS_MNEMONIC_POPA:
	case ZYDIS_MNEMONIC_POPAD:
		m->elements = 8;
		m->size = in->operand_width / 8;
		m->disp = 0;
		break;
	case ZYDIS_MNEMONIC_ENTER:
		m->disp = -(int64_t)m->size;
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		m->base = 5; /* RSP takes RBP's value first */
		m->disp = 0;
		break;
	default:
		m->disp = 0;
		break;
	}
}

static void segment_of(ZydisRegister r, bool is32, struct decode_mem *m)
{
	if (r == ZYDIS_REGISTER_FS)
		m->segment = DECODE_SEG_FS;
	else if (r == ZYDIS_REGISTER_GS)
		m->segment = DECODE_SEG_GS;
	else
		m->segment = DECODE_SEG_FLAT;
	(void)is32; /* every system with 32-bit user code keeps the other four flat */
}

static void index_of(const ZydisDecodedInstruction *in,
		     const ZydisDecodedOperand *op, struct decode_mem *m)
{
	if (in->mnemonic == ZYDIS_MNEMONIC_XLAT) {
		m->index = 0; /* AL, which Zydis has as an operand of its own */
		m->index_bits = 8;
		return;
	}
	if (op->mem.index == ZYDIS_REGISTER_NONE)
		return;
	m->index = decode_gpr(op->mem.index);
	m->scale = op->mem.scale ? op->mem.scale : 1;
	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB || m->index == DECODE_NONE) {
		/* Each lane has an address of its own, in a register we do not see. */
		m->index = DECODE_NONE;
		m->flags |= DECODE_MEM_LOST | DECODE_MEM_MAYBE;
		m->elements = op->element_count > 1 && op->element_count < 64
				      ? op->element_count
				      : 1;
		if (op->element_size >= 8)
			m->size = op->element_size / 8;
	}
}

static bool is_bit_string(const ZydisDecodedInstruction *in,
			  const ZydisDecodedOperand *ops)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS:
		return ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default:
		return false;
	}
}

static void one_operand(const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *ops,
			const ZydisDecodedOperand *op, bool is32,
			struct decode_insn *out)
{
	struct decode_mem *m = &out->mem[out->n_mem];
	bool implicit = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

	*m = (struct decode_mem){ .base = DECODE_NONE,
				  .index = DECODE_NONE,
				  .scale = 1,
				  .elements = 1,
				  .addr_bits = (uint8_t)in->address_width,
				  .disp = op->mem.disp.value };
	m->index_bits = m->addr_bits;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		m->flags |= DECODE_MEM_READ;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		m->flags |= DECODE_MEM_WRITE;
	if ((op->actions & (ZYDIS_OPERAND_ACTION_CONDREAD |
			    ZYDIS_OPERAND_ACTION_CONDWRITE)) &&
	    in->meta.category != ZYDIS_CATEGORY_CMOV && !out->is_rep)
		m->flags |= DECODE_MEM_MAYBE; /* cmov reads in any case; rep has a count */
	if (!(m->flags & (DECODE_MEM_READ | DECODE_MEM_WRITE)))
		return;
	m->size = operand_bytes(in, op);
	segment_of(op->mem.segment, is32, m);

	if (op->mem.base == ZYDIS_REGISTER_RIP ||
	    op->mem.base == ZYDIS_REGISTER_EIP) {
		m->base = DECODE_RIP;
		m->disp += in->length;
	} else if (op->mem.base != ZYDIS_REGISTER_NONE) {
		m->base = decode_gpr(op->mem.base);
		if (m->base == DECODE_NONE)
			m->flags |= DECODE_MEM_LOST;
	}
	index_of(in, op, m);
	if (implicit && m->base == 4 && m->segment == DECODE_SEG_FLAT) {
		m->addr_bits = is32 ? 32 : 64;
		m->index_bits = m->addr_bits;
		stack_operand(in, m);
	} else if (in->mnemonic == ZYDIS_MNEMONIC_POP && m->base == 4) {
		m->disp += m->size; /* "as after the increment": SDM vol. 2, POP */
	}
	if (in->mnemonic == ZYDIS_MNEMONIC_LEAVE && implicit)
		stack_operand(in, m);
	if (is_bit_string(in, ops))
		m->flags |= DECODE_MEM_LOST; /* base + (register >> 3), signed */
	if (out->is_rep)
		m->flags |= DECODE_MEM_REP;
	out->n_mem++;
}

static void memory(const ZydisDecodedInstruction *in,
		   const ZydisDecodedOperand *ops, bool is32,
		   struct decode_insn *out)
{
	out->is_rep = (in->attributes & (ZYDIS_ATTRIB_HAS_REP |
					 ZYDIS_ATTRIB_HAS_REPE |
					 ZYDIS_ATTRIB_HAS_REPNE)) != 0;
	if (touches_nothing(in))
		return;
	for (int i = 0; i < in->operand_count; i++) {
		const ZydisDecodedOperand *op = &ops[i];

		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    op->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
		    op->mem.type == ZYDIS_MEMOP_TYPE_INVALID)
			continue;
		if (out->n_mem < DECODE_MAX_MEM)
			one_operand(in, ops, op, is32, out);
	}
}

/* Jcc's condition number: the low four bits of its opcode, 70+cc or 0f 80+cc. */
static uint8_t condition(const ZydisDecodedInstruction *in)
{
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	    (in->opcode & 0xf0) == 0x70)
		return in->opcode & 15;
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F && (in->opcode & 0xf0) == 0x80)
		return in->opcode & 15;
	return DECODE_NONE;
}

/* Where it goes, but for the register of an indirect jump. */
static void flow(const ZydisDecodedInstruction *in, struct decode_insn *out)
{
	bool direct = in->raw.imm[0].size && in->raw.imm[0].is_relative;

	out->cond = DECODE_NONE;
	out->jump_reg = DECODE_NONE;
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		out->flow = direct ? DECODE_COND : DECODE_NEXT;
		out->cond = condition(in);
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		out->flow = direct ? DECODE_JUMP : DECODE_INDIRECT;
		if (in->mnemonic == ZYDIS_MNEMONIC_XABORT)
			out->flow = DECODE_NEXT;
		break;
	case ZYDIS_CATEGORY_CALL:
		out->flow = direct ? DECODE_CALL : DECODE_INDIRECT_CALL;
		break;
	case ZYDIS_CATEGORY_RET:
		out->flow = DECODE_RET;
		break;
	case ZYDIS_CATEGORY_SYSCALL:
		out->flow = DECODE_SYSCALL;
		break;
	case ZYDIS_CATEGORY_INTERRUPT:
		out->flow = in->mnemonic == ZYDIS_MNEMONIC_INT3 ||
					    in->mnemonic == ZYDIS_MNEMONIC_INT1
				    ? DECODE_STOP
				    : DECODE_SYSCALL;
		break;
	default:
		break;
	}
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		out->flow = DECODE_STOP;
		break;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		out->flow = DECODE_RET;
		break;
	default:
		break;
	}
	if (direct && (out->flow == DECODE_JUMP || out->flow == DECODE_COND ||
		       out->flow == DECODE_CALL))
		out->target = in->length + in->raw.imm[0].value.s;
}

/*
 * Rough costs of a wide out-of-order core, in quarters of a cycle: a fused
 * micro-op is one quarter; what uses a port that is alone, or waits, is more.
 */
static void cost(const ZydisDecodedInstruction *in, struct decode_insn *out)
{
	unsigned c = 1, latency = 1;

	for (int i = 0; i < out->n_mem; i++) {
		c += out->mem[i].elements;
		if (out->mem[i].flags & DECODE_MEM_READ)
			latency = 5;
	}
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
		c += 4;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
		c += 1;
		break;
	case ZYDIS_CATEGORY_STRINGOP:
		c += out->is_rep ? 80 : 4;
		break;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		c += 200;
		break;
	default:
		break;
	}
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		c += in->operand_width == 64 ? 60 : 28;
		latency += 20;
		break;
	case ZYDIS_MNEMONIC_DIVSS:
	case ZYDIS_MNEMONIC_DIVSD:
	case ZYDIS_MNEMONIC_DIVPS:
	case ZYDIS_MNEMONIC_DIVPD:
	case ZYDIS_MNEMONIC_SQRTSS:
	case ZYDIS_MNEMONIC_SQRTSD:
	case ZYDIS_MNEMONIC_SQRTPS:
	case ZYDIS_MNEMONIC_SQRTPD:
		c += 16;
		latency += 12;
		break;
	case ZYDIS_MNEMONIC_MUL:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_MULX:
	case ZYDIS_MNEMONIC_POPCNT:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
		c += 2;
		latency += 2;
		break;
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
		c += 80;
		break;
	case ZYDIS_MNEMONIC_MFENCE:
		c += 120;
		break;
	case ZYDIS_MNEMONIC_PAUSE:
		c += 160;
		break;
	case ZYDIS_MNEMONIC_XCHG:
		c += out->n_mem ? 72 : 2;
		break;
	default:
		break;
	}
	if (in->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		c += 72;
	if (out->is_nop)
		c = 1;
	out->cycles4 = (uint8_t)(c > 255 ? 255 : c);
	out->latency = (uint8_t)(latency > 255 ? 255 : latency);
}

static int status(ZyanStatus st)
{
	return st == ZYDIS_STATUS_NO_MORE_DATA ? -ENODATA : ZYAN_SUCCESS(st) ? 0 : -EINVAL;
}

int decode_flow(const uint8_t *code, size_t n, bool is32, struct decode_insn *out)
{
	ZydisDecodedInstruction in;
	int err = n ? status(ZydisDecoderDecodeInstruction(decoder_for(is32), NULL, code, n, &in)) : -ENODATA;

	if (err)
		return err;
	out->len = in.length;
	out->flow = DECODE_NEXT;
	out->target = 0;
	flow(&in, out);
	return 0;
}

int decode(const uint8_t *code, size_t n, bool is32, struct decode_insn *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	int err;

	memset(out, 0, sizeof(*out));
	if (!n)
		return -ENODATA;
	err = status(ZydisDecoderDecodeFull(decoder_for(is32), code, n, &in, ops));
	if (err)
		return err;
	out->len = in.length;
	out->is_nop = in.meta.category == ZYDIS_CATEGORY_NOP ||
		      in.meta.category == ZYDIS_CATEGORY_WIDENOP ||
		      in.mnemonic == ZYDIS_MNEMONIC_NOP ||
		      in.mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
		      in.mnemonic == ZYDIS_MNEMONIC_ENDBR32;
	memory(&in, ops, is32, out);
	flow(&in, out);
	if (out->flow == DECODE_INDIRECT && ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		out->jump_reg = decode_gpr(ops[0].reg.value);
	decode_registers(&in, ops, is32, out);
	cost(&in, out);
	return 0;
}
