/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapstext.h - one line of /proc/PID/maps, and the names the kernel gives areas.
 *
 * The same names come from PROCMAP_QUERY and from perf, there without escapes.
 */
#ifndef MAPSTEXT_H
#define MAPSTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/core/hvar_vmas.h"

/* One area as the kernel tells it. */
struct mapstext {
	struct hvar_vma v;   /* its module is 0 here */
	uint32_t dev_major, dev_minor;
	uint64_t ino;
	char *path;	     /* borrowed: "" if it has no name or its region says it all */
	uint32_t path_len;
	bool pseudo;	     /* the name is that of no file that could be opened */
};

/*
 * The line of @len bytes at @line, without its newline, into @out.  line[len]
 * must be writable; the path is decoded in place, so @out->path points in there.
 *
 *	7f2a4000-7f2a6000 rw-p 00003000 fe:00 1234      /usr/lib/a b.so (deleted)
 *	start    end      prot pgoff    dev   ino       path, to the end of the line
 *
 * Returns 0, or -EINVAL if it is no such line.
 */
int mapstext_line(char *line, size_t len, struct mapstext *out);

/*
 * Take @name, @len bytes, NUL-terminated, as the name of @m, whose prot, device
 * and inode are set: sets region, flags, path, pseudo, and a pgoff of 0 where no file is.
 */
void mapstext_name(struct mapstext *m, char *name, size_t len);

/*
 * The file of @m is not deleted: " (deleted)" is the end of its true name.  Only
 * after mapstext_line() or mapstext_name() has found HVAR_VMA_DELETED.
 */
void mapstext_not_deleted(struct mapstext *m);

#endif /* MAPSTEXT_H */
