/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watched.h - accesses to watched variables: how often, by which thread, from which line of code.
 *
 * One spot is one variable of one process (or of several that share their memory).
 */
#ifndef WATCHED_H
#define WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_names.h"
#include "images.h"
#include "runtime/user/estimate.h"
#include "runtime/user/stream.h"
#include "spaces.h"

struct watched;

/* All are borrowed.  NULL: no memory. */
struct watched *watched_new(const struct estimate_env *env, struct spaces *spaces, struct images *images);
void watched_free(struct watched *w);

/* A well-formed record of @len bytes. */
void watched_take(struct watched *w, const struct stream_watched *rec, size_t len);
/* Any event but an access. */
void watched_event(struct watched *w, const struct hvar_event *ev);
void watched_comm(struct watched *w, const struct stream_comm *c);

struct watched_count {
	uint64_t reads, writes; /* what does both is both */
	uint64_t untold;	/* accesses of which it is not told */
	uint64_t accesses;	/* all: each once */
};

/* What one thread has done from one instruction. */
struct watched_cell {
	uint32_t spot, tid;
	struct code_site at;
	bool known; /* at */
	struct watched_count n;
};

struct watched_spot {
	uint32_t watch, mm, pid;
	uint64_t start;
	uint32_t size, module; /* 0: none */
	char comm[16];
	struct watched_count n;
	uint64_t lost; /* accesses that were counted, and of which nothing else is known; not in n */
	size_t first, n_cells;
};

/* Spots by watch and process, and their cells; good until watched_free().  Nothing is taken in after it. */
const struct watched_spot *watched_spots(struct watched *w, size_t *n);
/* The first of @s; NULL: there is none. */
const struct watched_cell *watched_cells(const struct watched *w, const struct watched_spot *s);
uint64_t watched_lost(const struct watched *w); /* accesses for which there was no memory */

#endif /* WATCHED_H */
