// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvar_call_apply.c - what a mapping call did, by its arguments and result alone.
 *
 * Each call is first judged (do arguments, result and list tell it all?) and only
 * then done, so -EOPNOTSUPP has changed nothing.  After -ENOSPC the same call can be
 * made again and goes on where it stopped; what could not go on asks for room first.
 *
 * [heap] and [stack] are names that the kernel prints by position, over all that
 * has merged with what lies there: what touches them is for a look to tell.
 */
#include "hvar_call.h"
#include "hvar_call_abi.h"

/* One hvar_call_apply() under way. */
struct hvar_call_job {
	struct hvar_vmas *m;
	const struct hvar_call *c;
	uint64_t brk;
	const struct hvar_vma *file;
	const struct hvar_event *base;
	hvar_emit_fn emit;
	void *ctx;
};

/* [@start, @end) is one area like @as now, or a hole. */
static int hvar_call_put(const struct hvar_call_job *j, uint64_t start, uint64_t end,
			 const struct hvar_vma *as)
{
	struct hvar_vma v;

	if (start >= end)
		return 0;
	if (!as)
		return hvar_diff(j->m, start, end, NULL, 0, j->base, j->emit, j->ctx);
	v = *as;
	v.start = start;
	v.end = end;
	return hvar_diff(j->m, start, end, &v, 1, j->base, j->emit, j->ctx);
}

/* Is there room for @n areas more? */
static int hvar_call_room(const struct hvar_call_job *j, uint64_t n)
{
	if (hvar_vmas_room(j->m) >= n)
		return 0;
	j->m->lost++;
	return -ENOSPC;
}

static bool hvar_call_labelled(const struct hvar_vma *v)
{
	return v->region == HVAR_REGION_HEAP || v->region == HVAR_REGION_STACK;
}

/* Does [@start, @end) hold a part of [heap] or [stack]? */
static bool hvar_call_in_label(const struct hvar_call_job *j, uint64_t start,
			       uint64_t end)
{
	const struct hvar_vma *v;

	for (v = hvar_vmas_next(j->m, start); v && v->start < end;
	     v = hvar_vmas_next(j->m, v->end))
		if (hvar_call_labelled(v))
			return true;
	return false;
}

/*
 * Can anonymous memory at [@start, @end) get a label, by merging or, in a hole of
 * the heap, by where it lies?  Below the break it can; unknown, the break may be anywhere.
 */
static bool hvar_call_by_label(const struct hvar_call_job *j, uint64_t start,
			       uint64_t end)
{
	const struct hvar_vma *below = hvar_vmas_prev(j->m, start);
	const struct hvar_vma *above = hvar_vmas_next(j->m, end);

	if (above && above->region == HVAR_REGION_HEAP)
		return true;
	if (above && above->start == end && hvar_call_labelled(above))
		return true;
	if (!below || !hvar_call_labelled(below))
		return false;
	return below->end >= start ||
	       (below->region == HVAR_REGION_HEAP &&
		(!j->brk || start < HVAR_PAGE_UP(j->brk)));
}

/* May [@start, @end) become, or be, an area like @as that no label covers? */
static bool hvar_call_plain(const struct hvar_call_job *j, uint64_t start,
			    uint64_t end, const struct hvar_vma *as)
{
	if (hvar_call_in_label(j, start, end))
		return false;
	return as->module || as->prot & HVAR_PROT_SHARED ||
	       !hvar_call_by_label(j, start, end);
}

/* Does the personality make this call's protection another one? */
static bool hvar_call_implies(const struct hvar_call *c, uint64_t prot)
{
	return c->personality & HVAR_READ_IMPLIES_EXEC && prot & HVAR_PROT_READ;
}

static uint8_t hvar_call_prot(uint64_t prot)
{
	return prot & (HVAR_PROT_READ | HVAR_PROT_WRITE | HVAR_PROT_EXEC);
}

/* End of [@start, @start + @len) in whole pages, 0 if there is no such range. */
static uint64_t hvar_call_end(uint64_t start, uint64_t len)
{
	uint64_t end = HVAR_PAGE_UP(start + len);

	if (!len || start & HVAR_PAGE_MASK || start + len < start || end <= start)
		return 0;
	return end;
}

/* Could it be a mapping of huge pages, whose size the kernel has rounded up? */
static bool hvar_call_maybe_huge(uint64_t start, uint64_t len)
{
	return !(start & (HVAR_CALL_2M - 1)) && len & (HVAR_CALL_2M - 1);
}

static int hvar_call_mmap(const struct hvar_call_job *j)
{
	const struct hvar_call *c = j->c;
	uint64_t start = c->ret, len = c->args[1], flags = c->args[3];
	uint64_t end = hvar_call_end(start, len);
	struct hvar_vma as;

	if (!end || hvar_call_implies(c, c->args[2]) ||
	    flags & (HVAR_MAP_HUGETLB | HVAR_MAP_GROWSDOWN))
		return -EOPNOTSUPP;
	memset(&as, 0, sizeof(as));
	if (!(flags & HVAR_MAP_ANONYMOUS)) {
		if (!j->file || hvar_call_maybe_huge(start, len))
			return -EOPNOTSUPP;
		as = *j->file;
		as.pgoff = c->args[5];
	} else {
		as.region = HVAR_REGION_ANON;
	}
	as.prot = hvar_call_prot(c->args[2]);
	switch (flags & HVAR_MAP_TYPE) {
	case HVAR_MAP_PRIVATE:
		break;
	case HVAR_MAP_SHARED:
	case HVAR_MAP_SHARED_VALIDATE:
		/* Shared anonymous memory is a file that only a look can name. */
		if (flags & HVAR_MAP_ANONYMOUS)
			return -EOPNOTSUPP;
		as.prot |= HVAR_PROT_SHARED;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!hvar_call_plain(j, start, end, &as))
		return -EOPNOTSUPP;
	return hvar_call_put(j, start, end, &as);
}

static int hvar_call_munmap(const struct hvar_call_job *j)
{
	uint64_t start = j->c->args[0], end = hvar_call_end(start, j->c->args[1]);

	if (!end || hvar_call_in_label(j, start, end))
		return -EOPNOTSUPP;
	return hvar_call_put(j, start, end, NULL);
}

/* What the listed bytes from @pos become under @prot: one area, up to @end at most. */
static bool hvar_call_protected(const struct hvar_call_job *j, uint64_t pos,
				uint64_t end, uint8_t prot, struct hvar_vma *out)
{
	const struct hvar_vma *v = hvar_vmas_find(j->m, pos);
	struct hvar_vma next;

	if (!v)
		return false;
	out->start = pos;
	hvar_vma_at(v, pos, out);
	for (;;) {
		out->prot = (v->prot & HVAR_PROT_SHARED) | prot;
		out->end = v->end < end ? v->end : end;
		v = out->end < end ? hvar_vmas_find(j->m, out->end) : NULL;
		if (!v)
			return true;
		next = *v;
		next.prot = (v->prot & HVAR_PROT_SHARED) | prot;
		if (!hvar_vma_joins(out, &next))
			return true;
	}
}

static int hvar_call_mprotect(const struct hvar_call_job *j)
{
	uint64_t start = j->c->args[0], prot = j->c->args[2];
	uint64_t end = hvar_call_end(start, j->c->args[1]), pos;
	struct hvar_vma as;
	int err = 0;

	if (!end || hvar_call_implies(j->c, prot) ||
	    prot & (HVAR_PROT_GROWSDOWN | HVAR_PROT_GROWSUP))
		return -EOPNOTSUPP;
	/* It succeeded, so there is no hole; or the list is not up to date. */
	for (pos = start; pos < end; pos = as.end)
		if (!hvar_call_protected(j, pos, end, hvar_call_prot(prot), &as) ||
		    !hvar_call_plain(j, pos, as.end, &as))
			return -EOPNOTSUPP;
	for (pos = start; !err && pos < end; pos = as.end) {
		hvar_call_protected(j, pos, end, hvar_call_prot(prot), &as);
		err = hvar_call_put(j, pos, as.end, &as);
	}
	return err;
}

static int hvar_call_brk(const struct hvar_call_job *j)
{
	uint64_t was = HVAR_PAGE_UP(j->brk), now = HVAR_PAGE_UP(j->c->ret);
	const struct hvar_vma *v;
	struct hvar_vma as;

	/* A question, or refused: then the old break is returned. */
	if (!j->c->args[0] || (uint64_t)j->c->ret != j->c->args[0])
		return 0;
	if (!j->brk || j->c->personality & HVAR_READ_IMPLIES_EXEC)
		return -EOPNOTSUPP;
	if (now == was)
		return 0;
	if (now < was) {
		/* What remains may be a part that only merging had made [heap]. */
		v = hvar_vmas_prev(j->m, now);
		if (v && v->end >= now)
			return -EOPNOTSUPP;
		v = hvar_vmas_next(j->m, was);
		if (v && v->start <= was)
			return -EOPNOTSUPP;
		return hvar_call_put(j, now, was, NULL);
	}
	memset(&as, 0, sizeof(as));
	as.region = HVAR_REGION_HEAP;
	as.prot = HVAR_PROT_READ | HVAR_PROT_WRITE;
	/* Below may be .bss, which becomes [heap] with it, or heap of another making. */
	v = hvar_vmas_prev(j->m, was);
	if (v && (v->end > was ||
		  (v->end == was && !v->module &&
		   (v->region != HVAR_REGION_HEAP || v->prot != as.prot))))
		return -EOPNOTSUPP;
	v = hvar_vmas_next(j->m, was);
	if (v && v->start <= now)
		return -EOPNOTSUPP;
	return hvar_call_put(j, was, now, &as);
}

/*
 * Private /dev/zero is anonymous memory that has a file: moved before it was touched,
 * its offset becomes its address (copy_vma() of Linux), and nothing tells.
 */
static bool hvar_call_rebased(const struct hvar_vma *v)
{
	return v->module && (v->region == HVAR_REGION_ANON ||
			     v->region == HVAR_REGION_JIT);
}

/* The part of the listed areas from @from on that moves as one, into @out. */
static bool hvar_call_piece(const struct hvar_call_job *j, uint64_t from, uint64_t end,
			    struct hvar_vma *out)
{
	const struct hvar_vma *v = hvar_vmas_next(j->m, from);

	if (!v || v->start >= end || from >= end)
		return false;
	out->start = v->start < from ? from : v->start;
	out->end = v->end < end ? v->end : end;
	hvar_vma_at(v, out->start, out);
	return true;
}

/* @v, which lies where it was, is now at @to; or, as @keep says, there too. */
static int hvar_call_move(const struct hvar_call_job *j, const struct hvar_vma *v,
			  uint64_t to, uint64_t len, bool keep)
{
	struct hvar_vma there = *v;
	struct hvar_event e;
	int err;

	there.start = to;
	there.end = to + len;
	if (keep)
		return hvar_call_put(j, there.start, there.end, &there);
	err = hvar_call_put(j, there.start, there.end, NULL);
	if (err)
		return err;
	hvar_diff_event(j->base, HVAR_EVENT_MOVE, &there, v, &e);
	err = hvar_apply(j->m, &e);
	if (!err)
		j->emit(j->ctx, &e);
	return err;
}

/*
 * mremap() to elsewhere.  Since Linux 6.17 several areas may move at once, if they
 * keep their size: each keeps its distance, holes between them clear nothing.
 */
static int hvar_call_mremap_away(const struct hvar_call_job *j, uint64_t from,
				 uint64_t old_end, uint64_t to, uint64_t new_end)
{
	bool keep = j->c->args[3] & HVAR_MREMAP_DONTUNMAP;
	uint64_t pos, len, whole = new_end - to, pieces = 0;
	struct hvar_vma v;
	int err;

	if (to < old_end && from < new_end)
		return -EOPNOTSUPP;
	if (!hvar_call_piece(j, from, old_end, &v) || v.start != from ||
	    (whole != old_end - from && v.end != old_end))
		return -EOPNOTSUPP;
	for (pos = from; hvar_call_piece(j, pos, old_end, &v); pos = v.end, pieces++) {
		len = old_end - from == whole ? v.end - v.start : whole;
		if (hvar_call_labelled(&v) || hvar_call_rebased(&v) ||
		    !hvar_call_plain(j, to + (v.start - from),
				     to + (v.start - from) + len, &v))
			return -EOPNOTSUPP;
	}
	/* Each leaves a split where it was and makes two where it goes; hvar_apply() wants 4. */
	err = hvar_call_room(j, 3 * pieces + 4);
	for (pos = from; !err && hvar_call_piece(j, pos, old_end, &v); pos = v.end) {
		len = old_end - from == whole ? v.end - v.start : whole;
		err = hvar_call_move(j, &v, to + (v.start - from), len, keep);
	}
	return err;
}

/* An old length of 0 maps shared memory once more: from there on, also past the end of its area. */
static int hvar_call_mremap_again(const struct hvar_call_job *j, uint64_t from,
				  uint64_t to, uint64_t new_end)
{
	const struct hvar_vma *v = hvar_vmas_find(j->m, from);
	struct hvar_vma as;
	int err;

	if (!v || !(v->prot & HVAR_PROT_SHARED) || j->c->args[3] & HVAR_MREMAP_DONTUNMAP ||
	    !hvar_call_plain(j, to, new_end, v))
		return -EOPNOTSUPP;
	as = *v;
	hvar_vma_at(v, from, &as);
	err = hvar_call_room(j, 2);
	return err ? err : hvar_call_put(j, to, new_end, &as);
}

static int hvar_call_mremap(const struct hvar_call_job *j)
{
	const struct hvar_call *c = j->c;
	uint64_t from = c->args[0], to = c->ret;
	uint64_t old_end = hvar_call_end(from, c->args[1]);
	uint64_t new_end = hvar_call_end(to, c->args[2]);
	const struct hvar_vma *v;
	struct hvar_vma as;

	if (!c->args[1])
		old_end = hvar_call_end(from, c->args[2]);
	/* Huge pages have a file, and all addresses are multiples of their size. */
	v = hvar_vmas_find(j->m, from);
	if (!old_end || !new_end ||
	    (v && v->module && hvar_call_maybe_huge(from | to | v->start | v->end,
						    c->args[1] | c->args[2])))
		return -EOPNOTSUPP;
	if (from != to && !c->args[1])
		return hvar_call_mremap_again(j, from, to, new_end);
	if (from != to)
		return hvar_call_mremap_away(j, from, old_end, to, new_end);
	if (!c->args[1])
		return -EOPNOTSUPP;
	if (new_end <= old_end) {
		if (hvar_call_in_label(j, new_end, old_end))
			return -EOPNOTSUPP;
		return hvar_call_put(j, new_end, old_end, NULL);
	}
	v = hvar_vmas_find(j->m, old_end - 1);
	if (!v || v->start > from || hvar_call_labelled(v))
		return -EOPNOTSUPP;
	as = *v;
	hvar_vma_at(v, old_end, &as);
	if (!hvar_call_plain(j, old_end, new_end, &as))
		return -EOPNOTSUPP;
	return hvar_call_put(j, old_end, new_end, &as);
}

/* The pages of a shared file at other places of it: mm/mmap.c of Linux, by mmap(). */
static int hvar_call_remap_file_pages(const struct hvar_call_job *j)
{
	const struct hvar_call *c = j->c;
	uint64_t start = HVAR_PAGE_DOWN(c->args[0]);
	uint64_t end = hvar_call_end(start, HVAR_PAGE_DOWN(c->args[1]));
	const struct hvar_vma *v = hvar_vmas_find(j->m, start);
	struct hvar_vma as;
	int err;

	if (!end || !v || !v->module || !(v->prot & HVAR_PROT_SHARED) ||
	    hvar_call_maybe_huge(start, end - start))
		return -EOPNOTSUPP;
	as = *v;
	as.pgoff = c->args[3] << HVAR_PAGE_SHIFT;
	err = hvar_call_room(j, 2);
	return err ? err : hvar_call_put(j, start, end, &as);
}

HVAR_API int hvar_call_apply(struct hvar_vmas *m, const struct hvar_call *c,
			     uint64_t brk, const struct hvar_vma *file,
			     const struct hvar_event *base, hvar_emit_fn emit,
			     void *ctx)
{
	struct hvar_range r[3];
	struct hvar_call_job j;

	if (HVAR_CALL_FAILED(c->ret) && c->cause != HVAR_CAUSE_MADVISE)
		return hvar_call_ranges(c, brk, r) ? -EOPNOTSUPP : 0;
	j.m = m;
	j.c = c;
	j.brk = brk;
	j.file = file;
	j.base = base;
	j.emit = emit;
	j.ctx = ctx;
	switch (c->cause) {
	case HVAR_CAUSE_MMAP:
		return hvar_call_mmap(&j);
	case HVAR_CAUSE_MUNMAP:
		return hvar_call_munmap(&j);
	case HVAR_CAUSE_MREMAP:
		return hvar_call_mremap(&j);
	case HVAR_CAUSE_BRK:
		return hvar_call_brk(&j);
	case HVAR_CAUSE_MPROTECT:
	case HVAR_CAUSE_PKEY_MPROTECT:
		if (!c->args[1])
			return 0;
		return hvar_call_mprotect(&j);
	case HVAR_CAUSE_REMAP_FILE_PAGES:
		return hvar_call_remap_file_pages(&j);
	case HVAR_CAUSE_SHMAT:
	case HVAR_CAUSE_SHMDT:
	case HVAR_CAUSE_EXECVE:
	case HVAR_CAUSE_EXECVEAT:
		return -EOPNOTSUPP;
	case HVAR_CAUSE_PRCTL:
		return hvar_call_ranges(c, brk, r) ? -EOPNOTSUPP : 0;
	}
	return 0;
}
