/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locals_child.h - locals_file.h and line_file.h in a process of its own.
 *
 * Debug information is whatever somebody has put into a file, and libdw reads it: should that crash, never end or need all
 * memory there is, a process ends that has nothing else to do, and one file has no names of locals and no lines.
 */
#ifndef LOCALS_CHILD_H
#define LOCALS_CHILD_H

#include "locals_file.h"

struct locals_child;

/* As locals_file_open(), whose file is read when something is asked for; NULL: no memory, no process. */
struct locals_child *locals_child_open(int fd, const char *path);
void locals_child_close(struct locals_child *c);

/*
 * As locals_file_find(); strings are good until the next call.  Returns 0; -ENOEXEC: it is no ELF file; another -errno when
 * the process has ended, or has not answered for minutes: nothing more is asked of it, and locals_child_why() says it.
 */
int locals_child_find(struct locals_child *c, const struct locals_at *at, struct locals_found *out);

/* As line_file_find(); *@file is good until the next call.  -ENOENT: it is not known. */
int locals_child_line(struct locals_child *c, uint64_t vaddr, const char **file, uint32_t *line);

/* "was killed by signal 11"; "" while all is well. */
const char *locals_child_why(const struct locals_child *c);

/* As waitpid(2) has it, of the process that has ended; -1 while there is none. */
int locals_child_status(const struct locals_child *c);

#endif /* LOCALS_CHILD_H */
