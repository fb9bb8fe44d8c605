/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_identity.h - which of the kernel's objects memory is that has no file, as that of System V has none, and what mmap() shares with the
 * processes that fork() makes.
 *
 * Valgrind knows no numbers of it; the kernel's own map of the process does.
 */
#ifndef HVT_IDENTITY_H
#define HVT_IDENTITY_H

#include "pub_tool_basics.h"

struct hvt_identity {
	ULong dev, ino, pgoff; /* of the byte that was asked for */
	Bool shared;
};

/* Of the mapping that has @at.  False: the map cannot be read, or has it not, or was read too much. */
Bool hvt_identity_of(Addr at, struct hvt_identity *out);

#endif /* HVT_IDENTITY_H */
