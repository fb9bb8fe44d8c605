// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_type.c - members of types: look-ups against a list of every byte of every scalar, and damaged tables.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>

#include "image_maker.h"
#include "runtime/core/hvar_type.h"
#include "translator-hooks/type_table.h"

enum { TYPES = 40, LEAVES = 4000, BYTES = 600 };

/* ---- types made at random, and beside each the list of what is in it ---- */

/* One scalar in a type: where, and how it is called. */
struct leaf {
	uint64_t offset, size;
	unsigned bit, bits;
	char path[120];
};

struct model {
	uint64_t size;
	struct leaf *v; /* in the order of declaration */
	uint32_t n;
};

static struct sym_table strs;
static struct type_table table;
static struct model models[TYPES];
static uint32_t ids[TYPES], n_types;

static void put_leaf(struct model *m, uint64_t offset, uint64_t size, unsigned bit, unsigned bits,
		     const char *path)
{
	struct leaf *l = &m->v[m->n++];

	assert_true(m->n < LEAVES);
	l->offset = offset;
	l->size = size;
	l->bit = bit;
	l->bits = bits;
	snprintf(l->path, sizeof(l->path), "%s", path);
}

/* All of @of, which is at @offset of @m and is called @name there. */
static bool put_all(struct model *m, const struct model *of, uint64_t offset, const char *name)
{
	char path[120];

	if (m->n + of->n + 1 >= LEAVES)
		return false;
	for (uint32_t i = 0; i < of->n; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s%s", name, of->v[i].path) >= sizeof(path))
			return false;
		put_leaf(m, offset + of->v[i].offset, of->v[i].size, of->v[i].bit, of->v[i].bits, path);
	}
	return true;
}

static uint32_t name_id(const char *name)
{
	uint32_t id;

	assert_int_equal(sym_table_str(&strs, name, strlen(name), &id), 0);
	return id;
}

static bool make_array(struct model *m, uint32_t *id)
{
	uint32_t of = rnd(n_types), count = 1 + rnd(5), pad = rnd(4) ? 0 : rnd(8);
	struct hvar_image_type k;
	char name[24];

	memset(&k, 0, sizeof(k));
	if (!models[of].size || (models[of].size + pad) * count > BYTES)
		return false;
	k.kind = HVAR_TYPE_ARRAY;
	k.first = ids[of];
	k.count = count;
	k.stride = models[of].size + pad;
	m->size = k.size = k.stride * count;
	k.depth = table.v[ids[of]].depth + 1;
	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "[%u]", i);
		if (!put_all(m, &models[of], i * k.stride, name))
			return false;
	}
	*id = type_table_enter(&table, k, NULL);
	return k.depth < HVAR_TYPE_DEPTH - 1;
}

/* A struct with gaps, or a union; some members have no name, some are bit-fields. */
static bool make_composite(struct model *m, uint32_t *id)
{
	struct hvar_image_member v[8];
	struct hvar_image_type k;
	bool is_union = rnd(2);
	uint64_t at = 0;
	uint32_t n = 1 + rnd(7);
	char name[24];

	memset(&k, 0, sizeof(k));
	memset(v, 0, sizeof(v));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t of = rnd(n_types);
		bool bits = is_union && !rnd(4);

		if (!models[of].size)
			return false;
		snprintf(name, sizeof(name), ".m%u", rnd(1000));
		v[i].type = ids[of];
		v[i].offset = is_union ? rnd(12) : at + (rnd(3) ? 0 : rnd(6));
		if (table.v[ids[of]].kind != HVAR_TYPE_SCALAR && !rnd(3) && !bits)
			name[0] = '\0';
		v[i].name = name[0] ? name_id(name + 1) : 0;
		if (bits) {
			v[i].type = ids[0];
			of = 0;
			v[i].bit = (uint8_t)rnd(8);
			v[i].bits = (uint16_t)(1 + rnd(40));
			put_leaf(m, v[i].offset, (v[i].bit + v[i].bits + 7u) / 8, v[i].bit, v[i].bits, name);
			at = v[i].offset + (v[i].bit + v[i].bits + 7u) / 8;
		} else {
			if (!put_all(m, &models[of], v[i].offset, name))
				return false;
			at = v[i].offset + models[of].size;
		}
		if (at > m->size)
			m->size = at;
		if (table.v[v[i].type].depth >= k.depth)
			k.depth = table.v[v[i].type].depth + 1;
	}
	m->size += rnd(4);
	k.kind = is_union ? HVAR_TYPE_UNION : HVAR_TYPE_STRUCT;
	k.n = n;
	k.size = m->size;
	*id = type_table_enter(&table, k, v);
	return m->size <= BYTES && k.depth < HVAR_TYPE_DEPTH - 1;
}

static void make_types(void)
{
	assert_int_equal(sym_table_init(&strs), 0);
	assert_int_equal(type_table_init(&table, &strs), 0);
	for (n_types = 0; n_types < TYPES;) {
		struct model *m = &models[n_types];

		m->size = m->n = 0;
		if (n_types < 4) {
			m->size = (uint64_t)1 << n_types;
			ids[n_types] = type_table_scalar(&table, 0, m->size);
			put_leaf(m, 0, m->size, 0, 0, "");
		} else if (!(rnd(2) ? make_array(m, &ids[n_types]) : make_composite(m, &ids[n_types]))) {
			continue;
		}
		n_types++;
	}
}

/* An image with the types and one variable of each, in a row. */
static void *make_image(struct hvar_image *img, size_t *size)
{
	struct hvar_image_seg seg = { .vaddr = 0x1000, .memsz = TYPES * 0x1000, .prot = 3 };
	static struct hvar_image_var vars[TYPES];
	struct image_parts p;
	void *data;

	memset(&p, 0, sizeof(p));
	memset(vars, 0, sizeof(vars));
	for (uint32_t i = 0; i < TYPES; i++) {
		char name[8];
		struct elf_sym s = { .name = name, .value = 0x1000 * (i + 1), .size = models[i].size,
				     .type = STT_OBJECT, .binding = STB_GLOBAL };

		snprintf(name, sizeof(name), "v%u", i);
		s.len = strlen(name);
		assert_int_equal(sym_table_add(&strs, &s, HVAR_IMAGE_NONE), 0);
		vars[i].symbol = i;
		vars[i].type = ids[i];
		vars[i].line = i;
	}
	assert_int_equal(sym_table_settle(&strs, &seg, 1, 0), 0);
	p.segs = &seg;
	p.n_segs = 1;
	p.syms = &strs;
	p.types = table.v;
	p.n_types = table.n;
	p.members = table.members;
	p.n_members = table.n_members;
	p.vars = vars;
	p.n_vars = TYPES;
	assert_int_equal(image_layout(&p, &data, size), 0);
	assert_int_equal(hvar_image_open(img, data, *size), 0);
	return data;
}

static void test_random(void **state)
{
	static char text[BYTES];
	unsigned leaves = 0, paddings = 0, several = 0;

	(void)state;
	for (int i = 0; i < TYPES; i++)
		models[i].v = malloc(LEAVES * sizeof(*models[i].v));
	for (int round = 0; round < 60; round++) {
		struct hvar_type_walk w;
		struct hvar_image img;
		size_t size;
		void *data;

		make_types();
		data = make_image(&img, &size);
		for (uint32_t k = 0; k < TYPES; k++) {
			const struct hvar_image_var *v = hvar_type_var(&img, k, false);
			const struct model *m = &models[k];

			assert_non_null(v);
			assert_int_equal(v->line, k);
			for (uint64_t at = 0; at < m->size + 3; at++) {
				uint32_t found = 0;

				hvar_type_first(&img, v->type, at, &w);
				for (uint32_t i = 0; i < m->n; i++) {
					const struct leaf *l = &m->v[i];

					if (at - l->offset >= l->size)
						continue;
					if (found++)
						assert_true(hvar_type_next(&img, &w));
					assert_true(w.leaf);
					assert_true(hvar_type_text(&img, &w, text, sizeof(text)) == strlen(l->path));
					assert_string_equal(text, l->path);
					assert_int_equal(w.offset, at - l->offset);
					assert_int_equal(w.bits, l->bits);
					assert_int_equal(w.bit, l->bit);
				}
				if (!found)
					assert_false(w.leaf);
				assert_false(hvar_type_next(&img, &w));
				leaves += !!found;
				paddings += !found;
				several += found > 1;
			}
		}
		assert_null(hvar_type_var(&img, TYPES, false));
		assert_null(hvar_type_var(&img, 0, true));
		free(data);
		type_table_fini(&table);
		sym_table_fini(&strs);
	}
	for (int i = 0; i < TYPES; i++)
		free(models[i].v);
	assert_true(leaves > 10000 && paddings > 1000 && several > 1000);
}

/* ---- one by one ---- */

struct given {
	struct hvar_image_type *types;
	uint32_t n_types;
	struct hvar_image_member *members;
	uint32_t n_members;
	struct hvar_image_var *vars;
	uint32_t n_vars;
};

/* Names of types and members: number n is the string "m<n>", 0 none. */
static void *given_image(const struct given *g, size_t *size)
{
	struct hvar_image_seg seg = { .vaddr = 0x1000, .memsz = 0x1000, .prot = 3 };
	struct elf_sym s = { .name = "v", .len = 1, .value = 0x1000, .size = 64, .type = STT_OBJECT,
			     .binding = STB_GLOBAL };
	struct hvar_image_type *types = malloc((g->n_types + 1) * sizeof(*types));
	struct hvar_image_member *members = malloc((g->n_members + 1) * sizeof(*members));
	uint32_t numbers[8] = { 0 };
	struct sym_table t;
	struct image_parts p;
	char name[8];
	void *data;

	memset(&p, 0, sizeof(p));
	assert_int_equal(sym_table_init(&t), 0);
	for (uint32_t i = 1; i < 8; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		assert_int_equal(sym_table_str(&t, name, strlen(name), &numbers[i]), 0);
	}
	for (uint32_t i = 0; i < g->n_types; i++) {
		types[i] = g->types[i];
		types[i].name = numbers[types[i].name];
	}
	for (uint32_t i = 0; i < g->n_members; i++) {
		members[i] = g->members[i];
		members[i].name = numbers[members[i].name];
	}
	assert_int_equal(sym_table_add(&t, &s, HVAR_IMAGE_NONE), 0);
	assert_int_equal(sym_table_settle(&t, &seg, 1, 0), 0);
	p.segs = &seg;
	p.n_segs = 1;
	p.syms = &t;
	p.types = types;
	p.n_types = g->n_types;
	p.members = members;
	p.n_members = g->n_members;
	p.vars = g->vars;
	p.n_vars = g->n_vars;
	assert_int_equal(image_layout(&p, &data, size), 0);
	sym_table_fini(&t);
	free(types);
	free(members);
	return data;
}

static int opens(const struct given *g)
{
	struct hvar_image img;
	size_t size;
	void *data = given_image(g, &size);
	int r = hvar_image_open(&img, data, size);

	free(data);
	return r;
}

static const char *path(const struct hvar_image *img, uint32_t type, uint64_t offset)
{
	static char text[64];
	struct hvar_type_walk w;

	hvar_type_first(img, type, offset, &w);
	hvar_type_text(img, &w, text, sizeof(text) - 4);
	if (!w.leaf)
		strcat(text, "?");
	return text;
}

#define SCALAR(s) { .kind = HVAR_TYPE_SCALAR, .size = s }

static void test_open_arrays(void **state)
{
	struct hvar_image_type types[] = {
		SCALAR(4),
		{ .kind = HVAR_TYPE_ARRAY, .first = 0, .stride = 4, .depth = 1, .flags = HVAR_TYPE_OPEN },
		{ .kind = HVAR_TYPE_STRUCT, .first = 0, .n = 2, .size = 8, .depth = 2, .flags = HVAR_TYPE_OPEN },
		{ .kind = HVAR_TYPE_ARRAY, .first = 0, .stride = (uint64_t)1 << 40, .count = (uint64_t)1 << 20, .size = (uint64_t)1 << 60, .depth = 1 },
	};
	struct hvar_image_member members[] = { { .name = 1, .type = 0 }, { .name = 2, .type = 1, .offset = 8 } };
	struct given g = { types, 4, members, 2, NULL, 0 };
	struct hvar_image img;
	size_t size;
	void *data = given_image(&g, &size);

	(void)state;
	assert_int_equal(hvar_image_open(&img, data, size), 0);
	assert_string_equal(path(&img, 2, 0), ".m1");
	assert_string_equal(path(&img, 2, 4), "?");
	assert_string_equal(path(&img, 2, 8), ".m2[0]");
	assert_string_equal(path(&img, 2, 8 + 4000000003u), ".m2[1000000000]");
	assert_string_equal(path(&img, 2, UINT64_MAX), ".m2[4611686018427387901]");
	assert_string_equal(path(&img, 1, 9), "[2]");
	assert_string_equal(path(&img, 3, ((uint64_t)1 << 40) * 5 + 3), "[5]");
	assert_string_equal(path(&img, 3, ((uint64_t)1 << 40) * 5 + 4), "?");
	assert_string_equal(path(&img, 3, ((uint64_t)1 << 40) * 1048575), "[1048575]");
	assert_string_equal(path(&img, 3, (uint64_t)1 << 60), "?");
	free(data);
}

/* What a byte that no member holds is called: as far as there is anything. */
static void test_padding(void **state)
{
	struct hvar_image_type types[] = {
		SCALAR(1), SCALAR(8),
		{ .kind = HVAR_TYPE_STRUCT, .first = 0, .n = 2, .size = 16, .depth = 1 },
		{ .kind = HVAR_TYPE_ARRAY, .first = 2, .stride = 16, .count = 3, .size = 48, .depth = 2 },
		{ .kind = HVAR_TYPE_UNION, .first = 2, .n = 2, .size = 48, .depth = 3 },
	};
	struct hvar_image_member members[] = {
		{ .name = 1, .type = 0 }, { .name = 2, .type = 1, .offset = 8 },
		{ .name = 3, .type = 3 }, { .name = 4, .type = 1, .offset = 2 },
	};
	struct given g = { types, 5, members, 4, NULL, 0 };
	struct hvar_image img;
	char cut[5];
	struct hvar_type_walk w;
	size_t size;
	void *data = given_image(&g, &size);

	(void)state;
	assert_int_equal(hvar_image_open(&img, data, size), 0);
	assert_string_equal(path(&img, 3, 16 + 3), "[1]?");
	assert_string_equal(path(&img, 4, 16 + 3), ".m3[1]?");
	assert_string_equal(path(&img, 4, 1), ".m3[0]?");
	/* the other member of the union holds it */
	assert_string_equal(path(&img, 4, 2), ".m4");
	assert_string_equal(path(&img, 4, 9), ".m3[0].m2");
	hvar_type_first(&img, 4, 9, &w);
	assert_true(hvar_type_next(&img, &w));
	assert_int_equal(hvar_type_text(&img, &w, cut, sizeof(cut)), 3);
	assert_string_equal(cut, ".m4");
	assert_false(hvar_type_next(&img, &w));
	/* a buffer that is too small */
	hvar_type_first(&img, 4, 9, &w);
	assert_int_equal(hvar_type_text(&img, &w, cut, sizeof(cut)), 9);
	assert_string_equal(cut, ".m3[");
	assert_int_equal(hvar_type_text(&img, &w, cut, 1), 9);
	assert_string_equal(cut, "");
	free(data);
}

/* Padding in a base class or an anonymous struct is so far into what has a name. */
static void test_nameless_padding(void **state)
{
	struct hvar_image_type types[] = {
		SCALAR(1), SCALAR(8),
		{ .kind = HVAR_TYPE_STRUCT, .first = 0, .n = 2, .size = 16, .depth = 1 },
		{ .kind = HVAR_TYPE_STRUCT, .first = 2, .n = 2, .size = 32, .depth = 2 },
		{ .kind = HVAR_TYPE_ARRAY, .first = 3, .stride = 32, .count = 2, .size = 64, .depth = 3 },
	};
	struct hvar_image_member members[] = {
		{ .name = 1, .type = 0 }, { .name = 2, .type = 1, .offset = 8 },
		{ .name = 3, .type = 1 }, { .name = 0, .type = 2, .offset = 16 },
	};
	struct given g = { types, 5, members, 4, NULL, 0 };
	struct hvar_type_walk w;
	struct hvar_image img;
	size_t size;
	void *data = given_image(&g, &size);

	(void)state;
	assert_int_equal(hvar_image_open(&img, data, size), 0);
	assert_string_equal(path(&img, 4, 32 + 16), "[1].m1");
	assert_string_equal(path(&img, 4, 32 + 16 + 3), "[1]?");
	hvar_type_first(&img, 4, 32 + 16 + 3, &w);
	assert_int_equal(w.type, 3);
	assert_int_equal(w.offset, 16 + 3);
	hvar_type_first(&img, 3, 16 + 3, &w);
	assert_int_equal(w.offset, 16 + 3);
	free(data);
}

/*
 * Fortran's integer(4) grid(-1:1, 5:6) and an array of 2 elements, numbered from 2^31 - 1, of structs that end in it: which
 * element the source calls how is by the language's rules.
 */
static void test_numbers(void **state)
{
	struct hvar_image_type types[] = {
		SCALAR(4),
		{ .kind = HVAR_TYPE_ARRAY, .first = 0, .stride = 4, .count = 3, .size = 12, .depth = 1, .n = (uint32_t)-1, .flags = HVAR_TYPE_COLUMNS },
		{ .kind = HVAR_TYPE_ARRAY, .first = 1, .stride = 12, .count = 2, .size = 24, .depth = 2, .n = 5, .flags = HVAR_TYPE_COLUMNS },
		{ .kind = HVAR_TYPE_STRUCT, .first = 0, .n = 2, .size = 28, .depth = 3 },
		{ .kind = HVAR_TYPE_ARRAY, .first = 3, .stride = 28, .count = 2, .size = 56, .depth = 4, .n = INT32_MAX },
		{ .kind = HVAR_TYPE_ARRAY, .first = 0, .stride = 4, .count = 2, .size = 8, .depth = 1, .n = (uint32_t)INT32_MIN },
	};
	struct hvar_image_member members[] = { { .name = 1, .type = 0 }, { .name = 2, .type = 2, .offset = 4 } };
	struct given g = { types, 6, members, 2, NULL, 0 };
	struct hvar_type_walk w;
	struct hvar_image img;
	char text[32];
	size_t size;
	void *data = given_image(&g, &size);

	(void)state;
	assert_int_equal(hvar_image_open(&img, data, size), 0);
	assert_string_equal(path(&img, 2, 0), "[-1][5]");
	assert_string_equal(path(&img, 2, 4), "[0][5]");
	assert_string_equal(path(&img, 2, 8), "[1][5]");
	assert_string_equal(path(&img, 2, 12), "[-1][6]");
	assert_string_equal(path(&img, 2, 23), "[1][6]");
	assert_string_equal(path(&img, 2, 24), "?");
	assert_string_equal(path(&img, 4, 4 + 16), "[2147483647].m2[0][6]");
	assert_string_equal(path(&img, 4, 28), "[2147483648].m1");
	assert_string_equal(path(&img, 5, 0), "[-2147483648]");
	assert_string_equal(path(&img, 5, 4), "[-2147483647]");
	hvar_type_first(&img, 4, 20, &w);
	assert_int_equal(hvar_type_pattern(&img, &w, text, sizeof(text)), 9);
	assert_string_equal(text, "[].m2[][]");
	free(data);
}

static void test_refused(void **state)
{
	struct hvar_image_type types[] = {
		SCALAR(4), SCALAR(8),
		{ .kind = HVAR_TYPE_STRUCT, .first = 0, .n = 2, .size = 16, .depth = 1 },
		{ .kind = HVAR_TYPE_ARRAY, .first = 2, .stride = 16, .count = 3, .size = 48, .depth = 2 },
	};
	struct hvar_image_member members[] = { { .name = 1, .type = 0 }, { .name = 2, .type = 1, .offset = 8 } };
	struct hvar_image_var vars[] = { { .symbol = 0, .type = 3 } };
	struct given g = { types, 4, members, 2, vars, 1 };

	(void)state;
	assert_int_equal(opens(&g), 0);
#define REFUSED(lhs, value) do { \
		__typeof__(lhs) was = lhs; \
		lhs = value; \
		assert_int_equal(opens(&g), -EINVAL); \
		lhs = was; \
		assert_int_equal(opens(&g), 0); \
	} while (0)
	REFUSED(types[0].kind, HVAR_TYPE_KINDS);
	REFUSED(types[0].depth, 1);
	REFUSED(types[0].n, 1);
	REFUSED(types[2].depth, 0);
	REFUSED(types[2].depth, HVAR_TYPE_DEPTH);
	REFUSED(types[2].first, 1);
	REFUSED(types[2].first, UINT32_MAX);
	REFUSED(types[2].n, 3);
	REFUSED(types[2].n, UINT32_MAX);
	REFUSED(types[2].flags, 2);
	REFUSED(types[3].first, 3);
	REFUSED(types[3].first, UINT32_MAX);
	REFUSED(types[3].stride, 0);
	REFUSED(types[3].flags, 4);
	REFUSED(types[3].depth, 1);
	REFUSED(members[0].type, 2);
	REFUSED(members[0].type, UINT32_MAX);
	REFUSED(members[1].offset, 3);
	REFUSED(members[1].offset, UINT64_MAX - 6);
	REFUSED(members[1].bits, 1);
	REFUSED(members[1].bit, 8);
	REFUSED(types[1].size, 0);
	REFUSED(vars[0].symbol, 1);
	REFUSED(vars[0].type, 4);
	/* a member that is the struct itself, in a union too */
	types[2].kind = HVAR_TYPE_UNION;
	REFUSED(members[1].type, 2);
	assert_int_equal(opens(&g), 0);
}

/*
 * Unions of two members each, 20 levels of them, and no scalar where one is looked for: two to the
 * 20th ways, of which only so many are tried.
 */
static void test_bounded(void **state)
{
	struct hvar_image_type types[24] = { SCALAR(1) };
	struct hvar_image_member members[48];
	struct hvar_type_walk w;
	struct given g = { types, 24, members, 46, NULL, 0 };
	struct hvar_image img;
	size_t size;
	void *data;

	(void)state;
	memset(members, 0, sizeof(members));
	for (uint32_t i = 1; i < 24; i++) {
		types[i] = (struct hvar_image_type){ .kind = HVAR_TYPE_UNION, .first = 2 * (i - 1), .n = 2,
						     .size = 8, .depth = (uint8_t)i };
		members[2 * (i - 1)] = (struct hvar_image_member){ .name = 1, .type = i - 1 };
		members[2 * i - 1] = (struct hvar_image_member){ .name = 2, .type = i - 1 };
	}
	data = given_image(&g, &size);
	assert_int_equal(hvar_image_open(&img, data, size), 0);
	hvar_type_first(&img, 23, 5, &w);
	assert_false(w.leaf);
	assert_true(w.steps <= HVAR_TYPE_STEPS + 2 * HVAR_TYPE_DEPTH);
	/* where there is one, the first is found at once */
	hvar_type_first(&img, 23, 0, &w);
	assert_true(w.leaf);
	assert_true(w.steps < 100);
	free(data);
}

/* Any changed word with the checksum made good: refused, or every answer ends inside. */
static void test_damaged(void **state)
{
	static const uint32_t extremes[] = { 0, 1, 5, 31, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	struct hvar_image_type types[] = {
		SCALAR(4), SCALAR(8),
		{ .kind = HVAR_TYPE_STRUCT, .first = 0, .n = 2, .size = 16, .depth = 1, .name = 3 },
		{ .kind = HVAR_TYPE_ARRAY, .first = 2, .stride = 16, .count = 3, .size = 48, .depth = 2 },
		{ .kind = HVAR_TYPE_UNION, .first = 2, .n = 2, .size = 48, .depth = 3 },
	};
	struct hvar_image_member members[] = {
		{ .name = 1, .type = 0 }, { .name = 2, .type = 1, .offset = 8 },
		{ .name = 3, .type = 3 }, { .name = 4, .type = 1, .offset = 2, .bits = 5, .bit = 3 },
	};
	struct hvar_image_var vars[] = { { .symbol = 0, .type = 4, .file = 5, .line = 7 } };
	struct given g = { types, 5, members, 4, vars, 1 };
	size_t size, opened = 0, refused = 0;
	uint8_t *good = given_image(&g, &size), *bad = malloc(size);

	(void)state;
	for (size_t i = HVAR_IMAGE_SUMMED; i + 4 <= size; i += 4) {
		for (unsigned k = 0; k < 8; k++) {
			struct hvar_image img;
			struct hvar_type_walk w;
			char text[64];

			memcpy(bad, good, size);
			memcpy(bad + i, &extremes[k], 4);
			((struct hvar_image_header *)bad)->checksum = hvar_image_checksum(bad, size);
			if (hvar_image_open(&img, bad, size)) {
				refused++;
				continue;
			}
			opened++;
			for (uint32_t t = 0; t < img.n_types; t++) {
				for (uint64_t at = 0; at < 60; at++) {
					hvar_type_first(&img, t, at * at * at * at, &w);
					do {
						assert_true(w.type < img.n_types);
						hvar_type_text(&img, &w, text, sizeof(text));
					} while (hvar_type_next(&img, &w));
				}
			}
		}
	}
	assert_true(opened > 100 && refused > 100);
	free(good);
	free(bad);
}

/* ---- the table they come from ---- */

static void test_table(void **state)
{
	struct hvar_image_member m[2];
	struct hvar_image_type k;
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(sym_table_init(&strs), 0);
	assert_int_equal(type_table_init(&table, &strs), 0);
	a = type_table_scalar(&table, type_table_name(&table, "", "int"), 4);
	assert_int_equal(type_table_scalar(&table, type_table_name(&table, "", "int"), 4), a);
	assert_int_not_equal(type_table_scalar(&table, type_table_name(&table, "", "unsigned"), 4), a);
	memset(&k, 0, sizeof(k));
	memset(m, 0, sizeof(m));
	k.kind = HVAR_TYPE_STRUCT;
	k.n = 2;
	k.size = 8;
	k.depth = 1;
	k.name = type_table_name(&table, "struct ", "pair");
	m[0].type = m[1].type = a;
	m[1].offset = 4;
	b = type_table_enter(&table, k, m);
	assert_int_equal(type_table_enter(&table, k, m), b);
	assert_int_equal(table.n_members, 2);
	m[1].name = type_table_name(&table, "", "b");
	c = type_table_enter(&table, k, m);
	assert_int_not_equal(c, b);
	assert_int_equal(table.n_members, 4);
	/* a typedef shares the members */
	a = type_table_variant(&table, c, type_table_name(&table, "", "pair_t"), 0);
	assert_int_not_equal(a, c);
	assert_int_equal(table.v[a].first, table.v[c].first);
	assert_int_equal(type_table_variant(&table, c, type_table_name(&table, "", "pair_t"), 0), a);
	assert_int_equal(type_table_variant(&table, a, k.name, 0), c);
	assert_int_equal(table.n_members, 4);
	assert_int_equal(table.error, 0);
	type_table_fini(&table);
	sym_table_fini(&strs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	cmocka_unit_test(test_open_arrays),
		cmocka_unit_test(test_padding), cmocka_unit_test(test_nameless_padding), cmocka_unit_test(test_numbers), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bounded), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
