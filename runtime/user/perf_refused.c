// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_refused.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int v = -99;

	if (!f)
		return v;
	if (fscanf(f, "%d", &v) != 1)
		v = -99;
	fclose(f);
	return v;
}

int perf_refused(int code, struct err *e)
{
	int level = paranoid();

	switch (code) {
	case EACCES:
	case EPERM:
		if (level > 2)
			return err_set(e, code, "perf timer: refused, since kernel.perf_event_paranoid is %d; "
				       "run \"sysctl kernel.perf_event_paranoid=2\" as root", level);
		return err_set(e, code, "perf timer: refused (%s), most likely by a seccomp "
			       "filter, as containers have; allow perf_event_open in its seccomp profile, or use --source ptrace",
			       strerror(code));
	case ENOSYS:
	case ENOENT:
		return err_set(e, code, "perf timer: this kernel has none (%s); use --source ptrace",
			       strerror(code));
	case EMFILE:
	case ENFILE:
		return err_set(e, code, "perf timer: %s; raise the limit with \"ulimit -n\"",
			       strerror(code));
	default:
		return err_set(e, code, "perf timer: cannot be opened (%s); use --source ptrace",
			       strerror(code));
	}
}
