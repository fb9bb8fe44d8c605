// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * maps_json.c - JSON Lines, schema 1: {"type":"map",...}, a line for each change.
 */
#include "config.h"

#include "maps.h"

#include <sys/wait.h>

#include "json.h"

static void begin(FILE *f)
{
	struct json j;

	json_meta(&j, f, "maps");
	json_end(&j);
}

void maps_json_area(struct json *j, const struct maps_line *l)
{
	const struct hvar_event *ev = l->ev;
	char prot[5], dev[24];

	json_hex(j, "start", ev->u.map.start);
	json_hex(j, "end", ev->u.map.end);
	if (ev->type == HVAR_EVENT_MOVE || ev->type == HVAR_EVENT_GROW ||
	    ev->type == HVAR_EVENT_SHRINK) {
		json_hex(j, "old_start", ev->u.map.old_start);
		json_hex(j, "old_end", ev->u.map.old_end);
	}
	json_hex(j, "pgoff", ev->u.map.pgoff);
	maps_prot(ev, prot);
	json_str(j, "prot", prot);
	snprintf(dev, sizeof(dev), "%02x:%02x", l->m ? l->m->dev_major : 0,
		 l->m ? l->m->dev_minor : 0);
	json_str(j, "dev", dev);
	json_u64(j, "ino", l->m ? l->m->ino : 0);
	if (l->path && l->path_len)
		json_strn(j, "path", l->path, l->path_len);
	else
		json_null(j, "path");
	if (ev->u.map.flags & HVAR_VMA_DELETED)
		json_bool(j, "deleted", true);
	json_str(j, "kind", maps_kind(ev));
}

static void put_status(struct json *j, uint32_t status)
{
	if (status == UINT32_MAX)
		return; /* not known */
	if (WIFSIGNALED((int)status))
		json_i64(j, "signal", WTERMSIG((int)status));
	else
		json_i64(j, "status", WEXITSTATUS((int)status));
}

static void line(FILE *f, const struct maps_line *l)
{
	const struct hvar_event *ev = l->ev;
	const char *call = hvar_cause_name(ev->cause);
	struct json j;

	json_begin(&j, f, "map");
	json_u64(&j, "time_ns", ev->time_ns);
	json_u64(&j, "mm", ev->mm);
	json_u64(&j, "pid", ev->pid);
	json_u64(&j, "tid", ev->tid);
	json_str(&j, "event", hvar_event_name(ev->type));
	json_str(&j, "syscall", call[0] ? call : NULL);
	if (ev->type == HVAR_EVENT_FORK) {
		json_u64(&j, "child", ev->u.task.child);
		json_u64(&j, "child_pid", ev->u.task.child_pid);
		json_u64(&j, "child_mm", ev->u.task.child_mm);
	} else if (ev->type == HVAR_EVENT_EXIT) {
		put_status(&j, ev->u.task.status);
	} else if (ev->type != HVAR_EVENT_EXEC) {
		maps_json_area(&j, l);
	}
	json_end(&j);
}

static void gap(FILE *f, const struct stream_loss *loss, uint64_t since_ns, uint64_t first_ns)
{
	struct json j;

	(void)first_ns;
	json_begin(&j, f, "gap");
	json_u64(&j, "time_ns", loss->time_ns);
	json_u64(&j, "since_ns", since_ns);
	json_u64(&j, "lost_maps", loss->count);
	json_end(&j);
}

static void end(FILE *f, const struct maps_totals *t)
{
	struct json j;

	json_begin(&j, f, "total");
	json_u64(&j, "events", t->lines);
	json_u64(&j, "lost_maps", t->lost[STREAM_LOST_MAPS]);
	json_u64(&j, "lost_tasks", t->lost[STREAM_LOST_TASKS]);
	json_u64(&j, "lost_memory", t->lost[STREAM_LOST_MEMORY]);
	json_str(&j, "broken", t->why);
	json_end(&j);
}

const struct maps_format maps_json = {
	.name = "json",
	.begin = begin,
	.line = line,
	.gap = gap,
	.end = end,
};
