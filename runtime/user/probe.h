/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe.h - what this machine can do for hotvar, found out by doing it.
 *
 * Each probe is cheap, changes nothing and leaves nothing behind.  To add one:
 * one function, one row in probes[].
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>
#include <stddef.h>

enum probe_answer {
	PROBE_NO,
	PROBE_YES,
	PROBE_UNKNOWN, /* could not be found out */
};

struct probe_result {
	enum probe_answer answer;
	char detail[512]; /* what is so, and why */
	char fix[256];	  /* the command or setting that mends it; "" if all is well or nothing does */
};

/* Who needs it. */
enum probe_need {
	PROBE_MAIN,	/* the main job, in one of its ways */
	PROBE_BETTER,	/* makes its answers better or cheaper */
	PROBE_OPTIONAL, /* other features */
};

struct probe {
	const char *name;
	enum probe_need need;
	const char *what; /* for people: what it is good for */
	void (*run)(struct probe_result *r);
};

extern const struct probe probes[];
extern const size_t n_probes;

/* The row called @name, or NULL. */
const struct probe *probe_find(const char *name);

/* Fill the result: @fix NULL or "" for none. */
__attribute__((format(printf, 4, 5)))
void probe_say(struct probe_result *r, enum probe_answer answer, const char *fix,
	       const char *fmt, ...);

/* The number in the file @path, or @otherwise. */
long probe_number(const char *path, long otherwise);

/* What is really tried: probe_try.c. */
void probe_perf_timer(struct probe_result *r);
void probe_pmu(struct probe_result *r);
void probe_ptrace(struct probe_result *r);
void probe_attach(struct probe_result *r);
void probe_gate(struct probe_result *r);
void probe_procmap(struct probe_result *r);
void probe_pagemap(struct probe_result *r);
void probe_map_files(struct probe_result *r);

/* For hotvar pages: probe_pages.c. */
void probe_pagemap_scan(struct probe_result *r);
void probe_page_tables(struct probe_result *r);
void probe_page_faults(struct probe_result *r);
void probe_fault_around(struct probe_result *r);
void probe_huge_pages(struct probe_result *r); /* and hotvar advise */

/* For hotvar stap: probe_stap.c. */
void probe_stap(struct probe_result *r);
void probe_stap_modules(struct probe_result *r);
void probe_stap_headers(struct probe_result *r);
void probe_stap_runtime(struct probe_result *r);
void probe_stap_rights(struct probe_result *r);
void probe_stap_images(struct probe_result *r);

#endif /* PROBE_H */
