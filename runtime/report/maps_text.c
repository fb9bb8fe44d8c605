// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * maps_text.c - for people:
 *
 *	    0.000213     4711 #2   map     mmap       0x7f1e2c000000-0x7f1e2c021000 rw-p 0x0 anon
 *
 * seconds, task, address space, change, system call, area.
 */
#include "config.h"

#include "maps.h"

#include <inttypes.h>
#include <sys/wait.h>

static void begin(FILE *f)
{
	fprintf(f, "%12s %8s %-4s %-8s %-16s %s\n", "seconds", "task", "mm", "change",
		"call", "area");
}

void maps_text_path(FILE *f, const char *path, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)path[i];

		if (c < 0x20 || c == 0x7f || c == '\\')
			fprintf(f, "\\%03o", c);
		else
			putc(c, f);
	}
}

void maps_text_area(FILE *f, const struct maps_line *l)
{
	const struct hvar_event *ev = l->ev;
	char prot[5];

	maps_prot(ev, prot);
	fprintf(f, "0x%012" PRIx64 "-0x%012" PRIx64 " %s", ev->u.map.start, ev->u.map.end,
		prot);
	if (ev->type == HVAR_EVENT_MOVE || ev->type == HVAR_EVENT_GROW ||
	    ev->type == HVAR_EVENT_SHRINK)
		fprintf(f, " was 0x%012" PRIx64 "-0x%012" PRIx64, ev->u.map.old_start,
			ev->u.map.old_end);
	fprintf(f, " 0x%" PRIx64 " %s", ev->u.map.pgoff, maps_kind(ev));
	if (l->path && l->path_len) {
		putc(' ', f);
		maps_text_path(f, l->path, l->path_len);
	}
	if (ev->u.map.flags & HVAR_VMA_DELETED)
		fputs(" (deleted)", f);
}

static void put_fork(FILE *f, const struct hvar_event *ev)
{
	const char *what = ev->u.task.child_pid == ev->pid ? "thread" :
			   ev->u.task.child_mm == ev->mm   ? "process in the same memory" :
							     "process";

	fprintf(f, "%s %" PRIu32 " #%" PRIu32, what, ev->u.task.child,
		ev->u.task.child_mm);
}

static void put_exit(FILE *f, uint32_t status)
{
	if (status == UINT32_MAX)
		return; /* not known */
	if (WIFSIGNALED((int)status))
		fprintf(f, "by signal %d", WTERMSIG((int)status));
	else
		fprintf(f, "status %d", WEXITSTATUS((int)status));
}

static void line(FILE *f, const struct maps_line *l)
{
	const struct hvar_event *ev = l->ev;

	fprintf(f, "%5" PRIu64 ".%06u %8" PRIu32 " #%-3" PRIu32 " %-8s %-16s ",
		l->since_ns / 1000000000, (unsigned)(l->since_ns / 1000 % 1000000),
		ev->tid, ev->mm, hvar_event_name(ev->type), hvar_cause_name(ev->cause));
	if (ev->type == HVAR_EVENT_FORK)
		put_fork(f, ev);
	else if (ev->type == HVAR_EVENT_EXIT)
		put_exit(f, ev->u.task.status);
	else if (ev->type != HVAR_EVENT_EXEC)
		maps_text_area(f, l);
	putc('\n', f);
}

static void put_seconds(FILE *f, uint64_t ns, uint64_t first_ns)
{
	ns = ns > first_ns ? ns - first_ns : 0;
	fprintf(f, "%5" PRIu64 ".%06u", ns / 1000000000, (unsigned)(ns / 1000 % 1000000));
}

static void gap(FILE *f, const struct stream_loss *loss, uint64_t since_ns, uint64_t first_ns)
{
	put_seconds(f, loss->time_ns, first_ns);
	fprintf(f, " %8s %-4s %-8s %" PRIu64 " news of tasks and maps since", "-", "-", "lost", loss->count);
	put_seconds(f, since_ns, first_ns);
	fputs("; what is there now was looked up\n", f);
}

static void end(FILE *f, const struct maps_totals *t)
{
	if (t->lost[STREAM_LOST_MAPS])
		fprintf(f, "lost: %" PRIu64 " changes were not seen as they happened and looked up afterwards\n",
			t->lost[STREAM_LOST_MAPS]);
	if (t->lost[STREAM_LOST_TASKS])
		fprintf(f, "lost: %" PRIu64 " tasks could not be followed\n",
			t->lost[STREAM_LOST_TASKS]);
	if (t->lost[STREAM_LOST_MEMORY])
		fprintf(f, "lost: %" PRIu64 " times memory ran out\n",
			t->lost[STREAM_LOST_MEMORY]);
	if (t->why)
		fprintf(f, "broken off: %s\n", t->why);
}

const struct maps_format maps_text = {
	.name = "text",
	.begin = begin,
	.line = line,
	.gap = gap,
	.end = end,
};
