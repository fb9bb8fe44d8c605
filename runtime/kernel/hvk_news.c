// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_news.c - a thread has begun, ended, or returned from a system call: what that changed.
 *
 * Several handlers are told the same news, one after the other; the first one has
 * the list brought up to date, the others find it done.  News are the same
 * while the registers are and no handler asks twice.
 */
#include "hvk_host.h"

static void hvk_base(struct hvar_event *base, const struct hvk_thread *t, u32 type,
		     u32 cause)
{
	memset(base, 0, sizeof(*base)); /* no time: a script has clocks of its own */
	base->type = type;
	base->cause = cause;
	base->mm = t->space ? t->space->id : 0;
	base->pid = current->tgid;
	base->tid = current->pid;
}

/* Tell @t an event of a task. */
static void hvk_tell_task(struct hvk_thread *t, const struct hvar_event *e)
{
	unsigned long flags;
	u64 seq;

	raw_spin_lock_irqsave(&t->space->lock, flags);
	seq = ++t->space->seq;
	raw_spin_unlock_irqrestore(&t->space->lock, flags);
	hvk_events_put(&t->events, seq, e);
}

/* [@lo, @hi) is to be looked at by @t's work. */
static void hvk_defer(struct hvk_thread *t, u64 lo, u64 hi, u32 cause)
{
	u32 i, n = t->n_waiting;

	for (i = 0; i < n; i++)
		if (t->waiting[i].start <= lo && t->waiting[i].end >= hi)
			return;
	if (n == HVK_MAX_RANGES) {
		t->n_waiting = 1;
		t->waiting[0].start = 0;
		t->waiting[0].end = HVK_TOP;
	} else {
		t->waiting[n].start = lo;
		t->waiting[n].end = hi;
		t->n_waiting++;
	}
	t->cause = cause;
	hvk_thread_queue(t);
}

/* Take in the listed areas that touch the ends of [*@lo, *@hi). */
static void hvk_widen(struct hvk_space *s, u64 *lo, u64 *hi)
{
	struct hvar_range r = { *lo, *hi };
	unsigned long flags;

	raw_spin_lock_irqsave(&s->lock, flags);
	hvar_call_widen(&s->vmas, &r);
	raw_spin_unlock_irqrestore(&s->lock, flags);
	*lo = r.start;
	*hi = r.end;
}

/* All of @t's space is known, as of a moment when its mm had @stack_vm and @total_vm. */
static void hvk_looked_at_all(struct hvk_space *s, unsigned long stack_vm,
			      unsigned long total_vm)
{
	WRITE_ONCE(s->brk, s->mm->brk);
	WRITE_ONCE(s->stack_vm, stack_vm);
	WRITE_ONCE(s->odd, total_vm - s->pages);
	if (!READ_ONCE(s->behind))
		WRITE_ONCE(s->pause, 0);
	s->begun = true;
}

/* One range, all until the first whole look is over, by one who holds mmap_lock. */
static int hvk_look_range(struct hvk_thread *t, u64 lo, u64 hi, u32 cause,
			  struct hvk_scratch *scratch, bool may_sleep)
{
	struct hvk_space *s = t->space;
	struct hvar_event base;
	unsigned long stack_vm, total_vm;
	int err = 1;

	/* What was there already is told as that by whoever sees it first: that need not be the one who began. */
	hvk_base(&base, t, s->begun ? HVAR_EVENT_NONE : HVAR_EVENT_INITIAL, cause);
	/* A work's ranges may be of several causes. */
	if (!may_sleep && hvk_is_narrow(s, lo, hi, cause))
		err = hvk_look(s, lo, hi, &base, &t->events, scratch, may_sleep, true);
	if (err <= 0)
		return err;
	hvk_widen(s, &lo, &hi);
	if (lo || hi != HVK_TOP)
		return hvk_look(s, lo, hi, &base, &t->events, scratch, may_sleep, false);
	stack_vm = READ_ONCE(s->mm->stack_vm);
	total_vm = READ_ONCE(s->mm->total_vm);
	WRITE_ONCE(s->behind, false);
	err = hvk_look(s, lo, hi, &base, &t->events, scratch, may_sleep, false);
	if (!err)
		hvk_looked_at_all(s, stack_vm, total_vm);
	return err;
}

/* A handler looks, or leaves it to the work. */
static void hvk_look_now(struct hvk_thread *t, u64 lo, u64 hi, u32 cause)
{
	struct mm_struct *mm = t->space->mm;
	struct hvk_scratch *scratch = hvk_scratch_here();
	int err = -EAGAIN;

	if (scratch && (hi != HVK_TOP || READ_ONCE(mm->map_count) <= HVK_AT_ONCE) &&
	    mmap_read_trylock(mm)) {
		err = hvk_look_range(t, lo, hi, cause, scratch, false);
		mmap_read_unlock(mm);
	}
	if (err)
		hvk_defer(t, lo, hi, cause);
}

/* The stack has grown by faults since the last look, or what grows like it. */
static void hvk_stack_grown(struct hvk_thread *t)
{
	struct hvk_space *s = t->space;
	struct mm_struct *mm = s->mm;
	unsigned long was = READ_ONCE(s->stack_vm), now = READ_ONCE(mm->stack_vm);
	struct hvk_scratch *scratch = hvk_scratch_here();
	struct hvar_event base;
	int err = 1;

	if (now > was && scratch) {
		err = -EAGAIN;
		if (mmap_read_trylock(mm)) {
			now = READ_ONCE(mm->stack_vm);
			hvk_base(&base, t, HVAR_EVENT_NONE, HVAR_CAUSE_FAULT);
			err = hvk_look_stack(s, now - was, &base, &t->events, scratch,
					     false);
			mmap_read_unlock(mm);
		}
		if (!err) {
			WRITE_ONCE(s->stack_vm, now);
			return;
		}
	}
	if (err > 0)
		hvk_look_now(t, 0, HVK_TOP, HVAR_CAUSE_FAULT);
	else
		hvk_defer(t, 0, HVK_TOP, HVAR_CAUSE_FAULT);
}

/* ---- begin: a program was executed, a process or thread was born, or is found running ---- */

/* The space of the process that has forked current, if it is followed. */
static struct hvk_space *hvk_parent(u32 *pid)
{
	struct task_struct *parent;
	struct hvk_space *s;

	rcu_read_lock();
	parent = rcu_dereference(current->real_parent);
	*pid = parent->tgid;
	s = hvk_space_find(READ_ONCE(parent->mm));
	rcu_read_unlock();
	return s;
}

static void hvk_begin_forked(struct hvk_thread *t, struct hvk_space *from, u32 parent)
{
	struct hvar_event e;

	hvk_base(&e, t, HVAR_EVENT_FORK, HVAR_CAUSE_NONE);
	e.mm = from->id;
	e.pid = parent;
	e.tid = parent;
	e.u.task.child = current->pid;
	e.u.task.child_pid = current->tgid;
	e.u.task.child_mm = t->space->id;
	hvk_tell_task(t, &e);
}

static void hvk_begin(struct hvk_thread *t, enum hvk_news news)
{
	struct mm_struct *mm = current->mm;
	struct hvk_space *s, *from;
	bool fresh, again = t->space != NULL;
	u32 parent = 0;
	struct hvar_event e;

	t->pid = current->tgid; /* an exec by another thread than the first changes both */
	t->tid = current->pid;
	if (!mm || current->flags & PF_KTHREAD || (t->space && t->space->mm == mm))
		return;
	from = again ? NULL : hvk_parent(&parent);
	s = hvk_space_get(mm, &fresh);
	if (!s)
		return;
	hvk_thread_move(t, s);
	if (again) {
		hvk_base(&e, t, HVAR_EVENT_EXEC, HVAR_CAUSE_EXECVE);
		hvk_tell_task(t, &e);
	} else if (from && thread_group_leader(current) && (fresh || from == s)) {
		/* Without a copy its areas are told as initial. */
		if (fresh)
			hvk_space_copy(s, from, false);
		hvk_begin_forked(t, from, parent);
	}
	/* Before it was attached to, a thread that ran already may have made calls that nobody was told of. */
	if (fresh || news == HVK_CALL || current->start_time < s->since)
		hvk_look_now(t, 0, HVK_TOP, HVAR_CAUSE_NONE);
}

/* ---- end ---- */

static void hvk_end(struct hvk_thread *t)
{
	struct hvk_space *s = t->space;
	struct hvar_event e;
	unsigned long grown;

	if (t->dead || !hvk_thread_die(t))
		return;
	grown = READ_ONCE(s->mm->stack_vm) - READ_ONCE(s->stack_vm);
	if ((long)grown > 0) {
		hvk_base(&e, t, HVAR_EVENT_NONE, HVAR_CAUSE_FAULT);
		hvk_look_stack_blind(s, grown, &e, &t->events);
	}
	hvk_base(&e, t, HVAR_EVENT_EXIT, HVAR_CAUSE_EXIT);
	e.u.task.status = current->exit_code;
	hvk_tell_task(t, &e);
}

/* ---- call ---- */

static enum hvar_abi hvk_abi(u64 nr)
{
	if (hvk_is_i386_call())
		return HVAR_ABI_I386;
	return nr & __X32_SYSCALL_BIT ? HVAR_ABI_X32 : HVAR_ABI_X86_64;
}

/* The calls that may change a map, by number, so that the others cost next to nothing. */
#define HVK_CALLS 512
static unsigned long hvk_mapping[2][BITS_TO_LONGS(HVK_CALLS)];

HVK_API void hvk_news_begin(void)
{
	u32 nr;

	for (nr = 0; nr < HVK_CALLS; nr++) {
		if (hvar_call_cause(HVAR_ABI_X86_64, nr))
			__set_bit(nr, hvk_mapping[0]);
		if (hvar_call_cause(HVAR_ABI_I386, nr))
			__set_bit(nr, hvk_mapping[1]);
	}
}

/* x32's numbers are all above, and rare: any of them may. */
static bool hvk_may_map(u64 nr)
{
	return nr >= HVK_CALLS || test_bit(nr, hvk_mapping[hvk_is_i386_call()]);
}

static void hvk_args(const struct pt_regs *regs, enum hvar_abi abi, u64 args[6])
{
	if (abi == HVAR_ABI_I386) {
		args[0] = regs->bx;
		args[1] = regs->cx;
		args[2] = regs->dx;
		args[3] = regs->si;
		args[4] = regs->di;
		args[5] = regs->bp;
		return;
	}
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

/* The arguments that lie in the program's memory, if they do. */
static u32 hvk_words(enum hvar_abi abi, u64 nr, const u64 args[6], u32 words[HVAR_CALL_WORDS])
{
	u64 at = hvar_call_words(abi, nr, args);
	u32 n;

	if (!at)
		return 0;
	for (n = 0; n < HVAR_CALL_WORDS; n++)
		if (copy_from_user_nofault(&words[n], (const void __user *)(unsigned long)
					   (at + n * sizeof(words[0])), sizeof(words[0])))
			break;
	return n;
}

/* What only the arguments tell: that memory has moved, not gone and come. */
static void hvk_apply(struct hvk_thread *t, const struct hvar_call *c)
{
	struct hvk_sink sink = { t->space, &t->events };
	struct hvar_event base;
	unsigned long flags;

	hvk_base(&base, t, HVAR_EVENT_NONE, c->cause);
	raw_spin_lock_irqsave(&t->space->lock, flags);
	/* Whatever it answers, the look that follows makes it good. */
	if (!t->space->growing)
		hvar_call_apply(&t->space->vmas, c, t->space->brk, NULL, &base, hvk_sink_emit,
				&sink);
	raw_spin_unlock_irqrestore(&t->space->lock, flags);
}

/* Pages that the kernel counts in @s, and we do not; usually s->odd. */
static u64 hvk_uncounted(const struct hvk_space *s)
{
	return READ_ONCE(s->mm->total_vm) - READ_ONCE(s->pages);
}

/* Is all of @s to be looked at again, since something could not be kept? */
static bool hvk_is_behind(const struct hvk_space *s)
{
	return READ_ONCE(s->behind) && time_after_eq(jiffies, READ_ONCE(s->again));
}

/*
 * Has something been mapped by what is no mapping call: one that is not known, or the kernel
 * itself ([uprobes])?  The kernel counts pages, and so do we.  With several threads they also
 * differ while another's call is under way, or its look; so there it must have been the
 * same difference for a tenth of a second, with no event since.
 */
static bool hvk_was_changed(struct hvk_space *s)
{
	u64 n = hvk_uncounted(s), seq = READ_ONCE(s->seq);

	if (!s->begun || n == READ_ONCE(s->odd))
		return false;
	if (atomic_read(&s->users) == 1)
		return true;
	if (n == READ_ONCE(s->strange) && seq == READ_ONCE(s->strange_seq))
		return time_after_eq(jiffies, READ_ONCE(s->strange_from) + HZ / 10);
	WRITE_ONCE(s->strange_from, jiffies);
	WRITE_ONCE(s->strange_seq, seq);
	WRITE_ONCE(s->strange, n);
	return false;
}

/* A call that may map: @nr, of @abi and @cause. */
static void hvk_call_mapping(struct hvk_thread *t, const struct pt_regs *regs,
			     enum hvar_abi abi, u64 nr)
{
	struct hvk_space *s = t->space;
	u32 words[HVAR_CALL_WORDS], i, n = 0;
	struct hvar_range r[3];
	struct hvar_call c;
	u64 args[6];

	hvk_args(regs, abi, args);
	if (abi == HVAR_ABI_I386)
		n = hvk_words(abi, nr, args, words);
	c.personality = current->personality;
	hvar_call_fill(&c, abi, nr, args, (s64)regs->ax, words, n);
	n = hvar_call_ranges(&c, READ_ONCE(s->brk), r);
	if (n && c.cause == HVAR_CAUSE_MREMAP && c.args[0] != (u64)c.ret)
		hvk_apply(t, &c);
	for (i = 0; i < n; i++)
		hvk_look_now(t, r[i].start, r[i].end, c.cause);
	/* Not mm->brk: what another thread has added since is looked at when its call returns. */
	if (c.cause == HVAR_CAUSE_BRK && c.args[0] && c.args[0] == (u64)c.ret)
		WRITE_ONCE(s->brk, c.ret);
}

static void hvk_call(struct hvk_thread *t, const struct pt_regs *regs)
{
	struct hvk_space *s = t->space;
	u64 nr = (u32)regs->orig_ax;

	if (unlikely(!s->begun)) {
		/* Nothing is known yet that a call could have changed.  After a look that failed there is a pause. */
		if (hvk_is_behind(s) || (hvk_may_map(nr) && !READ_ONCE(s->behind)))
			hvk_look_now(t, 0, HVK_TOP, HVAR_CAUSE_NONE);
		return;
	}
	if (READ_ONCE(s->mm->stack_vm) != READ_ONCE(s->stack_vm))
		hvk_stack_grown(t);
	if (unlikely(hvk_is_behind(s)))
		hvk_look_now(t, 0, HVK_TOP, HVAR_CAUSE_NONE);
	if (hvk_may_map(nr))
		hvk_call_mapping(t, regs, hvk_abi(nr), nr);
	else if (hvk_was_changed(s))
		hvk_look_now(t, 0, HVK_TOP, HVAR_CAUSE_NONE);
}

/* ---- the work: what could not be done without sleeping ---- */

static void hvk_work_looks(struct hvk_thread *t, struct hvk_scratch *scratch)
{
	struct hvk_space *s = t->space;
	u32 i;
	int err = 0;

	if (!s || current->mm != s->mm)
		return; /* it has ended meanwhile */
	if (!s->begun)
		hvk_space_grow(s, READ_ONCE(s->mm->map_count) + 64, true);
	if (mmap_read_lock_killable(s->mm)) {
		hvk_lose(HVK_LOST_LOCK);
		hvk_space_behind(s);
		return;
	}
	for (i = 0; i < t->n_waiting && !err; i++)
		err = hvk_look_range(t, t->waiting[i].start, t->waiting[i].end, t->cause, scratch,
				     true);
	mmap_read_unlock(s->mm);
	if (err) {
		hvk_lose(HVK_LOST_AREAS);
		hvk_space_behind(s);
	}
}

static void hvk_work(struct task_work *work)
{
	struct hvk_thread *t = container_of(work, struct hvk_thread, work);
	struct hvk_scratch *scratch = NULL;
	bool exiting = current->flags & PF_EXITING;

	/* Of those who share its space one will look. */
	if (exiting && t->n_waiting && t->space)
		hvk_space_behind(t->space);
	if (!exiting) {
		if (t->n_waiting)
			scratch = hvk_kmalloc(sizeof(*scratch), GFP_KERNEL | __GFP_NOWARN);
		if (scratch) {
			hvk_work_looks(t, scratch);
		} else if (t->n_waiting) {
			hvk_lose(HVK_LOST_AREAS);
			if (t->space)
				hvk_space_behind(t->space);
		}
		kfree(scratch);
		hvk_images_work();
	}
	t->n_waiting = 0;
	WRITE_ONCE(t->queued, false); /* from here on it may be freed */
	stp_task_work_func_done();
}

/* ---- telling the handlers ---- */

static u64 hvk_signature(enum hvk_news news, const struct pt_regs *regs)
{
	u64 h = news + ((u64)current->self_exec_id << 8);

	if (news != HVK_CALL)
		return h;
	h = h * 31 + regs->orig_ax;
	h = h * 31 + regs->ax;
	h = h * 31 + regs->di;
	h = h * 31 + regs->si;
	h = h * 31 + regs->dx;
	h = h * 31 + regs->r10;
	h = h * 31 + regs->ip;
	return h * 31 + regs->sp;
}

/* Has @handler not been told these news before?  Then they are @t's present ones. */
static bool hvk_is_same(struct hvk_thread *t, u64 signature, u64 handler)
{
	u32 i;

	if (t->signature != signature)
		return false;
	for (i = 0; i < t->n_told; i++)
		if (t->told[i] == handler)
			return false;
	return true;
}

/* Has @t nothing to be told after this call, and nothing to do? */
static bool hvk_is_idle(const struct hvk_thread *t, const struct pt_regs *regs)
{
	const struct hvk_space *s = t->space;

	return !t->events.n && s && s->mm == current->mm &&
	       !hvk_may_map((u32)regs->orig_ax) &&
	       READ_ONCE(s->mm->stack_vm) == READ_ONCE(s->stack_vm) &&
	       hvk_uncounted(s) == READ_ONCE(s->odd) && !hvk_is_behind(s) &&
	       !hvk_images_due();
}

/* There is no memory for current's record: what it did is to be found by others, or later. */
static void hvk_missed(void)
{
	struct hvk_space *s = current->mm ? hvk_space_find(current->mm) : NULL;

	if (s)
		hvk_space_behind(s);
}

static void hvk_tell_new(struct hvk_thread *t, enum hvk_news news, const struct pt_regs *regs)
{
	hvk_events_drop(&t->events);
	if (news == HVK_END)
		hvk_end(t);
	else if (!t->space || t->space->mm != current->mm)
		hvk_begin(t, news);
	else if (news == HVK_CALL)
		hvk_call(t, regs);
	if (news != HVK_END && hvk_images_due())
		hvk_thread_queue(t);
	hvk_events_show(&t->events);
}

/*
 * In a handler: a call of current has returned, if @call, with @regs, and there is nothing to tell
 * and nothing to do.  hvk_tell() then says no, and takes longer for it.
 */
static __always_inline bool hvk_is_quiet(bool call, const struct pt_regs *regs)
{
	const struct hvk_thread *t;

	if (!call || !regs)
		return false;
	t = hvk_thread_find(current);
	return t && hvk_is_idle(t, regs);
}

/*
 * In a handler: @news of current, whose @regs they are for a call.  @handler is a
 * number of its own.  Returns whether there is an event of the types in @mask
 * (bits 1 << enum hvar_event_type), and selects the first.
 */
HVK_API bool hvk_tell(enum hvk_news news, const struct pt_regs *regs, u64 handler, u32 mask)
{
	struct hvk_thread *t = hvk_thread_here();
	u64 signature;

	if (!t) {
		hvk_missed();
		return false;
	}
	if (news == HVK_END && !(current->flags & PF_EXITING))
		return false; /* of a program, by an exec: the new one's begin comes next */
	signature = hvk_signature(news, regs);
	if (!hvk_is_same(t, signature, handler)) {
		t->signature = signature;
		t->n_told = 0;
		hvk_tell_new(t, news, regs);
	}
	if (t->n_told == HVK_MAX_HANDLERS) {
		/* Who is told no more could not be told from who is told twice. */
		if (mask && t->events.shown)
			hvk_lose(HVK_LOST_TELL);
		return false;
	}
	t->told[t->n_told++] = handler;
	/* The end of a program that has another's rights by then (it is set-uid) fires as well. */
	if (!t->events.shown || !hvk_is_ours())
		return false;
	t->events.mask = mask;
	t->events.page = NULL;
	return hvk_events_next(&t->events) != NULL;
}
