// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walks.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "overhear.h"
#include "perf_ears.h"
#include "proc.h"
#include "standstill.h"
#include "stream.h"
#include "thread_pointer.h"
#include "turns.h"

_Static_assert((int)WALK_BITS <= (int)STREAM_WALK_BITS_MAX && (int)WALK_TARGETS <= (int)STREAM_WALK_TARGETS_MAX &&
		       (int)WALK_ENDS <= (int)STREAM_WALK_ENDS_MAX,
	       "a walk fits into a record");

enum {
	FEWEST = 3, MOST = 6,	/* walks of a burst: to come and go is dear */
	TRIES = 2 * MOST,	/* for threads that do not run now, or run on */
	SLOTS = 4,		/* threads whose timers are kept */
	SEEN = 64,		/* samples, a power of 2 */
	FRESH_NS = 100000000,	/* a sample's thread may run still */
	INSNS = 2000,
	MOST_LATE = 3,		/* then we are one that others go before, and leave it: all, or what is heard */
	FEWEST_TOLD = 6,	/* walks, to say how far they get */
	HEAR_NS = 3000000,	/* to wait for a sample */
	BURST_NS = 40000000,	/* in which nobody reads what comes */
	WALK_NS = 150000,	/* a walk takes so long at most */
	SWITCH_NS = 8000,	/* an interrupt, from thread to thread and back */
	FIRST_EACH_NS = 200000, /* that one costs, until it is known better */
};

struct seen {
	pid_t pid, tid;
	uint32_t mm, cpu;
	uint64_t time_ns;
};

/* One that was done, to be handed on at the burst's end: meanwhile nobody shall stand still for us. */
struct done {
	struct perf_record at;
	uint32_t mm;
	uint64_t fs_base;
	struct walk_path path;
};

/* Where a thread has its own variables, which stays so until it executes another program. */
struct pointer {
	uint32_t mm;
	uint64_t at; /* 0: not known */
};

struct walks {
	double share;
	double credit_ns;
	uint64_t each_ns;
	uint64_t bursts;
	uint64_t stood;		/* threads, in this burst */
	unsigned late;		/* times that we did not get the CPU when it was time, */
	unsigned late_heard;	/* and when it was to hear */
	uint64_t random;
	struct walker *walker;
	struct turns_cost cost;
	struct seen seen[SEEN];
	uint64_t n_seen;
	struct standstill slots[SLOTS];
	struct pointer pointers[SLOTS]; /* of their threads */
	pid_t asked;		/* whether it runs, last: by @stat_fd; 0: nobody */
	int stat_fd;
	int last_slot;
	pid_t pointer_tid;	/* the last one of this burst whose thread pointer was asked for */
	uint64_t pointer;
	pid_t stood_tid;	/* the last one of this burst that stood still: it runs where we are */
	struct standstill_cpus cpus;
	struct perf_ears *ears;	/* NULL: none */
	bool deaf;		/* they cannot be used */
	bool hearing;		/* for the rest of this burst, on the CPU where we are */
	uint64_t until_ns;	/* when this burst is to end */
	struct done done[MOST];
	int n_done;
	struct walks_counts counts;
};

struct walks *walks_new(double share, struct perf_rings *r)
{
	struct walks *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->walker = walker_new();
	w->ears = w->walker && r ? perf_ears_new(r) : NULL;
	if (!w->walker || (r && !w->ears)) {
		walks_free(w);
		return NULL;
	}
	w->share = share;
	w->each_ns = FIRST_EACH_NS;
	w->random = clock_now_ns() | 1;
	return w;
}

void walks_free(struct walks *w)
{
	if (!w)
		return;
	walks_stop(w);
	walker_free(w->walker);
	perf_ears_free(w->ears);
	free(w);
}

const struct walks_counts *walks_counts(const struct walks *w)
{
	return &w->counts;
}

void walks_saw(struct walks *w, pid_t pid, pid_t tid, uint32_t mm, uint32_t cpu, uint64_t time_ns, uint64_t ns)
{
	w->seen[w->n_seen++ % SEEN] = (struct seen){ pid, tid, mm, cpu, time_ns };
	w->credit_ns += w->share * (double)ns;
	turns_cost_saw(&w->cost, pid);
}

/* ---- whose ---- */

/* Marsaglia's xorshift: good enough to choose by. */
static uint64_t some(struct walks *w, uint64_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 11) % below;
}

/* One of the last samples, by chance; NULL: none is so fresh that it tells who runs. */
static const struct seen *choose(struct walks *w, uint64_t now_ns)
{
	uint64_t n = w->n_seen < SEEN ? w->n_seen : SEEN, fresh = 0;

	while (fresh < n && w->seen[(w->n_seen - 1 - fresh) % SEEN].time_ns + FRESH_NS > now_ns)
		fresh++;
	return fresh ? &w->seen[(w->n_seen - 1 - some(w, fresh)) % SEEN] : NULL;
}

/* That which @tid has, or one that nobody has, or by turns. */
static struct standstill *slot_for(struct walks *w, pid_t tid)
{
	for (int i = 0; i < SLOTS; i++)
		if (w->slots[i].base && w->slots[i].tid == tid)
			return &w->slots[i];
	for (int i = 0; i < SLOTS; i++)
		if (!w->slots[i].base)
			return &w->slots[i];
	w->last_slot = (w->last_slot + 1) % SLOTS;
	return &w->slots[w->last_slot];
}

/* Of whom a slot is kept, it is known from the burst before. */
static uint64_t pointer_by(struct walks *w, const struct seen *s, const struct standstill *still)
{
	struct pointer *p = &w->pointers[still - w->slots];

	if (!still->base || still->pid != s->pid || still->tid != s->tid || p->mm != s->mm || !p->at)
		*p = (struct pointer){ s->mm, thread_pointer(s->pid, s->tid) };
	return p->at;
}

static uint64_t pointer_of(struct walks *w, const struct seen *s)
{
	if (w->pointer_tid != s->tid) {
		w->pointer_tid = s->tid;
		w->pointer = thread_pointer(s->pid, s->tid);
	}
	return w->pointer;
}

/* ---- a walk ---- */

static void walk(struct walks *w, const struct seen *s, uint64_t fs_base, struct done *d)
{
	struct walk_start start = { .pid = s->tid, .mm = s->mm, .fs_base = fs_base, .most_insns = INSNS };

	start.until_ns = clock_now_ns() + WALK_NS;
	for (int i = 0; i < STREAM_REGS; i++)
		start.regs[i] = d->at.u.sample.regs[i];
	walker_walk(w->walker, &start, &d->path);
	d->mm = s->mm;
	d->fs_base = fs_base;
}

/* What it told is true only if nothing has moved; 32-bit code is not walked through, and what has done nothing tells nothing. */
static bool is_good(struct walks *w, const struct done *d, bool held)
{
	w->counts.moved += !held;
	return held && d->path.insns && d->path.n_bits + d->path.n_targets <= d->path.insns && d->path.insns <= STREAM_WALK_INSNS_MAX;
}

static int stand_and_walk(struct walks *w, const struct seen *s, struct standstill *still)
{
	uint64_t in_ns = STANDSTILL_LEAST_NS + some(w, STANDSTILL_MOST_NS - STANDSTILL_LEAST_NS);
	struct done *d = &w->done[w->n_done];
	uint64_t fs_base = pointer_by(w, s, still);
	int err = standstill_begin(still, s->pid, s->tid, in_ns, &d->at);
	bool held;

	if (err)
		return err;
	if (d->at.u.sample.flags & (HVAR_SAMPLE_NOREGS | HVAR_SAMPLE_ABI32))
		d->path.insns = 0;
	else
		walk(w, s, fs_base, d);
	held = standstill_held(still);
	w->stood_tid = held ? s->tid : 0;
	w->n_done += is_good(w, d, held);
	w->stood++;
	return 0;
}

/* The number of the address space that a sample of @tid was in not long ago; 0: there was none. */
static uint32_t mm_of(const struct walks *w, pid_t tid)
{
	uint64_t n = w->n_seen < SEEN ? w->n_seen : SEEN;

	for (uint64_t i = 1; i <= n; i++)
		if (w->seen[(w->n_seen - i) % SEEN].tid == tid)
			return w->seen[(w->n_seen - i) % SEEN].mm;
	return 0;
}

static int hear_and_walk(struct walks *w)
{
	struct done *d = &w->done[w->n_done];
	struct overheard o;
	int err = overhear_begin(w->ears, HEAR_NS, &d->at, &o);
	struct seen s;
	bool good;

	if (err)
		return err;
	s = (struct seen){ .pid = o.pid, .tid = o.tid, .mm = mm_of(w, o.tid) };
	if (!s.mm || d->at.u.sample.flags & (HVAR_SAMPLE_NOREGS | HVAR_SAMPLE_ABI32))
		d->path.insns = 0;
	else
		walk(w, &s, pointer_of(w, &s), d);
	good = is_good(w, d, overhear_held(&o));
	w->n_done += good;
	w->counts.heard += good;
	w->stood++;
	return 0;
}

/* Behind a thread of a real-time policy we would wait for the CPU, for who knows how long. */
static bool is_of_usual_policy(pid_t tid)
{
	int policy = sched_getscheduler(tid);

	if (policy < 0)
		return true; /* it has ended */
	policy &= ~SCHED_RESET_ON_FORK;
	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

/* What came of a try; false: no more in this burst. */
static bool note(struct walks *w, int err)
{
	if (err == -ETIME || err == -ESRCH)
		w->counts.asleep++;
	else if (err == -EBUSY)
		w->counts.moved++;
	else if (err == -EALREADY)
		w->counts.late++;
	else if (err && err != -EINTR)
		w->counts.refused++;
	return err != -EINTR && err != -EALREADY;
}

/* Who was seen last on @cpu, where somebody was: whom we would wait for there. */
static pid_t last_on(const struct walks *w, uint32_t cpu)
{
	uint64_t i = w->n_seen - 1;

	while (w->seen[i % SEEN].cpu != cpu)
		i--;
	return w->seen[i % SEEN].tid;
}

/* To where @s ran, to hear who runs there now. */
static int begin_to_hear(struct walks *w, const struct seen *s)
{
	int err;

	if (!is_of_usual_policy(last_on(w, s->cpu)))
		return -EBUSY;
	if (standstill_go(&w->cpus, (int)s->cpu))
		return -ENODEV;
	err = perf_ears_open(w->ears, (int)s->cpu);
	w->hearing = !err;
	w->until_ns = clock_now_ns() + BURST_NS;
	/* Another process or thread was attached to, or no memory may be locked: that will not change. */
	w->deaf |= err == -EPERM || err == -EACCES;
	return !err && perf_ears_harm(w->ears) ? -EPERM : err;
}

/* False: no more in this burst. */
static bool hear(struct walks *w, const struct seen *s)
{
	int err = w->hearing ? 0 : begin_to_hear(w, s);

	if (err == -EINPROGRESS) /* and has been waited for */
		return false;
	if (err) {
		w->counts.elsewhere += err == -ENODEV;
		w->counts.dear += err != -ENODEV;
		return !w->hearing;
	}
	err = hear_and_walk(w);
	w->late_heard += err == -EALREADY;
	w->deaf |= err == -ENOTSUP || w->late_heard >= MOST_LATE;
	return note(w, err) && !w->deaf;
}

static void ask_nobody(struct walks *w)
{
	if (w->asked)
		close(w->stat_fd);
	w->asked = 0;
}

/* Does @tid run, and on which CPU?  To ask takes a sixth of the time of a walk, and less where it was asked last, too. */
static bool runs(struct walks *w, pid_t tid, struct proc_stat *st)
{
	if (w->stood_tid == tid) {
		st->cpu = w->cpus.cpu;
		return true;
	}
	if (w->asked == tid && !proc_stat_by(w->stat_fd, st))
		return st->state == 'R';
	/* Or its number is another thread's by now. */
	ask_nobody(w);
	w->stat_fd = proc_stat_open(tid);
	if (w->stat_fd < 0)
		return false;
	w->asked = tid;
	return !proc_stat_by(w->stat_fd, st) && st->state == 'R';
}

/* False: no more in this burst. */
static bool try(struct walks *w, uint64_t now_ns)
{
	const struct seen *s = w->hearing ? NULL : choose(w, now_ns);
	struct proc_stat st;
	int err;

	if (w->hearing)
		return hear(w, NULL);
	if (!s)
		return false;
	if (!is_of_usual_policy(s->tid)) {
		w->counts.dear++;
		return true;
	}
	if (!turns_cost_is_low(&w->cost, s->pid, w->bursts)) {
		if (w->ears && !w->deaf)
			return hear(w, s);
		w->counts.dear++;
		return true;
	}
	if (!runs(w, s->tid, &st)) {
		w->counts.asleep++;
		return true;
	}
	if (standstill_go(&w->cpus, st.cpu)) {
		w->counts.elsewhere++;
		return true;
	}
	w->stood_tid = 0;
	err = stand_and_walk(w, s, slot_for(w, s->tid));
	w->late += err == -EALREADY;
	return note(w, err);
}

/* ---- bursts ---- */

/* What we do on a thread's CPU is time it does not have, and so is what brings us there and back. */
static void pay(struct walks *w, uint64_t own_ns, int tries)
{
	uint64_t apart_ns = w->ears ? perf_ears_own_ns(w->ears) : 0;
	uint64_t ns = own_ns + w->stood * SWITCH_NS + apart_ns - w->counts.apart_ns;

	w->counts.apart_ns = apart_ns;
	w->counts.spent_ns += ns;
	w->credit_ns -= (double)ns;
	if (tries)
		w->each_ns = (3 * w->each_ns + ns / (uint64_t)tries) / 4;
}

/* Until they are closed, what comes there is read there; and none is opened. */
static void end_hearing(struct walks *w)
{
	int err = w->ears ? perf_ears_close(w->ears) : 0;

	w->hearing = false;
	w->deaf |= (err && err != -EINPROGRESS) || (w->ears && perf_ears_harm(w->ears));
}

static void burst(struct walks *w, uint64_t now_ns)
{
	double each = w->credit_ns / (double)w->each_ns;
	int n = each > MOST ? MOST : (int)each, tries = 0;
	uint64_t own_ns = clock_own_cpu_ns();

	w->bursts++;
	w->until_ns = now_ns + BURST_NS;
	w->stood = 0;
	w->stood_tid = 0;
	w->pointer_tid = 0; /* it may have executed another program since */
	if (standstill_cpus_init(&w->cpus)) {
		w->counts.refused++;
		return;
	}
	while (w->late < MOST_LATE && w->n_done < n && tries < TRIES && clock_now_ns() < w->until_ns && try(w, now_ns))
		tries++;
	standstill_leave(&w->cpus);
	end_hearing(w);
	pay(w, clock_own_cpu_ns() - own_ns, tries);
}

int walks_step(struct walks *w, uint64_t now_ns)
{
	w->n_done = 0;
	end_hearing(w); /* if it could not be ended, or did harm */
	/* What was not spent is not kept for long: bursts shall lie apart. */
	if (w->credit_ns > (double)(MOST * w->each_ns))
		w->credit_ns = (double)(MOST * w->each_ns);
	if (w->credit_ns >= (double)(FEWEST * w->each_ns))
		burst(w, now_ns);
	return w->n_done;
}

void walks_take(struct walks *w, walks_fn fn, void *ctx)
{
	for (int i = 0; i < w->n_done; i++) {
		const struct done *d = &w->done[i];

		w->counts.walks++;
		w->counts.insns += d->path.insns;
		w->counts.far += d->path.insns >= INSNS / 4;
		w->counts.by_end[d->path.end < WALK_ENDS ? d->path.end : WALK_UNKNOWN]++;
		fn(ctx, &d->at, d->mm, d->fs_base, &d->path);
	}
	w->n_done = 0;
}

double walks_tell(const struct walks *w)
{
	return w->counts.walks < FEWEST_TOLD ? 0 : (double)w->counts.far / (double)w->counts.walks;
}

void walks_stop(struct walks *w)
{
	ask_nobody(w);
	for (int i = 0; i < SLOTS; i++)
		standstill_close(&w->slots[i]);
	if (!w->ears)
		return;
	perf_ears_stop(w->ears);
	w->stood = 0;
	pay(w, 0, 0);
}
