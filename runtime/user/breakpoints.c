// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "breakpoints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "breakpoint.h"
#include "decode_regs.h"
#include "proc.h"
#include "turns.h"

enum {
	SLOTS = 4,	     /* breakpoints that an x86 CPU has */
	PAGE = 4096,
	FEWEST = 12,	     /* hits of a breakpoint in one round */
	MOST = BREAKPOINT_MOST,
	PLACES = 2048,	     /* a power of 2 */
	SEEN = 4096,	     /* samples' instructions, a power of 2 */
	NEAR = 512,	     /* bytes of code */
	CODE_PAGES = 64,
	FAR = 40,	     /* instructions to the next branch */
	FIRST_HIT_NS = 9000, /* until gaps between hits say more */
	PERIOD_NS = 50000000, /* from round to round, at least */
	SHORTEST_NS = 10000000, /* but if the program has not run enough till then, */
	LONGEST_NS = 400000000, /* a wait as long as it will take, within these bounds */
	BETWEEN_NS = 40000000, /* that the program has run from round to round: when it waits, so do we */
	PROMPT_NS = 40000,    /* between setting a breakpoint and its first hit, where the program is there already */
	SLACK_NS = 7000,      /* by which that differs */
	GLANCE_NS = 100000,   /* after which those that were not hit promptly are taken away */
	SHORT_TRIES = 3,      /* before one waits longer for control to come by */
	AHEAD = 3,	     /* branches behind branches that are worth a breakpoint */
	KNOWN_HITS = 6,	     /* so many are known of all: a place with more samples still goes first */
};

/* Of what breakpoints may take, not needed where walks tell all. */
static const double MOST_TOLD = 0.8;

/* An instruction that a breakpoint may be set at. */
struct place {
	uint64_t addr;
	uint32_t mm; /* 0: free */
	pid_t pid, tid;
	double weight; /* samples that fell before it */
	uint32_t hits;
	uint32_t taken; /* of them, by a conditional jump */
	uint32_t tries; /* rounds */
	uint8_t cond;	/* of a conditional jump, else DECODE_NONE */
	bool now;    /* in this round */
	bool clustered; /* waiting for it brought no fair choice */
};

enum { KEPT = MOST + 8 };

/* Branches that come after an instruction; found once. */
struct seen {
	uint64_t ip;
	uint32_t mm;
	uint8_t n;
	uint16_t place[4]; /* index into places */
	float weight[4];
};

struct code_page {
	uint64_t addr;
	uint32_t mm;
	uint32_t len; /* 0: could not be read */
	bool used;
	uint8_t bytes[PAGE];
};

struct slot {
	struct breakpoint bp;
	bool on; /* in this round */
	bool off; /* but taken away already */
	uint16_t place;
};

struct breakpoints {
	double usual, share; /* of the time samples stand for: of old, and now */
	double credit_ns;
	uint64_t ran_since_ns; /* samples since the last round */
	struct turns_cost cost;
	uint64_t hit_ns; /* that one hit costs the program */
	struct place places[PLACES];
	uint16_t used[PLACES]; /* those that are not free */
	uint32_t n_places;
	struct seen seen[SEEN];
	struct code_page code[CODE_PAGES];
	struct slot slots[SLOTS];
	int n_on; /* of them, in this round */
	struct breakpoints_counts counts;
	uint64_t next_ns; /* when breakpoints_step() has something to do */
	uint64_t round_ns; /* when the last round began */
	double rate; /* at which the program ran till then, as far as samples tell: 1 is all the time */
	/* of the breakpoint that is being read */
	struct perf_record kept[KEPT];
	uint64_t ran_ns[KEPT]; /* of the program, from when it was set to that hit */
	uint32_t got;
	uint64_t prompt_ns; /* the least that ever was between setting one and its first hit */
};

struct breakpoints *breakpoints_new(double share)
{
	struct breakpoints *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->usual = b->share = share;
	b->hit_ns = FIRST_HIT_NS;
	b->prompt_ns = PROMPT_NS - SLACK_NS;
	return b;
}

void breakpoints_beside(struct breakpoints *b, double told)
{
	b->share = b->usual * (1 - MOST_TOLD * told);
}

void breakpoints_free(struct breakpoints *b)
{
	if (!b)
		return;
	for (int i = 0; i < SLOTS; i++)
		breakpoint_close(&b->slots[i].bp);
	free(b);
}

const struct breakpoints_counts *breakpoints_counts(const struct breakpoints *b)
{
	return &b->counts;
}

/* ---- where branches are ---- */

static uint32_t hash(uint64_t v, uint32_t mm, uint32_t size)
{
	v = (v ^ (uint64_t)mm << 48) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(v >> 40) & (size - 1);
}

static struct code_page *code_page(struct breakpoints *b, pid_t pid, uint32_t mm, uint64_t addr)
{
	struct code_page *p;

	addr &= ~(uint64_t)(PAGE - 1);
	p = &b->code[hash(addr, mm, CODE_PAGES)];
	if (!p->used || p->addr != addr || p->mm != mm) {
		p->addr = addr;
		p->mm = mm;
		p->len = proc_peek(pid, addr, p->bytes, PAGE) ? PAGE : 0;
		p->used = true;
	}
	return p;
}

static size_t read_code(struct breakpoints *b, pid_t pid, uint32_t mm, uint64_t addr, uint8_t *buf, size_t len)
{
	size_t got = 0;

	while (got < len) {
		const struct code_page *p = code_page(b, pid, mm, addr + got);
		size_t off = (addr + got) & (PAGE - 1), n = len - got;

		if (off >= p->len)
			break;
		if (n > p->len - off)
			n = p->len - off;
		memcpy(buf + got, p->bytes + off, n);
		got += n;
	}
	return got;
}

/* The place at @addr, new if need be; PLACES if there is no room. */
static uint32_t place_at(struct breakpoints *b, uint32_t mm, uint64_t addr)
{
	uint32_t i = hash(addr, mm, PLACES);

	for (; b->places[i].mm; i = (i + 1) & (PLACES - 1))
		if (b->places[i].addr == addr && b->places[i].mm == mm)
			return i;
	if (b->n_places > PLACES / 4 * 3) {
		b->counts.forgotten++;
		return PLACES;
	}
	b->used[b->n_places++] = (uint16_t)i;
	b->places[i].addr = addr;
	b->places[i].mm = mm;
	return i;
}

struct search {
	struct breakpoints *b;
	struct seen *s;
	pid_t pid;
	bool is32;
};

static void found(struct search *f, uint64_t addr, uint8_t cond, float weight)
{
	struct seen *s = f->s;
	uint32_t place;

	if (s->n == sizeof(s->place) / sizeof(s->place[0]))
		return;
	place = place_at(f->b, s->mm, addr);
	if (place == PLACES)
		return;
	f->b->places[place].cond = cond;
	for (unsigned k = 0; k < s->n; k++)
		if (s->place[k] == place)
			return;
	s->place[s->n] = (uint16_t)place;
	s->weight[s->n++] = weight;
}

/*
 * The first branch from @at on along the straight way, calls passed over: its address,
 * and in *@in; 0 if there is none near by.
 */
static uint64_t next_branch(struct search *f, uint64_t at, struct decode_insn *in)
{
	uint8_t bytes[DECODE_MAX_LEN];

	for (int n = 0; n < FAR; n++) {
		size_t got = read_code(f->b, f->pid, f->s->mm, at, bytes, sizeof(bytes));

		if (!got || decode_flow(bytes, got, f->is32, in))
			return 0;
		switch (in->flow) {
		case DECODE_COND:
		case DECODE_INDIRECT:
			return at;
		case DECODE_JUMP:
			at += (uint64_t)in->target;
			continue;
		case DECODE_RET:
		case DECODE_STOP:
			return 0;
		default:
			at += in->len;
		}
	}
	return 0;
}

/* The branches behind @ip, and behind those on either side. */
static void search(struct search *f, uint64_t ip)
{
	uint64_t todo[2 * AHEAD + 2];
	float weight[2 * AHEAD + 2];
	unsigned n = 1;

	todo[0] = ip;
	weight[0] = 1;
	for (unsigned k = 0; k < n; k++) {
		struct decode_insn in;
		uint64_t at = next_branch(f, todo[k], &in);

		if (!at) {
			if (!k)
				found(f, ip, DECODE_NONE, 0.3f); /* at least what it touches can be seen */
			continue;
		}
		found(f, at, in.flow == DECODE_COND ? in.cond : DECODE_NONE, weight[k]);
		if (in.flow != DECODE_COND || n + 2 > sizeof(todo) / sizeof(todo[0]))
			continue;
		for (int side = 0; side < 2; side++) {
			todo[n] = at + (side ? in.len : (uint64_t)in.target);
			weight[n++] = weight[k] / 3;
		}
	}
}

void breakpoints_saw(struct breakpoints *b, pid_t pid, pid_t tid, uint32_t mm, uint64_t ip,
		     bool is32, uint64_t ns)
{
	/* What is near is side by side: memory is touched for what runs alone. */
	struct seen *s = &b->seen[(hash(ip / NEAR, mm, SEEN) + ip % NEAR) % SEEN];

	b->credit_ns += b->share * (double)ns;
	b->ran_since_ns += ns;
	turns_cost_saw(&b->cost, pid);
	if (s->ip != ip || s->mm != mm) {
		struct search f = { b, s, pid, is32 };

		*s = (struct seen){ .ip = ip, .mm = mm };
		search(&f, ip);
	}
	for (unsigned k = 0; k < s->n; k++) {
		struct place *p = &b->places[s->place[k]];

		p->weight += (double)s->weight[k];
		p->pid = pid;
		p->tid = tid;
	}
}

/* ---- rounds ---- */

/* One that @tid has, or one that nobody has, or one of another thread. */
static struct slot *slot_for(struct breakpoints *b, pid_t tid)
{
	struct slot *best = NULL;

	for (int i = 0; i < SLOTS; i++) {
		struct slot *s = &b->slots[i];

		if (s->on)
			continue;
		if (s->bp.base && s->bp.tid == tid)
			return s;
		if (!best || !s->bp.base)
			best = s;
	}
	return best;
}

static bool set(struct breakpoints *b, uint32_t place, uint32_t hits)
{
	struct place *p = &b->places[place];
	struct slot *s = slot_for(b, p->tid);

	if (!breakpoint_set(&s->bp, p->tid, p->addr, hits))
		return false;
	s->place = (uint16_t)place;
	s->on = true;
	s->off = false;
	b->n_on++;
	return true;
}

/* The place that samples make most of and hits least. */
static uint32_t most_wanted(const struct breakpoints *b)
{
	uint32_t best = PLACES;
	double most = 0;

	for (uint32_t k = 0; k < b->n_places; k++) {
		const struct place *p = &b->places[b->used[k]];
		uint32_t seldom = p->taken < p->hits - p->taken ? p->taken : p->hits - p->taken;
		double want;

		if (p->now || !(p->weight > 0))
			continue;
		if (p->cond == DECODE_NONE)
			seldom = p->hits / 8;
		want = p->weight / (p->hits / 8.0 + 4.0 * seldom + p->tries + KNOWN_HITS);
		if (want > most) {
			most = want;
			best = b->used[k];
		}
	}
	return best;
}

static void turn_off(struct slot *s)
{
	if (!s->off && !breakpoint_has_ended(&s->bp))
		breakpoint_off(&s->bp);
	s->off = true;
}

/*
 * Those that were hit at once end by themselves, and are looked at when the next round begins: to be woken is dear.
 * At the others control is not there now: it costs nothing to find that out, and what
 * comes later would be no fair choice; but one that often was in vain stays till then, since control comes by
 * so seldom that all the hits of that time may be seen.
 */
static void give_up_the_absent(struct breakpoints *b)
{
	struct timespec t = { 0, GLANCE_NS };
	int absent = 0;

	for (int i = 0; i < SLOTS; i++)
		absent += b->slots[i].on && !breakpoint_was_hit(&b->slots[i].bp);
	if (absent)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	for (int i = 0; absent && i < SLOTS; i++) {
		struct slot *s = &b->slots[i];
		const struct place *p = &b->places[s->place];

		if (!s->on || breakpoint_was_hit(&s->bp))
			continue;
		if ((p->clustered || p->tries <= SHORT_TRIES || p->hits) && breakpoint_ran_ns(&s->bp) > PROMPT_NS &&
		    !breakpoint_was_hit(&s->bp))
			turn_off(s);
	}
}

static bool begin(struct breakpoints *b, uint64_t now_ns)
{
	double each = b->credit_ns / (double)b->hit_ns / SLOTS;
	uint32_t hits = each > MOST ? MOST : each > 0 ? (uint32_t)each : 0;

	if (hits < FEWEST || b->ran_since_ns < BETWEEN_NS)
		return false;
	b->rate = now_ns > b->round_ns ? (double)b->ran_since_ns / (double)(now_ns - b->round_ns) : 0;
	b->ran_since_ns = 0;
	b->round_ns = now_ns;
	for (int i = 0; i < SLOTS; i++) {
		uint32_t place = most_wanted(b);

		if (place == PLACES)
			break;
		b->places[place].now = true;
		b->places[place].tries++;
		if (!turns_cost_is_low(&b->cost, b->places[place].pid, b->counts.rounds))
			b->counts.dear++;
		else if (!set(b, place, hits))
			b->counts.refused++;
	}
	for (uint32_t k = 0; k < b->n_places; k++)
		b->places[b->used[k]].now = false;
	if (b->n_on)
		give_up_the_absent(b);
	b->counts.rounds++;
	return true;
}

/* Until the program will have run @lacks_ns more and earned @earn_ns, if it goes on as it did. */
static uint64_t until_ns(const struct breakpoints *b, double lacks_ns, double earn_ns)
{
	double earns = b->share > 0 ? earn_ns / b->share : 1e18, ns = lacks_ns > earns ? lacks_ns : earns;

	ns = b->rate > 0 ? ns / b->rate : PERIOD_NS;
	return ns < SHORTEST_NS ? SHORTEST_NS : ns < LONGEST_NS ? (uint64_t)ns : LONGEST_NS;
}

/* From now on until there will be enough for a round. */
static uint64_t enough_in_ns(struct breakpoints *b, uint64_t now_ns)
{
	b->rate = now_ns > b->round_ns ? (double)b->ran_since_ns / (double)(now_ns - b->round_ns) : 0;
	return until_ns(b, BETWEEN_NS - (double)b->ran_since_ns, (double)(FEWEST * SLOTS * b->hit_ns) - b->credit_ns);
}

/* The same as a round begins, which will have cost what was asked for. */
static uint64_t next_round_in_ns(const struct breakpoints *b)
{
	double asked = FEWEST * SLOTS;
	uint64_t ns;

	for (int i = 0; i < SLOTS; i++)
		asked += b->slots[i].on ? b->slots[i].bp.hits : 0;
	ns = until_ns(b, BETWEEN_NS, asked * (double)b->hit_ns - b->credit_ns);
	return ns < PERIOD_NS ? PERIOD_NS : ns;
}

static bool take(void *ctx, const struct perf_record *rec, uint64_t ran_ns)
{
	struct breakpoints *b = ctx;

	if (b->got == KEPT)
		return false;
	b->kept[b->got] = *rec;
	b->ran_ns[b->got++] = ran_ns;
	return true;
}

/*
 * Where control comes to a breakpoint in clusters, the first hit after a wait is the beginning of one, and
 * so are all that follow: not a fair choice of hits.  It is one if the program was there
 * already, if the hits lie apart as far as the wait was long, or if all of a given time were seen.
 */
static bool is_fair(const struct breakpoints *b, const struct slot *s, uint64_t *shortest_ns)
{
	uint64_t longest_ns = b->prompt_ns + SLACK_NS;

	*shortest_ns = ~0ull;
	for (uint32_t k = 1; k < b->got; k++) {
		uint64_t gap = b->ran_ns[k] - b->ran_ns[k - 1];

		longest_ns = gap > longest_ns ? gap : longest_ns;
		*shortest_ns = gap < *shortest_ns ? gap : *shortest_ns;
	}
	return b->got < s->bp.hits || b->ran_ns[0] <= longest_ns;
}

/* How often the branch was taken: what came seldom is what must be seen more often. */
static void note_turns(const struct breakpoints *b, struct place *p)
{
	for (uint32_t k = 0; k < b->got && p->cond != DECODE_NONE; k++) {
		const uint64_t *regs = b->kept[k].u.sample.regs;
		struct decode_regs r;

		decode_regs_init(&r, regs, (uint32_t)regs[STREAM_RFLAGS]);
		p->taken += decode_regs_condition(&r, p->cond) == 1;
	}
}

static void read_slot(struct breakpoints *b, struct slot *s, perf_record_fn fn, void *ctx)
{
	struct place *p = &b->places[s->place];
	uint64_t shortest_ns;

	b->got = 0;
	b->counts.lost += breakpoint_read(&s->bp, take, b);
	s->on = false;
	if (!b->got)
		return;
	b->counts.spent_ns += b->got * b->hit_ns;
	b->credit_ns -= (double)(b->got * b->hit_ns);
	if (b->ran_ns[0] && b->ran_ns[0] < b->prompt_ns)
		b->prompt_ns = b->ran_ns[0];
	if (is_fair(b, s, &shortest_ns)) {
		p->hits += b->got;
		note_turns(b, p);
		b->counts.hits += b->got;
		for (uint32_t k = 0; k < b->got; k++)
			fn(ctx, &b->kept[k]);
	} else {
		b->counts.late += b->got;
		p->clustered = true;
	}
	/* In a short loop what is between two hits is what one costs. */
	if (b->got >= FEWEST && shortest_ns > 200 && shortest_ns < 100000)
		b->hit_ns = (3 * b->hit_ns + shortest_ns) / 4;
}

void breakpoints_gone(struct breakpoints *b, pid_t tid, perf_record_fn fn, void *ctx)
{
	for (int i = 0; i < SLOTS && b->n_on; i++)
		if (b->slots[i].on && b->slots[i].bp.tid == tid) {
			turn_off(&b->slots[i]);
			read_slot(b, &b->slots[i], fn, ctx);
		}
}

static void end(struct breakpoints *b, perf_record_fn fn, void *ctx)
{
	for (int i = 0; i < SLOTS; i++)
		if (b->slots[i].on)
			turn_off(&b->slots[i]);
	for (int i = 0; i < SLOTS; i++)
		if (b->slots[i].on)
			read_slot(b, &b->slots[i], fn, ctx);
	b->n_on = 0;
	/* What was not spent is not kept for long: bursts shall lie apart. */
	if (b->credit_ns > (double)(b->hit_ns * MOST * SLOTS))
		b->credit_ns = (double)(b->hit_ns * MOST * SLOTS);
}

uint64_t breakpoints_next_ns(const struct breakpoints *b)
{
	return b->next_ns;
}

void breakpoints_step(struct breakpoints *b, uint64_t now_ns, perf_record_fn fn, void *ctx)
{
	if (now_ns < b->next_ns)
		return;
	end(b, fn, ctx);
	if (!b->round_ns)
		b->round_ns = now_ns;
	b->next_ns = now_ns + (begin(b, now_ns) ? next_round_in_ns(b) : enough_in_ns(b, now_ns));
}

void breakpoints_stop(struct breakpoints *b, perf_record_fn fn, void *ctx)
{
	end(b, fn, ctx);
	for (int i = 0; i < SLOTS; i++)
		breakpoint_close(&b->slots[i].bp);
}
