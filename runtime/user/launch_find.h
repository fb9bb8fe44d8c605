/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch_find.h - what launch.c asks about the file it executes.
 */
#ifndef LAUNCH_FIND_H
#define LAUNCH_FIND_H

#include <stdbool.h>

#include "err.h"

/*
 * May /bin/sh make something of @path, which the kernel does not know how to
 * execute?  No NUL in its first line, and no ELF file.
 */
bool launch_is_text(const char *path);

/* Say why execve() of @path failed with @code: returns -@code, e->status 126 or 127. */
int launch_explain(const char *path, int code, struct err *e);

#endif /* LAUNCH_FIND_H */
