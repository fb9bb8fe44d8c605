// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_thread.c - the threads that are followed: their space, their news, their work.
 *
 * A record is its own thread's; only the table and the pointer to the space are
 * seen by others.  It holds its task: an exec by another thread than the first changes pid, tid and
 * even start_time of that.  A dead thread's record stays until another one begins, since the handlers of
 * its end come one after the other.
 */
#include "hvk_host.h"

static struct hlist_head hvk_threads[1 << HVK_HASH_BITS];
static u32 hvk_n_threads;
static struct hvk_thread *hvk_dead; /* records of threads that have ended */
static u32 hvk_n_dead;

static void hvk_work(struct task_work *work);

static struct hlist_head *hvk_thread_bucket(const struct task_struct *task)
{
	return &hvk_threads[hash_ptr(task, HVK_HASH_BITS)];
}

/* Under RCU. */
HVK_API struct hvk_thread *hvk_thread_find(const struct task_struct *task)
{
	struct hvk_thread *t;

	hlist_for_each_entry_rcu(t, hvk_thread_bucket(task), node,
				 lockdep_is_held(&hvk_lock))
		if (t->task == task)
			return t;
	return NULL;
}

static void hvk_thread_free(struct hvk_thread *t)
{
	hvk_events_free(&t->events);
	if (t->space) {
		if (!t->dead)
			atomic_dec(&t->space->users);
		hvk_space_put(t->space);
	}
	put_task_struct(t->task);
	kfree_rcu(t, rcu);
}

/* Has @t's space no thread that has begun, while one of @t's process is still to begin?  Then it is to be found. */
static bool hvk_is_awaited(const struct hvk_thread *t)
{
	return t->space && !atomic_read(&t->space->users) && atomic_read(&t->task->signal->live);
}

/*
 * Free the records of threads that have ended, and will not come to a handler or a work any more:
 * exit_state is set after the last handler of an exit (sched_process_exit), and a work is
 * waited for.
 */
static void hvk_threads_bury(void)
{
	struct hvk_thread *t, **at, *gone = NULL;
	unsigned long flags;

	if (READ_ONCE(hvk_n_dead) < 64)
		return;
	raw_spin_lock_irqsave(&hvk_lock, flags);
	for (at = &hvk_dead; (t = *at) != NULL;) {
		if (!READ_ONCE(t->task->exit_state) || READ_ONCE(t->queued) || hvk_is_awaited(t)) {
			at = &t->next_dead;
			continue;
		}
		*at = t->next_dead;
		t->next_dead = gone;
		gone = t;
		hlist_del_rcu(&t->node);
		hvk_n_threads--;
		hvk_n_dead--;
	}
	raw_spin_unlock_irqrestore(&hvk_lock, flags);
	while ((t = gone) != NULL) {
		gone = t->next_dead;
		hvk_thread_free(t);
	}
}

/* current's record, made if need be; NULL if there is no memory. */
HVK_API struct hvk_thread *hvk_thread_here(void)
{
	struct hvk_thread *t = hvk_thread_find(current);
	unsigned long flags;
	bool added;

	if (likely(t))
		return t;
	hvk_threads_bury();
	t = hvk_kmalloc(sizeof(*t), HVK_GFP | __GFP_ZERO);
	if (!t) {
		hvk_lose(HVK_LOST_THREADS);
		return NULL;
	}
	t->task = current;
	t->pid = current->tgid;
	t->tid = current->pid;
	stp_init_task_work(&t->work, &hvk_work);
	raw_spin_lock_irqsave(&hvk_lock, flags);
	added = hvk_n_threads < HVK_MAX_THREADS;
	if (added) {
		get_task_struct(current);
		hlist_add_head_rcu(&t->node, hvk_thread_bucket(current));
		hvk_n_threads++;
	}
	raw_spin_unlock_irqrestore(&hvk_lock, flags);
	if (!added) {
		kfree(t);
		hvk_lose(HVK_LOST_THREADS);
		return NULL;
	}
	return t;
}

/* @t, which is current's, lives in @s from now on: takes the reference. */
static void hvk_thread_move(struct hvk_thread *t, struct hvk_space *s)
{
	struct hvk_space *old = t->space;

	if (s)
		atomic_inc(&s->users);
	smp_store_release(&t->space, s);
	if (old) {
		atomic_dec(&old->users);
		hvk_space_put(old);
	}
}

/* @t, current's, has never begun: its space is that of its process's other threads.  Under hvk_lock. */
static void hvk_thread_adopt(struct hvk_thread *t)
{
	const struct hvk_thread *o;

	for (o = hvk_dead; o; o = o->next_dead) {
		if (o->task->signal == current->signal && o->space) {
			atomic_inc(&o->space->refs);
			smp_store_release(&t->space, o->space);
			return;
		}
	}
}

/*
 * @t is current's and has ended; was it the last of its space?  A thread that has not begun is one of those as well:
 * the kernel counts those of a process that do not end yet.
 */
static bool hvk_thread_die(struct hvk_thread *t)
{
	unsigned long flags;

	if (t->dead)
		return false;
	raw_spin_lock_irqsave(&hvk_lock, flags);
	if (t->space)
		atomic_dec(&t->space->users);
	else if (!atomic_read(&current->signal->live))
		hvk_thread_adopt(t);
	t->dead = true;
	t->next_dead = hvk_dead;
	hvk_dead = t;
	hvk_n_dead++;
	raw_spin_unlock_irqrestore(&hvk_lock, flags);
	/* One that came when the others had gone is no second end. */
	return t->space && !atomic_read(&t->space->users) && !atomic_read(&current->signal->live) &&
	       !atomic_xchg(&t->space->ended, 1);
}

/*
 * Have @t's work run before current returns to user mode.  Only handlers call this, and they
 * run no more when SystemTap waits for the works before the module goes.
 */
static void hvk_thread_queue(struct hvk_thread *t)
{
	if (t->queued)
		return;
	t->queued = true;
	if (!stp_task_work_add(current, &t->work))
		return;
	t->queued = false; /* it is on its way out */
	if (t->n_waiting && t->space)
		hvk_space_behind(t->space);
}

/* At the end only: events of threads that made no more calls, so no handler was told. */
HVK_API u64 hvk_threads_untold(void)
{
	struct hvk_thread *t;
	u64 n = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hvk_threads); i++)
		hlist_for_each_entry(t, &hvk_threads[i], node)
			n += t->events.n - t->events.shown;
	return n;
}

/* At the end only. */
HVK_API void hvk_threads_free(void)
{
	struct hlist_node *next;
	struct hvk_thread *t;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hvk_threads); i++) {
		hlist_for_each_entry_safe(t, next, &hvk_threads[i], node)
			hvk_thread_free(t);
		hvk_threads[i].first = NULL;
	}
	hvk_n_threads = 0;
	hvk_dead = NULL;
	hvk_n_dead = 0;
}
