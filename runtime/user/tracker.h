/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracker.h - the tasks, address spaces and mapped modules that an engine follows.
 *
 * The one place where a host's news (a system call returned, perf reported a
 * mapping, a task was born) becomes events: it keeps the VMA lists, looks at
 * /proc where the news does not tell enough, numbers modules, and puts records
 * to the stream in the order they are told.
 *
 * Used by one thread.  Times are CLOCK_MONOTONIC ns and never go back.
 */
#ifndef TRACKER_H
#define TRACKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "runtime/core/hvar_call.h"
#include "runtime/core/hvar_tasks.h"
#include "stream.h"

struct tracker;

/* @out is borrowed.  Returns NULL and @e. */
struct tracker *tracker_new(struct stream *out, struct err *e);
void tracker_free(struct tracker *t);

/*
 * @fn hears of each event before the stream does; and, with @ev NULL, of each address space @mm that
 * is gone, with @vmas as it was last: after the EXIT, before the EXEC.
 */
typedef void (*tracker_tap_fn)(void *ctx, const struct hvar_event *ev, uint32_t mm,
			       const struct hvar_vmas *vmas);
void tracker_tap(struct tracker *t, tracker_tap_fn fn, void *ctx);

/* What is mapped where @tid is, as the tracker knows it; NULL if it is not followed.  Good until the next call. */
const struct hvar_vmas *tracker_vmas(const struct tracker *t, pid_t tid);

/*
 * This host is not told of every change (perf has no news of munmap and mremap)
 * and looks now and then: what a look finds is then no loss.
 */
void tracker_late_is_usual(struct tracker *t);

/*
 * A task that runs already, or one just launched: reads its start time, and, if
 * its address space is new, its whole map, told as INITIAL.  Threads of one
 * process share.  Returns 0, -EEXIST, -ESRCH if it is gone, or -errno and @e.
 */
int tracker_add(struct tracker *t, pid_t tid, pid_t pid, uint64_t time_ns, struct err *e);
/* The same for every thread of @pid that /proc shows; returns how many are new, or -errno. */
int tracker_add_process(struct tracker *t, pid_t pid, uint64_t time_ns, struct err *e);

/*
 * @tid has made the task @child of process @child_pid (its own, for a thread).
 * @shares_mm: CLONE_VM or vfork; else the child's list is a copy of the parent's at this moment
 * (what MADV_DONTFORK left out is looked for and told as UNMAP of the child's).
 */
int tracker_fork(struct tracker *t, pid_t tid, pid_t child, pid_t child_pid,
		 bool shares_mm, uint32_t cause, uint64_t time_ns);

/*
 * @pid has executed a program, from its thread @old_tid (which is now @pid; the others are gone).
 * A @pid that was not followed is from now on.
 * With @look, the new map is read and told as INITIAL; without, the host tells it with tracker_map().
 */
int tracker_exec(struct tracker *t, pid_t pid, pid_t old_tid, bool look,
		 uint32_t cause, uint64_t time_ns);

/* @pid has executed a program just now, of which perf will tell: its break begins at @start_brk (0: not known). */
void tracker_break_begins(struct tracker *t, pid_t pid, uint64_t start_brk);

/* @tid has ended.  @status as wait(2) has it, or -1. */
int tracker_exit(struct tracker *t, pid_t tid, int status, uint64_t time_ns);

/*
 * News may be lost: end the tasks that are no more, tell the birth of threads that are not known, follow the processes that were
 * made since @since_ticks (proc_ticks_now()) by those that are followed and go on, and call @fn once for each process that there is:
 * its map is to be looked at.  A process that has executed a program unheard is then found out: the look has -ESRCH.
 */
void tracker_recover(struct tracker *t, uint64_t since_ticks, uint64_t time_ns, void (*fn)(void *ctx, pid_t pid), void *ctx);

/* Is @tid followed?  Its pid and address space's number. */
bool tracker_knows(const struct tracker *t, pid_t tid, pid_t *pid, uint32_t *mm);

/* Is any task of process @pid followed?  Its first one may have ended. */
bool tracker_has_process(const struct tracker *t, pid_t pid);

/* Is the address space of @tid shared with another process (CLONE_VM, vfork)? */
bool tracker_shared(const struct tracker *t, pid_t tid);

/*
 * Mapping call @c of @tid has returned (the task is stopped at it): bring the
 * list up to date, by looking at the affected ranges where that is possible, else by applying the call, and tell
 * what changed.  The program break is kept here.
 */
int tracker_call(struct tracker *t, pid_t tid, const struct hvar_call *c,
		 uint64_t time_ns);

/*
 * For a host whose news come in order, but late (perf's rings): after tracker_news_are_late(),
 * tracker_call_told() takes a call that returned at @time_ns by what it says, without a look.  What call and
 * list do not tell, what a fork left out and an exec did not say, is in doubt.  When all news there are have been told,
 * tracker_doubts_look() looks at it, as often as a share of time allows (with @all at once), and is true if it did; when
 * the news that came meanwhile have been told, tracker_doubts_settle() tells what was seen, but for what those have told.
 * What it tells is counted, as changes not seen as they happened.
 */
void tracker_news_are_late(struct tracker *t);
int tracker_call_told(struct tracker *t, pid_t tid, const struct hvar_call *c, uint64_t time_ns);
/*
 * For a host that tells calls as they begin, in the order of their locks: after tracker_calls_begin() (in place of
 * tracker_news_are_late(), whose doubts it has too), tracker_call_begun() takes what a call is about to do,
 * and tracker_place_begun() the address that the kernel has chosen for it, or -errno.  tracker_begun_settle(), before
 * tracker_doubts_look(), tells those that must be over.  @c->ret is not used.
 */
void tracker_calls_begin(struct tracker *t);
int tracker_call_begun(struct tracker *t, pid_t tid, const struct hvar_call *c, uint64_t time_ns);
void tracker_place_begun(struct tracker *t, pid_t tid, int64_t place);
void tracker_begun_settle(struct tracker *t, uint64_t time_ns);
/* @tid has called mseal(2). */
void tracker_sealed(struct tracker *t, pid_t tid);
/* Process @child may share the memory of @parent, and was told as a copy: what its maker's call returns will tell. */
void tracker_may_share(struct tracker *t, pid_t child, pid_t parent);
bool tracker_doubts_look(struct tracker *t, bool all);
void tracker_doubts_settle(struct tracker *t, uint64_t time_ns);
/*
 * Calls @fn once for each process whose map had news, and none for a while now.  tracker_quiet_look() looks at all of it, and
 * is true if it did; when the news that came meanwhile have been told, tracker_quiet_settle() tells and counts what was
 * seen of those that are quiet still.
 */
void tracker_each_quiet(struct tracker *t, uint64_t now_ns, void (*fn)(void *ctx, pid_t pid), void *ctx);
bool tracker_quiet_look(struct tracker *t, pid_t pid);
void tracker_quiet_settle(struct tracker *t, uint64_t time_ns);

/*
 * Is @pid's memory as large as when this was asked last?  Then no more went than came, and a look may wait, if this is asked before
 * each look, spared or not: to ask takes a tenth of its time.  False also if that is not known, and now and then: as much may have
 * come unheard as went.
 */
bool tracker_is_as_large(struct tracker *t, pid_t pid);

/*
 * Look at [@lo, @hi) of @pid now (0, ~0: everything) and tell what differs.  With
 * PROCMAP_QUERY where the kernel has it, else from /proc/PID/maps.
 * Returns 0, or -ESRCH if the process is gone (nothing changes).
 */
int tracker_look(struct tracker *t, pid_t pid, uint64_t lo, uint64_t hi,
		 uint32_t cause, uint64_t time_ns);

/* perf has reported that @pid has this mapping now (PERF_RECORD_MMAP2). */
struct tracker_mmap {
	uint64_t start, end, pgoff; /* bytes */
	uint32_t prot;		    /* enum hvar_prot */
	uint32_t dev_major, dev_minor;
	uint64_t ino;
	const char *name; /* as perf has it: a path, "//anon", "[heap]", "[stack]", "[vdso]", "/SYSV...", "/memfd:x (deleted)" */
	uint8_t build_id_len;
	uint8_t build_id[20];
	pid_t tid;	  /* who mapped it */
};
int tracker_map(struct tracker *t, pid_t pid, const struct tracker_mmap *m,
		uint64_t time_ns);
/* Is all of it there, in the list, with this protection? */
bool tracker_has_mapped(const struct tracker *t, pid_t pid, const struct tracker_mmap *m);

/*
 * The area of @tid's map that holds @addr, as the tracker knows it; on a miss it
 * looks at /proc once (stack growth, a change nobody told) and tells what it found.  Returns NULL if
 * nothing is mapped there.  Good until the next call.
 */
const struct hvar_vma *tracker_find(struct tracker *t, pid_t tid, uint64_t addr,
				    uint64_t time_ns);

/* Module @id, its path, and a file descriptor of the very file for reading (-1: none could be had); borrowed. */
const struct hvar_module *tracker_module(const struct tracker *t, uint32_t id);
const char *tracker_module_path(const struct tracker *t, uint32_t id);
int tracker_module_fd(const struct tracker *t, uint32_t id);

/* How many events it has told by now. */
uint64_t tracker_told(const struct tracker *t);

/* Put the losses counted since the last call to the stream. */
void tracker_tell_losses(struct tracker *t, uint64_t time_ns);

#endif /* TRACKER_H */
