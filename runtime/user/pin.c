// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "pin.h"

#include "proc.h"

#define FAST_PER_SECOND 2000
#define HOLD_TICKS	20

void pin_release(struct pin *p)
{
	cpu_set_t now;

	if (!p->held)
		return;
	/* Somebody may have given it another mask meanwhile. */
	if (!sched_getaffinity(p->held, sizeof(now), &now) && CPU_EQUAL(&now, &p->at))
		sched_setaffinity(p->held, sizeof(p->home), &p->home);
	sched_setaffinity(0, sizeof(p->own), &p->own);
	p->held = 0;
}

static void hold(struct pin *p)
{
	struct proc_stat st;
	int cpu = proc_stat(p->tid, &st) ? -1 : st.cpu;

	if (cpu < 0 || cpu >= CPU_SETSIZE ||
	    sched_getaffinity(p->tid, sizeof(p->home), &p->home) ||
	    sched_getaffinity(0, sizeof(p->own), &p->own) ||
	    !CPU_ISSET(cpu, &p->home) || !CPU_ISSET(cpu, &p->own))
		return;
	CPU_ZERO(&p->at);
	CPU_SET(cpu, &p->at);
	if (sched_setaffinity(p->tid, sizeof(p->at), &p->at))
		return;
	p->held = p->tid;
	p->ticks = 0;
	sched_setaffinity(0, sizeof(p->at), &p->at);
}

void pin_tick(struct pin *p, unsigned ms)
{
	bool fast = (uint64_t)p->stops * 1000 >= (uint64_t)FAST_PER_SECOND * ms &&
		    p->others < p->stops / 8;

	p->stops = p->others = 0;
	/* Now and then the scheduler may find it a better CPU. */
	if (p->held && (!fast || p->held != p->tid || ++p->ticks >= HOLD_TICKS))
		pin_release(p);
	else if (!p->held && fast)
		hold(p);
}

void pin_born(const struct pin *p, pid_t tid, pid_t child)
{
	if (p->held == tid)
		sched_setaffinity(child, sizeof(p->home), &p->home);
}

void pin_renamed(struct pin *p, pid_t old, pid_t tid)
{
	if (p->held == old)
		p->held = tid;
}
