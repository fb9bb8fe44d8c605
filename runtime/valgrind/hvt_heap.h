/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_heap.h - the objects that there are on the heap, and what was done with each.
 *
 * All work is done when an object comes and goes: then its counters are taken out of the
 * shadow memory and added to its site's.  Nothing is held back when it goes: its memory may be another object's at
 * once.
 */
#ifndef HVT_HEAP_H
#define HVT_HEAP_H

#include "pub_tool_basics.h"

#include "hvt_wire.h"

struct hvt_heap_object {
	Addr start;
	SizeT size;
	UInt site;
	Bool old; /* this process has it from its parent */
	Bool mapped; /* by mmap(), no object of malloc()'s */
	Bool rest;   /* what is left of a mapping behind what went: its first page counts for the whole */
};

/* There is an object now, which @tid has asked for. */
void hvt_heap_begin(ThreadId tid, Addr start, SizeT size);

/* The program has mapped [@start, @end), which no file is behind: that is an object, too. */
void hvt_heap_map(ThreadId tid, Addr start, Addr end);

/* The object that begins at @start into *@o; False: none does. */
Bool hvt_heap_find(Addr start, struct hvt_heap_object *o);

/* It goes: what was counted in it is its site's. */
void hvt_heap_end(const struct hvt_heap_object *o);

/* Does Valgrind's malloc stand in for the program's?  Then accesses of more than 8 bytes leave marks. */
extern Bool hvt_heap_on;

/* @v was counted at @addr in @slot and is to be taken out.  True: that is in an object, to whose site it was added. */
Bool hvt_heap_counted(UInt slot, Addr addr, const struct hvt_pair *v);

/* The kernel has accessed [@start, @end) for the program; with @text, all up to the next 0 byte. */
void hvt_heap_kernel(Bool write, Addr start, Addr end, Bool text);

/* [@start, @end), whose counts have been taken out, is unmapped, or mapped anew. */
void hvt_heap_remapped(Addr start, Addr end);

/* After a fork, in the child, whose memfd is new; @from is the parent's. */
void hvt_heap_forked(Int from);

/* The object that holds @addr into *@o; False: none does. */
Bool hvt_heap_around(Addr addr, struct hvt_heap_object *o);

/* Is there an object at @addr? */
Bool hvt_heap_has(Addr addr);

#endif /* HVT_HEAP_H */
