// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_image_build.c - ELF files made here, sound and broken -> symbol images.
 */
#include "config.h"

#include "elf_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/core/hvar_image.h"
#include "runtime/core/hvar_resolve.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_name.h"

#define DATA 0x4000
#define TEXT 0x2000

struct made {
	struct hvar_image img;
	void *data;
};

static int make(const void *elf, size_t n, struct made *m, struct err *e)
{
	size_t size;
	int r = image_build_mem(elf, n, "test", &m->data, &size, e);

	if (!r)
		assert_int_equal(hvar_image_open(&m->img, m->data, size), 0);
	return r;
}

static void make_good(const struct elf_maker *f, struct made *m)
{
	struct err e = { 0, "" };

	if (make(f->p, f->n, m, &e))
		fail_msg("%s", e.text);
}

/* The name at @vaddr as people read it, "-" for none. */
static const char *at(const struct made *m, uint64_t vaddr)
{
	static char text[256];
	uint32_t i = hvar_image_find(&m->img, vaddr);
	char *name;

	if (i == HVAR_IMAGE_NONE)
		return "-";
	name = image_name(&m->img, i);
	snprintf(text, sizeof(text), "%s", name);
	free(name);
	return text;
}

static const struct hvar_image_sym *sym(const struct made *m, uint64_t vaddr)
{
	return &m->img.syms[hvar_image_find(&m->img, vaddr)];
}

static const uint8_t build_id_note[] = { 4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,
					 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4 };

/*
 * Text at TEXT, data at DATA, .bss behind, TLS, a note.  Returns the index of
 * .data; .text is one less, .bss one more.
 */
static uint32_t body(struct elf_maker *f)
{
	uint32_t data;

	while (f->n % 0x1000)
		elf_maker_put(f, NULL, 1);
	elf_maker_section(f, ".note", SHT_NOTE, SHF_ALLOC, 0x1000, build_id_note, sizeof(build_id_note));
	elf_maker_seg(f, PT_NOTE, PF_R, f->sh[f->n_sh - 1].sh_offset, 0x1000, sizeof(build_id_note),
		      sizeof(build_id_note));
	while (f->n % 0x1000)
		elf_maker_put(f, NULL, 1);
	elf_maker_section(f, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, NULL, 0x400);
	elf_maker_seg(f, PT_LOAD, PF_R | PF_X, f->n - 0x400, TEXT, 0x400, 0x400);
	while (f->n % 0x1000)
		elf_maker_put(f, NULL, 1);
	data = elf_maker_section(f, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, DATA, NULL, 0x400);
	elf_maker_section(f, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, DATA + 0x400, NULL, 0x800);
	elf_maker_seg(f, PT_LOAD, PF_R | PF_W, f->n - 0x400, DATA, 0x400, 0xc00);
	elf_maker_seg(f, PT_GNU_RELRO, PF_R, f->n - 0x400, DATA, 0x100, 0x100);
	elf_maker_seg(f, PT_TLS, PF_R, f->n - 0x400, DATA, 0x20, 0x40);
	return data;
}

static void symbols(struct elf_maker *f, struct maker_table *t, uint16_t data)
{
	uint16_t text = (uint16_t)(data - 1), bss = (uint16_t)(data + 1);

	memset(t, 0, sizeof(*t));
	elf_maker_sym(f, t, "a.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	elf_maker_sym(f, t, "", DATA, 0, STB_LOCAL, STT_SECTION, data);
	elf_maker_sym(f, t, "counter", DATA + 0x100, 8, STB_LOCAL, STT_OBJECT, data);
	elf_maker_sym(f, t, "once.0", DATA + 0x110, 8, STB_LOCAL, STT_OBJECT, data);
	elf_maker_sym(f, t, "$d.7", DATA + 0x120, 0, STB_LOCAL, STT_NOTYPE, data);
	elf_maker_sym(f, t, "b.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	elf_maker_sym(f, t, "counter", DATA + 0x130, 8, STB_LOCAL, STT_OBJECT, data);
	elf_maker_sym(f, t, "", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	elf_maker_sym(f, t, "_DYNAMIC", DATA + 0x140, 0, STB_LOCAL, STT_OBJECT, data);
	elf_maker_sym(f, t, "outer", DATA + 0x200, 0x40, STB_GLOBAL, STT_OBJECT, data);
	elf_maker_sym(f, t, "lab", DATA + 0x224, 0, STB_GLOBAL, STT_NOTYPE, data);
	elf_maker_sym(f, t, "__bss_start", DATA + 0x400, 0, STB_GLOBAL, STT_NOTYPE, bss);
	elf_maker_sym(f, t, "completed.0", DATA + 0x400, 1, STB_LOCAL, STT_OBJECT, bss);
	elf_maker_sym(f, t, "_end", DATA + 0xc00, 0, STB_GLOBAL, STT_NOTYPE, bss);
	elf_maker_sym(f, t, "absolute", DATA + 0x300, 8, STB_GLOBAL, STT_OBJECT, SHN_ABS);
	elf_maker_sym(f, t, "imported", DATA + 0x300, 8, STB_GLOBAL, STT_OBJECT, SHN_UNDEF);
	elf_maker_sym(f, t, "tentative", DATA + 0x300, 8, STB_GLOBAL, STT_OBJECT, SHN_COMMON);
	elf_maker_sym(f, t, "weird", DATA + 0x300, 8, STB_GLOBAL, 12, data);
	elf_maker_sym(f, t, "outside", 0x9000, 8, STB_GLOBAL, STT_OBJECT, data);
	elf_maker_sym(f, t, "unique", DATA + 0x310, 8, STB_GNU_UNIQUE, STT_OBJECT, data);
	elf_maker_sym(f, t, "common", DATA + 0x320, 8, STB_GLOBAL, STT_COMMON, data);
	elf_maker_sym(f, t, "long", DATA + 0x330, UINT64_MAX, STB_GLOBAL, STT_OBJECT, data);
	elf_maker_sym(f, t, "fn", TEXT, 0x20, STB_GLOBAL, STT_FUNC, text);
	elf_maker_sym(f, t, "ifn", TEXT + 0x40, 0x10, STB_GLOBAL, STT_GNU_IFUNC, text);
	elf_maker_sym(f, t, "pick", TEXT + 0x40, 0x10, STB_LOCAL, STT_FUNC, text);
	elf_maker_sym(f, t, "mail@host", DATA + 0x180, 8, STB_GLOBAL, STT_OBJECT, data);
	elf_maker_sym(f, t, "per_thread", 8, 4, STB_GLOBAL, STT_TLS, data);
	elf_maker_sym(f, t, "no_thread", 0x40, 4, STB_GLOBAL, STT_TLS, data);
}

/* A whole file with .symtab. */
static void whole(struct elf_maker *f, bool is32)
{
	struct maker_table t;

	elf_maker_init(f, is32);
	symbols(f, &t, (uint16_t)body(f));
	elf_maker_table(f, &t, false, 0);
	elf_maker_end(f, true);
}

static void check_symbols(const struct made *m)
{
	uint32_t i;

	assert_string_equal(at(m, DATA + 0x100), "counter@a.c");
	assert_string_equal(at(m, DATA + 0x137), "counter@b.c");
	assert_string_equal(at(m, DATA + 0x117), "once.0");
	assert_string_equal(at(m, DATA + 0x118), "-");
	assert_string_equal(at(m, DATA + 0x120), "-");
	assert_string_equal(at(m, DATA + 0x140), "_DYNAMIC");
	assert_string_equal(at(m, DATA + 0x141), "-");
	assert_string_equal(at(m, DATA + 0x228), "outer");
	assert_string_equal(at(m, DATA + 0x224), "outer");
	assert_string_equal(at(m, DATA + 0x240), "-");
	assert_string_equal(at(m, DATA + 0x400), "completed.0");
	assert_string_equal(at(m, DATA + 0xc00), "-");
	assert_string_equal(at(m, DATA + 0x300), "-");
	assert_string_equal(at(m, 0x9000), "-");
	assert_string_equal(at(m, DATA + 0x310), "unique");
	assert_int_equal(sym(m, DATA + 0x310)->binding, HVAR_BIND_UNIQUE);
	assert_string_equal(at(m, DATA + 0x327), "common");
	assert_string_equal(at(m, DATA + 0x180), "mail@host");
	assert_string_equal(at(m, TEXT + 0x1f), "fn");
	assert_string_equal(at(m, TEXT + 0x20), "-");
	assert_string_equal(at(m, TEXT + 0x41), "ifn");
	assert_int_equal(sym(m, TEXT + 0x41)->type, HVAR_SYM_IFUNC);
	i = hvar_image_find_tls(&m->img, 0xb);
	assert_string_equal(hvar_image_str(&m->img, m->img.tls_syms[i].name), "per_thread");
	assert_int_equal(m->img.n_tls_syms, 1);
	assert_int_equal(m->img.build_id_len, 8);
	assert_memory_equal(m->img.build_id, build_id_note + 16, 8);
}

static void test_symtab(void **state)
{
	for (int is32 = 0; is32 < 2; is32++) {
		struct elf_maker f;
		struct made m;
		uint32_t s;

		(void)state;
		whole(&f, is32);
		make_good(&f, &m);
		check_symbols(&m);
		assert_int_equal(!!(m.img.flags & HVAR_IMAGE_ELF32), is32);
		assert_false(m.img.flags & HVAR_IMAGE_STRIPPED);
		s = hvar_image_section(&m.img, DATA + 0x404);
		assert_string_equal(hvar_image_str(&m.img, m.img.sections[s].name), ".bss");
		assert_int_equal(m.img.sections[s].kind, HVAR_KIND_BSS);
		s = sym(&m, DATA + 0x200)->section;
		assert_string_equal(hvar_image_str(&m.img, m.img.sections[s].name), ".data");
		/* a size that runs over the end of memory is none; one over the segment's is cut */
		assert_string_equal(at(&m, DATA + 0x330), "long");
		assert_string_equal(at(&m, DATA + 0x331), is32 ? "long" : "-");
		assert_string_equal(at(&m, DATA + 0xbff), is32 ? "long" : "-");
		free(m.data);
		elf_maker_fini(&f);
	}
}

/* ---- versions ---- */

/* Verdef V_1 and V_2 behind the base; their names stand in @t. */
static size_t versions(struct maker_table *t, uint8_t *out)
{
	static const char *const names[] = { "lib.so", "V_1", "V_2" };
	size_t n = 0;

	for (uint16_t i = 0; i < 3; i++) {
		Elf64_Verdef d = { 1, i ? 0 : VER_FLG_BASE, (uint16_t)(i + 1), 1, 0, sizeof(d),
				   i < 2 ? sizeof(d) + sizeof(Elf64_Verdaux) : 0 };
		Elf64_Verdaux a = { (uint32_t)t->used, 0 };

		t->used += strlen(strcpy(t->strs + t->used, names[i])) + 1;
		memcpy(out + n, &d, sizeof(d));
		memcpy(out + n + sizeof(d), &a, sizeof(a));
		n += sizeof(d) + sizeof(a);
	}
	return n;
}

static void test_versions(void **state)
{
	/* with .symtab as the GNU linker writes it, and stripped */
	for (int stripped = 0; stripped < 2; stripped++) {
		uint16_t versym[] = { 0, 0x8002, 3, 2, 3 };
		struct maker_table dyn = { .n = 0 }, t = { .n = 0 };
		uint8_t verdef[256];
		struct elf_maker f;
		uint32_t dynsym, i;
		uint16_t data;
		struct made m;
		size_t n;

		(void)state;
		elf_maker_init(&f, false);
		data = (uint16_t)body(&f);
		elf_maker_sym(&f, &dyn, "tab", DATA + 0x100, 0x40, STB_GLOBAL, STT_OBJECT, data);
		elf_maker_sym(&f, &dyn, "tab", DATA + 0x180, 0x80, STB_GLOBAL, STT_OBJECT, data);
		elf_maker_sym(&f, &dyn, "one", DATA + 0x200, 8, STB_GLOBAL, STT_OBJECT, data);
		elf_maker_sym(&f, &dyn, "two", DATA + 0x208, 8, STB_GLOBAL, STT_OBJECT, data);
		n = versions(&dyn, verdef);
		dynsym = elf_maker_table(&f, &dyn, true, 0);
		i = elf_maker_section(&f, ".gnu.version", SHT_GNU_versym, SHF_ALLOC, 0, versym, sizeof(versym));
		f.sh[i].sh_link = dynsym;
		i = elf_maker_section(&f, ".gnu.version_d", SHT_GNU_verdef, SHF_ALLOC, 0, verdef, n);
		f.sh[i].sh_link = dynsym + 1;
		if (!stripped) {
			elf_maker_sym(&f, &t, "two", DATA + 0x210, 8, STB_LOCAL, STT_OBJECT, data);
			elf_maker_sym(&f, &t, "tab@V_1", DATA + 0x100, 0x40, STB_GLOBAL, STT_OBJECT, data);
			elf_maker_sym(&f, &t, "tab@@V_2", DATA + 0x180, 0x80, STB_GLOBAL, STT_OBJECT, data);
			elf_maker_sym(&f, &t, "one@V_1", DATA + 0x200, 8, STB_GLOBAL, STT_OBJECT, data);
			elf_maker_sym(&f, &t, "two@@V_2", DATA + 0x208, 8, STB_GLOBAL, STT_OBJECT, data);
			elf_maker_sym(&f, &t, "odd@V_9", DATA + 0x220, 8, STB_GLOBAL, STT_OBJECT, data);
			elf_maker_table(&f, &t, false, 0);
		}
		elf_maker_end(&f, true);
		make_good(&f, &m);
		assert_string_equal(at(&m, DATA + 0x13f), "tab@V_1");
		assert_string_equal(at(&m, DATA + 0x1ff), "tab@@V_2");
		assert_string_equal(at(&m, DATA + 0x200), "one");
		assert_string_equal(at(&m, DATA + 0x208), "two");
		assert_string_equal(at(&m, DATA + 0x220), stripped ? "-" : "odd@V_9");
		assert_int_equal(!!(m.img.flags & HVAR_IMAGE_STRIPPED), stripped);
		/* what stands in both tables stands in the image once */
		assert_int_equal(m.img.n_syms, stripped ? 4 : 6);
		free(m.data);
		elf_maker_fini(&f);
	}
}

/* ---- no section headers ---- */

enum { BY_HASH, BY_GNU_HASH, BY_NOTHING, HASHES };

static void dynamic_file(struct elf_maker *f, bool is32, int hash)
{
	struct maker_table t = { .n = 0 };
	uint32_t words[] = { 1, 4, 0, 0, 0, 0, 0 }, gnu[] = { 2, 2, 1, 0, 0, 0, 3, 2, 2 | 1, 4 | 1 };
	uint64_t dyn[16] = { 0 }, vaddr;
	uint32_t n = 0, i;
	uint16_t data;
	size_t base;

	elf_maker_init(f, is32);
	data = (uint16_t)body(f);
	elf_maker_sym(f, &t, "imported", 0, 0, STB_GLOBAL, STT_OBJECT, SHN_UNDEF);
	elf_maker_sym(f, &t, "x", DATA + 0x100, 8, STB_GLOBAL, STT_OBJECT, data);
	elf_maker_sym(f, &t, "y", DATA + 0x108, 8, STB_WEAK, STT_OBJECT, data);
	while (f->n % 0x1000)
		elf_maker_put(f, NULL, 1);
	base = f->n;
	vaddr = 0x8000;
	if (is32) /* one bloom word of 4 bytes, not 8 */
		memmove(gnu + 5, gnu + 6, 4 * sizeof(*gnu));
	i = elf_maker_table(f, &t, true, vaddr);
	dyn[n++] = DT_SYMTAB, dyn[n++] = vaddr;
	dyn[n++] = DT_STRTAB, dyn[n++] = vaddr + (f->sh[i + 1].sh_offset - base);
	dyn[n++] = DT_STRSZ, dyn[n++] = t.used;
	dyn[n++] = DT_SYMENT, dyn[n++] = f->sh[i].sh_entsize;
	if (hash == BY_HASH) {
		i = elf_maker_section(f, ".hash", SHT_HASH, SHF_ALLOC, 0, words, sizeof(words));
		dyn[n++] = DT_HASH, dyn[n++] = vaddr + (f->sh[i].sh_offset - base);
	} else if (hash == BY_GNU_HASH) {
		i = elf_maker_section(f, ".gnu.hash", SHT_GNU_HASH, SHF_ALLOC, 0, gnu, sizeof(gnu));
		dyn[n++] = DT_GNU_HASH, dyn[n++] = vaddr + (f->sh[i].sh_offset - base);
	}
	n += 2;
	for (i = 0; is32 && i < n; i++)
		((uint32_t *)dyn)[i] = (uint32_t)dyn[i];
	i = elf_maker_section(f, ".dynamic", SHT_DYNAMIC, SHF_ALLOC, 0, dyn, n * (is32 ? 4 : 8));
	elf_maker_seg(f, PT_DYNAMIC, PF_R, f->sh[i].sh_offset, vaddr + (f->sh[i].sh_offset - base),
		      f->sh[i].sh_size, f->sh[i].sh_size);
	elf_maker_seg(f, PT_LOAD, PF_R, base, vaddr, f->n - base, f->n - base);
	elf_maker_end(f, false);
}

static void test_dynamic(void **state)
{
	(void)state;
	for (int hash = 0; hash < HASHES; hash++) {
		for (int is32 = 0; is32 < 2; is32++) {
			struct elf_maker f;
			struct made m;

			dynamic_file(&f, is32, hash);
			make_good(&f, &m);
			assert_string_equal(at(&m, DATA + 0x107), "x");
			assert_string_equal(at(&m, DATA + 0x108), "y");
			assert_int_equal(m.img.n_syms, 2);
			assert_true(m.img.flags & HVAR_IMAGE_STRIPPED);
			assert_int_equal(hvar_image_section(&m.img, DATA), HVAR_IMAGE_NONE);
			free(m.data);
			elf_maker_fini(&f);
		}
	}
}

/* ---- more than 65,280 sections ---- */

static void test_many_sections(void **state)
{
	enum { MORE = 70000, LAST = MORE + 2 };
	static const char names[] = "\0.text\0.last\0.syms\0.strs";
	Elf64_Sym syms[2] = { { 0 }, { 1, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, SHN_XINDEX, DATA + MORE, 1 } };
	uint32_t xindex[2] = { 0, LAST - 1 };
	size_t n = 65536, at_syms = 1024, at_names = 2048, at_x = 3072;
	uint8_t *p = calloc(1, n + (LAST + 4) * sizeof(Elf64_Shdr));
	Elf64_Ehdr *h = (void *)p;
	Elf64_Phdr *ph = (void *)(p + 64);
	Elf64_Shdr *sh = (void *)(p + n);
	struct err e = { 0, "" };
	struct made m;
	uint32_t i, s;

	(void)state;
	memcpy(h->e_ident, "\177ELF\2\1\1", 7);
	h->e_type = ET_DYN;
	h->e_machine = EM_X86_64;
	h->e_version = 1;
	h->e_phoff = 64;
	h->e_phentsize = sizeof(*ph);
	h->e_phnum = PN_XNUM;
	h->e_shoff = n;
	h->e_shentsize = sizeof(*sh);
	h->e_shstrndx = SHN_XINDEX;
	sh[0].sh_size = LAST + 4;
	sh[0].sh_link = LAST + 2;
	sh[0].sh_info = 1;
	ph->p_type = PT_LOAD;
	ph->p_flags = PF_R | PF_W;
	ph->p_vaddr = DATA;
	ph->p_filesz = 0x1000;
	ph->p_memsz = 0x100000;
	memcpy(p + at_syms, syms, sizeof(syms));
	memcpy(p + at_names, names, sizeof(names));
	memcpy(p + at_x, xindex, sizeof(xindex));
	for (i = 1; i < LAST; i++) {
		sh[i].sh_name = i == LAST - 1 ? 7 : 1;
		sh[i].sh_type = SHT_NOBITS;
		sh[i].sh_flags = SHF_ALLOC | SHF_WRITE;
		sh[i].sh_addr = DATA + i - 1;
		sh[i].sh_size = 1;
	}
	sh[LAST - 1].sh_addr = DATA + MORE;
	sh[LAST] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_offset = at_syms, .sh_size = sizeof(syms),
		.sh_entsize = sizeof(*syms), .sh_link = LAST + 2 };
	sh[LAST + 1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB_SHNDX, .sh_offset = at_x,
		.sh_size = sizeof(xindex), .sh_link = LAST };
	sh[LAST + 2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = at_names, .sh_size = sizeof(names) };
	if (make(p, n + (LAST + 4) * sizeof(*sh), &m, &e))
		fail_msg("%s", e.text);
	assert_string_equal(at(&m, DATA + MORE), ".text"); /* it shares that string table */
	s = sym(&m, DATA + MORE)->section;
	assert_string_equal(hvar_image_str(&m.img, m.img.sections[s].name), ".last");
	assert_int_equal(m.img.n_sections, LAST - 1);
	free(m.data);
	free(p);
}

/* ---- what is refused ---- */

static void refuse(const void *p, size_t n, int want, const char *word)
{
	struct err e = { 0, "" };
	struct made m;
	int r = make(p, n, &m, &e);

	if (!r)
		free(m.data);
	assert_int_equal(r, want);
	if (!strstr(e.text, word))
		fail_msg("no '%s' in: %s", word, e.text);
}

static void test_refused(void **state)
{
	struct err e = { 0, "" };
	char dir[] = "/tmp/hotvar-test-XXXXXX", path[64];
	struct elf_maker f;
	size_t size;
	void *data;
	int fd;

	(void)state;
	whole(&f, false);
	refuse("", 0, -ENOEXEC, "empty");
	refuse("#!/bin/sh\n123456789", 19, -ENOEXEC, "no ELF file");
	f.p[EI_DATA] = ELFDATA2MSB;
	refuse(f.p, f.n, -ENOTSUP, "big-endian");
	f.p[EI_DATA] = ELFDATA2LSB;
	f.p[18] = EM_AARCH64;
	refuse(f.p, f.n, -ENOTSUP, "another machine");
	f.p[18] = EM_X86_64;
	f.p[16] = ET_REL;
	refuse(f.p, f.n, -ENOTSUP, "object file");
	f.p[16] = ET_CORE;
	refuse(f.p, f.n, -ENOTSUP, "core dump");
	f.p[16] = ET_DYN;
	f.p[EI_CLASS] = 3;
	refuse(f.p, f.n, -EBADMSG, "class");
	f.p[EI_CLASS] = ELFCLASS64;
	refuse(f.p, f.n - 1, -EBADMSG, "cut short");
	elf_maker_fini(&f);

	assert_non_null(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(image_build_fd(fd, "dir", &data, &size, &e), -EINVAL);
	assert_non_null(strstr(e.text, "a directory"));
	close(fd);
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(image_build_fd(fd, "fifo", &data, &size, &e), -EINVAL);
	assert_non_null(strstr(e.text, "a FIFO"));
	close(fd);
	unlink(path);
	rmdir(dir);
}

/* A file in memory, as a descriptor. */
static int file_of(const void *p, size_t n)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	return fd;
}

static void test_fd(void **state)
{
	uint8_t id[HVAR_BUILD_ID_MAX];
	struct err e = { 0, "" };
	struct elf_maker f;
	struct made m;
	size_t size;
	int fd;

	(void)state;
	whole(&f, false);
	fd = file_of(f.p, f.n);
	assert_int_equal(lseek(fd, 77, SEEK_SET), 77);
	assert_int_equal(image_build_fd(fd, "x", &m.data, &size, &e), 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 77);
	assert_int_equal(hvar_image_open(&m.img, m.data, size), 0);
	check_symbols(&m);
	assert_int_equal(image_build_id(fd, id, sizeof(id)), 8);
	assert_memory_equal(id, build_id_note + 16, 8);
	assert_int_equal(image_build_id(fd, id, 4), 0);
	free(m.data);
	close(fd);
	fd = file_of("nothing of that kind", 20);
	assert_int_equal(image_build_id(fd, id, sizeof(id)), -ENOEXEC);
	close(fd);
	elf_maker_fini(&f);
}

/* A few blocks that claim a table of gigabytes, or a million sections, in a hole: refused, not read. */
static void test_sparse(void **state)
{
	Elf64_Shdr zero = { .sh_size = 1000000 };
	uint8_t id[HVAR_BUILD_ID_MAX];
	char path[] = "/tmp/hotvar-test-XXXXXX";
	struct err e = { 0, "" };
	struct elf_maker f;
	size_t size;
	void *data;
	int fd = mkstemp(path);
	uint32_t i;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	whole(&f, false);
	for (i = 0; i < f.n_sh; i++)
		if (f.sh[i].sh_type == SHT_SYMTAB)
			break;
	f.sh[i].sh_size = sizeof(Elf64_Sym) * 80000000ull;
	memcpy(f.p + f.shoff, f.sh, f.n_sh * sizeof(*f.sh));
	assert_int_equal(write(fd, f.p, f.n), f.n);
	if (ftruncate(fd, (off_t)8 << 30)) {
		print_message("no file of 8 GiB can be made here: not tried\n");
	} else {
		assert_int_equal(image_build_fd(fd, "sparse", &data, &size, &e), -EBADMSG);
		assert_non_null(strstr(e.text, "a symbol table"));
		((Elf64_Ehdr *)(void *)f.p)->e_shoff = 1 << 20;
		((Elf64_Ehdr *)(void *)f.p)->e_shnum = 0;
		assert_int_equal(pwrite(fd, f.p, sizeof(Elf64_Ehdr), 0), sizeof(Elf64_Ehdr));
		assert_int_equal(pwrite(fd, &zero, sizeof(zero), 1 << 20), sizeof(zero));
		assert_int_equal(image_build_fd(fd, "sparse", &data, &size, &e), -EBADMSG);
		assert_non_null(strstr(e.text, "section headers"));
		assert_int_equal(image_build_id(fd, id, sizeof(id)), -EBADMSG);
	}
	close(fd);
	elf_maker_fini(&f);
}

/* ---- damage ---- */

/* A name that is given must be the one the whole file has there. */
static void check_no_wrong_name(const struct made *whole_one, const struct made *m)
{
	char want[256];

	for (uint64_t a = TEXT; a < DATA + 0xd00; a += 4) {
		const char *got = at(m, a);

		if (!strcmp(got, "-"))
			continue;
		snprintf(want, sizeof(want), "%s", got);
		assert_string_equal(at(whole_one, a), want);
	}
}

static void test_truncated(void **state)
{
	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		struct made good, m;
		unsigned refused = 0;
		struct elf_maker f;

		if (kind < 2)
			whole(&f, kind);
		else
			dynamic_file(&f, false, BY_GNU_HASH);
		make_good(&f, &good);
		for (size_t n = 0; n < f.n; n++) {
			uint8_t *part = malloc(n ? n : 1); /* so that reading past it is seen */
			struct err e = { 0, "" };
			int r;

			memcpy(part, f.p, n);
			r = make(part, n, &m, &e);
			if (r) {
				refused++;
				assert_true(r == -EBADMSG || r == -ENOEXEC);
				assert_true(*e.text);
			} else {
				check_no_wrong_name(&good, &m);
				free(m.data);
			}
			free(part);
		}
		/* without section headers nothing but the last PT_LOAD's end tells */
		assert_true(refused > f.n - 16);
		free(good.data);
		elf_maker_fini(&f);
	}
}

/* Every 2, 4 and 8 bytes of all headers and tables, set to extremes. */
static void test_extremes(void **state)
{
	static const uint64_t extremes[] = { 0, 1, 2, 0x7f, 0xff, 0x7fff, 0xfff1, 0xffff, 0x7fffffff,
		0xfffffff0, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffff0000,
		UINT64_MAX };
	unsigned opened = 0, refused = 0;

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct elf_maker f;
		uint8_t *bad;

		if (kind < 2)
			whole(&f, kind);
		else
			dynamic_file(&f, kind == 3, kind == 3 ? BY_HASH : BY_GNU_HASH);
		bad = malloc(f.n);
		for (size_t i = 0; i < f.n; i += 2) {
			if (i == MAKER_HEAD)
				i = kind < 2 ? 0x3400 : 0x4000; /* over the sections' zeros */
			for (unsigned k = 0; k < sizeof(extremes) / sizeof(*extremes); k++) {
				size_t width = k < 8 ? 2 : k < 11 ? 4 : 8;
				struct err e = { 0, "" };
				struct made m;

				if (i % width || i + width > f.n)
					continue;
				memcpy(bad, f.p, f.n);
				memcpy(bad + i, &extremes[k], width);
				if (make(bad, f.n, &m, &e)) {
					assert_true(*e.text);
					refused++;
					continue;
				}
				opened++;
				free(m.data);
			}
		}
		free(bad);
		elf_maker_fini(&f);
	}
	assert_true(opened > 1000 && refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symtab),	  cmocka_unit_test(test_versions),
		cmocka_unit_test(test_dynamic),	  cmocka_unit_test(test_many_sections),
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_fd),
		cmocka_unit_test(test_sparse),	  cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
