// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "overhear.h"

#include <errno.h>
#include <sched.h>

#include "clock.h"
#include "proc.h"
#include "turns.h"

enum {
	LATE_NS = 30000,     /* more than an interrupt and the way from there to us: some 10 us */
	TOO_LATE_NS = 3000000, /* we did not get the CPU */
};

int overhear_begin(struct perf_ears *e, uint64_t ns, struct perf_record *at, struct overheard *o)
{
	int err = perf_ears_wait(e, ns, at);
	uint64_t now = clock_now_ns(), late = now > at->time_ns ? now - at->time_ns : 0;
	struct proc_stat st;

	if (err)
		return err == -EAGAIN ? -EBUSY : err;
	if (late > LATE_NS || at->cpu != (uint32_t)sched_getcpu())
		return late > TOO_LATE_NS ? -EALREADY : -EBUSY;
	*o = (struct overheard){ .pid = at->pid, .tid = at->tid };
	if (!turns_begun(o->pid, o->tid, &o->slices))
		return turns_are_counted() ? -EBUSY : -ENOTSUP;
	/* Where we run it does not, unless another CPU has taken it over meanwhile. */
	return proc_stat(o->tid, &st) || st.cpu != (int)at->cpu || st.state != 'R' ? -EBUSY : 0;
}

bool overhear_held(const struct overheard *o)
{
	uint64_t n;

	return turns_begun(o->pid, o->tid, &n) && n == o->slices;
}
