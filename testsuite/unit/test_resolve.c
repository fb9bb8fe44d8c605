// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_resolve.c - addresses through the map to names: layouts that linkers make, and random ones.
 *
 * A loader of its own, after elf(5) and the kernel's, maps made-up files; what
 * lies where is known before anything is looked up.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>

#include "image_maker.h"
#include "runtime/core/hvar_resolve.h"
#include "runtime/core/hvar_vmas.h"

#define R HVAR_PROT_READ
#define W HVAR_PROT_WRITE
#define X HVAR_PROT_EXEC
#define S HVAR_PROT_SHARED
#define P HVAR_PAGE_SIZE

enum { MODULES = 6, MAX_SYMS = 64 };

/* A file: its image, and for modules without one why. */
struct file {
	struct hvar_image img;
	void *data;
	uint32_t why;
};

struct world {
	struct hvar_vmas m;
	void *mem;
	struct file files[MODULES];
};

static void world_new(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->mem = aligned_alloc(64, hvar_vmas_bytes(256) + 64);
	assert_non_null(w->mem);
	hvar_vmas_init(&w->m, w->mem, hvar_vmas_bytes(256));
	for (int i = 0; i < MODULES; i++)
		w->files[i].why = HVAR_REASON_NO_ACCESS;
}

static void world_free(struct world *w)
{
	for (int i = 0; i < MODULES; i++)
		free(w->files[i].data);
	free(w->mem);
}

static const struct hvar_image *image_of(void *ctx, uint32_t id, uint32_t *why)
{
	struct world *w = ctx;

	assert_true(id < MODULES);
	*why = w->files[id].why;
	return w->files[id].data ? &w->files[id].img : NULL;
}

/* A symbol over every 16 bytes of each segment, "s<segment>_<number>", but for the last 8 of them. */
static void add_file(struct world *w, uint32_t id, struct hvar_image_seg *segs,
		     uint32_t n, uint64_t relro, uint64_t relro_size)
{
	static char names[MAX_SYMS][24];
	struct maker_sym syms[MAX_SYMS];
	struct maker m = { .segs = segs, .n_segs = n, .syms = syms, .relro = relro,
			   .relro_size = relro_size };
	size_t size;

	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t i = 0; i < 8; i++) {
			uint64_t step = segs[k].memsz / 8;
			struct maker_sym *y = &syms[m.n_syms];

			if (step < 2)
				break;
			snprintf(names[m.n_syms], sizeof(names[0]), "s%u_%u", k, i);
			*y = (struct maker_sym){ segs[k].vaddr + i * step, step - 1,
						 names[m.n_syms], STB_GLOBAL, STT_OBJECT, NULL };
			m.n_syms++;
		}
	}
	w->files[id].data = maker_image(&m, &size);
	w->files[id].why = HVAR_REASON_NONE;
	assert_int_equal(hvar_image_open(&w->files[id].img, w->files[id].data, size), 0);
}

static void map(struct world *w, uint64_t start, uint64_t end, uint64_t pgoff,
		uint32_t module, uint8_t prot, uint8_t region)
{
	struct hvar_vma v = { .pgoff = pgoff, .module = module, .prot = prot,
			      .region = region };

	assert_int_equal(hvar_vmas_set(&w->m, start, end, &v), 0);
}

/* As the kernel's elf_map() and ld.so do it. */
static void load_seg(struct world *w, uint32_t id, const struct hvar_image_seg *s,
		     uint64_t bias)
{
	uint64_t start = HVAR_PAGE_DOWN(s->vaddr), file = HVAR_PAGE_UP(s->vaddr + s->filesz),
		 end = HVAR_PAGE_UP(s->vaddr + s->memsz);

	if (!s->filesz)
		file = start;
	if (file > start)
		map(w, bias + start, bias + file, HVAR_PAGE_DOWN(s->offset), id,
		    (uint8_t)s->prot, HVAR_REGION_FILE);
	if (end > file)
		map(w, bias + file, bias + end, 0, 0, (uint8_t)s->prot, HVAR_REGION_ANON);
}

static const char *name_of(struct world *w, const struct hvar_place *p)
{
	const struct hvar_image *img = &w->files[p->module].img;

	return p->symbol == HVAR_IMAGE_NONE ? "-" :
					      hvar_image_str(img, img->syms[p->symbol].name);
}

/* What @addr is, as one string: module, name, kind, reason, flags. */
static const char *at(struct world *w, uint64_t addr)
{
	static char text[128];
	struct hvar_place p;

	hvar_resolve(&w->m, addr, image_of, w, &p);
	snprintf(text, sizeof(text), "%u %s %s %s%s", p.module, name_of(w, &p),
		 hvar_kind_name(p.kind), hvar_reason_name(p.reason),
		 p.flags & HVAR_PLACE_REMAPPED ? " remapped" : "");
	return text;
}

/* ---- table: layouts of cases that make tools answer wrongly ---- */

/* lld: four PT_LOADs in one page of the file, every area with pgoff 0. */
static void test_one_page(void **state)
{
	struct hvar_image_seg segs[] = {
		{ 0x000, 0x0000, 0x5f0, 0x5f0, P, R, 0 },
		{ 0x5f0, 0x15f0, 0x1e0, 0x1e0, P, R | X, 0 },
		{ 0x7d0, 0x27d0, 0x1f0, 0x830, P, R | W, 0 },
		{ 0x9c0, 0x39c0, 0x020, 0x2400, P, R | W, 0 },
	};
	const uint64_t b = 0x555555554000;
	struct world w;

	(void)state;
	world_new(&w);
	add_file(&w, 1, segs, 4, 0x27d0, 0x830);
	for (int i = 0; i < 4; i++)
		load_seg(&w, 1, &segs[i], b);
	/* RELRO is over: the first area and this one look alike now */
	map(&w, b + 0x2000, b + 0x3000, 0, 1, R, HVAR_REGION_FILE);
	assert_string_equal(at(&w, b + 0x10), "1 s0_0 rodata ");
	assert_string_equal(at(&w, b + 0x15f0), "1 s1_0 text ");
	assert_string_equal(at(&w, b + 0x27d0), "1 s2_0 relro ");
	assert_string_equal(at(&w, b + 0x39c0), "1 s3_0 data ");
	assert_string_equal(at(&w, b + 0x3a00), "1 s3_0 bss "); /* bss in the page of the file */
	assert_string_equal(at(&w, b + 0x39c0 + 0x480 * 7), "1 s3_7 bss ");
	assert_string_equal(at(&w, b + 0x39c0 + 0x480 * 8), "1 - anon gap");
	assert_string_equal(at(&w, b + 0x39bf), "1 - file gap");
	assert_string_equal(at(&w, b + 0x6000), "0 - unmapped unmapped");
	world_free(&w);
}

/* A PT_LOAD that is .bss only may carry any offset; its memory has no name. */
static void test_filesz_zero(void **state)
{
	struct hvar_image_seg segs[] = {
		{ 0, 0x200000, 0x1c0, 0x1c0, P, R, 0 },
		{ 0x1c0, 0x2011c0, 0x30, 0x30, P, R | X, 0 },
		{ 0x1f0, 0x2021f0, 0, 0x3000, P, R | W, 0 },
	};
	struct world w;

	(void)state;
	world_new(&w);
	add_file(&w, 1, segs, 3, 0, 0);
	for (int i = 0; i < 3; i++)
		load_seg(&w, 1, &segs[i], 0);
	map(&w, 0x206000, 0x227000, 0, 0, R | W, HVAR_REGION_ANON); /* merges with .bss */
	assert_string_equal(at(&w, 0x2011c0), "1 s1_0 text ");
	assert_string_equal(at(&w, 0x2000c0), "1 s0_3 rodata ");
	assert_string_equal(at(&w, 0x2021f0), "1 s2_0 bss ");
	assert_string_equal(at(&w, 0x2051ee), "1 s2_7 bss ");
	assert_string_equal(at(&w, 0x202000), "1 - anon gap");
	assert_string_equal(at(&w, 0x2021ef), "1 - anon gap");
	assert_string_equal(at(&w, 0x2051f0), "1 - anon gap"); /* slack behind */
	assert_string_equal(at(&w, 0x206000), "0 - anon no-file"); /* and not a page further */
	world_free(&w);
}

/* A library at a bias below zero, its neighbours, its gap, its remapped text. */
static void test_library(void **state)
{
	struct hvar_image_seg segs[] = {
		{ 0x0000, 0x30fd800000, 0x900, 0x900, P, R, 0 },
		{ 0x1000, 0x30fd801000, 0x2345, 0x2345, P, R | X, 0 },
		{ 0x4000, 0x30fd804000, 0x100, 0x100, P, R, 0 },
		{ 0x4df0, 0x30fda04df0, 0x250, 0x3250, P, R | W, 0 },
	};
	const uint64_t at0 = 0x10000000, b = at0 - 0x30fd800000;
	struct world w;

	(void)state;
	world_new(&w);
	add_file(&w, 2, segs, 4, 0x30fda04df0, 0x210);
	for (int i = 0; i < 4; i++)
		load_seg(&w, 2, &segs[i], b);
	map(&w, at0 + 0x5000, at0 + 0x204000, 0x5000, 2, 0, HVAR_REGION_FILE); /* ---p */
	map(&w, at0 + 0x204000, at0 + 0x205000, 0x4000, 2, R, HVAR_REGION_FILE);
	assert_string_equal(at(&w, b + segs[1].vaddr), "2 s1_0 text ");
	assert_string_equal(at(&w, b + segs[3].vaddr), "2 s3_0 relro ");
	assert_string_equal(at(&w, b + segs[3].vaddr + 0x24f), "2 s3_0 data ");
	assert_string_equal(at(&w, b + segs[3].vaddr + 0x7000 / 4), "2 s3_4 bss ");
	assert_string_equal(at(&w, at0 + 0x100000), "2 - file gap");
	/* text on huge pages: anonymous memory in place of the file's */
	map(&w, at0 + 0x1000, at0 + 0x4000, 0, 0, R | X, HVAR_REGION_JIT);
	assert_string_equal(at(&w, b + segs[1].vaddr), "2 s1_0 text  remapped");
	assert_string_equal(at(&w, b + segs[3].vaddr + 0x24f), "2 s3_0 data ");
	/* its data too */
	map(&w, at0 + 0x205000, at0 + 0x206000, 0, 0, R | W, HVAR_REGION_ANON);
	assert_string_equal(at(&w, b + segs[3].vaddr + 0x24f), "2 s3_0 data  remapped");
	/* anonymous memory elsewhere is nobody's */
	map(&w, at0 + 0x300000, at0 + 0x301000, 0, 0, R | W, HVAR_REGION_ANON);
	assert_string_equal(at(&w, at0 + 0x300000), "0 - anon no-file");
	map(&w, at0 - 0x1000, at0, 0, 0, R | W, HVAR_REGION_ANON);
	assert_string_equal(at(&w, at0 - 1), "0 - anon no-file");
	world_free(&w);
}

/* A PT_LOAD that is .bss only, behind a hole that the loader left mapped without rights. */
static void test_hole(void **state)
{
	struct hvar_image_seg segs[] = {
		{ 0x0000, 0x0000, 0x4b0, 0x4b0, P, R, 0 },
		{ 0x1000, 0x1000, 0x111, 0x111, P, R | X, 0 },
		{ 0x1e60, 0x2e60, 0x1ac, 0x1ac, P, R | W, 0 },
		{ 0x0000, 0x6000, 0, 0x2068, 2 * P, R | W, 0 },
	};
	const uint64_t b = 0x7f0000000000;
	struct world w;

	(void)state;
	world_new(&w);
	add_file(&w, 3, segs, 4, 0, 0);
	for (int i = 0; i < 4; i++)
		load_seg(&w, 3, &segs[i], b);
	map(&w, b + 0x4000, b + 0x6000, 0x4000, 3, 0, HVAR_REGION_FILE); /* ---p */
	assert_string_equal(at(&w, b + 0x6000), "3 s3_0 bss ");
	assert_string_equal(at(&w, b + 0x8066), "3 s3_7 bss ");
	assert_string_equal(at(&w, b + 0x8068), "3 - anon gap");
	assert_string_equal(at(&w, b + 0x4000), "3 - file gap");
	/* Two of them, and what is behind is somebody else's. */
	map(&w, b + 0x5000, b + 0x6000, 0x9000, 3, 0, HVAR_REGION_FILE);
	map(&w, b + 0x9000, b + 0xa000, 0, 0, R | W, HVAR_REGION_ANON);
	assert_string_equal(at(&w, b + 0x6000), "3 s3_0 bss ");
	assert_string_equal(at(&w, b + 0x9000), "0 - anon no-file");
	world_free(&w);
}

/* With ASLR off the heap follows .bss in one area, which maps calls [heap]. */
static void test_heap_behind_bss(void **state)
{
	struct hvar_image_seg segs[] = {
		{ 0, 0x400000, 0x800, 0x800, P, R | X, 0 },
		{ 0x800, 0x401800, 0x100, 0x2100, P, R | W, 0 },
	};
	struct world w;

	(void)state;
	world_new(&w);
	add_file(&w, 1, segs, 2, 0, 0);
	load_seg(&w, 1, &segs[0], 0);
	load_seg(&w, 1, &segs[1], 0);
	map(&w, 0x402000, 0x425000, 0, 0, R | W, HVAR_REGION_HEAP);
	assert_string_equal(at(&w, 0x402100), "1 s1_2 bss ");
	assert_string_equal(at(&w, 0x4038fe), "1 s1_7 bss ");
	assert_string_equal(at(&w, 0x403900), "1 - heap gap");
	assert_string_equal(at(&w, 0x404000), "0 - heap no-file");
	world_free(&w);
}

/* Mapped to be read, not to run: its variables are not there. */
static void test_mapped_as_data(void **state)
{
	struct hvar_image_seg segs[] = {
		{ 0, 0, 0x900, 0x900, P, R, 0 }, { 0x1000, 0x1000, 0x900, 0x900, P, R | X, 0 },
		{ 0x2000, 0x3000, 0x900, 0x1900, P, R | W, 0 },
	};
	static const uint8_t prots[] = { R, R | W, R | X, R | S, R | W | S, R | W | X };
	struct world w;

	(void)state;
	for (unsigned i = 0; i < sizeof(prots); i++) {
		world_new(&w);
		add_file(&w, 1, segs, 3, 0, 0);
		map(&w, 0x70000000, 0x70003000, 0, 1, prots[i], HVAR_REGION_FILE);
		map(&w, 0x70003000, 0x70005000, 0, 0, R | W, HVAR_REGION_ANON);
		for (uint64_t a = 0x70000000; a < 0x70003000; a += 0x800)
			assert_string_equal(at(&w, a), "1 - file not-loaded");
		assert_string_equal(at(&w, 0x70003000), "0 - anon no-file");
		world_free(&w);
	}
}

/* Loaded twice (dlmopen), and read as data too: each area by its own bias. */
static void test_loaded_twice(void **state)
{
	struct hvar_image_seg segs[] = {
		{ 0, 0, 0x900, 0x900, P, R | X, 0 }, { 0x900, 0x1900, 0x100, 0x1000, P, R | W, 0 },
	};
	struct world w;

	(void)state;
	world_new(&w);
	add_file(&w, 1, segs, 2, 0, 0);
	map(&w, 0x40000, 0x41000, 0, 1, R, HVAR_REGION_FILE);
	for (int i = 0; i < 2; i++) {
		load_seg(&w, 1, &segs[i], 0x50000);
		load_seg(&w, 1, &segs[i], 0x60000);
	}
	assert_string_equal(at(&w, 0x51900), "1 s1_0 data ");
	assert_string_equal(at(&w, 0x61900), "1 s1_0 data ");
	assert_string_equal(at(&w, 0x62200), "1 s1_4 bss ");
	assert_string_equal(at(&w, 0x40900), "1 - file not-loaded");
	world_free(&w);
}

static void test_regions(void **state)
{
	static const struct {
		uint8_t region;
		const char *want;
	} rows[] = {
		{ HVAR_REGION_ANON, "0 - anon no-file" }, { HVAR_REGION_HEAP, "0 - heap no-file" },
		{ HVAR_REGION_STACK, "0 - stack no-file" }, { HVAR_REGION_SHM, "0 - shm no-file" },
		{ HVAR_REGION_VVAR, "0 - vvar no-file" }, { HVAR_REGION_JIT, "0 - jit no-file" },
		{ HVAR_REGION_VSYSCALL, "0 - vsyscall no-file" },
		{ HVAR_REGION_FILE, "0 - file no-access" },
	};
	static const struct {
		uint32_t why;
		const char *want;
	} whys[] = {
		{ HVAR_REASON_STALE, "3 - file stale-file" },
		{ HVAR_REASON_NO_ACCESS, "3 - file no-access" },
		{ HVAR_REASON_NO_ELF, "3 - file no-elf" },
		{ HVAR_REASON_BAD_ELF, "3 - file bad-elf" },
	};
	struct hvar_image_seg vdso = { 0, 0, 0xc00, 0xc00, P, R | X, 0 };
	struct hvar_place p;
	struct world w;

	(void)state;
	world_new(&w);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		map(&w, 0x1000, 0x2000, 0, 0, R | W, rows[i].region);
		assert_string_equal(at(&w, 0x1234), rows[i].want);
	}
	map(&w, 0x1000, 0x3000, 0x7000, 3, R, HVAR_REGION_FILE);
	for (unsigned i = 0; i < sizeof(whys) / sizeof(*whys); i++) {
		w.files[3].why = whys[i].why;
		assert_string_equal(at(&w, 0x1234), whys[i].want);
	}
	hvar_resolve(&w.m, 0x2234, image_of, &w, &p);
	assert_true(p.flags & HVAR_PLACE_OFFSET);
	assert_int_equal(p.file_offset, 0x8234);
	add_file(&w, 4, &vdso, 1, 0, 0);
	map(&w, 0x7ffff7fc0000, 0x7ffff7fc2000, 0, 4, R | X, HVAR_REGION_VDSO);
	assert_string_equal(at(&w, 0x7ffff7fc0180), "4 s0_1 vdso ");
	assert_string_equal(at(&w, 0x7ffff7fc1000), "4 - vdso gap");
	assert_string_equal(at(&w, 0), "0 - unmapped unmapped");
	assert_string_equal(at(&w, UINT64_MAX), "0 - unmapped unmapped");
	for (uint32_t i = 1; i < HVAR_REASONS; i++)
		assert_true(*hvar_reason_name(i));
	assert_string_equal(hvar_reason_name(HVAR_REASON_NONE), "");
	assert_string_equal(hvar_reason_name(HVAR_REASONS), "");
	world_free(&w);
}

static void test_static(void **state)
{
	struct hvar_image_seg segs[] = {
		{ 0x1000, 0x401000, 0x900, 0x900, P, R | X, 0 },
		{ 0x1900, 0x403900, 0x100, 0x1000, P, R | W, 0 },
	};
	struct hvar_place p;
	struct world w;

	(void)state;
	world_new(&w);
	add_file(&w, 1, segs, 2, 0, 0);
	hvar_resolve_static(&w.files[1].img, 0x403910, &p);
	assert_int_equal(p.reason, HVAR_REASON_NONE);
	assert_int_equal(p.offset, 0x10);
	assert_int_equal(p.size, 0x1ff);
	assert_int_equal(p.kind, HVAR_KIND_DATA);
	assert_int_equal(p.file_offset, 0x1910);
	hvar_resolve_static(&w.files[1].img, 0x403a01, &p);
	assert_int_equal(p.kind, HVAR_KIND_BSS);
	assert_false(p.flags & HVAR_PLACE_OFFSET);
	hvar_resolve_static(&w.files[1].img, 0x403aff, &p); /* between two symbols */
	assert_int_equal(p.reason, HVAR_REASON_NO_SYMBOL);
	hvar_resolve_static(&w.files[1].img, 0x402000, &p);
	assert_int_equal(p.reason, HVAR_REASON_GAP);
	hvar_resolve_static(&w.files[1].img, 0x400fff, &p);
	assert_int_equal(p.reason, HVAR_REASON_UNMAPPED);
	hvar_resolve_static(&w.files[1].img, 0x405000, &p);
	assert_int_equal(p.reason, HVAR_REASON_UNMAPPED);
	world_free(&w);
}

/* ---- random files, loaded at random places ---- */

/* Some linker's layout: 2 to 5 PT_LOADs, with or without shared file pages. */
static uint32_t random_segs(struct hvar_image_seg *s)
{
	static const uint32_t prots[] = { R, R | X, R, R | W, R | W };
	uint64_t offset = rnd(2) * 0x40, vaddr = (uint64_t)rnd(1 << 16) << (12 + rnd(16));
	bool apart = rnd(2), dense = rnd(2);
	uint32_t n = 2 + rnd(4), first = rnd(6 - n);

	memset(s, 0, n * sizeof(*s));
	vaddr += offset;
	for (uint32_t i = 0; i < n; i++) {
		if (i && apart)
			offset = HVAR_PAGE_UP(offset);
		if (i)
			vaddr = HVAR_PAGE_UP(vaddr) + (dense ? 0 : rnd(4) * P) +
				(offset & HVAR_PAGE_MASK);
		s[i].offset = offset;
		s[i].vaddr = vaddr;
		s[i].prot = prots[first + i];
		s[i].filesz = s[i].memsz = 16 + rnd(rnd(2) ? 300 : 3 * P);
		if (s[i].prot & W)
			s[i].memsz += rnd(2) ? rnd(64) : rnd(2) ? rnd(3 * P) : 0;
		offset += s[i].filesz;
		vaddr += s[i].memsz;
	}
	return n;
}

/* Which file's byte is at @addr?  By the loader's own arithmetic. */
static uint32_t truth(const struct hvar_image_seg (*segs)[5], const uint32_t *n,
		      const uint64_t *bias, uint64_t addr, uint64_t *vaddr)
{
	for (uint32_t f = 1; f <= 3; f++)
		for (uint32_t k = 0; k < n[f]; k++)
			if (addr - bias[f] - segs[f][k].vaddr < segs[f][k].memsz) {
				*vaddr = addr - bias[f];
				return f;
			}
	return 0;
}

static void test_random(void **state)
{
	unsigned named = 0, nothing = 0;

	(void)state;
	for (int round = 0; round < 1500; round++) {
		struct hvar_image_seg segs[4][5];
		uint32_t n[4] = { 0 };
		uint64_t bias[4], where = 0x10000000, end;
		struct world w;

		world_new(&w);
		for (uint32_t f = 1; f <= 3; f++) {
			bool writable = false;

			n[f] = random_segs(segs[f]);
			add_file(&w, f, segs[f], n[f], 0, 0);
			where += rnd(3) * P;
			bias[f] = where - HVAR_PAGE_DOWN(segs[f][0].vaddr);
			for (uint32_t k = 0; k < n[f]; k++) {
				load_seg(&w, f, &segs[f][k], bias[f]);
				end = bias[f] + HVAR_PAGE_UP(segs[f][k].vaddr + segs[f][k].memsz);
				where = end > where ? end : where;
				writable |= segs[f][k].prot & (W | X);
			}
			assert_true(writable);
			/* memory that is nobody's, right behind */
			if (rnd(2)) {
				map(&w, where, where + P, 0, 0, R | W, HVAR_REGION_ANON);
				where += P;
			}
			/* the file once more, to be read */
			if (rnd(2)) {
				map(&w, where, where + 16 * P, 0, f, R, HVAR_REGION_FILE);
				where += 16 * P;
			}
		}
		for (uint64_t a = 0x10000000 - P; a < where + P; a += 1 + rnd(400)) {
			uint64_t vaddr = 0;
			uint32_t f = truth((const struct hvar_image_seg (*)[5])segs, n, bias, a, &vaddr);
			struct hvar_place p;

			hvar_resolve(&w.m, a, image_of, &w, &p);
			if (!f) {
				assert_int_equal(p.symbol, HVAR_IMAGE_NONE);
				nothing++;
				continue;
			}
			assert_int_equal(p.module, f);
			assert_int_equal(p.vaddr, vaddr);
			assert_int_equal(p.bias, bias[f]);
			assert_int_equal(p.symbol, hvar_image_find(&w.files[f].img, vaddr));
			named++;
		}
		world_free(&w);
	}
	assert_true(named > 100000 && nothing > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_page),       cmocka_unit_test(test_filesz_zero),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_hole),	       cmocka_unit_test(test_heap_behind_bss),
		cmocka_unit_test(test_mapped_as_data), cmocka_unit_test(test_loaded_twice),
		cmocka_unit_test(test_regions),	       cmocka_unit_test(test_static),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
