// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_space.c - the address spaces that are followed, each with the core's list of its areas.
 *
 * A space holds its mm_struct's count (not its memory), so the pointer cannot mean
 * another one meanwhile: threads, vfork and CLONE_VM children share by it, an exec has a new one.
 */
#include "hvk_host.h"

static struct hlist_head hvk_spaces[1 << HVK_HASH_BITS];
static u32 hvk_n_spaces;
static atomic_t hvk_space_ids = ATOMIC_INIT(0);

static struct hlist_head *hvk_space_bucket(const struct mm_struct *mm)
{
	return &hvk_spaces[hash_ptr(mm, HVK_HASH_BITS)];
}

/* Under RCU: that is, in any probe. */
HVK_API struct hvk_space *hvk_space_find(const struct mm_struct *mm)
{
	struct hvk_space *s;

	hlist_for_each_entry_rcu(s, hvk_space_bucket(mm), node,
				 lockdep_is_held(&hvk_lock))
		if (s->mm == mm)
			return s;
	return NULL;
}

static struct hvk_store *hvk_store_new(u32 areas, bool may_sleep)
{
	u64 bytes = roundup_pow_of_two(sizeof(struct hvk_store) + hvar_vmas_bytes(areas));
	struct hvk_store *store;

	if (may_sleep)
		store = hvk_kvmalloc(bytes);
	else
		store = bytes <= PAGE_SIZE << 4 ? hvk_kmalloc(bytes, HVK_GFP) : NULL;
	if (store)
		store->bytes = bytes - sizeof(*store);
	return store;
}

static void hvk_store_free(struct hvk_store *store)
{
	if (store)
		kvfree_rcu(store, rcu);
}

static void hvk_store_use(struct hvk_space *s, struct hvk_store *store)
{
	hvar_vmas_moved(&s->vmas, store->mem, store->bytes);
	s->store = store;
}

/*
 * Megabytes are copied with interrupts on, and no lock held: meanwhile nobody changes the list (s->growing), and
 * look-ups read it where it was.
 */
static void hvk_space_move(struct hvk_space *s, struct hvk_store *store, u64 bytes)
{
	unsigned long flags;
	u64 at, n;

	for (at = 0; at < bytes; at += n) {
		n = min_t(u64, bytes - at, 256 << 10);
		memcpy(store->mem + at, s->store->mem + at, n);
		cond_resched();
	}
	raw_spin_lock_irqsave(&s->lock, flags);
	hvk_store_use(s, store);
	s->growing = false;
	raw_spin_unlock_irqrestore(&s->lock, flags);
}

/*
 * Make the list's storage larger, at least for @areas.  Returns 0, also if another thread does, -ENOMEM, or
 * -EAGAIN if only one who may sleep can.
 */
HVK_API int hvk_space_grow(struct hvk_space *s, u32 areas, bool may_sleep)
{
	struct hvk_store *store, *old;
	unsigned long flags;
	u32 n = READ_ONCE(s->vmas.n);
	bool mine;
	u64 bytes;

	if (areas < n + n / 2 + 32)
		areas = n + n / 2 + 32;
	if (areas > HVK_MAX_AREAS) {
		if (n >= HVK_MAX_AREAS / 2)
			return -ENOMEM;
		areas = HVK_MAX_AREAS;
	}
	store = hvk_store_new(areas, may_sleep);
	if (!store)
		return may_sleep ? -ENOMEM : -EAGAIN;
	raw_spin_lock_irqsave(&s->lock, flags);
	old = s->store;
	bytes = s->vmas.size;
	mine = !s->growing && store->bytes > old->bytes;
	if (mine && may_sleep) {
		s->growing = true;
	} else if (mine) {
		memcpy(store->mem, old->mem, bytes); /* some ten pages */
		hvk_store_use(s, store);
	}
	raw_spin_unlock_irqrestore(&s->lock, flags);
	if (mine && may_sleep)
		hvk_space_move(s, store, bytes);
	hvk_store_free(mine ? old : store);
	return 0;
}

/*
 * Something of @s could not be kept, for want of memory: it is to be looked at as a whole, soon, and
 * ever later as long as there is none.  A look that succeeds resets the pause.
 */
HVK_API void hvk_space_behind(struct hvk_space *s)
{
	unsigned long pause = clamp_t(unsigned long, READ_ONCE(s->pause) * 2, 1, 2 * HZ);

	WRITE_ONCE(s->pause, pause);
	WRITE_ONCE(s->again, jiffies + pause);
	WRITE_ONCE(s->behind, true);
}

static void hvk_space_free(struct hvk_space *s)
{
	hvk_store_free(s->store);
	if (s->mm)
		mmdrop(s->mm);
	kfree_rcu(s, rcu);
}

/* Give back one reference; the last one ends the space. */
HVK_API void hvk_space_put(struct hvk_space *s)
{
	unsigned long flags;
	bool last;

	raw_spin_lock_irqsave(&hvk_lock, flags);
	last = atomic_dec_and_test(&s->refs);
	if (last) {
		hlist_del_rcu(&s->node);
		hvk_n_spaces--;
	}
	raw_spin_unlock_irqrestore(&hvk_lock, flags);
	if (last)
		hvk_space_free(s);
}

/* The space of @mm, a reference more, or NULL. */
static struct hvk_space *hvk_space_ref(const struct mm_struct *mm)
{
	struct hvk_space *s;
	unsigned long flags;

	raw_spin_lock_irqsave(&hvk_lock, flags);
	s = hvk_space_find(mm);
	if (s)
		atomic_inc(&s->refs);
	raw_spin_unlock_irqrestore(&hvk_lock, flags);
	return s;
}

/*
 * The space of @mm, which is current's, with a reference for the caller; *@fresh says
 * that it is new and empty.  NULL if there is no memory.
 */
HVK_API struct hvk_space *hvk_space_get(struct mm_struct *mm, bool *fresh)
{
	struct hvk_space *s = hvk_space_ref(mm), *other;
	unsigned long flags;

	*fresh = false;
	if (s)
		return s;
	s = hvk_kmalloc(sizeof(*s), HVK_GFP | __GFP_ZERO);
	if (s)
		s->store = hvk_store_new(HVK_FIRST_AREAS, false);
	if (!s || !s->store) {
		kfree(s);
		hvk_lose(HVK_LOST_SPACES);
		return NULL;
	}
	raw_spin_lock_init(&s->lock);
	hvar_vmas_init(&s->vmas, s->store->mem, s->store->bytes);
	s->exec_id = current->self_exec_id;
	s->since = ktime_get_ns();
	s->id = atomic_inc_return(&hvk_space_ids);
	atomic_set(&s->refs, 1);
	mmgrab(mm);
	s->mm = mm;
	raw_spin_lock_irqsave(&hvk_lock, flags);
	other = hvk_space_find(mm);
	if (other) {
		atomic_inc(&other->refs);
	} else if (hvk_n_spaces < HVK_MAX_SPACES) {
		hlist_add_head_rcu(&s->node, hvk_space_bucket(mm));
		hvk_n_spaces++;
		other = s;
		*fresh = true;
	}
	raw_spin_unlock_irqrestore(&hvk_lock, flags);
	if (other != s)
		hvk_space_free(s);
	if (!other)
		hvk_lose(HVK_LOST_SPACES);
	return other;
}

/* Make the empty @s a copy of @from as it is now: a fork.  Returns 0, -ENOMEM or -EAGAIN. */
HVK_API int hvk_space_copy(struct hvk_space *s, struct hvk_space *from, bool may_sleep)
{
	unsigned long flags;
	int err = 0, tries;

	for (tries = 0; tries < 8; tries++) {
		if (READ_ONCE(from->vmas.size) > s->store->bytes)
			err = hvk_space_grow(s, READ_ONCE(from->vmas.cap), may_sleep);
		if (err)
			return err;
		/* A child is newer than its parent: the two locks are always taken in this order. */
		raw_spin_lock_irqsave(&from->lock, flags);
		raw_spin_lock_nested(&s->lock, SINGLE_DEPTH_NESTING);
		err = from->vmas.size <= s->store->bytes ? 0 : -EAGAIN;
		if (!err) {
			s->vmas = from->vmas;
			memcpy(s->store->mem, from->store->mem, from->vmas.size);
			hvar_vmas_moved(&s->vmas, s->store->mem, s->store->bytes);
			s->pages = from->pages;
			s->brk = from->brk;
			s->parent_seq = from->seq;
			s->stack_vm = from->stack_vm;
			s->heap = from->heap;
			s->stack = from->stack;
			/* What it does not know of its parent it had, too, when it began. */
			s->begun = from->begun;
		}
		raw_spin_unlock(&s->lock);
		raw_spin_unlock_irqrestore(&from->lock, flags);
		if (!err)
			return 0;
		err = 0;
	}
	return -EAGAIN;
}

/* At the end only: what thread records did not give back. */
HVK_API void hvk_spaces_free(void)
{
	struct hlist_node *next;
	struct hvk_space *s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hvk_spaces); i++) {
		hlist_for_each_entry_safe(s, next, &hvk_spaces[i], node)
			hvk_space_free(s);
		hvk_spaces[i].first = NULL;
	}
	hvk_n_spaces = 0;
}
