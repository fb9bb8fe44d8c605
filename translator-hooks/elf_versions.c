// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf_versions.c - symbol versions: two linked lists of records in the file.
 *
 * Each record says how far the next one is.  The lists are walked for a bounded number
 * of steps, whatever they say.
 */
#include "config.h"

#include "elf_versions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_MAX  ((uint64_t)4 << 20)
#define STEPS_MAX 65536
#define INDEX_MAX 0x7fff

static void note(struct elf_versions *v, uint32_t index, uint64_t name,
		 const char *strs, uint64_t strs_size, bool needed)
{
	index &= INDEX_MAX;
	if (name >= strs_size || !strs[name])
		return;
	v->names[index] = strs + name;
	v->needed[index] = needed;
	if (v->n <= index)
		v->n = index + 1;
}

/* Verdef: this file's own versions; the first Verdaux of each has its name. */
static void read_defs(struct elf_versions *v, const uint8_t *p, uint64_t n,
		      const char *strs, uint64_t strs_size)
{
	uint64_t at = 0;
	unsigned left = STEPS_MAX;

	while (left-- && n - at >= sizeof(Elf64_Verdef)) {
		Elf64_Verdef d;
		Elf64_Verdaux a;

		memcpy(&d, p + at, sizeof(d));
		if (!(d.vd_flags & VER_FLG_BASE) && d.vd_cnt && n - at >= sizeof(a) &&
		    d.vd_aux <= n - at - sizeof(a)) {
			memcpy(&a, p + at + d.vd_aux, sizeof(a));
			note(v, d.vd_ndx, a.vda_name, strs, strs_size, false);
		}
		if (d.vd_next < sizeof(d) || d.vd_next > n - at)
			break;
		at += d.vd_next;
	}
}

/* Verneed: for each file needed, a list of Vernaux, one a version. */
static void read_needs(struct elf_versions *v, const uint8_t *p, uint64_t n,
		       const char *strs, uint64_t strs_size)
{
	uint64_t at = 0;
	unsigned left = STEPS_MAX;

	while (left && n - at >= sizeof(Elf64_Verneed)) {
		Elf64_Verneed d;
		uint64_t aux;
		unsigned i;

		memcpy(&d, p + at, sizeof(d));
		left--;
		aux = d.vn_aux > n - at ? n : at + d.vn_aux;
		for (i = 0; i < d.vn_cnt && left && n - aux >= sizeof(Elf64_Vernaux); i++) {
			Elf64_Vernaux a;

			memcpy(&a, p + aux, sizeof(a));
			left--;
			note(v, a.vna_other, a.vna_name, strs, strs_size, true);
			if (a.vna_next < sizeof(a) || a.vna_next > n - aux)
				break;
			aux += a.vna_next;
		}
		if (d.vn_next < sizeof(d) || d.vn_next > n - at)
			break;
		at += d.vn_next;
	}
}

static uint8_t *get(const struct elf_file *f, struct elf_span *s)
{
	uint8_t *p = NULL;

	if (s->size > SPAN_MAX)
		s->size = SPAN_MAX;
	if (!s->size || elf_file_get(f, s->offset, s->size, &p, NULL))
		return NULL;
	return p;
}

int elf_versions_init(struct elf_versions *v, const struct elf_file *f,
		      struct elf_span def, struct elf_span need, const char *strs,
		      uint64_t strs_size)
{
	uint8_t *d = get(f, &def), *n = get(f, &need);
	int r = 0;

	memset(v, 0, sizeof(*v));
	if (d || n) {
		v->names = calloc(INDEX_MAX + 1, sizeof(*v->names));
		v->needed = calloc(INDEX_MAX + 1, sizeof(*v->needed));
		if (!v->names || !v->needed) {
			elf_versions_fini(v);
			r = -ENOMEM;
		}
	}
	if (!r && d)
		read_defs(v, d, def.size, strs, strs_size);
	if (!r && n)
		read_needs(v, n, need.size, strs, strs_size);
	free(d);
	free(n);
	return r;
}

void elf_versions_fini(struct elf_versions *v)
{
	free(v->names);
	free(v->needed);
	memset(v, 0, sizeof(*v));
}

bool elf_versions_has(const struct elf_versions *v, const char *s, size_t len)
{
	uint32_t i;

	for (i = 0; i < v->n; i++)
		if (v->names[i] && !strncmp(v->names[i], s, len) && !v->names[i][len])
			return true;
	return false;
}
