/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faulted.h - page faults by variable: the first touch of each page, and what code did it.
 *
 * Each counts as one access of what is at its address: a read, a write, the fetch of an instruction, or none of these where
 * the code does not tell it, as for the kernel's own inside a system call.
 */
#ifndef FAULTED_H
#define FAULTED_H

#include <stdint.h>

#include "callers.h"
#include "code_callers.h"
#include "images.h"
#include "runtime/user/estimate.h"
#include "runtime/user/stream.h"
#include "spaces.h"
#include "touched.h"
#include "variables.h"

struct faulted;

/* What it works with, all borrowed; @touched may be NULL. */
struct faulted_parts {
	const struct estimate_env *env;
	struct spaces *spaces;
	struct images *images;
	struct variables *variables;
	struct callers *callers;
	struct code_callers *code; /* what they are numbers of */
	struct touched *touched;
};

struct faulted *faulted_new(const struct faulted_parts *parts); /* NULL: no memory */
void faulted_free(struct faulted *f);

/* A well-formed record. */
void faulted_take(struct faulted *f, const struct stream_fault *rec);

/* Of an entry of the hot table, besides its reads and writes. */
struct faulted_row {
	uint64_t fetches;   /* of instructions */
	uint64_t by_kernel; /* in system calls */
	uint64_t untold;    /* whether they read or write is not told; those by the kernel are among them */
};
void faulted_row(const struct faulted *f, uint32_t entry, struct faulted_row *out);

uint64_t faulted_n(const struct faulted *f);
/* For which there was no memory: of these nothing is known but that they were. */
uint64_t faulted_lost(const struct faulted *f);

#endif /* FAULTED_H */
