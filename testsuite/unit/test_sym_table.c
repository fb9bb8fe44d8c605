// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_sym_table.c - symbols from string tables taken as a whole, against the same ones name by name, and a model.
 */
#include "config.h"

#include "image_maker.h"

#include <errno.h>

#include "translator-hooks/big_alloc.h"
#include "translator-hooks/sort_keys.h"

enum { KEYS = 5000, ROUNDS = 3000, SYMS = 40, NAMES = 8 };

/* ---- sorting ---- */

static int by_upper(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa >> 32, b = *(const uint64_t *)pb >> 32;
	uint32_t x = (uint32_t)*(const uint64_t *)pa, y = (uint32_t)*(const uint64_t *)pb;

	return a != b ? (a < b ? -1 : 1) : x < y ? -1 : x > y;
}

static void test_sort(void **state)
{
	static uint64_t keys[KEYS], spare[KEYS], want[KEYS];

	(void)state;
	for (unsigned bits = 0; bits <= 32; bits++) {
		uint32_t n = bits % 3 ? rnd(KEYS) : bits % 2, mask = bits == 32 ? UINT32_MAX : ((uint32_t)1 << bits) - 1;
		uint64_t *got;

		/* the lower half tells what came first */
		for (uint32_t i = 0; i < n; i++)
			want[i] = keys[i] = (uint64_t)(rnd(UINT32_MAX) & mask) << 32 | i;
		qsort(want, n, sizeof(*want), by_upper);
		got = sort_keys(keys, spare, n, bits);
		assert_true(got == keys || got == spare);
		assert_memory_equal(got, want, n * sizeof(*want));
	}
}

/* ---- memory ---- */

static void test_memory(void **state)
{
	size_t large = (size_t)8 << 20;
	char *a = big_alloc(large), *b, *c;

	(void)state;
	assert_non_null(a);
	memset(a, 1, large);
	big_free(a);
	/* what is kept is given out once */
	b = big_alloc(large / 2);
	c = big_alloc(large / 2);
	assert_non_null(b);
	assert_non_null(c);
	assert_true(b + large / 2 <= c || c + large / 2 <= b);
	memset(b, 2, large / 2);
	memset(c, 3, large / 2);
	c = big_realloc(c, 2 * large);
	assert_non_null(c);
	assert_int_equal(c[large / 2 - 1], 3);
	memset(c, 4, 2 * large);
	big_free(b);
	free(c);
	big_release();
}

/* ---- symbols ---- */

/* Two string tables with each name in several places, some within others. */
struct tables {
	char strs[2][1024];
	uint64_t size[2];
	uint32_t at[2][NAMES][2];
};

static void make_tables(struct tables *t, char names[NAMES][32])
{
	memset(t, 0, sizeof(*t));
	for (int k = 0; k < 2; k++) {
		uint32_t used = 1;

		for (int i = 0; i < NAMES; i++) {
			for (int twice = 0; twice < 2; twice++) {
				/* "of_NAME" holds NAME */
				used += (uint32_t)sprintf(t->strs[k] + used, "%s", rnd(2) ? "" : "of_");
				t->at[k][i][twice] = used;
				used += (uint32_t)sprintf(t->strs[k] + used, "%s", names[i]) + 1;
			}
		}
		t->size[k] = used;
	}
}

struct sym {
	struct elf_sym s;
	int name;
	bool in_second;
};

/* In the order of the two tables, with @blocks as a reader of files tells them. */
static void add(struct sym_table *t, const struct sym *v, uint32_t n, const struct tables *from, bool blocks)
{
	assert_int_equal(sym_table_init(t), 0);
	for (int k = 0; k < 2; k++) {
		char *strs = big_alloc(from->size[k] + 1);
		bool first = true, taken = false;

		memcpy(strs, from->strs[k], from->size[k] + 1);
		for (uint32_t i = 0; i < n; i++) {
			struct elf_sym s = v[i].s;

			if (v[i].in_second != k)
				continue;
			s.name = strs + from->at[k][v[i].name][rnd(2)];
			s.len = strlen(s.name);
			s.dynamic = k;
			if (blocks) {
				s.strs = strs;
				s.taken = &taken;
				s.strs_size = from->size[k];
				s.n_syms = n;
				s.first = first;
				if (first)
					assert_int_equal(sym_table_begin(t, &s), 0);
				first = false;
			}
			assert_int_equal(sym_table_add(t, &s, HVAR_IMAGE_NONE), 0);
		}
		if (!taken)
			big_free(strs);
	}
}

static const char *text(const struct sym_table *t, uint32_t id)
{
	return sym_table_text(t, id);
}

/* Is @name, without its version, at another place than @y too?  Of all, or of those not local. */
static bool elsewhere(const struct sym *v, uint32_t n, char names[NAMES][32], const struct sym_row *y, const char *name, bool public)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(names[v[i].name], name) && (v[i].s.value != y->vaddr || (v[i].s.type == STT_TLS) != y->tls) &&
		    (!public || v[i].s.binding != STB_LOCAL))
			return true;
	return false;
}

static void check_names(const struct sym_table *t, const struct sym_rows *rows, const struct sym *v, uint32_t n,
			char names[NAMES][32])
{
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct sym_row *y = &rows->v[i];
		const char *name;
		char plain[64];
		size_t len = sym_table_plain(t, y, &name);
		bool local = y->binding == HVAR_BIND_LOCAL;

		assert_true(len < sizeof(plain));
		memcpy(plain, name, len);
		plain[len] = '\0';
		assert_int_equal(!!(y->flags & HVAR_SYM_SAME_NAME), local && elsewhere(v, n, names, y, plain, false));
		assert_int_equal(y->apart, !local && y->version && elsewhere(v, n, names, y, plain, true));
		if (y->apart)
			assert_string_equal(name + len, text(t, y->version));
		/* each once, in order */
		for (uint32_t k = 0; k < i; k++) {
			assert_true(rows->v[k].vaddr <= y->vaddr);
			if (rows->v[k].vaddr == y->vaddr) {
				assert_true(rows->v[k].size <= y->size);
				if (rows->v[k].size == y->size)
					assert_string_not_equal(text(t, rows->v[k].name), name);
			}
		}
	}
	/* and none is missing */
	for (uint32_t k = 0; k < n; k++) {
		bool found = (v[k].s.type == STT_TLS) != (rows == &t->tls);

		for (uint32_t i = 0; i < rows->n && !found; i++) {
			const char *name;
			size_t len = sym_table_plain(t, &rows->v[i], &name);

			found = rows->v[i].vaddr == v[k].s.value && rows->v[i].size == v[k].s.size &&
				len == strlen(names[v[k].name]) && !memcmp(name, names[v[k].name], len);
		}
		assert_true(found);
	}
}

static void same(const struct sym_table *a, const struct sym_rows *x, const struct sym_table *b, const struct sym_rows *y)
{
	assert_int_equal(x->n, y->n);
	assert_int_equal(x->n_extents, y->n_extents);
	for (uint32_t i = 0; i < x->n; i++) {
		assert_int_equal(x->v[i].vaddr, y->v[i].vaddr);
		assert_int_equal(x->v[i].size, y->v[i].size);
		assert_string_equal(text(a, x->v[i].name), text(b, y->v[i].name));
		assert_string_equal(text(a, x->v[i].version), text(b, y->v[i].version));
		assert_int_equal(x->v[i].binding, y->v[i].binding);
		assert_int_equal(x->v[i].flags, y->v[i].flags);
	}
	for (uint32_t i = 0; i < x->n_extents; i++) {
		assert_int_equal(x->extents[i].start, y->extents[i].start);
		assert_int_equal(x->extents[i].owner, y->extents[i].owner);
	}
}

static void test_symbols(void **state)
{
	const struct hvar_image_seg all = { .memsz = UINT64_MAX };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		unsigned shift = rnd(3) ? rnd(3) * 8 : 30 + rnd(30); /* far apart, too */
		struct tables from;
		char names[NAMES][32];
		struct sym v[SYMS];
		struct sym_table a, b;
		uint32_t n = rnd(SYMS);

		for (int i = 0; i < NAMES; i++)
			snprintf(names[i], sizeof(names[i]), "%s%c%d", &"__"[rnd(3)], 'a' + (char)rnd(3), i);
		make_tables(&from, names);
		for (uint32_t i = 0; i < n; i++) {
			static const uint8_t bindings[] = { STB_LOCAL, STB_GLOBAL, STB_WEAK };

			v[i] = (struct sym){ .name = (int)rnd(NAMES), .in_second = !rnd(3) };
			v[i].s = (struct elf_sym){ .value = (uint64_t)rnd(12) << shift, .size = rnd(3) * 4, .binding = bindings[rnd(3)],
						   .type = rnd(6) ? STT_OBJECT : STT_TLS };
			if (v[i].s.binding != STB_LOCAL && rnd(2)) {
				v[i].s.version = rnd(2) ? "V_1" : "V_2";
				v[i].s.version_len = 3;
				v[i].s.is_default = rnd(2);
			}
		}
		add(&a, v, n, &from, true);
		add(&b, v, n, &from, false);
		assert_int_equal(sym_table_settle(&a, &all, 1, (uint64_t)1 << 62), 0);
		assert_int_equal(sym_table_settle(&b, &all, 1, (uint64_t)1 << 62), 0);
		check_names(&b, &b.syms, v, n, names);
		check_names(&b, &b.tls, v, n, names);
		same(&a, &a.syms, &b, &b.syms);
		same(&a, &a.tls, &b, &b.tls);
		sym_table_fini(&a);
		sym_table_fini(&b);
	}
}

/* Names that are parts of one long string add up to more than a file can hold. */
static void test_too_long(void **state)
{
	enum { LENGTH = 1 << 20 };
	char *strs = malloc(LENGTH + 1);
	struct sym_table t;
	int r = 0;

	(void)state;
	memset(strs, 'a', LENGTH);
	strs[0] = strs[LENGTH] = '\0';
	assert_int_equal(sym_table_init(&t), 0);
	for (uint32_t i = 1; i < 8192 && !r; i++) {
		struct elf_sym s = { .name = strs + i, .len = LENGTH - i, .value = i, .size = 1, .type = STT_OBJECT, .strs = strs,
				     .strs_size = LENGTH + 1, .n_syms = 8192, .first = i == 1 };

		if (s.first)
			assert_int_equal(sym_table_begin(&t, &s), 0);
		r = sym_table_add(&t, &s, HVAR_IMAGE_NONE);
	}
	assert_int_equal(r, -EFBIG);
	sym_table_fini(&t);
	free(strs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort), cmocka_unit_test(test_memory), cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
