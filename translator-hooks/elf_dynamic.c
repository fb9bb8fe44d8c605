// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf_dynamic.c - find the dynamic symbol table without section headers.
 *
 * DT_GNU_HASH (as binutils and glibc have it):
 *
 *	nbuckets symoffset bloom_size bloom_shift | bloom words | buckets | chain
 *
 * buckets[b] is the first symbol of a chain, 0 for none; the chain's word for
 * symbol i stands at chain[i - symoffset], its lowest bit set on the last one.
 * So the last symbol is found from the largest bucket on.
 */
#include "config.h"

#include "elf_dynamic.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_env.h"

#define ENTRIES_MAX 4096
#define COUNT_MAX   0x7fffffffu

/* What the dynamic section says, as vaddrs; 0: nothing. */
struct dyn {
	uint64_t symtab, strtab, strsz, syment, hash, gnu_hash, versym, verdef,
		verneed;
	uint64_t next; /* the nearest of its tables after symtab */
};

/* Keep the entry's value; the tables' addresses bound one another. */
static void take(struct dyn *d, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB:
		d->symtab = value;
		break;
	case DT_STRTAB:
		d->strtab = value;
		break;
	case DT_STRSZ:
		d->strsz = value;
		break;
	case DT_SYMENT:
		d->syment = value;
		break;
	case DT_HASH:
		d->hash = value;
		break;
	case DT_GNU_HASH:
		d->gnu_hash = value;
		break;
	case DT_VERSYM:
		d->versym = value;
		break;
	case DT_VERDEF:
		d->verdef = value;
		break;
	case DT_VERNEED:
		d->verneed = value;
		break;
	}
}

static bool points(int64_t tag)
{
	return tag == DT_STRTAB || tag == DT_HASH || tag == DT_GNU_HASH ||
	       tag == DT_VERSYM || tag == DT_VERDEF || tag == DT_VERNEED ||
	       tag == DT_RELA || tag == DT_REL || tag == DT_JMPREL ||
	       tag == DT_INIT || tag == DT_FINI || tag == DT_INIT_ARRAY ||
	       tag == DT_FINI_ARRAY || tag == DT_PLTGOT;
}

static bool read_dyn(const struct elf_file *f, const Elf64_Phdr *p, struct dyn *d)
{
	uint64_t entry = f->is32 ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn);
	uint64_t n = p->p_filesz / entry;
	Elf_Data *data;
	GElf_Dyn y;
	int pass, i;

	if (n > ENTRIES_MAX)
		n = ENTRIES_MAX;
	if (!n || elf_file_data(f, p->p_offset, n * entry, ELF_T_DYN, &data, NULL))
		return false;
	memset(d, 0, sizeof(*d));
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; gelf_getdyn(data, i, &y) && y.d_tag != DT_NULL; i++) {
			if (!pass)
				take(d, y.d_tag, y.d_un.d_val);
			else if (points(y.d_tag) && y.d_un.d_val > d->symtab &&
				 (!d->next || y.d_un.d_val < d->next))
				d->next = y.d_un.d_val;
		}
	}
	return d->symtab && d->strtab;
}

/* The largest number of @n words at @offset; 0 if they are not all there. */
static uint32_t largest(const struct elf_file *f, uint64_t offset, uint32_t n)
{
	uint32_t *v, max = 0, i;

	if (elf_file_get(f, offset, (uint64_t)n * 4, &v, NULL))
		return 0;
	for (i = 0; i < n; i++)
		if (v[i] > max)
			max = v[i];
	free(v);
	return max;
}

/* The first of at most @left words from @offset on whose lowest bit is set: how many are before it. */
static bool chain_end(const struct elf_file *f, uint64_t offset, uint64_t left,
		      uint64_t *before)
{
	uint32_t piece[4096];
	uint64_t at, i, n;

	for (at = 0; at < left; at += n) {
		n = left - at < HVAR_ARRAY_SIZE(piece) ? left - at : HVAR_ARRAY_SIZE(piece);
		if (elf_file_read(f, offset + at * 4, piece, n * 4, NULL))
			return false;
		for (i = 0; i < n; i++) {
			if (piece[i] & 1) {
				*before = at + i;
				return true;
			}
		}
	}
	return false;
}

static bool count_gnu(const struct elf_file *f, uint64_t offset, uint64_t left,
		      uint32_t *count)
{
	uint64_t buckets, chain, at, n;
	uint32_t h[4], last;

	if (left < sizeof(h) || elf_file_read(f, offset, h, sizeof(h), NULL))
		return false;
	buckets = offset + sizeof(h) + (uint64_t)h[2] * (f->is32 ? 4 : 8);
	chain = buckets + (uint64_t)h[0] * 4;
	if (chain - offset > left)
		return false;
	last = largest(f, buckets, h[0]);
	*count = h[1]; /* none is hashed: the undefined ones are all */
	if (last < h[1])
		return !last;
	at = chain + (uint64_t)(last - h[1]) * 4;
	if (at - offset > left || !chain_end(f, at, (left - (at - offset)) / 4, &n) ||
	    n >= COUNT_MAX - last)
		return false;
	*count = (uint32_t)(last + n + 1);
	return true;
}

static bool count(const struct elf_file *f, const struct dyn *d, uint64_t left,
		  uint64_t entry, uint32_t *n)
{
	uint64_t at, rest, bytes;
	uint32_t words[2];

	/* nbucket, nchain: one chain word for each symbol */
	if (d->hash && elf_file_vaddr(f, d->hash, &at, &rest) && rest >= 8 &&
	    !elf_file_read(f, at, words, sizeof(words), NULL))
		*n = words[1];
	else if (!d->gnu_hash || !elf_file_vaddr(f, d->gnu_hash, &at, &rest) ||
		 !count_gnu(f, at, rest, n)) {
		bytes = d->next ? d->next - d->symtab : 0;
		if (bytes / entry > COUNT_MAX)
			return false;
		*n = (uint32_t)(bytes / entry);
	}
	return *n <= COUNT_MAX && *n <= left / entry;
}

/* The table at vaddr @at, to the end of its PT_LOAD. */
static struct elf_span span(const struct elf_file *f, uint64_t at)
{
	struct elf_span s = { 0, 0 };

	if (at && !elf_file_vaddr(f, at, &s.offset, &s.size))
		s.size = 0;
	return s;
}

bool elf_dynamic_table(const struct elf_file *f, struct elf_table *t)
{
	uint64_t entry = f->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym), left;
	struct dyn d;
	uint32_t i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < f->n_ph && f->ph[i].p_type != PT_DYNAMIC; i++)
		;
	if (i == f->n_ph || !read_dyn(f, &f->ph[i], &d) ||
	    (d.syment && d.syment != entry) ||
	    !elf_file_vaddr(f, d.symtab, &t->syms, &left) ||
	    !count(f, &d, left, entry, &t->count))
		return false;
	t->dynamic = true;
	t->strs = span(f, d.strtab);
	if (d.strsz && d.strsz < t->strs.size)
		t->strs.size = d.strsz;
	t->version_strs = t->strs;
	t->versym = span(f, d.versym);
	t->verdef = span(f, d.verdef);
	t->verneed = span(f, d.verneed);
	return t->strs.size != 0;
}

bool elf_dynamic_program(const struct elf_file *f)
{
	uint64_t entry = f->is32 ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn), n;
	Elf_Data *data;
	GElf_Dyn y;
	uint32_t i;
	int k;

	if (f->eh.e_type == ET_EXEC)
		return true;
	for (i = 0; i < f->n_ph && f->ph[i].p_type != PT_DYNAMIC; i++)
		;
	n = i < f->n_ph ? f->ph[i].p_filesz / entry : 0;
	if (n > ENTRIES_MAX)
		n = ENTRIES_MAX;
	if (!n || elf_file_data(f, f->ph[i].p_offset, n * entry, ELF_T_DYN, &data, NULL))
		return false;
	for (k = 0; gelf_getdyn(data, k, &y) && y.d_tag != DT_NULL; k++)
		if (y.d_tag == DT_FLAGS_1)
			return y.d_un.d_val & DF_1_PIE;
	return false;
}
