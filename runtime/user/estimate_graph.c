/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_graph.c - cutting functions into blocks and drawing the edges.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_graph.h"
#include "estimate_loops.h"
#include "estimate_ways.h"

enum {
	SMALL = 24,	     /* blocks of a function whose inside is always solved */
	BLOCKS_A_SAMPLE = 8, /* more, and samples are too thin to say what flows where */
	MAX_CALLER = 200,    /* blocks of a caller that was never sampled */
	MAX_CALLERS = 1000,  /* of all those together */
	MAX_NODES = 20000,   /* solved together; the least sampled functions go without */
	MAX_OUT = 64,	     /* ways out of one block */
	FEWEST_CALLS = 1,    /* that walks saw, to be worth anything */
	JUMP_EXCESS = 3,     /* of calls of nobody we know, together */
};

static const double CONTRADICTED = 2; /* standard deviations */
static const double MOST_GHZ = 6;     /* of any CPU */
static const double USUAL_GHZ = 3;
static const double BEYOND_CACHE = 1 << 20; /* bytes: in memory, as a rule, or a cache that all CPUs share */

/* Blocks of one function on their way into the graph. */
struct placing {
	struct site_function *f;
	uint32_t *node_at;   /* by instruction: node that begins there, or BLOCKS_NONE */
	bool whole;	     /* with all its edges */
	uint32_t first_node, end_node, first_edge, end_edge;
};

struct building {
	struct graph *g;
	const struct sites *s;
	struct placing *places; /* as sites.v */
	uint32_t *queue;
};

void graph_fini(struct graph *g)
{
	flow_graph_fini(&g->flow);
	free(g->blocks);
	memset(g, 0, sizeof(*g));
}

/* A repeated string instruction moves some 32 bytes a cycle, fewer where no cache holds them, but compares one element. */
static double repetition_cycles(const struct site_function *f, uint32_t i)
{
	const struct decode_insn *in = &f->b->insn[i];
	const struct site_operand *o = f->ops[i];
	double bytes;

	if (!in->is_rep || !in->n_mem || !o || !o->rep_n)
		return 0;
	/* Two reads are a comparison; one read or write, a fill or a copy. */
	if (in->flags_op == DECODE_FLAGS_LOST)
		return o->rep_sum / o->rep_n * 2;
	bytes = o->rep_sum / o->rep_n * in->mem[0].size;
	return bytes / (bytes > BEYOND_CACHE ? 8 : 32);
}

static struct flow_node *add_node(struct graph *g, struct site_function *f,
				  uint32_t first, uint32_t end)
{
	struct flow_node *node;
	double quarters = 0;

	if (g->flow.n_nodes == g->cap_nodes) {
		uint32_t cap = g->cap_nodes ? 2 * g->cap_nodes : 256;
		struct flow_node *v = realloc(g->flow.nodes, cap * sizeof(*v));
		struct graph_block *b;

		if (v)
			g->flow.nodes = v;
		b = realloc(g->blocks, cap * sizeof(*b));
		if (b)
			g->blocks = b;
		if (!v || !b)
			return NULL;
		g->cap_nodes = cap;
	}
	g->blocks[g->flow.n_nodes] = (struct graph_block){ f, first, end, false };
	node = &g->flow.nodes[g->flow.n_nodes++];
	memset(node, 0, sizeof(*node));
	for (uint32_t i = first; i < end; i++) {
		node->samples += f->hits[i];
		quarters += f->b->insn[i].cycles4 + 4 * repetition_cycles(f, i);
	}
	node->cycles = (quarters ? quarters : 1) / 4;
	return node;
}

static struct flow_edge *add_edge(struct graph *g, uint32_t from, uint32_t to)
{
	struct flow_edge *e;

	if (g->flow.n_edges == g->cap_edges) {
		uint32_t cap = g->cap_edges ? 2 * g->cap_edges : 512;
		struct flow_edge *v = realloc(g->flow.edges, cap * sizeof(*v));

		if (!v)
			return NULL;
		g->flow.edges = v;
		g->cap_edges = cap;
	}
	e = &g->flow.edges[g->flow.n_edges++];
	*e = (struct flow_edge){ .from = from, .to = to };
	return e;
}

/* Only the blocks that samples fell into. */
static int place_lone(struct building *b, struct placing *p)
{
	uint32_t first, end;

	/* What a call leads to begins with the first block: a stub of the linker's has no symbol. */
	p->node_at = malloc((p->f->n + 1) * sizeof(*p->node_at));
	if (!p->node_at)
		return -ENOMEM;
	memset(p->node_at, 0xff, (p->f->n + 1) * sizeof(*p->node_at));
	p->first_node = b->g->flow.n_nodes;
	for (uint32_t i = 0; i < p->f->n; i = end) {
		uint32_t n = 0;

		blocks_around(p->f->b, i, &first, &end);
		for (uint32_t k = first; k < end; k++)
			n += p->f->hits[k];
		if (!n)
			continue;
		p->node_at[first] = b->g->flow.n_nodes;
		if (!add_node(b->g, p->f, first, end))
			return -ENOMEM;
	}
	p->end_node = b->g->flow.n_nodes;
	return 0;
}

static void reach(struct building *b, struct placing *p, uint32_t i, uint32_t *n)
{
	uint32_t first, end;

	blocks_around(p->f->b, i, &first, &end);
	if (p->node_at[first] != BLOCKS_NONE)
		return;
	p->node_at[first] = 0;
	b->queue[(*n)++] = first;
}

/* All blocks that control can reach from the entry, or that samples fell into. */
static int place_whole(struct building *b, struct placing *p)
{
	const struct blocks *code = p->f->b;
	uint32_t n = 0, out[MAX_OUT];
	bool leaves;

	p->node_at = malloc((p->f->n + 1) * sizeof(*p->node_at));
	b->queue = malloc((p->f->n + 1) * sizeof(*b->queue));
	if (!p->node_at || !b->queue)
		return -ENOMEM;
	memset(p->node_at, 0xff, (p->f->n + 1) * sizeof(*p->node_at));
	p->whole = true;
	reach(b, p, 0, &n);
	for (uint32_t i = 0; i < p->f->n; i++)
		if (p->f->hits[i])
			reach(b, p, i, &n);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t first, end, n_out;

		blocks_around(code, b->queue[k], &first, &end);
		n_out = blocks_next(code, end - 1, out, MAX_OUT, &leaves);
		for (uint32_t e = 0; e < n_out; e++)
			reach(b, p, out[e], &n);
	}
	p->first_node = b->g->flow.n_nodes;
	for (uint32_t i = 0; i < p->f->n; i++) {
		uint32_t first, end;

		if (p->node_at[i] == BLOCKS_NONE)
			continue;
		blocks_around(code, i, &first, &end);
		p->node_at[i] = b->g->flow.n_nodes;
		if (!add_node(b->g, p->f, first, end))
			return -ENOMEM;
	}
	p->end_node = b->g->flow.n_nodes;
	free(b->queue);
	b->queue = NULL;
	return 0;
}

/* The node that the function starting at @where begins with. */
static uint32_t entry_of(const struct building *b, const struct site_function *from,
			 uint64_t where)
{
	size_t lo = 0, hi = b->s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct site_function *f = b->s->v[mid];

		if (f->module < from->module ||
		    (f->module == from->module &&
		     (f->mm < from->mm || (f->mm == from->mm && f->start < where))))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == b->s->n || b->s->v[lo]->start != where ||
	    b->s->v[lo]->module != from->module || b->s->v[lo]->mm != from->mm ||
	    !b->places[lo].node_at || b->places[lo].node_at[0] == BLOCKS_NONE)
		return FLOW_OUTSIDE;
	return b->places[lo].node_at[0];
}

/* Does the call at @i lead to one function for ever: by its distance, or a slot that the loader fills? */
static bool is_fixed_call(const struct site_function *f, uint32_t i)
{
	const struct decode_insn *in = &f->b->insn[i];

	return in->flow == DECODE_CALL || (in->n_mem && in->mem[0].base == DECODE_RIP);
}

/* Edges to what walks saw the call or jump at @last lead to in other functions: through a pointer, or a stub of the linker's. */
static int calls_walked(struct building *b, const struct site_function *f, uint32_t node, uint32_t last)
{
	bool jump = f->b->insn[last].flow == DECODE_INDIRECT;
	const struct site_counted *c = f->b->insn[last].flow == DECODE_COND ? NULL : site_counted_at(f, last);
	struct site_jump others = { 0 };
	struct flow_edge *e;

	if (!c || c->n < (jump ? WAYS_FEWEST : FEWEST_CALLS))
		return 0;
	for (uint32_t k = 0; k < f->n_jumps; k++) {
		const struct site_jump *j = &f->jumps[k];
		uint32_t to;

		if (j->from != last || j->to != BLOCKS_NONE)
			continue;
		to = j->callee ? entry_of(b, j->callee, j->callee->start) : FLOW_OUTSIDE;
		if (to == FLOW_OUTSIDE) {
			others.hits += j->hits;
			continue;
		}
		e = add_edge(b->g, node, to);
		if (!e)
			return -ENOMEM;
		e->is_tail = jump;
		e->is_call = !jump;
		if (!jump && j->hits == c->n && is_fixed_call(f, last))
			return 0;
		e->is_share = !jump;
		ways_counted(c, j, e);
	}
	if (!others.hits && is_fixed_call(f, last))
		return 0;
	e = add_edge(b->g, node, FLOW_OUTSIDE);
	if (!e)
		return -ENOMEM;
	e->is_call = e->is_share = !jump;
	ways_counted(c, &others, e);
	e->excess = e->excess > JUMP_EXCESS ? e->excess : JUMP_EXCESS;
	return 0;
}

static int edges_of_block(struct building *b, struct placing *p, uint32_t node)
{
	const struct graph_block *at = &b->g->blocks[node];
	const struct site_function *f = p->f;
	uint32_t last = at->end - 1, out[MAX_OUT], n, walked;
	const struct decode_insn *in = &f->b->insn[last];
	uint64_t where = f->start + f->b->off[last] + (uint64_t)in->target;
	struct flow_edge *e;
	bool leaves;

	n = blocks_next(f->b, last, out, MAX_OUT, &leaves);
	for (uint32_t k = 0; k < n; k++) {
		e = add_edge(b->g, node, p->node_at[out[k]]);
		if (!e)
			return -ENOMEM;
		if (in->flow == DECODE_COND) {
			bool through = out[k] == last + 1 &&
				       f->b->off[out[k]] == f->b->off[last] + in->len;

			ways_branch(f, last, !through, e);
		}
		if (in->flow == DECODE_INDIRECT)
			ways_jump(f, last, out[k], e);
	}
	if (in->flow == DECODE_CALL && entry_of(b, f, where) != FLOW_OUTSIDE) {
		e = add_edge(b->g, node, entry_of(b, f, where));
		if (!e)
			return -ENOMEM;
		e->is_call = true;
	}
	walked = b->g->flow.n_edges;
	if (calls_walked(b, f, node, last))
		return -ENOMEM;
	walked = b->g->flow.n_edges - walked;
	if (leaves && (in->flow == DECODE_JUMP || in->flow == DECODE_COND)) {
		/* A tail call, to a function we know or not. */
		e = add_edge(b->g, node, entry_of(b, f, where));
		if (!e)
			return -ENOMEM;
		e->is_tail = e->to != FLOW_OUTSIDE;
		if (in->flow == DECODE_COND)
			ways_branch(f, last, true, e);
	} else if ((leaves || !n) && !(in->flow == DECODE_INDIRECT && walked)) {
		e = add_edge(b->g, node, FLOW_OUTSIDE);
		if (!e)
			return -ENOMEM;
		/* Targets seen are all there is, as far as we know. */
		e->has_seen = in->flow == DECODE_INDIRECT && n;
	}
	return 0;
}

/* What comes from outside: callers, and whatever leads to a block that nothing we know leads to. */
static int open_blocks(struct graph *g, struct placing *p)
{
	for (uint32_t v = p->first_node; v < p->end_node; v++)
		g->blocks[v].open = true;
	for (uint32_t e = p->first_edge; e < g->flow.n_edges; e++) {
		const struct flow_edge *edge = &g->flow.edges[e];

		if (!edge->is_call && edge->to >= p->first_node && edge->to < p->end_node)
			g->blocks[edge->to].open = false;
	}
	g->blocks[p->node_at[0]].open = true;
	for (uint32_t v = p->first_node; v < p->end_node; v++)
		if (g->blocks[v].open && !add_edge(g, FLOW_OUTSIDE, v))
			return -ENOMEM;
	return 0;
}

/* Blocks on their own: from somewhere, to somewhere. */
static int lone_edges(struct graph *g, uint32_t first, uint32_t end)
{
	for (uint32_t v = first; v < end; v++)
		if (!add_edge(g, FLOW_OUTSIDE, v) || !add_edge(g, v, FLOW_OUTSIDE))
			return -ENOMEM;
	return 0;
}

static int function_cut(struct building *b, const struct placing *p)
{
	uint32_t n = p->end_node - p->first_node;
	uint32_t *nodes = malloc((n + 1) * sizeof(*nodes));
	int err = -ENOMEM;

	for (uint32_t v = 0; nodes && v < n; v++)
		nodes[v] = p->first_node + v;
	if (nodes)
		err = flow_graph_cut(&b->g->flow, nodes, n);
	free(nodes);
	return err;
}

/*
 * Rounds of loops, as registers tell them, are forgotten where breakpoints counted something else: such a
 * loop is left in more ways, or made rounds of its own kind while it was sampled.
 */
static void believe_counts(struct graph *g, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		struct flow_edge *e = &g->flow.edges[i];
		double other = -1, sd, far;

		if (!(e->odds > 0) || !e->has_counted)
			continue;
		for (uint32_t k = first; k < end; k++)
			if (k != i && g->flow.edges[k].from == e->from && !g->flow.edges[k].is_call)
				other = g->flow.edges[k].counted;
		if (other < 0)
			continue;
		sd = sqrt((1 / (e->counted + 0.5) + 1 / (other + 0.5)) * e->excess + e->odds_sd * e->odds_sd);
		far = log(e->odds) - log((e->counted + 0.5) / (other + 0.5));
		if (!e->odds_least)
			far = fabs(far);
		if (far > CONTRADICTED * sd && other >= WAYS_FEWEST && e->counted >= WAYS_FEWEST)
			e->odds = 0;
	}
}

static int draw_edges(struct building *b)
{
	struct graph *g = b->g;

	for (size_t k = 0; k < b->s->n; k++) {
		struct placing *p = &b->places[k];

		if (!p->whole) {
			if (lone_edges(g, p->first_node, p->end_node))
				return -ENOMEM;
			continue;
		}
		p->first_edge = g->flow.n_edges;
		for (uint32_t i = 0; i < p->f->n; i++)
			if (p->node_at[i] != BLOCKS_NONE &&
			    edges_of_block(b, p, p->node_at[i]))
				return -ENOMEM;
		if (open_blocks(g, p))
			return -ENOMEM;
		p->end_edge = g->flow.n_edges;
		if (function_cut(b, p) ||
		    loops_apply(g, p->first_node, p->end_node, p->first_edge, p->end_edge))
			return -ENOMEM;
		believe_counts(g, p->first_edge, p->end_edge);
	}
	return 0;
}

struct ranked {
	size_t i;
	uint32_t samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->i > y->i) - (x->i < y->i);
}

static uint32_t count_blocks(const struct site_function *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		n += f->b->leader[i];
	return n;
}

/* Does @f call a function that samples fell into? */
static bool calls_directly(const struct building *b, const struct site_function *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct decode_insn *in = &f->b->insn[i];
		struct site_function *to;

		if (in->flow != DECODE_CALL)
			continue;
		to = sites_at(b->s, f->module, f->mm, f->start + f->b->off[i] + (uint64_t)in->target);
		if (to && to != f && to->samples)
			return true;
	}
	return false;
}

/* Is it worth the work, and right, to ask what flows through all of @f? */
static bool solvable(const struct building *b, const struct site_function *f,
		     uint32_t *callers)
{
	uint32_t n = count_blocks(f);

	if (!f->b->bounded || b->g->flow.n_nodes + n > MAX_NODES)
		return false;
	if (f->samples && (n <= SMALL || n <= (uint64_t)f->samples * BLOCKS_A_SAMPLE))
		return true;
	/* A caller ties its callees together, whether it was sampled itself or hardly. */
	if (n > MAX_CALLER || *callers + n > MAX_CALLERS || (f->samples && !calls_directly(b, f)))
		return false;
	*callers += n;
	return true;
}

static int place_all(struct building *b, struct ranked *order)
{
	size_t n = b->s->n;
	uint32_t callers = 0;

	for (size_t i = 0; i < n; i++)
		order[i] = (struct ranked){ i, b->s->v[i]->samples };
	qsort(order, n, sizeof(*order), by_samples);
	for (size_t k = 0; k < n; k++) {
		struct placing *p = &b->places[order[k].i];
		int err;

		p->f = b->s->v[order[k].i];
		if (!p->f->b || !p->f->n)
			continue;
		if (solvable(b, p->f, &callers))
			err = place_whole(b, p);
		else
			err = place_lone(b, p); /* nothing, if it has no samples */
		if (err)
			return err;
	}
	return 0;
}

/* Does code that takes a part of the samples worth naming call through pointers? */
static bool calls_unseen(const struct sites *s)
{
	uint64_t all = 0;

	for (size_t k = 0; k < s->n; k++)
		all += s->v[k]->samples;
	for (size_t k = 0; k < s->n; k++) {
		const struct site_function *f = s->v[k];

		if (!f->samples || f->samples * 200ull < all)
			continue;
		for (uint32_t i = 0; i < f->n; i++) {
			const struct decode_insn *in = &f->b->insn[i];

			/* call *slot(%rip) is an import: one function, in another module */
			if (in->flow == DECODE_INDIRECT_CALL &&
			    !(in->n_mem && in->mem[0].base == DECODE_RIP))
				return true;
		}
	}
	return false;
}

int graph_build(struct graph *g, const struct sites *s, double samples, double all_ns)
{
	struct building b = { .g = g, .s = s };
	struct ranked *order = calloc(s->n + 1, sizeof(*order));
	int err = -ENOMEM;

	memset(g, 0, sizeof(*g));
	g->series = &s->series;
	g->samples = samples;
	g->all_ns = all_ns;
	g->sample_cycles = samples > 0 ? MOST_GHZ * all_ns / samples : 0;
	g->flow.sample_cycles = samples > 0 && all_ns > 0 ? USUAL_GHZ * all_ns / samples : 1;
	b.places = calloc(s->n + 1, sizeof(*b.places));
	if (order && b.places)
		err = place_all(&b, order);
	g->flow.calls_unseen = calls_unseen(s);
	if (!err)
		err = draw_edges(&b);
	for (size_t i = 0; b.places && i < s->n; i++)
		free(b.places[i].node_at);
	free(b.places);
	free(b.queue);
	free(order);
	if (err)
		graph_fini(g);
	return err;
}
