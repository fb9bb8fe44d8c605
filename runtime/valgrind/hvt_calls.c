// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_calls.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"

#include "hvt_code_name.h"
#include "hvt_heap.h"
#include "hvt_link.h"
#include "hvt_request.h"
#include "hvt_shadow.h"

enum {
	PAGE_SHIFT = 12,
	PAGE = 1 << PAGE_SHIFT,
	CHUNK = 1024, /* sites allocated together: they never move, since code has their address */
	FIRST_NODES = 1 << 12,
	FULL = (UInt)HVT_CALLS_ARENA_SIZE - PAGE * 8, /* bytes of leaves: time to send them */
	MANY_PAGES = 1 << 14,
};

#define NOWHERE ((UWord)1 << 63)

struct site {
	UWord base;   /* the page that @counts is of */
	UInt *counts;
	UInt mask;    /* set bits of an address that make it one between two numbers */
	UInt shift;
	UInt number;
	UInt size;
	Addr ip;
	Addr fixed;   /* the one address that it accesses; 0: any */
	Bool write, dead;
};

/* A leaf: of one site, one page. */
struct node {
	UWord page;
	UInt site, at, shift; /* its place in the arena */
	UInt next;	      /* of the same bucket, + 1 */
};

Bool hvt_calls_on;

static struct site **chunks;
static UInt n_sites = 1, cap_chunks; /* number 0 is none */
static UInt *by_ip, n_by_ip;	      /* site numbers: open addressing */
static struct node *nodes;
static UInt n_nodes, cap_nodes;
static UInt *buckets; /* by page, node + 1 */
static UInt n_buckets;
static UChar fixed_pages[4096]; /* by page, modulo: some site accesses a fixed address there */

static struct hvt_calls_head *head(void)
{
	return hvt_shadow_at(HVT_CALLS);
}

static struct hvt_calls_site *shared(UInt number)
{
	return (struct hvt_calls_site *)hvt_shadow_at(HVT_CALLS_SITES) + number;
}

static struct site *site_of(UInt number)
{
	return &chunks[number / CHUNK][number % CHUNK];
}

/* ---- sites ---- */

static UInt *slot_of(Addr ip, Bool write, UInt size, Addr fixed)
{
	UInt i = (UInt)((ip * 0x9e3779b97f4a7c15ULL) >> 32) & (n_by_ip - 1);

	for (; by_ip[i]; i = (i + 1) & (n_by_ip - 1)) {
		const struct site *s = site_of(by_ip[i]);

		if (s->ip == ip && s->write == write && s->size == size && s->fixed == fixed)
			break;
	}
	return &by_ip[i];
}

/* Make the table of those that are not dead anew, with room for as many again. */
static void rehash(void)
{
	UInt n = 4096, i;

	while (n < 4 * n_sites)
		n *= 2;
	VG_(free)(by_ip);
	by_ip = VG_(calloc)("hotvar.calls.ip", n, sizeof(*by_ip));
	n_by_ip = n;
	for (i = 1; i < n_sites; i++)
		if (!site_of(i)->dead)
			*slot_of(site_of(i)->ip, site_of(i)->write, site_of(i)->size, site_of(i)->fixed) = i;
}

/* What it is called: function, file, line. */
static void tell(const struct site *s)
{
	static HChar text[HVT_TEXT_MAX];
	UInt len = hvt_code_name(s->ip, text);
	struct hvt_message m;

	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_CALLER;
	m.slot = s->number;
	m.flags = s->write;
	m.prot = s->size;
	m.start = s->ip;
	hvt_link_send(&m, text, len);
}

/* The site of the instruction; of an access to @fixed, if that is not 0. */
static struct site *get_site(Addr ip, Bool write, UInt size, Addr fixed)
{
	struct site *s;
	UInt *slot;

	if (2 * n_sites >= n_by_ip)
		rehash();
	slot = slot_of(ip, write, size, fixed);
	if (*slot)
		return site_of(*slot);
	if (n_sites == HVT_CALLS_SITES_MAX)
		return NULL;
	if (n_sites / CHUNK >= cap_chunks) {
		cap_chunks = cap_chunks ? 2 * cap_chunks : 64;
		chunks = VG_(realloc)("hotvar.calls.chunks", chunks, cap_chunks * sizeof(*chunks));
	}
	if (n_sites % CHUNK == 0 || n_sites == 1)
		chunks[n_sites / CHUNK] = VG_(calloc)("hotvar.calls.sites", CHUNK, sizeof(struct site));
	s = site_of(n_sites);
	s->base = NOWHERE;
	s->ip = ip;
	s->write = write;
	s->size = size;
	s->fixed = fixed;
	s->number = n_sites;
	for (s->shift = 0; s->shift < 3 && 2u << s->shift <= size; s->shift++)
		;
	s->mask = (1u << s->shift) - 1;
	*slot = n_sites;
	if (fixed)
		fixed_pages[(fixed >> PAGE_SHIFT) % sizeof(fixed_pages)] = 1;
	shared(n_sites)->fixed = fixed;
	head()->n_sites = ++n_sites;
	tell(s);
	return s;
}

/* ---- counting ---- */

static UInt bucket_of(UWord page)
{
	return (UInt)((page * 0x9e3779b97f4a7c15ULL) >> 32) & (n_buckets - 1);
}

static void rebucket(void)
{
	UInt i;

	VG_(free)(buckets);
	n_buckets = cap_nodes;
	buckets = VG_(calloc)("hotvar.calls.buckets", n_buckets, sizeof(*buckets));
	for (i = 0; i < n_nodes; i++) {
		UInt b = bucket_of(nodes[i].page);

		nodes[i].next = buckets[b];
		buckets[b] = i + 1;
	}
}

static struct hvt_calls_leaf *leaf_at(UInt at)
{
	return (struct hvt_calls_leaf *)((UChar *)hvt_shadow_at(HVT_CALLS_ARENA) + at);
}

/* The leaf of @number for @page, made if need be. */
static struct hvt_calls_leaf *leaf_of(UInt number, UInt shift, UWord page)
{
	struct hvt_calls_leaf *leaf;
	struct node *n;
	UInt i;

	for (i = n_buckets ? buckets[bucket_of(page)] : 0; i; i = nodes[i - 1].next)
		if (nodes[i - 1].page == page && nodes[i - 1].site == number && nodes[i - 1].shift == shift)
			return leaf_at(nodes[i - 1].at);
	if (head()->used > FULL)
		hvt_calls_take_all();
	if (n_nodes == cap_nodes) {
		cap_nodes = cap_nodes ? 2 * cap_nodes : FIRST_NODES;
		nodes = VG_(realloc)("hotvar.calls.nodes", nodes, cap_nodes * sizeof(*nodes));
		rebucket();
	}
	n = &nodes[n_nodes++];
	*n = (struct node){ page, number, (UInt)head()->used, shift, buckets[bucket_of(page)] };
	buckets[bucket_of(page)] = n_nodes;
	leaf = leaf_at(n->at);
	leaf->page = page;
	leaf->site = number;
	leaf->shift = shift;
	/* The leaf is whole before a reader may see it. */
	__asm__ volatile("" ::: "memory");
	head()->used += sizeof(*leaf) + (PAGE >> shift) * sizeof(UInt);
	return leaf;
}

static __attribute__((noinline)) void count_elsewhere(struct site *s, Addr a)
{
	struct hvt_calls_leaf *leaf;

	if (a & s->mask) {
		leaf = leaf_of(s->number, 0, a >> PAGE_SHIFT);
		leaf->counts[a % PAGE]++;
		return;
	}
	leaf = leaf_of(s->number, s->shift, a >> PAGE_SHIFT);
	s->base = a & ~(UWord)(PAGE - 1);
	s->counts = leaf->counts;
	leaf->counts[(a % PAGE) >> s->shift]++;
}

static VG_REGPARM(2) void access(struct site *s, Addr a)
{
	UWord off = a - s->base;

	if (LIKELY(off < PAGE && !(a & s->mask)))
		s->counts[off >> s->shift]++;
	else
		count_elsewhere(s, a);
}

UInt hvt_calls_number(Addr ip, Bool write, UInt size)
{
	const struct site *s = get_site(ip, write, size, 0);

	return s ? s->number : 0;
}

void hvt_calls_add(IRSB *out, Addr ip, IRExpr *addr, IRExpr *guard, Bool write, UInt size)
{
	Bool fixed = addr->tag == Iex_Const && !guard;
	struct site *s = get_site(ip, write, size, fixed ? addr->Iex.Const.con->Ico.U64 : 0);
	IRDirty *d;

	if (!s)
		return;
	if (s->fixed) {
		IRExpr *at = mkIRExpr_HWord((HWord)&shared(s->number)->count);
		IRTemp was = newIRTemp(out->tyenv, Ity_I64), is = newIRTemp(out->tyenv, Ity_I64);

		addStmtToIRSB(out, IRStmt_WrTmp(was, IRExpr_Load(Iend_LE, Ity_I64, at)));
		addStmtToIRSB(out, IRStmt_WrTmp(is, IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(was), mkIRExpr_HWord(1))));
		addStmtToIRSB(out, IRStmt_Store(Iend_LE, at, IRExpr_RdTmp(is)));
		return;
	}
	d = unsafeIRDirty_0_N(2, "hvt_calls_access", VG_(fnptr_to_fnentry)(&access),
			      mkIRExprVec_2(mkIRExpr_HWord((HWord)s), addr));
	if (guard)
		d->guard = guard;
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

/* ---- taking counts out ---- */

static struct hvt_call batch[HVT_CALLS_MAX];
static UInt batched;
static ULong sent;

static void send_batch(void)
{
	struct hvt_message m;

	if (!batched)
		return;
	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_CALLED;
	hvt_link_send(&m, batch, batched * sizeof(batch[0]));
	batched = 0;
}

static void send(UInt site, Addr addr, ULong count)
{
	sent++;
	if (hvt_request_stopped() || (!hvt_request_named(addr) && hvt_heap_has(addr)))
		return;
	if (batched == HVT_CALLS_MAX)
		send_batch();
	batch[batched++] = (struct hvt_call){ addr, count, site, 0 };
}

static void take_leaf(const struct node *n, Addr start, Addr end)
{
	struct hvt_calls_leaf *leaf = leaf_at(n->at);
	Addr at = n->page << PAGE_SHIFT;
	UInt i;

	for (i = 0; i < (UInt)PAGE >> n->shift; i++, at += 1u << n->shift) {
		if (!leaf->counts[i] || at < start || at >= end)
			continue;
		send(n->site, at, leaf->counts[i]);
		leaf->counts[i] = 0;
	}
}

/* Is there a fixed address in one of the pages? */
static Bool any_fixed(UWord page, UWord last)
{
	for (; page < last; page++)
		if (fixed_pages[page % sizeof(fixed_pages)])
			return True;
	return False;
}

static void take_fixed(Addr start, Addr end)
{
	UWord page = start >> PAGE_SHIFT, last = (end + PAGE - 1) >> PAGE_SHIFT;
	UInt i;

	if (last - page < sizeof(fixed_pages) && !any_fixed(page, last))
		return;
	for (i = 1; i < n_sites; i++) {
		struct hvt_calls_site *s = shared(i);

		if (!s->count || s->fixed < start || s->fixed >= end)
			continue;
		send(i, s->fixed, s->count);
		s->count = 0;
	}
}

void hvt_calls_take(Addr start, Addr end)
{
	UWord page = start >> PAGE_SHIFT, last = (end + PAGE - 1) >> PAGE_SHIFT;
	UInt i;

	if (!hvt_calls_on || start >= end)
		return;
	hvt_shadow_taking();
	if (last - page > MANY_PAGES)
		for (i = 0; i < n_nodes; i++)
			take_leaf(&nodes[i], start, end);
	else
		for (; page < last && n_buckets; page++)
			for (i = buckets[bucket_of(page)]; i; i = nodes[i - 1].next)
				if (nodes[i - 1].page == page)
					take_leaf(&nodes[i - 1], start, end);
	take_fixed(start, end);
	send_batch();
	hvt_shadow_taking();
}

static void forget_leaves(void)
{
	UInt i;

	n_nodes = 0;
	if (n_buckets)
		VG_(memset)(buckets, 0, n_buckets * sizeof(*buckets));
	for (i = 1; i < n_sites; i++)
		site_of(i)->base = NOWHERE;
}

ULong hvt_calls_take_all(void)
{
	ULong before = sent;

	if (!hvt_calls_on)
		return 0;
	hvt_calls_take(0, HVT_PLANE_SIZE);
	hvt_shadow_taking();
	hvt_shadow_punch(HVT_CALLS_ARENA, HVT_CALLS_ARENA + HVT_CALLS_ARENA_SIZE);
	head()->used = 0;
	forget_leaves();
	hvt_shadow_taking();
	return sent - before;
}

void hvt_calls_unmapped(Addr start, Addr end)
{
	Bool any = False;
	UInt i;

	for (i = 1; i < n_sites; i++) {
		struct site *s = site_of(i);

		if (s->dead || s->ip < start || s->ip >= end)
			continue;
		s->dead = any = True;
	}
	if (any)
		rehash();
}

void hvt_calls_begin(void)
{
	UInt i;

	for (i = 1; i < n_sites; i++)
		tell(site_of(i));
}

void hvt_calls_forked(void)
{
	UInt i;

	if (!hvt_calls_on)
		return;
	head()->n_sites = n_sites;
	forget_leaves();
	for (i = 1; i < n_sites; i++)
		shared(i)->fixed = site_of(i)->fixed;
}
