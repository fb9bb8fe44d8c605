// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walks.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "clock.h"
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
	MOST_LATE = 3,		/* then we are one that others go before, and leave it */
	FEWEST_TOLD = 6,	/* walks, to say how far they get */
	WALK_NS = 150000,	/* a walk takes so long at most */
	SWITCH_NS = 8000,	/* an interrupt, from thread to thread and back */
	FIRST_EACH_NS = 200000, /* that one costs, until it is known better */
};

struct seen {
	pid_t pid, tid;
	uint32_t mm;
	uint64_t time_ns;
};

/* One that was done, to be handed on at the burst's end: meanwhile nobody shall stand still for us. */
struct done {
	struct perf_record at;
	uint32_t mm;
	uint64_t fs_base;
	struct walk_path path;
};

struct walks {
	double share;
	double credit_ns;
	uint64_t each_ns;
	uint64_t bursts;
	uint64_t stood;		/* threads, in this burst */
	unsigned late;		/* times that we did not get the CPU when it was time */
	uint64_t random;
	struct walker *walker;
	struct turns_cost cost;
	struct seen seen[SEEN];
	uint64_t n_seen;
	struct standstill slots[SLOTS];
	int last_slot;
	pid_t pointer_tid;	/* the last one of this burst whose thread pointer was asked for */
	uint64_t pointer;
	struct standstill_cpus cpus;
	struct done done[MOST];
	int n_done;
	struct walks_counts counts;
};

struct walks *walks_new(double share)
{
	struct walks *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->walker = walker_new();
	if (!w->walker) {
		free(w);
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
	free(w);
}

const struct walks_counts *walks_counts(const struct walks *w)
{
	return &w->counts;
}

void walks_saw(struct walks *w, pid_t pid, pid_t tid, uint32_t mm, uint64_t time_ns, uint64_t ns)
{
	w->seen[w->n_seen++ % SEEN] = (struct seen){ pid, tid, mm, time_ns };
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
	uint64_t fs_base = pointer_of(w, s);
	int err = standstill_begin(still, s->pid, s->tid, in_ns, &d->at);
	bool held;

	if (err)
		return err;
	if (d->at.u.sample.flags & (HVAR_SAMPLE_NOREGS | HVAR_SAMPLE_ABI32))
		d->path.insns = 0;
	else
		walk(w, s, fs_base, d);
	held = standstill_held(still);
	w->n_done += is_good(w, d, held);
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

/* False: no more in this burst. */
static bool try(struct walks *w, uint64_t now_ns)
{
	const struct seen *s = choose(w, now_ns);
	struct proc_stat st;
	int err;

	if (!s)
		return false;
	if (!turns_cost_is_low(&w->cost, s->pid, w->bursts)) {
		w->counts.dear++;
		return true;
	}
	if (!is_of_usual_policy(s->tid)) {
		w->counts.dear++;
		return true;
	}
	if (proc_stat(s->tid, &st) || st.state != 'R') {
		w->counts.asleep++;
		return true;
	}
	err = standstill_go(&w->cpus, st.cpu);
	if (err) {
		w->counts.elsewhere++;
		return true;
	}
	err = stand_and_walk(w, s, slot_for(w, s->tid));
	if (err == -ETIME || err == -ESRCH)
		w->counts.asleep++;
	else if (err == -EBUSY)
		w->counts.moved++;
	else if (err == -EALREADY)
		w->late++;
	else if (err && err != -EINTR)
		w->counts.refused++;
	return err != -EINTR && err != -EALREADY;
}

/* ---- bursts ---- */

/* What we do on a thread's CPU is time it does not have, and so is what brings us there and back. */
static void pay(struct walks *w, uint64_t own_ns, int tries)
{
	uint64_t ns = own_ns + w->stood * SWITCH_NS;

	w->counts.spent_ns += ns;
	w->credit_ns -= (double)ns;
	w->each_ns = (3 * w->each_ns + ns / (uint64_t)tries) / 4;
}

static void burst(struct walks *w, uint64_t now_ns)
{
	double each = w->credit_ns / (double)w->each_ns;
	int n = each > MOST ? MOST : (int)each, tries = 0;
	uint64_t own_ns = clock_own_cpu_ns();

	w->bursts++;
	w->stood = 0;
	w->pointer_tid = 0; /* it may have executed another program since */
	if (standstill_cpus_init(&w->cpus)) {
		w->counts.refused++;
		return;
	}
	while (w->late < MOST_LATE && w->n_done < n && tries < TRIES && try(w, now_ns))
		tries++;
	standstill_leave(&w->cpus);
	if (tries)
		pay(w, clock_own_cpu_ns() - own_ns, tries);
}

int walks_step(struct walks *w, uint64_t now_ns)
{
	w->n_done = 0;
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
	for (int i = 0; i < SLOTS; i++)
		standstill_close(&w->slots[i]);
}
