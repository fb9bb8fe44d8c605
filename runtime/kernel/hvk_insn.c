// SPDX-License-Identifier: GPL-2.0-or-later
/* hvk_insn.c - see hvk_insn.h. */
#include "hvk_insn.h"

static int (*hvk_insn_decode)(struct insn *, const void *, int, enum insn_mode);
static unsigned long (*hvk_insn_seg_base)(struct pt_regs *, int);

HVK_API int hvk_insn_begin(void)
{
	if (!hvk_insn_decode)
		hvk_insn_decode = (void *)kallsyms_lookup_name("insn_decode");
	if (!hvk_insn_seg_base)
		hvk_insn_seg_base = (void *)kallsyms_lookup_name("insn_get_seg_base");
	return hvk_insn_decode && hvk_insn_seg_base ? 0 : -ENOENT;
}

static void hvk_cpu_fill(struct hvk_cpu *c, struct pt_regs *regs)
{
	c->r[0] = regs->ax;
	c->r[1] = regs->cx;
	c->r[2] = regs->dx;
	c->r[3] = regs->bx;
	c->r[4] = regs->sp;
	c->r[5] = regs->bp;
	c->r[6] = regs->si;
	c->r[7] = regs->di;
	c->r[8] = regs->r8;
	c->r[9] = regs->r9;
	c->r[10] = regs->r10;
	c->r[11] = regs->r11;
	c->r[12] = regs->r12;
	c->r[13] = regs->r13;
	c->r[14] = regs->r14;
	c->r[15] = regs->r15;
	c->ip = regs->ip;
	c->flags = regs->flags;
	c->known = c->wide ? 0xffff : 0xff;
	c->flags_known = true;
	c->regs = regs;
}

HVK_API int hvk_cpu_init(struct hvk_cpu *c, struct pt_regs *regs)
{
	if (!regs || !user_mode(regs))
		return -EINVAL;
	c->kernel = false;
	c->wide = user_64bit_mode(regs);
	if (!c->wide && regs->cs != __USER32_CS)
		return -EINVAL; /* a segment of its own: no flat code */
	hvk_cpu_fill(c, regs);
	return 0;
}

HVK_API int hvk_cpu_init_kernel(struct hvk_cpu *c, struct pt_regs *regs)
{
	if (!regs || user_mode(regs))
		return -EINVAL;
	c->kernel = true;
	c->wide = true;
	hvk_cpu_fill(c, regs);
	return 0;
}

/* @n bytes at @c into @bytes: 0 or -errno. */
static int hvk_insn_copy(const struct hvk_cpu *c, u8 *bytes, u32 n)
{
	unsigned long ip = c->ip;

	return c->kernel ? copy_from_kernel_nofault(bytes, (const void *)ip, n) :
			   copy_from_user_nofault(bytes, (const void __user *)ip, n);
}

/* Up to 15 bytes at @c: how many.  What follows may not be mapped. */
static int hvk_insn_fetch(const struct hvk_cpu *c, u8 *bytes)
{
	u32 n = PAGE_SIZE - (c->ip & ~PAGE_MASK);

	if (!hvk_insn_copy(c, bytes, MAX_INSN_SIZE))
		return MAX_INSN_SIZE;
	if (n >= MAX_INSN_SIZE || hvk_insn_copy(c, bytes, n))
		return -EFAULT;
	return n;
}

/* Opcode map and mandatory prefix of what has a VEX or EVEX prefix. */
static int hvk_insn_vex(struct hvk_insn *i)
{
	const insn_byte_t *v = i->in.vex_prefix.bytes;
	u8 map = 1;

	i->vex = true;
	i->op = i->in.opcode.bytes[0];
	switch (v[0]) {
	case 0xc5:
		i->pp = v[1] & 3;
		break;
	case 0xc4:
		map = v[1] & 31;
		i->pp = v[2] & 3;
		i->rm |= v[1] & 0x20 ? 0 : 8;
		break;
	case 0x62:
		i->evex = true;
		map = v[1] & 7;
		i->pp = v[2] & 3;
		i->rm |= v[1] & 0x20 ? 0 : 8;
		/* Registers beyond 15, and masks: which elements are accessed is not known. */
		if (v[1] & 8 || !(v[2] & 4) || v[3] & 7)
			return -EILSEQ;
		break;
	default:
		return -EILSEQ; /* XOP */
	}
	if (!map || map == 4 || map > 6)
		return -EILSEQ;
	i->map = map + 1 - (map > 3); /* there is no map 4 of these here */
	return 0;
}

static void hvk_insn_prefixes(bool wide, struct hvk_insn *i)
{
	int n;

	/* The last one stands in bytes[3] too. */
	for (n = 0; n < i->in.prefixes.nbytes && n < 4; n++)
		switch (i->in.prefixes.bytes[n]) {
		case 0x26: case 0x2e: case 0x36: case 0x3e:
			i->segs += !wide; /* of no meaning to 64-bit code */
			break;
		case 0x64: case 0x65:
			i->seg = i->in.prefixes.bytes[n];
			i->segs++;
			break;
		case 0x66:
			i->pp = i->pp ? i->pp : 1;
			i->narrow = !X86_REX_W(i->in.rex_prefix.bytes[0]);
			break;
		case 0xf2:
		case 0xf3:
			i->pp = i->in.prefixes.bytes[n] == 0xf3 ? 2 : 3;
			i->rep = true;
			break;
		}
}

/*
 * The kernel's decoder takes a prefix for the opcode where prefixes stand in an order that is no compiler's, and misses
 * the ModRM byte where it does not find the mandatory one.  Then all that follows is wrong.
 */
static bool hvk_insn_misread(const struct hvk_cpu *c, const struct hvk_insn *i)
{
	switch (i->map == 1 ? i->op : 0) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x66: case 0x67:
	case 0xf0: case 0xf2: case 0xf3:
		return true;
	case 0x40 ... 0x4f:
		return c->wide;
	}
	if (i->map > 1 && i->pp)
		switch (i->in.prefixes.bytes[3]) { /* the last: the mandatory one was not seen */
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x67:
			return true;
		}
	if (i->map == 1 || i->modrm)
		return false;
	switch (i->map == 2 ? i->op : 0) {
	case 0x05 ... 0x0b: case 0x0e: case 0x30 ... 0x37: case 0x77: case 0x80 ... 0x8f:
	case 0xa0 ... 0xa2: case 0xa8 ... 0xaa: case 0xc8 ... 0xcf:
		return false;
	}
	return true;
}

HVK_API int hvk_insn_read(const struct hvk_cpu *c, struct hvk_insn *i)
{
	struct insn *in = &i->in;
	u8 bytes[MAX_INSN_SIZE];
	int n;

	if (!hvk_insn_decode || !hvk_insn_seg_base)
		return -ENOSYS;
	memset(i, 0, sizeof(*i));
	n = hvk_insn_fetch(c, bytes);
	if (n < 0)
		return n;
	if (ibt_wrapper(int, hvk_insn_decode(in, bytes, n, c->wide ? INSN_MODE_64 : INSN_MODE_32)) < 0)
		return n < MAX_INSN_SIZE ? -EFAULT : -EILSEQ;
	in->kaddr = NULL; /* bytes[] end here */
	if (in->rex_prefix.nbytes > 1)
		return -EILSEQ; /* REX2 */
	i->modrm = in->modrm.nbytes != 0;
	i->mod = X86_MODRM_MOD(in->modrm.bytes[0]);
	i->reg = X86_MODRM_REG(in->modrm.bytes[0]);
	i->rm = X86_MODRM_RM(in->modrm.bytes[0]);
	hvk_insn_prefixes(c->wide, i);
	if (in->vex_prefix.nbytes) {
		n = hvk_insn_vex(i);
		if (!c->wide)
			i->rm &= 7;
		return n;
	}
	if (X86_REX_R(in->rex_prefix.bytes[0]))
		i->reg |= 8;
	if (X86_REX_B(in->rex_prefix.bytes[0]))
		i->rm |= 8;
	n = in->opcode.nbytes;
	if (n < 1 || n > 3)
		return -EILSEQ;
	i->op = in->opcode.bytes[n - 1];
	i->map = n < 3 ? n : in->opcode.bytes[1] == 0x38 ? 3 : 4;
	return hvk_insn_misread(c, i) ? -EILSEQ : 0;
}

/* ---- addresses ---- */

static bool hvk_is_flat(u64 selector)
{
	return (selector & 0xffff) == __USER_DS;
}

/* Base of what @i's operand, or its first, lies in; -EDOM if that is no plain segment. */
static int hvk_insn_segment(const struct hvk_cpu *c, const struct hvk_insn *i, u64 *base)
{
	unsigned long selector, b;

	*base = 0;
	if (i->segs > 1)
		return -EDOM; /* which of them counts? */
	if (i->seg && c->kernel)
		return -EDOM; /* its own data */
	if (!i->seg) {
		if (c->wide)
			return 0;
		/* Any of these may be meant; in ordinary programs they are alike. */
		savesegment(ds, selector);
		savesegment(es, b);
		return hvk_is_flat(selector) && hvk_is_flat(b) && hvk_is_flat(c->regs->ss) ? 0 : -EDOM;
	}
	if (!c->wide) {
		if (i->seg == 0x64)
			savesegment(fs, selector);
		else
			savesegment(gs, selector);
		/* The kernel would sleep for a local descriptor. */
		if (!(selector & 0xfffc) || selector & SEGMENT_TI_MASK)
			return -EDOM;
	}
	b = ibt_wrapper(unsigned long, hvk_insn_seg_base(c->regs, i->seg == 0x64 ?
							 INAT_SEG_REG_FS : INAT_SEG_REG_GS));
	if (b == -1ul)
		return -EDOM;
	*base = b;
	return 0;
}

/* Is @n among the registers that are known?  *@value is what is in it, of @bytes. */
static bool hvk_cpu_get(const struct hvk_cpu *c, u32 n, u32 bytes, u64 *value)
{
	if (!(c->known >> n & 1))
		return false;
	*value = bytes == 8 ? c->r[n] : bytes == 4 ? (u32)c->r[n] : (u16)c->r[n];
	return true;
}

HVK_API int hvk_insn_ea(const struct hvk_cpu *c, const struct hvk_insn *i, u64 *ea)
{
	const struct insn *in = &i->in;
	s64 disp = in->displacement.nbytes ? (s32)in->displacement.value : 0;
	u8 v = in->vex_prefix.bytes[1], sib = in->sib.bytes[0], index;
	u32 bytes = in->addr_bytes;
	u64 base = 0, x;
	bool rex_x = X86_REX_X(in->rex_prefix.bytes[0]);

	if (bytes < 4 || i->mod == 3)
		return -EDOM;
	if (i->evex && i->mod == 1 && disp)
		return -EDOM; /* in units of the operand's size, which the kernel does not know */
	if (i->vex && in->vex_prefix.bytes[0] != 0xc5)
		rex_x = !(v & 0x40);
	if ((i->rm & 7) == 4) {
		if (!((sib & 7) == 5 && !i->mod) &&
		    !hvk_cpu_get(c, (sib & 7) | (i->rm & 8), 8, &base))
			return -EDOM;
		index = X86_SIB_INDEX(sib) | (rex_x ? 8 : 0);
		if (index != 4) {
			if (!hvk_cpu_get(c, index, 8, &x))
				return -EDOM;
			base += x << X86_SIB_SCALE(sib);
		}
	} else if ((i->rm & 7) == 5 && !i->mod) {
		base = c->wide ? c->ip + in->length : 0;
	} else if (!hvk_cpu_get(c, i->rm, 8, &base)) {
		return -EDOM;
	}
	*ea = base + disp;
	if (bytes == 4)
		*ea = (u32)*ea;
	return 0;
}

static void hvk_add(struct hvk_accesses *out, u64 addr, u32 span, u32 what)
{
	if (out->n < HVK_MAX_ACCESSES) {
		out->v[out->n].addr = addr;
		out->v[out->n].span = span;
		out->v[out->n].what = what;
		out->n++;
	}
}

/* Of a 32-bit program, addresses end at 4 GiB, whatever base was added. */
static u64 hvk_linear(const struct hvk_cpu *c, u64 addr)
{
	return c->wide ? addr : (u32)addr;
}

/* ---- operands that are not ModRM's ---- */

static u32 hvk_stack_size(const struct hvk_cpu *c, const struct hvk_insn *i)
{
	return i->narrow ? 2 : c->wide ? 8 : 4;
}

/* @slots at the stack's top: pushed, or popped. */
static int hvk_stack(const struct hvk_cpu *c, const struct hvk_insn *i, u32 what, u32 slots,
		     struct hvk_accesses *out)
{
	u32 bytes = hvk_stack_size(c, i) * slots;
	u64 sp;

	if (!hvk_cpu_get(c, 4, 8, &sp) || (!c->wide && !hvk_is_flat(c->regs->ss)))
		return -EDOM;
	hvk_add(out, hvk_linear(c, what == HVK_WRITE ? sp - bytes : sp), bytes, what);
	return 0;
}

/* movs cmps stos lods scas ins outs: @from is at [si] unless 0, @to at [di]. */
static int hvk_string(const struct hvk_cpu *c, const struct hvk_insn *i, u32 from, u32 to,
		      struct hvk_accesses *out)
{
	u32 bytes = i->in.addr_bytes;
	unsigned long es;
	u64 base, x;

	if (i->rep) {
		if (!hvk_cpu_get(c, 1, bytes, &x))
			return -EDOM;
		if (!x)
			return 0;
	}
	if (from) {
		if (hvk_insn_segment(c, i, &base) || !hvk_cpu_get(c, 6, bytes, &x))
			return -EDOM;
		hvk_add(out, hvk_linear(c, base + x), 8, from);
	}
	if (to) {
		savesegment(es, es);
		if ((!c->wide && !hvk_is_flat(es)) || !hvk_cpu_get(c, 7, bytes, &x))
			return -EDOM;
		hvk_add(out, x, 8, to);
	}
	return 0;
}

/* mov to or from an address that stands in the instruction */
static int hvk_moffs(const struct hvk_cpu *c, const struct hvk_insn *i, struct hvk_accesses *out)
{
	u64 base, addr = (u32)i->in.moffset1.value;

	if (i->in.addr_bytes == 8)
		addr |= (u64)(u32)i->in.moffset2.value << 32;
	if (i->in.addr_bytes < 4 || hvk_insn_segment(c, i, &base))
		return -EDOM;
	hvk_add(out, hvk_linear(c, base + addr), 8, i->op < 0xa2 ? HVK_READ : HVK_WRITE);
	return 0;
}

static int hvk_xlat(const struct hvk_cpu *c, const struct hvk_insn *i, struct hvk_accesses *out)
{
	u64 base, bx, ax;

	if (hvk_insn_segment(c, i, &base) || !hvk_cpu_get(c, 3, 8, &bx) || !hvk_cpu_get(c, 0, 8, &ax))
		return -EDOM;
	bx += (u8)ax;
	if (i->in.addr_bytes == 4)
		bx = (u32)bx;
	hvk_add(out, hvk_linear(c, base + bx), 1, HVK_READ);
	return i->in.addr_bytes < 4 ? -EDOM : 0;
}

/* leave: pops bp from where bp points. */
static int hvk_leave(const struct hvk_cpu *c, const struct hvk_insn *i, struct hvk_accesses *out)
{
	u64 bp;

	if (!hvk_cpu_get(c, 5, 8, &bp) || (!c->wide && !hvk_is_flat(c->regs->ss)))
		return -EDOM;
	hvk_add(out, hvk_linear(c, bp), hvk_stack_size(c, i), HVK_READ);
	return 0;
}

/* One-byte opcodes with operands that ModRM does not name: 1 if @i is none of them. */
static int hvk_implicit(const struct hvk_cpu *c, const struct hvk_insn *i, struct hvk_accesses *out)
{
	switch (i->op) {
	case 0x06: case 0x0e: case 0x16: case 0x1e:
	case 0x50 ... 0x57: case 0x68: case 0x6a: case 0x9c:
		return hvk_stack(c, i, HVK_WRITE, 1, out);
	case 0xe8: /* what 66 means there is not the same on all processors */
		return i->narrow ? -EDOM : hvk_stack(c, i, HVK_WRITE, 1, out);
	case 0xc8: /* enter */
		return i->in.immediate2.value & 31 ? -EDOM : hvk_stack(c, i, HVK_WRITE, 1, out);
	case 0x07: case 0x17: case 0x1f:
	case 0x58 ... 0x5f: case 0x9d:
		return hvk_stack(c, i, HVK_READ, 1, out);
	case 0xc2: case 0xc3:
		return i->narrow ? -EDOM : hvk_stack(c, i, HVK_READ, 1, out);
	case 0x60:
		return hvk_stack(c, i, HVK_WRITE, 8, out);
	case 0x61:
		return hvk_stack(c, i, HVK_READ, 8, out);
	case 0x6c: case 0x6d:
		return hvk_string(c, i, 0, HVK_WRITE, out);
	case 0x6e: case 0x6f:
		return hvk_string(c, i, HVK_READ, 0, out);
	case 0xa0 ... 0xa3:
		return hvk_moffs(c, i, out);
	case 0xa4: case 0xa5:
		return hvk_string(c, i, HVK_READ, HVK_WRITE, out);
	case 0xa6: case 0xa7:
		return hvk_string(c, i, HVK_READ, HVK_READ, out);
	case 0xaa: case 0xab:
		return hvk_string(c, i, 0, HVK_WRITE, out);
	case 0xac: case 0xad:
		return hvk_string(c, i, HVK_READ, 0, out);
	case 0xae: case 0xaf:
		return hvk_string(c, i, 0, HVK_READ, out);
	case 0xc9:
		return hvk_leave(c, i, out);
	case 0xd7:
		return hvk_xlat(c, i, out);
	case 0x9a: case 0xca: case 0xcb: case 0xcf: /* far calls and returns */
	case 0xcc: case 0xcd: case 0xce: case 0xf1:
		return -EDOM;
	}
	return 1;
}

/* ---- ModRM's ---- */

/* bt and its like with a register: it may name a bit far from the operand. */
static int hvk_bit_string(const struct hvk_cpu *c, const struct hvk_insn *i, u64 *addr)
{
	u32 bytes = i->in.opnd_bytes;
	s64 bit;
	u64 x;

	if (i->map != 2 || (i->op != 0xa3 && i->op != 0xab && i->op != 0xb3 && i->op != 0xbb))
		return 0;
	if (!hvk_cpu_get(c, i->reg, 8, &x))
		return -EDOM;
	bit = bytes == 8 ? (s64)x : bytes == 4 ? (s32)x : (s16)x;
	*addr += (bit >> (bytes == 8 ? 6 : bytes == 4 ? 5 : 4)) * bytes;
	if (i->in.addr_bytes == 4)
		*addr = (u32)*addr;
	return 0;
}

/* How much it can be, beside a vector. */
static u32 hvk_span(const struct hvk_insn *i)
{
	if (i->map == 2 && (i->op == 0xae || i->op == 0xc7))
		return 3 * PAGE_SIZE; /* xsave */
	return i->map == 1 && (i->op == 0xd9 || i->op == 0xdd) ? 108 : 64;
}

static int hvk_operand(const struct hvk_cpu *c, const struct hvk_insn *i, u32 what,
		       struct hvk_accesses *out)
{
	u64 base, addr;

	if (hvk_insn_segment(c, i, &base) || hvk_insn_ea(c, i, &addr) || hvk_bit_string(c, i, &addr))
		return -EDOM;
	hvk_add(out, hvk_linear(c, base + addr), hvk_span(i), what);
	return 0;
}

/* pop to memory: an address by sp is reckoned with the sp that is left. */
static int hvk_pop(const struct hvk_cpu *c, const struct hvk_insn *i, struct hvk_accesses *out)
{
	struct hvk_cpu after = *c;
	int err = hvk_stack(c, i, HVK_READ, 1, out);

	after.r[4] += hvk_stack_size(c, i);
	return err ? err : hvk_operand(&after, i, HVK_WRITE, out);
}

static int hvk_movdir64b(const struct hvk_cpu *c, const struct hvk_insn *i, struct hvk_accesses *out)
{
	u64 to;
	int err = hvk_operand(c, i, HVK_READ, out);

	if (err || !c->wide || !hvk_cpu_get(c, i->reg, i->in.addr_bytes, &to))
		return -EDOM;
	hvk_add(out, to, 64, HVK_WRITE);
	return 0;
}

static int hvk_explicit(const struct hvk_cpu *c, const struct hvk_insn *i, struct hvk_accesses *out)
{
	u32 what = 0;
	int err;

	switch (hvk_role(c->wide, i)) {
	case 'r':
		what = HVK_READ;
		break;
	case 'w':
		what = HVK_WRITE;
		break;
	case 'b':
		what = HVK_READ | HVK_WRITE;
		break;
	case 'x':
		return -EDOM;
	default:
		return 0;
	}
	if (i->map == 1 && i->op == 0x8f)
		return hvk_pop(c, i, out);
	if (i->map == 3 && !i->vex && i->op == 0xf8)
		return hvk_movdir64b(c, i, out);
	err = hvk_operand(c, i, what, out);
	if (!err && i->map == 1 && i->op == 0xff && ((i->reg & 7) == 2 || (i->reg & 7) == 6))
		err = hvk_stack(c, i, HVK_WRITE, 1, out); /* call and push */
	return err;
}

HVK_API int hvk_insn_accesses(const struct hvk_cpu *c, const struct hvk_insn *i, struct hvk_accesses *out)
{
	int err = 1;

	memset(out, 0, sizeof(*out));
	out->ip = c->ip;
	if (!i->vex && i->map == 1)
		err = hvk_implicit(c, i, out);
	else if (!i->vex && i->map == 2 && (i->op & 0xf7) == 0xa0) /* push fs gs */
		err = hvk_stack(c, i, HVK_WRITE, 1, out);
	else if (!i->vex && i->map == 2 && (i->op & 0xf7) == 0xa1)
		err = hvk_stack(c, i, HVK_READ, 1, out);
	if (err > 0 && i->modrm && i->mod != 3)
		err = hvk_explicit(c, i, out);
	else if (err > 0 && i->map == 1 && i->op == 0xff && i->mod == 3 && (i->reg & 7) == 2)
		err = hvk_stack(c, i, HVK_WRITE, 1, out); /* call of a register */
	else if (err > 0 && i->map == 1 && ((i->op == 0xff && i->mod == 3 && (i->reg & 7) == 6) ||
					    (i->op == 0x8f && i->mod == 3 && !(i->reg & 7))))
		err = hvk_stack(c, i, i->op == 0xff ? HVK_WRITE : HVK_READ, 1, out);
	else if (err > 0 && i->map == 2 && i->op == 0xf7 && i->modrm)
		err = -EDOM; /* maskmov */
	if (err < 0) {
		out->n = 0;
		return err;
	}
	return out->n;
}
