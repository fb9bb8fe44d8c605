/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.h - numbers for mapped files, and the very files behind them.
 *
 * A number stands for what was mapped: device, inode, path, and, where the file
 * could be opened, its size, mtime and build-id.  A file is believed only when it
 * is the one that the map names; what cannot be had is HVAR_MODULE_UNREAD.
 */
#ifndef MODULES_H
#define MODULES_H

#include <stdbool.h>
#include <sys/types.h>

#include "look.h"
#include "mapstext.h"
#include "runtime/core/hvar_module.h"
#include "runtime/core/hvar_strs.h"

struct modules;

struct modules *modules_new(void); /* NULL: no memory */
void modules_free(struct modules *m);

/* Where an area was seen: for finding its file. */
struct modules_where {
	pid_t pid;
	const struct look *look; /* or NULL */
	bool mapped_now;	 /* the area is new: its file is as it is now */
	uint64_t mapped_ns;	 /* realtime, by when it was surely mapped: a file changed after
				    it may not be what is mapped.  0: right now */
};

/*
 * The number of what @a maps, 0 for none, into @a->v.module; corrects @a's region and
 * flags where the file tells more than its name.  Returns 0, or -ENOMEM with number 0.
 */
int modules_number(struct modules *m, struct mapstext *a,
		   const struct modules_where *where);

/*
 * If @a, where module @id was mapped when last looked at, maps it still: as
 * modules_number(), with that number.
 */
bool modules_keep(struct modules *m, struct mapstext *a, uint32_t id);

const struct hvar_module *modules_get(const struct modules *m, uint32_t id);
const char *modules_path(const struct modules *m, uint32_t id);

/*
 * A descriptor of the very file, open for reading, or -1: borrowed until the next
 * call.  A file that has changed since it was numbered becomes HVAR_MODULE_STALE,
 * and is the very file no more.
 */
int modules_fd(struct modules *m, uint32_t id);

/* Does @id have facts that modules_told() was not told after? */
bool modules_news(const struct modules *m, uint32_t id);
void modules_told(struct modules *m, uint32_t id);
/* A module that was told and has news; 0 if there is none. */
uint32_t modules_changed(const struct modules *m);

#endif /* MODULES_H */
