/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.h - accesses that were sampled with their exact addresses: what each variable had of them.
 *
 * A record stands for as many accesses as its weight says.  One without an address, or in a process whose map is not
 * known, is counted under its reason; in the second case under the name that perf has for it, if it has one.
 */
#ifndef ACCESSES_H
#define ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/user/pmu_source.h"
#include "runtime/user/stream.h"
#include "spaces.h"
#include "variables.h"

struct accesses;

enum accesses_reason {
	ACCESSES_NO_ADDRESS,
	ACCESSES_NO_MAP,
	ACCESSES_NOT_MAPPED,
	ACCESSES_KERNEL, /* the kernel's own memory */
	ACCESSES_TABLE_FULL,
	ACCESSES_REASONS
};

/* Sums over records; doubles are sums of weights. */
struct accesses_sum {
	double weight, squares; /* of all, and of their squares */
	double reads, writes;	/* of those that say it */
	double latency, latency_squares; /* cycles times weight */
	double latency_weight;	/* of those that say it */
	uint64_t samples;
	uint64_t hitm, hitm_remote, tlb_misses, locked; /* samples */
	uint64_t levels[PMU_LEVELS];			/* samples */
};

/* What of all is in one row. */
struct accesses_row {
	uint32_t entry;	    /* in the hot table; HVAR_HOT_NONE: a name of perf's, with: */
	const char *symbol; /* "": none */
	const char *module;
	uint32_t pid, mm;   /* with per_process, else 0 */
	const char *comm;
	uint32_t threads;
	struct accesses_sum sum;
};

struct accesses *accesses_new(struct variables *variables, bool per_process); /* NULL: no memory; @variables is borrowed */
void accesses_free(struct accesses *a);

/* Take in a well-formed record of @len bytes; @spaces as they are at its place in the stream. */
void accesses_take(struct accesses *a, struct spaces *spaces, const struct stream_access *rec, size_t len);
/* What process @pid is called, for names of perf's. */
void accesses_comm(struct accesses *a, const struct stream_comm *c);

size_t accesses_rows(const struct accesses *a);
/* Row @i, good until the next accesses_take(); one without samples is none. */
void accesses_row(const struct accesses *a, size_t i, struct accesses_row *out);
const struct accesses_sum *accesses_unattributed(const struct accesses *a, enum accesses_reason reason);
const char *accesses_reason_name(enum accesses_reason reason); /* "no-address" ... */
const char *accesses_reason_text(enum accesses_reason reason);
/* Of all records. */
const struct accesses_sum *accesses_total(const struct accesses *a);

/*
 * The 95 % interval of @part's share of @all: by weights (Wilson's, for as many equal samples as tell as much), or by latencies
 * (a ratio's).  NaN where there is nothing to share.
 */
void accesses_interval(const struct accesses_sum *part, const struct accesses_sum *all, double ci[2]);
void accesses_latency_interval(const struct accesses_sum *part, const struct accesses_sum *all, double ci[2]);

#endif /* ACCESSES_H */
