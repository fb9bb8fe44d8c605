// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walk_stub.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

enum { RSP = 4, RDI = 7, STUB_MOST = 1024 };

/* Which registers a stub loads and stores, and those that it has for itself. */
struct plan {
	uint8_t *at;
	uint16_t gprs; /* the instruction's, without RSP */
	uint32_t vecs;
	uint8_t ks;
	uint8_t base; /* holds the state's address */
	uint8_t stack; /* stands for RSP; WALK_NO_REG: the instruction has none */
	uint8_t wide; /* bytes of a vector register */
};

int walk_room_init(struct walk_room *r, size_t size)
{
	int fd = memfd_create("hotvar-walk", MFD_CLOEXEC | MFD_EXEC), err;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("hotvar-walk", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	*r = (struct walk_room){
		.size = size, .write = MAP_FAILED, .execute = MAP_FAILED};
	if (!ftruncate(fd, (off_t)size)) {
		r->write = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
				fd, 0);
		r->execute = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED,
				  fd, 0);
	}
	err = r->write == MAP_FAILED || r->execute == MAP_FAILED ? -errno : 0;
	close(fd);
	if (err)
		walk_room_fini(r);
	return err;
}

void walk_room_fini(struct walk_room *r)
{
	if (r->write != MAP_FAILED && r->write)
		munmap(r->write, r->size);
	if (r->execute != MAP_FAILED && r->execute)
		munmap(r->execute, r->size);
	memset(r, 0, sizeof(*r));
}

uint8_t walk_gpr(ZydisRegister r)
{
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return (uint8_t)ZydisRegisterGetId(
			ZydisRegisterGetLargestEnclosing(
				ZYDIS_MACHINE_MODE_LONG_64, r));
	default:
		return WALK_NO_REG;
	}
}

/* ---- bytes ---- */

static void put(struct plan *p, const void *bytes, size_t n)
{
	memcpy(p->at, bytes, n);
	p->at += n;
}

static void put1(struct plan *p, uint8_t byte)
{
	*p->at++ = byte;
}

/* ModRM of @reg and [base + offset]. */
static void put_operand(struct plan *p, uint8_t reg, size_t offset)
{
	uint32_t disp = (uint32_t)offset;

	put1(p, (uint8_t)(0x80 | (reg & 7) << 3 | (p->base & 7)));
	put(p, &disp, sizeof(disp));
}

/* mov between a register and [base + offset]. */
static void put_mov(struct plan *p, bool load, uint8_t reg, size_t offset)
{
	put1(p, (uint8_t)(0x48 | (reg >> 3) << 2 | p->base >> 3));
	put1(p, load ? 0x8b : 0x89);
	put_operand(p, reg, offset);
}

/* movups of 16, 32 or 64 bytes. */
static void put_vec(struct plan *p, bool load, uint8_t reg)
{
	uint8_t op = load ? 0x10 : 0x11, r = reg >> 3 & 1, b = p->base >> 3;

	if (p->wide == 16) {
		put1(p, (uint8_t)(0x40 | r << 2 | b));
		put1(p, 0x0f);
	} else if (p->wide == 32) {
		put1(p, 0xc4);
		put1(p, (uint8_t)(!r << 7 | 1 << 6 | !b << 5 | 1));
		put1(p, 0x7c);
	} else {
		put1(p, 0x62);
		put1(p, (uint8_t)(!r << 7 | 1 << 6 | !b << 5 |
				  !(reg >> 4) << 4 | 1));
		put1(p, 0x7c);
		put1(p, 0x48);
	}
	put1(p, op);
	put_operand(p, reg,
		    offsetof(struct walk_state, vec) + (size_t)reg * 64);
}

/* kmovq */
static void put_k(struct plan *p, bool load, uint8_t reg)
{
	put1(p, 0xc4);
	put1(p, (uint8_t)(1 << 7 | 1 << 6 | !(p->base >> 3) << 5 | 1));
	put1(p, 0xf8);
	put1(p, load ? 0x90 : 0x91);
	put_operand(p, reg, offsetof(struct walk_state, k) + (size_t)reg * 8);
}

/* push or pop of [base + offset of flags] */
static void put_flags_operand(struct plan *p, uint8_t op, uint8_t digit)
{
	if (p->base >> 3)
		put1(p, 0x41);
	put1(p, op);
	put_operand(p, digit, offsetof(struct walk_state, flags));
}

static void put_registers(struct plan *p, bool load)
{
	for (uint8_t r = 0; r < WALK_GPRS; r++)
		if (p->gprs & 1u << r)
			put_mov(p, load, r,
				offsetof(struct walk_state, gpr) +
					(size_t)r * 8);
	if (p->stack != WALK_NO_REG)
		put_mov(p, load, p->stack,
			offsetof(struct walk_state, gpr) + RSP * 8);
	for (uint8_t r = 0; r < WALK_VECS; r++)
		if (p->vecs & 1u << r)
			put_vec(p, load, r);
	for (uint8_t r = 0; r < WALK_KS; r++)
		if (p->ks & 1u << r)
			put_k(p, load, r);
}

/* Those that a function must keep. */
static void put_kept(struct plan *p, bool push)
{
	static const uint8_t kept[] = {3, 5, 12, 13, 14, 15};
	uint32_t used = p->gprs | 1u << p->base |
			(p->stack != WALK_NO_REG ? 1u << p->stack : 0);

	for (size_t i = 0; i < sizeof(kept); i++) {
		uint8_t r = kept[push ? i : sizeof(kept) - 1 - i];

		if (!(used & 1u << r))
			continue;
		if (r >> 3)
			put1(p, 0x41);
		put1(p, (uint8_t)((push ? 0x50 : 0x58) | (r & 7)));
	}
}

/* ---- the instruction itself ---- */

/* Register @r, with RSP in all its widths as @stack. */
static ZydisRegister in_place_of_stack(ZydisRegister r, uint8_t stack)
{
	ZydisRegisterClass c = ZydisRegisterGetClass(r);

	if (walk_gpr(r) != RSP)
		return r;
	if (c ==
	    ZYDIS_REGCLASS_GPR8) /* the first four have a second part, which are numbered in between */
		return (ZydisRegister)(stack < 4 ? ZYDIS_REGISTER_AL + stack
						 : ZYDIS_REGISTER_SPL +
							   (stack - 4));
	return ZydisRegisterEncode(c, stack);
}

static int encode(const struct plan *p, const ZydisDecodedInstruction *z,
		  const ZydisDecodedOperand *ops, uint8_t *out, size_t *len)
{
	ZydisEncoderRequest r;
	ZyanUSize n = WALK_CODE;

	if (ZYAN_FAILED(ZydisEncoderDecodedInstructionToEncoderRequest(
		    z, ops, z->operand_count_visible, &r)))
		return -EINVAL;
	r.prefixes &= ~(ZydisInstructionAttributes)ZYDIS_ATTRIB_HAS_SEGMENT;
	r.address_size_hint = ZYDIS_ADDRESS_SIZE_HINT_NONE;
	for (uint32_t i = 0; i < r.operand_count; i++) {
		ZydisEncoderOperand *o = &r.operands[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    p->stack != WALK_NO_REG)
			o->reg.value =
				in_place_of_stack(o->reg.value, p->stack);
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		o->mem.base =
			ZydisRegisterEncode(ZYDIS_REGCLASS_GPR64, p->base);
		o->mem.index = ZYDIS_REGISTER_NONE;
		o->mem.scale = 0;
		o->mem.displacement = offsetof(struct walk_state, slot);
	}
	if (ZYAN_FAILED(ZydisEncoderEncodeInstruction(&r, out, &n)))
		return -EINVAL;
	*len = n;
	return 0;
}

/* One that the instruction does not use; WALK_NO_REG: it uses all.  RSP and R12 take another form of address. */
static uint8_t spare(uint32_t used)
{
	static const uint8_t order[] = {7, 6, 2,  1,  0,  3,  5,
					8, 9, 10, 11, 13, 14, 15};

	for (size_t i = 0; i < sizeof(order); i++)
		if (!(used & 1u << order[i]))
			return order[i];
	return WALK_NO_REG;
}

static int make_plan(struct plan *p, const struct walk_insn *in,
		     const ZydisDecodedInstruction *z)
{
	uint32_t all = in->gpr_read | in->gpr_written;

	p->gprs = (uint16_t)(all & ~(1u << RSP));
	p->base = spare(p->gprs | 1u << RSP);
	if (p->base == WALK_NO_REG)
		return -EINVAL;
	p->stack = WALK_NO_REG;
	if (all & 1u << RSP)
		p->stack = spare(p->gprs | 1u << RSP | 1u << p->base);
	if (all & 1u << RSP && p->stack == WALK_NO_REG)
		return -EINVAL;
	for (unsigned i = 0; i < in->n_vec_read; i++)
		p->vecs |= 1u << in->vec_read[i].reg;
	for (unsigned i = 0; i < in->n_vec_written; i++)
		p->vecs |= 1u << in->vec_written[i].reg;
	p->ks = (uint8_t)((in->k_read | in->k_written) & 0xff);
	p->wide = z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX  ? 64
		  : z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ? 32
								  : 16;
	return 0;
}

int walk_stub_make(struct walk_insn *in, const ZydisDecodedInstruction *z,
		   const ZydisDecodedOperand *ops, struct walk_room *room)
{
	uint8_t code[WALK_CODE], *begin = room->write + room->used;
	struct plan p = {.at = begin};
	uint32_t status = WALK_STATUS | WALK_DF;
	size_t len;
	int err = make_plan(&p, in, z);

	err = err ? err : encode(&p, z, ops, code, &len);
	if (err)
		return err;
	if (room->size - room->used < STUB_MOST)
		return -ENOSPC;
	put_kept(&p, true);
	if (p.base != RDI) {
		put1(&p, (uint8_t)(0x48 | p.base >> 3));
		put1(&p, 0x89);
		put1(&p, (uint8_t)(0xc0 | RDI << 3 | (p.base & 7)));
	}
	if (in->flags_read | in->flags_written) {
		put_flags_operand(&p, 0xff, 6);
		put1(&p, 0x9d);
	}
	put_registers(&p, true);
	put(&p, code, len);
	put_registers(&p, false);
	if (in->flags_read | in->flags_written) {
		put1(&p, 0x9c);
		put_flags_operand(&p, 0x8f, 0);
		put_flags_operand(
			&p, 0x81,
			4); /* and: no trap flag, whatever watches us */
		put(&p, &status, sizeof(status));
		put1(&p, 0xfc);
	}
	if (p.vecs && p.wide > 16)
		put(&p, "\xc5\xf8\x77", 3);
	put_kept(&p, false);
	put1(&p, 0xc3);
	in->stub = (void (*)(struct walk_state *))(uintptr_t)(room->execute +
							      room->used);
	room->used += (size_t)(p.at - begin);
	return 0;
}
