/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_pages.h - which pages of the counters have memory, without asking the kernel each time.
 *
 * A page of the memfd that nothing was counted in has no memory, and would get some if it
 * were only read.  Instrumented code makes pages without our knowing; but their
 * number, which is one system call, tells whether any have come.  What is known
 * to have memory has it until it is punched; what is known to have none has none until the number changes.
 */
#ifndef HVT_PAGES_H
#define HVT_PAGES_H

#include "pub_tool_basics.h"

#include "hvt_wire.h"

/* A page of the program's memory: bit P of planes[S] says that the page of its counters in slot S, plane P has memory. */
struct hvt_page {
	ULong generation, checked; /* private */
	UChar planes[HVT_SLOTS];
};

/* To be called before a look, once the program may have run since the last one. */
void hvt_pages_refresh(void);

/*
 * What there is for the program's page @page (address / 4096); NULL if none of its counters has memory, and then *@next, if
 * that is not NULL, is the first page after it that may have some.
 */
const struct hvt_page *hvt_pages_of(UWord page, UWord *next);

/* Have the marks of address @addr memory?  If not, *@next is the first address after it whose marks may have some. */
Bool hvt_pages_mark(Bool write, Addr addr, Addr *next);

/* Pages have been given back. */
void hvt_pages_punched(void);

#endif /* HVT_PAGES_H */
