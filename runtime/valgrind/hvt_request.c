// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_request.h"

#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"

#include "hvt_line.h"
#include "hvt_link.h"
#include "hvt_shadow.h"
#include "runtime/valgrind/hotvar.h"

enum { NAME_MAX_ = 255 };

static Bool stopped;

/* Named memory, by address, none overlapping. */
static struct named {
	Addr start, end;
} *names;
static UInt n_names, cap_names;

/* ---- telling ---- */

static void tell(UInt type, UInt flags, Addr start, Addr end, const HChar *text)
{
	struct hvt_message m;

	VG_(memset)(&m, 0, sizeof(m));
	m.type = type;
	m.flags = flags;
	m.start = start;
	m.end = end;
	hvt_link_send(&m, text, text ? VG_(strlen)(text) : 0);
}

/* The program's string at @from, which may be anything: as much of it as can be read. */
static void copy_name(HChar to[NAME_MAX_ + 1], Addr from)
{
	UInt i;

	for (i = 0; i < NAME_MAX_; i++) {
		if ((i == 0 || !((from + i) & (VKI_PAGE_SIZE - 1))) &&
		    !VG_(am_is_valid_for_client)(from + i, 1, VKI_PROT_READ))
			break;
		to[i] = *(const HChar *)(from + i);
		if (!to[i])
			return;
	}
	to[i] = '\0';
}

/* ---- named memory ---- */

/* The first that ends above @addr. */
static UInt upto(Addr addr)
{
	UInt lo = 0, hi = n_names;

	while (lo < hi) {
		UInt mid = lo + (hi - lo) / 2;

		if (names[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

Bool hvt_request_named(Addr addr)
{
	UInt i = n_names ? upto(addr) : 0;

	return i < n_names && names[i].start <= addr;
}

static void insert(UInt at, Addr start, Addr end)
{
	if (n_names == cap_names) {
		cap_names = cap_names ? 2 * cap_names : 64;
		names = VG_(realloc)("hotvar.names", names, cap_names * sizeof(*names));
	}
	VG_(memmove)(&names[at + 1], &names[at], (n_names - at) * sizeof(*names));
	names[at] = (struct named){ start, end };
	n_names++;
}

void hvt_request_forget(Addr start, Addr end)
{
	UInt i;

	if (!n_names)
		return;
	i = upto(start);
	while (i < n_names && names[i].start < end) {
		struct named was = names[i];

		VG_(memmove)(&names[i], &names[i + 1], (n_names - i - 1) * sizeof(*names));
		n_names--;
		if (was.start < start)
			insert(i++, was.start, start);
		if (was.end > end)
			insert(i++, end, was.end);
	}
}

/* Counters are of 8 bytes: those of what lies beside are sent as well, which does no harm. */
static void take(Addr start, Addr end)
{
	hvt_shadow_take(start & ~7UL, (end + 7) & ~7UL);
}

static void name(Addr start, SizeT size, Addr text)
{
	HChar copied[NAME_MAX_ + 1];
	Addr end = start + size;

	if (!size || end < start || end > HVT_PLANE_SIZE)
		return;
	copy_name(copied, text);
	if (!copied[0])
		return;
	take(start, end);
	hvt_request_forget(start, end);
	insert(upto(start), start, end);
	tell(HVT_NAME, 0, start, end, copied);
}

static void end_name(Addr start)
{
	UInt i = upto(start);
	struct named was;

	if (i == n_names || names[i].start != start)
		return;
	was = names[i];
	take(was.start, was.end);
	hvt_request_forget(was.start, was.end);
	tell(HVT_NAME, 0, was.start, was.end, NULL);
}

/* ---- requests ---- */

static void count(Bool on)
{
	if (stopped == !on)
		return;
	hvt_shadow_take_all();
	stopped = !on;
	hvt_line_stop(stopped);
	tell(HVT_COUNTING, on, 0, 0, NULL);
}

static Bool request(ThreadId tid, UWord *words, UWord *answer)
{
	HChar copied[NAME_MAX_ + 1];

	(void)tid;
	*answer = 0;
	switch (words[0]) {
	case HOTVAR_REQUEST_START:
	case HOTVAR_REQUEST_STOP:
		count(words[0] == HOTVAR_REQUEST_START);
		return True;
	case HOTVAR_REQUEST_PHASE:
		copy_name(copied, words[1]);
		hvt_shadow_take_all();
		tell(HVT_PHASE, 0, 0, 0, copied);
		return True;
	case HOTVAR_REQUEST_REGION:
		name(words[1], words[2], words[3]);
		return True;
	case HOTVAR_REQUEST_REGION_END:
		end_name(words[1]);
		return True;
	case HOTVAR_REQUEST_COUNTING:
		*answer = !stopped;
		return True;
	default:
		return False;
	}
}

void hvt_request_begin(Bool first)
{
	stopped = first;
	hvt_line_stop(stopped);
	if (stopped)
		tell(HVT_COUNTING, 0, 0, 0, NULL);
}

Bool hvt_request_stopped(void)
{
	return stopped;
}

void hvt_request_init(void)
{
	VG_(needs_client_requests)(request);
}
