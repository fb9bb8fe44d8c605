// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_news.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "perf_calls.h"
#include "pmu_source.h"
#include "proc.h"
#include "target.h"

#define NR_MSEAL 462 /* x86-64, i386 and x32 alike, since Linux 6.10 */

#define KERNEL_ADDRESSES (1ull << 63) /* and what is above */
#define PERIOD_MAX ((1ull << 40) - 1) /* accesses that one stands for */

enum { MANY_CHILDREN = 4 }; /* of one task in one tick */
enum { BREAK_TRIES = 64 };  /* a few milliseconds at most */
enum { RECOVER_SHARE = 8 }; /* one part in so many of the time goes into finding what was lost, */
#define RECOVER_LATE_NS 1000000000u /* but that waits no longer than this */

static uint64_t forward(struct perf_news *n, uint64_t time_ns)
{
	if (n->last_ns < time_ns)
		n->last_ns = time_ns;
	return n->last_ns;
}

/*
 * The number of the address space @tid runs in.  A task whose birth was not
 * told (its record was lost, or it was born while we attached) is asked for in /proc; if it is gone
 * already, it shared with its process, which may be known.  0: not known.
 */
static uint32_t mm_of(struct perf_news *n, pid_t pid, pid_t tid, uint64_t time_ns)
{
	pid_t its_pid;
	uint32_t mm;
	int err;

	if (tracker_knows(n->t, tid, &its_pid, &mm))
		return mm;
	err = tracker_add(n->t, tid, pid, time_ns, NULL);
	if ((!err || err == -EEXIST) && tracker_knows(n->t, tid, &its_pid, &mm))
		return mm;
	return tracker_knows(n->t, pid, &its_pid, &mm) ? mm : 0;
}

static void take_sample(struct perf_news *n, const struct perf_record *r, uint64_t time_ns)
{
	struct stream_sample s;
	uint32_t mm = 0;

	if (r->pid > 0 && r->tid > 0)
		mm = mm_of(n, r->pid, r->tid, time_ns);
	if (!mm) {
		n->homeless++;
		return;
	}
	if (n->faults) /* what is there may not have been told, as a stack that has grown */
		tracker_find(n->t, r->tid, r->u.sample.word, time_ns);
	if (!n->faults || r->u.sample.ip < KERNEL_ADDRESSES)
		code_capture_at(n->code, r->pid, r->tid, mm, r->u.sample.ip, time_ns);
	perf_ring_sample(r, mm, &s);
	s.ev.time_ns = time_ns;
	if (n->faults)
		stream_put(n->out, STREAM_FAULT, &s, sizeof(s), &r->u.sample.word, sizeof(r->u.sample.word));
	else
		stream_put(n->out, STREAM_SAMPLE, &s, sizeof(s), NULL, 0);
	n->samples++;
	relook_active(n->look, r->pid, true);
	if (n->breaks && !(s.ev.u.sample.flags & HVAR_SAMPLE_NOREGS))
		breakpoints_saw(n->breaks, r->pid, r->tid, mm, s.ev.u.sample.ip,
				s.ev.u.sample.flags & HVAR_SAMPLE_ABI32, s.ev.u.sample.period_ns);
	if (n->walks && !(s.ev.u.sample.flags & (HVAR_SAMPLE_NOREGS | HVAR_SAMPLE_ABI32)))
		walks_saw(n->walks, r->pid, r->tid, mm, r->cpu, r->time_ns, s.ev.u.sample.period_ns);
}

/* What the kernel accesses for the program is not its own; what accesses nothing, an operation that IBS has sampled, is none. */
static void take_access(struct perf_news *n, const struct perf_record *r, uint64_t time_ns)
{
	struct stream_access a = { .source = r->u.access.source, .latency = r->u.access.latency };
	struct hvar_event *ev = &a.ev;
	uint32_t mm = 0;

	if (r->u.access.kernel || pmu_source_is_none(r->u.access.source))
		return;
	if (r->pid > 0 && r->tid > 0)
		mm = mm_of(n, r->pid, r->tid, time_ns);
	if (!mm) {
		n->homeless++;
		return;
	}
	if (r->u.access.addr)
		tracker_find(n->t, r->tid, r->u.access.addr, time_ns);
	else
		a.flags = STREAM_ACCESS_NO_ADDRESS;
	ev->time_ns = time_ns;
	ev->type = HVAR_EVENT_ACCESS;
	ev->mm = mm;
	ev->pid = (uint32_t)r->pid;
	ev->tid = (uint32_t)r->tid;
	ev->u.access.addr = r->u.access.addr;
	ev->u.access.ip = r->u.access.ip;
	ev->u.access.weight = (r->u.access.period ? r->u.access.period & PERIOD_MAX : 1) << 16;
	ev->u.access.flags = pmu_source_flags(r->u.access.source);
	stream_put(n->out, STREAM_ACCESS, &a, sizeof(a), "\0", 2);
	n->samples++;
	relook_active(n->look, r->pid, true);
}

static void take_hit(void *ctx, const struct perf_record *r)
{
	struct perf_news *n = ctx;
	uint64_t time_ns = forward(n, r->time_ns);
	struct stream_sample s;
	uint32_t mm = 0;

	if (r->pid > 0 && r->tid > 0)
		mm = mm_of(n, r->pid, r->tid, time_ns);
	if (!mm)
		return;
	code_capture_at(n->code, r->pid, r->tid, mm, r->u.sample.ip, time_ns);
	perf_ring_sample(r, mm, &s);
	/* The stream never goes back, but what lies between two hits tells bursts apart. */
	s.ev.time_ns = time_ns;
	s.ev.u.sample.period_ns = 0;
	stream_put(n->out, STREAM_HIT, &s, sizeof(s), NULL, 0);
}

static void take_walk(void *ctx, const struct perf_record *r, uint32_t mm, uint64_t fs_base, const struct walk_path *path)
{
	struct perf_news *n = ctx;
	uint64_t time_ns = forward(n, r->time_ns);
	struct stream_walk w = { .insns = path->insns, .n_bits = path->n_bits, .n_targets = path->n_targets,
				 .n_loads = (uint16_t)path->n_loads, .end = (uint16_t)path->end };

	/* It may have executed another program just before. */
	if (mm_of(n, r->pid, r->tid, time_ns) != mm)
		return;
	code_capture_at(n->code, r->pid, r->tid, mm, r->u.sample.ip, time_ns);
	for (uint32_t i = 0; i < path->n_targets; i++)
		code_capture_at(n->code, r->pid, r->tid, mm, path->targets[i], time_ns);
	perf_ring_sample(r, mm, &w.s);
	w.s.ev.time_ns = time_ns;
	w.s.ev.u.sample.period_ns = 0;
	w.s.fs_base = fs_base;
	stream_put_walk(n->out, &w, path->targets, path->loads, path->bits);
}

/*
 * All that was written till now.  The rings are read one after the other: what is written meanwhile waits for the
 * next time, or a task that changes its CPU would be told backwards.  At the end there is no next time.
 */
static void drain(struct perf_news *n)
{
	perf_rings_drain(n->rings, n->until_ns ? ~0ull : clock_now_ns(), perf_news_take, n);
}

void perf_news_breaks(struct perf_news *n, bool more)
{
	if (!n->breaks)
		return;
	drain(n);
	if (more && n->walks) {
		int done = walks_step(n->walks, clock_now_ns());

		drain(n);
		if (done) {
			walks_take(n->walks, take_walk, n);
			breakpoints_beside(n->breaks, walks_tell(n->walks));
		}
	}
	if (more)
		breakpoints_step(n->breaks, clock_now_ns(), take_hit, n);
	else
		breakpoints_stop(n->breaks, take_hit, n);
	if (!more && n->walks)
		walks_stop(n->walks);
}

/*
 * Is it older than what was read of the map?  The list is not what it was told to, so that it is left out; but
 * what it tells may have come and gone before the reading: it counts after a loss, and for a mapping that was not there to be read.
 */
static bool is_old(struct perf_news *n, const struct perf_record *r)
{
	uint64_t seen_ns = relook_seen(n->look, r->pid);

	if (r->time_ns >= seen_ns)
		return false;
	n->overlooked += !n->hz && n->lost_ns && seen_ns >= n->lost_ns;
	return true;
}

static void take_map(struct perf_news *n, const struct perf_record *r, uint64_t time_ns)
{
	struct tracker_mmap m = {
		.start = r->u.map.start,
		.end = r->u.map.end,
		.pgoff = r->u.map.pgoff,
		.prot = r->u.map.prot,
		.dev_major = r->u.map.dev_major,
		.dev_minor = r->u.map.dev_minor,
		.ino = r->u.map.ino,
		.name = r->u.map.name,
		.tid = r->tid,
	};

	if (!n->calls)
		relook_active(n->look, r->pid, false);
	if (is_old(n, r)) {
		n->overlooked += n->hz && !tracker_has_mapped(n->t, r->pid, &m);
		return;
	}
	if (tracker_map(n->t, r->pid, &m, time_ns) == -ESRCH)
		mm_of(n, r->pid, r->tid, time_ns);
}

/*
 * Who is to have made the call @r, of a thread that is not known: as for its mappings, its process's first one if the thread
 * has ended.  0: nobody, or its process was not known either and has just been read.
 */
static pid_t caller_of(struct perf_news *n, const struct perf_record *r, uint64_t time_ns)
{
	bool known = tracker_has_process(n->t, r->pid);
	uint32_t mm;
	pid_t pid;

	mm_of(n, r->pid, r->tid, time_ns);
	if (!known)
		return 0;
	return tracker_knows(n->t, r->tid, &pid, &mm) ? r->tid : r->pid;
}

static void take_call(struct perf_news *n, const struct perf_record *r, uint64_t time_ns)
{
	uint64_t told = tracker_told(n->t);
	struct stream_touched touched;
	struct hvar_call c;

	if (perf_calls_fill(r, &c) && !is_old(n, r) && tracker_call_told(n->t, r->tid, &c, time_ns) == -ESRCH)
		tracker_call_told(n->t, caller_of(n, r, time_ns), &c, time_ns);
	if (!n->faults || !perf_calls_touched(&c, tracker_told(n->t) != told, &touched))
		return;
	touched.time_ns = time_ns;
	touched.pid = (uint32_t)r->pid;
	touched.mm = mm_of(n, r->pid, r->tid, time_ns);
	if (touched.mm)
		stream_put(n->out, STREAM_TOUCHED, &touched, sizeof(touched), NULL, 0);
}

/* What holds the lock of its map, and will change it now. */
static void take_lock(struct perf_news *n, const struct perf_record *r, uint64_t time_ns)
{
	struct hvar_call c;
	bool is_call = perf_calls_fill(r, &c);

	if (r->u.call.nr == NR_MSEAL)
		tracker_sealed(n->t, r->tid);
	if (!is_call) {
		if (c.cause == HVAR_CAUSE_NONE || c.cause == HVAR_CAUSE_PRCTL)
			relook_active(n->look, r->pid, false);
		return;
	}
	if (c.cause == HVAR_CAUSE_FORK || c.cause == HVAR_CAUSE_CLONE || c.cause == HVAR_CAUSE_CLONE3)
		n->copied[(uint32_t)r->tid % PERF_NEWS_COPIES] = r->tid;
	if (is_old(n, r))
		return;
	if (tracker_call_begun(n->t, r->tid, &c, time_ns) == -ESRCH)
		tracker_call_begun(n->t, caller_of(n, r, time_ns), &c, time_ns);
}

/*
 * The record does not say whether a new process shares its maker's memory.  While both
 * run, the kernel can be asked; a vfork child that has executed a program by
 * now passes for a copy, until the record of that comes, and so does one that is gone: *@known is false then.  Where
 * locks are told, who copies its memory has held that of the copy's original just before.
 */
static bool shares_mm(struct perf_news *n, const struct perf_record *r, bool *known)
{
	int got;

	*known = true;
	if (r->pid == r->u.task.ppid)
		return true;
	if (n->wide && n->copied[(uint32_t)r->u.task.ptid % PERF_NEWS_COPIES] == r->u.task.ptid) {
		n->copied[(uint32_t)r->u.task.ptid % PERF_NEWS_COPIES] = 0;
		return false;
	}
	if (n->wide && !n->lost_some)
		return true;
	got = proc_same_memory(r->u.task.ptid, r->tid);
	*known = got == 1 || (!got && proc_has_memory(r->tid));
	return got == 1;
}

/* Some children a tick are enough to cost their maker its samples. */
static void note_maker(struct perf_news *n, pid_t tid)
{
	struct perf_news_maker *m = &n->makers[(uint32_t)tid % PERF_NEWS_MAKERS];

	if (m->tid != tid)
		*m = (struct perf_news_maker){ .tid = tid };
	if (++m->made < MANY_CHILDREN || m->apart)
		return;
	m->apart = true;
	perf_rings_keep_apart(n->rings, tid);
}

static void take_fork(struct perf_news *n, const struct perf_record *r, uint64_t time_ns)
{
	bool thread = r->pid == r->u.task.ppid, shares, known;
	pid_t maker;
	uint32_t mm, cause;

	if (r->tid <= 0 || tracker_knows(n->t, r->tid, &maker, &mm))
		return;
	shares = shares_mm(n, r, &known);
	cause = thread ? HVAR_CAUSE_CLONE : shares ? HVAR_CAUSE_VFORK : HVAR_CAUSE_FORK;
	if (tracker_fork(n->t, r->u.task.ptid, r->tid, r->pid, shares, cause, time_ns))
		mm_of(n, r->pid, r->tid, time_ns);
	if (!known && n->calls)
		tracker_may_share(n->t, r->tid, r->u.task.ptid);
	if (!thread) {
		kin_born(&n->kin, r->pid);
		if (!n->calls)
			relook_active(n->look, r->pid, false);
		note_maker(n, r->u.task.ptid);
	}
}

static void put_comm(struct perf_news *n, pid_t pid, pid_t tid, const char *name, uint64_t time_ns)
{
	struct stream_comm c = { .time_ns = time_ns, .pid = (uint32_t)pid, .tid = (uint32_t)tid };

	memcpy(c.comm, name, strnlen(name, sizeof(c.comm) - 1));
	stream_put(n->out, STREAM_COMM, &c, sizeof(c), NULL, 0);
}

void perf_news_reopen(struct perf_news *n, pid_t pid)
{
	struct proc_stat st = { 0 };

	/* First what it runs unseen without. */
	if (!n->wide && target_guarded(pid) && !perf_rings_add_again(n->rings, pid, NULL))
		n->reopened = pid;
	/* Its files are closed before its memory is complete. */
	for (int i = 0; i < BREAK_TRIES && !st.start_brk; i++)
		if (proc_stat(pid, &st))
			break;
	tracker_break_begins(n->t, pid, st.start_brk);
}

/*
 * Has the exec of @pid at @exec_ns ended its events?  Then open others, and count what it
 * may have run meanwhile.  What appeared in its map is not told either.
 */
static void go_on(struct perf_news *n, pid_t pid, uint64_t exec_ns, uint64_t time_ns)
{
	uint64_t now, gap, used;
	struct proc_stat st;

	if (!target_guarded(pid))
		return;
	if (n->reopened != pid) {
		int err = perf_rings_add_again(n->rings, pid, NULL);

		if (err == -EPERM || err == -EACCES)
			n->cut_off++;
		else
			n->late++; /* or it has ended, or perf_rings_skipped() counts it */
		proc_stat(pid, &st);
		now = clock_now_ns();
		gap = now > exec_ns ? now - exec_ns : 0;
		used = st.used_ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
		n->lost_samples += (gap < used ? gap : used) * n->hz / 1000000000;
	}
	n->reopened = 0;
	n->went_on = pid;
	n->went_on_ns = clock_now_ns();
	relook_saw(n->look, pid, n->went_on_ns);
	tracker_look(n->t, pid, 0, ~0ull, HVAR_CAUSE_NONE, time_ns);
}

/*
 * At an exec this record comes first, then those of the new map's areas: all of
 * them are news, also if the map has been read since.
 */
static void take_comm(struct perf_news *n, const struct perf_record *r, uint64_t time_ns)
{
	if (r->tid <= 0)
		return;
	if (r->u.comm.exec) {
		tracker_exec(n->t, r->pid, r->tid, false, HVAR_CAUSE_EXECVE, time_ns);
		relook_saw(n->look, r->pid, 0);
		if (!n->calls)
			relook_active(n->look, r->pid, false);
		if (!n->wide)
			go_on(n, r->pid, r->time_ns, time_ns);
	}
	put_comm(n, r->pid, r->tid, r->u.comm.name, time_ns);
}

static void take_exit(struct perf_news *n, const struct perf_record *r, uint64_t time_ns)
{
	/* An exec that ends the events is told as the end of the task. */
	if (r->tid <= 0 || (r->tid == n->went_on && r->time_ns <= n->went_on_ns))
		return;
	if (n->breaks)
		breakpoints_gone(n->breaks, r->tid, take_hit, n);
	tracker_exit(n->t, r->tid, -1, forward(n, time_ns));
	kin_ended(&n->kin, r->pid);
	/* Its first thread may end before others. */
	if (tracker_has_process(n->t, r->pid))
		return;
	n->ended++;
	n->unsampled += !relook_gone(n->look, r->pid);
}

/*
 * Is @r of a process that is followed?  Each birth is told, so that who is not known is none of ours; but after a loss, who has
 * a maker that is may be.
 */
static bool is_ours(struct perf_news *n, const struct perf_record *r)
{
	struct proc_stat st;
	uint32_t mm;
	pid_t pid;

	if (r->what == PERF_IS_LOST || r->what == PERF_IS_THROTTLE)
		return true;
	if (r->pid <= 0 || r->tid <= 0)
		return false;
	if (r->what == PERF_IS_FORK)
		return tracker_knows(n->t, r->u.task.ptid, &pid, &mm) || tracker_knows(n->t, r->u.task.ppid, &pid, &mm);
	if (tracker_knows(n->t, r->tid, &pid, &mm) || tracker_knows(n->t, r->pid, &pid, &mm))
		return true;
	/* Its first thread may have ended before another one executed a program. */
	if (r->what == PERF_IS_COMM && r->u.comm.exec && (r->pid == n->first || tracker_has_process(n->t, r->pid)))
		return true;
	if (!n->lost_some || n->strangers[(uint32_t)r->pid % PERF_NEWS_COPIES] == r->pid)
		return false;
	n->strangers[(uint32_t)r->pid % PERF_NEWS_COPIES] = r->pid;
	return !proc_stat(r->pid, &st) && tracker_knows(n->t, st.ppid, &pid, &mm);
}

void perf_news_take(void *ctx, const struct perf_record *r)
{
	struct perf_news *n = ctx;
	uint64_t time_ns;

	if (n->until_ns && r->time_ns > n->until_ns && r->what != PERF_IS_LOST)
		return;
	if (n->wide && !is_ours(n, r))
		return;
	time_ns = forward(n, r->time_ns);
	n->told_new += r->what != PERF_IS_SAMPLE && r->what != PERF_IS_ACCESS;
	switch (r->what) {
	case PERF_IS_SAMPLE:
		take_sample(n, r, time_ns);
		break;
	case PERF_IS_ACCESS:
		take_access(n, r, time_ns);
		break;
	case PERF_IS_MAP:
		take_map(n, r, time_ns);
		break;
	case PERF_IS_FORK:
		take_fork(n, r, time_ns);
		break;
	case PERF_IS_EXIT:
		take_exit(n, r, time_ns);
		break;
	case PERF_IS_COMM:
		take_comm(n, r, time_ns);
		break;
	case PERF_IS_LOST:
		perf_news_lost(n, r);
		break;
	case PERF_IS_CALL:
		take_call(n, r, time_ns);
		break;
	case PERF_IS_LOCK:
		take_lock(n, r, time_ns);
		break;
	case PERF_IS_PLACE:
		tracker_place_begun(n->t, r->tid, r->u.call.ret);
		break;
	case PERF_IS_THROTTLE:
		break;
	}
}

uint64_t perf_news_new(const struct perf_news *n)
{
	return n->told_new + tracker_told(n->t) + code_capture_pages(n->code);
}

void perf_news_drain(struct perf_news *n)
{
	drain(n);
	if (n->wide)
		tracker_begun_settle(n->t, forward(n, clock_now_ns()));
	if (!n->calls || !tracker_doubts_look(n->t, n->until_ns != 0))
		return;
	drain(n);
	tracker_doubts_settle(n->t, forward(n, clock_now_ns()));
}

static void look_when_due(void *ctx, pid_t pid)
{
	struct perf_news *n = ctx;

	relook_active(n->look, pid, false);
}

static void look(void *ctx, pid_t pid, uint64_t now_ns)
{
	struct perf_news *n = ctx;
	int r;

	if (n->hz && !n->recovers && tracker_is_as_large(n->t, pid) /* asked each time */ && relook_is_untold(n->look, pid)) {
		relook_unseen(n->look, pid);
		return;
	}
	r = tracker_look(n->t, pid, 0, ~0ull, HVAR_CAUSE_NONE, forward(n, now_ns));
	/* A window shows one address space: gone while the process has memory, it has executed a program, unheard. */
	if (r == -ESRCH && n->recovers && proc_goes_on(pid))
		tracker_exec(n->t, pid, pid, true, HVAR_CAUSE_EXECVE, n->last_ns);
	/* What was mapped since the drain and is gone will be told, and that it is gone at the next look. */
	if (!n->hz && !n->calls)
		relook_saw(n->look, pid, 0);
}

/* All its changes are told, now or at the next drain: none is left out, and the look counts if there were none. */
static void look_at_quiet(void *ctx, pid_t pid, uint64_t now_ns)
{
	struct perf_news *n = ctx;

	(void)now_ns;
	relook_saw(n->look, pid, 0);
	n->looked |= tracker_quiet_look(n->t, pid);
}

/* What was lost is found, from the looks on that come next. */
static void recover(struct perf_news *n, uint64_t now_ns)
{
	tracker_recover(n->t, n->since_ticks, forward(n, now_ns), look_when_due, n);
	relook_all(n->look);
	n->lost_ns = now_ns;
	n->lost = false;
}

static void wait_before_next(struct perf_news *n, uint64_t since_ns)
{
	uint64_t now = clock_now_ns(), apart = (now - since_ns) * RECOVER_SHARE;

	n->recover_ns = now + (apart < RECOVER_LATE_NS ? apart : RECOVER_LATE_NS);
}

void perf_news_recover(struct perf_news *n)
{
	n->recover_ns = 0;
	if (n->lost)
		perf_news_look(n, clock_now_ns());
}

void perf_news_look(struct perf_news *n, uint64_t now_ns)
{
	n->recovers = n->lost && now_ns >= n->recover_ns;
	if (n->recovers)
		recover(n, now_ns);
	if (n->calls)
		tracker_each_quiet(n->t, now_ns, look_when_due, n);
	else if (!n->hz)
		relook_any(n->look); /* no sample says who ran, and perf has no news of munmap */
	relook_run(n->look, n->calls && !n->recovers ? look_at_quiet : look, n);
	if (n->recovers)
		wait_before_next(n, now_ns);
	if (n->looked) {
		drain(n);
		tracker_quiet_settle(n->t, forward(n, clock_now_ns()));
	}
	n->looked = n->recovers = false;
	for (size_t i = 0; i < PERF_NEWS_MAKERS; i++)
		n->makers[i].made = 0;
}

void perf_news_comm(struct perf_news *n, pid_t pid, pid_t tid, uint64_t time_ns)
{
	char name[PROC_COMM];

	if (proc_comm(tid, name))
		put_comm(n, pid, tid, name, forward(n, time_ns));
}
