/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_type.h - from (variable, offset) to the members that the byte is in: "[3].st.misses".
 *
 * Types, members and variables are tables of a symbol image, each type once.  A type refers
 * only to types before it and of less depth, so there are no cycles and every walk ends.
 *
 *	VARS  symbol -> type, file, line	TYPES  kind, size, name		MEMBERS  name, offset, type
 */
#ifndef HVAR_TYPE_H
#define HVAR_TYPE_H

#include "hvar_env.h"
#include "hvar_image.h"

/* Levels of nesting; what lies deeper is one piece. */
#define HVAR_TYPE_DEPTH 32
/* Members looked at for one answer: only a file made to deceive needs as many. */
#define HVAR_TYPE_STEPS 65536

enum hvar_type_kind {
	HVAR_TYPE_SCALAR, /* one piece: a number, a pointer, or a type whose inside is not known */
	HVAR_TYPE_STRUCT, /* members ascend, have bytes, and share none */
	HVAR_TYPE_UNION,  /* members may share bytes: unions, bit-fields; in the order of their declaration */
	HVAR_TYPE_ARRAY,
	HVAR_TYPE_KINDS
};

enum hvar_type_flags {
	HVAR_TYPE_OPEN = 1, /* it is, or ends in, an array of as many elements as there is room for */
	HVAR_TYPE_COLUMNS = 2, /* ARRAY: of several in each other the source names the innermost first */
};

struct hvar_image_type {
	uint64_t size;	/* bytes; of what is open, without the open part */
	uint64_t count;	/* ARRAY: elements; of an open one 0 */
	uint64_t stride; /* ARRAY: bytes from one element to the next, not 0 */
	uint32_t name;	/* string, as C writes it: "struct stats", "char *"; 0: none */
	uint32_t first; /* STRUCT, UNION: its first member; ARRAY: the type of an element */
	uint32_t n;	/* STRUCT, UNION: members; ARRAY: number of the first element, as int32_t; else 0 */
	uint8_t kind;	/* enum hvar_type_kind */
	uint8_t depth;	/* SCALAR 0; more than that of each type in it */
	uint16_t flags;
};

struct hvar_image_member {
	uint64_t offset; /* of the first byte that holds some of it */
	uint32_t name;	 /* string; 0: its members are its owner's (anonymous, or a base class) */
	uint32_t type;
	uint16_t bits;	 /* bit-field: how many; else 0 */
	uint8_t bit;	 /* bit-field: the first one in that byte, 0 the lowest */
	uint8_t zero[5];
};

/* What DWARF tells of the variable that a symbol names.  By symbol, ascending, each once. */
struct hvar_image_var {
	uint64_t at;	 /* the symbol's first byte in the variable: not 0 if that was split up */
	uint32_t symbol; /* the canonical one; index into syms or tls_syms */
	uint32_t type;
	uint32_t file;	 /* string: where it is declared; 0: not known */
	uint32_t line;
	uint32_t function; /* string: that it is a static of; 0: of none */
	uint32_t zero;
};

/* One byte and the members that hold it, outermost first.  The caller's storage. */
struct hvar_type_walk {
	/* the answer */
	uint32_t type;	 /* the innermost type that holds the byte */
	bool leaf;	 /* it is a scalar; else the byte is padding in it, or in what has no name in it */
	uint64_t offset; /* of the byte in it */
	uint16_t bits;	 /* of a bit-field; bits 0: none */
	uint8_t bit;
	/* private */
	uint32_t depth, steps;
	struct hvar_type_level {
		uint64_t offset;
		uint32_t type;
		uint32_t member; /* chosen; HVAR_IMAGE_NONE: none yet */
	} level[HVAR_TYPE_DEPTH];
};

/* For hvar_image_open(): find the tables in @img. */
HVAR_API void hvar_types_set(struct hvar_image *img);
/* And check them.  @n_strs bytes are its strings. */
HVAR_API bool hvar_types_ok(const struct hvar_image *img, uint32_t n_strs);

/* What is known of the variable that @symbol (of tls_syms if @tls) names, or NULL. */
HVAR_API const struct hvar_image_var *hvar_type_var(const struct hvar_image *img,
						    uint32_t symbol, bool tls);

/*
 * The members that hold byte @offset of a variable of @type, into *@w.  Of several (unions) the one
 * declared first; if it is padding of all, what holds it nevertheless, and @w->leaf is false.
 */
HVAR_API void hvar_type_first(const struct hvar_image *img, uint32_t type, uint64_t offset,
			      struct hvar_type_walk *w);

/* After hvar_type_first() found a leaf: the next other one that holds the byte.  False: there is none. */
HVAR_API bool hvar_type_next(const struct hvar_image *img, struct hvar_type_walk *w);

/*
 * Write "[3].st.misses" into @buf, @size bytes (at least 1), as much as fits, NUL-terminated.
 * Returns the length it would have; @size or more: it was cut.  "" for a byte of a plain scalar.
 */
HVAR_API uint32_t hvar_type_text(const struct hvar_image *img, const struct hvar_type_walk *w,
				 char *buf, uint32_t size);

/* The same with "[]" for whichever element of an array: "[].st.misses". */
HVAR_API uint32_t hvar_type_pattern(const struct hvar_image *img, const struct hvar_type_walk *w,
				    char *buf, uint32_t size);

#endif /* HVAR_TYPE_H */
