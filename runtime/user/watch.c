// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "watch.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"

/* Hexadecimal, with or without 0x; where it ends, or NULL. */
static const char *take_address(const char *text, uint64_t *out)
{
	char *end;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	if (!isxdigit((unsigned char)text[0]))
		return NULL;
	errno = 0;
	*out = strtoull(text, &end, 16);
	return errno ? NULL : end;
}

/*
 * No variable has a dash in its name but in the arguments of a template: what has one was meant for a range.  The module
 * before it and the source file behind it may have any.
 */
static bool is_broken_range(const char *text)
{
	const char *p = text, *name = text;

	while ((p = strchr(p, ':')) != NULL) {
		if (p[1] == ':') {
			p += 2;
		} else {
			name = ++p;
		}
	}
	return memchr(name, '-', strcspn(name, "@<")) != NULL;
}

bool watch_parse(struct watch *w, const char *text)
{
	uint64_t start, end;
	const char *rest = take_address(text, &start);

	if (rest && *rest == '-') {
		rest = take_address(rest + 1, &end);
		if (!rest || *rest || start >= end)
			return false;
		w->start = start;
		w->end = end;
		return true;
	}
	/* No name begins with a digit, and a lone number is no range. */
	if (!text[0] || isdigit((unsigned char)text[0]) || strlen(text) > 1000 || is_broken_range(text))
		return false;
	w->name = text;
	return true;
}

void watch_fini(struct watch *w)
{
	unwind_fini(&w->at);
	unwind_fini(&w->stack);
	live_free(w->live);
	free(w->module);
	free(w->others);
	free(w->no_member);
	free(w->no_part);
	w->live = NULL;
	w->module = w->others = w->no_member = w->no_part = NULL;
}

char *watch_pointer_note(struct watch *w, pid_t pid)
{
	const struct hvar_vmas *vmas = w->live ? live_vmas(w->live) : NULL;
	const struct hvar_vma *v = NULL;
	uint64_t to = 0;
	char *text;
	int n;

	if (!w->pointer || w->pointer_told)
		return NULL;
	w->pointer_told = true;
	if (pid && vmas && proc_peek(pid, w->start, &to, w->end - w->start < sizeof(to) ? w->end - w->start : sizeof(to)))
		v = hvar_vmas_find(vmas, to);
	if (v)
		n = asprintf(&text, "'%s' is a pointer: its own %" PRIu64 " bytes are watched, not what it points to, which is now at 0x%" PRIx64 ": to watch all of the area there, give --watch 0x%" PRIx64 "-0x%" PRIx64,
			     w->name, w->end - w->start, to, v->start, v->end);
	else
		n = asprintf(&text, "'%s' is a pointer: its own %" PRIu64 " bytes are watched, not what it points to: to watch that give its addresses, --watch START-END -p PID, once the program has it; 'hotvar maps --watch %s -p PID' says where it is then",
			     w->name, w->end - w->start, w->name);
	return n < 0 ? NULL : text;
}

static bool overlap(const struct watch *w, uint64_t start, uint64_t end)
{
	return start < end && start < w->end && w->start < end;
}

bool watch_hits(const struct watch *w, const struct hvar_event *ev)
{
	uint64_t start = ev->u.map.start, end = ev->u.map.end;
	uint64_t old_start = ev->u.map.old_start, old_end = ev->u.map.old_end;

	switch (ev->type) {
	case HVAR_EVENT_UNMAP:
		return overlap(w, start, end);
	case HVAR_EVENT_MOVE:
		return overlap(w, old_start, old_end);
	case HVAR_EVENT_SHRINK:
		return overlap(w, old_start, old_end < start ? old_end : start) ||
		       overlap(w, old_start > end ? old_start : end, old_end);
	default:
		return false;
	}
}

bool watch_mapped(const struct watch *w, const struct hvar_vmas *vmas)
{
	const struct hvar_vma *v = hvar_vmas_next(vmas, w->start);

	return v && v->start < w->end;
}
