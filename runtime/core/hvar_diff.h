/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_diff.h - two views of a range -> events, and events -> the list again.
 *
 * A host that can only look (/proc, PROCMAP_QUERY, the kernel's VMA iterator)
 * hands what it saw of the affected range to hvar_diff(); whatever reads events
 * keeps its own list with hvar_apply().  Applying what hvar_diff() tells always
 * gives the list that was seen.
 */
#ifndef HVAR_DIFF_H
#define HVAR_DIFF_H

#include "hvar_env.h"
#include "hvar_event.h"
#include "hvar_vmas.h"

/* Takes one event; what it points at is good during the call only. */
typedef void (*hvar_emit_fn)(void *ctx, const struct hvar_event *e);

/*
 * @seen, @n areas sorted and disjoint, is all that is mapped in [@lo, @hi) now;
 * areas that reach over its ends are clipped here.  Bring @m up to it and tell
 * each difference to @emit, first what is gone, then the rest, each by address,
 * with the time, ids and cause of @base:
 *
 *	UNMAP	these bytes are gone: a whole area, or the middle of one
 *	SHRINK	one end of an area is gone
 *	MAP	these bytes are new: an area, or what joins two into one
 *	GROW	they are new and join one area, whose end has moved
 *	PROTECT	the same memory (module, offset, origin, shared or not) has another
 *		prot, label ([heap], [stack], jit) or flags; only those bytes
 *
 * Other memory in place of old is first gone, then new.  With type
 * HVAR_EVENT_INITIAL in @base, new bytes are told as INITIAL, never as MAP or GROW.
 *
 * Returns 0, -EINVAL if @seen is not sorted, disjoint and non-empty entry by entry
 * (nothing changed, nothing told), or -ENOSPC if @m ran out of room: what was
 * told is in @m, call again with more room for the rest.
 */
HVAR_API int hvar_diff(struct hvar_vmas *m, uint64_t lo, uint64_t hi,
		       const struct hvar_vma *seen, uint32_t n,
		       const struct hvar_event *base, hvar_emit_fn emit, void *ctx);

/* Event @type of area @v, with the time, ids and cause of @base; @old is what it was, or NULL. */
HVAR_API void hvar_diff_event(const struct hvar_event *base, uint32_t type,
			      const struct hvar_vma *v, const struct hvar_vma *old,
			      struct hvar_event *out);

/*
 * Do to @m what @e says (INITIAL MAP UNMAP PROTECT MOVE GROW SHRINK; any other
 * type changes nothing).  Returns 0, -EINVAL for an impossible range, or -ENOSPC
 * with only @m->lost changed.
 */
HVAR_API int hvar_apply(struct hvar_vmas *m, const struct hvar_event *e);

#endif /* HVAR_DIFF_H */
