/* hotvar-cflags: -D_GNU_SOURCE -O1 -g */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* take_watchpoints - takes all four watchpoints of the processor for itself, says "ready" and ends when its stdin does. */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

long own[4], mine;

int main(void)
{
	char c;
	int i;

	for (i = 0; i < 4; i++) {
		struct perf_event_attr a = {
			.size = sizeof(a),
			.type = PERF_TYPE_BREAKPOINT,
			.bp_type = HW_BREAKPOINT_RW,
			.bp_addr = (uintptr_t)&own[i],
			.bp_len = 8,
			.exclude_kernel = 1,
		};

		if (syscall(SYS_perf_event_open, &a, 0, -1, -1, 0) < 0)
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		mine++;
	return 0;
}
