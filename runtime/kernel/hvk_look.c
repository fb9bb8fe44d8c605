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
		s = kmalloc(sizeof(*s), HVK_GFP);
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
static void hvk_look_named(const char *name, struct hvar_vma *out)
{
	const struct hvk_module *m = hvk_module_named(name);

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

static void hvk_look_file(struct vm_area_struct *vma, char *path, struct hvar_vma *out)
{
	struct hvk_module *m = hvk_module_of(vma->vm_file, path);

	out->pgoff = (u64)vma->vm_pgoff << PAGE_SHIFT;
	out->region = HVAR_REGION_FILE;
	if (d_unlinked(hvk_file_path(vma->vm_file)->dentry))
		out->flags = HVAR_VMA_DELETED;
	if (!m)
		return;
	out->module = m->id;
	out->region = out->prot & HVAR_PROT_SHARED ? m->shared_region :
						     m->private_region;
	if (m->facts.flags & HVAR_MODULE_DELETED)
		out->flags = HVAR_VMA_DELETED;
}

/* @vma as the core has areas: what show_map_vma() of the kernel would print. */
static void hvk_look_area(struct vm_area_struct *vma, char *path, struct hvar_vma *out)
{
	const char *name;

	memset(out, 0, sizeof(*out));
	out->start = vma->vm_start;
	out->end = vma->vm_end;
	out->prot = hvk_look_prot(vma);
	if (vma->vm_file) {
		hvk_look_file(vma, path, out);
		return;
	}
	name = vma->vm_ops && vma->vm_ops->name ? vma->vm_ops->name(vma) : NULL;
	if (name) {
		hvk_look_named(name, out);
	} else if (hvk_is_heap(vma)) {
		out->region = HVAR_REGION_HEAP;
	} else if (hvk_is_stack(vma)) {
		out->region = HVAR_REGION_STACK;
	} else {
		name = hvk_anon_name(vma);
		out->region = HVAR_REGION_ANON;
		if (name) {
			snprintf(path, PATH_MAX, "[anon:%s]", name);
			hvk_look_named(path, out);
		}
	}
}

/* Where a diff's events go: numbered by the space, queued for the thread. */
struct hvk_sink {
	struct hvk_space *space;
	struct hvk_events *to; /* NULL: nobody is told */
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

static void hvk_sink_emit(void *ctx, const struct hvar_event *e)
{
	struct hvk_sink *k = ctx;

	k->space->pages += hvk_event_pages(e);

	k->space->seq++;
	if (k->to)
		hvk_events_put(k->to, k->space->seq, e);
}

/*
 * Look at [@lo, @hi) of @s, whose mm's mmap_lock current holds, and tell @to what
 * differs, with the cause and ids of @base.  Returns 0, -EAGAIN if there is room
 * for it only for one who may sleep, or -ENOMEM.
 */
HVK_API int hvk_look(struct hvk_space *s, u64 lo, u64 hi, const struct hvar_event *base,
		     struct hvk_events *to, struct hvk_scratch *scratch, bool may_sleep)
{
	VMA_ITERATOR(vmi, s->mm, lo);
	struct hvk_sink sink = { s, to };
	struct vm_area_struct *vma = NULL;
	unsigned long flags;
	bool last = false;
	u64 at = lo, until;
	int err;
	u32 n;

	atomic64_inc(&hvk_counts[HVK_N_LOOKS]);
	while (!last) {
		for (n = 0; n < HVK_CHUNK; n++) {
			vma = vma_next(&vmi);
			if (!vma || vma->vm_start >= hi)
				break;
			hvk_look_area(vma, scratch->path, &scratch->seen[n]);
			/* Behind what was told of the range before it. */
			if (n && scratch->seen[n].start < scratch->seen[n - 1].end)
				scratch->seen[n].start = scratch->seen[n - 1].end;
		}
		last = n < HVK_CHUNK;
		atomic64_add(n, &hvk_counts[HVK_N_AREAS]);
		until = last ? hi : min_t(u64, hi, scratch->seen[n - 1].end);
		if (until == hi)
			last = true;
		do {
			raw_spin_lock_irqsave(&s->lock, flags);
			err = hvar_diff(&s->vmas, at, until, scratch->seen, n, base,
					hvk_sink_emit, &sink);
			raw_spin_unlock_irqrestore(&s->lock, flags);
			if (err == -ENOSPC)
				err = hvk_space_grow(s, 0, may_sleep) ?: -ENOSPC;
		} while (err == -ENOSPC);
		if (err)
			return err;
		at = until;
		if (may_sleep)
			cond_resched();
	}
	return 0;
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
	err = hvk_look(s, lo, hi, base, to, scratch, may_sleep);
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
