/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look.h - what is mapped in an address space at this moment.
 *
 * By the ioctl PROCMAP_QUERY (Linux 6.11), one area a question whatever their
 * number, or by reading /proc/PID/maps from its start.  What is handed on is
 * sorted and disjoint, although neither way is atomic while the process runs.
 */
#ifndef LOOK_H
#define LOOK_H

#include <stdbool.h>
#include <sys/types.h>

#include "mapstext.h"

/*
 * A window on one address space: it stays with that one when the process
 * executes another program, and shows nothing once that one is gone.
 */
struct look {
	int fd; /* of /proc/TID/maps, or -1 */
};

/* Areas seen; v[i].path points into text.  All zero at first. */
struct look_areas {
	struct mapstext *v;
	size_t n, cap;
	char *text;
	size_t used, size;
	uint64_t torn; /* reads that caught the list in motion and had to be repaired */
};

/* Open the window through thread @tid.  Returns 0, -ESRCH or -errno (EACCES, EMFILE). */
int look_open(struct look *l, pid_t tid);
void look_close(struct look *l);

/*
 * The areas that reach into [@lo, @hi), whole, into @out, in place of what was there.
 * Good until the next look into the same @out.  Nothing above the middle of the address space is
 * seen but by a look at everything (0, ~0), which is a read of the file.
 *
 * Returns 0, -ESRCH if the address space is gone, or -errno.
 */
int look_at(const struct look *l, uint64_t lo, uint64_t hi,
	    struct look_areas *out);

/* Where the area that holds @addr begins and ends: cheap, by the ioctl only.  0 or -errno. */
int look_extent(const struct look *l, uint64_t addr, uint64_t *start, uint64_t *end);

/* Are looks at ranges cheap here: does the kernel have the ioctl? */
bool look_is_cheap(const struct look *l);
/* For tests: do without the ioctl, as an older kernel would. */
void look_without_query(bool without);

/*
 * The build-id of the file mapped at @addr, by the kernel, which needs no right
 * to open it.  Returns its length, 0 if it has none or the kernel cannot tell.
 */
size_t look_build_id(const struct look *l, uint64_t addr, uint8_t *id, size_t max);

void look_areas_fini(struct look_areas *a);

#endif /* LOOK_H */
