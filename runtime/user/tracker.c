// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracker.c - the tasks that an engine follows: born, executing, ended.
 *
 * A task is told by the FORK that made it, or is simply there when its first
 * event comes.  An EXIT whose status is not known has all its bits set.
 */
#include "config.h"

#include "tracker_space.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "grow.h"
#include "proc.h"
#include "target.h"

#define MAX_KCMPS 256	/* processes to compare a new one with */

struct tracker *tracker_new(struct stream *out, struct err *e)
{
	struct tracker *t = calloc(1, sizeof(*t));
	struct proc_stat st;
	struct rlimit rl = { 0 };
	int r;

	r = proc_stat(getpid(), &st);
	if (r) {
		err_set(e, -r, "cannot read /proc/self/stat: %s: hotvar follows processes by /proc; %s",
			strerror(-r), r == -EMFILE ? "raise: ulimit -n" :
			r == -ENFILE ? "close some files, the whole system's" :
			"mount it: mount -t proc proc /proc");
		free(t);
		return NULL;
	}
	if (target_proc("processes", e)) {
		free(t);
		return NULL;
	}
	if (t) {
		t->out = out;
		getrlimit(RLIMIT_NOFILE, &rl);
		t->max_windows = rl.rlim_cur / 8 > 256 ? 256 : (uint32_t)(rl.rlim_cur / 8) + 1;
		t->modules = modules_new();
	}
	if (!t || !t->modules || grow_tasks_init(&t->tasks)) {
		err_set(e, ENOMEM, "cannot start following processes: out of memory: "
			"raise the memory limit (ulimit -v)");
		tracker_free(t);
		return NULL;
	}
	return t;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	t->tap = NULL;
	if (t->tasks.tasks) {
		for (uint32_t i = 0; i < t->tasks.nmms; i++)
			if (t->tasks.mms[i].id)
				space_gone(t, &t->tasks.mms[i]);
		grow_tasks_fini(&t->tasks);
	}
	modules_free(t->modules);
	look_areas_fini(&t->areas);
	free(t->seen);
	free(t);
}

struct hvar_task *tracker_task_of(const struct tracker *t, pid_t pid)
{
	struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)pid);

	if (task && task->pid == (uint32_t)pid)
		return task;
	for (uint32_t i = 0; i < t->tasks.ntasks; i++)
		if (t->tasks.tasks[i].tid && t->tasks.tasks[i].pid == (uint32_t)pid)
			return &t->tasks.tasks[i];
	return NULL;
}

bool tracker_knows(const struct tracker *t, pid_t tid, pid_t *pid, uint32_t *mm)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);

	if (!task)
		return false;
	*pid = (pid_t)task->pid;
	*mm = hvar_tasks_mm(&t->tasks, task)->id;
	return true;
}

void tracker_tap(struct tracker *t, tracker_tap_fn fn, void *ctx)
{
	t->tap = fn;
	t->tap_ctx = ctx;
}

const struct hvar_vmas *tracker_vmas(const struct tracker *t, pid_t tid)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);

	return task ? &hvar_tasks_mm(&t->tasks, task)->vmas : NULL;
}

bool tracker_has_process(const struct tracker *t, pid_t pid)
{
	return tracker_task_of(t, pid) != NULL;
}

bool tracker_shared(const struct tracker *t, pid_t tid)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);

	for (uint32_t i = 0; task && i < t->tasks.ntasks; i++) {
		const struct hvar_task *other = &t->tasks.tasks[i];

		if (other->tid && other->pid != task->pid &&
		    hvar_tasks_mm(&t->tasks, other) == hvar_tasks_mm(&t->tasks, task))
			return true;
	}
	return false;
}

static struct hvar_event task_event(uint32_t type, uint32_t mm, pid_t pid, pid_t tid,
				    uint32_t cause, uint64_t time_ns)
{
	struct hvar_event e = { .time_ns = time_ns, .type = type, .mm = mm,
				.pid = (uint32_t)pid, .tid = (uint32_t)tid,
				.cause = cause };

	return e;
}

/* Tell the end of @task, and forget it.  Its memory goes with its last user. */
static void end_task(struct tracker *t, const struct hvar_task *task, int status,
		     uint32_t cause, uint64_t time_ns)
{
	struct hvar_event e = task_event(HVAR_EVENT_EXIT, hvar_tasks_mm(&t->tasks, task)->id,
					 (pid_t)task->pid, (pid_t)task->tid, cause, time_ns);
	struct hvar_mm gone;

	e.u.task.start_time = task->start_time;
	e.u.task.status = (uint32_t)status;
	tracker_emit(t, &e);
	if (!hvar_tasks_exit(&t->tasks, task->tid, &gone) && gone.id)
		space_gone(t, &gone);
}

/*
 * Put a new task into the table, ending one that had its number before.  @mm_id
 * 0: a new address space, a copy of @from's number unless that is 0.  0, -EEXIST or -ENOMEM.
 */
static int add_task(struct tracker *t, pid_t tid, pid_t pid, uint64_t start_time,
		    uint32_t mm_id, uint32_t from, uint64_t time_ns,
		    struct hvar_mm **out)
{
	struct hvar_task *old;
	struct hvar_mm gone;
	bool born;
	int r = grow_tasks_room(&t->tasks);

	if (r) {
		tracker_count(t, STREAM_LOST_MEMORY);
		return r;
	}
	old = hvar_tasks_find(&t->tasks, (uint32_t)tid);
	if (old && (old->pid != (uint32_t)pid ||
		    (old->start_time && start_time && old->start_time != start_time)))
		end_task(t, old, -1, HVAR_CAUSE_NONE, time_ns);
	r = hvar_tasks_add(&t->tasks, (uint32_t)tid, (uint32_t)pid, start_time, mm_id,
			   out, &born, &gone);
	if (r || !born)
		return r;
	r = space_born(*out, hvar_tasks_mm_by_id(&t->tasks, from));
	if (r) {
		tracker_count(t, STREAM_LOST_MEMORY);
		hvar_tasks_exit(&t->tasks, (uint32_t)tid, &gone);
	}
	return r;
}

/* Look at all of @mm, which is new, and tell it. */
static int look_first(struct tracker *t, struct hvar_mm *mm, pid_t tid, pid_t pid,
		      uint64_t start_brk, uint32_t cause, bool fresh, uint64_t time_ns)
{
	struct hvar_event base = task_event(HVAR_EVENT_INITIAL, mm->id, pid, tid, cause,
					    time_ns);
	uint64_t lo = 0, hi = UINT64_MAX;
	int r = tracker_see(t, mm, tid, &lo, &hi, fresh);

	if (r)
		return r;
	tracker_landmarks(t, mm, start_brk);
	space_of(mm)->start_brk = start_brk;
	return tracker_bring(t, mm, lo, hi, &base);
}

/* The address space that @tid of @pid, not followed yet, shares with a process that is (CLONE_VM). */
static uint32_t shared_mm(const struct tracker *t, pid_t tid, pid_t pid)
{
	pid_t living = proc_has_memory(tid) ? tid : proc_living(pid);
	uint32_t asked = 0;

	for (uint32_t i = 0; i < t->tasks.ntasks && asked < MAX_KCMPS; i++) {
		const struct hvar_task *task = &t->tasks.tasks[i];

		if (!task->tid || task->tid != task->pid)
			continue;
		asked++;
		if (proc_same_memory((pid_t)task->tid, living) == 1)
			return hvar_tasks_mm(&t->tasks, task)->id;
	}
	return 0;
}

/* What is followed under @pid, but began at another time than it has now, is no more. */
static void end_strangers(struct tracker *t, pid_t pid, uint64_t time_ns)
{
	const struct hvar_task *task;
	struct proc_stat st;

	if (t->checked_pid == pid && t->checked_ns == time_ns)
		return; /* thousands of its threads are added at once */
	t->checked_pid = pid;
	t->checked_ns = time_ns;
	while ((task = tracker_task_of(t, pid)) != NULL && task->start_time &&
	       !proc_stat((pid_t)task->tid, &st) && st.start_ticks != task->start_time)
		end_task(t, task, -1, HVAR_CAUSE_NONE, time_ns);
}

/* @tid of @pid, a process that nobody told of, is in @mm, where @task is: so it has one more user. */
static void tell_user(struct tracker *t, const struct hvar_mm *mm, const struct hvar_task *task, pid_t tid, pid_t pid,
		      uint64_t start_time, uint64_t time_ns)
{
	struct hvar_event e = task_event(HVAR_EVENT_FORK, mm->id, (pid_t)task->pid, (pid_t)task->tid, HVAR_CAUSE_NONE, time_ns);

	e.u.task.child = (uint32_t)tid;
	e.u.task.child_pid = (uint32_t)pid;
	e.u.task.child_mm = mm->id;
	e.u.task.start_time = start_time;
	tracker_emit(t, &e);
}

/* A task in @mm but @tid, NULL: there is none. */
static const struct hvar_task *other_in(const struct tracker *t, const struct hvar_mm *mm, pid_t tid)
{
	for (uint32_t i = 0; i < t->tasks.ntasks; i++) {
		const struct hvar_task *task = &t->tasks.tasks[i];

		if (task->tid && task->tid != (uint32_t)tid && hvar_tasks_mm(&t->tasks, task) == mm)
			return task;
	}
	return NULL;
}

int tracker_add(struct tracker *t, pid_t tid, pid_t pid, uint64_t time_ns, struct err *e)
{
	const struct hvar_task *task, *other;
	struct proc_stat st;
	struct hvar_mm *mm, gone;
	uint32_t mm_id = 0;
	bool known;
	int r = proc_stat(tid, &st);

	if (r)
		return err_set(e, -r, "cannot follow thread %d: %s: it may have ended", (int)tid,
			       strerror(-r));
	end_strangers(t, pid, time_ns);
	task = tracker_task_of(t, pid);
	known = task != NULL;
	if (known)
		mm_id = hvar_tasks_mm(&t->tasks, task)->id;
	else
		mm_id = shared_mm(t, tid, pid);
	r = add_task(t, tid, pid, st.start_ticks, mm_id, 0, time_ns, &mm);
	if (r == -EEXIST)
		return r;
	if (r)
		return err_set(e, -r, "cannot follow thread %d: %s", (int)tid, strerror(-r));
	if (mm->refs > 1) {
		other = known ? NULL : other_in(t, mm, tid);
		if (other)
			tell_user(t, mm, other, tid, pid, st.start_ticks, time_ns);
		return 0;
	}
	space_of(mm)->started_ns = proc_started_ns(st.start_ticks);
	r = look_first(t, mm, tid, pid, st.start_brk, HVAR_CAUSE_NONE, false, time_ns);
	if (r == -EACCES || r == -EPERM) {
		/* Followed all the same: what the engine is told fills the list. */
		tracker_count(t, STREAM_LOST_MAPS);
		return 0;
	}
	if (r) {
		hvar_tasks_exit(&t->tasks, (uint32_t)tid, &gone);
		space_gone(t, &gone);
		return err_set(e, -r, "cannot read /proc/%d/maps: %s: the process may have "
			       "ended, or is a kernel thread", (int)tid, strerror(-r));
	}
	return 0;
}

int tracker_add_process(struct tracker *t, pid_t pid, uint64_t time_ns, struct err *e)
{
	int added = 0, new, first = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	/* Again until a pass finds no new thread: a running one makes others meanwhile. */
	do {
		DIR *d = opendir(path);
		struct dirent *ent;

		new = 0;
		if (!d)
			return added ? added :
			       err_set(e, errno == ENOENT ? ESRCH : errno,
				       "cannot list the threads of process %d: %s: check the "
				       "number with ps", (int)pid,
				       strerror(errno == ENOENT ? ESRCH : errno));
		while ((ent = readdir(d)) != NULL) {
			pid_t tid = (pid_t)strtol(ent->d_name, NULL, 10);
			int r;

			if (tid <= 0)
				continue;
			r = tracker_add(t, tid, pid, time_ns, added ? NULL : e);
			if (!r)
				new++;
			else if (r != -EEXIST && !first)
				first = r;
		}
		closedir(d);
		added += new;
	} while (new);
	return added || !first || tracker_task_of(t, pid) ? added : first;
}

/* Half of what @mm lists is where it was: t->seen is of that program, not of another. */
static bool is_copy(const struct tracker *t, const struct hvar_mm *mm)
{
	uint32_t same = 0;

	for (size_t i = 0; i < t->nseen; i++) {
		const struct hvar_vma *v = &t->seen[i];
		const struct hvar_vma *old = hvar_vmas_find(&mm->vmas, v->end - 1);

		same += old && old->end == v->end && old->module == v->module;
	}
	return same >= mm->vmas.n / 2;
}

/* What MADV_DONTFORK left out of the copy @mm, seen by a look. */
static void look_at_copy(struct tracker *t, struct hvar_mm *mm, pid_t child,
			 pid_t child_pid, uint32_t cause, uint64_t time_ns)
{
	struct hvar_event base = task_event(HVAR_EVENT_MAP, mm->id, child_pid, child, cause,
					    time_ns);
	uint64_t lo = 0, hi = UINT64_MAX;

	/* It may have ended, or run another program by now: that news is to come. */
	if (!tracker_see(t, mm, child, &lo, &hi, false) && is_copy(t, mm))
		tracker_bring(t, mm, lo, hi, &base);
}

int tracker_fork(struct tracker *t, pid_t tid, pid_t child, pid_t child_pid,
		 bool shares_mm, uint32_t cause, uint64_t time_ns)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);
	struct proc_stat st;
	struct hvar_event e;
	struct hvar_mm *mm;
	uint32_t from;
	int r;

	if (!task) {
		/* Its parent was never seen: what the child is now is all there is. */
		tracker_count(t, STREAM_LOST_TASKS);
		return tracker_add(t, child, child_pid, time_ns, NULL);
	}
	from = hvar_tasks_mm(&t->tasks, task)->id;
	e = task_event(HVAR_EVENT_FORK, from, (pid_t)task->pid, tid, cause, time_ns);
	proc_stat(child, &st); /* all zero if it has come and gone */
	r = add_task(t, child, child_pid, st.start_ticks, shares_mm ? from : 0, from,
		     time_ns, &mm);
	if (r) {
		if (r != -EEXIST)
			tracker_count(t, STREAM_LOST_TASKS);
		return r;
	}
	e.u.task.child = (uint32_t)child;
	e.u.task.child_pid = (uint32_t)child_pid;
	e.u.task.child_mm = mm->id;
	e.u.task.start_time = st.start_ticks;
	tracker_emit(t, &e);
	if (!shares_mm && t->news_are_late)
		tracker_doubt_all(t, mm, cause);
	else if (!shares_mm)
		look_at_copy(t, mm, child, child_pid, cause, time_ns);
	return 0;
}

/* End all threads of @pid but its leader, which takes the place of @old_tid if need be. */
static int leave_only_leader(struct tracker *t, pid_t pid, pid_t old_tid, uint32_t cause,
			     uint64_t time_ns)
{
	const struct hvar_task *leader = hvar_tasks_find(&t->tasks, (uint32_t)pid);
	int r;

	/* A host that cannot tell which thread it was: any shows the same memory. */
	if (!leader && old_tid == pid && tracker_task_of(t, pid))
		old_tid = (pid_t)tracker_task_of(t, pid)->tid;
	if (!leader && old_tid != pid &&
	    hvar_tasks_find(&t->tasks, (uint32_t)old_tid)) {
		/* The leader had ended before: its number is taken up again. */
		r = tracker_fork(t, old_tid, pid, pid, true, cause, time_ns);
		if (r)
			return r;
	}
	for (uint32_t i = 0; i < t->tasks.ntasks; i++) {
		const struct hvar_task *task = &t->tasks.tasks[i];

		if (task->tid && task->pid == (uint32_t)pid && task->tid != (uint32_t)pid)
			end_task(t, task, -1, cause, time_ns);
	}
	return 0;
}

int tracker_exec(struct tracker *t, pid_t pid, pid_t old_tid, bool look, uint32_t cause,
		 uint64_t time_ns)
{
	const struct hvar_task *task;
	struct hvar_mm *mm, gone;
	struct proc_stat st;
	struct hvar_event e;
	int r;

	task = hvar_tasks_find(&t->tasks, (uint32_t)pid);
	tracker_begun_finish(t, task ? hvar_tasks_mm(&t->tasks, task) : NULL, time_ns);
	proc_stat(pid, &st);
	r = leave_only_leader(t, pid, old_tid, cause, time_ns);
	if (!r)
		r = grow_tasks_room(&t->tasks);
	if (r) {
		tracker_count(t, STREAM_LOST_MEMORY);
		return r;
	}
	if (!hvar_tasks_find(&t->tasks, (uint32_t)pid)) {
		if (t->tasks.used) /* the first of all begins like this */
			tracker_count(t, STREAM_LOST_TASKS);
		r = add_task(t, pid, pid, st.start_ticks, 0, 0, time_ns, &mm);
	} else {
		r = hvar_tasks_exec(&t->tasks, (uint32_t)pid, 0, &mm, &gone);
		if (!r && gone.id)
			space_gone(t, &gone);
		if (!r) {
			r = space_born(mm, NULL);
			if (r)
				hvar_tasks_exit(&t->tasks, (uint32_t)pid, &gone);
		}
	}
	if (r) {
		tracker_count(t, STREAM_LOST_MEMORY);
		return r;
	}
	e = task_event(HVAR_EVENT_EXEC, mm->id, pid, pid, cause, time_ns);
	e.u.task.start_time = st.start_ticks;
	tracker_emit(t, &e);
	space_of(mm)->brk = space_of(mm)->start_brk = tracker_begins_at(t, pid, st.start_brk);
	space_of(mm)->executed = !look;
	if (!look && t->news_are_late)
		tracker_doubt_all(t, mm, cause);
	if (!look)
		return 0;
	r = look_first(t, mm, pid, pid, st.start_brk, cause, true, time_ns);
	if (r == -EACCES || r == -EPERM) {
		tracker_count(t, STREAM_LOST_MAPS);
		return 0;
	}
	return r;
}

int tracker_exit(struct tracker *t, pid_t tid, int status, uint64_t time_ns)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);
	struct hvar_mm *mm;

	if (!task)
		return -ESRCH;
	mm = hvar_tasks_mm(&t->tasks, task);
	tracker_begun_finish(t, mm, time_ns);
	if (mm->refs == 1)
		tracker_grown(t, mm, task, time_ns);
	end_task(t, task, status, HVAR_CAUSE_EXIT, time_ns);
	return 0;
}

void tracker_late_is_usual(struct tracker *t)
{
	t->late_is_usual = true;
}

uint64_t tracker_told(const struct tracker *t)
{
	return t->told;
}

void tracker_tell_losses(struct tracker *t, uint64_t time_ns)
{
	tracker_tell_modules(t);
	for (uint32_t what = 1; what < STREAM_LOST_WHATS; what++) {
		struct stream_loss l = { .time_ns = time_ns, .what = what,
					 .count = t->lost[what] };

		if (!l.count)
			continue;
		stream_put(t->out, STREAM_LOSS, &l, sizeof(l), NULL, 0);
		t->lost[what] = 0;
	}
}

const struct hvar_module *tracker_module(const struct tracker *t, uint32_t id)
{
	return modules_get(t->modules, id);
}

const char *tracker_module_path(const struct tracker *t, uint32_t id)
{
	return modules_path(t->modules, id);
}

int tracker_module_fd(const struct tracker *t, uint32_t id)
{
	return modules_fd(t->modules, id);
}
