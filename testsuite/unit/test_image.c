// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_image.c - the symbol image: look-ups against one rule applied to every byte, and against damage.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>

#include "image_maker.h"

#define R 1u
#define W 2u
#define X 4u

static const char *name_at(const struct hvar_image *img, uint64_t vaddr)
{
	uint32_t i = hvar_image_find(img, vaddr);

	return i == HVAR_IMAGE_NONE ? "-" : hvar_image_str(img, img->syms[i].name);
}

static void open_good(struct hvar_image *img, const void *data, size_t size)
{
	assert_int_equal(hvar_image_open(img, data, size), 0);
}

/* ---- the stupidest model ---- */

static unsigned underscores(const char *s)
{
	return (unsigned)strspn(s, "_");
}

/* Is @a a better name than @b for a byte that both hold?  The rule, word by word. */
static bool better(const struct maker_sym *a, const struct maker_sym *b)
{
	static const int weak[] = { [STB_GLOBAL] = 0, [STB_WEAK] = 1, [STB_LOCAL] = 2 };

	if (!a->size != !b->size)
		return a->size;
	if (a->vaddr != b->vaddr)
		return a->vaddr > b->vaddr;
	if (a->size != b->size)
		return a->size < b->size;
	if (underscores(a->name) != underscores(b->name))
		return underscores(a->name) < underscores(b->name);
	if (a->binding != b->binding)
		return weak[a->binding] < weak[b->binding];
	if (strlen(a->name) != strlen(b->name))
		return strlen(a->name) < strlen(b->name);
	return strcmp(a->name, b->name) < 0;
}

static const struct maker_sym *model(const struct maker *m, uint64_t vaddr)
{
	const struct maker_sym *best = NULL;

	for (uint32_t i = 0; i < m->n_syms; i++) {
		const struct maker_sym *y = &m->syms[i];
		const struct hvar_image_seg *in = NULL;

		for (uint32_t k = 0; k < m->n_segs; k++)
			if (vaddr - m->segs[k].vaddr < m->segs[k].memsz &&
			    y->vaddr - m->segs[k].vaddr < m->segs[k].memsz)
				in = &m->segs[k];
		if (in && vaddr - y->vaddr < (y->size ? y->size : 1) &&
		    (!best || better(y, best)))
			best = y;
	}
	return best;
}

static void test_random(void **state)
{
	static char names[40][16];
	unsigned covered = 0, bare = 0, labels = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct hvar_image_seg segs[3];
		struct maker_sym syms[40];
		struct maker m = { .segs = segs, .n_segs = 1 + rnd(3), .syms = syms };
		uint64_t base = rnd(4) ? (uint64_t)rnd(4) << (12 + rnd(30)) : ~(uint64_t)0 - 4095;
		uint32_t page = base > UINT64_MAX / 2 ? 0 : rnd(3) * 2040;
		struct hvar_image img;
		size_t size;
		void *data;

		memset(segs, 0, sizeof(segs));
		for (uint32_t k = 0; k < m.n_segs; k++) {
			segs[k].vaddr = base + page + k * 64;
			segs[k].memsz = 1 + rnd(64);
			segs[k].prot = R;
		}
		if (base > UINT64_MAX / 2) /* the last byte of all memory */
			segs[m.n_segs - 1].memsz = 64, segs[m.n_segs - 1].vaddr = UINT64_MAX - 63;
		m.n_syms = rnd(40);
		for (uint32_t i = 0; i < m.n_syms; i++) {
			const struct hvar_image_seg *s = &segs[rnd(m.n_segs)];

			snprintf(names[i], sizeof(names[i]), "%s%c%u", &"__"[rnd(3)],
				 'a' + (char)rnd(3), i);
			syms[i] = (struct maker_sym){ s->vaddr + rnd((uint32_t)s->memsz),
				rnd(4) ? rnd(24) : 0, names[i], (uint8_t)rnd(3),
				rnd(2) ? STT_OBJECT : STT_NOTYPE, NULL };
			/* no size runs over the end of memory */
			if (syms[i].size && syms[i].vaddr + syms[i].size - 1 < syms[i].vaddr)
				syms[i].size = 0;
		}
		data = maker_image(&m, &size);
		open_good(&img, data, size);
		for (uint32_t k = 0; k < m.n_segs; k++) {
			for (uint64_t a = segs[k].vaddr - 2, n = 0; n < segs[k].memsz + 4; a++, n++) {
				const struct maker_sym *want = model(&m, a);

				assert_string_equal(name_at(&img, a), want ? want->name : "-");
				covered += want && want->size;
				labels += want && !want->size;
				bare += !want;
			}
		}
		free(data);
	}
	assert_true(covered > 10000 && bare > 10000 && labels > 1000);
}

/* ---- the format ---- */

static void test_no_symbols(void **state)
{
	struct maker m = { .n_segs = 0 };
	struct hvar_image img;
	size_t size;
	void *data = maker_image(&m, &size);

	(void)state;
	open_good(&img, data, size);
	assert_int_equal(img.n_syms, 0);
	for (int i = 0; i < 65; i++) {
		uint64_t a = i < 64 ? (uint64_t)1 << i : 0;

		assert_int_equal(hvar_image_find(&img, a), HVAR_IMAGE_NONE);
		assert_int_equal(hvar_image_find_tls(&img, a), HVAR_IMAGE_NONE);
		assert_int_equal(hvar_image_section(&img, a), HVAR_IMAGE_NONE);
		assert_null(hvar_image_seg_at(&img, a));
	}
	free(data);
}

/* Objects beyond 4 GiB, 1 TiB apart: the page index is coarser, the answers are not. */
static void test_sparse(void **state)
{
	struct hvar_image_seg segs[] = {
		{ .vaddr = 0x1000, .memsz = 0x300000000, .prot = R | W },
		{ .vaddr = (uint64_t)1 << 40, .memsz = 0x2000, .prot = R | W },
		{ .vaddr = 0xffffffffffff0000, .memsz = 0x10000, .prot = R | W },
	};
	struct maker_sym syms[] = {
		{ 0x1000, 8, "low", STB_GLOBAL, STT_OBJECT, NULL },
		{ 0x2000, 0x200000000, "huge", STB_GLOBAL, STT_OBJECT, NULL },
		{ ((uint64_t)1 << 40) + 0x10, 0x10, "far", STB_GLOBAL, STT_OBJECT, NULL },
		{ 0xfffffffffffffff0, 0x10, "last", STB_GLOBAL, STT_OBJECT, NULL },
	};
	struct maker m = { segs, 3, NULL, 0, syms, 4, 0, 0, 0, 0 };
	struct hvar_image img;
	size_t size;
	void *data = maker_image(&m, &size);

	(void)state;
	open_good(&img, data, size);
	assert_true(size < 4096);
	assert_string_equal(name_at(&img, 0xfff), "-");
	assert_string_equal(name_at(&img, 0x1007), "low");
	assert_string_equal(name_at(&img, 0x1008), "-");
	assert_string_equal(name_at(&img, 0x2000), "huge");
	assert_string_equal(name_at(&img, 0x200001fff), "huge");
	assert_string_equal(name_at(&img, 0x200002000), "-");
	assert_string_equal(name_at(&img, ((uint64_t)1 << 40) + 0x1f), "far");
	assert_string_equal(name_at(&img, ((uint64_t)1 << 40) + 0x20), "-");
	assert_string_equal(name_at(&img, UINT64_MAX), "last");
	assert_string_equal(name_at(&img, UINT64_MAX - 0x10), "-");
	free(data);
}

static void test_aliases_and_tls(void **state)
{
	struct hvar_image_seg seg = { .vaddr = 0x1000, .memsz = 0x1000, .prot = R | W };
	struct maker_sym syms[] = {
		{ 0x1100, 32, "loc_v", STB_LOCAL, STT_OBJECT, "a.c" },
		{ 0x1100, 32, "weak_v", STB_WEAK, STT_OBJECT, NULL },
		{ 0x1100, 32, "_und_v", STB_GLOBAL, STT_OBJECT, NULL },
		{ 0x1100, 32, "base_v", STB_GLOBAL, STT_OBJECT, NULL },
		{ 0x1100, 32, "ali_v", STB_GLOBAL, STT_OBJECT, NULL },
		{ 0x1100, 16, "part", STB_GLOBAL, STT_OBJECT, NULL },
		{ 0x10, 8, "errno", STB_GLOBAL, STT_TLS, NULL },
		{ 0x18, 4, "h_errno", STB_GLOBAL, STT_TLS, NULL },
		{ 0x1200, 4, "counter", STB_LOCAL, STT_OBJECT, "a.c" },
		{ 0x1210, 4, "counter", STB_LOCAL, STT_OBJECT, "b.c" },
		{ 0x1220, 4, "alone", STB_LOCAL, STT_OBJECT, "b.c" },
	};
	struct maker m = { &seg, 1, NULL, 0, syms, 11, 0x20, 0, 0, 0 };
	struct hvar_image img;
	uint32_t i;
	size_t size;
	void *data = maker_image(&m, &size);

	(void)state;
	open_good(&img, data, size);
	assert_string_equal(name_at(&img, 0x1100), "part");
	assert_string_equal(name_at(&img, 0x1110), "ali_v");
	i = hvar_image_find(&img, 0x1110);
	assert_int_equal(hvar_image_aliases(&img, i), 5);
	assert_string_equal(hvar_image_str(&img, img.syms[i + 1].name), "base_v");
	assert_string_equal(hvar_image_str(&img, img.syms[i + 4].name), "_und_v");
	i = hvar_image_find_tls(&img, 0x17);
	assert_string_equal(hvar_image_str(&img, img.tls_syms[i].name), "errno");
	assert_int_equal(hvar_image_find_tls(&img, 0x1c), HVAR_IMAGE_NONE);
	assert_int_equal(hvar_image_find(&img, 0x10), HVAR_IMAGE_NONE);
	i = hvar_image_find(&img, 0x1213);
	assert_true(img.syms[i].flags & HVAR_SYM_SAME_NAME);
	assert_string_equal(hvar_image_str(&img, img.syms[i].file), "b.c");
	assert_false(img.syms[hvar_image_find(&img, 0x1220)].flags & HVAR_SYM_SAME_NAME);
	free(data);
}

static void test_sections(void **state)
{
	struct hvar_image_section secs[] = {
		{ 0x1000, 0x100, 0, HVAR_KIND_TEXT }, { 0x1100, 0, 0, HVAR_KIND_DATA },
		{ 0x1100, 0x10, 0, HVAR_KIND_DATA }, { 0x2000, 8, 0, HVAR_KIND_BSS },
		{ 0x1100, 0x500, 0, HVAR_KIND_TLS },
	};
	struct maker m = { .sections = secs, .n_sections = 5 };
	struct hvar_image img;
	size_t size;
	void *data = maker_image(&m, &size);

	(void)state;
	open_good(&img, data, size);
	assert_int_equal(hvar_image_section(&img, 0xfff), HVAR_IMAGE_NONE);
	assert_int_equal(hvar_image_section(&img, 0x10ff), 0);
	assert_int_equal(hvar_image_section(&img, 0x1100), 2);
	assert_int_equal(hvar_image_section(&img, 0x1110), HVAR_IMAGE_NONE);
	assert_int_equal(hvar_image_section(&img, 0x2007), 3);
	assert_int_equal(hvar_image_section(&img, 0x2008), HVAR_IMAGE_NONE);
	free(data);
}

/* ---- damage ---- */

static void *small_image(size_t *size)
{
	static struct hvar_image_seg segs[] = {
		{ .vaddr = 0x1000, .memsz = 0x1000, .filesz = 0x800, .prot = R | W },
		{ .vaddr = 0x5000, .memsz = 0x1000, .prot = R | X },
	};
	static struct hvar_image_section secs[] = {
		{ 0x1000, 0x800, 0, HVAR_KIND_DATA }, { 0x1800, 0x800, 0, HVAR_KIND_BSS },
	};
	static struct maker_sym syms[] = {
		{ 0x1100, 0x100, "outer", STB_GLOBAL, STT_OBJECT, NULL },
		{ 0x1120, 0x10, "inner", STB_LOCAL, STT_OBJECT, "a.c" },
		{ 0x1900, 0, "label", STB_GLOBAL, STT_NOTYPE, NULL },
		{ 0x5000, 0x20, "fn", STB_GLOBAL, STT_FUNC, NULL },
		{ 0x4, 4, "tls", STB_GLOBAL, STT_TLS, NULL },
	};
	static const struct maker m = { segs, 2, secs, 2, syms, 5, 8, 0x1000, 0x80, 0 };

	return maker_image(&m, size);
}

/* Ask @img everything; an answer out of bounds is for the sanitizers and these checks. */
static void look_all(const struct hvar_image *img)
{
	for (uint64_t a = 0; a < 0x6000; a += 0x8) {
		uint32_t i = hvar_image_find(img, a);

		assert_true(i < img->n_syms || i == HVAR_IMAGE_NONE);
		if (i < img->n_syms) {
			assert_true(strlen(hvar_image_str(img, img->syms[i].name)) < img->size);
			assert_true(i + hvar_image_aliases(img, i) <= img->n_syms);
		}
		i = hvar_image_find_tls(img, a);
		assert_true(i < img->n_tls_syms || i == HVAR_IMAGE_NONE);
		i = hvar_image_section(img, a);
		assert_true(i < img->n_sections || i == HVAR_IMAGE_NONE);
		hvar_image_seg_at(img, a);
	}
}

static void test_truncated(void **state)
{
	struct hvar_image img;
	size_t size, n;
	uint8_t *data = small_image(&size);

	(void)state;
	for (n = 0; n < size; n++) {
		uint8_t *part = malloc(n ? n : 1);
		int r;

		memcpy(part, data, n);
		r = hvar_image_open(&img, part, n);
		assert_int_equal(r, n < 8 ? -EINVAL : -ENODATA);
		free(part);
	}
	free(data);
}

/* Any changed bit is noticed; with the checksum made good again, nothing runs away. */
static void test_damaged(void **state)
{
	struct hvar_image_header *h;
	struct hvar_image img;
	size_t size, i, n = 0, refused = 0;
	uint8_t *good = small_image(&size), *bad = malloc(size);

	(void)state;
	for (i = 0; i < size * 8; i++) {
		memcpy(bad, good, size);
		bad[i / 8] ^= (uint8_t)(1u << i % 8);
		h = (void *)bad;
		if (i / 8 >= offsetof(struct hvar_image_header, seal) && i / 8 < HVAR_IMAGE_SUMMED) {
			assert_int_equal(hvar_image_open(&img, bad, size), 0); /* the cache's own */
			continue;
		}
		assert_int_not_equal(hvar_image_open(&img, bad, size), 0);
		if (i / 8 < HVAR_IMAGE_SUMMED)
			continue;
		h->checksum = hvar_image_checksum(bad, size);
		n++;
		if (hvar_image_open(&img, bad, size))
			refused++;
		else
			look_all(&img);
	}
	/* words, not bits: extremes in every one */
	for (i = HVAR_IMAGE_SUMMED; i + 4 <= size; i += 4) {
		static const uint32_t extremes[] = { 0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };

		for (unsigned k = 0; k < 6; k++) {
			memcpy(bad, good, size);
			memcpy(bad + i, &extremes[k], 4);
			h = (void *)bad;
			h->checksum = hvar_image_checksum(bad, size);
			if (!hvar_image_open(&img, bad, size))
				look_all(&img);
		}
	}
	assert_true(refused > n / 3);
	free(good);
	free(bad);
}

static void test_versions(void **state)
{
	struct hvar_image img;
	struct hvar_image_table *t;
	struct hvar_image_header *h;
	const struct hvar_image_source *src;
	uint32_t n;
	size_t size;
	uint8_t *data = small_image(&size);

	(void)state;
	h = (void *)data;
	open_good(&img, data, size);
	src = hvar_image_table(&img, HVAR_IMAGE_SOURCE, sizeof(*src), &n);
	assert_int_equal(n, 1);
	assert_non_null(src);
	assert_null(hvar_image_table(&img, 1000, 8, &n));
	/* a table that this version does not know is passed over */
	t = (void *)(h + 1);
	t[h->n_tables - 1].id = 1000;
	h->checksum = hvar_image_checksum(data, size);
	open_good(&img, data, size);
	assert_non_null(hvar_image_table(&img, 1000, sizeof(*src), &n));
	/* two of one kind are not */
	t[h->n_tables - 1].id = HVAR_IMAGE_SYMS;
	h->checksum = hvar_image_checksum(data, size);
	assert_int_equal(hvar_image_open(&img, data, size), -EINVAL);
	h->version++;
	assert_int_equal(hvar_image_open(&img, data, size), -EPROTONOSUPPORT);
	free(data);
}

static void test_kinds(void **state)
{
	(void)state;
	assert_string_equal(hvar_kind_name(HVAR_KIND_UNMAPPED), "unmapped");
	assert_string_equal(hvar_kind_name(HVAR_KIND_FILE), "file");
	assert_string_equal(hvar_kind_name(HVAR_KINDS), "");
	for (uint32_t i = 0; i < HVAR_KINDS; i++)
		assert_true(*hvar_kind_name(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	   cmocka_unit_test(test_no_symbols),
		cmocka_unit_test(test_sparse),	   cmocka_unit_test(test_aliases_and_tls),
		cmocka_unit_test(test_sections),   cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_damaged),	   cmocka_unit_test(test_versions),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
