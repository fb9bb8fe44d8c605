/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_thp.h - what this machine says of huge pages: Documentation/admin-guide/mm/transhuge.rst.
 */
#ifndef ADVISE_THP_H
#define ADVISE_THP_H

#include <stdint.h>

enum advise_mode {
	ADVISE_MODE_UNKNOWN, /* the kernel has none, or it cannot be read */
	ADVISE_NEVER,
	ADVISE_MADVISE, /* for memory that asks for it; shmem: "advise" */
	ADVISE_ALWAYS,	/* shmem: "always", "within_size" or "force", too */
};

struct advise_thp {
	enum advise_mode enabled; /* anonymous memory */
	enum advise_mode shmem;
	char defrag[32];	  /* the word chosen; "": not known */
	char shmem_word[32];
	uint64_t pool_pages, pool_free; /* hugetlb's, of 2 MiB */
};

/* From the files below @sys and @proc: "/sys" and "/proc". */
void advise_thp_read(struct advise_thp *t, const char *sys, const char *proc);

const char *advise_mode_name(enum advise_mode m); /* "always", "unknown" */

#endif /* ADVISE_THP_H */
