// SPDX-License-Identifier: GPL-2.0-or-later
/* busy.c - calls the kernel all the time, on the last processor, until killed. */
#define _GNU_SOURCE
#include "mark.h"
#include <sched.h>

int main(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	for (;;)
		syscall(SYS_getppid);
}
