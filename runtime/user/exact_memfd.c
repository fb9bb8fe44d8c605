// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exact_memfd.c - reading the memfd in which a process under the Valgrind tool counts.
 */
#include "config.h"

#include "exact_memfd.h"

#include <errno.h>
#include <unistd.h>

int exact_memfd_read(int fd, void *to, size_t len, uint64_t at)
{
	char *p = to;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}
