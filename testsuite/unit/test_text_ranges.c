// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_text_ranges.c - functions by .eh_frame and by symbols, against one rule applied to every byte; and damage.
 */
#include "config.h"

#include "elf_maker.h"

#include <stdio.h>

#include "runtime/core/hvar_image_format.h"
#include "translator-hooks/image_build.h"

enum { TEXT = 0x2000, SIZE = 0x200, FRAMES = 0x3000, MAX = 24, CFI_MAX = 4096 };

static uint64_t state = 88172645463325252u;

static uint32_t rnd(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 2685821657736338717u) >> 32) % below;
}

struct span {
	uint64_t start, size;
	int type;
};

/* What a file is made of. */
struct spec {
	struct span fdes[MAX], syms[MAX];
	uint32_t n_fdes, n_syms;
	uint8_t encoding; /* of the FDEs' pointers */
	bool is32, sections, plt, no_header; /* without a segment that leads to .eh_frame */
};

/* ---- .eh_frame ---- */

static void put(uint8_t *b, size_t *n, uint64_t v, size_t width)
{
	memcpy(b + *n, &v, width);
	*n += width;
}

static size_t width_of(const struct spec *s)
{
	switch (s->encoding & 7) {
	case 2:
		return 2;
	case 3:
		return 4;
	case 4:
		return 8;
	default:
		return s->is32 ? 4 : 8;
	}
}

/* Length, id, version 1, "zPLR", alignments, return register, augmentation, instructions. */
static void put_cie(const struct spec *s, uint8_t *b, size_t *n)
{
	size_t at = *n;

	put(b, n, 0, 8);
	put(b, n, 1, 1);
	memcpy(b + *n, "zPLR", 5);
	*n += 5;
	put(b, n, 0x107801, 3);
	put(b, n, 7, 1);
	put(b, n, 0x1b, 1); /* a personality of four bytes */
	put(b, n, 0x1234, 4);
	put(b, n, 0x1b, 1);
	put(b, n, s->encoding, 1);
	while ((*n - at) % 8)
		put(b, n, 0, 1);
	memcpy(b + at, &(uint32_t){ (uint32_t)(*n - at - 4) }, 4);
}

static void put_fde(const struct spec *s, const struct span *f, uint8_t *b, size_t *n, size_t cie,
		    uint64_t vaddr)
{
	size_t at = *n, w = width_of(s);
	uint64_t from = s->encoding & 0x10 ? vaddr + at + 8 : 0;

	put(b, n, 0, 4);
	put(b, n, at + 4 - cie, 4);
	put(b, n, f->start - from, w);
	put(b, n, f->size, w);
	put(b, n, 0, 1);
	while ((*n - at) % 8)
		put(b, n, 0, 1);
	memcpy(b + at, &(uint32_t){ (uint32_t)(*n - at - 4) }, 4);
}

static void make_elf(struct elf_maker *f, const struct spec *s)
{
	uint8_t cfi[CFI_MAX], hdr[8] = { 1, 0x1b, 0xff, 0xff };
	struct maker_table t = { .n = 0 };
	size_t n = 0, cie = 0, text;
	uint32_t i;

	elf_maker_init(f, s->is32);
	while (f->n % 0x1000)
		elf_maker_put(f, NULL, 1);
	text = f->n;
	elf_maker_section(f, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, NULL, SIZE / 2);
	elf_maker_section(f, s->plt ? ".plt.sec" : ".text.hot", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
			  TEXT + SIZE / 2, NULL, SIZE / 2);
	elf_maker_seg(f, PT_LOAD, PF_R | PF_X, text, TEXT, SIZE, SIZE + 0x40);
	while (f->n % 0x1000)
		elf_maker_put(f, NULL, 1);
	/* right behind its header */
	hdr[4] = 4;
	for (i = 0; i < s->n_fdes; i++) {
		if (i % 7 == 0) {
			cie = n;
			put_cie(s, cfi, &n);
		}
		put_fde(s, &s->fdes[i], cfi, &n, cie, FRAMES + sizeof(hdr));
	}
	put(cfi, &n, 0, 4);
	elf_maker_seg(f, s->no_header ? PT_NULL : PT_GNU_EH_FRAME, PF_R, f->n, FRAMES, sizeof(hdr), sizeof(hdr));
	elf_maker_seg(f, PT_LOAD, PF_R, f->n, FRAMES, sizeof(hdr) + n, sizeof(hdr) + n);
	elf_maker_section(f, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, FRAMES, hdr, sizeof(hdr));
	elf_maker_section(f, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, FRAMES + sizeof(hdr), cfi, n);
	for (i = 0; i < s->n_syms; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%u", i);
		elf_maker_sym(f, &t, name, s->syms[i].start, s->syms[i].size, STB_GLOBAL, s->syms[i].type, 1);
	}
	if (s->sections)
		elf_maker_table(f, &t, false, 0);
	elf_maker_end(f, s->sections);
}

static void open_image(struct hvar_image *img, const struct elf_maker *f, void **data)
{
	struct err e = { 0, "" };
	size_t size;

	if (image_build_mem(f->p, f->n, "test", data, &size, &e))
		fail_msg("%s", e.text);
	assert_int_equal(hvar_image_open(img, *data, size), 0);
}

/* ---- the stupidest model ---- */

/* The sized symbol of a function that owns @a: the innermost sized one must be that. */
static const struct span *fn_at(const struct spec *s, uint64_t a)
{
	const struct span *best = NULL;

	for (uint32_t i = 0; i < s->n_syms; i++)
		if (a - s->syms[i].start < s->syms[i].size && (!best || s->syms[i].start > best->start))
			best = &s->syms[i];
	return best && best->type == STT_FUNC ? best : NULL;
}

/* Does the FDE lie within what is loaded of the text, and in no PLT? */
static bool counts(const struct spec *s, const struct span *f)
{
	return f->size && f->start >= TEXT && f->start + f->size <= TEXT + SIZE &&
	       !(s->plt && s->sections && f->start >= TEXT + SIZE / 2);
}

static bool model(const struct spec *s, uint64_t a, uint64_t *start, uint64_t *end)
{
	const struct span *fn = fn_at(s, a), *f = NULL;
	uint64_t i;

	if (fn) {
		*start = fn->start;
		*end = fn->start + fn->size;
		return true;
	}
	/* the FDE that starts last before @a, the longest of its start */
	for (i = 0; i < s->n_fdes; i++) {
		const struct span *x = &s->fdes[i];

		if (counts(s, x) && x->start <= a &&
		    (!f || x->start > f->start || (x->start == f->start && x->size > f->size)))
			f = x;
	}
	if (!f || a - f->start >= f->size)
		return false;
	*start = f->start;
	*end = f->start + f->size;
	for (i = 0; i < s->n_fdes; i++)
		if (counts(s, &s->fdes[i]) && s->fdes[i].start > *start && s->fdes[i].start < *end)
			*end = s->fdes[i].start;
	for (i = *start; i < *end; i++)
		if (fn_at(s, i))
			*end = i;
	return a < *end;
}

static void random_spec(struct spec *s, bool with_symbols)
{
	static const uint8_t encodings[] = { 0x1b, 0x00, 0x10, 0x0b, 0x03, 0x04, 0x1c, 0x1a, 0x02 };
	bool used[SIZE] = { false };

	memset(s, 0, sizeof(*s));
	s->encoding = encodings[rnd(sizeof(encodings))];
	s->is32 = rnd(3) == 0;
	s->sections = with_symbols || rnd(2);
	s->plt = rnd(2);
	s->no_header = s->sections && rnd(2);
	for (s->n_fdes = 0; s->n_fdes < rnd(MAX); s->n_fdes++) {
		struct span *f = &s->fdes[s->n_fdes];

		f->start = TEXT - 0x10 + rnd(SIZE + 0x20);
		f->size = rnd(rnd(8) ? 0x30 : 0x180);
	}
	while (with_symbols && s->n_syms < rnd(MAX)) {
		struct span *y = &s->syms[s->n_syms];
		uint32_t at = rnd(SIZE);

		if (used[at])
			continue;
		used[at] = true;
		y->start = TEXT + at;
		y->size = rnd(4) ? rnd(SIZE - at < 0x40 ? SIZE - at : 0x40) : 0;
		y->type = rnd(3) ? STT_FUNC : rnd(2) ? STT_OBJECT : STT_NOTYPE;
		s->n_syms++;
	}
}

static void test_random(void **unused)
{
	unsigned by_range = 0, by_symbol = 0, none = 0;

	(void)unused;
	for (int round = 0; round < 3000; round++) {
		struct hvar_image img;
		struct elf_maker f;
		struct spec s;
		void *data;

		random_spec(&s, rnd(2));
		make_elf(&f, &s);
		open_image(&img, &f, &data);
		for (uint64_t a = TEXT - 0x20; a < TEXT + SIZE + 0x40; a++) {
			uint64_t start = 1, end = 2, want_start = 1, want_end = 2;
			bool want = model(&s, a, &want_start, &want_end);

			if (hvar_image_function(&img, a, &start, &end) != want ||
			    (want && (start != want_start || end != want_end)))
				fail_msg("round %d, %#lx: got [%#lx, %#lx), want %d [%#lx, %#lx)", round,
					 (unsigned long)a, (unsigned long)start, (unsigned long)end, want,
					 (unsigned long)want_start, (unsigned long)want_end);
			if (!want) {
				assert_true(start == 1 && end == 2);
				none++;
			} else if (fn_at(&s, a)) {
				by_symbol++;
			} else {
				by_range++;
			}
		}
		free(data);
		elf_maker_fini(&f);
	}
	assert_true(by_range > 50000 && by_symbol > 50000 && none > 50000);
}

/* What has symbols needs no table. */
static void test_small(void **unused)
{
	struct spec s = { .fdes = { { TEXT, 0x20, 0 }, { TEXT + 0x20, 0x10, 0 } }, .n_fdes = 2,
			  .syms = { { TEXT, 0x20, STT_FUNC }, { TEXT + 0x20, 0x10, STT_FUNC } }, .n_syms = 2,
			  .encoding = 0x1b, .sections = true };
	struct hvar_image img;
	struct elf_maker f;
	void *data;

	(void)unused;
	make_elf(&f, &s);
	open_image(&img, &f, &data);
	assert_int_equal(img.n_ranges, 0);
	free(data);
	elf_maker_fini(&f);
	s.n_syms = 1;
	make_elf(&f, &s);
	open_image(&img, &f, &data);
	assert_int_equal(img.n_ranges, 1);
	free(data);
	elf_maker_fini(&f);
}

/* Without section headers, a PLT is known by how it starts: each of @starts does, the last but one is code. */
static void test_plt(void **unused)
{
	static const uint8_t starts[4][8] = { { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25 }, { 0xff, 0x35, 0, 0 },
					      { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0xd0 }, { 0xff, 0xa3 } };
	struct spec s = { .n_fdes = 4, .encoding = 0x1b };
	struct hvar_image img;
	struct elf_maker f;
	uint64_t start, end;
	void *data;

	(void)unused;
	for (unsigned i = 0; i < 4; i++)
		s.fdes[i] = (struct span){ TEXT + 0x10 * i, 0x10, 0 };
	make_elf(&f, &s);
	for (unsigned i = 0; i < 4; i++)
		memcpy(f.p + f.ph[0].p_offset + 0x10 * i, starts[i], 8);
	open_image(&img, &f, &data);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(hvar_image_function(&img, TEXT + 0x10 * i, &start, &end), i == 2);
	free(data);
	elf_maker_fini(&f);
}

/* ---- damage ---- */

static struct spec plain(void)
{
	return (struct spec){ .fdes = { { TEXT, 0x20, 0 }, { TEXT + 0x20, 0x10, 0 }, { TEXT + 0x40, 0x40, 0 } },
			      .n_fdes = 3, .encoding = 0x1b, .sections = true };
}

/* A table that no builder made: out of order, empty, overlapping, outside of code. */
static void test_hostile_table(void **unused)
{
	static const struct {
		struct hvar_image_range v[3];
		int want;
	} cases[] = {
		{ { { TEXT, TEXT + 1 }, { TEXT + 1, TEXT + 2 }, { TEXT + SIZE - 1, TEXT + SIZE } }, 0 },
		{ { { TEXT, TEXT }, { TEXT + 1, TEXT + 2 }, { TEXT + 8, TEXT + 9 } }, -EINVAL },
		{ { { TEXT, TEXT + 4 }, { TEXT + 3, TEXT + 6 }, { TEXT + 8, TEXT + 9 } }, -EINVAL },
		{ { { TEXT, TEXT + 4 }, { TEXT, TEXT + 4 }, { TEXT + 8, TEXT + 9 } }, -EINVAL },
		{ { { TEXT + 4, TEXT + 6 }, { TEXT, TEXT + 2 }, { TEXT + 8, TEXT + 9 } }, -EINVAL },
		{ { { TEXT + 6, TEXT + 4 }, { TEXT + 7, TEXT + 8 }, { TEXT + 8, TEXT + 9 } }, -EINVAL },
		{ { { TEXT - 1, TEXT + 4 }, { TEXT + 7, TEXT + 8 }, { TEXT + 8, TEXT + 9 } }, -EINVAL },
		{ { { 0, TEXT }, { TEXT, TEXT + 8 }, { TEXT + 8, TEXT + 9 } }, -EINVAL },
		{ { { TEXT, TEXT + 4 }, { TEXT + 7, TEXT + 8 }, { TEXT + 8, TEXT + SIZE + 0x41 } }, -EINVAL },
		{ { { TEXT, TEXT + 4 }, { TEXT + 7, TEXT + 8 }, { TEXT + 8, UINT64_MAX } }, -EINVAL },
		{ { { TEXT, TEXT + 4 }, { TEXT + 7, TEXT + 8 }, { FRAMES, FRAMES + 4 } }, -EINVAL },
		{ { { TEXT, TEXT + 4 }, { TEXT + 7, TEXT + 8 }, { 0x9000, 0x9001 } }, -EINVAL },
	};
	struct spec s = plain();
	struct hvar_image img;
	struct elf_maker f;
	uint8_t *data;
	size_t size;

	(void)unused;
	make_elf(&f, &s);
	open_image(&img, &f, (void **)&data);
	size = img.size;
	assert_int_equal(img.n_ranges, 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hvar_image_header *h = (void *)data;

		memcpy(data + ((const uint8_t *)img.ranges - data), cases[i].v, sizeof(cases[i].v));
		h->checksum = hvar_image_checksum(data, size);
		assert_int_equal(hvar_image_open(&img, data, size), cases[i].want);
	}
	free(data);
	elf_maker_fini(&f);
}

/* Every 1, 2, 4 and 8 bytes of the unwind information, set to extremes: an image that opens, always. */
static void test_hostile_frames(void **unused)
{
	static const uint64_t extremes[] = { 0, 1, 2, 0x1b, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff,
		0xfffffff0, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX };
	unsigned fewer = 0, same = 0;

	(void)unused;
	for (int kind = 0; kind < 4; kind++) {
		struct spec s = plain();
		struct hvar_image img;
		struct elf_maker f;
		uint8_t *copy;
		size_t at;
		void *data;

		s.is32 = kind & 1;
		s.sections = kind & 2;
		make_elf(&f, &s);
		copy = malloc(f.n); /* so that reading past it is seen */
		at = f.sh[3].sh_offset; /* .eh_frame_hdr */
		for (size_t i = at; i < f.sh[4].sh_offset + f.sh[4].sh_size; i++) {
			for (size_t k = 0; k < 4 * sizeof(extremes) / sizeof(*extremes); k++) {
				size_t w = (size_t)1 << k % 4;
				struct elf_maker bad = f;

				if (i + w > f.n)
					continue;
				memcpy(copy, f.p, f.n);
				memcpy(copy + i, &extremes[k / 4], w);
				bad.p = copy;
				open_image(&img, &bad, &data);
				assert_true(img.n_ranges <= 8);
				fewer += img.n_ranges < 3;
				same += img.n_ranges == 3;
				free(data);
			}
		}
		free(copy);
		elf_maker_fini(&f);
	}
	assert_true(fewer > 1000 && same > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	      cmocka_unit_test(test_small),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_hostile_table), cmocka_unit_test(test_hostile_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
