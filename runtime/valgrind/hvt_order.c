// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_order.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "libvex_guest_amd64.h"

#include "hvt_line.h"
#include "hvt_line_wire.h"
#include "hvt_stack.h"

enum { FIRST_THREADS = 64 };

/* Is a thread before what is asked of, as one that was waited for? */
enum joined { NOT_KNOWN, IS_BEFORE, IS_NOT };

static struct thread {
	UInt creator, created; /* who, and at which moment */
	UInt joiner, joined;   /* who waits for it, or has; the moment it knew, 0: not yet */
	Addr joiner_sp, joiner_back; /* of the call: its stack pointer, and where that comes back to */
	UInt since, ended;     /* moments */
	UInt asked;	 /* at which moment it was asked last whether it is past */
	UInt at;	 /* in alive */
	ThreadId tid;	 /* as long as it lives */
	Addr tcb;	 /* 0: not known yet */
	Bool lives, past;
	Bool renewed;	 /* its stack is nobody's any more */
	/* the last question that came by; what it did before this moment is before that, by who created whom; as one waited for */
	ULong asked_of;
	UInt until;
	enum joined by_joins;
} *threads;
static UInt n_threads; /* the highest number + 1 */
static UInt *alive, n_alive;
static UInt moment = 1;
static ULong question;

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
	Addr start, end;
	ULong tcb = 0;

	if (t->tcb)
		return;
	VG_(get_shadow_regs_area)(t->tid, (UChar *)&tcb, 0, offsetof(VexGuestAMD64State, guest_FS_CONST), sizeof(tcb));
	if (!tcb) /* the first thread sets it as it runs */
		return;
	t->tcb = tcb;
	h = VG_(HT_lookup)(holders, tcb);
	before = h ? thread_of(h->who) : NULL;
	if (before && before->lives) /* both have one thread's memory: which of them is meant is not known */
		return;
	if (before && !before->renewed && hvt_stack_of(tcb, False, &start, &end))
		hvt_line_object(start, end - start);
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

/* Is who called what waits for @t in that call still? */
static Bool is_waited_for(const struct thread *t)
{
	const struct thread *joiner = thread_of(t->joiner);

	return joiner && joiner->lives && VG_(get_SP)(joiner->tid) <= t->joiner_sp &&
	       VG_(am_is_valid_for_client)(t->joiner_sp, sizeof(Addr), VKI_PROT_READ) &&
	       *(const Addr *)t->joiner_sp == t->joiner_back;
}

/* Whoever gets the memory that was @who's stack gets it from libc, which knows that its thread has ended. */
static void renew_stack(UInt who)
{
	struct thread *t = thread_of(who);
	const struct holder *h = t->tcb ? VG_(HT_lookup)(holders, t->tcb) : NULL;
	Addr start, end;

	if (!h || h->who != who || !hvt_stack_of(t->tcb, True, &start, &end))
		return;
	hvt_line_object(start, end - start);
	t->renewed = True;
}

void hvt_order_ends(UInt who)
{
	struct thread *t = thread_of(who);

	if (!t || !t->lives)
		return;
	note_tcb(who);
	t->lives = False;
	alive[t->at] = alive[--n_alive];
	threads[alive[t->at]].at = t->at;
	t->ended = moment;
	if (is_waited_for(t))
		t->joined = new_moment(thread_of(t->joiner));
	renew_stack(who);
}

Bool hvt_order_joins(UInt who, Addr thread, Addr sp, Bool waits)
{
	struct holder *h;
	struct thread *t;
	UInt i;

	for (i = 0; i < n_alive; i++) /* it may not have run yet */
		note_tcb(alive[i]);
	h = VG_(HT_lookup)(holders, thread);
	t = h ? thread_of(h->who) : NULL;
	if (!t || t->joined || h->who == who)
		return False;
	if (t->lives) {
		if (waits && !is_waited_for(t)) { /* else this one is refused */
			t->joiner = who;
			t->joiner_sp = sp;
			t->joiner_back = *(const Addr *)sp;
		}
		return False;
	}
	t->joiner = who;
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

/* Is @t's answer to a former question?  Then to this one there is none yet. */
static void forget_answer(struct thread *t)
{
	if (t->asked_of == question)
		return;
	t->asked_of = question;
	t->until = 0;
	t->by_joins = NOT_KNOWN;
}

void hvt_order_ask(UInt y, UInt then)
{
	UInt until = then + 1;
	struct thread *t;

	question++;
	for (t = thread_of(y); t; t = thread_of(t->creator)) {
		forget_answer(t);
		t->until = until;
		until = t->created;
	}
}

/* Has someone waited for @t who, after that, was before what is asked of, or was waited for by such a one, and so on? */
static Bool before_by_joins(struct thread *t)
{
	struct thread *first = t, *next;
	enum joined is = IS_NOT;

	for (; t->by_joins == NOT_KNOWN && t->joined; t = next) {
		next = thread_of(t->joiner);
		if (!next)
			break;
		forget_answer(next);
		if (t->joined < next->until) {
			is = IS_BEFORE;
			break;
		}
		if (next->joined <= t->joined) /* not waited for since */
			break;
	}
	if (t->by_joins != NOT_KNOWN)
		is = t->by_joins;
	/* Whoever was come by has the same answer. */
	for (; first != t; first = thread_of(first->joiner))
		first->by_joins = is;
	t->by_joins = is;
	return is == IS_BEFORE;
}

Bool hvt_order_before(UInt x, UInt at)
{
	struct thread *t = thread_of(x);

	if (!t)
		return False;
	forget_answer(t);
	return at < t->until || (at < t->joined && before_by_joins(t));
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
	for (i = 0; i < n_alive; i++) {
		hvt_order_ask(alive[i], moment);
		if (!hvt_order_before(who, t->ended))
			return False;
	}
	t->past = True;
	return True;
}

/* ---- code ---- */

static VG_REGPARM(3) void joins(UWord waits, Addr thread, Addr sp)
{
	hvt_line_joins(thread, sp, (Bool)waits);
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
	static const struct {
		const HChar *name;
		Bool waits;
	} functions[] = {
		{ "pthread_join", True }, { "pthread_timedjoin_np", True }, { "pthread_clockjoin_np", True }, { "thrd_join", True },
		{ "pthread_tryjoin_np", False },
	};
	const HChar *name;
	IRTemp thread, sp;
	UInt i;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), ip, &name))
		return;
	for (i = 0; i < sizeof(functions) / sizeof(*functions) && !is_named(name, functions[i].name);)
		i++;
	if (i == sizeof(functions) / sizeof(*functions))
		return;
	thread = newIRTemp(out->tyenv, Ity_I64);
	sp = newIRTemp(out->tyenv, Ity_I64);
	addStmtToIRSB(out, IRStmt_WrTmp(thread, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RDI), Ity_I64)));
	addStmtToIRSB(out, IRStmt_WrTmp(sp, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RSP), Ity_I64)));
	addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(3, "hvt_order_joins", VG_(fnptr_to_fnentry)(&joins),
							  mkIRExprVec_3(mkIRExpr_HWord(functions[i].waits), IRExpr_RdTmp(thread),
									IRExpr_RdTmp(sp)))));
}
