/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prefetches.h - what the prefetch instructions of each line of code asked for, of recordings made with --exact --prefetches.
 *
 * Where a bad one pointed is named when it is told, by what was mapped then.  Its variable is that of the last good one of
 * the same instruction; if there was none, what lies next to it.
 */
#ifndef PREFETCHES_H
#define PREFETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "images.h"
#include "runtime/user/stream.h"
#include "spaces.h"

struct prefetches;

struct prefetches *prefetches_new(struct images *images, struct spaces *spaces); /* both borrowed; NULL: no memory */
void prefetches_free(struct prefetches *p);

/* A record, checked by the reader. */
void prefetches_record(struct prefetches *p, const struct stream_prefetch *r);

/* The same of one that a sample proves: used is what was mapped. */
void prefetches_sampled_record(struct prefetches *p, const struct stream_prefetch *r);
/* Is what there is from samples? */
bool prefetches_are_sampled(const struct prefetches *p);

enum prefetch_position {
	PREFETCH_AT,	 /* in the variable, or no variable is known */
	PREFETCH_BEFORE, /* distance bytes before its begin */
	PREFETCH_PAST,	 /* distance bytes past its end; 0 is the first byte behind it */
};

/* One bad prefetch. */
struct prefetch_place {
	uint32_t what;	/* enum stream_prefetch_what */
	uint64_t addr;
	char *name;	/* what is there: "other+0x40", "heap:f@f.c:1+0x80", "[unmapped]" */
	char *base;	/* the variable, object or mapping that was meant; NULL: not known */
	enum prefetch_position position;
	uint64_t distance;
};

struct prefetch_line {
	const char *function, *file; /* "": not known */
	uint32_t line;		     /* 0: not known */
	bool access;		     /* no prefetch: loads or stores of what is not there, unmapped of them */
	uint64_t ip;		     /* of the first instruction */
	char *module;		     /* NULL: none */
	uint64_t executed, unmapped, unused, used, redundant, unjudged;
	struct prefetch_place *places;
	size_t n_places, cap_places;
	/* private */
	char *text;
	size_t text_len;
};

/* What neither was used nor is known to be unused: it was asked for shortly before the end. */
uint64_t prefetches_waiting(const struct prefetch_line *l);

/* Lines of code, the worst first; *@n of them.  Good until the next record. */
const struct prefetch_line *prefetches_lines(struct prefetches *p, size_t *n);

/* One more that there was no room for; how many. */
void prefetches_lose(struct prefetches *p);
uint64_t prefetches_lost(const struct prefetches *p);

#endif /* PREFETCHES_H */
