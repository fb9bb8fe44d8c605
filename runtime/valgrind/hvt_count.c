// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counter of address A lies at base + A + (A % 8) * HVT_PLANE_SIZE.  Most
 * addresses in a block are a few registers plus constants, so the sum is made once
 * for each (register, constant % 8), and what is left of the constant, a multiple of 8, is added
 * in the addressing mode:
 *
 *	load  16(%rsp)		count at  16 + s,  s = base + rsp + (rsp % 8) * plane
 *	store 24(%rsp)		count at  24 + s
 */
#include "hvt_count.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_machine.h"

#include "hvt_frame_code.h"
#include "hvt_calls.h"
#include "hvt_heap.h"
#include "hvt_line.h"
#include "hvt_order.h"
#include "hvt_prefetch.h"
#include "hvt_shadow.h"
#include "hvt_wire.h"

enum { SUMS = 64 };

/* A sum that was made: of the temporary and a constant below 8. */
struct sum {
	IRTemp root;
	UInt low;
	IRTemp at;
};

struct block {
	IRSB *out;
	struct hvt_sum *of;
	Int n_of;
	struct sum sums[SUMS];
	Int n_sums;
	Int base; /* offset in the guest state */
	struct hvt_frame_code frame;
	Addr ip;  /* of the instruction */
	UInt reads, writes;
	Bool before; /* what comes next is looked at, not what was */
};

static UInt most;

Int hvt_count_base(void)
{
	return 0;
}

UInt hvt_count_most(void)
{
	return most;
}

/* ---- making code ---- */

static IRExpr *value(struct block *b, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *number(ULong x)
{
	return IRExpr_Const(IRConst_U64(x));
}

static IRExpr *add(struct block *b, IRExpr *x, IRExpr *y)
{
	return value(b, Ity_I64, IRExpr_Binop(Iop_Add64, x, y));
}

static IRExpr *base(struct block *b)
{
	return value(b, Ity_I64, IRExpr_Get(b->base, Ity_I64));
}

/* base + @a + (@a % 8) * plane */
static IRExpr *counter_at(struct block *b, IRExpr *a)
{
	IRExpr *plane = value(b, Ity_I64, IRExpr_Binop(Iop_And64, a, number(7)));

	plane = value(b, Ity_I64, IRExpr_Binop(Iop_Shl64, plane, IRExpr_Const(IRConst_U8(HVT_PLANE_SHIFT))));
	return add(b, add(b, plane, a), base(b));
}

static const struct sum *sum_made(const struct block *b, IRTemp root, UInt low)
{
	Int i;

	for (i = 0; i < b->n_sums; i++)
		if (b->sums[i].root == root && b->sums[i].low == low)
			return &b->sums[i];
	return NULL;
}

/* Where the counter of the access at @addr, an atom, is; @offset is to be added to it. */
static IRExpr *counter_of(struct block *b, IRExpr *addr, Long *offset)
{
	const struct sum *made;
	struct hvt_sum of;
	IRExpr *at;
	UInt low;

	*offset = 0;
	if (addr->tag == Iex_Const) {
		ULong a = addr->Iex.Const.con->Ico.U64;

		return add(b, base(b), number(a + ((a & 7) << HVT_PLANE_SHIFT)));
	}
	of = b->of[addr->Iex.RdTmp.tmp];
	low = (UInt)of.offset & 7;
	*offset = of.offset - (Long)low;
	made = sum_made(b, of.root, low);
	if (made)
		return IRExpr_RdTmp(made->at);
	at = IRExpr_RdTmp(of.root);
	at = counter_at(b, low ? add(b, at, number(low)) : at);
	if (b->n_sums < SUMS)
		b->sums[b->n_sums++] = (struct sum){ of.root, low, at->Iex.RdTmp.tmp };
	return at;
}

/* Add @by (of 32 bits) to the half of the counter at @at + @offset. */
static void raise(struct block *b, IRExpr *at, Long offset, Bool write, IRExpr *by)
{
	IRExpr *count;

	offset += write ? offsetof(struct hvt_pair, writes) : offsetof(struct hvt_pair, reads);
	if (offset)
		at = add(b, at, number((ULong)offset));
	count = value(b, Ity_I32, IRExpr_Load(Iend_LE, Ity_I32, at));
	count = value(b, Ity_I32, IRExpr_Binop(Iop_Add32, count, by));
	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, at, count));
	if (write)
		b->writes++;
	else
		b->reads++;
}

/*
 * A byte for each 8 bytes that an access of @size bytes at @addr covers, but for those it begins in: no counter is raised
 * for those, and whether all of an object was accessed is asked when it goes.
 */
static void mark(struct block *b, IRExpr *addr, ULong marks, UInt size)
{
	UInt n = size / 8;
	IRExpr *at;

	at = value(b, Ity_I64, IRExpr_Binop(Iop_Shr64, add(b, addr, number(size - 1)), IRExpr_Const(IRConst_U8(3))));
	at = add(b, at, number(hvt_shadow_base(0) + marks - (n - 1)));
	for (; n >= 8; n -= 8, at = add(b, at, number(8)))
		addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, at, number(0x0101010101010101ULL)));
	if (n >= 4) {
		addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, at, IRExpr_Const(IRConst_U32(0x01010101))));
		n -= 4;
		at = n ? add(b, at, number(4)) : at;
	}
	if (n >= 2) {
		addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, at, IRExpr_Const(IRConst_U16(0x0101))));
		n -= 2;
		at = n ? add(b, at, number(2)) : at;
	}
	if (n)
		addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, at, IRExpr_Const(IRConst_U8(1))));
}

static void mark_wide(struct block *b, IRExpr *addr, UInt size, Bool reads, Bool writes)
{
	if (size <= 8 || !hvt_heap_on || addr->tag == Iex_Const) /* no object lies at a fixed address */
		return;
	if (reads)
		mark(b, addr, HVT_MARKS_READ, size);
	if (writes)
		mark(b, addr, HVT_MARKS_WRITE, size);
}

/* With --by cacheline and with --callers: and who did it. */
static void call(struct block *b, IRExpr *guard, IRExpr *addr, UInt size, Bool reads, Bool writes)
{
	if (hvt_line_on && reads)
		hvt_line_add(b->out, b->ip, addr, guard, False, size);
	if (hvt_line_on && writes)
		hvt_line_add(b->out, b->ip, addr, guard, True, size);
	if (!hvt_calls_on)
		return;
	if (reads)
		hvt_calls_add(b->out, b->ip, addr, guard, False, size);
	if (writes)
		hvt_calls_add(b->out, b->ip, addr, guard, True, size);
}

static void count(struct block *b, IRExpr *addr, UInt size, Bool reads, Bool writes)
{
	IRExpr *one = IRExpr_Const(IRConst_U32(1)), *at;
	Long offset;

	if (b->before) {
		hvt_prefetch_access(b->out, b->ip, addr, NULL, size);
		return;
	}
	offset = hvt_frame_code_point(&b->frame, addr, size);
	at = offset < 0 ? counter_of(b, addr, &offset) : hvt_frame_code_part(&b->frame);

	if (reads)
		raise(b, at, offset, False, one);
	if (writes)
		raise(b, at, offset, True, one);
	mark_wide(b, addr, size, reads, writes);
	call(b, NULL, addr, size, reads, writes);
}

/*
 * The same if @guard is true.  Else the address may be anything: 0 is added to the
 * counter of address 0 then.
 */
static void count_if(struct block *b, IRExpr *guard, IRExpr *addr, UInt size, Bool reads, Bool writes)
{
	IRExpr *by, *at, *whole;
	Long offset;

	if (guard->tag == Iex_Const) {
		if (guard->Iex.Const.con->Ico.U1)
			count(b, addr, size, reads, writes);
		return;
	}
	if (b->before) {
		hvt_prefetch_access(b->out, b->ip, addr, guard, size);
		return;
	}
	by = value(b, Ity_I32, IRExpr_Unop(Iop_1Uto32, guard));
	whole = addr;
	addr = value(b, Ity_I64, IRExpr_ITE(guard, addr, number(0)));
	offset = hvt_frame_code_point(&b->frame, whole, size);
	at = offset < 0 ? counter_at(b, addr) : hvt_frame_code_part(&b->frame);
	offset = offset < 0 ? 0 : offset;
	if (reads)
		raise(b, at, offset, False, by);
	if (writes)
		raise(b, at, offset, True, by);
	mark_wide(b, addr, size, reads, writes);
	call(b, guard, addr, size, reads, writes);
}

/* ---- reading code ---- */

/* @tmp is now @e: note if that is another temporary plus a constant. */
static void note_sum(struct block *b, IRTemp tmp, const IRExpr *e)
{
	const IRExpr *x, *k;
	Long by;

	if (e->tag == Iex_RdTmp) {
		b->of[tmp] = b->of[e->Iex.RdTmp.tmp];
		return;
	}
	if (e->tag != Iex_Binop || (e->Iex.Binop.op != Iop_Add64 && e->Iex.Binop.op != Iop_Sub64))
		return;
	x = e->Iex.Binop.arg1;
	k = e->Iex.Binop.arg2;
	if (x->tag != Iex_RdTmp || k->tag != Iex_Const)
		return;
	by = (Long)k->Iex.Const.con->Ico.U64;
	if (e->Iex.Binop.op == Iop_Sub64)
		by = -by;
	/* Beyond this an addressing mode does not reach. */
	if (by > 0x10000000 || by < -0x10000000)
		return;
	by += b->of[x->Iex.RdTmp.tmp].offset;
	if (by > 0x10000000 || by < -0x10000000)
		return;
	b->of[tmp].root = b->of[x->Iex.RdTmp.tmp].root;
	b->of[tmp].offset = by;
}

static UInt size_of(const struct block *b, const IRExpr *data)
{
	return (UInt)sizeofIRType(typeOfIRExpr(b->out->tyenv, data));
}

static UInt size_loaded(const IRLoadG *l)
{
	IRType result, memory;

	typeOfIRLoadGOp(l->cvt, &result, &memory);
	return (UInt)sizeofIRType(memory);
}

static void dirty(struct block *b, const IRDirty *d)
{
	if (d->mFx != Ifx_None)
		count_if(b, d->guard, d->mAddr, (UInt)d->mSize, d->mFx != Ifx_Write, d->mFx != Ifx_Read);
}

/* Count the accesses of @s, which has been done; or, before that, see to it that they are watched. */
static void statement(struct block *b, const IRStmt *s)
{
	switch (s->tag) {
	case Ist_IMark:
		b->ip = s->Ist.IMark.addr;
		if (!b->before)
			hvt_prefetch_add(b->out, b->ip, s->Ist.IMark.len);
		break;
	case Ist_WrTmp:
		if (s->Ist.WrTmp.data->tag == Iex_Load)
			count(b, s->Ist.WrTmp.data->Iex.Load.addr, (UInt)sizeofIRType(s->Ist.WrTmp.data->Iex.Load.ty), True, False);
		else if (!b->before)
			note_sum(b, s->Ist.WrTmp.tmp, s->Ist.WrTmp.data);
		break;
	case Ist_Store:
		count(b, s->Ist.Store.addr, size_of(b, s->Ist.Store.data), False, True);
		break;
	case Ist_LoadG:
		count_if(b, s->Ist.LoadG.details->guard, s->Ist.LoadG.details->addr,
			 size_loaded(s->Ist.LoadG.details), True, False);
		break;
	case Ist_StoreG:
		count_if(b, s->Ist.StoreG.details->guard, s->Ist.StoreG.details->addr,
			 size_of(b, s->Ist.StoreG.details->data), False, True);
		break;
	case Ist_CAS:
		count(b, s->Ist.CAS.details->addr, size_of(b, s->Ist.CAS.details->dataLo) * (s->Ist.CAS.details->dataHi ? 2 : 1),
		      True, True);
		break;
	case Ist_LLSC:
		count(b, s->Ist.LLSC.addr, s->Ist.LLSC.storedata ? size_of(b, s->Ist.LLSC.storedata) :
			      (UInt)sizeofIRType(typeOfIRTemp(b->out->tyenv, s->Ist.LLSC.result)), !s->Ist.LLSC.storedata, s->Ist.LLSC.storedata != NULL);
		break;
	case Ist_Dirty:
		dirty(b, s->Ist.Dirty.details);
		break;
	default:
		break;
	}
}

IRSB *hvt_count_block(IRSB *in, const VexGuestLayout *layout)
{
	struct block b;
	Bool first;
	Int i;

	b.out = deepCopyIRSBExceptStmts(in);
	b.n_of = in->tyenv->types_used;
	b.of = LibVEX_Alloc((SizeT)(b.n_of + 1) * sizeof(*b.of));
	for (i = 0; i < b.n_of; i++)
		b.of[i] = (struct hvt_sum){ (IRTemp)i, 0 };
	b.n_sums = 0;
	b.base = layout->total_sizeB + hvt_count_base();
	b.ip = 0;
	b.reads = b.writes = 0;
	first = hvt_line_on;
	hvt_frame_code_begin(&b.frame, b.out, b.of, b.n_of, layout);
	for (i = 0; i < in->stmts_used; i++) {
		hvt_frame_code_before(&b.frame, in->stmts[i]);
		b.before = hvt_prefetch_lines != 0;
		if (b.before)
			statement(&b, in->stmts[i]);
		b.before = False;
		addStmtToIRSB(b.out, in->stmts[i]);
		if (first && in->stmts[i]->tag == Ist_IMark) {
			hvt_order_code(b.out, in->stmts[i]->Ist.IMark.addr);
			first = False;
		}
		statement(&b, in->stmts[i]);
		hvt_frame_code_after(&b.frame, in->stmts[i]);
	}
	hvt_frame_code_end(&b.frame);
	if (b.reads > most)
		most = b.reads;
	if (b.writes > most)
		most = b.writes;
	return b.out;
}
