// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_stack.h"

#include "pub_tool_aspacemgr.h"

/* That much of struct pthread, which ends a thread's stack, each libc has; none has twice as much. */
#define TCB_SIZE 2048UL

static Bool is_clients(const NSegment *s)
{
	return s && (s->kind == SkAnonC || s->kind == SkFileC);
}

/* What libc's thread at @tcb, in memory up to @last, says of where its stack is: first byte and size, one beside the other. */
static Bool said_by(Addr tcb, Addr last, Addr *start, Addr *end)
{
	const Addr *w = (const Addr *)tcb;
	UInt i;

	for (i = 0; i + 1 < TCB_SIZE / sizeof(*w); i++) {
		*start = w[i];
		*end = w[i] + w[i + 1];
		if (*start < tcb && *end >= tcb + TCB_SIZE / 2 && *end <= tcb + 2 * TCB_SIZE && *end - 1 <= last &&
		    is_clients(VG_(am_find_nsegment)(*start)))
			return True;
	}
	return False;
}

Bool hvt_stack_of(Addr tcb, Bool surely, Addr *start, Addr *end)
{
	const NSegment *s = VG_(am_find_nsegment)(tcb);

	if (!is_clients(s) || !s->hasR || tcb % sizeof(Addr) || s->end - tcb < TCB_SIZE)
		return False;
	if (!said_by(tcb, s->end, start, end)) {
		if (surely)
			return False;
		*start = s->kind == SkAnonC ? s->start : tcb;
		*end = tcb + TCB_SIZE;
	}
	return True;
}
