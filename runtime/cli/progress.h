/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - a line at the terminal's foot that says how far a measuring is.
 *
 * The program that is measured may write to the same terminal at any time.  So the line
 * gets the last row for itself, by the terminal's scroll region (DECSTBM of the VT100): what the
 * program prints scrolls above it, and neither ever writes into the other.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

struct progress {
	uint64_t last_ns;
	unsigned rows; /* of the terminal whose last row is ours, 0: it is not */
};

/* Is stderr a terminal that can do it? */
int progress_possible(void);

/* Say it, at most twice a second, and not in a measuring's first second.  A session.progress. */
void progress_show(void *p, uint64_t samples, uint64_t elapsed_ns);

/* Give the row back. */
void progress_end(struct progress *p);

#endif /* PROGRESS_H */
