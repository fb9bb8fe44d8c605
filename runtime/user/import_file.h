/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_file.h - a file that may be a recording, or text of perf's; and its lines.
 *
 * What it is, is told by what it begins with, not by its name; of a pipe, too.
 */
#ifndef IMPORT_FILE_H
#define IMPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

enum import_file_kind {
	IMPORT_FILE_OTHER, /* a recording, or nothing known: the reader of those says which */
	IMPORT_FILE_TEXT,  /* of perf script's */
	IMPORT_FILE_DATA,  /* perf's own format */
};

struct import_file {
	int fd;
	const char *name; /* borrowed: for people */
	enum import_file_kind kind;
	uint64_t mtime_ns; /* of a regular file, else 0 */
	char *buf;	   /* bytes [pos, len) are not yet taken */
	size_t pos, len, cap;
	bool ended;
	int error;	   /* of read(2) */
	uint64_t line;	   /* number of the last one that was given out */
	bool whole;	   /* it ended with a newline */
	uint64_t too_long; /* lines that were left out */
};

/* Open @path ("-": standard input) and look at its begin.  Returns 0 or -errno with @e. */
int import_file_open(struct import_file *f, const char *path, struct err *e);
/* Frees, and closes f->fd if that is not -1. */
void import_file_close(struct import_file *f);

/* The next line, without its newline, *@len bytes, good until the next call; NULL at the end.  Lines of 64 KiB and more are left out. */
const char *import_file_line(struct import_file *f, size_t *len);

#endif /* IMPORT_FILE_H */
