// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "relook.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "clock.h"

enum {
	FIRST_SLOTS = 64,
	GRACE_NS = 2000000, /* so that the first looks need not wait for time to pass */
};

struct proc {
	pid_t pid; /* 0: free */
	bool active, sampled, must;
	bool told; /* something of its map since it was last seen whole */
	uint64_t seen_ns, before_ns; /* and the time before */
	uint64_t cost_ns; /* of the last look, of our CPU time */
};

struct relook {
	struct proc *v; /* hash table with linear probing and no tombstones */
	size_t slots, used;
	size_t turn;	/* where the next run begins */
	unsigned share;
	uint64_t begin_ns, spent_ns;
	pid_t waiter;	/* the one that there was no time for, 0: none */
	uint64_t since_ns; /* it waits, */
	uint64_t passed_ns; /* and what those cost that were looked at meanwhile */
};

struct relook *relook_new(unsigned share)
{
	struct relook *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->slots = FIRST_SLOTS;
	l->share = share;
	l->begin_ns = clock_now_ns();
	l->v = calloc(l->slots, sizeof(*l->v));
	if (!l->v) {
		free(l);
		return NULL;
	}
	return l;
}

void relook_free(struct relook *l)
{
	if (!l)
		return;
	free(l->v);
	free(l);
}

static size_t home_of(size_t slots, pid_t pid)
{
	return ((uint32_t)pid * 2654435761u >> 4) & (slots - 1);
}

static struct proc *slot_of(struct proc *v, size_t slots, pid_t pid)
{
	size_t i = home_of(slots, pid);

	while (v[i].pid && v[i].pid != pid)
		i = (i + 1) & (slots - 1);
	return &v[i];
}

static bool grow(struct relook *l)
{
	size_t slots = l->slots * 2;
	struct proc *v = calloc(slots, sizeof(*v));

	if (!v)
		return false;
	for (size_t i = 0; i < l->slots; i++)
		if (l->v[i].pid)
			*slot_of(v, slots, l->v[i].pid) = l->v[i];
	free(l->v);
	l->v = v;
	l->slots = slots;
	return true;
}

static struct proc *find(const struct relook *l, pid_t pid)
{
	struct proc *p = slot_of(l->v, l->slots, pid);

	return p->pid ? p : NULL;
}

static struct proc *find_or_add(struct relook *l, pid_t pid)
{
	struct proc *p = slot_of(l->v, l->slots, pid);

	if (p->pid)
		return p;
	if (l->used * 2 >= l->slots) {
		if (!grow(l))
			return NULL;
		p = slot_of(l->v, l->slots, pid);
	}
	l->used++;
	*p = (struct proc){ .pid = pid };
	return p;
}

int relook_active(struct relook *l, pid_t pid, bool sampled)
{
	struct proc *p = pid > 0 ? find_or_add(l, pid) : NULL;

	if (!p)
		return -ENOMEM;
	p->active = true;
	p->sampled |= sampled;
	p->told |= !sampled;
	return 0;
}

void relook_saw(struct relook *l, pid_t pid, uint64_t time_ns)
{
	struct proc *p = pid > 0 ? find_or_add(l, pid) : NULL;

	if (p)
		p->seen_ns = time_ns;
}

uint64_t relook_seen(const struct relook *l, pid_t pid)
{
	const struct proc *p = find(l, pid);

	return p ? p->seen_ns : 0;
}

bool relook_is_untold(const struct relook *l, pid_t pid)
{
	const struct proc *p = find(l, pid);

	return p && !p->told && p->before_ns;
}

void relook_unseen(struct relook *l, pid_t pid)
{
	struct proc *p = find(l, pid);

	if (p)
		p->seen_ns = p->before_ns;
}

/* Close the gap: move back each entry that had to step over the one that goes. */
static void remove_slot(struct relook *l, size_t gap)
{
	size_t i = gap, mask = l->slots - 1;

	for (;;) {
		i = (i + 1) & mask;
		if (!l->v[i].pid)
			break;
		if (((i - home_of(l->slots, l->v[i].pid)) & mask) >=
		    ((i - gap) & mask)) {
			l->v[gap] = l->v[i];
			gap = i;
		}
	}
	l->v[gap].pid = 0;
	l->used--;
}

bool relook_gone(struct relook *l, pid_t pid)
{
	struct proc *p = find(l, pid);
	bool sampled = p && p->sampled;

	if (p)
		remove_slot(l, (size_t)(p - l->v));
	if (l->waiter == pid)
		l->waiter = 0;
	return sampled;
}

void relook_all(struct relook *l)
{
	for (size_t i = 0; i < l->slots; i++)
		l->v[i].must = l->v[i].told = l->v[i].pid;
}

void relook_any(struct relook *l)
{
	for (size_t i = 0; i < l->slots; i++)
		l->v[i].active |= l->v[i].pid != 0;
}

/* Would a look that costs what the last one did keep within the share? */
static bool affordable(const struct relook *l, const struct proc *p, uint64_t now)
{
	return (l->spent_ns + p->cost_ns) * l->share <=
	       now - l->begin_ns + (uint64_t)GRACE_NS * l->share;
}

/* Those that cost less may pass one that waits, with half of the time there is since: it waits twice as long at most. */
static bool may_look(const struct relook *l, const struct proc *p, uint64_t now)
{
	if (!affordable(l, p, now))
		return false;
	return !l->waiter || p->pid == l->waiter || (l->passed_ns + p->cost_ns) * 2 * l->share <= now - l->since_ns;
}

static void wait_for(struct relook *l, const struct proc *p, uint64_t now)
{
	if (l->waiter)
		return;
	l->waiter = p->pid;
	l->since_ns = now;
	l->passed_ns = 0;
}

static void looked(struct relook *l, struct proc *p, uint64_t cost_ns)
{
	p->cost_ns = cost_ns;
	l->spent_ns += cost_ns;
	l->passed_ns += cost_ns;
	if (l->waiter == p->pid)
		l->waiter = 0;
}

/*
 * A look adds and removes no process, so entries stay where they are.  What it costs is CPU time: on a busy
 * machine it takes many times as long, while nobody is kept from anything.  The first one that there is no time for is
 * waited for, or those that cost less would take it all.
 */
void relook_run(struct relook *l,
		void (*look)(void *ctx, pid_t pid, uint64_t now_ns), void *ctx)
{
	uint64_t now = clock_now_ns(), used = clock_own_cpu_ns(), then;
	size_t at = l->turn, waits = 0;

	for (size_t n = 0; n < l->slots; n++, at++) {
		struct proc *p = &l->v[at & (l->slots - 1)];

		if (!p->pid || (!p->must && !p->active))
			continue;
		if (!p->must && !may_look(l, p, now)) {
			wait_for(l, p, now);
			waits = l->waiter == p->pid ? l->slots - n : waits;
			continue;
		}
		p->active = p->must = false;
		p->before_ns = p->seen_ns;
		p->seen_ns = now;
		look(ctx, p->pid, now);
		p->told &= p->seen_ns != now;
		now = clock_now_ns();
		then = used;
		used = clock_own_cpu_ns();
		looked(l, p, used - then);
	}
	l->turn = at - waits;
}
