/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls_seen.h - the thread-local blocks that were seen in processes, for memory that is reached by its address.
 *
 * tls_blocks.h is for code that addresses from the thread pointer; code may also have a variable's address in a register,
 * and has it always for what was loaded later.  While a process lives its threads are looked for (thread_tls.h) when
 * memory without a file was touched that is in no block known so far: never so often that it costs more than 50 ms of CPU
 * time and a hundredth of the time.  A block is used only if the thread's own words still say so at the moment it is asked for.  A recording
 * carries what was found, and what was found to be gone, at its place between the samples.
 */
#ifndef TLS_SEEN_H
#define TLS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "images.h"
#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_vmas.h"
#include "runtime/user/tls_of_thread.h"

struct tls_seen;

struct tls_seen *tls_seen_new(void); /* NULL: no memory */
void tls_seen_free(struct tls_seen *t);

/* A map or task event: what is unmapped is forgotten, a child has what its parent has. */
void tls_seen_event(struct tls_seen *t, const struct hvar_event *ev);

/*
 * The block that @addr is in, at @ev, in the process whose areas @vmas are; NULL: none is known.  @live: the process may
 * be looked at; else what is known from before is all.  Good until the next call.
 */
const struct tls_block *tls_seen_find(struct tls_seen *t, struct images *images, const struct hvar_event *ev,
				      const struct hvar_vmas *vmas, uint64_t addr, bool live);
/*
 * The same for @offset from a thread pointer, in code of file @module, that leads into a block of that file: *@addr is where
 * in the block it is.  Which thread's is not known; NULL too if it is not the same place in the block for all of those it
 * could be.
 */
const struct tls_block *tls_seen_relative(struct tls_seen *t, struct images *images, const struct hvar_event *ev,
					  const struct hvar_vmas *vmas, uint32_t module, uint64_t offset, bool live,
					  uint64_t *addr);
/* Is any part of [@start, @end) of address space @mm in a block that is known? */
bool tls_seen_within(const struct tls_seen *t, uint32_t mm, uint64_t start, uint64_t end);

/*
 * Is @addr, in @area of @vmas, at @ev, on the stack of a thread whose block is known?  A C library maps memory without a
 * file for it: some without access below, then the stack, the blocks at its end, the thread pointer.  Such a mapping stays a stack when
 * the thread has ended; where memory of the program's was made one, or nobody knows, that ends with the thread.
 */
bool tls_seen_is_stack(struct tls_seen *t, const struct hvar_event *ev, const struct hvar_vmas *vmas, const struct hvar_vma *area,
		       uint64_t addr, bool live);

/* Is it in what the C library knows of a thread, behind the pointer of one whose block is known? */
bool tls_seen_is_control(struct tls_seen *t, const struct hvar_event *ev, const struct hvar_vma *area, uint64_t addr, bool live);

/*
 * What changed since the last call, as a recording carries it: "3.17=7f0000001000+64@7f0000002000:42/7effff802000+4096", in
 * address space 3 file 17 has a block of 64 bytes there, of the thread 42, whose pointer is that, and whose stack begins there, with
 * 4096 bytes that the C library has left without access; "+0": no more; ":0": the thread has ended; what is not known is left out.
 * False: nothing.
 */
bool tls_seen_fresh(struct tls_seen *t, char *text, size_t n);
/* A recording has it: @key before the '=', @value behind. */
void tls_seen_told(struct tls_seen *t, const struct images *images, const char *key, const char *value);

#endif /* TLS_SEEN_H */
