// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probe.c - the table of probes, and those that only read a setting.
 */
#include "config.h"

#include "probe.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf_calls.h"
#include "exact_valgrind.h"
#include "launch.h"
#include "proc.h"
#include "translator-hooks/debug_server.h"
#include "translator-hooks/image_cache.h"

enum { USUAL_HZ = 1000, USUAL_THREADS = 1000, USUAL_MLOCK_KB = 516 };

void probe_say(struct probe_result *r, enum probe_answer answer, const char *fix,
	       const char *fmt, ...)
{
	va_list ap;

	r->answer = answer;
	snprintf(r->fix, sizeof(r->fix), "%s", fix ? fix : "");
	va_start(ap, fmt);
	vsnprintf(r->detail, sizeof(r->detail), fmt, ap);
	va_end(ap);
}

long probe_number(const char *path, long otherwise)
{
	FILE *f = fopen(path, "re");
	long v;

	if (!f)
		return otherwise;
	if (fscanf(f, "%ld", &v) != 1)
		v = otherwise;
	fclose(f);
	return v;
}

static void proc_mounted(struct probe_result *r)
{
	if (!access("/proc/version", F_OK) && !proc_is_ours())
		probe_say(r, PROBE_NO, "unshare --mount-proc hotvar ...",
			  "/proc is of another PID namespace, and calls processes by other numbers");
	else if (!access("/proc/self/maps", R_OK))
		probe_say(r, PROBE_YES, NULL, "/proc is mounted");
	else
		probe_say(r, PROBE_NO, "mount -t proc proc /proc",
			  "/proc/self/maps cannot be read: %s", strerror(errno));
}

static void paranoid(struct probe_result *r)
{
	long v = probe_number("/proc/sys/kernel/perf_event_paranoid", -99);

	if (v == -99)
		probe_say(r, PROBE_UNKNOWN, NULL,
			  "/proc/sys/kernel/perf_event_paranoid cannot be read; this kernel may have no perf events");
	else if (v <= 2 || !geteuid())
		probe_say(r, PROBE_YES, NULL, "kernel.perf_event_paranoid is %ld: %s", v,
			  v <= 2 ? "own processes may be sampled by anyone" :
				   "only root may sample");
	else
		probe_say(r, PROBE_NO, "sysctl kernel.perf_event_paranoid=2",
			  "kernel.perf_event_paranoid is %ld: only root may sample", v);
}

static void mlock_limit(struct probe_result *r)
{
	long kb = probe_number("/proc/sys/kernel/perf_event_mlock_kb", -1);

	if (kb < 0)
		probe_say(r, PROBE_UNKNOWN, NULL,
			  "/proc/sys/kernel/perf_event_mlock_kb cannot be read");
	else if (kb >= USUAL_MLOCK_KB || !geteuid())
		probe_say(r, PROBE_YES, NULL,
			  "kernel.perf_event_mlock_kb is %ld: rings of the usual size on each CPU", kb);
	else
		probe_say(r, PROBE_NO, "sysctl kernel.perf_event_mlock_kb=516",
			  "kernel.perf_event_mlock_kb is %ld: rings will be small, and may overflow", kb);
}

/* The kernel lowers it by itself where sampling interrupts take long, and holds timers to it. */
static void sample_rate(struct probe_result *r)
{
	long hz = probe_number("/proc/sys/kernel/perf_event_max_sample_rate", -1);
	long share = probe_number("/proc/sys/kernel/perf_cpu_time_max_percent", -1);

	if (hz < 0)
		probe_say(r, PROBE_UNKNOWN, NULL,
			  "/proc/sys/kernel/perf_event_max_sample_rate cannot be read");
	else if (hz >= USUAL_HZ)
		probe_say(r, PROBE_YES, NULL,
			  "kernel.perf_event_max_sample_rate is %ld: -F up to that is not throttled%s",
			  hz, share == 0 ? " (and the kernel does not lower it)" : "");
	else
		probe_say(r, PROBE_NO, "sysctl kernel.perf_event_max_sample_rate=100000",
			  "kernel.perf_event_max_sample_rate is %ld: the usual -F %d is throttled", hz,
			  USUAL_HZ);
}

static void fd_limit(struct probe_result *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long long threads;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || cpus < 1) {
		probe_say(r, PROBE_UNKNOWN, NULL, "the limit of open files cannot be told");
		return;
	}
	threads = l.rlim_max / (unsigned long long)cpus;
	if (l.rlim_max == RLIM_INFINITY || threads >= USUAL_THREADS)
		probe_say(r, PROBE_YES, NULL,
			  "%llu open files: -p can sample %llu threads of one process",
			  (unsigned long long)l.rlim_max, threads);
	else
		probe_say(r, PROBE_NO, "ulimit -Hn 65536 (as root), or LimitNOFILE= of the service",
			  "%llu open files on %ld CPUs: -p can sample only %llu threads of one process",
			  (unsigned long long)l.rlim_max, cpus, threads);
}

static void cache(struct probe_result *r)
{
	const char *dir = image_cache_dir(), *why = image_cache_why();

	if (dir && !why)
		probe_say(r, PROBE_YES, NULL, "symbol images are kept in %s", dir);
	else
		probe_say(r, PROBE_NO, "export XDG_CACHE_HOME=DIR, a folder of your own",
			  "symbol images are made anew each time: %s",
			  why ? why : "there is no folder for them");
}

static bool on_path(const char *name)
{
	char *argv[] = { (char *)name, NULL };
	struct launch l;

	return !launch_find(&l, argv, NULL);
}

static void tracefs(struct probe_result *r)
{
	if (!access("/sys/kernel/tracing/events", R_OK | X_OK))
		probe_say(r, PROBE_YES, NULL, "/sys/kernel/tracing can be read");
	else if (errno == EACCES)
		probe_say(r, PROBE_NO, "run as root", "/sys/kernel/tracing is for root only");
	else
		probe_say(r, PROBE_NO, "mount -t tracefs tracefs /sys/kernel/tracing",
			  "tracefs is not mounted at /sys/kernel/tracing");
}

static void bpf_program(struct probe_result *r)
{
	struct err e = { 0 };
	struct bpf_calls *b = bpf_calls_new(1, &e);

	if (b && !bpf_calls_start(b, &e))
		probe_say(r, PROBE_YES, NULL, "the kernel takes the program that tells mapping calls as they begin");
	else if (geteuid())
		probe_say(r, PROBE_NO, "run as root", "BPF programs are for root only");
	else
		probe_say(r, PROBE_NO, "Linux 5.15 or newer, without lockdown=confidentiality", "%.400s", e.text);
	bpf_calls_free(b);
}

static void valgrind(struct probe_result *r)
{
	struct exact_valgrind found;
	struct err e = { 0 };

	if (!on_path("valgrind"))
		probe_say(r, PROBE_NO, "apt-get install valgrind", "valgrind is not installed");
	else if (exact_valgrind_find(&found, &e))
		probe_say(r, PROBE_NO, "./configure --prefix=DIR && make && make install, where valgrind's headers are (apt-get install valgrind)",
			  "valgrind is installed, but: %.400s", e.text);
	else
		probe_say(r, PROBE_YES, NULL, "%.300s runs the tool in %.150s", found.launcher, found.folder);
}

static void debuginfod(struct probe_result *r)
{
	const char *urls = getenv("DEBUGINFOD_URLS"), *why = debug_server_why();
	glob_t found = { 0 };
	bool files = !glob("/etc/debuginfod/*.urls", 0, NULL, &found) && found.gl_pathc;

	globfree(&found);
	if (why && urls && *urls)
		probe_say(r, PROBE_NO, "apt-get install libdebuginfod1 libdebuginfod-dev", "%s", why);
	else if (urls && *urls)
		probe_say(r, PROBE_YES, NULL, "--debuginfod asks the servers in DEBUGINFOD_URLS: %.300s", urls);
	else if (files)
		probe_say(r, PROBE_NO, ". /etc/profile.d/debuginfod.sh",
			  "DEBUGINFOD_URLS is not set, though /etc/debuginfod names servers");
	else
		probe_say(r, PROBE_NO, "export DEBUGINFOD_URLS=..., as your distribution documents",
			  "DEBUGINFOD_URLS is not set: symbols of stripped programs are not fetched");
}

const struct probe probes[] = {
	{ "proc", PROBE_MAIN, "following a memory map", proc_mounted },
	{ "perf-timer", PROBE_MAIN, "sampling at next to no cost", probe_perf_timer },
	{ "ptrace", PROBE_MAIN, "following each mapping call; sampling without perf", probe_ptrace },
	{ "seccomp-gate", PROBE_BETTER, "stopping at mapping calls only", probe_gate },
	{ "attach", PROBE_BETTER, "-p with each mapping call followed", probe_attach },
	{ "perf-paranoid", PROBE_BETTER, "sampling without being root", paranoid },
	{ "perf-mlock", PROBE_BETTER, "large rings", mlock_limit },
	{ "perf-rate", PROBE_BETTER, "high sampling rates", sample_rate },
	{ "fd-limit", PROBE_BETTER, "-p on processes of many threads", fd_limit },
	{ "procmap-query", PROBE_BETTER, "fast looks at a memory map", probe_procmap },
	{ "cache", PROBE_BETTER, "names without reading each program again", cache },
	{ "map-files", PROBE_BETTER, "names of deleted and replaced files", probe_map_files },
	{ "pagemap", PROBE_OPTIONAL, "which pages are private, shared, dirty", probe_pagemap },
	{ "pagemap-scan", PROBE_OPTIONAL, "hotvar pages: zero and huge, and large memory at little cost", probe_pagemap_scan },
	{ "kpageflags", PROBE_OPTIONAL, "hotvar pages: mapcount, folio, and which page of shared memory is written", probe_page_tables },
	{ "page-faults", PROBE_OPTIONAL, "hotvar pages: touched, of pages that are new", probe_page_faults },
	{ "fault-around", PROBE_OPTIONAL, "hotvar pages: touched, of new pages of files", probe_fault_around },
	{ "huge-pages", PROBE_OPTIONAL, "hotvar advise --verify, and what it advises", probe_huge_pages },
	{ "pmu", PROBE_OPTIONAL, "the processor's own access samples", probe_pmu },
	{ "valgrind", PROBE_OPTIONAL, "hotvar --exact", valgrind },
	{ "bpf-calls", PROBE_BETTER, "hotvar maps --source perf with each munmap and mremap in its place", bpf_program },
	{ "tracefs", PROBE_OPTIONAL, "hotvar maps --source perf-returns, hotvar pages --copies", tracefs },
	{ "systemtap", PROBE_OPTIONAL, "hotvar stap", probe_stap },
	{ "stap-modules", PROBE_OPTIONAL, "hotvar stap", probe_stap_modules },
	{ "stap-headers", PROBE_OPTIONAL, "hotvar stap", probe_stap_headers },
	{ "stap-runtime", PROBE_OPTIONAL, "hotvar stap", probe_stap_runtime },
	{ "stap-rights", PROBE_OPTIONAL, "hotvar stap", probe_stap_rights },
	{ "stap-images", PROBE_OPTIONAL, "names in stap scripts", probe_stap_images },
	{ "debuginfod", PROBE_OPTIONAL, "names in stripped programs", debuginfod },
};
const size_t n_probes = sizeof(probes) / sizeof(probes[0]);

const struct probe *probe_find(const char *name)
{
	for (size_t i = 0; i < n_probes; i++)
		if (!strcmp(probes[i].name, name))
			return &probes[i];
	return NULL;
}
