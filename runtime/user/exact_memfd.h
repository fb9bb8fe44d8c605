/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_memfd.h - reading the memfd in which a process under the Valgrind tool counts.
 */
#ifndef EXACT_MEMFD_H
#define EXACT_MEMFD_H

#include <stddef.h>
#include <stdint.h>

/* All @len bytes at @at, holes as zeros.  Returns 0, or -errno; -EIO if the file ends before. */
int exact_memfd_read(int fd, void *to, size_t len, uint64_t at);

#endif /* EXACT_MEMFD_H */
