// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_vars.c - variables with a fixed place, out of debug information.
 *
 * Every entry of every unit is passed over once, in the order they have in the file; only those of variables
 * are read.  Units are independent of each other, so threads take them one after the other.
 */
#include "config.h"

#include "dwarf_vars.h"

#include <dwarf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_die.h"

enum {
	DEPTH_MAX = 4096,	/* of entries in each other: compilers stay below 100 */
	HOPS_MAX = 8,		/* from a definition to its declaration */
	PIECES_MAX = 64,
	THREADS_MAX = 8,
	VARS_MAX = 1 << 21,
	SMALL = 1 << 20,	/* bytes for which no thread is started */
	WORK_BYTE = 16,		/* attributes to a byte; compilers have one to two bytes */
	WORK_LEAST = 1 << 12,
};

struct piece {
	uint64_t vaddr, at, size; /* size 0: the whole */
	bool tls;
};

struct scan {
	struct dwarf_unit **units;
	uint32_t n, next; /* next: the first that no thread has taken */
};

struct worker {
	struct scan *scan;
	struct dwarf_vars out;
	const uint8_t *scope[DEPTH_MAX]; /* the function around each level, or NULL */
	int error;
};

/* ---- locations ---- */

enum placed { NOWHERE, PLACED, UNPLACED };

/*
 * The part of expression @c up to the next piece.  One value at most is on the stack: "address",
 * "address, plus_uconst", "offset, form_tls_address".
 */
static enum placed evaluate(const struct dwarf_unit *u, struct dwarf_cursor *c, struct piece *out,
			    bool *more)
{
	enum { EMPTY, NUMBER, ADDRESS, TLS, OTHER } have = EMPTY;
	uint64_t v = 0;

	*more = false;
	while (c->p < c->end && !c->bad && !*more) {
		uint8_t op = (uint8_t)dwarf_fixed(c, 1);
		bool empty = have == EMPTY;

		switch (op) {
		case DW_OP_addr:
			v = dwarf_fixed(c, u->addr_size);
			have = empty ? ADDRESS : OTHER;
			break;
		case DW_OP_addrx:
		case DW_OP_GNU_addr_index:
			have = dwarf_unit_addr(u, dwarf_uleb(c), &v) && empty ? ADDRESS : OTHER;
			break;
		case DW_OP_constx:
		case DW_OP_GNU_const_index:
			have = dwarf_unit_addr(u, dwarf_uleb(c), &v) && empty ? NUMBER : OTHER;
			break;
		case DW_OP_const4u: v = dwarf_fixed(c, 4); have = empty ? NUMBER : OTHER; break;
		case DW_OP_const8u: v = dwarf_fixed(c, 8); have = empty ? NUMBER : OTHER; break;
		case DW_OP_constu: v = dwarf_uleb(c); have = empty ? NUMBER : OTHER; break;
		case DW_OP_plus_uconst:
			v += dwarf_uleb(c);
			have = have == NUMBER || have == ADDRESS ? have : OTHER;
			break;
		case DW_OP_form_tls_address:
		case DW_OP_GNU_push_tls_address:
			have = have == NUMBER || have == ADDRESS ? TLS : OTHER;
			break;
		case DW_OP_piece:
			out->size = dwarf_uleb(c);
			*more = true;
			break;
		case DW_OP_GNU_uninit:
			break;
		case DW_OP_stack_value: /* the address is its value: it has none itself */
			c->p = c->end;
			return NOWHERE;
		default:
			/* a register, a frame, a computation: what follows cannot be told apart */
			c->p = c->end;
			if (have != EMPTY)
				have = OTHER;
			else
				return NOWHERE;
			break;
		}
	}
	out->vaddr = v;
	out->tls = have == TLS;
	if (c->bad)
		return UNPLACED;
	return have == ADDRESS || have == TLS ? PLACED : have == EMPTY ? NOWHERE : UNPLACED;
}

/* The pieces of @d's location; *@unplaced is counted up if there is one that has no place. */
static unsigned locate(const struct dwarf_die *d, struct piece *out, uint32_t *unplaced)
{
	const struct dwarf_value *v = &d->v[DWARF_A_LOCATION];
	struct dwarf_cursor c = { v->p, v->p, false };
	uint64_t at = 0;
	unsigned n = 0;
	bool more, lost = false;

	if (v->cls != DWARF_C_BLOCK)
		return 0;
	c.end = v->p + v->u;
	while (c.p < c.end && n < PIECES_MAX) {
		struct piece p = { .at = at };
		enum placed r = evaluate(d->unit, &c, &p, &more);

		if (r == PLACED && (more || (!n && !at)))
			out[n++] = p;
		lost |= r == UNPLACED;
		if (c.bad || !more || at + p.size < at)
			break;
		at += p.size;
	}
	*unplaced += lost;
	return n;
}

/* ---- one variable ---- */

static const char *function_name(struct dwarf_unit *u, const uint8_t *at)
{
	struct dwarf_die d;
	int hops;

	for (hops = 0; hops < HOPS_MAX && at && dwarf_die_read(u, at, &d); hops++) {
		const char *name = dwarf_die_str(&d, DWARF_A_NAME);

		if (name)
			return name;
		if (!dwarf_die_ref(&d, DWARF_A_ORIGIN, &u, &at) &&
		    !dwarf_die_ref(&d, DWARF_A_SPECIFICATION, &u, &at))
			break;
		dwarf_unit_attrs(u);
	}
	return NULL;
}

/* What @d, and the declarations behind it, say of the variable. */
static void describe(struct dwarf_die *d, struct dwarf_var *v)
{
	struct dwarf_unit *u;
	const uint8_t *at;
	uint64_t n;
	int hops;

	for (hops = 0; hops < HOPS_MAX; hops++) {
		if (!v->name)
			v->name = dwarf_die_str(d, DWARF_A_NAME);
		if (!v->linkage)
			v->linkage = dwarf_die_str(d, DWARF_A_LINKAGE_NAME);
		if (!v->type && !dwarf_die_ref(d, DWARF_A_TYPE, &v->type_unit, &v->type))
			v->type = NULL;
		v->external |= dwarf_die_flag(d, DWARF_A_EXTERNAL);
		/* line and file go together; where one is not repeated it is the declaration's */
		if (!v->decl_line && dwarf_die_num(d, DWARF_A_DECL_LINE, &n) && n <= UINT32_MAX)
			v->decl_line = (uint32_t)n;
		if (!v->decl_unit && dwarf_die_num(d, DWARF_A_DECL_FILE, &n)) {
			v->decl_file = n;
			v->decl_unit = d->unit;
		}
		if (!dwarf_die_ref(d, DWARF_A_SPECIFICATION, &u, &at) &&
		    !dwarf_die_ref(d, DWARF_A_ORIGIN, &u, &at))
			break;
		dwarf_unit_attrs(u);
		if (!dwarf_die_read(u, at, d))
			break;
	}
	if (v->linkage && v->name && !strcmp(v->linkage, v->name))
		v->linkage = NULL;
}

static int add(struct dwarf_vars *out, const struct dwarf_var *v)
{
	if (out->n == VARS_MAX) {
		out->unplaced++;
		return 0;
	}
	if (out->n == out->cap) {
		uint32_t cap = out->cap ? out->cap * 2 : 256;
		struct dwarf_var *more = realloc(out->v, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		out->v = more;
		out->cap = cap;
	}
	out->v[out->n++] = *v;
	return 0;
}

static int variable(struct worker *w, struct dwarf_die *d, const uint8_t *function, uint32_t seq_unit)
{
	struct piece pieces[PIECES_MAX];
	struct dwarf_var v;
	unsigned n, i;
	int r = 0;

	if (!dwarf_die_has(d, DWARF_A_LOCATION))
		return 0;
	n = locate(d, pieces, &w->out.unplaced);
	if (!n)
		return 0;
	memset(&v, 0, sizeof(v));
	v.unit = d->unit;
	v.seq_unit = seq_unit;
	describe(d, &v);
	if (!v.name && !v.linkage)
		return 0;
	v.function = function ? function_name(v.unit, function) : NULL;
	for (i = 0; i < n && !r; i++) {
		v.vaddr = pieces[i].vaddr;
		v.at = pieces[i].at;
		v.piece = pieces[i].size;
		v.tls = pieces[i].tls;
		v.seq = w->out.n;
		r = add(&w->out, &v);
	}
	return r;
}

/* ---- units ---- */

/*
 * Types hold no variables with a place, and have much below them: passed over where that is cheap.  A common block has
 * other variables in each function: its symbol is the only name that is right.
 */
static bool is_passed(const struct dwarf_abbrev *a)
{
	unsigned tag = a->tag;

	if (!a->children || tag == DW_TAG_common_block)
		return a->children;
	return a->sibling && (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
			      tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type ||
			      tag == DW_TAG_subroutine_type || tag == DW_TAG_array_type);
}

static int scan_unit(struct worker *w, struct dwarf_unit *u, uint32_t number)
{
	const struct dwarf_abbrevs *t = dwarf_unit_abbrevs(u);
	const uint8_t *at = u->die, *attrs;
	uint32_t depth = 0;
	struct dwarf_die d;
	int r;

	if (!t)
		return -ENOMEM;
	dwarf_work(((uint64_t)(u->end - u->start) + WORK_LEAST) * WORK_BYTE);
	if (!dwarf_unit_attrs(u)) {
		w->out.broken++;
		return 0;
	}
	w->scope[0] = NULL;
	while (at < u->end) {
		const struct dwarf_abbrev *a = dwarf_die_head(u, t, at, &attrs);
		const uint8_t *here = at;

		if (!a)
			goto broken;
		if (!a->tag) { /* the end of a list; zeros may fill up the unit */
			at = attrs;
			if (depth)
				depth--;
			continue;
		}
		if (a->tag == DW_TAG_variable || is_passed(a)) {
			if (!dwarf_die_read(u, at, &d))
				goto broken;
			at = d.next;
			if (a->tag != DW_TAG_variable) {
				at = dwarf_die_after(&d);
				if (!at)
					goto broken;
				continue;
			}
			r = variable(w, &d, w->scope[depth], number);
			if (r)
				return r;
		} else {
			at = dwarf_die_pass(u, t, a, attrs);
			if (!at)
				goto broken;
		}
		if (!a->children)
			continue;
		if (++depth == DEPTH_MAX)
			goto broken;
		w->scope[depth] = a->tag == DW_TAG_subprogram ? here : w->scope[depth - 1];
	}
	return 0;
broken:
	w->out.broken++;
	return 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct scan *s = w->scan;
	uint32_t i;

	while (!w->error && (i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)) < s->n)
		w->error = scan_unit(w, s->units[i], i);
	return NULL;
}

static unsigned processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set) > THREADS_MAX ? THREADS_MAX : (unsigned)CPU_COUNT(&set);
}

static int collect(struct dwarf_set *s, struct scan *out)
{
	uint32_t n = 0, i, k;

	for (k = 0; k < s->n; k++)
		n += s->v[k]->n_info;
	out->units = malloc((n + 1) * sizeof(*out->units));
	if (!out->units)
		return -ENOMEM;
	for (k = 0; k < s->n; k++) {
		for (i = 0; i < s->v[k]->n_info; i++) {
			struct dwarf_unit *u = &s->v[k]->units[i];

			/* split units that nobody names have no addresses */
			if (u->type != DW_UT_type && u->type != DW_UT_split_type &&
			    (!u->split || u->skeleton))
				out->units[out->n++] = u;
		}
	}
	return 0;
}

static int by_place(const void *pa, const void *pb)
{
	const struct dwarf_var *a = pa, *b = pb;

	if (a->tls != b->tls)
		return a->tls ? 1 : -1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->seq_unit != b->seq_unit)
		return a->seq_unit < b->seq_unit ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static bool same_name(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* One of those that say the same: inline functions' statics stand in many units. */
static void drop_twins(struct dwarf_vars *out)
{
	uint32_t i, k = 0;

	for (i = 0; i < out->n; i++) {
		struct dwarf_var *a = k ? &out->v[k - 1] : NULL, *b = &out->v[i];

		if (a && a->tls == b->tls && a->vaddr == b->vaddr && a->piece == b->piece &&
		    a->at == b->at && same_name(a->name, b->name) &&
		    same_name(a->linkage, b->linkage)) {
			if (!a->type) {
				a->type = b->type;
				a->type_unit = b->type_unit;
			}
			continue;
		}
		out->v[k++] = *b;
	}
	out->n = k;
}

static int merge(struct worker *w, unsigned n, struct dwarf_vars *out)
{
	unsigned i;
	uint32_t k;

	*out = w[0].out;
	memset(&w[0].out, 0, sizeof(w[0].out));
	for (i = 1; i < n; i++) {
		out->unplaced += w[i].out.unplaced;
		out->broken += w[i].out.broken;
		for (k = 0; k < w[i].out.n; k++)
			if (add(out, &w[i].out.v[k]))
				return -ENOMEM;
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_place);
	drop_twins(out);
	return 0;
}

int dwarf_vars_scan(struct dwarf_set *s, struct dwarf_vars *out)
{
	struct scan scan = { .next = 0 };
	unsigned n = s->bytes < SMALL ? 1 : processors(), i, started = 0;
	struct worker *w = calloc(n, sizeof(*w));
	pthread_t threads[THREADS_MAX];
	sigset_t all, was;
	int r = w ? collect(s, &scan) : -ENOMEM;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < n && !r; i++)
		w[i].scan = &scan;
	/* this thread works too; one that does not start is done without; signals are for those who wait */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	for (i = 1; i < n && !r; i++)
		if (!pthread_create(&threads[started], NULL, work, &w[i]))
			started++;
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (!r)
		work(&w[0]);
	dwarf_work(UINT64_MAX);
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < n && !r; i++)
		r = w[i].error;
	if (!r)
		r = merge(w, n, out);
	for (i = 0; i < n && w; i++)
		free(w[i].out.v);
	free(scan.units);
	free(w);
	if (r)
		dwarf_vars_fini(out);
	return r;
}

void dwarf_vars_fini(struct dwarf_vars *v)
{
	free(v->v);
	memset(v, 0, sizeof(*v));
}
