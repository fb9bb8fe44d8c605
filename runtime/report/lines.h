/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - the lines of the processor's caches that a stream tells of, and which threads accessed each.
 *
 * Two address spaces have one line exactly when they share its memory (hvar_key.h): copies of one file's page are two.
 * Exact recordings have records for them, with the order in which threads came; from samples a line is known by those of
 * the accesses whose addresses they prove.  What lies on a line is asked for when a second thread comes, since its memory may
 * be gone at the end.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_callers.h"
#include "images.h"
#include "runtime/core/hvar_key.h"
#include "runtime/user/stream.h"
#include "spaces.h"
#include "variables.h"

enum { LINES_SIZE = STREAM_LINE_SIZE, LINES_WORDS = STREAM_LINE_WORDS };

/* What one thread did. */
struct line_thread {
	uint32_t mm, pid, tid;
	uint64_t read, written; /* bytes, a bit each */
	uint64_t reads[LINES_WORDS], writes[LINES_WORDS]; /* accesses, or those that samples prove, by the 4 bytes they begin in */
};

/* A line of code that did it: number of callers.h. */
struct line_site {
	uint32_t thread; /* index */
	uint32_t caller;
	uint32_t words; /* where it accessed, a bit for each 4 bytes */
	uint64_t reads, writes; /* since the line had its second thread; of samples, those that prove it */
};

/* What has bytes [start, end) of the line. */
struct line_name {
	uint8_t start, end;
	bool member;	   /* it is a member, or a variable, of one piece */
	bool object;	   /* an object of the heap, that @offset and @size are of */
	uint32_t kind;	   /* enum hvar_kind */
	uint32_t module, symbol; /* HVAR_IMAGE_NONE: none covers it */
	uint64_t offset;   /* of byte @start in the symbol */
	uint64_t size;	   /* the symbol's */
	char *name;	   /* as reports write variables */
	char *path;	   /* the part of it behind the symbol: ".st.misses"; "": none */
};

struct line {
	struct hvar_key key;
	uint32_t module;   /* of its area */
	uint32_t mm, pid;  /* one that has it, at: */
	uint64_t addr;
	bool exact;	   /* from records of an exact recording: */
	uint64_t handovers, returns, most_true, most_false; /* as stream_line has them, of each process's threads */
	uint64_t unseen_true, unseen_false; /* as stream_line_unseen has them */
	uint64_t turns;	   /* times that a thread's sample came after another's, and it had been there before */
	uint64_t hitm;	   /* accesses that a PMU saw find it modified in another processor's cache */
	uint32_t last;	   /* thread, of these */
	uint32_t n_threads, n_sites, n_names;
	struct line_thread *threads;
	struct line_site *sites;
	struct line_name *names; /* ascending, all of the line that is mapped */
	size_t cap_threads, cap_sites;
	uint32_t next;	   /* private */
};

struct lines;

/* All borrowed; @env and @code, or neither: what a PMU's accesses are by, and numbers for that.  NULL: no memory. */
struct lines *lines_new(struct images *images, struct variables *variables, const struct estimate_env *env,
			struct code_callers *code);
void lines_free(struct lines *l);

/* A record, checked by the reader, of the address space that @spaces have at its place in the stream. */
void lines_record(struct lines *l, struct spaces *spaces, const struct stream_line *r);

/* Likewise, of the line of the last record. */
void lines_unseen(struct lines *l, const struct stream_line_unseen *u);

/*
 * The thread of @ev has, surely, accessed @size bytes at @addr: @flags are of enum hvar_access_flags, @weight is how often; @at
 * is the instruction, NULL: not known.
 */
void lines_access(struct lines *l, struct spaces *spaces, const struct hvar_event *ev, const struct code_site *at, uint64_t addr,
		  uint32_t size, uint32_t flags, uint64_t weight);

/* One that a PMU told of, checked by the reader. */
void lines_pmu(struct lines *l, struct spaces *spaces, const struct stream_access *a);

/* Instructions that samples tell of and that are of one line of code are one site from here on: once @callers have their names. */
void lines_merge_sites(struct lines *l, const struct callers *callers);

size_t lines_n(const struct lines *l);
const struct line *lines_at(const struct lines *l, size_t i);
uint64_t lines_lost(const struct lines *l); /* accesses and records without memory */

#endif /* LINES_H */
