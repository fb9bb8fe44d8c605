/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_copies.h - mended copies of stap's runtime, in the cache folder: which are kept.
 *
 * A copy is a folder stap-runtime-HASH.  Its time of change is when it was last given to a stap.  All functions take the open cache
 * folder, which nobody else writes to but other hotvars of the same user.
 */
#ifndef STAP_COPIES_H
#define STAP_COPIES_H

#include <stdbool.h>

enum {
	STAP_COPIES_KEPT = 4,		  /* those used last stay */
	STAP_COPIES_SEC = 24 * 60 * 60,	  /* of the others, those used within so many seconds */
	STAP_COPIES_MOST_SEC = 30 * STAP_COPIES_SEC, /* and none that was not used for so long */
};

/* Note that the copy @name is used; false: there is none, or it has just been removed. */
bool stap_copies_use(int cache, const char *name);

/* Remove the copies that are not kept, but never @used, and what a hotvar that was killed has left unfinished. */
void stap_copies_sweep(int cache, const char *used);

/* Remove the folder @name of @at and what is in it; links are not followed. */
void stap_copies_remove(int at, const char *name);

#endif /* STAP_COPIES_H */
