// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf_many.c - writes an ELF file of as many symbols as asked for: elf_many COUNT > FILE
 *
 * It has what linkers leave in large programs: locals by source file, in the order of their addresses; then
 * globals, in no order; functions, variables, names that several files have, aliases, nested symbols, labels.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1, DATA, BSS, SYMTAB, STRTAB, NAMES, SECTIONS, LOCALS_A_FILE = 48, COMMON_NAMES = 200 };

static const uint64_t start_of[] = { [TEXT] = 0x401000, [DATA] = 0x10000000, [BSS] = 0x18000000 };
static uint64_t rng = 88172645463325252u;
static char *strs;
static uint32_t used = 1;

static uint32_t random_below(uint32_t n)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (uint32_t)((rng * 2685821657736338717u >> 32) * n >> 32);
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fputs("elf_many: no memory\n", stderr);
		exit(1);
	}
	return p;
}

static uint32_t name(const char *fmt, uint32_t a, uint32_t b)
{
	uint32_t at = used;

	used += (uint32_t)sprintf(strs + used, fmt, a, b) + 1;
	return at;
}

static uint32_t some_name(uint32_t i)
{
	switch (random_below(4)) {
	case 0:
		return name("_ZN9subsystem7Variable%uE%u", i, i % 7);
	case 1:
		return name("subsystem_%u_table_%u", i % 1000, i);
	case 2:
		return name("_ZNK5outer5inner%uC2ERKSt6vectorIiSaIiEEPKcj%u", i, i % 3);
	default:
		return name("v%u_%u", i % 90, i);
	}
}

static void put(const void *p, size_t n)
{
	if (n && fwrite(p, n, 1, stdout) != 1) {
		perror("elf_many");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static const char sections[] = "\0.text\0.data\0.bss\0.symtab\0.strtab\0.shstrtab";
	uint32_t count = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0, i, n_locals = 0, n_globals = 0;
	Elf64_Sym *locals = zeroed(count + count / LOCALS_A_FILE + 2, sizeof(*locals)), *globals = zeroed(count + 1, sizeof(*globals));
	uint64_t at[4] = { 0, start_of[TEXT], start_of[DATA], start_of[BSS] }, n_syms, offset;
	uint32_t common[COMMON_NAMES], in_file = 0;
	Elf64_Sym last = { 0 };

	if (!count || count > 20000000) {
		fputs("usage: elf_many COUNT > FILE\n", stderr);
		return 2;
	}
	strs = zeroed(count + 1000, 64);
	for (i = 0; i < COMMON_NAMES; i++)
		common[i] = name("completed_%u.%u", i, 0);
	n_locals = 1;
	for (i = 0; i < count; i++) {
		/* addresses ascend within each section, and files have a part of each */
		uint32_t kind = random_below(100), section = i % 10 < 6 ? TEXT : i % 10 < 9 ? DATA : BSS;
		uint8_t type = section == TEXT ? STT_FUNC : STT_OBJECT;
		Elf64_Sym y = { .st_shndx = (uint16_t)section };

		if (kind < 3 && last.st_size) { /* an alias */
			y = last;
			y.st_name = some_name(i);
			kind = 99;
		} else if (kind < 5 && last.st_size > 8) { /* one in another */
			y = last;
			y.st_name = some_name(i);
			y.st_value += 4;
			y.st_size = 4;
			kind = 50;
		} else {
			y.st_value = at[section];
			y.st_size = kind < 7 ? 0 : 1 + random_below(section == TEXT ? 160 : 64);
			y.st_name = kind >= 90 ? common[random_below(COMMON_NAMES)] : some_name(i);
			at[section] = (at[section] + y.st_size + 16) & ~15ull;
			if (kind < 7)
				type = STT_NOTYPE;
			last = y;
		}
		if (kind & 1 || kind >= 90) {
			if (!in_file--) {
				locals[n_locals].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FILE);
				locals[n_locals].st_shndx = SHN_ABS;
				locals[n_locals++].st_name = name("file_%u.c", i, 0);
				in_file = LOCALS_A_FILE;
			}
			y.st_info = ELF64_ST_INFO(STB_LOCAL, type);
			locals[n_locals++] = y;
		} else {
			y.st_info = ELF64_ST_INFO(kind == 2 ? STB_WEAK : STB_GLOBAL, type);
			globals[n_globals++] = y;
		}
	}
	for (i = n_globals; i > 1; i--) {
		uint32_t k = random_below(i);
		Elf64_Sym y = globals[i - 1];

		globals[i - 1] = globals[k];
		globals[k] = y;
	}
	n_syms = n_locals + n_globals;

	uint64_t text = at[TEXT] - start_of[TEXT], data = at[DATA] - start_of[DATA], bss = at[BSS] - start_of[BSS];
	uint64_t syms_at = 0x1000, strs_at = syms_at + n_syms * sizeof(Elf64_Sym), names_at = strs_at + used;
	Elf64_Ehdr h = { .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = 1, .e_phoff = sizeof(h),
		.e_ehsize = sizeof(h), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3, .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS, .e_shstrndx = NAMES, .e_shoff = (names_at + sizeof(sections) + 7) & ~7ull };
	/* no bytes of the parts that are loaded: they would be read by nobody */
	Elf64_Phdr p[3] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = start_of[TEXT], .p_memsz = text, .p_align = 4096 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = start_of[DATA], .p_memsz = data, .p_align = 4096 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = start_of[BSS], .p_memsz = bss, .p_align = 4096 } };
	Elf64_Shdr s[SECTIONS] = { { 0 },
		{ 1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, start_of[TEXT], 0, text, 0, 0, 16, 0 },
		{ 7, SHT_NOBITS, SHF_ALLOC | SHF_WRITE, start_of[DATA], 0, data, 0, 0, 16, 0 },
		{ 13, SHT_NOBITS, SHF_ALLOC | SHF_WRITE, start_of[BSS], 0, bss, 0, 0, 16, 0 },
		{ 18, SHT_SYMTAB, 0, 0, syms_at, n_syms * sizeof(Elf64_Sym), STRTAB, n_locals, 8, sizeof(Elf64_Sym) },
		{ 26, SHT_STRTAB, 0, 0, strs_at, used, 0, 0, 1, 0 },
		{ 34, SHT_STRTAB, 0, 0, names_at, sizeof(sections), 0, 0, 1, 0 } };
	static const char zero[0x1000];

	memcpy(h.e_ident, "\177ELF\2\1\1", 7);
	put(&h, sizeof(h));
	put(p, sizeof(p));
	offset = sizeof(h) + sizeof(p);
	put(zero, syms_at - offset);
	put(locals, n_locals * sizeof(*locals));
	put(globals, n_globals * sizeof(*globals));
	put(strs, used);
	put(sections, sizeof(sections));
	put(zero, h.e_shoff - names_at - sizeof(sections));
	put(s, sizeof(s));
	return fflush(stdout) || ferror(stdout);
}
