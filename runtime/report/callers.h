/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callers.h - which lines of code accessed each variable, of recordings made with --exact --callers.
 */
#ifndef CALLERS_H
#define CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/user/stream.h"
#include "spaces.h"
#include "variables.h"

struct callers;

struct callers *callers_new(void); /* NULL: no memory */
void callers_free(struct callers *c);

/* A record, checked by the reader. */
void callers_name(struct callers *c, const struct stream_caller *r, size_t len);

/* Likewise: each call is of what @variables have at its address in the address space of @spaces; with @by_phase in its phase. */
void callers_calls(struct callers *c, struct variables *variables, struct spaces *spaces, const struct stream_calls *r,
		   size_t len, bool by_phase);

struct caller {
	const char *function, *file; /* "": not known */
	uint32_t line;
	uint64_t reads, writes;
	uint64_t others; /* page faults that are neither, or not told */
};

/*
 * The callers of @entry, those with the most accesses first: up to @max in @v, all of them counted in *@bytes.
 * Returns how many there are.  Strings are good until callers_free().
 */
size_t callers_of(struct callers *c, uint32_t entry, struct caller *v, size_t max, uint64_t *bytes);

/* What caller number @caller is called; its counts are 0. */
void callers_get(const struct callers *c, uint32_t caller, struct caller *out);

/* Was any call counted at all? */
int callers_any(const struct callers *c);
uint64_t callers_lost(const struct callers *c);

#endif /* CALLERS_H */
