// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walk_insn.h"

#include <errno.h>
#include <string.h>

#include "walk_cpu.h"
#include "walk_stub.h"

enum { RSP = 4, RCX = 1, CANARY = 0x28 };

/* ---- what kind it is ---- */

/* Condition of a conditional jump as in its opcode. */
static uint8_t condition(const ZydisDecodedInstruction *z)
{
	return z->opcode & 15;
}

static enum walk_kind branch_kind(const ZydisDecodedInstruction *z,
				  const ZydisDecodedOperand *ops)
{
	bool direct = z->operand_count_visible &&
		      ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return WALK_NOT_DONE;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		return direct ? WALK_JUMP : WALK_JUMP_TO;
	case ZYDIS_MNEMONIC_CALL:
		return direct ? WALK_CALL : WALK_CALL_TO;
	case ZYDIS_MNEMONIC_RET:
		return WALK_RET;
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		return z->address_width == 64 ? WALK_LOOP : WALK_NOT_DONE;
	default:
		break;
	}
	return z->meta.category == ZYDIS_CATEGORY_COND_BR ? WALK_JCC
							  : WALK_NOT_DONE;
}

static enum walk_kind string_kind(struct walk_insn *in,
				  const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_MOVSB:
	case ZYDIS_MNEMONIC_MOVSW:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSQ:
		in->cond = WALK_MOVS;
		break;
	case ZYDIS_MNEMONIC_STOSB:
	case ZYDIS_MNEMONIC_STOSW:
	case ZYDIS_MNEMONIC_STOSD:
	case ZYDIS_MNEMONIC_STOSQ:
		in->cond = WALK_STOS;
		break;
	case ZYDIS_MNEMONIC_LODSB:
	case ZYDIS_MNEMONIC_LODSW:
	case ZYDIS_MNEMONIC_LODSD:
	case ZYDIS_MNEMONIC_LODSQ:
		in->cond = WALK_LODS;
		break;
	case ZYDIS_MNEMONIC_SCASB:
	case ZYDIS_MNEMONIC_SCASW:
	case ZYDIS_MNEMONIC_SCASD:
	case ZYDIS_MNEMONIC_SCASQ:
		in->cond = WALK_SCAS;
		break;
	case ZYDIS_MNEMONIC_CMPSB:
	case ZYDIS_MNEMONIC_CMPSW:
	case ZYDIS_MNEMONIC_CMPSD:
	case ZYDIS_MNEMONIC_CMPSQ:
		in->cond = WALK_CMPS;
		break;
	default:
		return WALK_NOT_DONE;
	}
	in->width = (uint8_t)(z->operand_width / 8);
	if (z->opcode % 2 == 0)
		in->width = 1;
	in->rep =
		z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE);
	in->repne = z->attributes & ZYDIS_ATTRIB_HAS_REPNE;
	return z->address_width == 64 &&
			       !(z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT)
		       ? WALK_STRING
		       : WALK_NOT_DONE;
}

/* Those that are not what their category is, or are to be done apart. */
static enum walk_kind special_kind(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_ENDBR64:
	case ZYDIS_MNEMONIC_ENDBR32:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_SFENCE:
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_RDSSPD:
	case ZYDIS_MNEMONIC_RDSSPQ:
		return WALK_NOTHING;
	case ZYDIS_MNEMONIC_LEA:
		return WALK_LEA;
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_TPAUSE:
	case ZYDIS_MNEMONIC_UMWAIT:
		return WALK_PAUSE;
	case ZYDIS_MNEMONIC_PUSH:
		return WALK_PUSH;
	case ZYDIS_MNEMONIC_POP:
		return WALK_POP;
	case ZYDIS_MNEMONIC_LEAVE:
		return WALK_LEAVE;
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		return WALK_DIVIDE;
	case ZYDIS_MNEMONIC_VZEROUPPER:
		return WALK_VZEROUPPER;
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
		return WALK_SYSTEM_CALL;
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
	case ZYDIS_MNEMONIC_XGETBV:
	case ZYDIS_MNEMONIC_STMXCSR:
	case ZYDIS_MNEMONIC_VSTMXCSR:
		return WALK_OPAQUE;
	case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_VLDMXCSR:
		return WALK_NOTHING; /* the ways of rounding are taken to be the usual ones */
	case ZYDIS_MNEMONIC_VZEROALL:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MOVDIR64B:
	case ZYDIS_MNEMONIC_ENQCMD:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_CLI:
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_XLAT:
		return WALK_NOT_DONE;
	default:
		return WALK_STUB;
	}
}

static enum walk_kind category_kind(const ZydisDecodedInstruction *z)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		return WALK_NOTHING;
	case ZYDIS_CATEGORY_X87_ALU:
	case ZYDIS_CATEGORY_FCMOV:
	case ZYDIS_CATEGORY_MMX:
	case ZYDIS_CATEGORY_AVX2GATHER:
	case ZYDIS_CATEGORY_GATHER:
		return WALK_OPAQUE;
	case ZYDIS_CATEGORY_ADOX_ADCX:
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_LOGICAL_FP:
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_ROTATE:
	case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_CMOV:
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_CONVERT:
	case ZYDIS_CATEGORY_FLAGOP:
	case ZYDIS_CATEGORY_SEMAPHORE:
	case ZYDIS_CATEGORY_SSE:
	case ZYDIS_CATEGORY_AVX:
	case ZYDIS_CATEGORY_AVX2:
	case ZYDIS_CATEGORY_AVX512:
	case ZYDIS_CATEGORY_AVX512_VBMI:
	case ZYDIS_CATEGORY_VBMI2:
	case ZYDIS_CATEGORY_IFMA:
	case ZYDIS_CATEGORY_VFMA:
	case ZYDIS_CATEGORY_BMI1:
	case ZYDIS_CATEGORY_BMI2:
	case ZYDIS_CATEGORY_LZCNT:
	case ZYDIS_CATEGORY_AES:
	case ZYDIS_CATEGORY_VAES:
	case ZYDIS_CATEGORY_PCLMULQDQ:
	case ZYDIS_CATEGORY_VPCLMULQDQ:
	case ZYDIS_CATEGORY_SHA:
	case ZYDIS_CATEGORY_GFNI:
	case ZYDIS_CATEGORY_KMASK:
	case ZYDIS_CATEGORY_BLEND:
	case ZYDIS_CATEGORY_BROADCAST:
	case ZYDIS_CATEGORY_EXPAND:
	case ZYDIS_CATEGORY_COMPRESS:
	case ZYDIS_CATEGORY_STTNI:
		return WALK_STUB;
	default:
		return WALK_NOT_DONE;
	}
}

static enum walk_kind kind_of(struct walk_insn *in,
			      const ZydisDecodedInstruction *z,
			      const ZydisDecodedOperand *ops)
{
	enum walk_kind k;

	switch (z->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return branch_kind(z, ops);
	case ZYDIS_CATEGORY_STRINGOP:
		return string_kind(in, z);
	default:
		break;
	}
	if (z->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
		return WALK_NOT_DONE;
	k = special_kind(z);
	return k == WALK_STUB ? category_kind(z) : k;
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
		in->vec_read[in->n_vec_read++] = u;
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
	if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && m->write &&
	    in->k_read)
		m->read = true;
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
	in->kind = (uint8_t)kind_of(in, &z, ops);
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
