// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * locals_frames.c - call frame information, read as libdw does (DWARF 5, 6.4; LSB 5.0, 10.6).
 *
 * An entry is either CIE or FDE; instructions of both are a byte each, with operands:
 *
 *	0c 07 08	DW_CFA_def_cfa: rsp + 8
 *	86 02		DW_CFA_offset of register 6, in the opcode's lower bits: saved at CFA - 2 * 8
 *	05 7f 02	DW_CFA_offset_extended of register 127
 *
 * libdw goes to an entry from the one before, by an FDE's pointer to its CIE, or by .eh_frame_hdr's table: only places where
 * one begins when all are gone through are allowed there.
 */
#include "config.h"

#include "locals_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf_frames.h"

enum {
	LEB_BYTES = 9,	/* libdw reads ten of a number, and cuts what it is */
	TABLE_HEAD = 8, /* without the number of rows */
	TABLE_ROWS = 12,
};

struct cie {
	uint64_t at;
	size_t width; /* of its FDEs' pointers */
	bool sized;   /* augmentation data is preceded by its length */
};

struct frames {
	const unsigned char *ident;
	struct cie *cies; /* by place, as they come */
	size_t n, cap;
	uint8_t *fdes; /* a bit for each byte: an FDE begins here */
	size_t size;
};

struct bytes {
	const uint8_t *p, *end;
	bool bad; /* it ended within an operand */
};

/* ---- instructions ---- */

static uint64_t leb(struct bytes *b)
{
	const uint8_t *start = b->p;
	uint64_t v = 0;

	while (b->p < b->end && b->p - start < LEB_BYTES) {
		uint8_t x = *b->p++;

		v |= (uint64_t)(x & 0x7f) << 7 * (b->p - 1 - start);
		if (!(x & 0x80))
			return v;
	}
	b->bad = true;
	return 0;
}

static void skip(struct bytes *b, uint64_t n)
{
	b->bad |= n > (uint64_t)(b->end - b->p);
	if (!b->bad)
		b->p += n;
}

static void reg(struct bytes *b)
{
	b->bad |= leb(b) >= LOCALS_FRAMES_REGISTERS;
}

/* The operands of @op; false: libdw reads no further. */
static bool operands(struct bytes *b, uint8_t op, size_t width)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
	case DW_CFA_GNU_window_save:
		return true;
	case DW_CFA_set_loc:
		skip(b, width);
		return true;
	case DW_CFA_advance_loc1:
		skip(b, 1);
		return true;
	case DW_CFA_advance_loc2:
		skip(b, 2);
		return true;
	case DW_CFA_advance_loc4:
		skip(b, 4);
		return true;
	case DW_CFA_MIPS_advance_loc8:
		skip(b, 8);
		return true;
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_GNU_args_size:
		leb(b);
		return true;
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_restore_extended:
	case DW_CFA_def_cfa_register:
		reg(b);
		return true;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_register:
	case DW_CFA_GNU_negative_offset_extended:
		reg(b);
		leb(b);
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		reg(b);
		skip(b, leb(b));
		return true;
	case DW_CFA_def_cfa_expression:
		skip(b, leb(b));
		return true;
	default:
		return false;
	}
}

static bool instructions_fit(const uint8_t *p, const uint8_t *end, size_t width)
{
	struct bytes b = {p, end, false};
	unsigned states = 0;

	while (!b.bad && b.p < b.end) {
		uint8_t op = *b.p++;

		if ((op & 0xc0) == DW_CFA_offset)
			leb(&b);
		/* the others that have an operand in the opcode have no more */
		if (op & 0xc0)
			continue;
		if (!operands(&b, op, width))
			break;
		if (op == DW_CFA_remember_state &&
		    ++states > LOCALS_FRAMES_STATES)
			return false;
		if (op == DW_CFA_restore_state && !states--)
			break; /* libdw reads no further */
	}
	return !b.bad;
}

/* ---- entries ---- */

/* The bytes of a pointer; 0: LEB128, aligned or none: nobody makes them of code. */
static size_t width_of(const struct frames *f, uint8_t encoding)
{
	if ((encoding & 0x70) == DW_EH_PE_aligned)
		return 0;
	return elf_frames_width(f->ident[EI_CLASS] == ELFCLASS32, encoding);
}

/* What @c says of its FDEs; false: it is not understood. */
static bool read_cie(const struct frames *f, const Dwarf_CIE *c,
		     struct cie *out)
{
	struct bytes b = {c->augmentation_data, c->initial_instructions, false};
	const char *a = c->augmentation;
	uint8_t encoding = DW_EH_PE_absptr;

	out->sized = *a == 'z';
	if (*a && !out->sized)
		return false;
	for (; *a && !b.bad; a++) {
		if (*a == 'z' && a == c->augmentation)
			continue;
		if (*a == 'S' || *a == 'B')
			continue;
		if ((*a != 'R' && *a != 'L' && *a != 'P') || b.p >= b.end)
			return false;
		if (*a == 'R')
			encoding = *b.p;
		if (*a == 'P') {
			size_t n = width_of(f, *b.p);

			b.bad = !n || *b.p == DW_EH_PE_omit;
			skip(&b, n);
		}
		skip(&b, 1);
	}
	/* relative to nothing, or to its own place */
	if (encoding & 0xf0 && (encoding & 0xf0) != DW_EH_PE_pcrel)
		return false;
	out->width = width_of(f, encoding);
	return !b.bad && out->width;
}

static bool cie_fits(struct frames *f, uint64_t at, const Dwarf_CIE *c)
{
	struct cie own = {.at = at};

	if (c->initial_instructions > c->initial_instructions_end ||
	    !read_cie(f, c, &own) ||
	    !instructions_fit(c->initial_instructions,
			      c->initial_instructions_end, own.width))
		return false;
	if (f->n == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 16;
		struct cie *v = realloc(f->cies, cap * sizeof(*v));

		if (!v)
			return false;
		f->cies = v;
		f->cap = cap;
	}
	f->cies[f->n++] = own;
	return true;
}

/* NULL: there is none before. */
static const struct cie *cie_at(const struct frames *f, uint64_t at)
{
	size_t lo = 0, hi = f->n;

	if (f->n && f->cies[f->n - 1].at == at)
		return &f->cies[f->n - 1];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->cies[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->n && f->cies[lo].at == at ? &f->cies[lo] : NULL;
}

static bool fde_fits(struct frames *f, uint64_t at, const Dwarf_FDE *d)
{
	const struct cie *c = cie_at(f, d->CIE_pointer);
	struct bytes b = {d->start, d->end, false};

	if (!c || d->start > d->end)
		return false;
	skip(&b, 2 * c->width);
	if (c->sized)
		skip(&b, leb(&b));
	if (b.bad || !instructions_fit(b.p, b.end, c->width))
		return false;
	if (f->fdes)
		f->fdes[at / 8] |= (uint8_t)(1 << at % 8);
	return true;
}

static bool section_fits(struct frames *f, Elf_Data *data, bool eh)
{
	static const uint8_t terminator[4];
	Dwarf_CFI_Entry x;
	Dwarf_Off at = 0, next;

	while (at + 4 < data->d_size) {
		/* it ends what one of the files has that were linked, or pads it */
		if (!memcmp((const uint8_t *)data->d_buf + at, terminator,
			    sizeof(terminator))) {
			at += sizeof(terminator);
			continue;
		}
		if (dwarf_next_cfi(f->ident, data, eh, at, &next, &x) ||
		    next <= at)
			return false;
		if (dwarf_cfi_cie_p(&x) ? !cie_fits(f, at, &x.cie)
					: !fde_fits(f, at, &x.fde))
			return false;
		at = next;
	}
	return true;
}

/* ---- .eh_frame_hdr ---- */

/*
 *	01 1b 03 3b  xx xx xx xx  02 00 00 00	.eh_frame is xx from here; 2 rows of, each
 *	vv vv vv vv  ff ff ff ff		code from, and its FDE; both from the section's start
 */
static bool table_fits(const struct frames *f, const Elf_Data *data,
		       uint64_t vaddr, uint64_t frames_vaddr)
{
	const uint8_t *h = data->d_buf;
	uint32_t n, i;
	int32_t v;

	if (!h || data->d_size < TABLE_HEAD || h[0] != 1 ||
	    h[1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
		return false;
	memcpy(&v, h + 4, sizeof(v));
	if (vaddr + 4 + (uint64_t)(int64_t)v != frames_vaddr)
		return false;
	if (h[2] == DW_EH_PE_omit || h[3] == DW_EH_PE_omit)
		return true;
	if (data->d_size < TABLE_ROWS || h[2] != DW_EH_PE_udata4 ||
	    h[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return false;
	memcpy(&n, h + 8, sizeof(n));
	if (n > (data->d_size - TABLE_ROWS) / 8)
		return false;
	for (i = 0; i < n; i++) {
		uint64_t at;

		memcpy(&v, h + TABLE_ROWS + (size_t)i * 8 + 4, sizeof(v));
		at = vaddr + (uint64_t)(int64_t)v - frames_vaddr;
		if (at >= f->size || !(f->fdes[at / 8] & 1 << at % 8))
			return false;
	}
	return true;
}

/* ---- files ---- */

/* The next section behind @s whose name has @name in it, or is it; NULL: there is none. */
static Elf_Scn *next_named(Elf *elf, Elf_Scn *s, const char *name, bool within,
			   GElf_Shdr *sh)
{
	size_t strs;

	if (elf_getshdrstrndx(elf, &strs))
		return NULL;
	while ((s = elf_nextscn(elf, s))) {
		const char *own = gelf_getshdr(s, sh)
					  ? elf_strptr(elf, strs, sh->sh_name)
					  : NULL;

		if (own &&
		    (within ? strstr(own, name) != NULL : !strcmp(own, name)))
			return s;
	}
	return NULL;
}

static bool frames_open(struct frames *f, Elf *elf)
{
	*f = (struct frames){
		.ident = (const unsigned char *)elf_getident(elf, NULL)};
	return f->ident && f->ident[EI_DATA] == ELFDATA2LSB;
}

static bool eh_fits(struct frames *f, Elf *elf, Elf_Scn *s, uint64_t vaddr)
{
	Elf_Data *data = elf_rawdata(s, NULL), *table;
	GElf_Shdr sh;

	if (!data || !data->d_buf)
		return false;
	f->size = data->d_size;
	f->fdes = calloc(1, f->size / 8 + 1);
	if (!f->fdes || !section_fits(f, data, true))
		return false;
	s = next_named(elf, NULL, ".eh_frame_hdr", false, &sh);
	if (!s)
		return true;
	table = elf_rawdata(s, NULL);
	return table && table_fits(f, table, sh.sh_addr, vaddr) &&
	       !next_named(elf, s, ".eh_frame_hdr", false, &sh);
}

bool locals_frames_fit(Elf *elf)
{
	GElf_Shdr sh, other;
	Elf_Scn *s = next_named(elf, NULL, ".eh_frame", false, &sh);
	struct frames f;
	bool fit;

	/* which of two it would take, and what without: nobody makes them */
	if (!s || next_named(elf, s, ".eh_frame", false, &other) ||
	    !frames_open(&f, elf))
		return false;
	fit = eh_fits(&f, elf, s, sh.sh_addr);
	free(f.fdes);
	free(f.cies);
	return fit;
}

bool locals_frames_debug_fit(Elf *elf)
{
	Elf_Scn *s = NULL;
	struct frames f;
	GElf_Shdr sh;
	bool fit = true;

	/* ".zdebug_frame", ".debug_frame.dwo": whichever it takes */
	while (fit && (s = next_named(elf, s, "debug_frame", true, &sh))) {
		Elf_Data *data = elf_rawdata(s, NULL);

		fit = frames_open(&f, elf) && data && data->d_buf &&
		      section_fits(&f, data, false);
		free(f.cies);
	}
	return fit;
}
