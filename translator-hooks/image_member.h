/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_member.h - which members of a variable a byte is in, in words: "[3].st.misses".
 */
#ifndef IMAGE_MEMBER_H
#define IMAGE_MEMBER_H

#include "runtime/core/hvar_type.h"

enum { IMAGE_MEMBER_MAX = 4096 };

struct image_member {
	const struct hvar_image *img;
	const struct hvar_image_var *var; /* NULL: no debug information tells of the symbol */
	struct hvar_type_walk walk;
	char path[IMAGE_MEMBER_MAX];	  /* "" : the variable itself, or not known */
	uint64_t rest;			  /* of the byte, from the start of what @path says */
	const char *type;		  /* of that, or NULL */
};

/* The members at byte @offset of symbol @symbol (of tls_syms if @tls).  @img is borrowed. */
void image_member(const struct hvar_image *img, uint32_t symbol, bool tls, uint64_t offset,
		  struct image_member *out);

/* Another member of a union that holds the byte; false: there is none. */
bool image_member_next(struct image_member *m);

/* "parser.c:17", malloc'd; NULL: not known, or no memory. */
char *image_member_decl(const struct image_member *m);

#endif /* IMAGE_MEMBER_H */
