// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "pin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAST_PER_SECOND 2000

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
	if (p->pinned)
		sched_setaffinity(0, sizeof(p->home), &p->home);
	p->pinned = false;
}

void pin_tick(struct pin *p, unsigned ms)
{
	bool fast = (uint64_t)p->stops * 1000 >= (uint64_t)FAST_PER_SECOND * ms &&
		    p->others < p->stops / 8;
	int cpu = fast ? cpu_of(p->tid) : -1;
	cpu_set_t set;

	p->stops = p->others = 0;
	if (!p->found)
		p->found = !sched_getaffinity(0, sizeof(p->home), &p->home);
	if (cpu < 0 || cpu >= CPU_SETSIZE || !p->found || !CPU_ISSET(cpu, &p->home)) {
		pin_release(p);
		return;
	}
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	p->pinned = !sched_setaffinity(0, sizeof(set), &set);
}
