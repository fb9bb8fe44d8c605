// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracker_lost.c - after news were lost: who is there, by /proc, whatever was told.
 *
 * The threads of a process are one listing, so that ten thousand are no matter of as many files: meanwhile
 * nobody reads the news that come.  What is not listed has ended; what is listed and not followed was born.
 */
#include "config.h"

#include "tracker_space.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "grow.h"
#include "proc.h"
#include "target.h"

enum { PASSES = 4 }; /* over all processes: the next one finds what those just found have made */

#define IS_ENDING 0x4 /* PF_EXITING of the kernel's include/linux/sched.h: its end is told, or will be */

struct numbers {
	pid_t *v; /* sorted */
	size_t n, cap;
};

/* A task that is followed. */
struct followed {
	pid_t pid, tid;
};

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

static int by_process(const void *a, const void *b)
{
	const struct followed *x = a, *y = b;
	int r = by_number(&x->pid, &y->pid);

	return r ? r : by_number(&x->tid, &y->tid);
}

/* The numbers that are names in the folder @path, none if there is no such folder.  0 or -errno. */
static int list(struct numbers *l, const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *ent;
	int r = 0;

	l->n = 0;
	if (!d)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	while (!r && (ent = readdir(d))) {
		pid_t number = (pid_t)strtol(ent->d_name, NULL, 10);

		if (number <= 0)
			continue;
		r = grow_array((void **)&l->v, &l->cap, l->n + 1, sizeof(*l->v));
		if (!r)
			l->v[l->n++] = number;
	}
	closedir(d);
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_number);
	return r;
}

static bool has(const struct numbers *l, pid_t number)
{
	return l->n && bsearch(&number, l->v, l->n, sizeof(*l->v), by_number);
}

static bool has_ended(const struct proc_stat *st)
{
	return st->state == 'Z' || st->state == 'X' || st->flags & IS_ENDING;
}

/* Is @pid the number of a thread, of whatever process, and of no process?  /proc/@pid shows that process then. */
static bool is_thread_only(pid_t pid)
{
	long process = target_status(pid, "Tgid:");

	return process > 0 && process != pid;
}

/*
 * Has the first thread of @pid, if it is followed, ended before others?  *@other: @pid is another one's by now.  If
 * it is not, what was listed before was of that process.
 */
static bool first_is_gone(const struct tracker *t, pid_t pid, bool *other)
{
	const struct hvar_task *first = hvar_tasks_find(&t->tasks, (uint32_t)pid);
	struct proc_stat st;
	int r;

	if (first && first->pid != (uint32_t)pid)
		first = NULL;
	r = first ? proc_stat(pid, &st) : 0;
	*other = (first && (r == -ESRCH || (!r && first->start_time && st.start_ticks != first->start_time))) || is_thread_only(pid);
	return *other || (first && !r && has_ended(&st));
}

/* @tid of @pid has ended, unless another process has that number by now, and is followed. */
static void end_thread(struct tracker *t, pid_t pid, pid_t tid, uint64_t time_ns)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);

	if (task && task->pid == (uint32_t)pid)
		tracker_exit(t, tid, -1, time_ns);
}

/* @n threads of one process, at @v, are followed: are they those that there are? */
static void recover_process(struct tracker *t, const struct followed *v, size_t n, struct numbers *there, uint64_t time_ns)
{
	pid_t pid = v->pid;
	bool other, gone;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	if (list(there, path)) {
		tracker_count(t, STREAM_LOST_MEMORY);
		return;
	}
	if (!there->n && target_is_alive(pid))
		return; /* /proc hides it (hidepid) */
	gone = first_is_gone(t, pid, &other);
	for (size_t i = 0; i < n; i++)
		if (other || (gone && v[i].tid == pid) || !has(there, v[i].tid))
			end_thread(t, pid, v[i].tid, time_ns);
	for (size_t i = 0; !other && i < there->n; i++) {
		const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)there->v[i]);
		const struct hvar_task *maker = tracker_task_of(t, pid);
		struct proc_stat st;

		if (!maker || (task && task->pid == (uint32_t)pid) || proc_stat(there->v[i], &st) || has_ended(&st))
			continue;
		tracker_fork(t, (pid_t)maker->tid, there->v[i], pid, true, HVAR_CAUSE_NONE, time_ns);
	}
}

/* All that are followed, by process.  NULL: none, or no memory. */
static struct followed *all_followed(struct tracker *t, size_t *n)
{
	struct followed *v = malloc((t->tasks.used + 1) * sizeof(*v));

	*n = 0;
	for (uint32_t i = 0; v && i < t->tasks.ntasks && *n < t->tasks.used; i++) {
		const struct hvar_task *task = &t->tasks.tasks[i];

		if (task->tid)
			v[(*n)++] = (struct followed){ (pid_t)task->pid, (pid_t)task->tid };
	}
	if (!v)
		tracker_count(t, STREAM_LOST_MEMORY);
	else if (*n)
		qsort(v, *n, sizeof(*v), by_process);
	return v;
}

/* @pid was made by one that is followed: its map is told as it is, or as another's that it shares, and then its other threads. */
static bool found(struct tracker *t, pid_t pid, struct numbers *threads, uint64_t time_ns)
{
	const struct followed first = { pid, pid };
	int r = tracker_add(t, pid, pid, time_ns, NULL);

	if (!r)
		recover_process(t, &first, 1, threads, time_ns);
	return !r;
}

/* Processes made since @since_ticks whose parents are followed.  One whose maker has ended has another parent, and is not found. */
static bool find_children(struct tracker *t, uint64_t since_ticks, struct numbers *there, struct numbers *threads, uint64_t time_ns)
{
	bool any = false;

	if (list(there, "/proc")) {
		tracker_count(t, STREAM_LOST_MEMORY);
		return false;
	}
	for (size_t i = 0; i < there->n; i++) {
		struct proc_stat st;

		if (hvar_tasks_find(&t->tasks, (uint32_t)there->v[i]) || proc_stat(there->v[i], &st) || has_ended(&st) ||
		    st.start_ticks < since_ticks)
			continue;
		if (tracker_task_of(t, st.ppid) && !tracker_task_of(t, there->v[i]) && !is_thread_only(there->v[i]))
			any |= found(t, there->v[i], threads, time_ns);
	}
	return any;
}

/* Another program may be there that was not told of: each window is to prove whose map it shows. */
static void doubt_windows(struct tracker *t)
{
	for (uint32_t i = 0; i < t->tasks.nmms; i++)
		if (t->tasks.mms[i].id)
			space_of(&t->tasks.mms[i])->gone = true;
}

void tracker_recover(struct tracker *t, uint64_t since_ticks, uint64_t time_ns, void (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct numbers there = { 0 }, threads = { 0 };
	size_t n, end;
	struct followed *v = all_followed(t, &n);

	for (size_t i = 0; i < n; i = end) {
		for (end = i; end < n && v[end].pid == v[i].pid; end++)
			;
		recover_process(t, v + i, end - i, &there, time_ns);
	}
	free(v);
	for (int i = 0; i < PASSES && find_children(t, since_ticks, &there, &threads, time_ns); i++)
		;
	free(there.v);
	free(threads.v);
	doubt_windows(t);
	v = all_followed(t, &n);
	for (size_t i = 0; i < n; i++)
		if (!i || v[i].pid != v[i - 1].pid)
			fn(ctx, v[i].pid);
	free(v);
}
