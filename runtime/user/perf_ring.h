/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ring.h - timer samples, or page faults, and map news of tasks, from the kernel's perf events.
 *
 * One ring for each CPU, whatever the number of tasks: each task followed has
 * one event on each CPU (an inherited event cannot be for all CPUs and have a
 * ring), and all events of a CPU write to its ring.  What a followed
 * task forks or clones later is followed without another call.
 *
 * The timer is the CPU clock, counted while the task runs; only what it does in user mode is
 * sampled.  No privilege is needed up to kernel.perf_event_paranoid = 2.  Used by one thread.
 */
#ifndef PERF_RING_H
#define PERF_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "perf_record.h"
#include "stream.h"

struct bpf_calls;
struct perf_rings;
struct pmu_events;

struct perf_rings_options {
	unsigned hz;  /* samples a second of CPU time of each task; 0: none */
	bool maps;    /* also FORK EXIT COMM and each new mapping */
	bool tasks;   /* also FORK and EXIT, without maps */
	long calls_id; /* also the returns of mapping calls: perf_calls_id(); only without hz, or with faults; 0: not */
	bool on_exec; /* events begin when the task executes a program, not at once */
	/*
	 * Everything that happens on the machine, of all tasks, and this program's news of calls (borrowed): only with
	 * maps and without hz.  No task has events of its own then, which cost it something whenever it is switched to:
	 * perf_rings_add() has nothing to do.  NULL: not.
	 */
	struct bpf_calls *wide;
	bool faults; /* every page fault, in place of samples at hz; those in the kernel where that is allowed */
	struct pmu_events *pmu; /* accesses that it samples, in place of a timer: hz is 0; borrowed, NULL: none */
	bool watch;  /* the samples are those of events that perf_rings_open() opens; no others: hz and maps are none */
};

/* Returns NULL and @e: refused, not there, no memory to lock; each with what mends it. */
struct perf_rings *perf_rings_new(const struct perf_rings_options *o, struct err *e);
void perf_rings_free(struct perf_rings *r);

/*
 * Follow the task @tid.  Returns 0; -ESRCH: gone; -EMFILE: no more file
 * descriptors may be had, even after raising the soft limit (perf_rings_skipped()
 * counts it); or -errno and @e.
 */
int perf_rings_add(struct perf_rings *r, pid_t tid, struct err *e);
/* The same for one whose events an exec has ended (target_guarded()): they begin at once. */
int perf_rings_add_again(struct perf_rings *r, pid_t tid, struct err *e);
uint64_t perf_rings_skipped(const struct perf_rings *r);

/*
 * Keep the clock of @tid apart from those of what it makes.  The kernel swaps the
 * inherited timers of tasks that take turns on a CPU, which is cheap and
 * harmless among threads; but a task that forks all the time so loses what it
 * has run since its last sample to children that end (of 200 ms, 14 were sampled,
 * and 206 when kept apart).  It costs 10 us at each turn, so only such tasks are
 * worth it.  Failure is no loss but of that.
 */
void perf_rings_keep_apart(struct perf_rings *r, pid_t tid);

/*
 * Open an event of task @tid that is as @a says on the @i-th CPU of perf_rings_cpus(), writing to its ring: the
 * descriptor, which is the caller's; -ENODEV: that CPU is not there; or -errno.
 */
size_t perf_rings_cpus(const struct perf_rings *r);
int perf_rings_open(struct perf_rings *r, struct perf_event_attr *a, pid_t tid, size_t i);
/* The same in the group of event @group, -1: in none; and the number of that CPU. */
int perf_rings_open_in(struct perf_rings *r, struct perf_event_attr *a, pid_t tid, size_t i, int group);
int perf_rings_cpu(const struct perf_rings *r, size_t i);

/*
 * The event that the followed task has on the @i-th CPU, which is that of all it makes: -1 if more than one task is followed.  And
 * another ring for it to write to: what comes there is handed over as what is in the others.  As many as there are CPUs at most; NULL: no more.
 */
int perf_rings_event(const struct perf_rings *r, size_t i);
struct perf_ring *perf_rings_another(struct perf_rings *r);
/* The same in *@event, whatever else is followed by now, once it was not -1; and in *@home the event whose ring it wrote to at first. */
void perf_rings_home(const struct perf_rings *r, size_t i, int *event, int *home);
/* Bytes of data that each CPU's ring has. */
size_t perf_rings_room(const struct perf_rings *r);

/* Of faults only those in user mode are told: the kernel allows no more. */
bool perf_rings_user_only(const struct perf_rings *r);

/* No more samples or news; what is in the rings stays. */
void perf_rings_stop(struct perf_rings *r);
/* After the last drain: count what there was no room for at the very end, which no later record tells. */
void perf_rings_count_rest(struct perf_rings *r);

/* Becomes readable when a ring is half full.  Borrowed. */
int perf_rings_fd(const struct perf_rings *r);

/*
 * Hand over what the rings hold up to @until_ns (~0: all), in time order.
 * A CPU may still be writing a record of a moment ago: with an @until_ns
 * that lies a millisecond back, nothing comes out of order.
 */
void perf_rings_drain(struct perf_rings *r, uint64_t until_ns, perf_record_fn fn,
		      void *ctx);

const struct perf_ring_counts *perf_rings_counts(const struct perf_rings *r);

#endif /* PERF_RING_H */
