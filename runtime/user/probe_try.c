// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probe_try.c - the probes that do what they ask about, on themselves or on a child of their own.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <elf.h>
#include <linux/perf_event.h>

#include "clock.h"
#include "gate.h"
#include "perf_ring.h"
#include "pmu_events.h"
#include "probe.h"

enum {
	TIMER_HZ = 5000,
	SPIN_NS = 5000000,
	SPIN_MAX_NS = 200000000,
	PATIENCE_MS = 2000,
};

/* ---- perf ---- */

struct heard {
	unsigned samples, with_regs;
};

static void hear(void *ctx, const struct perf_record *rec)
{
	struct heard *h = ctx;

	if (rec->what != PERF_IS_SAMPLE)
		return;
	h->samples++;
	h->with_regs += !(rec->u.sample.flags & HVAR_SAMPLE_NOREGS) &&
			rec->u.sample.regs[STREAM_RSP];
}

/* Sample ourselves for some milliseconds of work, longer if the machine is slow to answer. */
static void try_timer(struct perf_rings *r, struct heard *h)
{
	uint64_t begin = clock_now_ns(), step = begin;

	while (!h->samples && step < begin + SPIN_MAX_NS) {
		uint64_t until = step + SPIN_NS;

		while (step < until)
			step = clock_now_ns();
		perf_rings_drain(r, ~0ull, hear, h);
	}
}

void probe_perf_timer(struct probe_result *r)
{
	struct perf_rings_options o = { .hz = TIMER_HZ, .maps = true };
	struct err e = { 0 };
	struct perf_rings *rings = perf_rings_new(&o, &e);
	struct heard h = { 0 };
	char *fix;

	if (rings && !perf_rings_add(rings, (pid_t)syscall(SYS_gettid), &e))
		try_timer(rings, &h);
	perf_rings_free(rings);
	if (h.with_regs) {
		probe_say(r, PROBE_YES, NULL, "the software timer samples, with user registers");
		return;
	}
	if (h.samples) {
		probe_say(r, PROBE_NO, "use --source ptrace",
			  "the software timer samples, but without user registers");
		return;
	}
	if (!e.text[0]) {
		probe_say(r, PROBE_NO, "use --source ptrace",
			  "the software timer opens, but gives no samples");
		return;
	}
	/* "what: why; what to do" */
	fix = strrchr(e.text, ';');
	if (fix)
		*fix++ = '\0';
	probe_say(r, PROBE_NO, fix ? fix + (*fix == ' ') : NULL, "%s", e.text);
}

void probe_pmu(struct probe_result *r)
{
	struct err e = { 0 };
	struct pmu_events *p = pmu_events_new(PMU_DEVICES, 1000, &e);
	char *todo;

	if (p) {
		probe_say(r, PROBE_YES, NULL, "%s samples accesses with their addresses: --source pmu, which auto takes", pmu_events_plan(p)->what);
		pmu_events_free(p);
		return;
	}
	/* "PMU: what: what to do" */
	todo = strstr(e.text, ": give ");
	if (todo)
		*todo = '\0';
	probe_say(r, PROBE_NO, todo ? "give this virtual machine a PMU, in its hypervisor's settings" : NULL, "%.400s%s",
		  strncmp(e.text, "PMU: ", 5) ? e.text : e.text + 5, todo ? "; the software timer does without" : "");
}

/* ---- ptrace ---- */

/* A child that does nothing but wait for its end, and ends with us. */
static pid_t fork_idle(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	syscall(SYS_prctl, 1 /* PR_SET_PDEATHSIG */, SIGKILL, 0, 0, 0);
	while (getppid() == parent)
		pause();
	_exit(0);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Wait for news of @pid, but not for ever: 0, or -errno. */
static int wait_for(pid_t pid, int *status)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		struct timespec t = { .tv_nsec = 1000000 };
		pid_t got = waitpid(pid, status, WNOHANG | __WALL);

		if (got == pid)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
		nanosleep(&t, NULL);
	}
	return -ETIMEDOUT;
}

/* Seize @pid, stop it, read its registers.  *@step says how far it came. */
static int trace(pid_t pid, const char **step)
{
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof(regs) };
	int status, err;

	*step = "seize";
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD))
		return -errno;
	*step = "interrupt";
	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		return -errno;
	err = wait_for(pid, &status);
	if (err)
		return err;
	*step = "read the registers of";
	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov))
		return -errno;
	return 0;
}

static const char *ptrace_fix(void)
{
	if (probe_number("/proc/sys/kernel/yama/ptrace_scope", 0) == 3)
		return "set kernel.yama.ptrace_scope=0 in /etc/sysctl.d and reboot";
	return "allow ptrace in the seccomp profile, or add the capability SYS_PTRACE to the container";
}

void probe_ptrace(struct probe_result *r)
{
	const char *step = "fork";
	pid_t pid = fork_idle();
	int err = pid < 0 ? -errno : trace(pid, &step);

	if (pid > 0)
		end_child(pid);
	if (!err)
		probe_say(r, PROBE_YES, NULL, "a child was seized, stopped and read");
	else
		probe_say(r, PROBE_NO, ptrace_fix(), "ptrace could not %s a child: %s", step,
			  strerror(-err));
}

/* A process that is no child of the tracer's: what -p does. */
static int trace_sibling(void)
{
	const char *step;
	pid_t target = fork_idle(), tracer;
	int status = 0, err;

	if (target < 0)
		return -errno;
	tracer = fork();
	if (!tracer)
		_exit(-trace(target, &step));
	err = tracer < 0 ? -errno : wait_for(tracer, &status);
	if (tracer > 0 && err)
		end_child(tracer);
	end_child(target);
	if (!err && !WIFEXITED(status))
		err = -ECHILD;
	return err ? err : -WEXITSTATUS(status);
}

void probe_attach(struct probe_result *r)
{
	long scope = probe_number("/proc/sys/kernel/yama/ptrace_scope", -1);
	int err = trace_sibling();

	if (!err)
		probe_say(r, PROBE_YES, NULL, "a process that was running was seized and read%s",
			  geteuid() ? " (one of your own; others' need root)" : "");
	else if (scope > 0)
		probe_say(r, PROBE_NO, scope == 3 ? ptrace_fix() :
			  "sysctl kernel.yama.ptrace_scope=0, or run hotvar as root",
			  "a running process cannot be traced: kernel.yama.ptrace_scope is %ld", scope);
	else
		probe_say(r, PROBE_NO, ptrace_fix(), "a running process cannot be traced: %s",
			  strerror(-err));
}

void probe_gate(struct probe_result *r)
{
	struct gate *g = gate_new();
	int status = 0, err;
	pid_t pid;

	if (!g) {
		probe_say(r, PROBE_UNKNOWN, NULL, "no memory for the filter");
		return;
	}
	pid = fork();
	if (!pid)
		_exit(-gate_install(g));
	err = pid < 0 ? -errno : wait_for(pid, &status);
	if (pid > 0 && err)
		end_child(pid);
	gate_free(g);
	if (!err)
		err = WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
	if (!err)
		probe_say(r, PROBE_YES, NULL, "a seccomp filter was installed in a child%s",
			  geteuid() ? "; set-uid programs run without their privilege under it" : "");
	else
		probe_say(r, PROBE_NO, "use a kernel with CONFIG_SECCOMP_FILTER, or allow seccomp "
			  "in the container's profile",
			  "a seccomp filter cannot be installed (%s): each system call is stopped at instead",
			  strerror(-err));
}

/* ---- /proc ---- */

/* struct procmap_query of <linux/fs.h>, which older headers lack. */
struct query {
	uint64_t size, flags, addr;
	uint64_t start, end, vm_flags, page_size, offset, inode;
	uint32_t dev_major, dev_minor, name_size, build_id_size;
	uint64_t name, build_id;
};

void probe_procmap(struct probe_result *r)
{
	struct query q = { .size = sizeof(q), .addr = (uint64_t)(uintptr_t)&q };
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	int err = fd < 0 || ioctl(fd, _IOWR('f', 17, struct query), &q) ? errno : 0;

	if (fd >= 0)
		close(fd);
	if (!err && q.start <= q.addr && q.addr < q.end)
		probe_say(r, PROBE_YES, NULL, "one area can be asked for");
	else
		probe_say(r, PROBE_NO, "boot Linux 6.11 or later",
			  "not in this kernel (%s): the text of /proc/PID/maps is read",
			  strerror(err));
}

void probe_pagemap(struct probe_result *r)
{
	uint64_t word = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, &word, sizeof(word),
					(off_t)((uintptr_t)&word / 4096 * sizeof(word)));
	int code = errno;

	if (fd >= 0)
		close(fd);
	if (n != sizeof(word))
		probe_say(r, PROBE_NO, "boot a kernel with CONFIG_PROC_PAGE_MONITOR",
			  "/proc/self/pagemap cannot be read: %s", n < 0 ? strerror(code) : "it is short");
	else if (!(word >> 63))
		probe_say(r, PROBE_NO, NULL, "/proc/self/pagemap does not show a page that is there");
	else if (!(word & ((1ull << 55) - 1)))
		probe_say(r, PROBE_YES, NULL,
			  "pages can be told present and private; which ones are shared with whom only root sees");
	else
		probe_say(r, PROBE_YES, NULL, "pages can be told, with their frame numbers");
}

/* The first mapping that has a link there is our own program or a library. */
void probe_map_files(struct probe_result *r)
{
	DIR *dir = opendir("/proc/self/map_files");
	struct dirent *d;
	int fd = -1, code = errno;

	if (!dir) {
		probe_say(r, PROBE_NO, NULL, "/proc/self/map_files cannot be read: %s",
			  strerror(code));
		return;
	}
	do {
		d = readdir(dir);
	} while (d && d->d_name[0] == '.');
	if (d) {
		fd = openat(dirfd(dir), d->d_name, O_RDONLY | O_CLOEXEC);
		code = errno;
	}
	closedir(dir);
	if (fd >= 0) {
		close(fd);
		probe_say(r, PROBE_YES, NULL, "files can be opened by their mapping");
	} else if (code == EPERM || code == EACCES) {
		probe_say(r, PROBE_NO, "run as root, or setcap cap_checkpoint_restore+ep hotvar",
			  "files that were deleted or replaced cannot be opened by their mapping: %s",
			  strerror(code));
	} else {
		probe_say(r, PROBE_UNKNOWN, NULL, "no file is mapped, or it cannot be opened: %s",
			  strerror(code));
	}
}
