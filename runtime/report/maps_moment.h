/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maps_moment.h - of a recording: the memory maps as they were at a moment, and what two moments differ in.
 */
#ifndef MAPS_MOMENT_H
#define MAPS_MOMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "maps.h"

/*
 * A time since the first change, as `hotvar maps` prints it.  To the microsecond unless more digits were
 * given: the change that is printed with 0.000213 has happened at 0.000213.
 */
struct maps_time {
	uint64_t ns;
	bool exact; /* to the nanosecond */
};

/* "1", "0.000213".  False if @text is no such number, or one too large. */
bool maps_time_parse(const char *text, struct maps_time *out);

/*
 * Write the areas of each address space at @at[0], or, with @n == 2, those that are not the same at
 * both times.  Returns 0 with *@out as maps_write() (lines: areas written), or -ENOMEM.
 */
int maps_moment(struct stream_reader *r, FILE *f, bool json, const struct maps_time at[2],
		int n, struct maps_totals *out);

#endif /* MAPS_MOMENT_H */
