// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_order.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "libvex_guest_amd64.h"

#include "hvt_line.h"
#include "hvt_line_wire.h"

enum { STEPS_MAX = 1 << 16, FIRST_THREADS = 64 };

static struct thread {
	UInt creator, created; /* who, and at which moment */
	UInt joiner, joined;   /* who waits for it, or has; the moment it knew, 0: not yet */
	UInt since, ended;     /* moments */
	UInt asked;	 /* at which moment it was asked last whether it is past */
	UInt at;	 /* in alive */
	ThreadId tid;	 /* as which it will run, till its tcb is known */
	Bool lives, past;
} *threads;
static UInt n_threads; /* the highest number + 1 */
static UInt *alive, n_alive;
static UInt moment = 1;

/* Whose the memory is that a pthread_t points to. */
struct holder {
	struct holder *next;
	UWord tcb;
	UInt who;
};
static VgHashTable *holders;

static void no_threads(void)
{
	n_threads = n_alive = 0;
	moment = 1;
	if (holders)
		VG_(HT_destruct)(holders, VG_(free));
	holders = VG_(HT_construct)("hotvar.order.holders");
}

void hvt_order_begin(void)
{
	no_threads();
}

UInt hvt_order_now(void)
{
	return moment;
}

/* The last number is that of all who found none: nothing is known of them. */
static struct thread *thread_of(UInt who)
{
	return who && who < n_threads && who != HVT_LINES_WHO_MAX - 1 ? &threads[who] : NULL;
}

/* Numbers are given once each, but for the last one. */
static struct thread *make(UInt who, ThreadId tid)
{
	static UInt room;

	if (who >= room) {
		room = who < FIRST_THREADS / 2 ? FIRST_THREADS : 2 * who;
		threads = VG_(realloc)("hotvar.order.threads", threads, room * sizeof(*threads));
		alive = VG_(realloc)("hotvar.order.alive", alive, room * sizeof(*alive));
	}
	for (; n_threads <= who; n_threads++)
		threads[n_threads] = (struct thread){ 0 };
	threads[who] = (struct thread){ .lives = True, .tid = tid, .at = n_alive };
	alive[n_alive++] = who;
	return &threads[who];
}

/* One of @t, or of one that is no thread. */
static UInt new_moment(struct thread *t)
{
	moment++;
	if (t)
		t->since = moment;
	return moment;
}

void hvt_order_creates(UInt who, UInt child, ThreadId tid)
{
	struct thread *t;

	if (child == HVT_LINES_WHO_MAX - 1)
		return;
	t = make(child, tid);
	t->creator = who;
	t->created = t->since = new_moment(thread_of(who));
}

/* Its registers are set: whose memory is at its tcb? */
static void note_tcb(UInt who)
{
	struct thread *t = thread_of(who), *before;
	struct holder *h;
	ULong tcb = 0;

	if (!t->tid)
		return;
	VG_(get_shadow_regs_area)(t->tid, (UChar *)&tcb, 0, offsetof(VexGuestAMD64State, guest_FS_CONST), sizeof(tcb));
	t->tid = 0;
	if (!tcb)
		return;
	h = VG_(HT_lookup)(holders, tcb);
	before = h ? thread_of(h->who) : NULL;
	if (before && before->lives) /* both have one thread's memory: which of them is meant is not known */
		return;
	if (before)
		hvt_line_stack(tcb);
	if (!h) {
		h = VG_(malloc)("hotvar.order.holder", sizeof(*h));
		h->tcb = tcb;
		VG_(HT_add_node)(holders, h);
	}
	h->who = who;
}

void hvt_order_runs(UInt who)
{
	if (thread_of(who))
		note_tcb(who);
}

void hvt_order_ends(UInt who)
{
	struct thread *t = thread_of(who);

	if (!t || !t->lives)
		return;
	t->lives = False;
	t->tid = 0;
	alive[t->at] = alive[--n_alive];
	threads[alive[t->at]].at = t->at;
	t->ended = moment;
	if (t->joiner)
		t->joined = new_moment(thread_of(t->joiner));
}

Bool hvt_order_joins(UInt who, Addr thread, Bool surely)
{
	struct holder *h;
	struct thread *t;
	UInt i;

	for (i = 0; i < n_alive; i++) /* it may not have run yet */
		note_tcb(alive[i]);
	h = VG_(HT_lookup)(holders, thread);
	t = h ? thread_of(h->who) : NULL;
	if (!t || t->joined || (t->lives && !surely))
		return False;
	t->joiner = who;
	if (t->lives)
		return False;
	t->joined = new_moment(thread_of(who));
	return True;
}

Bool hvt_order_lives(UInt who)
{
	const struct thread *t = thread_of(who);

	return t ? t->lives : who == HVT_LINES_WHO_MAX - 1;
}

UInt hvt_order_since(UInt who)
{
	const struct thread *t = thread_of(who);

	return t ? t->since : 0;
}

/* Has @x, after what it did at @at, created @y as it is at @then, or one that has created it? */
static Bool leads(UInt x, UInt at, UInt y, UInt then, UInt *steps)
{
	UInt until = then + 1;

	while (y && ++*steps < STEPS_MAX && at < until) {
		const struct thread *t = thread_of(y);

		if (x == y)
			return True;
		if (!t)
			return False;
		until = t->created;
		y = t->creator;
	}
	return False;
}

Bool hvt_order_before(UInt x, UInt at, UInt y, UInt then)
{
	UInt steps = 0;

	while (steps < STEPS_MAX) {
		const struct thread *t = thread_of(x);

		if (!t)
			return False;
		if (leads(x, at, y, then, &steps))
			return True;
		if (!t->joined)
			return False;
		x = t->joiner;
		at = t->joined;
		steps++;
	}
	return False;
}

Bool hvt_order_past(UInt who)
{
	struct thread *t = thread_of(who);
	UInt i;

	if (!t || t->lives)
		return False;
	if (t->past || t->asked == moment)
		return t->past;
	t->asked = moment;
	for (i = 0; i < n_alive; i++)
		if (!hvt_order_before(who, t->ended, alive[i], moment))
			return False;
	t->past = True;
	return True;
}

/* ---- code ---- */

static VG_REGPARM(2) void joins(UWord surely, Addr thread)
{
	hvt_line_joins(thread, (Bool)surely);
}

/* The name without what versions and aliases put around it. */
static Bool is_named(const HChar *name, const HChar *what)
{
	SizeT n = VG_(strlen)(what);

	while (*name == '_')
		name++;
	return !VG_(strncmp)(name, what, n) && (!name[n] || name[n] == '@');
}

void hvt_order_code(IRSB *out, Addr ip)
{
	static const HChar *const surely[] = { "pthread_join", "thrd_join" };
	static const HChar *const perhaps[] = { "pthread_tryjoin_np", "pthread_timedjoin_np", "pthread_clockjoin_np" };
	const HChar *name;
	Bool yes = False, is_sure = False;
	IRTemp thread;
	UInt i;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), ip, &name))
		return;
	for (i = 0; i < sizeof(surely) / sizeof(*surely); i++)
		yes = is_sure = is_sure || is_named(name, surely[i]);
	for (i = 0; i < sizeof(perhaps) / sizeof(*perhaps); i++)
		yes = yes || is_named(name, perhaps[i]);
	if (!yes)
		return;
	thread = newIRTemp(out->tyenv, Ity_I64);
	addStmtToIRSB(out, IRStmt_WrTmp(thread, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RDI), Ity_I64)));
	addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(2, "hvt_order_joins", VG_(fnptr_to_fnentry)(&joins),
							  mkIRExprVec_2(mkIRExpr_HWord(is_sure), IRExpr_RdTmp(thread)))));
}
