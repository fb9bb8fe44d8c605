/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_map.h - changes of the memory map of a process under the Valgrind tool, and pages that it touched: to events.
 */
#ifndef EXACT_MAP_H
#define EXACT_MAP_H

#include "exact_process.h"

/* An event of @p's that has everything but what it is of. */
struct hvar_event exact_event(const struct exact_process *p, uint32_t type, uint32_t tid, uint32_t cause, uint64_t time_ns);

/* The messages of these types (hvt_wire.h), whose ranges are whole pages; @text may be changed.  0, -EINVAL or -ENOMEM. */
int exact_map_map(struct exact *x, struct exact_process *p, const struct hvt_message *m, char *text, uint64_t time_ns);
int exact_map_unmap(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns);
int exact_map_protect(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns);
int exact_map_copy(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns);

/* What is mapped of [@begin, @stop) has been touched so (enum hvt_touched). */
void exact_map_touched(struct exact *x, struct exact_process *p, uint32_t what, uint64_t begin, uint64_t stop,
		       uint64_t time_ns);

/* Likewise the page of @addr, whose counter was found at the end: the tool has not told of it. */
void exact_map_found(struct exact *x, struct exact_process *p, uint64_t addr, uint32_t what, uint64_t time_ns);

#endif /* EXACT_MAP_H */
