/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.h - the code of one function, decoded once and cut into basic blocks.
 *
 * Instructions lie in address order.  A block begins at a leader (the first
 * instruction, a jump's target, what follows a transfer of control) and ends
 * before the next or with a transfer.  A call ends a block too: it may not come
 * back.  Leaders only ever get more: an indirect jump seen to land somewhere adds one.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode.h"

#define BLOCKS_NONE ((uint32_t)-1)

/* Where an indirect jump can go, from a table of the compiler's or as seen. */
struct blocks_switch {
	uint32_t jump;	     /* instruction */
	uint32_t load;	     /* instruction that reads the table, BLOCKS_NONE: no table was found */
	uint8_t index, result; /* load: result register = table[index register] */
	bool closed;	     /* the table is whole: no other targets */
	bool relative;	     /* 4-byte offsets from the table; else 8-byte addresses */
	uint64_t table;	     /* offset of the table from the function's start, modulo 2^64 */
	uint32_t *targets;   /* instructions by table entry, or in order seen */
	uint32_t n, cap;
	uint32_t n_table;    /* the first so many are the table's entries */
};

/* The block that an instruction is in: [first, end). */
struct blocks_span {
	uint32_t first, end;
};

struct blocks {
	uint64_t size;	       /* bytes of code */
	bool is32;
	bool has_unknown_jump; /* some indirect jump whose targets are not all known */
	bool bounded;	       /* begins where a function begins */
	bool headless;	       /* begins amid a block, as far as is known: more of its first one may be before */
	uint32_t n;	       /* instructions */
	struct decode_insn *insn;
	uint32_t *off;	       /* of each, from the start */
	uint32_t *at;	       /* by offset: instruction that starts there, or BLOCKS_NONE */
	uint8_t *leader;
	struct blocks_span *span;
	uint32_t n_bad;	       /* bytes that are no instruction */
	struct blocks_switch *sw;
	uint32_t n_sw;
	uint32_t generation;   /* counts added leaders */
};

/*
 * Reads @len bytes of the program's memory at @off bytes from the function's
 * start (which may be far outside of it); returns how many it could.
 */
typedef size_t (*blocks_read_fn)(void *ctx, uint64_t off, void *buf, size_t len);

/*
 * Decode @n bytes of @code, which stands at address @addr.  @read finds jump
 * tables, NULL: none are looked for.  With @window the code is a piece that
 * begins in the middle of a function and ends at the first place where control
 * does not go on.  Returns NULL when memory is short.
 */
struct blocks *blocks_new(const uint8_t *code, size_t n, uint64_t addr, bool is32,
			  bool window, blocks_read_fn read, void *ctx);
void blocks_free(struct blocks *b);

/* The instruction that starts at offset @off, or BLOCKS_NONE. */
uint32_t blocks_find(const struct blocks *b, uint64_t off);

/* The block of instruction @i: [*first, *end). */
static inline void blocks_around(const struct blocks *b, uint32_t i, uint32_t *first, uint32_t *end)
{
	*first = b->span[i].first;
	*end = b->span[i].end;
}

/* An indirect jump at instruction @i went to @to. */
void blocks_saw_jump(struct blocks *b, uint32_t i, uint32_t to);

/* The switch at jump @i, or whose table load is @i; NULL. */
const struct blocks_switch *blocks_switch_of(const struct blocks *b, uint32_t i);

/*
 * Where control can go after instruction @i inside the function: up to @max
 * instructions into @out; returns how many.  *@leaves is set if it can also leave
 * the function or go where we do not know.
 */
uint32_t blocks_next(const struct blocks *b, uint32_t i, uint32_t *out, uint32_t max,
		     bool *leaves);

#endif /* BLOCKS_H */
