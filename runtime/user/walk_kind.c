// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walk_kind.h"

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
	case ZYDIS_MNEMONIC_XBEGIN:
		return WALK_NOT_DONE;
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
	/* By opcode (Intel SDM, volume 2): the lowest bit tells bytes from wider ones. */
	switch (z->opcode & 0xfe) {
	case 0xa4:
		in->cond = WALK_MOVS;
		break;
	case 0xa6:
		in->cond = WALK_CMPS;
		break;
	case 0xaa:
		in->cond = WALK_STOS;
		break;
	case 0xac:
		in->cond = WALK_LODS;
		break;
	case 0xae:
		in->cond = WALK_SCAS;
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
	case ZYDIS_MNEMONIC_RDSSPD:
	case ZYDIS_MNEMONIC_RDSSPQ:
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

enum walk_kind walk_kind_of(struct walk_insn *in,
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
