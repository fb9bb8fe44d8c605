/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_maker.h - small ELF files for tests, section by section, in memory.
 *
 * A file has up to MAKER_SECTIONS sections one after the other, then its
 * section headers; program headers come right behind the ELF header.  The same calls
 * make a 32-bit file.
 */
#ifndef ELF_MAKER_H
#define ELF_MAKER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

enum { MAKER_SECTIONS = 24, MAKER_SEGS = 12, MAKER_HEAD = 1024 };

struct elf_maker {
	bool is32;
	uint16_t type, machine;
	uint8_t *p;	/* the file; MAKER_HEAD bytes are kept for headers */
	size_t n, cap;
	Elf64_Shdr sh[MAKER_SECTIONS];
	uint32_t n_sh;
	Elf64_Phdr ph[MAKER_SEGS];
	uint32_t n_ph;
	char names[512];
	uint32_t names_used;
	uint64_t shoff; /* by elf_maker_end() */
};

static inline void elf_maker_put(struct elf_maker *m, const void *data, size_t n)
{
	while (m->n + n > m->cap) {
		m->cap = m->cap ? m->cap * 2 : 8192;
		m->p = realloc(m->p, m->cap);
		assert_non_null(m->p);
	}
	if (data)
		memcpy(m->p + m->n, data, n);
	else
		memset(m->p + m->n, 0, n);
	m->n += n;
}

static inline void elf_maker_init(struct elf_maker *m, bool is32)
{
	memset(m, 0, sizeof(*m));
	m->is32 = is32;
	m->type = ET_DYN;
	m->machine = is32 ? EM_386 : EM_X86_64;
	elf_maker_put(m, NULL, MAKER_HEAD);
	m->n_sh = 1;
	m->names_used = 1;
}

/* Append a section; its bytes are @data (NULL: zeros), none for SHT_NOBITS.  Returns its index. */
static inline uint32_t elf_maker_section(struct elf_maker *m, const char *name, uint32_t type,
					 uint64_t flags, uint64_t addr, const void *data, size_t n)
{
	Elf64_Shdr *s = &m->sh[m->n_sh];

	assert_true(m->n_sh < MAKER_SECTIONS);
	while (m->n % 8)
		elf_maker_put(m, NULL, 1);
	s->sh_name = m->names_used;
	m->names_used += (uint32_t)strlen(strcpy(m->names + m->names_used, name)) + 1;
	s->sh_type = type;
	s->sh_flags = flags;
	s->sh_addr = addr;
	s->sh_offset = m->n;
	s->sh_size = n;
	s->sh_addralign = 8;
	if (type != SHT_NOBITS)
		elf_maker_put(m, data, n);
	return m->n_sh++;
}

static inline void elf_maker_seg(struct elf_maker *m, uint32_t type, uint32_t flags, uint64_t offset,
				 uint64_t vaddr, uint64_t filesz, uint64_t memsz)
{
	assert_true(m->n_ph < MAKER_SEGS);
	m->ph[m->n_ph++] = (Elf64_Phdr){ .p_type = type, .p_flags = flags, .p_offset = offset,
		.p_vaddr = vaddr, .p_paddr = vaddr, .p_filesz = filesz, .p_memsz = memsz,
		.p_align = type == PT_LOAD ? 0x1000 : 4 };
}

/* One symbol appended to @to, its name to @strs. */
struct maker_table {
	uint8_t syms[8192];
	size_t n;
	char strs[8192];
	size_t used;
};

static inline void elf_maker_sym(struct elf_maker *m, struct maker_table *t, const char *name,
				 uint64_t value, uint64_t size, int bind, int type, uint16_t shndx)
{
	uint32_t at = 0;

	if (!t->used)
		t->used = 1;
	if (!t->n)
		t->n = m->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	if (*name) {
		at = (uint32_t)t->used;
		t->used += strlen(strcpy(t->strs + t->used, name)) + 1;
	}
	if (m->is32) {
		Elf32_Sym y = { at, (uint32_t)value, (uint32_t)size, ELF32_ST_INFO(bind, type), 0, shndx };

		memcpy(t->syms + t->n, &y, sizeof(y));
		t->n += sizeof(y);
	} else {
		Elf64_Sym y = { at, ELF64_ST_INFO(bind, type), 0, shndx, value, size };

		memcpy(t->syms + t->n, &y, sizeof(y));
		t->n += sizeof(y);
	}
	assert_true(t->n < sizeof(t->syms) - 64 && t->used < sizeof(t->strs) - 64);
}

/* Append the two sections of @t; returns the symbol table's index. */
static inline uint32_t elf_maker_table(struct elf_maker *m, const struct maker_table *t, bool dynamic,
				       uint64_t addr)
{
	uint64_t flags = dynamic ? SHF_ALLOC : 0;
	uint32_t i = elf_maker_section(m, dynamic ? ".dynsym" : ".symtab",
				       dynamic ? SHT_DYNSYM : SHT_SYMTAB, flags, addr, t->syms, t->n);

	m->sh[i].sh_entsize = m->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	m->sh[i].sh_link = i + 1;
	elf_maker_section(m, dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, flags,
			  addr ? addr + (m->n - m->sh[i].sh_offset) : 0, t->strs, t->used);
	return i;
}

static inline void elf_maker_headers(struct elf_maker *m, uint32_t shstrndx)
{
	Elf64_Ehdr h = { .e_type = m->type, .e_machine = m->machine, .e_version = 1,
		.e_phoff = 64, .e_shoff = m->shoff, .e_ehsize = 64,
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = (uint16_t)m->n_ph,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = (uint16_t)m->n_sh,
		.e_shstrndx = (uint16_t)shstrndx };

	memcpy(h.e_ident, "\177ELF\2\1\1", 7);
	if (!m->is32) {
		memcpy(m->p, &h, sizeof(h));
		memcpy(m->p + 64, m->ph, m->n_ph * sizeof(*m->ph));
	} else {
		Elf32_Ehdr s = { .e_type = m->type, .e_machine = m->machine, .e_version = 1,
			.e_phoff = 64, .e_shoff = (uint32_t)m->shoff, .e_ehsize = 52,
			.e_phentsize = sizeof(Elf32_Phdr), .e_phnum = h.e_phnum,
			.e_shentsize = sizeof(Elf32_Shdr), .e_shnum = h.e_shnum,
			.e_shstrndx = h.e_shstrndx };

		memcpy(s.e_ident, "\177ELF\1\1\1", 7);
		memcpy(m->p, &s, sizeof(s));
		for (uint32_t i = 0; i < m->n_ph; i++) {
			const Elf64_Phdr *p = &m->ph[i];
			Elf32_Phdr q = { p->p_type, (uint32_t)p->p_offset, (uint32_t)p->p_vaddr,
				(uint32_t)p->p_paddr, (uint32_t)p->p_filesz, (uint32_t)p->p_memsz,
				p->p_flags, (uint32_t)p->p_align };

			memcpy(m->p + 64 + i * sizeof(q), &q, sizeof(q));
		}
	}
}

/* Write the headers: of the sections too, if @sections. */
static inline void elf_maker_end(struct elf_maker *m, bool sections)
{
	uint32_t i, strs = 0;

	if (sections) {
		strs = elf_maker_section(m, ".shstrtab", SHT_STRTAB, 0, 0, m->names, sizeof(m->names));
		while (m->n % 8)
			elf_maker_put(m, NULL, 1);
		m->shoff = m->n;
		for (i = 0; i < m->n_sh; i++) {
			const Elf64_Shdr *s = &m->sh[i];
			Elf32_Shdr q = { s->sh_name, s->sh_type, (uint32_t)s->sh_flags,
				(uint32_t)s->sh_addr, (uint32_t)s->sh_offset, (uint32_t)s->sh_size,
				s->sh_link, s->sh_info, (uint32_t)s->sh_addralign,
				(uint32_t)s->sh_entsize };

			if (m->is32)
				elf_maker_put(m, &q, sizeof(q));
			else
				elf_maker_put(m, s, sizeof(*s));
		}
	} else {
		m->n_sh = 0;
	}
	elf_maker_headers(m, strs);
}

static inline void elf_maker_fini(struct elf_maker *m)
{
	free(m->p);
}

#endif /* ELF_MAKER_H */
