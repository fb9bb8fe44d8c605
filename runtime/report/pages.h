/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.h - what "hotvar pages" writes: regions, groups of them, moments, pages.
 *
 * Text and JSON Lines are two struct pages_format; each call writes one row.
 */
#ifndef PAGES_H
#define PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pages_counts.h"
#include "pages_where.h"
#include "runtime/core/hvar_key.h"
#include "runtime/user/page_kernel.h"

/* All borrowed. */
struct pages_page {
	uint64_t addr, entry;
	const struct page_facts *facts;
	int touched, written, anon, zero, huge; /* 1, 0, -1: not known */
	struct pages_names *names;		/* NULL: not asked for; used up */
	const char *key;
};

struct pages_group {
	const char *path;  /* NULL: of all; "": without a file */
	const char *kind;  /* NULL: of all kinds */
	struct pages_counts counts;
};

struct pages_moment {
	double seconds;	   /* since the first */
	const char *path;  /* of the module; NULL: of all; "": without a file */
	bool code;	   /* of what may be executed; else of all else */
	bool peak;	   /* the moment at which most was touched */
	struct pages_counts counts;
};

struct pages_format {
	void (*head)(FILE *f, int pid, double seconds, const char *what); /* @what: the rows to come, "region" say */
	void (*region)(FILE *f, const struct hvar_vma *v, const struct pages_where *w,
		       const struct pages_counts *c);
	void (*group)(FILE *f, const struct pages_group *g);
	void (*moment)(FILE *f, const struct pages_moment *m);
	void (*page)(FILE *f, const struct pages_page *p);
	void (*total)(FILE *f, const struct pages_counts *c);
};

extern const struct pages_format pages_text, pages_json;

/* "rw-p" into @out. */
void pages_prot(uint8_t prot, char out[5]);
/* "08:01:1234+0x3000", "mm:7@0x55d0c0ffe000": the key as it is written. */
void pages_key(const struct hvar_key *key, char *out, size_t size);

#endif /* PAGES_H */
