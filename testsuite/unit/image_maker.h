/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_maker.h - symbol images for tests, from a list of symbols and segments.
 */
#ifndef IMAGE_MAKER_H
#define IMAGE_MAKER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_image.h"
#include "translator-hooks/image_layout.h"
#include "translator-hooks/sym_table.h"

struct maker_sym {
	uint64_t vaddr, size;
	const char *name;
	uint8_t binding, type; /* STB_, STT_ */
	const char *file;
};

struct maker {
	struct hvar_image_seg *segs;
	uint32_t n_segs;
	struct hvar_image_section *sections; /* names are set to .0, .1 ... */
	uint32_t n_sections;
	struct maker_sym *syms;
	uint32_t n_syms;
	uint64_t tls_size;
	uint64_t relro, relro_size;
	uint32_t flags;
};

/* malloc'd, and good */
static inline void *maker_image(const struct maker *m, size_t *size)
{
	struct sym_table t;
	struct image_parts p;
	void *data;

	memset(&p, 0, sizeof(p));
	assert_int_equal(sym_table_init(&t), 0);
	for (uint32_t i = 0; i < m->n_sections; i++) {
		char name[32];

		snprintf(name, sizeof(name), ".%u", i);
		assert_int_equal(sym_table_str(&t, name, strlen(name),
					       &m->sections[i].name), 0);
	}
	for (uint32_t i = 0; i < m->n_syms; i++) {
		const struct maker_sym *y = &m->syms[i];
		struct elf_sym s = { .name = y->name, .len = strlen(y->name),
				     .value = y->vaddr, .size = y->size,
				     .binding = y->binding, .type = y->type,
				     .file = y->file };

		assert_int_equal(sym_table_add(&t, &s, HVAR_IMAGE_NONE), 0);
	}
	assert_int_equal(sym_table_settle(&t, m->segs, m->n_segs, m->tls_size), 0);
	p.segs = m->segs;
	p.n_segs = m->n_segs;
	p.sections = m->sections;
	p.n_sections = m->n_sections;
	p.syms = &t;
	p.head.flags = m->flags;
	p.head.relro = m->relro;
	p.head.relro_size = m->relro_size;
	p.head.tls.memsz = m->tls_size;
	assert_int_equal(image_layout(&p, &data, size), 0);
	sym_table_fini(&t);
	return data;
}

/* xorshift64*: the same numbers everywhere. */
static uint64_t maker_rng = 88172645463325252u;

static inline uint32_t rnd(uint32_t below)
{
	maker_rng ^= maker_rng >> 12;
	maker_rng ^= maker_rng << 25;
	maker_rng ^= maker_rng >> 27;
	return (uint32_t)((maker_rng * 2685821657736338717u) >> 32) % below;
}

#endif /* IMAGE_MAKER_H */
