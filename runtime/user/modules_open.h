/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules_open.h - open the very file that an area maps, or none.
 */
#ifndef MODULES_OPEN_H
#define MODULES_OPEN_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "look.h"
#include "runtime/core/hvar_module.h"

struct modules_file {
	/* what is looked for */
	uint32_t dev_major, dev_minor;
	uint64_t ino;
	const char *path;
	bool deleted;
	pid_t pid;		 /* a process that maps it, or did */
	const struct look *look; /* its window, or NULL */
	uint64_t start, end;	 /* where */
	const struct hvar_module *want; /* known before, maybe mapped no more; or NULL */
	bool unread;		 /* nothing is to be read of the file: elf and build_id say nothing then */
	/* what was found */
	struct stat st;
	bool elf;
	uint8_t build_id[HVAR_BUILD_ID_MAX];
	size_t build_id_len;
};

/*
 * A descriptor of the regular file that @f describes, open for reading and never
 * having touched a device or a FIFO on the way; the caller's to close.
 *
 * Returns it; -ENXIO: what is mapped is no regular file; or -errno: it cannot be
 * had.  @f's build-id is set wherever it could be learnt.
 */
int modules_open(struct modules_file *f);

/* Is @a's " (deleted)" the end of a name that is there, of the same file? */
bool modules_truly_named(const struct mapstext *a, pid_t pid);

static inline uint64_t modules_mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u +
	       (uint64_t)st->st_mtim.tv_nsec;
}

/* The inode number of the IPC namespace that process @pid is in; 0: not known. */
uint64_t modules_ipc_namespace(pid_t pid);

#endif /* MODULES_OPEN_H */
