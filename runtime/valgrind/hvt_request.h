/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_request.h - what the program says of itself, by the macros of hotvar.h.
 *
 * Counters go on counting while the program wants nothing counted: what they hold is thrown away then.  Before
 * counting stops or begins, a phase begins or memory gets or loses a name, all that was
 * counted is taken out, so it belongs to what was before.
 */
#ifndef HVT_REQUEST_H
#define HVT_REQUEST_H

#include "pub_tool_basics.h"

/* Ask Valgrind for the requests; before the program begins. */
void hvt_request_init(void);

/* The process begins: with @stopped nothing is counted until it asks for it. */
void hvt_request_begin(Bool stopped);

/* Is what is counted now thrown away? */
Bool hvt_request_stopped(void);

/* Has the memory at @addr a name of the program's? */
Bool hvt_request_named(Addr addr);

/* [@start, @end) is other memory now: it has no name. */
void hvt_request_forget(Addr start, Addr end);

#endif /* HVT_REQUEST_H */
