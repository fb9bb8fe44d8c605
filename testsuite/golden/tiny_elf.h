/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tiny_elf.h - an ELF file from a description: the same bytes whatever compiler and linker there are.
 *
 *	ELF header, program headers, build-id note, ... segments' bytes (zeros) ...,
 *	.symtab, .strtab, .shstrtab, section headers
 */
#ifndef TINY_ELF_H
#define TINY_ELF_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TINY_MAX = 64 };

struct tiny_seg {
	uint64_t offset, vaddr, filesz, memsz;
	uint32_t flags; /* PF_R ... */
};

struct tiny_section {
	const char *name;
	uint64_t offset, vaddr, size, flags; /* SHF_WRITE ... */
	uint32_t type;			     /* SHT_PROGBITS, SHT_NOBITS */
};

struct tiny_sym {
	const char *name, *file; /* file: NULL, or for a local one its source */
	uint64_t vaddr, size;
	unsigned section;	 /* index in sections */
	int type, bind;		 /* STT_OBJECT ..., STB_GLOBAL ... */
};

struct tiny_elf {
	struct tiny_seg segs[TINY_MAX];
	struct tiny_section sections[TINY_MAX];
	struct tiny_sym syms[TINY_MAX];
	unsigned n_segs, n_sections, n_syms;
	uint8_t build_id[32];
	unsigned build_id_len; /* a multiple of 4 */
};

static inline void *tiny_elf_build(const struct tiny_elf *t, size_t *size)
{
	size_t note = sizeof(Elf64_Ehdr) + (t->n_segs + 1) * sizeof(Elf64_Phdr);
	size_t note_len = t->build_id_len ? 16 + t->build_id_len : 0, data = note + note_len;
	unsigned n_shdrs = 1 + t->n_sections + 3, n_syms = 1, n_locals, i, pass;
	size_t cap, at, str = 1, shstr = 1, symtab, strtab, shstrtab;
	uint8_t *p;
	Elf64_Ehdr *eh;
	Elf64_Phdr *ph;
	Elf64_Shdr *sh;
	Elf64_Sym *sym;

	for (i = 0; i < t->n_segs; i++)
		if (t->segs[i].offset + t->segs[i].filesz > data)
			data = t->segs[i].offset + t->segs[i].filesz;
	data = (data + 7) & ~(size_t)7;
	cap = data + 4096 + (2 * t->n_syms + 1) * (sizeof(Elf64_Sym) + 128) +
	      n_shdrs * (sizeof(Elf64_Shdr) + 64);
	p = calloc(1, cap);
	if (!p)
		return NULL;

	eh = (void *)p;
	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = ELFDATA2LSB;
	eh->e_ident[EI_VERSION] = EV_CURRENT;
	eh->e_type = ET_DYN;
	eh->e_machine = EM_X86_64;
	eh->e_version = EV_CURRENT;
	eh->e_phoff = sizeof(*eh);
	eh->e_ehsize = sizeof(*eh);
	eh->e_phentsize = sizeof(*ph);
	eh->e_phnum = (uint16_t)(t->n_segs + (note_len != 0));
	eh->e_shentsize = sizeof(*sh);
	eh->e_shnum = (uint16_t)n_shdrs;
	eh->e_shstrndx = (uint16_t)(n_shdrs - 1);

	ph = (void *)(p + eh->e_phoff);
	for (i = 0; i < t->n_segs; i++) {
		const struct tiny_seg *s = &t->segs[i];

		ph[i] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = s->flags, .p_offset = s->offset,
				      .p_vaddr = s->vaddr, .p_paddr = s->vaddr,
				      .p_filesz = s->filesz, .p_memsz = s->memsz, .p_align = 4096 };
	}
	if (note_len) {
		Elf64_Nhdr n = { 4, t->build_id_len, NT_GNU_BUILD_ID };

		ph[i] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_flags = PF_R, .p_offset = note,
				      .p_filesz = note_len, .p_memsz = note_len, .p_align = 4 };
		memcpy(p + note, &n, sizeof(n));
		memcpy(p + note + 12, "GNU", 4);
		memcpy(p + note + 16, t->build_id, t->build_id_len);
	}

	/* Locals first, each source file's after its STT_FILE. */
	symtab = data;
	sym = (void *)(p + symtab);
	strtab = symtab + (2 * t->n_syms + 1) * sizeof(*sym);
	n_locals = 1;
	for (pass = 0; pass < 2; pass++) {
		const char *file = NULL;

		for (i = 0; i < t->n_syms; i++) {
			const struct tiny_sym *s = &t->syms[i];

			if ((s->bind != STB_LOCAL) != (pass == 1))
				continue;
			if (!pass && s->file && (!file || strcmp(file, s->file))) {
				file = s->file;
				sym[n_syms].st_name = (uint32_t)str;
				sym[n_syms].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FILE);
				sym[n_syms].st_shndx = SHN_ABS;
				memcpy(p + strtab + str, file, strlen(file));
				str += strlen(file) + 1;
				n_syms++;
			}
			sym[n_syms].st_name = (uint32_t)str;
			sym[n_syms].st_info = (uint8_t)ELF64_ST_INFO(s->bind, s->type);
			sym[n_syms].st_shndx = (uint16_t)(s->section + 1);
			sym[n_syms].st_value = s->vaddr;
			sym[n_syms].st_size = s->size;
			memcpy(p + strtab + str, s->name, strlen(s->name));
			str += strlen(s->name) + 1;
			n_syms++;
		}
		if (!pass)
			n_locals = n_syms;
	}

	shstrtab = strtab + str;
	at = (shstrtab + n_shdrs * 40 + 7) & ~(size_t)7;
	eh->e_shoff = at;
	sh = (void *)(p + at);
	for (i = 0; i < t->n_sections; i++) {
		const struct tiny_section *s = &t->sections[i];

		sh[1 + i] = (Elf64_Shdr){ .sh_name = (uint32_t)shstr, .sh_type = s->type,
					  .sh_flags = s->flags | SHF_ALLOC, .sh_addr = s->vaddr,
					  .sh_offset = s->offset, .sh_size = s->size, .sh_addralign = 1 };
		memcpy(p + shstrtab + shstr, s->name, strlen(s->name));
		shstr += strlen(s->name) + 1;
	}
	sh[1 + i] = (Elf64_Shdr){ .sh_name = (uint32_t)shstr, .sh_type = SHT_SYMTAB, .sh_offset = symtab,
				  .sh_size = n_syms * sizeof(*sym), .sh_link = i + 2, .sh_info = n_locals,
				  .sh_addralign = 8, .sh_entsize = sizeof(*sym) };
	memcpy(p + shstrtab + shstr, ".symtab", 7);
	shstr += 8;
	sh[2 + i] = (Elf64_Shdr){ .sh_name = (uint32_t)shstr, .sh_type = SHT_STRTAB, .sh_offset = strtab,
				  .sh_size = str, .sh_addralign = 1 };
	memcpy(p + shstrtab + shstr, ".strtab", 7);
	shstr += 8;
	sh[3 + i] = (Elf64_Shdr){ .sh_name = (uint32_t)shstr, .sh_type = SHT_STRTAB, .sh_offset = shstrtab,
				  .sh_size = shstr + 10, .sh_addralign = 1 };
	memcpy(p + shstrtab + shstr, ".shstrtab", 9);
	*size = at + n_shdrs * sizeof(*sh);
	return p;
}

#endif /* TINY_ELF_H */
