// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the end of the block to its begin, again[] says of each byte of the guest's state whether it is written again
 * before it is read.
 */
#include "hvt_puts.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_options.h"

#include "libvex_guest_amd64.h"

static UChar again[sizeof(VexGuestAMD64State)];

void hvt_puts_init(void)
{
	VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
}

/* The bytes [@at, @at + @n) of the state that are registers: others are never in again[]. */
static void mark(Int at, Int n, Bool written)
{
	if (at < 0)
		n += at, at = 0;
	if (at + n > (Int)sizeof(again))
		n = (Int)sizeof(again) - at;
	if (n > 0)
		VG_(memset)(again + at, written, (SizeT)n);
}

static Bool all_again(Int at, Int n)
{
	Int i;

	if (at < 0 || n <= 0 || at + n > (Int)sizeof(again))
		return False;
	for (i = at; i < at + n; i++)
		if (!again[i])
			return False;
	return True;
}

static void read_array(const IRRegArray *a)
{
	mark(a->base, a->nElems * sizeofIRType(a->elemTy), False);
}

static void expression(const IRExpr *e)
{
	if (e->tag == Iex_Get)
		mark(e->Iex.Get.offset, sizeofIRType(e->Iex.Get.ty), False);
	else if (e->tag == Iex_GetI)
		read_array(e->Iex.GetI.descr);
}

/* An access may be the last thing that is done: a signal's handler sees these. */
static void memory(const VexGuestLayout *layout)
{
	mark(layout->offset_SP, layout->sizeof_SP, False);
	mark(layout->offset_FP, layout->sizeof_FP, False);
	mark(layout->offset_IP, layout->sizeof_IP, False);
}

void hvt_puts(IRSB *block, const VexGuestLayout *layout)
{
	Int i, size;

	mark(0, (Int)sizeof(again), False);
	for (i = block->stmts_used - 1; i >= 0; i--) {
		const IRStmt *s = block->stmts[i];

		switch (s->tag) {
		case Ist_Put:
			size = sizeofIRType(typeOfIRExpr(block->tyenv, s->Ist.Put.data));
			if (all_again(s->Ist.Put.offset, size))
				block->stmts[i] = IRStmt_NoOp();
			else
				mark(s->Ist.Put.offset, size, True);
			break;
		case Ist_PutI:
			read_array(s->Ist.PutI.details->descr);
			break;
		case Ist_WrTmp:
			expression(s->Ist.WrTmp.data);
			if (s->Ist.WrTmp.data->tag == Iex_Load)
				memory(layout);
			break;
		case Ist_Store:
		case Ist_LoadG:
		case Ist_StoreG:
			memory(layout);
			break;
		case Ist_NoOp:
		case Ist_IMark:
		case Ist_AbiHint:
			break;
		default: /* an exit, a helper, a locked instruction, or what is not known here: may read anything */
			mark(0, (Int)sizeof(again), False);
			break;
		}
	}
}
