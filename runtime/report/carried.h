/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * carried.h - what a recording carries of names that could only be found where it was made: as "key=value" facts.
 *
 *	tls.3.17=4096			in address space 3 the thread-local block of module 17 is 4096 bytes below the thread pointer
 *	tlsat.3.17=7f0000001000+64	there it has a block, of whatever thread (tls_seen.h)
 *	local.17.11d5.-48.0.5=...	what code of module 17 accesses on its stack (frames.h)
 */
#ifndef CARRIED_H
#define CARRIED_H

#include <stdbool.h>
#include <stddef.h>

#include "variables.h"

enum { CARRIED_TEXT = 160 };

/* Is the fact whose key is the first @n bytes of @text one of these?  Then it is taken in. */
bool carried_take(struct variables *v, const struct images *images, const char *text, size_t n, const char *value);

/* The next one that was found since the last call, maybe in @buf; good until the next call; NULL: none. */
const char *carried_fresh(struct variables *v, char buf[CARRIED_TEXT]);

#endif /* CARRIED_H */
