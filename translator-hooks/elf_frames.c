// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf_frames.c - the FDEs of .eh_frame, each with the range of code that it is for.
 *
 * libdw goes from entry to entry; how the range is encoded stands in the augmentation of the
 * CIE that an FDE refers to (LSB 5.0, 10.6.1: "zPLR", pointers as DW_EH_PE_*):
 *
 *	CIE "zR"  1b                           FDE's pointers: 4 bytes, signed, from their own place
 *	FDE       9c ef ff ff  2f 00 00 00     start = vaddr of its first byte - 0x1064, 0x2f bytes
 *
 * CIEs are looked at once each, before the FDEs that refer back to them: no hostile file makes
 * this take longer than its size allows.
 */
#include "config.h"

#include "elf_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Many times what the largest programs have. */
#define FRAMES_MAX ((uint64_t)512 << 20)
/* version, three encodings, and the pointer to .eh_frame in at most 8 bytes */
#define HEAD 4

struct cie {
	uint64_t at;
	uint8_t encoding; /* DW_EH_PE_omit: its FDEs cannot be read */
};

struct walk {
	const struct elf_file *f;
	struct elf_frames place;
	const uint8_t *base; /* what @place holds */
	struct cie *cies;    /* by place, as they come */
	size_t n, cap;
};

size_t elf_frames_width(bool is32, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_signed:
		return is32 ? 4 : 8;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0; /* LEB128: nobody makes them, their length is not fixed */
	}
}

static size_t width(const struct elf_file *f, uint8_t encoding)
{
	return elf_frames_width(f->is32, encoding);
}

/* The number of @n bytes at @p, which is vaddr @vaddr; @n is width()'s. */
static uint64_t decode(const struct elf_file *f, uint8_t encoding, const uint8_t *p, size_t n,
		       uint64_t vaddr)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	if (encoding & DW_EH_PE_signed && n < 8 && v >> (n * 8 - 1))
		v |= ~(uint64_t)0 << n * 8;
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		v += vaddr;
	return f->is32 ? (uint32_t)v : v;
}

/* Relative to nothing or to its own place, of a fixed length: what linkers make of code's addresses. */
static bool usable(const struct elf_file *f, uint8_t encoding)
{
	uint8_t from = encoding & 0xf0;

	return width(f, encoding) && (from == DW_EH_PE_absptr || from == DW_EH_PE_pcrel);
}

/* By PT_GNU_EH_FRAME. */
static bool by_header(const struct elf_file *f, struct elf_frames *out)
{
	uint64_t left, at, n;
	uint8_t head[HEAD + 8];
	uint32_t i;

	for (i = 0; i < f->n_ph && f->ph[i].p_type != PT_GNU_EH_FRAME; i++)
		;
	if (i == f->n_ph || !elf_file_vaddr(f, f->ph[i].p_vaddr, &at, &left) || left < HEAD ||
	    elf_file_read(f, at, head, left < sizeof(head) ? left : sizeof(head), NULL))
		return false;
	n = width(f, head[1]);
	if (head[0] != 1 || !usable(f, head[1]) || left < HEAD + n)
		return false;
	out->vaddr = decode(f, head[1], head + HEAD, n, f->ph[i].p_vaddr + HEAD);
	if (!elf_file_vaddr(f, out->vaddr, &out->offset, &out->size))
		return false;
	/* without section headers, an entry of length 0 ends it */
	for (i = 1; i < f->n_sh; i++)
		if (f->sh[i].sh_flags & SHF_ALLOC && f->sh[i].sh_type != SHT_NOBITS &&
		    f->sh[i].sh_addr == out->vaddr && f->sh[i].sh_size &&
		    f->sh[i].sh_size < out->size)
			out->size = f->sh[i].sh_size;
	return out->size <= FRAMES_MAX;
}

/* By its section: gcc asks for no header in a static program (its crtbeginT.o registers the frames itself). */
static bool by_section(const struct elf_file *f, struct elf_frames *out)
{
	uint32_t i = elf_file_section(f, ".eh_frame");
	const Elf64_Shdr *s = &f->sh[i];

	if (!i || !(s->sh_flags & SHF_ALLOC) || s->sh_type == SHT_NOBITS || !s->sh_size ||
	    s->sh_size > FRAMES_MAX || !elf_file_has(f, s->sh_offset, s->sh_size))
		return false;
	*out = (struct elf_frames){ s->sh_offset, s->sh_size, s->sh_addr };
	return true;
}

bool elf_frames_find(const struct elf_file *f, struct elf_frames *out)
{
	return by_header(f, out) || by_section(f, out);
}

/* The encoding of the FDEs' pointers. */
static uint8_t encoding_of(const struct elf_file *f, const Dwarf_CIE *c)
{
	const uint8_t *p = c->augmentation_data, *end = c->initial_instructions_end;
	const char *a = c->augmentation;
	uint8_t encoding = DW_EH_PE_absptr;

	if (*a != 'z')
		return *a ? DW_EH_PE_omit : encoding;
	if (!p || p > end)
		return DW_EH_PE_omit;
	if (c->augmentation_data_size < (size_t)(end - p))
		end = p + c->augmentation_data_size;
	while (*++a) {
		if (*a == 'S' || *a == 'B')
			continue;
		if (p == end || (*a != 'R' && *a != 'L' && *a != 'P'))
			return DW_EH_PE_omit;
		if (*a == 'R')
			encoding = *p;
		if (*a == 'P') {
			size_t n = width(f, *p);

			if ((*p & 0x70) == DW_EH_PE_aligned || !n || (size_t)(end - p) <= n)
				return DW_EH_PE_omit;
			p += n;
		}
		p++;
	}
	return usable(f, encoding) ? encoding : DW_EH_PE_omit;
}

static int add_cie(struct walk *w, uint64_t at, const Dwarf_CIE *c)
{
	if (w->n == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 16;
		struct cie *v = realloc(w->cies, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		w->cies = v;
		w->cap = cap;
	}
	w->cies[w->n++] = (struct cie){ at, encoding_of(w->f, c) };
	return 0;
}

static uint8_t encoding_at(const struct walk *w, uint64_t at)
{
	size_t lo = 0, hi = w->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->cies[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < w->n && w->cies[lo].at == at ? w->cies[lo].encoding : DW_EH_PE_omit;
}

static bool read_fde(const struct walk *w, const Dwarf_FDE *d, uint64_t *start, uint64_t *end)
{
	uint8_t encoding = encoding_at(w, d->CIE_pointer);
	size_t n = encoding == DW_EH_PE_omit ? 0 : width(w->f, encoding);

	if (!n || d->start > d->end || (size_t)(d->end - d->start) < 2 * n)
		return false;
	*start = decode(w->f, encoding, d->start, n,
			w->place.vaddr + (uint64_t)(d->start - w->base));
	/* a length is relative to nothing */
	*end = *start + decode(w->f, encoding & 0x0f, d->start + n, n, 0);
	return *start < *end;
}

static int walk(struct walk *w, Elf_Data *data, elf_frames_fn fn, void *ctx)
{
	uint64_t start, end;
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry x;
	int r = 0;

	/* -1: the entry is damaged, but where the next one starts may be known */
	while (!r && at < w->place.size) {
		next = (Dwarf_Off)-1;
		if (dwarf_next_cfi(w->f->eh.e_ident, data, true, at, &next, &x) == 0) {
			if (dwarf_cfi_cie_p(&x))
				r = add_cie(w, at, &x.cie);
			else if (read_fde(w, &x.fde, &start, &end))
				r = fn(ctx, start, end);
		}
		if (next == (Dwarf_Off)-1 || next <= at)
			break;
		at = next;
	}
	return r;
}

int elf_frames_walk(const struct elf_file *f, elf_frames_fn fn, void *ctx, struct err *e)
{
	struct walk w = { .f = f };
	Elf_Data *data;
	int r;

	if (!elf_frames_find(f, &w.place))
		return 0;
	r = elf_file_data(f, w.place.offset, w.place.size, ELF_T_BYTE, &data, e);
	if (r) {
		/* too much of it, or cut short: names are still good */
		return r == -EBADMSG || r == -EFBIG ? 0 : r;
	}
	w.base = data->d_buf;
	r = walk(&w, data, fn, ctx);
	free(w.cies);
	return r;
}
