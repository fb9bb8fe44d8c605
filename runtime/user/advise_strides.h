/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_strides.h - from one access of an instruction to its next: is that near, or anywhere?
 *
 * Samples are too far apart to tell: a fast walk has been through all of an area meanwhile.  A breakpoint
 * is hit by each access in turn.  What is within a page of one of the burst's accesses before is near, so
 * that several walks by turns are walks, too; a jump is what is near none.  Who walks PAGE / 2 from one jump to
 * the next needs hardly more translations than who only walks.
 */
#ifndef ADVISE_STRIDES_H
#define ADVISE_STRIDES_H

#include <stdbool.h>
#include <stdint.h>

enum advise_stride { ADVISE_STRIDE_UNKNOWN, ADVISE_STRIDE_WALKS, ADVISE_STRIDE_JUMPS, ADVISE_STRIDES };

#define ADVISE_STRIDE_RUN 2048 /* bytes from jump to jump: who walks further, walks */

struct advise_strides;

struct advise_strides *advise_strides_new(void); /* NULL: no memory */
void advise_strides_free(struct advise_strides *s);

/* Operand @op, of the instruction at @ip, has gone far from sample to sample in thread @tid.  What is known of it? */
enum advise_stride advise_strides_far(struct advise_strides *s, uint64_t op, uint64_t ip, uint32_t tid);

/* A hit: @op accesses @bytes at @addr now.  Those of one thread come in order of time. */
void advise_strides_hit(struct advise_strides *s, uint64_t op, uint32_t tid, uint64_t addr, uint64_t bytes, uint64_t time_ns);

/* Is there an instruction where a breakpoint should be?  The same is asked for again when it has gone far more often. */
bool advise_strides_wanted(struct advise_strides *s, uint32_t *tid, uint64_t *ip);

#endif /* ADVISE_STRIDES_H */
