/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maps_watch.h - what became of a watched range (watch.h): of a living process, or in a recording.
 */
#ifndef MAPS_WATCH_H
#define MAPS_WATCH_H

#include <stdbool.h>
#include <stdio.h>

#include "images.h"
#include "maps.h"
#include "runtime/user/watch.h"
#include "told.h"

/*
 * Read @r to its end; *@told and *@out (lines: events) are what it tells of modules and losses.  With
 * @images, which has the stream's, also find the first event that takes away @w, a range of the process
 * of the first event, and then call @found (may be NULL): a stream has no stacks.  Without, an
 * engine sees to that.
 * Returns 0 or -ENOMEM.
 */
int maps_watch_read(struct stream_reader *r, struct watch *w, struct images *images, void (*found)(void),
		    struct told_modules *told, struct maps_totals *out);

/* Read @r to its end for the images it has, which may come after the events that need them. */
void maps_watch_images(struct stream_reader *r, struct images *images);

/* Write what happened, or that nothing did. */
void maps_watch_write(FILE *f, bool json, const struct watch *w, const struct told_modules *told,
		      const struct maps_totals *out);

#endif /* MAPS_WATCH_H */
