/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_verify.h - hotvar advise --verify: runs of CMD by turns, without and with huge pages.
 */
#ifndef ADVISE_VERIFY_H
#define ADVISE_VERIFY_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "runtime/report/advise.h"
#include "runtime/report/advise_verified.h"
#include "runtime/user/err.h"
#include "runtime/user/launch.h"

/*
 * CMD is to find its memory at the same addresses in each run, and to read the same input: from
 * begin() to end() what is started has no random addresses, and no huge pages but where advise_run() says so.
 */
struct advise_rerun {
	unsigned long persona; /* ours, to be put back */
	int thp;	       /* likewise, of advise_thp_set() */
};
int advise_rerun_begin(struct advise_rerun *r, struct err *e);
void advise_rerun_end(const struct advise_rerun *r);

struct advise_verify {
	/* asked for, borrowed */
	FILE *f;
	bool json;
	unsigned rounds;
	char **argv;
	const struct launch *launch; /* found */
	const struct advise_thp *thp;
	volatile sig_atomic_t *asked;
	off_t input;  /* where CMD's input began; -1: it is no file */
	/* came of it */
	bool failed;  /* a run of CMD did not end with status 0: */
	int wait_status;
};

/* Where the input is now, for v->input; -1. */
off_t advise_input_at(void);

/* Run for what @r advises, and write what came of it.  0 or -errno and @e. */
int advise_verify(struct advise_verify *v, const struct advise_report *r, struct err *e);

#endif /* ADVISE_VERIFY_H */
