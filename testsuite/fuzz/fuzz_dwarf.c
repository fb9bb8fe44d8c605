// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_dwarf.c - any bytes as debug sections: an image that opens, and whose members end.
 *
 * The input is a row of sections, each "number, length as 3 bytes, bytes": the number is a place in the list of
 * names below; those of split files come from 32 on.  They are put into ELF files with a .bss from 0x1000 to 1 MiB and
 * 4 KiB of thread-local memory, so that addresses of the compiler's own output are inside.
 */
#include "config.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_image_format.h"
#include "runtime/core/hvar_type.h"
#include "translator-hooks/dwarf_die.h"
#include "translator-hooks/dwarf_lines.h"
#include "translator-hooks/dwarf_types.h"
#include "translator-hooks/dwarf_vars.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_member.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPLIT = 32, SECTIONS = 24, LIMIT = 1 << 20 };

static const char *const names[] = {
	".debug_info", ".debug_types", ".debug_abbrev", ".debug_str", ".debug_line", ".debug_line_str",
	".debug_addr", ".debug_str_offsets", ".debug_cu_index", ".debug_tu_index", ".gnu_debugaltlink",
	".zdebug_info", ".zdebug_abbrev", ".debug_sup",
};
static const char *const split_names[] = {
	".debug_info.dwo", ".debug_types.dwo", ".debug_abbrev.dwo", ".debug_str.dwo", ".debug_line.dwo",
	".debug_line_str.dwo", ".debug_addr.dwo", ".debug_str_offsets.dwo", ".debug_cu_index", ".debug_tu_index",
};

struct file {
	uint8_t *p;
	size_t n;
};

/* The sections of @data that are a program's, or a split file's, as an ELF file. */
static struct file elf_of(const uint8_t *data, size_t size, bool split)
{
	struct file f = { calloc(1, size + 8192), sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr) };
	Elf64_Shdr sh[SECTIONS + 3] = { 0 };
	Elf64_Ehdr *h = (void *)f.p;
	Elf64_Phdr *ph = (void *)(h + 1);
	char strs[1024] = "";
	uint32_t n = 1, str = 1;
	size_t at = 0;

	memcpy(h->e_ident, ELFMAG "\2\1\1", 7);
	h->e_type = split ? ET_REL : ET_DYN;
	h->e_machine = EM_X86_64;
	h->e_version = EV_CURRENT;
	h->e_ehsize = sizeof(*h);
	h->e_phoff = sizeof(*h);
	h->e_phentsize = sizeof(*ph);
	h->e_phnum = 2;
	h->e_shentsize = sizeof(*sh);
	ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 0x1000, .p_memsz = 0xff000, .p_align = 4096 };
	ph[1] = (Elf64_Phdr){ .p_type = PT_TLS, .p_flags = PF_R, .p_memsz = 0x1000, .p_align = 8 };
	sh[n++] = (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_addr = 0x1000, .sh_size = 0xff000 };
	while (size - at >= 4 && n < SECTIONS) {
		uint8_t which = data[at] & 127, packed = data[at] & 128;
		size_t len = data[at + 1] | data[at + 2] << 8 | (size_t)data[at + 3] << 16;
		const char *name;

		at += 4;
		if (len > size - at)
			len = size - at;
		if ((which >= SPLIT) == split) {
			name = split ? split_names[(which - SPLIT) % 10] : names[which % 14];
			sh[n] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_name = str, .sh_offset = f.n, .sh_size = len };
			sh[n++].sh_flags = packed ? SHF_COMPRESSED : 0;
			strcpy(strs + str, name);
			str += (uint32_t)strlen(name) + 1;
			memcpy(f.p + f.n, data + at, len);
			f.n += len;
		}
		at += len;
	}
	h->e_shstrndx = (uint16_t)n;
	sh[n] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = f.n, .sh_size = str };
	n++;
	memcpy(f.p + f.n, strs, str);
	f.n += str;
	h->e_shoff = f.n;
	h->e_shnum = (uint16_t)n;
	memcpy(f.p + f.n, sh, n * sizeof(*sh));
	f.n += n * sizeof(*sh);
	return f;
}

static void check_image(const struct hvar_image *img)
{
	static struct image_member m;

	for (uint32_t i = 0; i < img->n_vars && i < 64; i++) {
		uint64_t size = img->types[img->vars[i].type].size;

		for (uint64_t at = 0; at < 40; at++) {
			uint64_t offset = at < 20 ? at : size - (40 - at);
			unsigned left = 100;

			image_member(img, img->vars[i].symbol, false, offset, &m);
			if (strlen(m.path) >= sizeof(m.path))
				abort();
			while (image_member_next(&m) && --left)
				;
			free(image_member_decl(&m));
		}
	}
}

/* Program and split file, as dwarf_split.c puts them together. */
static void check_split(struct dwarf_file *own, struct dwarf_file *other)
{
	struct dwarf_file *files[2] = { own, other };
	struct dwarf_set set = { .v = files, .n = 2, .bytes = own->bytes + other->bytes };
	struct dwarf_tables *tables = dwarf_tables_new();
	struct type_table types;
	struct sym_table strs;
	struct dwarf_vars vars;
	char file[256];

	for (uint32_t i = 0; i < own->n_info; i++) {
		struct dwarf_unit *u = &own->units[i], *half;

		half = dwarf_unit_attrs(u) && u->has_id ? dwarf_file_by_id(other, u->id, true) : NULL;
		if (half)
			half->skeleton = u;
	}
	if (sym_table_init(&strs) || type_table_init(&types, &strs) || dwarf_vars_scan(&set, &vars))
		abort();
	for (uint32_t i = 0; i < vars.n; i++) {
		const struct dwarf_var *v = &vars.v[i];

		if (dwarf_types_of(&types, v->type_unit, v->type) >= types.n)
			abort();
		if (v->decl_unit)
			dwarf_tables_file(tables, v->decl_unit, v->decl_file, file, sizeof(file));
	}
	dwarf_vars_fini(&vars);
	type_table_fini(&types);
	sym_table_fini(&strs);
	dwarf_tables_free(tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file own = elf_of(data, size, false), other = elf_of(data, size, true);
	struct dwarf_file *a = NULL, *b = NULL;
	struct err e = { 0, "" };
	struct elf_file f;
	struct hvar_image img;
	void *image;
	size_t n;

	image_build_debug(LIMIT);
	if (image_build_mem(own.p, own.n, "fuzz", &image, &n, &e) || hvar_image_open(&img, image, n))
		abort();
	check_image(&img);
	free(image);
	if (!elf_file_open(&f, -1, own.p, own.n, "fuzz", true, NULL)) {
		dwarf_file_open(&f, false, LIMIT, &a);
		elf_file_close(&f);
	}
	/* what is in the file's header does not matter to who reads its sections */
	((Elf64_Ehdr *)other.p)->e_type = ET_DYN;
	if (a && !elf_file_open(&f, -1, other.p, other.n, "fuzz", true, NULL)) {
		dwarf_file_open(&f, true, LIMIT, &b);
		elf_file_close(&f);
	}
	if (a && b)
		check_split(a, b);
	dwarf_file_free(a);
	dwarf_file_free(b);
	free(own.p);
	free(other.p);
	return 0;
}
