/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_images.h - the folder that the kernel takes symbol images from.
 *
 * A file BUILDID.img there is the image of each ELF file with that build-id.  The kernel believes what
 * is root's and writable by nobody else, the folder and each file, so root alone can put one there: others can
 * look what is missing.  Images are made in a process of their own, confined to reading (stap_confine.h): whatever a file makes of its
 * reader ends there.  They are checked here, written under another name and renamed.
 */
#ifndef STAP_IMAGES_H
#define STAP_IMAGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/user/err.h"

struct stap_images_seen;

struct stap_images {
	int fd;		/* the folder, or -1 */
	char path[2048];
	bool writable;	/* by us, in a way that the kernel believes */
	unsigned made, kept, missing; /* so far: missing ones are those we may not write */
	unsigned long long bytes; /* made */
	struct stap_images_seen *seen; /* files that were asked for already */
	size_t n_seen;
	int patience_ms; /* for a process that reads a file and gets on with nothing; set by _open */
};

/*
 * Open the folder @path; root makes it where there is none.  Returns 0, or -errno and @e: it
 * cannot be had, or is not root's alone, so that the kernel would use nothing in it.
 */
int stap_images_open(struct stap_images *im, const char *path, struct err *e);
void stap_images_close(struct stap_images *im);

/*
 * The image of the regular file open at @fd, called @name.  It is made if there is none, or one that is
 * damaged, not root's, of another version of hotvar, or knows less.  When @until (a
 * descriptor; -1: none) can be read before it is done, it is given up.
 *
 * Returns 1: made; 0: it is there, or was asked for before; -EACCES: there is none and it is not
 * for us to make; -ENODATA: the file has no build-id; -ENOEXEC: no ELF file;
 * -ECANCELED: given up; -ETIMEDOUT: the file does not let itself be read; or -errno.  Each error sets @e.
 */
int stap_images_put(struct stap_images *im, int fd, const char *name, int until, struct err *e);

/* Was the file with these numbers asked for before?  Then there is no need to open it. */
bool stap_images_asked(const struct stap_images *im, dev_t dev, ino_t ino);

#endif /* STAP_IMAGES_H */
