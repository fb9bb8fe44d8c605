// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "pin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAST_PER_SECOND 2000
#define HOLD_TICKS	20

/* The CPU @tid last ran on: field 39 of /proc/@tid/stat; -1 if it is gone. */
static int cpu_of(pid_t tid)
{
	char path[64], buf[1024], *p;
	int fd, field;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	buf[n] = '\0';
	p = strrchr(buf, ')'); /* ends field 2 */
	for (field = 2; p && field < 39; field++)
		p = strchr(p + 1, ' ');
	return p ? atoi(p + 1) : -1;
}

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
	int cpu = cpu_of(p->tid);

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
