// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A register's value is known as a temporary plus a constant.  Valgrind drops settings of the stack pointer that no access
 * follows, so it is right where memory is accessed, and that is where it is used: either as the
 * instruction found it, or, for what pushes, lowered by it.
 */
#include "hvt_frame_code.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"

#include "hvt_count.h"
#include "hvt_frame.h"

enum made_of { NOTHING, FP, SP };

enum { GPR_FIRST = 16, GPR_END = 16 + 16 * 8, FLAGS_END = 200 };

#define NONE ((struct hvt_sum){ IRTemp_INVALID, 0 })

static IRExpr *value(struct hvt_frame_code *f, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(f->out->tyenv, type);

	addStmtToIRSB(f->out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *number(ULong x)
{
	return IRExpr_Const(IRConst_U64(x));
}

static IRExpr *binop(struct hvt_frame_code *f, IROp op, IRExpr *x, IRExpr *y)
{
	return value(f, op == Iop_Add64 || op == Iop_And64 || op == Iop_Or64 || op == Iop_Sub64 ? Ity_I64 : Ity_I1,
		     IRExpr_Binop(op, x, y));
}

static IRExpr *load(struct hvt_frame_code *f, IRExpr *at, ULong offset)
{
	if (offset)
		at = binop(f, Iop_Add64, at, number(offset));
	return value(f, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at));
}

static void store(struct hvt_frame_code *f, IRExpr *at, ULong offset, IRExpr *what)
{
	if (offset)
		at = binop(f, Iop_Add64, at, number(offset));
	addStmtToIRSB(f->out, IRStmt_Store(Iend_LE, at, what));
}

IRExpr *hvt_frame_code_part(struct hvt_frame_code *f)
{
	return value(f, Ity_I64, IRExpr_Get(f->layout->total_sizeB + hvt_count_base() + 8, Ity_I64));
}

static IRExpr *stack_pointer(struct hvt_frame_code *f)
{
	return value(f, Ity_I64, IRExpr_Get(f->layout->offset_SP, Ity_I64));
}

/* Where the last frame is in @part, but for HVT_FRAME_FIRST, which is added as it is read. */
static IRExpr *top(struct hvt_frame_code *f, IRExpr *part)
{
	return load(f, part, HVT_STACK_HEAD + offsetof(struct hvt_stack_head, top));
}

#define OF_FRAME(member) (HVT_FRAME_FIRST + offsetof(struct hvt_frame, member))

static void call(struct hvt_frame_code *f, IRExpr *guard, const HChar *name, void *fn, IRExpr **args)
{
	IRDirty *d = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(fn), args);

	d->guard = guard;
	addStmtToIRSB(f->out, IRStmt_Dirty(d));
}

static IRExpr *either(struct hvt_frame_code *f, IRExpr *x, IRExpr *y)
{
	return binop(f, Iop_Or1, x, y);
}

/* ---- frames begin and end ---- */

/* The stack pointer is at the address to return to. */
static void begin_frame(struct hvt_frame_code *f)
{
	IRExpr *part = hvt_frame_code_part(f), *sp = stack_pointer(f), *cfa, *at, *next;

	cfa = binop(f, Iop_Add64, sp, number(8));
	at = binop(f, Iop_Add64, part, top(f, part));
	call(f, either(f, binop(f, Iop_CmpLE64U, load(f, at, OF_FRAME(cfa)), cfa),
		       binop(f, Iop_CmpLT64U, load(f, at, OF_FRAME(low)), cfa)),
	     "hvt_frame_called", hvt_frame_called, mkIRExprVec_2(part, cfa));
	next = binop(f, Iop_Add64, top(f, part), number(sizeof(struct hvt_frame)));
	next = binop(f, Iop_And64, next, number(HVT_ACTIVE_MAX * sizeof(struct hvt_frame) - 1));
	at = binop(f, Iop_Add64, part, next);
	store(f, at, OF_FRAME(cfa), cfa);
	store(f, at, OF_FRAME(id), number(0));
	store(f, at, OF_FRAME(low), number(~0ULL));
	store(f, part, HVT_STACK_HEAD + offsetof(struct hvt_stack_head, top), next);
}

/* The stack pointer is where it was before the call. */
static void end_frame(struct hvt_frame_code *f)
{
	IRExpr *part = hvt_frame_code_part(f), *sp = stack_pointer(f), *last = top(f, part), *at, *guard, *next;

	at = binop(f, Iop_Add64, part, last);
	guard = either(f, binop(f, Iop_CmpNE64, load(f, at, OF_FRAME(cfa)), sp),
		       binop(f, Iop_CmpNE64, load(f, at, OF_FRAME(id)), number(0)));
	call(f, guard, "hvt_frame_left", hvt_frame_left, mkIRExprVec_2(part, sp));
	next = binop(f, Iop_And64, binop(f, Iop_Sub64, last, number(sizeof(struct hvt_frame))),
		     number(HVT_ACTIVE_MAX * sizeof(struct hvt_frame) - 1));
	next = value(f, Ity_I64, IRExpr_ITE(guard, top(f, part), next));
	store(f, part, HVT_STACK_HEAD + offsetof(struct hvt_stack_head, top), next);
}

/* ---- pointers ---- */

static Bool is_sp(const struct hvt_frame_code *f, struct hvt_sum s)
{
	return f->sp.root != IRTemp_INVALID && s.root == f->sp.root;
}

/*
 * The stack pointer, or @v, which is @s, if that is lower.  The state may have one from before, since
 * Valgrind drops settings that no access follows: what is known in this block is newer.
 */
static IRExpr *lowest(struct hvt_frame_code *f, IRExpr *v, struct hvt_sum s)
{
	if (f->sp.root == IRTemp_INVALID)
		return stack_pointer(f);
	if (is_sp(f, s) && s.offset < f->sp.offset)
		return v;
	return binop(f, Iop_Add64, IRExpr_RdTmp(f->sp.root), number((ULong)f->sp.offset));
}

/* Are marks noted that were made of @root, with the stack pointer as it is now? */
static Bool is_marked(const struct hvt_frame_code *f, IRTemp root)
{
	return f->marked.root == root && f->marked_sp.root == f->sp.root && f->marked_sp.offset == f->sp.offset;
}

/* A mark was made at @s.  The stack pointer itself may be lower than is known here. */
static void note_marked(struct hvt_frame_code *f, struct hvt_sum s)
{
	Long low = s.offset < f->sp.offset ? s.offset : f->sp.offset;

	if (!is_marked(f, s.root)) {
		f->marked = s;
		f->marked_sp = f->sp;
		f->marked_low = low;
	}
	if (f->marked.offset < s.offset)
		f->marked.offset = s.offset;
	if (f->marked_low > low)
		f->marked_low = low;
}

/* The pointer @v (an atom) was made. */
static void mark(struct hvt_frame_code *f, IRExpr *v, enum made_of from)
{
	struct hvt_sum s = v->tag == Iex_RdTmp ? f->of[v->Iex.RdTmp.tmp] : NONE;
	Bool constant = is_sp(f, s);
	IRExpr *part, *sp, *at, *guard, *cfa;

	if (v->tag != Iex_RdTmp)
		return;
	/* Between those before, in the same frame. */
	if (constant && is_marked(f, s.root) && s.offset <= f->marked.offset && s.offset >= f->marked_low)
		return;
	part = hvt_frame_code_part(f);
	sp = lowest(f, v, s);
	at = binop(f, Iop_Add64, part, top(f, part));
	cfa = load(f, at, OF_FRAME(cfa));
	guard = either(f, binop(f, Iop_CmpNE64, load(f, at, OF_FRAME(id)), number(f->function)),
		       binop(f, Iop_CmpLT64U, sp, load(f, at, OF_FRAME(low))));
	guard = either(f, guard, binop(f, Iop_CmpLE64U, cfa, v));
	if (!constant) {
		IRExpr *in;

		guard = either(f, guard, binop(f, Iop_CmpLE64U, cfa, sp));
		in = binop(f, Iop_CmpLT64U, binop(f, Iop_Sub64, sp, number(HVT_FRAME_BELOW)), v);
		in = binop(f, Iop_And1, in, binop(f, Iop_CmpLT64U, v, load(f, at, OF_FRAME(low))));
		guard = either(f, guard, in);
	}
	if (from == FP) {
		/* if it holds a place in this frame */
		IRExpr *fp = value(f, Ity_I64, IRExpr_Get(f->layout->offset_FP, Ity_I64));

		fp = binop(f, Iop_CmpLT64U, binop(f, Iop_Sub64, fp, sp), binop(f, Iop_Sub64, cfa, sp));
		guard = binop(f, Iop_And1, fp, guard);
	}
	call(f, guard, "hvt_frame_mark", hvt_frame_mark,
	     mkIRExprVec_5(part, sp, v, number(f->function), number(f->ip)));
	if (constant)
		note_marked(f, s);
}

static enum made_of made_of(const struct hvt_frame_code *f, const IRExpr *e)
{
	return e->tag == Iex_RdTmp ? (enum made_of)f->made_of[e->Iex.RdTmp.tmp] : NOTHING;
}

static enum made_of more(enum made_of a, enum made_of b)
{
	return a > b ? a : b;
}

/* A difference of two pointers is none, and what else is computed with one is no pointer either. */
static enum made_of made_by_two(const struct hvt_frame_code *f, const IRExpr *e)
{
	enum made_of a = made_of(f, e->Iex.Binop.arg1), b = made_of(f, e->Iex.Binop.arg2);

	switch (e->Iex.Binop.op) {
	case Iop_Sub64:
		return b == NOTHING ? a : NOTHING;
	case Iop_Add64:
	case Iop_And64:
	case Iop_Or64:
		return more(a, b);
	/* as gcc -O0 rounds what alloca() gives: to the right, and to the left again */
	case Iop_Shr64:
	case Iop_Shl64:
		return a;
	default:
		return NOTHING;
	}
}

static enum made_of made_by(const struct hvt_frame_code *f, const IRExpr *e)
{
	switch (e->tag) {
	case Iex_RdTmp:
		return made_of(f, e);
	case Iex_Unop:
		return made_of(f, e->Iex.Unop.arg);
	case Iex_Binop:
		return made_by_two(f, e);
	case Iex_ITE:
		return more(made_of(f, e->Iex.ITE.iftrue), made_of(f, e->Iex.ITE.iffalse));
	default:
		return NOTHING;
	}
}

static void escape(struct hvt_frame_code *f, IRExpr *e)
{
	enum made_of from = e ? made_of(f, e) : NOTHING;

	if (from != NOTHING && typeOfIRExpr(f->out->tyenv, e) == Ity_I64)
		mark(f, e, from);
}

/* A part of a vector: what becomes of that is not followed. */
static void widen(struct hvt_frame_code *f, const IRExpr *e, IRType type)
{
	if (type != Ity_V128 && type != Ity_V256 && type != Ity_I128 && type != Ity_F64)
		return;
	if (e->tag == Iex_Unop) {
		escape(f, e->Iex.Unop.arg);
	} else if (e->tag == Iex_Binop) {
		escape(f, e->Iex.Binop.arg1);
		escape(f, e->Iex.Binop.arg2);
	}
}

/* ---- registers ---- */

static void read_register(struct hvt_frame_code *f, IRTemp t, struct hvt_sum *reg, enum made_of as)
{
	if (reg->root == IRTemp_INVALID) {
		*reg = (struct hvt_sum){ t, 0 };
		/* as the call has left it */
		if (as == SP && f->at_entry && f->cfa.root == IRTemp_INVALID)
			f->cfa = (struct hvt_sum){ t, 8 };
		if (as == FP)
			f->fp_read = True;
	} else {
		f->of[t] = *reg;
	}
	if (f->made_of[t] < as)
		f->made_of[t] = (UChar)as;
}

static void set_register(struct hvt_frame_code *f, const IRExpr *e, struct hvt_sum *reg)
{
	*reg = e->tag == Iex_RdTmp ? f->of[e->Iex.RdTmp.tmp] : NONE;
}

static void put(struct hvt_frame_code *f, Int offset, const IRExpr *data)
{
	if (offset == f->layout->offset_SP) {
		set_register(f, data, &f->sp);
		f->sp_set = True;
		f->at_entry = False;
		if (data->tag == Iex_RdTmp)
			f->made_of[data->Iex.RdTmp.tmp] = SP;
	} else if (offset == f->layout->offset_FP) {
		set_register(f, data, &f->fp);
		f->fp_read = False;
	} else if (offset > f->layout->offset_SP - 8 && offset < f->layout->offset_SP + 8) {
		f->sp = NONE;
		f->at_entry = False;
	} else if (offset > f->layout->offset_FP - 8 && offset < f->layout->offset_FP + 8) {
		f->fp = NONE;
		f->fp_read = False;
	}
}

/* ---- statements ---- */

/* The function's first instructions: [endbr64]; push %rbp; mov %rsp,%rbp */
static Bool keeps_fp(Addr function, Addr ip)
{
	const UChar *p = (const UChar *)function;

	if (ip == function)
		return False;
	if (function >> 12 != ip >> 12 && !VG_(am_is_valid_for_client)(function, 8, VKI_PROT_READ))
		return False;
	if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa)
		p += 4;
	return p[0] == 0x55 && p[1] == 0x48 && ((p[2] == 0x89 && p[3] == 0xe5) || (p[2] == 0x8b && p[3] == 0xec)) &&
	       ip >= (Addr)p + 4;
}

static Bool is_call(Addr ip, UInt len)
{
	const UChar *p = (const UChar *)ip;
	UInt i = 0;

	while (i < len && ((p[i] >= 0x40 && p[i] <= 0x4f) || p[i] == 0xf2 || p[i] == 0xf3 || p[i] == 0x66 || p[i] == 0x3e))
		i++;
	return i < len && (p[i] == 0xe8 || (p[i] == 0xff && i + 1 < len && (p[i + 1] >> 3 & 7) == 2));
}

/* ret; bnd ret; rep ret */
static Bool is_return(Addr ip, UInt len)
{
	const UChar *p = (const UChar *)ip;

	return (len == 1 && p[0] == 0xc3) || (len == 2 && (p[0] == 0xf2 || p[0] == 0xf3) && p[1] == 0xc3);
}

static void instruction(struct hvt_frame_code *f, const IRStmt *s)
{
	Addr ip = s->Ist.IMark.addr;

	/* Valgrind goes on in the function that is called. */
	if (f->next && ip != f->next) {
		if (is_call(f->ip, f->len)) {
			begin_frame(f);
			f->fp_read = False;
			f->marked = f->marked_sp = NONE;
			f->cfa = f->sp;
			f->cfa.offset += 8;
		}
		f->function = hvt_frame_function(ip);
	}
	if (!f->next) {
		f->function = hvt_frame_function(ip);
		f->at_entry = f->function == ip;
	}
	f->ip = ip;
	f->len = s->Ist.IMark.len;
	f->next = ip + f->len;
	f->fp_is_frame = keeps_fp(f->function, ip);
	f->sp_set = False;
}

/* Is the access of @size bytes at @addr at a constant place?  Then @s is that. */
static Bool placed(const struct hvt_frame_code *f, const IRExpr *addr, UInt size, struct hvt_point *s)
{
	struct hvt_sum of;
	Long offset;

	if (addr->tag != Iex_RdTmp || !f->ip)
		return False;
	*s = (struct hvt_point){ .ip = f->ip, .size = (UShort)size, .len = (UChar)f->len };
	of = f->of[addr->Iex.RdTmp.tmp];
	if (f->cfa.root != IRTemp_INVALID && f->cfa.root == of.root && of.offset < f->cfa.offset && !(f->sp_set && is_call(f->ip, f->len))) {
		offset = of.offset - f->cfa.offset;
		s->flags = HVT_POINT_CFA | (is_return(f->ip, f->len) ? HVT_POINT_RETURN : 0);
	} else if (f->fp_is_frame && f->fp.root != IRTemp_INVALID && of.root == f->fp.root && (f->fp_read || is_sp(f, of))) {
		offset = of.offset - f->fp.offset;
		s->flags = HVT_POINT_FP | (f->sp_set && is_call(f->ip, f->len) ? HVT_POINT_CALL : 0);
	} else if (is_sp(f, of)) {
		/* a pointer that it was given, or an argument */
		if (f->cfa.root == of.root && of.offset >= f->cfa.offset)
			return False;
		offset = of.offset - f->sp.offset;
		if (f->sp_set) {
			/* a push, or a call: 8 bytes; what else sets it and then accesses memory is not told here */
			if (offset || size != 8)
				return False;
			offset = -8;
			s->flags = is_call(f->ip, f->len) ? HVT_POINT_CALL : 0;
		} else if (is_return(f->ip, f->len)) {
			s->flags = HVT_POINT_RETURN;
		}
	} else {
		return False;
	}
	s->offset = (Int)offset;
	return offset > -0x40000000 && offset < 0x40000000;
}

Long hvt_frame_code_point(struct hvt_frame_code *f, const IRExpr *addr, UInt size)
{
	struct hvt_point s;
	UInt n = placed(f, addr, size, &s) ? hvt_frame_point(&s) : 0;

	return n ? (Long)(n * sizeof(struct hvt_pair)) : -1;
}

/* An access by an address that is no constant place but computed from a register. */
static void use(struct hvt_frame_code *f, IRExpr *addr, IRType type)
{
	struct hvt_point s;

	if (addr->tag == Iex_RdTmp && made_of(f, addr) != NOTHING && !placed(f, addr, (UInt)sizeofIRType(type), &s))
		mark(f, addr, made_of(f, addr));
}

/* A pointer that a function called in this block was given: in that function's frame pointer it is not seen as one. */
static Bool is_passed(const struct hvt_frame_code *f, const IRExpr *e)
{
	return e->tag == Iex_RdTmp && f->cfa.root != IRTemp_INVALID && f->of[e->Iex.RdTmp.tmp].root == f->cfa.root &&
	       f->of[e->Iex.RdTmp.tmp].offset >= f->cfa.offset;
}

void hvt_frame_code_before(struct hvt_frame_code *f, const IRStmt *s)
{
	Int i;

	switch (s->tag) {
	case Ist_IMark:
		instruction(f, s);
		break;
	case Ist_WrTmp:
		if (s->Ist.WrTmp.data->tag == Iex_Load)
			use(f, s->Ist.WrTmp.data->Iex.Load.addr, s->Ist.WrTmp.data->Iex.Load.ty);
		else
			widen(f, s->Ist.WrTmp.data, typeOfIRTemp(f->out->tyenv, s->Ist.WrTmp.tmp));
		break;
	case Ist_Store:
		use(f, s->Ist.Store.addr, typeOfIRExpr(f->out->tyenv, s->Ist.Store.data));
		escape(f, s->Ist.Store.data);
		break;
	case Ist_StoreG:
		use(f, s->Ist.StoreG.details->addr, typeOfIRExpr(f->out->tyenv, s->Ist.StoreG.details->data));
		escape(f, s->Ist.StoreG.details->data);
		break;
	case Ist_LoadG:
		use(f, s->Ist.LoadG.details->addr, Ity_I32);
		break;
	case Ist_CAS:
		use(f, s->Ist.CAS.details->addr, Ity_I32);
		escape(f, s->Ist.CAS.details->dataLo);
		escape(f, s->Ist.CAS.details->dataHi);
		break;
	case Ist_Dirty:
		if (s->Ist.Dirty.details->mFx != Ifx_None)
			use(f, s->Ist.Dirty.details->mAddr, Ity_I32);
		for (i = 0; s->Ist.Dirty.details->args[i]; i++)
			if (!is_IRExpr_VECRET_or_GSPTR(s->Ist.Dirty.details->args[i]))
				escape(f, s->Ist.Dirty.details->args[i]);
		break;
	case Ist_Put:
		/* the flags' operands go nowhere else */
		if (s->Ist.Put.offset != f->layout->offset_SP &&
		    (s->Ist.Put.offset != f->layout->offset_FP || is_passed(f, s->Ist.Put.data)) &&
		    s->Ist.Put.offset != f->layout->offset_IP &&
		    (s->Ist.Put.offset < GPR_END || s->Ist.Put.offset > FLAGS_END))
			escape(f, s->Ist.Put.data);
		break;
	default:
		break;
	}
}

void hvt_frame_code_after(struct hvt_frame_code *f, const IRStmt *s)
{
	const IRExpr *e;
	enum made_of from;

	switch (s->tag) {
	case Ist_WrTmp:
		e = s->Ist.WrTmp.data;
		if (e->tag == Iex_Get && e->Iex.Get.ty == Ity_I64 && e->Iex.Get.offset == f->layout->offset_SP)
			read_register(f, s->Ist.WrTmp.tmp, &f->sp, SP);
		else if (e->tag == Iex_Get && e->Iex.Get.ty == Ity_I64 && e->Iex.Get.offset == f->layout->offset_FP)
			read_register(f, s->Ist.WrTmp.tmp, &f->fp, FP);
		else if ((from = made_by(f, e)) != NOTHING && typeOfIRTemp(f->out->tyenv, s->Ist.WrTmp.tmp) != Ity_I1)
			f->made_of[s->Ist.WrTmp.tmp] = (UChar)from;
		break;
	case Ist_Put:
		put(f, s->Ist.Put.offset, s->Ist.Put.data);
		break;
	case Ist_Dirty: {
		const IRDirty *d = s->Ist.Dirty.details;
		Int i;

		for (i = 0; i < d->nFxState; i++) {
			Int from_ = d->fxState[i].offset, to = from_ + d->fxState[i].size;

			if (d->fxState[i].fx == Ifx_Read)
				continue;
			if (d->fxState[i].nRepeats || (from_ < f->layout->offset_FP + 8 && to > f->layout->offset_SP))
				f->sp = f->fp = NONE, f->fp_read = f->at_entry = False;
		}
		break;
	}
	default:
		break;
	}
}

void hvt_frame_code_begin(struct hvt_frame_code *f, IRSB *out, struct hvt_sum *of, Int n, const VexGuestLayout *layout)
{
	VG_(memset)(f, 0, sizeof(*f));
	f->out = out;
	f->of = of;
	f->layout = layout;
	f->made_of = LibVEX_Alloc((SizeT)n + 1);
	VG_(memset)(f->made_of, NOTHING, (SizeT)n + 1);
	f->sp = f->fp = f->cfa = f->marked = f->marked_sp = NONE;
}

void hvt_frame_code_end(struct hvt_frame_code *f)
{
	if (f->out->jumpkind == Ijk_Call)
		begin_frame(f);
	else if (f->out->jumpkind == Ijk_Ret)
		end_frame(f);
}
