/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_confine.h - the process that reads other people's files gives up what it does not need for that.
 */
#ifndef STAP_CONFINE_H
#define STAP_CONFINE_H

#include "runtime/user/err.h"

/*
 * From here on the calling process, which is root's and has one thread, can read files and write to @out, and nothing
 * else: it is nobody, with the right to read whatever there is; it writes to no file, makes, renames and removes none;
 * begins no process and no program; has no network, no terminal, and no descriptors but *@fd and *@out, which get other
 * numbers; reaches no other process; has some minutes of processor time, and 16 GiB of memory.  It ends when its
 * parent @parent does.
 *
 * Returns 0, or -errno and @e: then it is not to read anything.
 */
int stap_confine(int *fd, int *out, int parent, struct err *e);

#endif /* STAP_CONFINE_H */
