// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "ptracer_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "clock.h"
#include "live.h"
#include "proc.h"
#include "watch.h"

#define DONTUNMAP 4 /* MREMAP_DONTUNMAP: the pages move, and none take their place */

static struct watch *watch_of(const struct ptracer *p)
{
	return p->s->watch && !p->s->watch->hit ? p->s->watch : NULL;
}

static bool lives_there(const struct ptracer *p, const struct watch *w, pid_t tid)
{
	uint32_t mm;
	pid_t pid;

	return w->mm && tracker_knows(p->tracker, tid, &pid, &mm) && mm == w->mm;
}

static pid_t process_of(const struct ptracer *p, pid_t tid)
{
	const struct tracee *x = tracees_find(&p->tasks, tid);

	return x ? x->pid : tid;
}

/* ---- the event ---- */

static void hit(struct ptracer *p, struct watch *w, const struct hvar_event *ev)
{
	bool all = hvar_event_is_task(ev->type);

	w->hit = true;
	w->ev = *ev;
	if (all && w->at_tid) {
		w->stack = w->at;
		w->at = (struct unwind){ .n = 0 };
		return;
	}
	proc_comm((pid_t)ev->tid, w->comm);
	if (w->by_stop)
		unwind_thread(&w->stack, process_of(p, (pid_t)ev->tid), (pid_t)ev->tid);
}

static void take(void *ctx, const struct hvar_event *ev, uint32_t mm, const struct hvar_vmas *vmas)
{
	struct ptracer *p = ctx;
	struct watch *w = watch_of(p);

	if (w && w->gone && ev && ev->type == HVAR_EVENT_EXEC)
		hit(p, w, ev);
	if (!w || !w->mm || mm != w->mm)
		return;
	if (!ev) {
		struct hvar_event last = w->ev;

		w->gone = watch_mapped(w, vmas);
		w->mm = 0;
		if (w->gone && last.type == HVAR_EVENT_EXIT && last.cause == HVAR_CAUSE_EXIT)
			hit(p, w, &last);
		return;
	}
	/* The last task's EXIT is followed by the news that all is gone. */
	w->ev = *ev;
	if (watch_hits(w, ev))
		hit(p, w, ev);
	else if (hvar_event_is_map(ev->type) && ev->module)
		w->ask = true;
}

void ptracer_watch_begin(struct ptracer *p)
{
	if (watch_of(p))
		tracker_tap(p->tracker, take, p);
}

bool ptracer_watch_hit(const struct ptracer *p)
{
	return p->s->watch && p->s->watch->hit;
}

/* ---- where it is ---- */

static void find(struct ptracer *p, struct watch *w)
{
	char *note;
	int r;

	w->ask = false;
	if (!w->name || w->end || w->ambiguous)
		return;
	r = watch_find_in(w, w->pid, NULL);
	note = watch_pointer_note(w, 0);
	if (note && p->s->warn)
		p->s->warn(note);
	free(note);
	if (!r && w->ambiguous)
		session_warn(p->s, "'%s' is not watched, since there are several: name one of them: %s", w->name, w->others);
	if (!r || w->ambiguous) {
		live_free(w->live);
		w->live = NULL;
	} else {
		w->ask = true; /* a file may be mapped in several calls, the last of which names none */
	}
}

void ptracer_watch_bind(struct ptracer *p, pid_t pid)
{
	struct watch *w = watch_of(p);
	uint32_t mm;
	pid_t of;

	if (!w || (w->mm && !w->gone) || (w->pid && w->pid != pid) ||
	    !tracker_knows(p->tracker, pid, &of, &mm))
		return;
	w->pid = pid;
	w->mm = mm;
	w->at_tid = 0;
	live_free(w->live); /* of what it ran before */
	w->live = NULL;
	find(p, w);
}

/* ---- at stops ---- */

static void keep_stack(struct watch *w, const struct tracee *x)
{
	proc_comm(x->tid, w->comm);
	w->at_tid = unwind_thread(&w->at, x->pid, x->tid) ? 0 : x->tid;
}

void ptracer_watch_exec(struct ptracer *p, struct tracee *x)
{
	struct watch *w = watch_of(p);

	if (w && w->end && lives_there(p, w, x->tid))
		keep_stack(w, x);
}

void ptracer_watch_executed(struct ptracer *p)
{
	if (watch_of(p))
		p->s->watch->ev.type = HVAR_EVENT_NONE;
}

/* Has it asked for the end of all threads itself?  Others that it ends have no say. */
static bool in_exit_group(pid_t tid)
{
	struct user_regs_struct regs;

	return !ptrace(PTRACE_GETREGS, tid, 0, &regs) && regs.orig_rax == SYS_exit_group;
}

void ptracer_watch_exit(struct ptracer *p, struct tracee *x, bool last)
{
	struct watch *w = watch_of(p);

	if (!w || !w->end || !lives_there(p, w, x->tid))
		return;
	if (in_exit_group(x->tid) || (last && !w->at_tid))
		keep_stack(w, x);
}

/* The pages have moved and the areas stay: no event of the map's says so. */
static void left_in_place(struct ptracer *p, struct watch *w, const struct tracee *x,
			  const struct hvar_call *c)
{
	struct hvar_event ev = {
		.time_ns = clock_now_ns(), .type = HVAR_EVENT_MOVE, .mm = w->mm,
		.pid = (uint32_t)x->pid, .tid = (uint32_t)x->tid, .cause = c->cause,
	};
	const struct hvar_vmas *vmas = tracker_vmas(p->tracker, x->tid);
	const struct hvar_vma *v = vmas ? hvar_vmas_find(vmas, c->args[0]) : NULL;

	if (v) {
		ev.module = v->module;
		ev.u.map.prot = v->prot;
		ev.u.map.region = v->region;
		ev.u.map.flags = v->flags;
		ev.u.map.pgoff = v->module ? v->pgoff + c->args[0] - v->start : 0;
	}
	ev.u.map.start = (uint64_t)c->ret;
	ev.u.map.end = (uint64_t)c->ret + c->args[2];
	ev.u.map.old_start = c->args[0];
	ev.u.map.old_end = c->args[0] + c->args[1];
	if (watch_hits(w, &ev))
		hit(p, w, &ev);
}

void ptracer_watch_call(struct ptracer *p, struct tracee *x)
{
	struct watch *w = watch_of(p);
	const struct hvar_call *c = &x->args.call;

	if (!w || !lives_there(p, w, x->tid))
		return;
	w->by_stop = true;
	if (c->cause == HVAR_CAUSE_MREMAP && c->ret > 0 && c->args[3] & DONTUNMAP)
		left_in_place(p, w, x, c);
}

void ptracer_watch_called(struct ptracer *p)
{
	struct watch *w = watch_of(p);

	if (!w)
		return;
	w->by_stop = false;
	if (w->ask && w->mm)
		find(p, w);
}
