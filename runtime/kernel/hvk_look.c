// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_look.c - the kernel's areas in a range, diffed against the list, chunk by chunk.
 *
 * mmap_lock is held for reading all the time, so the areas stand still (but for the stack,
 * which older kernels grow under the same lock); space->lock only for one chunk.
 */
#include "hvk_host.h"

#define HVK_TOP ((u64)-1)

static DEFINE_PER_CPU(struct hvk_scratch *, hvk_scratches);

/* A handler's scratch: preemption is off.  NULL: no memory. */
static struct hvk_scratch *hvk_scratch_here(void)
{
	struct hvk_scratch *s = this_cpu_read(hvk_scratches);

	if (!s) {
		s = hvk_kmalloc(sizeof(*s), HVK_GFP);
		this_cpu_write(hvk_scratches, s);
	}
	return s;
}

/* At the end only. */
HVK_API void hvk_scratches_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		kfree(per_cpu(hvk_scratches, cpu));
		per_cpu(hvk_scratches, cpu) = NULL;
	}
}

static uint8_t hvk_look_prot(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_READ ? HVAR_PROT_READ : 0) |
	       (vma->vm_flags & VM_WRITE ? HVAR_PROT_WRITE : 0) |
	       (vma->vm_flags & VM_EXEC ? HVAR_PROT_EXEC : 0) |
	       (vma->vm_flags & VM_MAYSHARE ? HVAR_PROT_SHARED : 0);
}

/* An area without a file whose name the kernel gives. */
static void hvk_look_named(const char *name, struct hvk_scratch *scratch,
			   struct hvar_vma *out)
{
	const struct hvk_module *m = hvk_module_named(name);

	if (!m)
		scratch->nameless = true;
	out->module = m ? m->id : 0;
	out->flags = HVAR_VMA_NAMED;
	if (!strcmp(name, "[vdso]"))
		out->region = HVAR_REGION_VDSO;
	else if (!strcmp(name, "[vvar]") || !strcmp(name, "[vvar_vclock]"))
		out->region = HVAR_REGION_VVAR;
	else if (out->prot & HVAR_PROT_SHARED)
		out->region = HVAR_REGION_SHM;
	else
		out->region = HVAR_REGION_ANON;
}

static void hvk_look_file(struct vm_area_struct *vma, struct hvk_scratch *scratch,
			  struct hvar_vma *out)
{
	struct hvk_module *m = hvk_module_of(vma->vm_file, scratch->path);

	out->pgoff = (u64)vma->vm_pgoff << PAGE_SHIFT;
	out->region = HVAR_REGION_FILE;
	if (d_unlinked(hvk_file_path(vma->vm_file)->dentry))
		out->flags = HVAR_VMA_DELETED;
	if (!m) {
		scratch->nameless = true;
		return;
	}
	out->module = m->id;
	out->region = out->prot & HVAR_PROT_SHARED ? m->shared_region :
						     m->private_region;
	if (m->facts.flags & HVAR_MODULE_DELETED)
		out->flags = HVAR_VMA_DELETED;
}

/* @vma as the core has areas: what show_map_vma() of the kernel would print. */
static void hvk_look_area(struct vm_area_struct *vma, struct hvk_scratch *scratch,
			  struct hvar_vma *out)
{
	const char *name;

	memset(out, 0, sizeof(*out));
	out->start = vma->vm_start;
	out->end = vma->vm_end;
	out->prot = hvk_look_prot(vma);
	if (vma->vm_file) {
		hvk_look_file(vma, scratch, out);
		return;
	}
	name = vma->vm_ops && vma->vm_ops->name ? vma->vm_ops->name(vma) : NULL;
	if (name) {
		hvk_look_named(name, scratch, out);
	} else if (hvk_is_heap(vma)) {
		out->region = HVAR_REGION_HEAP;
	} else if (hvk_is_stack(vma)) {
		out->region = HVAR_REGION_STACK;
	} else {
		name = hvk_anon_name(vma);
		out->region = HVAR_REGION_ANON;
		if (name) {
			snprintf(scratch->path, sizeof(scratch->path), "[anon:%s]", name);
			hvk_look_named(scratch->path, scratch, out);
		}
	}
}

/* Where a diff's events go: numbered by the space, queued for the thread. */
struct hvk_sink {
	struct hvk_space *space;
	struct hvk_events *to;
};

/* Pages that @e has added to the list, or taken. */
static u64 hvk_event_pages(const struct hvar_event *e)
{
	u64 now = e->u.map.end - e->u.map.start, was = e->u.map.old_end - e->u.map.old_start;

	switch (e->type) {
	case HVAR_EVENT_INITIAL:
	case HVAR_EVENT_MAP:
		was = 0;
		break;
	case HVAR_EVENT_UNMAP:
		was = now;
		now = 0;
		break;
	case HVAR_EVENT_PROTECT:
		return 0;
	}
	return (now >> PAGE_SHIFT) - (was >> PAGE_SHIFT);
}

/* Two areas' bounds from here on: those that have ever been called [heap], and [stack]. */
static void hvk_note_label(struct hvk_space *s, const struct hvar_event *e)
{
	struct hvk_range *r;

	if (e->u.map.region == HVAR_REGION_HEAP)
		r = &s->heap;
	else if (e->u.map.region == HVAR_REGION_STACK)
		r = &s->stack;
	else
		return;
	if (r->start == r->end || e->u.map.start < r->start)
		WRITE_ONCE(r->start, e->u.map.start);
	if (e->u.map.end > r->end)
		WRITE_ONCE(r->end, e->u.map.end);
}

static void hvk_sink_emit(void *ctx, const struct hvar_event *e)
{
	struct hvk_sink *k = ctx;

	k->space->pages += hvk_event_pages(e);
	k->space->seq++;
	hvk_note_label(k->space, e);
	hvk_events_put(k->to, k->space->seq, e);
}

/* May [@lo, @hi) and what touches it be in @r, or is it not known where that is? */
static bool hvk_touches(const struct hvk_range *r, u64 lo, u64 hi)
{
	return READ_ONCE(r->end) >= lo && READ_ONCE(r->start) <= hi;
}

/*
 * A call that has changed [@lo, @hi) may have changed how its neighbours are called, if they are
 * called by where they lie: [heap] is all that is merged with the heap.  Elsewhere it is enough to look at the range.
 */
HVK_API bool hvk_is_narrow(const struct hvk_space *s, u64 lo, u64 hi, u32 cause)
{
	switch (cause) {
	case HVAR_CAUSE_MMAP:
	case HVAR_CAUSE_MUNMAP:
	case HVAR_CAUSE_MPROTECT:
	case HVAR_CAUSE_PKEY_MPROTECT:
	case HVAR_CAUSE_MREMAP:
		return lo && hi != HVK_TOP && !hvk_touches(&s->heap, lo, hi) &&
		       !hvk_touches(&s->stack, lo, hi);
	}
	return false;
}

/* Is what lies outside of the range of the same area the same as before, whatever the range now is? */
static bool hvk_is_plain(const struct hvar_vma *v)
{
	return v->region == HVAR_REGION_ANON && !v->module;
}

/* The next areas of [@at, @hi), in scratch->seen, and how many; *@last: there are no more. */
static u32 hvk_look_chunk(struct vma_iterator *vmi, u64 hi, struct hvk_scratch *scratch,
			  bool *last)
{
	struct hvar_vma *seen = scratch->seen;
	struct vm_area_struct *vma;
	u32 n;

	for (n = 0; n < HVK_CHUNK; n++) {
		vma = vma_find(vmi, hi);
		if (!vma || vma->vm_start >= hi) {
			*last = true;
			return n;
		}
		hvk_look_area(vma, scratch, &seen[n]);
		/* Behind what was told of the range before it. */
		if (n && seen[n].start < seen[n - 1].end)
			seen[n].start = seen[n - 1].end;
		if (seen[n].end >= hi) {
			*last = true;
			return n + 1;
		}
	}
	*last = false;
	return n;
}

/* Up to where in [@at, @until) not too many areas are listed for one hold of the lock. */
static u64 hvk_few(const struct hvk_space *s, u64 at, u64 until)
{
	const struct hvar_vma *v;
	u32 i;

	if (until - at <= (u64)HVK_CHUNK << PAGE_SHIFT)
		return until;
	for (i = 0; i < HVK_CHUNK; i++) {
		v = hvar_vmas_next(&s->vmas, at);
		if (!v || v->end >= until)
			return until;
		at = v->end;
	}
	return at;
}

/* Diff @n areas seen in [@at, @until), in as many holds of the lock as it takes: *@holds counts them. */
static int hvk_look_diff(struct hvk_sink *sink, u64 at, u64 until, const struct hvar_vma *seen,
			 u32 n, const struct hvar_event *base, bool may_sleep, u32 *holds)
{
	struct hvk_space *s = sink->space;
	unsigned long flags;
	u64 to;
	int err;

	do {
		if (may_sleep)
			cond_resched();
		else if (++*holds > HVK_AT_ONCE / HVK_CHUNK)
			return -EAGAIN;
		raw_spin_lock_irqsave(&s->lock, flags);
		to = hvk_few(s, at, until);
		err = s->growing ? -EBUSY :
		      hvar_diff(&s->vmas, at, to, seen, n, base, hvk_sink_emit, sink);
		raw_spin_unlock_irqrestore(&s->lock, flags);
		if (err == -EBUSY) {
			if (!may_sleep)
				return -EAGAIN;
			schedule_timeout_uninterruptible(1);
			err = 0;
			to = at;
		} else if (err == -ENOSPC) {
			err = hvk_space_grow(s, 0, may_sleep);
			to = at;
		}
		at = to;
	} while (!err && at < until);
	return err;
}

/*
 * Look at [@lo, @hi) of @s, whose mm's mmap_lock current holds, and tell @to what
 * differs, with the cause and ids of @base.  @narrow: only if no more need be looked at, which
 * hvk_is_narrow() expects.
 *
 * Returns 0, 1 if more must be, -EAGAIN if only one who may sleep can go on (it is too
 * much, or there is no room), or -ENOMEM.  In each case what was told is in the list.
 */
HVK_API int hvk_look(struct hvk_space *s, u64 lo, u64 hi, const struct hvar_event *base,
		     struct hvk_events *to, struct hvk_scratch *scratch, bool may_sleep,
		     bool narrow)
{
	VMA_ITERATOR(vmi, s->mm, lo);
	struct hvk_sink sink = { s, to };
	struct hvar_vma *seen = scratch->seen;
	bool last = false;
	u64 at = lo, until;
	u32 n, holds = 0;
	int err = 0;

	scratch->nameless = false;
	while (!last && !err) {
		n = hvk_look_chunk(&vmi, hi, scratch, &last);
		if (narrow && n && ((seen[0].start < lo && !hvk_is_plain(&seen[0])) ||
				    (seen[n - 1].end > hi && !hvk_is_plain(&seen[n - 1]))))
			return 1;
		until = last ? hi : seen[n - 1].end;
		err = hvk_look_diff(&sink, at, until, seen, n, base, may_sleep, &holds);
		at = until;
	}
	if (scratch->nameless)
		hvk_space_behind(s);
	return err;
}

/*
 * Look at the stack again after it has grown: only its own pages can be new.
 * @grown: by how many pages.  Returns as hvk_look(), or 1 if it was not the stack that grew.
 */
HVK_API int hvk_look_stack(struct hvk_space *s, unsigned long grown,
			   const struct hvar_event *base, struct hvk_events *to,
			   struct hvk_scratch *scratch, bool may_sleep)
{
	const struct hvar_vma *v;
	unsigned long flags;
	u64 lo = 0, hi = 0, was = 0, now = 0;
	int err;

	raw_spin_lock_irqsave(&s->lock, flags);
	v = hvar_vmas_find(&s->vmas, s->mm->start_stack);
	if (v && v->region == HVAR_REGION_STACK) {
		was = v->start;
		hi = v->end;
		lo = was > (u64)grown << PAGE_SHIFT ? was - ((u64)grown << PAGE_SHIFT) : 0;
	}
	raw_spin_unlock_irqrestore(&s->lock, flags);
	if (!hi)
		return 1;
	err = hvk_look(s, lo, hi, base, to, scratch, may_sleep, false);
	if (err)
		return err;
	raw_spin_lock_irqsave(&s->lock, flags);
	v = hvar_vmas_find(&s->vmas, s->mm->start_stack);
	now = v ? v->start : was;
	raw_spin_unlock_irqrestore(&s->lock, flags);
	return now == lo ? 0 : 1;
}

/*
 * The stack of @s has grown by @grown pages, which nobody can look at any more (its
 * thread has ended): that much is known without.
 */
HVK_API void hvk_look_stack_blind(struct hvk_space *s, unsigned long grown,
				  const struct hvar_event *base, struct hvk_events *to)
{
	struct hvk_sink sink = { s, to };
	const struct hvar_vma *v, *below;
	struct hvar_vma now;
	unsigned long flags;
	u64 more = (u64)grown << PAGE_SHIFT;

	raw_spin_lock_irqsave(&s->lock, flags);
	v = hvar_vmas_find(&s->vmas, s->mm->start_stack);
	/* Nobody is left who might be at it: s->growing is not set. */
	if (v && v->region == HVAR_REGION_STACK && v->start > more) {
		now = *v;
		now.start -= more;
		below = hvar_vmas_prev(&s->vmas, v->start);
		if (!below || below->end <= now.start)
			hvar_diff(&s->vmas, now.start, now.end, &now, 1, base,
				  hvk_sink_emit, &sink);
	}
	raw_spin_unlock_irqrestore(&s->lock, flags);
}
