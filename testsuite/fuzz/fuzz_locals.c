// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_locals.c - any bytes as what locals are found by: debug information and call frames of a function.
 *
 * The input is a row of sections, each "number, length as 3 bytes, bytes": the number is a place in the list of names below;
 * they are put into an ELF file whose code is from 0x1000 to 64 KiB.  Local variables are then looked for everywhere in the first of it,
 * by every register.  libdw reads much of this: hotvar has another process do it (locals_child.h); so does this with
 * FUZZ_LOCALS_CHILD=1 in the environment, where a crash of libdw is no finding.  Without, coverage is seen.
 */
#include "config.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "translator-hooks/locals_child.h"
#include "translator-hooks/locals_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECTIONS = 24, CODE = 0x1000, CODE_SIZE = 0xf000, LOOKS = 48 };

static const char *const names[] = {
	".debug_info", ".debug_abbrev", ".debug_str", ".debug_line", ".debug_line_str", ".debug_addr", ".debug_str_offsets",
	".debug_loc", ".debug_loclists", ".debug_ranges", ".debug_rnglists", ".debug_frame", ".eh_frame", ".eh_frame_hdr",
	".debug_types", ".debug_aranges",
};

/* An ELF file in memory with the sections of @data: a descriptor. */
static int file_of(const uint8_t *data, size_t size)
{
	uint8_t *p = calloc(1, size + 8192);
	Elf64_Shdr sh[SECTIONS + 3] = { 0 };
	Elf64_Ehdr *h = (void *)p;
	Elf64_Phdr *ph = (void *)(h + 1);
	size_t end = sizeof(*h) + sizeof(*ph), at = 0;
	char strs[1024] = "";
	uint32_t n = 1, str = 1;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (!p || fd < 0)
		abort();
	memcpy(h->e_ident, ELFMAG "\2\1\1", 7);
	h->e_type = ET_DYN;
	h->e_machine = EM_X86_64;
	h->e_version = EV_CURRENT;
	h->e_ehsize = sizeof(*h);
	h->e_phoff = sizeof(*h);
	h->e_phentsize = sizeof(*ph);
	h->e_phnum = 1;
	h->e_shentsize = sizeof(*sh);
	*ph = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = CODE, .p_memsz = CODE_SIZE, .p_align = 4096 };
	sh[n++] = (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = CODE, .sh_size = CODE_SIZE };
	while (size - at >= 4 && n < SECTIONS) {
		const char *name = names[data[at] % (sizeof(names) / sizeof(names[0]))];
		size_t len = data[at + 1] | data[at + 2] << 8 | (size_t)data[at + 3] << 16;

		at += 4;
		if (len > size - at)
			len = size - at;
		sh[n++] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_name = str, .sh_offset = end, .sh_size = len, .sh_addralign = 1 };
		strcpy(strs + str, name);
		str += (uint32_t)strlen(name) + 1;
		memcpy(p + end, data + at, len);
		end += len;
		at += len;
	}
	h->e_shstrndx = (uint16_t)n;
	sh[n] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = end, .sh_size = str };
	n++;
	memcpy(p + end, strs, str);
	end += str;
	h->e_shoff = end;
	h->e_shnum = (uint16_t)n;
	memcpy(p + end, sh, n * sizeof(*sh));
	end += n * sizeof(*sh);
	if (write(fd, p, end) != (ssize_t)end)
		abort();
	free(p);
	return fd;
}

static void check(const struct locals_found *f)
{
	if ((unsigned)f->kind >= LOCALS_KINDS || !memchr(f->name, 0, sizeof(f->name)) ||
	    !memchr(f->member, 0, sizeof(f->member)) || !memchr(f->type, 0, sizeof(f->type)) || (f->function && strlen(f->function) > 1 << 20))
		abort();
	if (f->kind == LOCALS_VARIABLE ? !*f->name : *f->name != '\0')
		abort();
}

/* The @i-th question. */
static struct locals_at look(int i)
{
	struct locals_at at = { .vaddr = CODE + (uint64_t)(i / 6) * 7, .len = i % 2 ? 4 : 0, .base = (enum locals_base)(i % 3) };

	at.offset = (int64_t)(i % 11) * 8 - 64;
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct locals_found found;
	int fd = file_of(data, size), i;

	if (!getenv("FUZZ_LOCALS_CHILD")) {
		struct locals_file *f = locals_file_open(fd, "fuzz");

		for (i = 0; f && i < LOOKS; i++) {
			struct locals_at at = look(i);

			locals_file_find(f, &at, &found);
			check(&found);
		}
		locals_file_close(f);
	} else {
		struct locals_child *c = locals_child_open(fd, "fuzz");

		for (i = 0; c && i < LOOKS; i++) {
			struct locals_at at = look(i);

			if (locals_child_find(c, &at, &found))
				break;
			check(&found);
		}
		/* a sanitizer of ours has ended it; a crash of libdw is a signal, and what that process is for */
		if (c && locals_child_status(c) != -1 && WIFEXITED(locals_child_status(c)) && WEXITSTATUS(locals_child_status(c)))
			abort();
		locals_child_close(c);
	}
	close(fd);
	return 0;
}
