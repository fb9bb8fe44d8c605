// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lookup.c - finding a name and opening an image, on a file of 100,000 symbols, against libdwfl.
 *
 * The file is written here: variables and labels in one section, as many as a browser's library has.
 */
#include "config.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/hvar_image.h"
#include "translator-hooks/image_cache.h"

enum { SYMBOLS = 100000, STEP = 24, BASE = 0x10000, OURS = 2000000, THEIRS = 100, OPENS = 101 };

static double now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die(const char *what)
{
	fprintf(stderr, "lookup: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ELF header, program header, symbols, strings, section names, section headers. */
static void write_elf(const char *path)
{
	static const char sections[] = "\0.bss\0.symtab\0.strtab\0.shstrtab";
	uint64_t n_syms = (uint64_t)(SYMBOLS + 1) * sizeof(Elf64_Sym), at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	char *strs = malloc((size_t)SYMBOLS * 32);
	Elf64_Sym *syms = calloc(SYMBOLS + 1, sizeof(*syms));
	uint32_t used = 1, i;
	FILE *f = fopen(path, "w");

	if (!strs || !syms || !f)
		die(path);
	strs[0] = '\0';
	for (i = 1; i <= SYMBOLS; i++) {
		syms[i] = (Elf64_Sym){ used, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 1, BASE + (uint64_t)(i - 1) * STEP, 16 };
		used += (uint32_t)sprintf(strs + used, "subsystem_variable_%u", i) + 1;
	}
	Elf64_Ehdr h = { .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = 1, .e_phoff = sizeof(h),
		.e_shoff = (at + n_syms + used + sizeof(sections) + 7) & ~7ull, .e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 5, .e_shstrndx = 4 };
	Elf64_Phdr p = { .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = BASE, .p_memsz = (uint64_t)SYMBOLS * STEP, .p_align = 4096 };
	Elf64_Shdr s[5] = { { 0 },
		{ 1, SHT_NOBITS, SHF_ALLOC | SHF_WRITE, BASE, at, (uint64_t)SYMBOLS * STEP, 0, 0, 8, 0 },
		{ 6, SHT_SYMTAB, 0, 0, at, n_syms, 3, 1, 8, sizeof(Elf64_Sym) },
		{ 14, SHT_STRTAB, 0, 0, at + n_syms, used, 0, 0, 1, 0 },
		{ 22, SHT_STRTAB, 0, 0, at + n_syms + used, sizeof(sections), 0, 0, 1, 0 } };

	memcpy(h.e_ident, "\177ELF\2\1\1", 7);
	if (fwrite(&h, sizeof(h), 1, f) != 1 || fwrite(&p, sizeof(p), 1, f) != 1 ||
	    fwrite(syms, n_syms, 1, f) != 1 || fwrite(strs, used, 1, f) != 1 ||
	    fwrite(sections, sizeof(sections), 1, f) != 1 || fseek(f, (long)h.e_shoff, SEEK_SET) ||
	    fwrite(s, sizeof(s), 1, f) != 1 || fclose(f))
		die(path);
	free(strs);
	free(syms);
}

static uint64_t rng = 88172645463325252u;

static uint64_t random_vaddr(void)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return BASE + (rng * 2685821657736338717u >> 32) % ((uint64_t)SYMBOLS * STEP);
}

/* Milliseconds of one look-up by libdwfl; every answer is compared with ours. */
static double theirs(const char *path, const struct hvar_image *img)
{
	static const Dwfl_Callbacks callbacks = { .find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address, .find_elf = dwfl_build_id_find_elf };
	Dwfl *d = dwfl_begin(&callbacks);
	Dwfl_Module *m = d ? dwfl_report_elf(d, "x", path, -1, 0, true) : NULL;
	GElf_Sym sym;
	GElf_Off off;
	double start, sum;

	if (!m || dwfl_report_end(d, NULL, NULL)) {
		fprintf(stderr, "lookup: libdwfl: %s\n", dwfl_errmsg(-1));
		exit(1);
	}
	dwfl_module_addrinfo(m, BASE, &off, &sym, NULL, NULL, NULL); /* the first call reads the table */
	start = now(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < THEIRS; i++) {
		uint64_t vaddr = random_vaddr();
		const char *name = dwfl_module_addrinfo(m, vaddr, &off, &sym, NULL, NULL, NULL);
		uint32_t s = hvar_image_find(img, vaddr);

		/* between two variables libdwfl takes the one before */
		if (s != HVAR_IMAGE_NONE && (!name || strcmp(name, hvar_image_str(img, img->syms[s].name)))) {
			fprintf(stderr, "lookup: libdwfl says %s at %#" PRIx64 ", we do not\n", name ? name : "nothing", vaddr);
			exit(1);
		}
	}
	sum = now(CLOCK_PROCESS_CPUTIME_ID) - start;
	dwfl_end(d);
	return sum / THEIRS;
}

static double ours(const struct hvar_image *img)
{
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t found = 0;

	for (int i = 0; i < OURS; i++)
		found += hvar_image_find(img, random_vaddr()) != HVAR_IMAGE_NONE;
	if (found < OURS / 2 || found > OURS - OURS / 5) {
		fprintf(stderr, "lookup: %" PRIu64 " of %d found: two thirds should be\n", found, OURS);
		exit(1);
	}
	return (now(CLOCK_PROCESS_CPUTIME_ID) - start) / OURS;
}

static int by_value(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

static struct image_file *get(int fd, const char *path)
{
	struct image_file *f;
	struct err e = { 0, "" };

	if (image_cache_get(fd, path, &f, &e)) {
		fprintf(stderr, "lookup: %s\n", e.text);
		exit(1);
	}
	return f;
}

int main(void)
{
	char dir[] = "/tmp/hotvar-bench-XXXXXX", path[64], clean[80];
	double t[OPENS], start, a, b;
	struct image_file *f;
	int fd, i;

	if (!mkdtemp(dir))
		die(dir);
	snprintf(path, sizeof(path), "%s/elf", dir);
	setenv("XDG_CACHE_HOME", dir, 1);
	write_elf(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	/* a file that was just written is not trusted to be unchanged: not what is measured */
	usleep(1500000);
	start = now(CLOCK_MONOTONIC);
	image_file_free(get(fd, path));
	printf("image of %d symbols built and kept in %.1f ms\n", SYMBOLS, now(CLOCK_MONOTONIC) - start);
	for (i = 0; i < OPENS; i++) {
		start = now(CLOCK_MONOTONIC);
		f = get(fd, path);
		t[i] = now(CLOCK_MONOTONIC) - start;
		if (!f->cached || f->img.n_syms != SYMBOLS) {
			fprintf(stderr, "lookup: not from the cache: %s\n", image_cache_why() ? image_cache_why() : "");
			return 1;
		}
		if (i < OPENS - 1)
			image_file_free(f);
	}
	qsort(t, OPENS, sizeof(*t), by_value);
	a = ours(&f->img);
	b = theirs(path, &f->img);
	printf("look-up %.1f ns, libdwfl %.0f ns; open %.3f ms (median), %.1f bytes a symbol with names\n", a * 1e6,
	       b * 1e6, t[OPENS / 2], (double)f->size / SYMBOLS);
	/* milliseconds, for one of which there is a goal */
	printf("bench image-open-ms ratio %.3f goal <= 1\n", t[OPENS / 2]);
	printf("bench image-lookup ratio %.0f goal >= 1000\n", b / a);
	image_file_free(f);
	close(fd);
	snprintf(clean, sizeof(clean), "rm -rf '%s'", dir);
	return system(clean) ? 1 : 0;
}
