/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_tasks.h - the processes and threads of perf's text, each with the number of its address space.
 */
#ifndef IMPORT_TASKS_H
#define IMPORT_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import_task {
	int32_t tid, pid; /* a process is a task whose tid is its pid */
	uint32_t mm;	  /* of a process; 0: none yet */
	bool mapped;	  /* of a process: what is mapped in it has been told */
	bool named;	  /* its comm has been */
	bool used;	  /* private */
};

struct import_tasks {
	struct import_task *v; /* a hash table, by tid */
	size_t n, n_slots;
	uint32_t last_mm;
};

/* The task @tid, made if it is not known: then pid is @tid, too.  NULL: no memory, or more than there can be.  Good until the next call. */
struct import_task *import_tasks_get(struct import_tasks *t, int32_t tid);
/* Likewise of a process, with a number for its address space. */
struct import_task *import_tasks_process(struct import_tasks *t, int32_t pid);
void import_tasks_fini(struct import_tasks *t);

#endif /* IMPORT_TASKS_H */
