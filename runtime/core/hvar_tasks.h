/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_tasks.h - which address space each thread runs in.
 *
 * Threads, vfork and CLONE_VM children share one address space, fork copies it,
 * exec replaces it, the last exit frees it.  A task is keyed by tid and start
 * time, so a reused number is another task.
 *
 * The table only counts and numbers: memory for the VMA list of an address
 * space is the host's, which sets up mm->vmas when a call says that an address
 * space was born, and takes it back when one says that it is gone.
 */
#ifndef HVAR_TASKS_H
#define HVAR_TASKS_H

#include "hvar_env.h"
#include "hvar_vmas.h"

struct hvar_mm {
	uint32_t id;   /* number, from 1, never used twice; 0: entry is free */
	uint32_t refs; /* tasks in it */
	uint32_t next; /* private: chain of its slot, or free list; index + 1 */
	struct hvar_vmas vmas;
	void *host;    /* the host's own, untouched by the core */
};

struct hvar_task {
	uint32_t tid; /* 0: entry is free */
	uint32_t pid;
	uint32_t mm;  /* index in hvar_tasks.mms */
	uint32_t next; /* private: as hvar_mm.next */
	uint64_t start_time; /* ticks since boot, 0: not known */
};

struct hvar_tasks {
	struct hvar_task *tasks; /* borrowed, @ntasks of them */
	struct hvar_mm *mms;	 /* borrowed, @nmms of them */
	uint32_t *slots;	 /* borrowed: hash chains, one half by tid, one by
				    mm number; @nslots (a power of 2, at least 2) */
	uint32_t ntasks, nmms, nslots;
	uint32_t used;		 /* tasks alive */
	uint32_t free_task;	 /* private: free lists, index + 1 */
	uint32_t free_mm;
	uint32_t last_mm_id;
	uint64_t lost;		 /* tasks refused for want of room */
};

HVAR_API void hvar_tasks_init(struct hvar_tasks *t, struct hvar_task *tasks,
			      uint32_t ntasks, struct hvar_mm *mms, uint32_t nmms,
			      uint32_t *slots, uint32_t nslots);
/*
 * Go on in larger storage (not smaller): the old entries are already copied to
 * the same indices; @slots is filled anew.
 */
HVAR_API void hvar_tasks_moved(struct hvar_tasks *t, struct hvar_task *tasks,
			       uint32_t ntasks, struct hvar_mm *mms, uint32_t nmms,
			       uint32_t *slots, uint32_t nslots);

/* The living task @tid, or NULL; its address space. */
HVAR_API struct hvar_task *hvar_tasks_find(const struct hvar_tasks *t, uint32_t tid);
HVAR_API struct hvar_mm *hvar_tasks_mm(const struct hvar_tasks *t,
				       const struct hvar_task *task);
/* The address space of number @id, or NULL. */
HVAR_API struct hvar_mm *hvar_tasks_mm_by_id(const struct hvar_tasks *t, uint32_t id);

/*
 * A task that was not known, @tid of process @pid, in the address space of
 * number @mm_id, or in a new one if @mm_id is 0 or not known (a new one takes
 * the number @mm_id when it is not 0: a recording's numbers are kept).
 * *@out is its address space; *@born says that it is new and its vmas are to be set up.
 *
 * A living task of the same tid and another known start time is ended first.
 * *@gone is a copy of the address space that this freed, with id 0 if none was.
 *
 * Returns 0, -EEXIST if the very task is there already (*@out is set), -EINVAL
 * if @tid is 0, or -ENOSPC with only @t->lost changed.
 */
HVAR_API int hvar_tasks_add(struct hvar_tasks *t, uint32_t tid, uint32_t pid,
			    uint64_t start_time, uint32_t mm_id,
			    struct hvar_mm **out, bool *born, struct hvar_mm *gone);

/*
 * @tid has executed a program: it leaves its address space and gets a new,
 * empty one (number @mm_id, or the next if 0) in *@out, whose vmas the host sets
 * up.  Other threads of its pid are ended by it.  *@gone is a copy of the address
 * space freed by that, with id 0 if others still run in it: the host takes its
 * memory back.  Returns 0, -ESRCH, -EINVAL if @mm_id is in use, or -ENOSPC with
 * only @t->lost changed.
 */
HVAR_API int hvar_tasks_exec(struct hvar_tasks *t, uint32_t tid, uint32_t mm_id,
			     struct hvar_mm **out, struct hvar_mm *gone);

/* @tid has ended.  *@gone as above.  Returns 0 or -ESRCH. */
HVAR_API int hvar_tasks_exit(struct hvar_tasks *t, uint32_t tid,
			     struct hvar_mm *gone);

#endif /* HVAR_TASKS_H */
