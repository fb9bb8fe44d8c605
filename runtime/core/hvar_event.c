/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_event.c - the words for events and their causes, and what a valid one is.
 */
#include "hvar_event.h"
#include "hvar_vmas.h"

HVAR_API const char *hvar_event_name(uint32_t type)
{
	static const char *const hvar_event_names[HVAR_EVENT_TYPES] = {
		"",	  "initial", "map",    "unmap", "protect", "move", "grow",
		"shrink", "exec",    "fork",   "exit",	"access",  "sample",
	};

	return type < HVAR_EVENT_TYPES ? hvar_event_names[type] : "";
}

HVAR_API const char *hvar_cause_name(uint32_t cause)
{
	static const char *const hvar_cause_names[HVAR_CAUSES] = {
		"",	    "mmap",	"munmap",
		"mremap",   "brk",	"mprotect",
		"pkey_mprotect", "shmat", "shmdt",
		"remap_file_pages", "execve", "execveat",
		"fork",	    "vfork",	"clone",
		"clone3",   "exit",	"madvise",
		"prctl",    "fault",
	};

	return cause < HVAR_CAUSES ? hvar_cause_names[cause] : "";
}

static bool hvar_event_map_valid(const struct hvar_event *e)
{
	uint64_t start = e->u.map.start, end = e->u.map.end;
	uint64_t was = e->u.map.old_start, was_end = e->u.map.old_end;

	if (!e->mm || start >= end || e->u.map.zero)
		return false;
	if (e->u.map.prot & ~(HVAR_PROT_READ | HVAR_PROT_WRITE | HVAR_PROT_EXEC |
			      HVAR_PROT_SHARED))
		return false;
	if (e->u.map.flags & ~(HVAR_VMA_DELETED | HVAR_VMA_NAMED))
		return false;
	/* What is gone may be told by its range alone; what is there is something. */
	if (e->u.map.region >= HVAR_REGIONS ||
	    (e->u.map.region == HVAR_REGION_NONE &&
	     e->type != HVAR_EVENT_UNMAP))
		return false;
	switch (e->type) {
	case HVAR_EVENT_MOVE:
		return was < was_end;
	case HVAR_EVENT_GROW: /* one end moved outwards */
		return was < was_end && (start == was) != (end == was_end) &&
		       start <= was && end >= was_end;
	case HVAR_EVENT_SHRINK: /* one end moved inwards */
		return was < was_end && (start == was) != (end == was_end) &&
		       start >= was && end <= was_end;
	default:
		return !was && !was_end;
	}
}

static bool hvar_event_task_valid(const struct hvar_event *e)
{
	if (!e->mm || !e->pid || !e->tid || e->module || e->u.task.zero[0] ||
	    e->u.task.zero[1] || e->u.task.zero[2])
		return false;
	if (e->type == HVAR_EVENT_FORK)
		return e->u.task.child && e->u.task.child_pid &&
		       e->u.task.child_mm && !e->u.task.status;
	if (e->u.task.child || e->u.task.child_pid || e->u.task.child_mm)
		return false;
	return e->type == HVAR_EVENT_EXIT || !e->u.task.status;
}

/* They stand in enum hvar_event_type in this order. */
HVAR_API bool hvar_event_is_map(uint32_t type)
{
	return type >= HVAR_EVENT_INITIAL && type <= HVAR_EVENT_SHRINK;
}

HVAR_API bool hvar_event_is_task(uint32_t type)
{
	return type >= HVAR_EVENT_EXEC && type <= HVAR_EVENT_EXIT;
}

HVAR_API bool hvar_event_valid(const struct hvar_event *e)
{
	if (e->cause >= HVAR_CAUSES)
		return false;
	if (hvar_event_is_map(e->type))
		return hvar_event_map_valid(e);
	if (hvar_event_is_task(e->type))
		return hvar_event_task_valid(e);
	switch (e->type) {
	case HVAR_EVENT_ACCESS:
		return !(e->u.access.flags &
			 ~(uint32_t)(HVAR_ACCESS_READ | HVAR_ACCESS_WRITE |
				     HVAR_ACCESS_EXEC)) &&
		       !e->u.access.zero[0] && !e->u.access.zero[1];
	case HVAR_EVENT_SAMPLE:
		return !(e->u.sample.flags &
			 ~(uint32_t)(HVAR_SAMPLE_ABI32 | HVAR_SAMPLE_NOREGS)) &&
		       !e->u.sample.zero[0] && !e->u.sample.zero[1] &&
		       !e->u.sample.zero[2];
	default:
		return false;
	}
}
