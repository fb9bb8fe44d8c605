/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spaces.h - the address spaces a stream tells of, as they are at its present record.
 *
 * The core's tasks and VMA lists with memory that grows.  A stream may be damaged in
 * meaning though whole in form (a task lost, one process told twice): what does not
 * fit is put right where that is possible, and counted where not.
 */
#ifndef SPACES_H
#define SPACES_H

#include <stdint.h>

#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_vmas.h"

struct spaces;

struct spaces *spaces_new(void); /* NULL: no memory */
void spaces_free(struct spaces *s);

/* Do what the map or task event @ev says; other types change nothing. */
void spaces_event(struct spaces *s, const struct hvar_event *ev);

/*
 * The areas of the address space that @ev happened in, NULL if none is known.
 * Good until the next spaces_event().  Notes that @ev's thread lives in it.
 */
const struct hvar_vmas *spaces_of(struct spaces *s, const struct hvar_event *ev);

/* Each address space that some task lives in, by number: one of its processes, and its areas. */
void spaces_each(const struct spaces *s,
		 void (*fn)(void *ctx, uint32_t mm, uint32_t pid, const struct hvar_vmas *vmas), void *ctx);

/* The areas of address space number @mm, NULL if none has it; the number that thread @tid lives in, or 0. */
const struct hvar_vmas *spaces_find(const struct spaces *s, uint32_t mm);
uint32_t spaces_number(const struct spaces *s, uint32_t tid);

/* Events that found no memory, and events that could not be true. */
uint64_t spaces_lost(const struct spaces *s);
uint64_t spaces_misfits(const struct spaces *s);

#endif /* SPACES_H */
