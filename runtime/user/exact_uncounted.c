// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_uncounted.h"

#include <errno.h>
#include <string.h>

int exact_uncounted_take(struct exact_uncounted *u, const struct hvt_message *m, const char *text, size_t len)
{
	char *path;

	if (!m->flags || m->flags >= HVT_UNCOUNTED_WHATS || len > HVT_TEXT_MAX || memchr(text, 0, len))
		return -EINVAL;
	path = u->path[m->flags];
	if (!u->n[m->flags]++) {
		if (len >= sizeof(u->path[0])) {
			text += len - sizeof(u->path[0]) + 1;
			len = sizeof(u->path[0]) - 1;
		}
		memcpy(path, text, len);
		path[len] = '\0';
	}
	return 0;
}

void exact_uncounted_note(const struct exact_uncounted *u, struct session *s)
{
	if (u->n[HVT_SET_ID])
		session_note(s, "%llu times a set-user-ID program or one with capabilities was not run (%s): valgrind cannot give it its rights, so that call failed: have it run a copy without them",
			     (unsigned long long)u->n[HVT_SET_ID], u->path[HVT_SET_ID]);
	if (u->n[HVT_OTHER_CLASS])
		session_note(s, "%llu processes ran on without being counted, being 32-bit programs (%s)",
			     (unsigned long long)u->n[HVT_OTHER_CLASS], u->path[HVT_OTHER_CLASS]);
	if (u->n[HVT_OWN_EXE])
		session_note(s, "%llu times a program executed itself by %s, which is valgrind's file for some versions of valgrind, as 3.19: if that failed, have it run its file by name",
			     (unsigned long long)u->n[HVT_OWN_EXE], u->path[HVT_OWN_EXE]);
	if (u->n[HVT_LIMIT_LIFTED])
		session_note(s, "the program's own limit of its address space (RLIMIT_AS) was lifted, since counting needs more: it holds only without --exact");
	if (u->n[HVT_LIMIT_STAYS])
		session_note(s, "the program has limited its address space (RLIMIT_AS, the hard limit), which counting needs: it may run out of memory as it would not without --exact");
}
