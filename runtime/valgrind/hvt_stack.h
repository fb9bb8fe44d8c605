/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_stack.h - which memory is the stack of a thread, and no other's.
 *
 * The segment that it is in may be larger: Valgrind makes one of mappings that lie side by side, and a program may give a thread a piece
 * of any memory.
 */
#ifndef HVT_STACK_H
#define HVT_STACK_H

#include "pub_tool_basics.h"

/* The stack below @tcb, a pthread_t, with that, into [*@start, *@end).  False: that is no thread's; or @surely, and it does not say where. */
Bool hvt_stack_of(Addr tcb, Bool surely, Addr *start, Addr *end);

#endif /* HVT_STACK_H */
