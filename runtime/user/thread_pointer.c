// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "thread_pointer.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc.h"

enum { FAR = 1024, ALIGN = 64, WORDS = FAR / 8 }; /* glibc 2.36 has the list 736 bytes behind */

uint64_t thread_pointer(pid_t pid, pid_t tid)
{
	uint64_t v[WORDS], head, from, page;
	size_t len;

	if (syscall(SYS_get_robust_list, tid, &head, &len) || head < FAR)
		return 0;
	from = (head - FAR + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
	page = head & ~(uint64_t)4095;
	if (!proc_peek(pid, from, v, head - from)) {
		if (page <= from || !proc_peek(pid, page, v, head - page))
			return 0;
		from = page;
	}
	/* The nearest one: what lies before it may be another thread's. */
	for (uint64_t at = (head - 1) & ~(uint64_t)(ALIGN - 1); at >= from; at -= ALIGN) {
		size_t i = (at - from) / 8;

		if (at + 24 <= head && v[i] == at && v[i + 2] == at)
			return at;
	}
	return 0;
}
