/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_hot.h - the hot table: counts per variable.
 *
 * Fixed storage with a counted overflow; the host moves it to a larger place
 * when it can.  An entry's index never changes, so a host may keep arrays of
 * its own beside it.
 */
#ifndef HVAR_HOT_H
#define HVAR_HOT_H

#include "hvar_env.h"

#define HVAR_HOT_NONE ((uint32_t)-1)

/* What is counted: a symbol of a module, or a kind of memory without one. */
struct hvar_hot_key {
	uint32_t module; /* 0: none */
	uint32_t symbol; /* in the module's image, HVAR_HOT_NONE: none */
	uint32_t kind;	 /* enum hvar_kind */
	uint32_t mm;	 /* 0: of all processes together */
};

struct hvar_hot {
	struct hvar_hot_key key;
	uint64_t reads, writes;	     /* accesses, in 1/65536 */
	uint64_t bytes;		     /* in 1/65536 */
	uint64_t time_ns;
	uint64_t samples;
	uint32_t threads;	     /* distinct tids seen */
	uint32_t zero;
};

struct hvar_hot_table {
	struct hvar_hot *v; /* borrowed, @cap */
	uint32_t cap, n;
	uint32_t *slots;    /* borrowed: by key, @nslots (a power of 2) */
	uint32_t nslots;
	uint64_t *tids;	    /* borrowed: set of (entry, tid), @ntids (a power of 2) */
	uint32_t ntids, used_tids;
	uint64_t lost;	    /* accesses whose variable found no room, in 1/65536 */
	uint64_t lost_tids; /* times a thread could not be noted: threads is then a lower bound */
};

HVAR_API void hvar_hot_init(struct hvar_hot_table *t, struct hvar_hot *v,
			    uint32_t cap, uint32_t *slots, uint32_t nslots,
			    uint64_t *tids, uint32_t ntids);
/* Go on in larger storage; the old entries are already copied to @v. */
HVAR_API void hvar_hot_moved(struct hvar_hot_table *t, struct hvar_hot *v,
			     uint32_t cap, uint32_t *slots, uint32_t nslots,
			     uint64_t *old_tids, uint32_t n_old_tids,
			     uint64_t *tids, uint32_t ntids);

/* The index of @key's entry, added if new; -ENOSPC (and t->lost += @weight) when full. */
HVAR_API int hvar_hot_slot(struct hvar_hot_table *t,
			   const struct hvar_hot_key *key, uint64_t weight,
			   uint32_t *out);

/*
 * Add to entry @i: @weight accesses (in 1/65536) of @size bytes each, of the kind that @flags
 * (enum hvar_access_flags; both read and write for a read-modify-write, which
 * counts once as each) says, by thread @tid.
 */
HVAR_API void hvar_hot_count(struct hvar_hot_table *t, uint32_t i, uint32_t tid,
			     uint64_t weight, uint32_t size, uint32_t flags);
/* Add one sample that stands for @time_ns of time. */
HVAR_API void hvar_hot_time(struct hvar_hot_table *t, uint32_t i, uint64_t time_ns);

/* Is there room for one more variable, one more thread? */
HVAR_API bool hvar_hot_room(const struct hvar_hot_table *t);

#endif /* HVAR_HOT_H */
