// SPDX-License-Identifier: GPL-2.0-or-later
/* hvk_step.c - see hvk_step.h.  Only instructions without a memory operand come here. */
#include "hvk_step.h"

#define HVK_FLAG_CF 0x1
#define HVK_FLAG_PF 0x4
#define HVK_FLAG_ZF 0x40
#define HVK_FLAG_SF 0x80
#define HVK_FLAG_OF 0x800

/* Bytes that an operand of @i has, of its own size or, for even opcodes of the old ones, one. */
static u32 hvk_step_bytes(const struct hvk_insn *i)
{
	return i->op & 1 ? i->in.opnd_bytes : 1;
}

/* r[@n] is @value, of @bytes: what is shorter than 4 leaves the rest, which is not worth keeping. */
static void hvk_step_set(struct hvk_cpu *c, u32 n, u32 bytes, u64 value)
{
	if (bytes < 4) {
		/* One byte of numbers 4 to 7 may be ah to bh: both go. */
		c->known &= ~(1u << n);
		if (bytes == 1)
			c->known &= ~(1u << (n & 3));
		return;
	}
	c->r[n] = bytes == 4 || !c->wide ? (u32)value : value;
	c->known |= 1u << n;
}

static void hvk_step_forget(struct hvk_cpu *c, u32 n)
{
	c->known &= ~(1u << n);
	if (n >= 4 && n < 8)
		c->known &= ~(1u << (n & 3)); /* as above */
}

/* Does the condition of jcc, setcc, cmovcc with the low bits @cc hold? */
static bool hvk_step_holds(u64 flags, u32 cc)
{
	bool cf = flags & HVK_FLAG_CF, zf = flags & HVK_FLAG_ZF, sf = flags & HVK_FLAG_SF;
	bool of = flags & HVK_FLAG_OF, is = false;

	switch (cc >> 1) {
	case 0:
		is = of;
		break;
	case 1:
		is = cf;
		break;
	case 2:
		is = zf;
		break;
	case 3:
		is = cf || zf;
		break;
	case 4:
		is = sf;
		break;
	case 5:
		is = flags & HVK_FLAG_PF;
		break;
	case 6:
		is = sf != of;
		break;
	case 7:
		is = zf || sf != of;
		break;
	}
	return is != (cc & 1);
}

/* Flags, but for those nobody branches on, after @a op @b = @value; @op as bits 3 to 5 of the opcode. */
static void hvk_step_flags(struct hvk_cpu *c, u32 op, u64 a, u64 b, u64 value, u32 bytes)
{
	u64 top = 1ull << (bytes * 8 - 1), mask = top | (top - 1);
	u64 f = 0;

	a &= mask;
	b &= mask;
	value &= mask;
	if (!value)
		f |= HVK_FLAG_ZF;
	if (value & top)
		f |= HVK_FLAG_SF;
	if (!(hweight8(value & 0xff) & 1))
		f |= HVK_FLAG_PF;
	if (op == 0 ? value < a : (op == 5 || op == 7) && a < b)
		f |= HVK_FLAG_CF;
	if (op == 0 ? (a ^ value) & (b ^ value) & top : (op == 5 || op == 7) && (a ^ b) & (a ^ value) & top)
		f |= HVK_FLAG_OF;
	c->flags = f;
	c->flags_known = true;
}

/* add or adc sbb and sub xor cmp, as bits 3 to 5 of the opcode: r[@to] op= @b, which @is_known. */
static void hvk_step_alu(struct hvk_cpu *c, u32 op, u32 to, u64 b, bool is_known, u32 bytes)
{
	u64 a = c->r[to], value = 0;

	c->flags_known = false;
	if (op == 2 || op == 3 || bytes < 4 || !is_known || !(c->known >> to & 1)) {
		if (op != 7)
			hvk_step_forget(c, to);
		return;
	}
	switch (op) {
	case 0:
		value = a + b;
		break;
	case 1:
		value = a | b;
		break;
	case 4:
		value = a & b;
		break;
	case 6:
		value = a ^ b;
		break;
	default:
		value = a - b;
		break;
	}
	hvk_step_flags(c, op, a, b, value, bytes);
	if (op != 7)
		hvk_step_set(c, to, bytes, value);
}

/* The rows 00 to 3f: op r/m, reg; op reg, r/m; op ax, immediate. */
static int hvk_step_alus(struct hvk_cpu *c, const struct hvk_insn *i)
{
	u32 op = i->op >> 3, bytes = hvk_step_bytes(i), to = i->rm, from = i->reg;

	if ((i->op & 7) > 5)
		return -ENODATA; /* decimal adjusting */
	if ((i->op & 7) > 3) {
		hvk_step_alu(c, op, 0, (s64)(s32)i->in.immediate.value, true, bytes);
		return 0;
	}
	if (i->op & 2) {
		to = i->reg;
		from = i->rm;
	}
	if (op == 6 && to == from && bytes >= 4) { /* xor r, r: 0, whatever it was */
		hvk_step_flags(c, op, 0, 0, 0, bytes);
		hvk_step_set(c, to, bytes, 0);
		return 0;
	}
	hvk_step_alu(c, op, to, c->r[from], c->known >> from & 1, bytes);
	return 0;
}

/* test: only flags */
static void hvk_step_test(struct hvk_cpu *c, u32 a, u64 b, bool is_known, u32 bytes)
{
	c->flags_known = false;
	if (bytes >= 4 && is_known && c->known >> a & 1)
		hvk_step_flags(c, 4, c->r[a], b, c->r[a] & b, bytes);
}

/* inc and dec leave the carry, so only the others are known after one. */
static void hvk_step_inc(struct hvk_cpu *c, u32 n, s64 by, u32 bytes)
{
	u64 carry = c->flags & HVK_FLAG_CF;
	bool were_known = c->flags_known;

	hvk_step_alu(c, by > 0 ? 0 : 5, n, 1, true, bytes);
	c->flags = (c->flags & ~(u64)HVK_FLAG_CF) | carry;
	c->flags_known &= were_known;
}

static void hvk_step_mov(struct hvk_cpu *c, u32 to, u32 from, u32 bytes)
{
	if (c->known >> from & 1)
		hvk_step_set(c, to, bytes, c->r[from]);
	else
		hvk_step_forget(c, to);
}

static int hvk_step_lea(struct hvk_cpu *c, const struct hvk_insn *i)
{
	u64 ea;

	if (hvk_insn_ea(c, i, &ea))
		hvk_step_forget(c, i->reg);
	else
		hvk_step_set(c, i->reg, i->in.opnd_bytes, ea);
	return 0;
}

/* shl by an immediate is exact, other shifts and rotations are forgotten. */
static void hvk_step_shift(struct hvk_cpu *c, const struct hvk_insn *i)
{
	u32 bytes = hvk_step_bytes(i), by = i->op < 0xd0 ? i->in.immediate.bytes[0] : 1;
	bool is_known = c->known >> i->rm & 1 && bytes >= 4 && i->op != 0xd3 && i->op != 0xd2;

	c->flags_known = false;
	by &= bytes == 8 ? 63 : 31;
	if (is_known && ((i->reg & 7) == 4 || (i->reg & 7) == 6))
		hvk_step_set(c, i->rm, bytes, c->r[i->rm] << by);
	else if (is_known && (i->reg & 7) == 5)
		hvk_step_set(c, i->rm, bytes, (bytes == 4 ? (u32)c->r[i->rm] : c->r[i->rm]) >> by);
	else
		hvk_step_forget(c, i->rm);
}

/* f6 f7: test not neg mul imul div idiv */
static void hvk_step_unary(struct hvk_cpu *c, const struct hvk_insn *i)
{
	u32 reg = i->reg & 7, bytes = hvk_step_bytes(i);

	if (reg < 2) {
		hvk_step_test(c, i->rm, (s64)(s32)i->in.immediate.value, true, bytes);
		return;
	}
	if (reg > 2)
		c->flags_known = false;
	if (reg > 3) {
		hvk_step_forget(c, 0);
		hvk_step_forget(c, 2);
	} else {
		hvk_step_forget(c, i->rm);
	}
}

/* To @by from the next instruction. */
static int hvk_step_jump(struct hvk_cpu *c, const struct hvk_insn *i)
{
	s64 by = (s32)i->in.immediate.value;

	if (i->narrow)
		return -ENODATA;
	c->ip += by;
	return 0;
}

static int hvk_step_jcc(struct hvk_cpu *c, const struct hvk_insn *i)
{
	if (!c->flags_known)
		return -ENODATA;
	return hvk_step_holds(c->flags, i->op & 15) ? hvk_step_jump(c, i) : 0;
}

/* jmp of a register, inc, dec */
static int hvk_step_ff(struct hvk_cpu *c, const struct hvk_insn *i)
{
	u32 reg = i->reg & 7;

	if (reg < 2) {
		hvk_step_inc(c, i->rm, reg ? -1 : 1, hvk_step_bytes(i));
		return 0;
	}
	if (reg != 4 || i->op != 0xff || !(c->known >> i->rm & 1))
		return -ENODATA;
	c->ip = c->r[i->rm];
	return 0;
}

static int hvk_step_one_byte(struct hvk_cpu *c, const struct hvk_insn *i)
{
	u32 bytes = hvk_step_bytes(i), low = (i->op & 7) | (i->rm & 8);

	switch (i->op) {
	case 0x00 ... 0x3f:
		return hvk_step_alus(c, i);
	case 0x40 ... 0x4f: /* of 32-bit code only */
		hvk_step_inc(c, i->op & 7, i->op & 8 ? -1 : 1, i->in.opnd_bytes);
		return 0;
	case 0x63:
		if (!c->wide)
			return -ENODATA;
		if (c->known >> i->rm & 1)
			hvk_step_set(c, i->reg, i->in.opnd_bytes, (s64)(s32)c->r[i->rm]);
		else
			hvk_step_forget(c, i->reg);
		return 0;
	case 0x69: case 0x6b:
		c->flags_known = false;
		hvk_step_forget(c, i->reg);
		return 0;
	case 0x70 ... 0x7f:
		return hvk_step_jcc(c, i);
	case 0x80 ... 0x83:
		hvk_step_alu(c, i->reg & 7, i->rm, (s64)(s32)i->in.immediate.value, true, bytes);
		return 0;
	case 0x84: case 0x85:
		hvk_step_test(c, i->rm, c->r[i->reg], c->known >> i->reg & 1, bytes);
		return 0;
	case 0x86: case 0x87:
		hvk_step_forget(c, i->rm);
		hvk_step_forget(c, i->reg);
		return 0;
	case 0x88: case 0x89:
		hvk_step_mov(c, i->rm, i->reg, bytes);
		return 0;
	case 0x8a: case 0x8b:
		hvk_step_mov(c, i->reg, i->rm, bytes);
		return 0;
	case 0x8d:
		return hvk_step_lea(c, i);
	case 0x90 ... 0x97:
		if (low) {
			hvk_step_forget(c, 0);
			hvk_step_forget(c, low);
		}
		return 0;
	case 0x98: /* cdqe */
		hvk_step_forget(c, 0);
		return 0;
	case 0x99: /* cdq */
		hvk_step_forget(c, 2);
		return 0;
	case 0xa8: case 0xa9:
		hvk_step_test(c, 0, (s64)(s32)i->in.immediate.value, true, bytes);
		return 0;
	case 0xb0 ... 0xb7:
		hvk_step_forget(c, low);
		return 0;
	case 0xb8 ... 0xbf:
		hvk_step_set(c, low, i->in.opnd_bytes, i->in.opnd_bytes != 8 ? (u32)i->in.immediate.value :
			     (u32)i->in.immediate1.value | (u64)(u32)i->in.immediate2.value << 32);
		return 0;
	case 0xc0: case 0xc1: case 0xd0 ... 0xd3:
		hvk_step_shift(c, i);
		return 0;
	case 0xc6: case 0xc7:
		if (i->reg & 7)
			return -ENODATA;
		hvk_step_set(c, i->rm, bytes, (s64)(s32)i->in.immediate.value);
		return 0;
	case 0x6c ... 0x6f: case 0xa4 ... 0xa7: case 0xaa ... 0xaf: /* repeated, 0 times */
	case 0xfc: case 0xfd: /* cld, std */
		return 0;
	case 0xe9: case 0xeb:
		return hvk_step_jump(c, i);
	case 0xf5:
		c->flags ^= HVK_FLAG_CF;
		return 0;
	case 0xf8:
		c->flags &= ~(u64)HVK_FLAG_CF;
		return 0;
	case 0xf9:
		c->flags |= HVK_FLAG_CF;
		return 0;
	case 0xf6: case 0xf7:
		hvk_step_unary(c, i);
		return 0;
	case 0xfe: case 0xff:
		return hvk_step_ff(c, i);
	}
	return -ENODATA;
}

/* Does @i of map 0f only move, sum or compare vectors into vectors? */
static bool hvk_step_is_vector(const struct hvk_insn *i)
{
	switch (i->op) {
	case 0x10 ... 0x17: case 0x28: case 0x29:
	case 0x51 ... 0x6f: case 0x70 ... 0x76:
	case 0x7c: case 0x7d: case 0x7f: case 0xc2: case 0xc4: case 0xc6: case 0xd0 ... 0xd6:
	case 0xd8 ... 0xe6: case 0xe8 ... 0xef: case 0xf1 ... 0xf6: case 0xf8 ... 0xfe:
		return true;
	}
	return false;
}

/* 0f 38 and 0f 3a: to vectors, but for some */
static int hvk_step_0f38(struct hvk_cpu *c, const struct hvk_insn *i)
{
	if (i->op >= 0xe0)
		return -ENODATA;
	if (i->op == 0x17 || i->op == 0x0e || i->op == 0x0f)
		c->flags_known = false;
	return 0;
}

static int hvk_step_0f3a(struct hvk_cpu *c, const struct hvk_insn *i)
{
	if (i->op >= 0xe0)
		return -ENODATA;
	if (i->op >= 0x14 && i->op < 0x18)
		hvk_step_forget(c, i->rm);
	if (i->op >= 0x60 && i->op < 0x64) {
		hvk_step_forget(c, 1);
		c->flags_known = false;
	}
	return 0;
}

static int hvk_step_0f(struct hvk_cpu *c, const struct hvk_insn *i)
{
	if (hvk_step_is_vector(i))
		return 0;
	if (i->vex)
		return -ENODATA;
	switch (i->op) {
	case 0x0d: case 0x18 ... 0x1d: case 0x1f: /* nop, prefetch */
	case 0x2a:
		return 0;
	case 0x1e: /* endbr, or rdssp of a shadow stack */
		return i->mod == 3 && i->pp == 2 && i->in.modrm.bytes[0] != 0xfa &&
		       i->in.modrm.bytes[0] != 0xfb ? -ENODATA : 0;
	case 0x2e: case 0x2f: /* comparisons */
	case 0xa3: case 0xba:
		c->flags_known = false;
		if (i->op == 0xba && (i->reg & 7) != 4)
			hvk_step_forget(c, i->rm);
		return 0;
	case 0x40 ... 0x4f:
		if (c->flags_known && (i->in.opnd_bytes == 8 || hvk_step_holds(c->flags, i->op & 15))) {
			if (hvk_step_holds(c->flags, i->op & 15))
				hvk_step_mov(c, i->reg, i->rm, i->in.opnd_bytes);
		} else {
			hvk_step_forget(c, i->reg);
		}
		return 0;
	case 0x50: case 0x2c: case 0x2d: case 0xc5: case 0xd7: /* out of a vector */
		hvk_step_forget(c, i->reg);
		return 0;
	case 0x7e:
		if (i->pp != 2)
			hvk_step_forget(c, i->rm);
		return 0;
	case 0x80 ... 0x8f:
		return hvk_step_jcc(c, i);
	case 0x90 ... 0x9f:
		hvk_step_forget(c, i->rm);
		return 0;
	case 0xaf: case 0xb8: case 0xbc: case 0xbd:
		c->flags_known = false;
		hvk_step_forget(c, i->reg);
		return 0;
	case 0xb6: case 0xb7: case 0xbe: case 0xbf: /* movzx, movsx: of a word that is known; a byte may be ah */
		if (i->op == 0xb7 && c->known >> i->rm & 1)
			hvk_step_set(c, i->reg, i->in.opnd_bytes, (u16)c->r[i->rm]);
		else
			hvk_step_forget(c, i->reg);
		return 0;
	}
	return -ENODATA;
}

/* Run @i, which accesses no memory; 0, or -ENODATA if what it does is not known. */
static int hvk_step(struct hvk_cpu *c, const struct hvk_insn *i)
{
	u64 next = c->ip + i->in.length, was = c->ip;
	int err = -ENODATA;

	c->ip = next;
	if (i->map == 1 && i->op == 0x8d)
		c->ip = was; /* rip is reckoned from here by hvk_insn_ea() */
	if (i->map == 1)
		err = hvk_step_one_byte(c, i);
	else if (i->map == 2)
		err = hvk_step_0f(c, i);
	else if (i->map == 3)
		err = hvk_step_0f38(c, i);
	else if (i->map == 4)
		err = hvk_step_0f3a(c, i);
	if (i->map == 1 && i->op == 0x8d)
		c->ip = next;
	if (!c->wide)
		c->ip = (u32)c->ip;
	return err;
}

HVK_API int hvk_step_next(struct pt_regs *regs, struct hvk_accesses *out)
{
	struct hvk_insn i;
	struct hvk_cpu c;
	int n = hvk_cpu_init(&c, regs);
	u32 steps;

	for (steps = 0; !n && steps < HVK_STEPS; steps++) {
		n = hvk_insn_read(&c, &i);
		if (!n)
			n = hvk_insn_accesses(&c, &i, out);
		if (!n)
			n = hvk_step(&c, &i);
		out->steps = steps;
	}
	return n ? n : -ENODATA;
}
