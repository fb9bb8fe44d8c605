// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvar_vmas.c - the mappings of one address space, in a B+ tree.
 *
 * Inner nodes hold keys and children, leaves hold areas; the keys lie apart and
 * dense, so a search reads few cache lines, and unused ones are the highest number, so
 * that it takes the same steps in any node and never guesses a branch wrong.
 *
 *	inner	| n | - |  key[0] key[1] ... 				 |
 *		| child[0] child[1] child[2] ...			 |
 *	leaf	| n | next leaf | key[0] key[1] ...			 |
 *		| area[0] area[1] area[2] ...				 |
 *
 * Always true between calls:
 *   - key[i] is the start of the first area under child[i + 1], or of area[i + 1];
 *   - a node is at least half full, but for the root and the last of each level,
 *     which holds at least one: an ascending run of new areas leaves full nodes behind;
 *   - all leaves are at the same depth, of HVAR_VMAS_HEIGHT levels at least; a root above
 *     that depth has two children at least.
 * Half full nodes bound how many there can be for n areas: that is hvar_vmas_bytes(),
 * and as the list takes no more areas than what its bytes are enough for, a node can
 * always be had.  Nodes are named by their place in cache lines from the start.
 */
#include "hvar_vmas.h"

/*
 * Areas that a leaf holds, children that an inner node holds, and the levels that even the smallest
 * list has.  Measured by testsuite/bench/vmas on a busy Zen 5 with 1 MiB of L2: ns of a look-up
 * with others under way, of one that waits for the last, of a change, for 100 and 60,000 areas:
 *
 *	leaf  inner  levels	look-up	    in turn	change
 *	a sorted array		 31  96	    32  97	 63  8600
 *	   8     32  1		 6   22	    14  53	 50    90
 *	   8    128  3		13   20	    27  50	 70    87
 *	  32     32  3		10   23	    24  55	 65    92
 *	  32    128  1		 8   21	    18  51	 53    85
 *	  32    128  3		14   21	    29  51	 71    84
 *
 * What 60,000 areas cost more is the third level and the caches (keys are in L2, areas in L3) in
 * equal parts.  With three levels always, lists of up to 250,000 areas, nodes being 70 % full, take
 * the same steps, and a look-up costs at most twice one among 100, which is the promise of this
 * file; it is paid for with 6 ns where two levels would do.
 */
#ifndef HVAR_VMAS_LEAF_SHIFT
#define HVAR_VMAS_LEAF_SHIFT 5
#endif
#define HVAR_VMAS_LEAF	      (1u << HVAR_VMAS_LEAF_SHIFT)
#define HVAR_VMAS_INNER_SHIFT (HVAR_VMAS_LEAF_SHIFT + 2)
#define HVAR_VMAS_INNER	      (1u << HVAR_VMAS_INNER_SHIFT)
#define HVAR_VMAS_HEIGHT      3u /* levels at least */
#define HVAR_VMAS_LINE_SHIFT  6 /* a node is so many times 64 bytes */
#define HVAR_VMAS_NONE	      0xffffffffu
#define HVAR_VMAS_TOP	      (~(uint64_t)0)

/* No tree of 2^32 areas is higher: leaves of 8 at least, inner nodes of 32. */
#define HVAR_VMAS_LEVELS 8

/* What one event can add, at most, to a list: hvar_apply() wants it to be there. */
#define HVAR_VMAS_SLACK 4

struct hvar_vmas_leaf {
	uint32_t n;
	uint32_t next; /* leaf, HVAR_VMAS_NONE after the last; of a free one: the next free */
	uint64_t key[HVAR_VMAS_LEAF - 1];
	struct hvar_vma area[HVAR_VMAS_LEAF];
};

struct hvar_vmas_inner {
	uint32_t n;    /* children; where a leaf has its areas' number */
	uint32_t next; /* of a free one: the next free */
	uint64_t key[HVAR_VMAS_INNER - 1];
	uint32_t child[HVAR_VMAS_INNER];
};

/* Both start at cache lines, one behind the other. */
typedef char hvar_vmas_nodes_fit[sizeof(struct hvar_vmas_leaf) % 64 ||
				 sizeof(struct hvar_vmas_inner) % 64 ? -1 : 1];

/* A place in the tree: the way down to it. */
struct hvar_vmas_path {
	uint32_t node[HVAR_VMAS_LEVELS]; /* [0] is the leaf */
	uint32_t at[HVAR_VMAS_LEVELS];	 /* area in the leaf; child in inner nodes */
};

static struct hvar_vmas_leaf *hvar_vmas_leaf(const struct hvar_vmas *m, uint32_t node)
{
	return (struct hvar_vmas_leaf *)((char *)m->mem +
					 ((uint64_t)node << HVAR_VMAS_LINE_SHIFT));
}

static struct hvar_vmas_inner *hvar_vmas_inner(const struct hvar_vmas *m, uint32_t node)
{
	return (struct hvar_vmas_inner *)hvar_vmas_leaf(m, node);
}

/* ---- storage ---- */

/* The bytes of most nodes that @n areas can take. */
static uint64_t hvar_vmas_most_bytes(uint32_t n)
{
	uint64_t nodes, bytes;
	uint32_t height;

	if (!n)
		return 0;
	nodes = ((n - 1) >> (HVAR_VMAS_LEAF_SHIFT - 1)) + 1;
	bytes = nodes * sizeof(struct hvar_vmas_leaf);
	for (height = 1; nodes > 1 || height < HVAR_VMAS_HEIGHT; height++) {
		nodes = ((nodes - 1) >> (HVAR_VMAS_INNER_SHIFT - 1)) + 1;
		bytes += nodes * sizeof(struct hvar_vmas_inner);
	}
	return bytes;
}

HVAR_API uint64_t hvar_vmas_bytes(uint32_t n)
{
	if (n > HVAR_VMAS_NONE - HVAR_VMAS_SLACK)
		n = HVAR_VMAS_NONE - HVAR_VMAS_SLACK;
	return hvar_vmas_most_bytes(n + HVAR_VMAS_SLACK);
}

HVAR_API void hvar_vmas_moved(struct hvar_vmas *m, void *mem, uint64_t size)
{
	uint32_t lo = 0, hi = HVAR_VMAS_NONE, mid;

	m->mem = mem;
	m->size = size;
	while (lo < hi) {
		mid = hi - (hi - lo) / 2;
		if (hvar_vmas_most_bytes(mid) <= size)
			lo = mid;
		else
			hi = mid - 1;
	}
	m->cap = lo;
}

HVAR_API void hvar_vmas_init(struct hvar_vmas *m, void *mem, uint64_t size)
{
	memset(m, 0, sizeof(*m));
	m->root = HVAR_VMAS_NONE;
	m->free_leaf = HVAR_VMAS_NONE;
	m->free_inner = HVAR_VMAS_NONE;
	hvar_vmas_moved(m, mem, size);
}

HVAR_API uint32_t hvar_vmas_room(const struct hvar_vmas *m)
{
	return m->cap - m->n;
}

/*
 * A node of @bytes with nothing in it, from the list of @free ones or from what was never used.
 * There always is one: see above.  Its first fields are the same in leaves and inner nodes.
 */
static uint32_t hvar_vmas_node_new(struct hvar_vmas *m, uint32_t *free, uint32_t bytes)
{
	uint32_t node = *free;

	if (node != HVAR_VMAS_NONE) {
		*free = hvar_vmas_leaf(m, node)->next;
	} else {
		node = m->used;
		m->used += bytes >> HVAR_VMAS_LINE_SHIFT;
	}
	hvar_vmas_leaf(m, node)->n = 0;
	hvar_vmas_leaf(m, node)->next = HVAR_VMAS_NONE;
	return node;
}

static uint32_t hvar_vmas_leaf_new(struct hvar_vmas *m)
{
	uint32_t node = hvar_vmas_node_new(m, &m->free_leaf, sizeof(struct hvar_vmas_leaf));

	memset(hvar_vmas_leaf(m, node)->key, 0xff, sizeof(hvar_vmas_leaf(m, node)->key));
	return node;
}

static uint32_t hvar_vmas_inner_new(struct hvar_vmas *m)
{
	uint32_t node = hvar_vmas_node_new(m, &m->free_inner, sizeof(struct hvar_vmas_inner));

	memset(hvar_vmas_inner(m, node)->key, 0xff, sizeof(hvar_vmas_inner(m, node)->key));
	return node;
}

/* The node of @level, 0 for a leaf, is in the tree no more. */
static void hvar_vmas_node_free(struct hvar_vmas *m, uint32_t level, uint32_t node)
{
	uint32_t *free = level ? &m->free_inner : &m->free_leaf;

	hvar_vmas_leaf(m, node)->next = *free;
	*free = node;
}

/* ---- what is an area ---- */

/* May a pgoff be there at all: is the area's memory that of a file? */
static bool hvar_vma_has_pgoff(const struct hvar_vma *v)
{
	if (!v->module || v->flags & HVAR_VMA_NAMED)
		return false;
	return v->region == HVAR_REGION_FILE || v->region == HVAR_REGION_SHM ||
	       v->region == HVAR_REGION_ANON || v->region == HVAR_REGION_JIT;
}

HVAR_API bool hvar_vma_joins(const struct hvar_vma *a, const struct hvar_vma *b)
{
	if (a->end != b->start || a->module != b->module ||
	    a->prot != b->prot || a->region != b->region ||
	    a->flags != b->flags)
		return false;
	return !hvar_vma_has_pgoff(a) ||
	       b->pgoff == a->pgoff + (a->end - a->start);
}

HVAR_API void hvar_vma_at(const struct hvar_vma *v, uint64_t addr,
			  struct hvar_vma *out)
{
	out->pgoff = hvar_vma_has_pgoff(v) ? v->pgoff + (addr - v->start) : 0;
	out->module = v->module;
	out->prot = v->prot;
	out->region = v->region;
	out->flags = v->flags;
}

/* ---- search ---- */

/*
 * A search goes on in that quarter of the @q * 4 keys from @at on that @addr lies in.
 * The three comparisons wait for nothing, and no branch depends on them.
 */
static inline uint64_t hvar_vmas_quarter(const uint64_t *key, uint64_t at, uint64_t q,
					 uint64_t addr)
{
	uint64_t n = key[at + q - 1] <= addr;

	n += key[at + 2 * q - 1] <= addr;
	n += key[at + 3 * q - 1] <= addr;
	return at + n * q;
}

/* How many of the @slots - 1 keys are not above @addr: 2^odd slots, known when compiled. */
static inline uint32_t hvar_vmas_rank(const uint64_t *key, uint32_t slots, uint64_t addr)
{
	uint64_t at = 0;

	if (slots >= 128)
		at = hvar_vmas_quarter(key, at, 32, addr);
	if (slots >= 32)
		at = hvar_vmas_quarter(key, at, 8, addr);
	if (slots >= 8)
		at = hvar_vmas_quarter(key, at, 2, addr);
	return at + (key[at] <= addr);
}

/* Unused keys are above every address but the highest, where no area starts. */
static uint64_t hvar_vmas_clamp(uint64_t addr)
{
	return addr - (addr == HVAR_VMAS_TOP);
}

/* The leaf that holds the last area to start at or below @addr, if any does, or the first. */
static const struct hvar_vmas_leaf *hvar_vmas_down(const struct hvar_vmas *m,
						   uint64_t addr)
{
	const struct hvar_vmas_inner *in;
	uint32_t node = m->root, level;

	for (level = m->height; level > 1; level--) {
		in = hvar_vmas_inner(m, node);
		node = in->child[hvar_vmas_rank(in->key, HVAR_VMAS_INNER, addr)];
	}
	return hvar_vmas_leaf(m, node);
}

HVAR_API const struct hvar_vma *hvar_vmas_find(const struct hvar_vmas *m,
					       uint64_t addr)
{
	const struct hvar_vmas_leaf *l;
	const struct hvar_vma *v;

	if (!m->n)
		return NULL;
	l = hvar_vmas_down(m, hvar_vmas_clamp(addr));
	v = &l->area[hvar_vmas_rank(l->key, HVAR_VMAS_LEAF, hvar_vmas_clamp(addr))];
	return v->start <= addr && addr < v->end ? v : NULL;
}

HVAR_API const struct hvar_vma *hvar_vmas_next(const struct hvar_vmas *m,
					       uint64_t addr)
{
	const struct hvar_vmas_leaf *l;
	uint32_t at;

	if (!m->n)
		return NULL;
	l = hvar_vmas_down(m, hvar_vmas_clamp(addr));
	at = hvar_vmas_rank(l->key, HVAR_VMAS_LEAF, hvar_vmas_clamp(addr));
	if (l->area[at].end > addr)
		return &l->area[at];
	if (at + 1 < l->n)
		return &l->area[at + 1];
	return l->next == HVAR_VMAS_NONE ? NULL : hvar_vmas_leaf(m, l->next)->area;
}

HVAR_API const struct hvar_vma *hvar_vmas_prev(const struct hvar_vmas *m,
					       uint64_t addr)
{
	const struct hvar_vmas_leaf *l;
	const struct hvar_vma *v;

	if (!m->n || !addr)
		return NULL;
	l = hvar_vmas_down(m, addr - 1);
	v = &l->area[hvar_vmas_rank(l->key, HVAR_VMAS_LEAF, addr - 1)];
	return v->start < addr ? v : NULL;
}

/* As hvar_vmas_down(), and the area in the leaf, and how it got there. */
static void hvar_vmas_way(const struct hvar_vmas *m, uint64_t addr,
			  struct hvar_vmas_path *p)
{
	const struct hvar_vmas_inner *in;
	const struct hvar_vmas_leaf *l;
	uint32_t node = m->root, level;

	for (level = m->height - 1; level; level--) {
		in = hvar_vmas_inner(m, node);
		p->node[level] = node;
		p->at[level] = hvar_vmas_rank(in->key, HVAR_VMAS_INNER, addr);
		node = in->child[p->at[level]];
	}
	l = hvar_vmas_leaf(m, node);
	p->node[0] = node;
	p->at[0] = hvar_vmas_rank(l->key, HVAR_VMAS_LEAF, addr);
}

/* ---- one node ---- */

/* The first area at @p's leaf starts at @start now: so say the keys above it. */
static void hvar_vmas_rekey(const struct hvar_vmas *m, const struct hvar_vmas_path *p,
			    uint64_t start)
{
	uint32_t level;

	for (level = 1; level < m->height; level++) {
		if (!p->at[level])
			continue;
		hvar_vmas_inner(m, p->node[level])->key[p->at[level] - 1] = start;
		return;
	}
}

/* Put @v over the area at @p. */
static void hvar_vmas_store(const struct hvar_vmas *m, const struct hvar_vmas_path *p,
			    const struct hvar_vma *v)
{
	struct hvar_vmas_leaf *l = hvar_vmas_leaf(m, p->node[0]);
	uint32_t at = p->at[0];

	if (l->area[at].start != v->start) {
		if (at)
			l->key[at - 1] = v->start;
		else
			hvar_vmas_rekey(m, p, v->start);
	}
	l->area[at] = *v;
}

/* Put @v before the area @at of a leaf with room. */
static void hvar_vmas_leaf_insert(struct hvar_vmas_leaf *l, uint32_t at,
				  const struct hvar_vma *v)
{
	uint32_t above = l->n - at;

	if (at) {
		memmove(l->key + at, l->key + at - 1, above * sizeof(l->key[0]));
		l->key[at - 1] = v->start;
	} else if (above) {
		memmove(l->key + 1, l->key, (above - 1) * sizeof(l->key[0]));
		l->key[0] = l->area[0].start;
	}
	memmove(l->area + at + 1, l->area + at, above * sizeof(l->area[0]));
	l->area[at] = *v;
	l->n++;
}

/* Take @count areas from @at on out of a leaf. */
static void hvar_vmas_leaf_erase(struct hvar_vmas_leaf *l, uint32_t at, uint32_t count)
{
	uint32_t above = l->n - at - count, keys = l->n ? l->n - 1 : 0, left;

	memmove(l->area + at, l->area + at + count, above * sizeof(l->area[0]));
	if (at)
		memmove(l->key + at - 1, l->key + at - 1 + count,
			above * sizeof(l->key[0]));
	else if (above)
		memmove(l->key, l->key + count, (above - 1) * sizeof(l->key[0]));
	l->n -= count;
	left = l->n ? l->n - 1 : 0;
	memset(l->key + left, 0xff, (keys - left) * sizeof(l->key[0]));
}

/* Put @child, whose first area starts at @start, before child @at (1 at least). */
static void hvar_vmas_inner_insert(struct hvar_vmas_inner *in, uint32_t at,
				   uint64_t start, uint32_t child)
{
	uint32_t above = in->n - at;

	memmove(in->key + at, in->key + at - 1, above * sizeof(in->key[0]));
	memmove(in->child + at + 1, in->child + at, above * sizeof(in->child[0]));
	in->key[at - 1] = start;
	in->child[at] = child;
	in->n++;
}

/* Take child @at out; if it is the first, it is the only one. */
static void hvar_vmas_inner_erase(struct hvar_vmas_inner *in, uint32_t at)
{
	uint32_t above = in->n - at - 1;

	if (at) {
		memmove(in->key + at - 1, in->key + at, above * sizeof(in->key[0]));
		in->key[in->n - 2] = HVAR_VMAS_TOP;
	}
	memmove(in->child + at, in->child + at + 1, above * sizeof(in->child[0]));
	in->n--;
}

/* ---- two neighbours: move @count from the start of @r to the end of @l, or back ---- */

static void hvar_vmas_leaf_pull(struct hvar_vmas_leaf *l, struct hvar_vmas_leaf *r,
				uint32_t count)
{
	uint32_t i;

	memcpy(l->area + l->n, r->area, count * sizeof(r->area[0]));
	for (i = l->n ? l->n : 1; i < l->n + count; i++)
		l->key[i - 1] = l->area[i].start;
	l->n += count;
	hvar_vmas_leaf_erase(r, 0, count);
}

static void hvar_vmas_leaf_push(struct hvar_vmas_leaf *l, struct hvar_vmas_leaf *r,
				uint32_t count)
{
	uint32_t i;

	memmove(r->area + count, r->area, r->n * sizeof(r->area[0]));
	memcpy(r->area, l->area + l->n - count, count * sizeof(r->area[0]));
	r->n += count;
	for (i = 1; i < r->n; i++)
		r->key[i - 1] = r->area[i].start;
	hvar_vmas_leaf_erase(l, l->n - count, count);
}

/* The same for children; @first is where the first area under @r starts, before and after. */
static void hvar_vmas_inner_pull(struct hvar_vmas_inner *l, struct hvar_vmas_inner *r,
				 uint32_t count, uint64_t *first)
{
	uint32_t left = r->n - count;

	l->key[l->n - 1] = *first;
	memcpy(l->key + l->n, r->key, (count - 1) * sizeof(r->key[0]));
	memcpy(l->child + l->n, r->child, count * sizeof(r->child[0]));
	l->n += count;
	*first = r->key[count - 1]; /* none is left: the highest, and of no use */
	if (left) {
		memmove(r->key, r->key + count, (left - 1) * sizeof(r->key[0]));
		memmove(r->child, r->child + count, left * sizeof(r->child[0]));
		memset(r->key + left - 1, 0xff, count * sizeof(r->key[0]));
	}
	r->n = left;
}

static void hvar_vmas_inner_push(struct hvar_vmas_inner *l, struct hvar_vmas_inner *r,
				 uint32_t count, uint64_t *first)
{
	uint32_t stay = l->n - count;

	if (r->n) {
		memmove(r->key + count, r->key, (r->n - 1) * sizeof(r->key[0]));
		r->key[count - 1] = *first;
	}
	memmove(r->child + count, r->child, r->n * sizeof(r->child[0]));
	memcpy(r->key, l->key + stay, (count - 1) * sizeof(r->key[0]));
	memcpy(r->child, l->child + stay, count * sizeof(r->child[0]));
	r->n += count;
	*first = l->key[stay - 1];
	memset(l->key + stay - 1, 0xff, count * sizeof(l->key[0]));
	l->n = stay;
}

/* ---- the tree ---- */

/*
 * Put @child, whose first area starts at @start, into the tree after the node of
 * level @level - 1 on the way @p, splitting what is full.
 */
static void hvar_vmas_add_child(struct hvar_vmas *m, const struct hvar_vmas_path *p,
				uint32_t level, bool last, uint64_t start, uint32_t child)
{
	struct hvar_vmas_inner *in, *right;
	uint32_t node, at;
	uint64_t first;

	for (; level < m->height; level++) {
		in = hvar_vmas_inner(m, p->node[level]);
		at = p->at[level] + 1;
		if (in->n < HVAR_VMAS_INNER) {
			hvar_vmas_inner_insert(in, at, start, child);
			return;
		}
		node = hvar_vmas_inner_new(m);
		right = hvar_vmas_inner(m, node);
		if (last && at == in->n) {
			right->child[0] = child;
			right->n = 1;
			child = node;
			continue; /* starts where @child does */
		}
		first = HVAR_VMAS_TOP;
		hvar_vmas_inner_push(in, right, HVAR_VMAS_INNER / 2, &first);
		if (at <= in->n)
			hvar_vmas_inner_insert(in, at, start, child);
		else
			hvar_vmas_inner_insert(right, at - in->n, start, child);
		start = first;
		child = node;
		last = false;
	}
	node = hvar_vmas_inner_new(m);
	in = hvar_vmas_inner(m, node);
	in->child[0] = m->root;
	in->child[1] = child;
	in->key[0] = start;
	in->n = 2;
	m->root = node;
	m->height++;
}

/* Is the node of @level on the way @p the last of its level? */
static bool hvar_vmas_is_last(const struct hvar_vmas *m, const struct hvar_vmas_path *p,
			      uint32_t level)
{
	while (++level < m->height)
		if (p->at[level] + 1 < hvar_vmas_inner(m, p->node[level])->n)
			return false;
	return true;
}

/* The first area. */
static void hvar_vmas_plant(struct hvar_vmas *m, const struct hvar_vma *v)
{
	struct hvar_vmas_inner *in;
	uint32_t node;

	m->root = hvar_vmas_leaf_new(m);
	hvar_vmas_leaf_insert(hvar_vmas_leaf(m, m->root), 0, v);
	for (m->height = 1; m->height < HVAR_VMAS_HEIGHT; m->height++) {
		node = hvar_vmas_inner_new(m);
		in = hvar_vmas_inner(m, node);
		in->child[0] = m->root;
		in->n = 1;
		m->root = node;
	}
}

/* The last is gone: one node at each level. */
static void hvar_vmas_uproot(struct hvar_vmas *m)
{
	uint32_t node = m->root;

	while (m->height) {
		m->height--;
		hvar_vmas_node_free(m, m->height, node);
		node = m->height ? hvar_vmas_inner(m, node)->child[0] : HVAR_VMAS_NONE;
	}
	m->root = HVAR_VMAS_NONE;
}

/* Put @v after the area at @p, or before it if it starts below (only before all). */
static void hvar_vmas_insert(struct hvar_vmas *m, const struct hvar_vmas_path *p,
			     const struct hvar_vma *v)
{
	struct hvar_vmas_leaf *l, *right;
	uint32_t at, node;
	bool last;

	m->n++;
	if (!m->height) {
		hvar_vmas_plant(m, v);
		return;
	}
	l = hvar_vmas_leaf(m, p->node[0]);
	at = p->at[0] + (l->area[p->at[0]].start < v->start);
	if (l->n < HVAR_VMAS_LEAF) {
		hvar_vmas_leaf_insert(l, at, v);
		return;
	}
	node = hvar_vmas_leaf_new(m);
	right = hvar_vmas_leaf(m, node);
	last = l->next == HVAR_VMAS_NONE;
	right->next = l->next;
	l->next = node;
	if (last && at == l->n) {
		hvar_vmas_leaf_insert(right, 0, v);
	} else {
		hvar_vmas_leaf_push(l, right, HVAR_VMAS_LEAF / 2);
		if (at <= l->n)
			hvar_vmas_leaf_insert(l, at, v);
		else
			hvar_vmas_leaf_insert(right, at - l->n, v);
		last = false;
	}
	hvar_vmas_add_child(m, p, 1, last, right->area[0].start, node);
}

/* The leaf before the one on the way @p, which is not the first. */
static struct hvar_vmas_leaf *hvar_vmas_leaf_before(const struct hvar_vmas *m,
						    const struct hvar_vmas_path *p)
{
	const struct hvar_vmas_inner *in;
	uint32_t level = 1, node;

	while (!p->at[level])
		level++;
	node = hvar_vmas_inner(m, p->node[level])->child[p->at[level] - 1];
	while (--level) {
		in = hvar_vmas_inner(m, node);
		node = in->child[in->n - 1];
	}
	return hvar_vmas_leaf(m, node);
}

/*
 * Make the node of level @level, child @at of @up, and its neighbour there half full again, or
 * one.  Returns true if one child is gone.
 */
static bool hvar_vmas_even(struct hvar_vmas *m, struct hvar_vmas_inner *up, uint32_t at,
			   uint32_t level)
{
	struct hvar_vmas_leaf *l, *r;
	uint32_t all, half;

	if (at + 1 == up->n)
		at--;
	l = hvar_vmas_leaf(m, up->child[at]);
	r = hvar_vmas_leaf(m, up->child[at + 1]);
	all = l->n + r->n;
	half = all / 2;
	if (all <= (level ? HVAR_VMAS_INNER : HVAR_VMAS_LEAF))
		half = all; /* one holds it all */
	if (level && l->n < half)
		hvar_vmas_inner_pull((struct hvar_vmas_inner *)l,
				     (struct hvar_vmas_inner *)r, half - l->n,
				     &up->key[at]);
	else if (level)
		hvar_vmas_inner_push((struct hvar_vmas_inner *)l,
				     (struct hvar_vmas_inner *)r, l->n - half,
				     &up->key[at]);
	else if (l->n < half)
		hvar_vmas_leaf_pull(l, r, half - l->n);
	else
		hvar_vmas_leaf_push(l, r, l->n - half);
	if (r->n) {
		if (!level)
			up->key[at] = r->area[0].start;
		return false;
	}
	if (!level)
		l->next = r->next;
	hvar_vmas_node_free(m, level, up->child[at + 1]);
	hvar_vmas_inner_erase(up, at + 1);
	return true;
}

/* Take @count areas from the one at @p on out; they are in its leaf. */
static void hvar_vmas_erase(struct hvar_vmas *m, const struct hvar_vmas_path *p,
			    uint32_t count)
{
	struct hvar_vmas_leaf *l = hvar_vmas_leaf(m, p->node[0]);
	struct hvar_vmas_inner *up;
	uint32_t level, n, min;
	bool gone;

	hvar_vmas_leaf_erase(l, p->at[0], count);
	m->n -= count;
	if (!m->n) {
		hvar_vmas_uproot(m);
		return;
	}
	if (!p->at[0] && l->n)
		hvar_vmas_rekey(m, p, l->area[0].start);
	n = l->n;
	min = HVAR_VMAS_LEAF / 2;
	for (level = 0; level + 1 < m->height && n < min; level++) {
		up = hvar_vmas_inner(m, p->node[level + 1]);
		if (!hvar_vmas_is_last(m, p, level)) {
			gone = hvar_vmas_even(m, up, p->at[level + 1], level);
			/* Emptied and filled from above: it starts elsewhere now. */
			if (!n && l->n)
				hvar_vmas_rekey(m, p, l->area[0].start);
			if (!gone)
				break;
		} else if (n) {
			break;
		} else {
			if (!level)
				hvar_vmas_leaf_before(m, p)->next = HVAR_VMAS_NONE;
			hvar_vmas_node_free(m, level, p->node[level]);
			hvar_vmas_inner_erase(up, p->at[level + 1]);
		}
		n = up->n;
		min = HVAR_VMAS_INNER / 2;
	}
	while (m->height > HVAR_VMAS_HEIGHT && hvar_vmas_inner(m, m->root)->n == 1) {
		up = hvar_vmas_inner(m, m->root);
		m->height--;
		hvar_vmas_node_free(m, m->height, m->root);
		m->root = up->child[0];
	}
}

/* ---- set ---- */

/* One hvar_vmas_set() under way: areas [first, last] touch the range, and become part[]. */
struct hvar_vmas_edit {
	struct hvar_vmas_path path; /* to the first; if there is none, to the one before */
	uint32_t old;		    /* how many there are */
	uint32_t n;		    /* parts */
	struct hvar_vma part[3];
};

/* Find the areas that touch [@start, @end): the first into @e, the last to @last. */
static const struct hvar_vma *hvar_vmas_touching(const struct hvar_vmas *m,
						 uint64_t start, uint64_t end,
						 struct hvar_vmas_edit *e)
{
	const struct hvar_vmas_leaf *l;
	const struct hvar_vma *last = NULL;
	uint32_t at;

	e->old = 0;
	if (!m->n)
		return NULL;
	hvar_vmas_way(m, start - (start > 0), &e->path);
	l = hvar_vmas_leaf(m, e->path.node[0]);
	at = e->path.at[0];
	if (l->area[at].end < start) {
		/* Not that one, which ends below: the next, if it touches. */
		if (at + 1 < l->n) {
			at++;
			if (l->area[at].start <= end)
				e->path.at[0] = at;
		} else {
			if (l->next == HVAR_VMAS_NONE)
				return NULL;
			l = hvar_vmas_leaf(m, l->next);
			at = 0;
			if (l->area[0].start <= end)
				hvar_vmas_way(m, l->area[0].start, &e->path);
		}
	}
	while (l->area[at].start <= end) {
		last = &l->area[at];
		e->old++;
		if (++at == l->n) {
			if (l->next == HVAR_VMAS_NONE)
				break;
			l = hvar_vmas_leaf(m, l->next);
			at = 0;
		}
	}
	return last;
}

/* What [@start, @end) and all that touches it become. */
static void hvar_vmas_parts(struct hvar_vmas_edit *e, const struct hvar_vma *first,
			    const struct hvar_vma *last, uint64_t start, uint64_t end,
			    const struct hvar_vma *as)
{
	struct hvar_vma *part = e->part;
	uint32_t k = 0;

	if (first && first->start < start) {
		part[0] = *first;
		if (part[0].end > start)
			part[0].end = start;
		k = 1;
	}
	if (as) {
		part[k] = *as;
		part[k].start = start;
		part[k].end = end;
		hvar_vma_at(&part[k], start, &part[k]);
		if (k && hvar_vma_joins(&part[k - 1], &part[k]))
			part[k - 1].end = end;
		else
			k++;
	}
	if (last && last->end > end) {
		part[k] = *last;
		if (last->start < end) {
			part[k].start = end;
			hvar_vma_at(last, end, &part[k]);
		}
		if (k && hvar_vma_joins(&part[k - 1], &part[k]))
			part[k - 1].end = part[k].end;
		else
			k++;
	}
	e->n = k;
}

/* The area after the one at @p, NULL if it is the last. */
static const struct hvar_vma *hvar_vmas_after(const struct hvar_vmas *m,
					      const struct hvar_vmas_path *p)
{
	const struct hvar_vmas_leaf *l = hvar_vmas_leaf(m, p->node[0]);

	if (p->at[0] + 1 < l->n)
		return &l->area[p->at[0] + 1];
	return l->next == HVAR_VMAS_NONE ? NULL : hvar_vmas_leaf(m, l->next)->area;
}

/*
 *	before  [------ first ----]  [------]  [----- last -----]
 *	              start ^                        ^ end
 *	after   [---part---][--------- part ---------][--part---]
 *
 * The areas that are too many go, from the first on; those that remain become the first
 * parts, in order; then the other parts are new.  Keys stay sorted at each step: a part
 * starts at or below the area it takes the place of, but for the last part, which
 * may start above, as the last area.
 */
HVAR_API int hvar_vmas_set(struct hvar_vmas *m, uint64_t start, uint64_t end,
			   const struct hvar_vma *as)
{
	const struct hvar_vma *first = NULL, *last;
	struct hvar_vmas_leaf *l;
	struct hvar_vmas_edit e;
	uint32_t extra, i, here;
	uint64_t key;

	if (start >= end)
		return -EINVAL;
	last = hvar_vmas_touching(m, start, end, &e);
	if (last)
		first = &hvar_vmas_leaf(m, e.path.node[0])->area[e.path.at[0]];
	hvar_vmas_parts(&e, first, last, start, end, as);
	if (e.n > e.old && e.n - e.old > m->cap - m->n) {
		m->lost++;
		return -ENOSPC;
	}
	for (extra = e.old > e.n ? e.old - e.n : 0; extra; extra -= here) {
		l = hvar_vmas_leaf(m, e.path.node[0]);
		here = l->n - e.path.at[0];
		if (here > extra)
			here = extra;
		/* Where the next one starts, to find it after this. */
		key = e.path.at[0] + here < l->n ? l->area[e.path.at[0] + here].start :
		      l->next != HVAR_VMAS_NONE ? hvar_vmas_leaf(m, l->next)->area[0].start : 0;
		hvar_vmas_erase(m, &e.path, here);
		e.old -= here;
		if (e.old)
			hvar_vmas_way(m, key, &e.path);
	}
	for (i = 0; i < e.n && i < e.old; i++) {
		if (i)
			hvar_vmas_way(m, key, &e.path);
		first = hvar_vmas_after(m, &e.path);
		key = first ? first->start : 0;
		hvar_vmas_store(m, &e.path, &e.part[i]);
	}
	for (; i < e.n; i++) {
		if (i)
			hvar_vmas_way(m, e.part[i].start, &e.path);
		hvar_vmas_insert(m, &e.path, &e.part[i]);
	}
	return 0;
}
