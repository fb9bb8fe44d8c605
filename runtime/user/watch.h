/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - a range of one process's memory, and the first event that takes any of it away.
 *
 * The range is given, or is that of a variable, which is known once the variable's file
 * is mapped.  It is in one address space: that of the process, until it executes another
 * program.  An exec and the exit of the last task take away all that is mapped.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "proc.h"
#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_resolve.h"
#include "unwind.h"

struct live;

enum { WATCH_MEMBERS_MAX = 1 << 20 }; /* bytes of a variable that members are sought in */

struct watch {
	/* asked for: a range, or the name of a variable, "NAME" or "MODULE:NAME" */
	uint64_t start, end; /* 0, 0: not known yet */
	const char *name;    /* borrowed; NULL: none */
	/* of the engine */
	pid_t pid;	     /* whose memory: of the process attached to, or CMD */
	uint32_t mm;	     /* its number; 0: not known yet */
	bool gone;	     /* it has gone with all that was mapped: the event is to come */
	bool by_stop;	     /* that event's thread is stopped at it */
	bool ask;	     /* something was mapped: look for the variable again */
	bool ambiguous;	     /* it was found more than once: it is not looked for any more */
	struct live *live;
	pid_t at_tid;	     /* whose stack is kept, of before its memory went; 0: none */
	struct unwind at;
	/* came of it */
	char *module;	     /* of the variable; NULL: none */
	char *others;	     /* ambiguous: which ones there are, malloc'd */
	char *no_member;     /* not found: the variable is there, and its type has no such member: which it has, malloc'd; NULL: not so */
	char *no_part;	     /* not found: the variable alone, which is there, as it was given, malloc'd; NULL: not so */
	uint64_t no_part_start, no_part_size; /* of that */
	bool pointer;	     /* debug information says that what was found is one, no more */
	bool pointer_told;   /* and that was said */
	bool hit;
	struct hvar_event ev; /* what happened */
	char comm[PROC_COMM];
	struct unwind stack; /* n == 0: none could be had */
	const char *no_stack; /* why this source never has one, static text; NULL: it has */
};

/* "START-END", hexadecimal, or the name of a variable; false: neither.  @w is all zero before. */
bool watch_parse(struct watch *w, const char *text);
void watch_fini(struct watch *w);

/*
 * w->pointer: what to say of that, malloc'd, once; NULL: no more.  Of the running process @pid also where it points to; 0: not.
 */
char *watch_pointer_note(struct watch *w, pid_t pid);

/* Does @ev take away any byte of [w->start, w->end)?  Of its address space, whichever that is. */
bool watch_hits(const struct watch *w, const struct hvar_event *ev);

/* Is any of it mapped in @vmas? */
bool watch_mapped(const struct watch *w, const struct hvar_vmas *vmas);

/*
 * Look for the variable w->name in what @vmas has loaded and set the range, w->module and w->ambiguous (with
 * w->others).  Where a file is mapped only in part so far (the dynamic loader is at it) its
 * variables are not there yet.  Returns 0, -ENOENT or -ENOMEM; or -EXDEV if the only one is
 * thread-local.  @path_of gives a module's path.
 */
int watch_find(struct watch *w, const struct hvar_vmas *vmas, hvar_image_of_fn image_of,
	       const char *(*path_of)(void *ctx, uint32_t id), void *ctx);

/* The same in process @pid as it is now. */
int watch_find_in(struct watch *w, pid_t pid, struct err *e);

#endif /* WATCH_H */
