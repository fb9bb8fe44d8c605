/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_map.h - changes of the program's memory map, from Valgrind's call-backs to hotvar.
 *
 * Before memory becomes other memory, what was counted in it is sent: an address
 * means one thing in each part of the stream.
 */
#ifndef HVT_MAP_H
#define HVT_MAP_H

#include "pub_tool_basics.h"

/* Ask Valgrind for its call-backs; before the program begins. */
void hvt_map_init(void);

/* Tell all that is mapped; when the first thread is about to begin. */
void hvt_map_initial(void);

/* Tell of [@start, @end), which Valgrind has got for the program's objects. */
void hvt_map_heap(Addr start, Addr end);

#endif /* HVT_MAP_H */
