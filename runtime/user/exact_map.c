// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_map.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "exact_state.h"
#include "grow.h"
#include "mapstext.h"
#include "modules.h"

/* ---- events ---- */

struct hvar_event exact_event(const struct exact_process *p, uint32_t type, uint32_t tid,
				  uint32_t cause, uint64_t time_ns)
{
	return (struct hvar_event){ .time_ns = time_ns, .type = type, .mm = p->mm, .pid = (uint32_t)p->pid,
				    .tid = tid && tid != p->own_pid ? tid : (uint32_t)p->pid,
				    .cause = cause < HVAR_CAUSES ? cause : 0 };
}

static void put_area(struct exact *x, struct hvar_event ev, const struct hvar_vma *v, uint64_t start,
		     uint64_t end)
{
	struct hvar_vma part;

	hvar_vma_at(v, start, &part);
	ev.module = part.module;
	ev.u.map.start = start;
	ev.u.map.end = end;
	ev.u.map.pgoff = part.pgoff;
	ev.u.map.prot = part.prot;
	ev.u.map.region = part.region;
	ev.u.map.flags = part.flags;
	stream_put_event(x->out, &ev);
}

/* The first part of [@start, @end) in which something is mapped: its area, or NULL. */
static const struct hvar_vma *part_of(const struct exact_process *p, uint64_t *start, uint64_t *end)
{
	const struct hvar_vma *v = *start < *end ? hvar_vmas_next(&p->vmas, *start) : NULL;

	if (!v || v->start >= *end)
		return NULL;
	if (v->start > *start)
		*start = v->start;
	if (v->end < *end)
		*end = v->end;
	return v;
}

static int set_range(struct exact *x, struct exact_process *p, uint64_t start, uint64_t end,
		     const struct hvar_vma *as)
{
	int ret = grow_vmas_set(&p->vmas, start, end, as);

	if (ret == -ENOMEM)
		x->lost++;
	return ret;
}

int exact_map_unmap(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns)
{
	struct hvar_event ev = exact_event(p, HVAR_EVENT_UNMAP, m->tid, m->cause, time_ns);
	uint64_t at = m->start, start, end;
	const struct hvar_vma *v;

	while (start = at, end = m->end, (v = part_of(p, &start, &end)) != NULL) {
		put_area(x, ev, v, start, end);
		at = end;
	}
	exact_said_unmapped(p->said, m->start, m->end);
	return set_range(x, p, m->start, m->end, NULL);
}

int exact_map_protect(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns)
{
	struct hvar_event ev = exact_event(p, HVAR_EVENT_PROTECT, m->tid, m->cause, time_ns);
	uint64_t at = m->start, start, end;
	const struct hvar_vma *v;

	while (start = at, end = m->end, (v = part_of(p, &start, &end)) != NULL) {
		struct hvar_vma as;
		int ret;

		hvar_vma_at(v, start, &as);
		as.start = start;
		as.end = end;
		as.prot = (uint8_t)((as.prot & HVAR_PROT_SHARED) | (m->prot & 7));
		put_area(x, ev, &as, start, end);
		ret = set_range(x, p, start, end, &as);
		if (ret)
			return ret;
		at = end;
	}
	return 0;
}

/* A mapping of [@start, @end) like @as, over whatever was there. */
static int map_as(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t start,
		  uint64_t end, const struct hvar_vma *as, uint64_t time_ns)
{
	uint32_t type = m->flags & HVT_INITIAL ? HVAR_EVENT_INITIAL : HVAR_EVENT_MAP;
	struct hvt_message over = *m;
	struct hvar_vma v = *as;
	int ret;

	over.start = v.start = start;
	over.end = v.end = end;
	ret = exact_map_unmap(x, p, &over, time_ns);
	if (!ret)
		ret = set_range(x, p, start, end, &v);
	if (!ret)
		put_area(x, exact_event(p, type, m->tid, m->cause, time_ns), &v, start, end);
	return ret;
}

static void put_touched(struct exact *x, const struct exact_process *p, uint32_t what, uint64_t start, uint64_t end,
			uint64_t from, uint64_t time_ns)
{
	struct stream_touched rec = { .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid, .what = what,
				      .start = start, .end = end, .from = from };

	stream_put(x->out, STREAM_TOUCHED, &rec, sizeof(rec), NULL, 0);
}

/* What was at m->old_start is at m->start, too. */
int exact_map_copy(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns)
{
	uint64_t len = m->end - m->start, at = m->old_start, start, end;
	const struct hvar_vma *v;

	if (at + len < at || at & HVAR_PAGE_MASK)
		return -EINVAL;
	while (start = at, end = m->old_start + len, (v = part_of(p, &start, &end)) != NULL) {
		struct hvar_vma as;
		int ret;

		hvar_vma_at(v, start, &as);
		ret = map_as(x, p, m, start - m->old_start + m->start, end - m->old_start + m->start, &as, time_ns);
		if (ret)
			return ret;
		put_touched(x, p, STREAM_TOUCHED_MOVED, start - m->old_start + m->start,
			    end - m->old_start + m->start, start, time_ns);
		at = end;
	}
	return 0;
}

/* ---- touched pages ---- */

/* What of [@start, @end) is mapped has been touched so. */
void exact_map_touched(struct exact *x, struct exact_process *p, uint32_t what, uint64_t begin, uint64_t stop,
		    uint64_t time_ns)
{
	uint64_t at = begin, start, end;

	while (start = at, end = stop, part_of(p, &start, &end)) {
		put_touched(x, p, what, start, end, 0, time_ns);
		at = end;
	}
}

/* Pages of counters found at the end, which the tool has not told of; only the last one is kept in mind. */
void exact_map_found(struct exact *x, struct exact_process *p, uint64_t addr, uint32_t what, uint64_t time_ns)
{
	uint64_t page = HVAR_PAGE_DOWN(addr);

	if (page != p->found || what & ~p->found_what)
		exact_map_touched(x, p, what, page, page + HVAR_PAGE_SIZE, time_ns);
	p->found_what = page == p->found ? p->found_what | what : what;
	p->found = page;
}

/* ---- files ---- */

static void tell_module(struct exact *x, uint32_t id)
{
	struct stream_module rec = { .id = id };
	const char *path = modules_path(x->modules, id);

	if (!id || !modules_news(x->modules, id))
		return;
	rec.m = *modules_get(x->modules, id);
	rec.m.path = 0;
	rec.path_len = (uint32_t)strlen(path);
	stream_put(x->out, STREAM_MODULE, &rec, sizeof(rec), path, rec.path_len);
	modules_told(x->modules, id);
}

/* The name the kernel's own map has for it. */
static const char *name_of(const struct hvt_message *m, const char *text)
{
	if (m->flags & HVT_STACK)
		return "[stack]";
	if (m->flags & HVT_BREAK)
		return "[heap]";
	if (m->flags & HVT_SYSV)
		return "/SYSV00000000 (deleted)";
	if (m->flags & HVT_ANON)
		return m->flags & HVT_SHARED ? "/dev/zero (deleted)" : "";
	return text;
}

int exact_map_map(struct exact *x, struct exact_process *p, const struct hvt_message *m, char *text,
	       uint64_t time_ns)
{
	struct modules_where where = { .pid = p->pid, .mapped_now = !(m->flags & HVT_INITIAL) };
	struct mapstext a = {
		.v = { .start = m->start, .end = m->end, .pgoff = m->pgoff,
		       .prot = (uint8_t)((m->prot & 7) | (m->flags & HVT_SHARED ? HVAR_PROT_SHARED : 0)) },
		.dev_major = gnu_dev_major(m->dev), .dev_minor = gnu_dev_minor(m->dev), .ino = m->ino,
	};
	const char *name = name_of(m, text);
	char copied[HVT_TEXT_MAX + 32];

	snprintf(copied, sizeof(copied), "%s", name);
	mapstext_name(&a, copied, strlen(copied));
	if (modules_number(x->modules, &a, &where))
		x->lost++;
	tell_module(x, a.v.module);
	return map_as(x, p, m, m->start, m->end, &a.v, time_ns);
}
