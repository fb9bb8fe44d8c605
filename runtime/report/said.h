/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * said.h - what programs have said of themselves: names of memory, and the phase each process is in.
 *
 * Names and phases have numbers from 1 on; 0 is none.  A child has those of its parent, a program that is executed none.
 */
#ifndef SAID_H
#define SAID_H

#include <stdint.h>

#include "runtime/user/stream.h"

struct said;

struct said *said_new(void); /* NULL: no memory */
void said_free(struct said *s);

void said_name(struct said *s, const struct stream_name *r, size_t len);
void said_phase(struct said *s, const struct stream_phase *r, size_t len);
/* A map or task event: memory that is unmapped has no name. */
void said_event(struct said *s, const struct hvar_event *ev);

/* The name of the memory at @addr of address space @mm; up to *@until, if that is lower than it was, it is the same. */
uint32_t said_name_at(const struct said *s, uint32_t mm, uint64_t addr, uint64_t *until);
/* The phase that @mm is in. */
uint32_t said_phase_of(const struct said *s, uint32_t mm);

/* The text of a name or phase, "" for 0. */
const char *said_text(const struct said *s, uint32_t number);

/* Records for which there was no memory. */
uint64_t said_lost(const struct said *s);

#endif /* SAID_H */
