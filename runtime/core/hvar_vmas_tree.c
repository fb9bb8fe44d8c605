// SPDX-License-Identifier: GPL-2.0-or-later
/* hvar_vmas_tree.c - the nodes of a VMA list's tree: had, filled, split, evened out, freed. */
#include "hvar_vmas_tree.h"

HVAR_API uint64_t hvar_vmas_tree_bytes(uint32_t n)
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

/*
 * A node of @bytes with nothing in it, from the list of @free ones or from what was never used.
 * There always is one: hvar_vmas_tree.h says why, and that its first fields are alike in leaves
 * and inner nodes.
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

HVAR_API void hvar_vmas_tree_way(const struct hvar_vmas *m, uint64_t addr,
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

HVAR_API void hvar_vmas_tree_store(const struct hvar_vmas *m, const struct hvar_vmas_path *p,
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

HVAR_API void hvar_vmas_tree_insert(struct hvar_vmas *m, const struct hvar_vmas_path *p,
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

HVAR_API void hvar_vmas_tree_erase(struct hvar_vmas *m, const struct hvar_vmas_path *p,
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
