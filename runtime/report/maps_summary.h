/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maps_summary.h - how much was mapped and unmapped of what, over all of a stream.
 */
#ifndef MAPS_SUMMARY_H
#define MAPS_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "maps.h"

/*
 * Write a row for each path and kind of memory: how often and how many bytes were mapped and unmapped,
 * the most at one time, and what there is at the end, of all address spaces together.  The
 * largest peak comes first.  What a fork copies counts as mapped, what an exec or exit leaves as unmapped.
 *
 * Returns 0 with *@out (lines: rows), or -ENOMEM.
 */
int maps_summary(struct stream_reader *r, FILE *f, bool json, struct maps_totals *out);

#endif /* MAPS_SUMMARY_H */
