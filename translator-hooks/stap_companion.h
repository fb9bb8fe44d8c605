/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_companion.h - makes images of what the followed programs load while the script runs.
 *
 * The kernel asks again for an image that it missed whenever the folder of images has changed.  The companion looks at the
 * memory maps of the command of -c (the child of stapio) and its descendants, of the process of -x and its, and
 * of all that run a program that the script names; for a file it has not seen there it
 * makes the image.  It spends at most a fiftieth of its time on looking.
 *
 * It is no child of stap's, is in no group or session of others, holds none of their files, and ends with stap.
 */
#ifndef STAP_COMPANION_H
#define STAP_COMPANION_H

#include "stap_targets.h"

/*
 * Start it for the process that calls, which is about to become stap.  @t and its images are used in the
 * companion only from here on.  @all: look at every process.  Returns 0, or -errno and @e.
 */
int stap_companion_start(struct stap_targets *t, bool all, struct err *e);

#endif /* STAP_COMPANION_H */
