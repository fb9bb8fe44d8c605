/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_frame_code.h - a block of code, seen from the stack: which accesses are at a constant place in a frame, where
 * pointers into frames are made, where frames begin and end; and the code for it (hvt_frame.h).
 */
#ifndef HVT_FRAME_CODE_H
#define HVT_FRAME_CODE_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Which temporary plus which constant this one is. */
struct hvt_sum {
	IRTemp root;
	Long offset;
};

struct hvt_frame_code {
	IRSB *out;		/* borrowed, as all that follows */
	struct hvt_sum *of;
	const VexGuestLayout *layout;
	UChar *made_of;		/* by temporary: which register it is computed from */
	struct hvt_sum sp, fp;	/* what the registers hold; root IRTemp_INVALID: not known */
	Bool fp_read;		/* the frame pointer is what it was when the block began */
	Bool fp_is_frame;	/* the function keeps it, as its first instructions say */
	Addr ip, next, function;
	UInt len;
	Bool sp_set;		/* by this instruction */
	struct hvt_sum cfa;	/* of a function that is called in this block, or begins with it */
	Bool at_entry;		/* the stack pointer is what the call has left */
	struct hvt_sum marked_sp, marked; /* marks were made with these, the highest pointer */
	Long marked_low;	/* and the lowest */
};

/* What a block's counter code needs: @out and @of are the block's, @n its temporaries. */
void hvt_frame_code_begin(struct hvt_frame_code *f, IRSB *out, struct hvt_sum *of, Int n, const VexGuestLayout *layout);

/* @s is about to be done, or was: before and after it is put into the block. */
void hvt_frame_code_before(struct hvt_frame_code *f, const IRStmt *s);
void hvt_frame_code_after(struct hvt_frame_code *f, const IRStmt *s);

/* Where in the part of HVT_STACK() the counter of the access of @size bytes at @addr, an atom, is; -1: it is counted by address. */
Long hvt_frame_code_point(struct hvt_frame_code *f, const IRExpr *addr, UInt size);
/* That part, as an atom. */
IRExpr *hvt_frame_code_part(struct hvt_frame_code *f);

/* All statements are there. */
void hvt_frame_code_end(struct hvt_frame_code *f);

#endif /* HVT_FRAME_CODE_H */
