// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "locals_place.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	RBP = 6, /* DWARF's numbers: System V ABI, AMD64, figure 3.36 */
	RSP = 7,
	LISTS_MAX = 4096, /* of one variable */
};

static bool base_of(unsigned reg, enum locals_base *out)
{
	*out = reg == RBP ? LOCALS_FP : LOCALS_SP;
	return reg == RBP || reg == RSP;
}

struct locals_cfa locals_place_cfa(Dwarf_CFI *cfi, uint64_t vaddr)
{
	struct locals_cfa cfa = { 0 };
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t n;

	if (!cfi || dwarf_cfi_addrframe(cfi, vaddr, &frame))
		return cfa;
	if (!dwarf_frame_cfa(frame, &ops, &n) && n == 1) {
		if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
			cfa.known = base_of(ops[0].atom - DW_OP_breg0, &cfa.base);
			cfa.offset = (int64_t)ops[0].number;
		} else if (ops[0].atom == DW_OP_bregx) {
			cfa.known = base_of((unsigned)ops[0].number, &cfa.base);
			cfa.offset = (int64_t)ops[0].number2;
		}
	}
	free(frame);
	return cfa;
}

bool locals_place_from_cfa(const struct locals_cfa *cfa, enum locals_base base, int64_t offset, int64_t *out)
{
	if (base == LOCALS_CFA) {
		*out = offset;
		return true;
	}
	return cfa->known && cfa->base == base && !__builtin_sub_overflow(offset, cfa->offset, out);
}

/* "DW_OP_call_frame_cfa, DW_OP_plus_uconst N": where libdw says that a register was saved at N from the CFA. */
static bool saved_at(const Dwarf_Op *ops, size_t n, int64_t *out)
{
	if (n < 1 || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	*out = n > 1 ? (int64_t)ops[1].number : 0;
	return n == 1 || (n == 2 && ops[1].atom == DW_OP_plus_uconst);
}

bool locals_place_saved(Dwarf_CFI *cfi, uint64_t vaddr, int64_t offset)
{
	static const int kept[] = { 3, RBP, 12, 13, 14, 15 };
	Dwarf_Frame *frame;
	bool is = false;
	size_t i;

	if (!cfi || dwarf_cfi_addrframe(cfi, vaddr, &frame))
		return false;
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]) && !is; i++) {
		Dwarf_Op mem[3], *ops;
		int64_t at;
		size_t n;

		is = !dwarf_frame_register(frame, kept[i], mem, &ops, &n) && n && saved_at(ops, n, &at) && offset >= at &&
		     offset < at + 8;
	}
	free(frame);
	return is;
}

/* ---- locations ---- */

/* The function's frame base at @pc, as a base and a number. */
static bool frame_base(struct locals_function *f, uint64_t pc, enum locals_base *base, int64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(&f->die, DW_AT_frame_base, &attr) || dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1 ||
	    n != 1)
		return false;
	*offset = 0;
	if (ops[0].atom == DW_OP_call_frame_cfa) {
		*base = LOCALS_CFA;
		return true;
	}
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return base_of(ops[0].atom - DW_OP_reg0, base);
	*offset = (int64_t)ops[0].number;
	return ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31 && base_of(ops[0].atom - DW_OP_breg0, base);
}

/* The place that one operation alone says. */
static bool place_of(struct locals_function *f, uint64_t pc, const Dwarf_Op *op, struct locals_part *out)
{
	int64_t more;

	out->offset = (int64_t)op->number;
	if (op->atom == DW_OP_fbreg)
		return frame_base(f, pc, &out->base, &more) && !__builtin_add_overflow(out->offset, more, &out->offset);
	if (op->atom == DW_OP_call_frame_cfa) {
		out->base = LOCALS_CFA;
		out->offset = 0;
		return true;
	}
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31 && base_of(op->atom - DW_OP_breg0, &out->base);
}

/* The parts of the variable at @ops; what is no place in the frame, or is computed, is none. */
static unsigned parts_of(struct locals_function *f, uint64_t pc, const Dwarf_Op *ops, size_t n, struct locals_part *out,
			 unsigned n_out)
{
	size_t first = 0, i;
	uint64_t at = 0;

	for (i = 0; i <= n && n_out < LOCALS_PARTS_MAX; i++) {
		bool piece = i < n && ops[i].atom == DW_OP_piece;
		size_t end = i;

		if (i < n && !piece)
			continue;
		if (end > first && ops[end - 1].atom == DW_OP_GNU_uninit)
			end--;
		/* a constant added to a frame base is written apart by some */
		if (end - first == 2 && ops[first + 1].atom == DW_OP_plus_uconst && place_of(f, pc, &ops[first], &out[n_out]) &&
		    !__builtin_add_overflow(out[n_out].offset, (int64_t)ops[first + 1].number, &out[n_out].offset)) {
			out[n_out].at = at;
			out[n_out++].size = piece ? ops[i].number : 0;
		} else if (end - first == 1 && place_of(f, pc, &ops[first], &out[n_out])) {
			out[n_out].at = at;
			out[n_out++].size = piece ? ops[i].number : 0;
		}
		if (piece && __builtin_add_overflow(at, ops[i].number, &at))
			break;
		first = i + 1;
	}
	return n_out;
}

unsigned locals_place_parts(struct locals_function *f, struct locals_var *v, uint64_t pc, struct locals_part *out)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(&v->die, DW_AT_location, &attr) || dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1)
		return 0;
	return parts_of(f, pc, ops, n, out, 0);
}

unsigned locals_place_all_parts(struct locals_function *f, struct locals_var *v, Dwarf_CFI *cfi, const struct locals_cfa *cfa,
				struct locals_part *out)
{
	Dwarf_Addr base, start, end;
	Dwarf_Attribute attr;
	unsigned n_out = 0, n_all = 0, i, left = LISTS_MAX;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(&v->die, DW_AT_location, &attr))
		return 0;
	while (left-- && n_all < LOCALS_PARTS_MAX && (at = dwarf_getlocations(&attr, at, &base, &start, &end, &ops, &n)) > 0) {
		bool everywhere = start == 0 && end == (Dwarf_Addr)-1;
		Dwarf_Addr low;
		struct locals_cfa there;

		if (everywhere && dwarf_lowpc(&f->die, &low) && dwarf_entrypc(&f->die, &low))
			continue;
		there = everywhere ? *cfa : locals_place_cfa(cfi, start);
		n_out = parts_of(f, everywhere ? low : start, ops, n, out, n_all);
		for (i = n_all; i < n_out; i++) {
			struct locals_part p = out[i];

			if (!locals_place_from_cfa(&there, p.base, p.offset, &p.offset))
				continue;
			p.base = LOCALS_CFA;
			out[n_all++] = p;
		}
	}
	return n_all;
}
