/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_run.h - one run of CMD, with huge pages asked for where they are advised, or with none at all.
 *
 * Without: prctl(PR_SET_THP_DISABLE), which CMD inherits.  With: CMD is stopped when a mapping call of
 * it returns (gate.h), and made to call madvise(MADV_HUGEPAGE) for what it has just mapped of the
 * advised ranges; it works for static programs and for mappings of the C library's own.  Both run
 * under the same gate, so what that costs is in both.
 */
#ifndef ADVISE_RUN_H
#define ADVISE_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "launch.h"
#include "unwind.h"

struct advise_range {
	uint64_t start, end;
	struct unwind by;  /* what called for most of it at a time, n 0: no mapping call of the program's; see find_callers */
	uint64_t by_bytes; /* of that call */
};

struct advise_run {
	/* asked for, borrowed */
	const struct launch *launch; /* with the path found */
	char **argv;
	bool with;
	struct advise_range *ranges;
	size_t n_ranges;
	bool find_callers; /* fill ranges[].by; the time that takes is left out */
	volatile sig_atomic_t *asked; /* 0: none of end_signals.h came, to be passed on to CMD */
	/* came of it */
	int wait_status;
	uint64_t faults;   /* minor, of CMD and of what it waited for: getrusage(2) */
	uint64_t major;
	double seconds, cpu_seconds;
	unsigned advised;  /* madvise() calls that succeeded, at least in part */
	unsigned refused;  /* others */
};

/*
 * What is started from now on has no huge pages (ADVISE_THP_NONE), none but where it asks for them (ADVISE_THP_ASKED; before
 * Linux 6.18 that is as the machine has it), or is as it was: @state is what an earlier call returned.
 * Returns how it was, or -errno.
 */
enum { ADVISE_THP_NONE = 1, ADVISE_THP_ASKED = 3 };
int advise_thp_set(int state);

/* Run it to its end.  0 or -errno and @e. */
int advise_run(struct advise_run *r, struct err *e);

#endif /* ADVISE_RUN_H */
