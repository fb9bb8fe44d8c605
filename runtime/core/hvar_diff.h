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
 * each difference to @emit, gone areas first, then by address: as UNMAP, MAP,
 * PROTECT (only prot differs), GROW and SHRINK (one area, one end moved), with the time, ids and
 * cause of @base.  With type HVAR_EVENT_INITIAL in @base, new areas are told as INITIAL.
 *
 * Returns 0, -EINVAL if @seen is not sorted, disjoint and non-empty entry by entry
 * (nothing changed, nothing told), or -ENOSPC if @m ran out of room: what was
 * told is in @m, call again with more room for the rest.
 */
HVAR_API int hvar_diff(struct hvar_vmas *m, uint64_t lo, uint64_t hi,
		       const struct hvar_vma *seen, uint32_t n,
		       const struct hvar_event *base, hvar_emit_fn emit, void *ctx);

/*
 * Do to @m what @e says (INITIAL MAP UNMAP PROTECT MOVE GROW SHRINK; any other
 * type changes nothing).  Returns 0, -EINVAL for an impossible range or -ENOSPC.
 */
HVAR_API int hvar_apply(struct hvar_vmas *m, const struct hvar_event *e);

#endif /* HVAR_DIFF_H */
