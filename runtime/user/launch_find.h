/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch_find.h - what launch.c asks about the file it executes.
 */
#ifndef LAUNCH_FIND_H
#define LAUNCH_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

/*
 * May /bin/sh make something of @path, which the kernel does not know how to
 * execute?  No NUL in its first line, and no ELF file.
 */
bool launch_is_text(const char *path);

/* Say why execve() of @path failed with @code: returns -@code, e->status 126 or 127. */
int launch_explain(const char *path, int code, struct err *e);

/*
 * For who does not execute @path itself: say why execve() will fail, as far as the file tells it: its format, its
 * interpreter, its loader.  0: nothing tells against it; else as launch_explain().
 */
int launch_foresee(const char *path, struct err *e);

/* The interpreter that the script @path names in its first line; false if it is none. */
bool launch_interpreter(const char *path, char *out, size_t size);

#endif /* LAUNCH_FIND_H */
