// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_btree.c - look-ups in a B-tree whose nodes are in arrays. */
#include "hot.h"

enum { ORDER = 16, LEAVES = 4096, NODES = LEAVES / 15 + LEAVES / 200 + 64, SKEW = 256 };

/* Inner nodes: keys[0..count) part the children. */
uint32_t node_keys[NODES][ORDER];
uint16_t node_child[NODES][ORDER];
uint8_t node_count[NODES];
uint32_t leaf_value[LEAVES * ORDER];
uint32_t skew[SKEW];

static unsigned n_nodes;

struct tree {
	unsigned root, height;
};

/* Node over children [first, first + n) of the level below, each spanning @span keys. */
static unsigned make_node(unsigned first, unsigned n, uint32_t span)
{
	unsigned v = n_nodes++;

	node_count[v] = (uint8_t)(n - 1);
	for (unsigned i = 0; i < n; i++) {
		node_child[v][i] = (uint16_t)(first + i);
		if (i + 1 < n)
			node_keys[v][i] = (i + 1) * span;
	}
	return v;
}

NOINLINE static struct tree init(void)
{
	uint64_t s = 5;
	uint32_t span = ORDER; /* keys of a leaf */
	unsigned level = LEAVES, base = 0, height = 0;

	for (unsigned i = 0; i < LEAVES * ORDER; i++)
		leaf_value[i] = i * 3;
	for (unsigned i = 0; i < SKEW; i++)
		skew[i] = (uint32_t)(next_random(&s) % (LEAVES * ORDER));
	while (level > 1) {
		unsigned begin = n_nodes;

		for (unsigned i = 0; i < level; i += ORDER)
			make_node(base + i, level - i < ORDER ? level - i : ORDER, span);
		base = begin;
		level = n_nodes - begin;
		span *= ORDER;
		height++;
	}
	return (struct tree){ base, height };
}

struct counts {
	uint64_t keys, levels, values;
};

/* The leaf that holds @key. */
NOINLINE static unsigned descend(struct tree t, uint32_t key, struct counts *c)
{
	unsigned v = t.root;
	uint64_t keys = 0;
	uint32_t span = LEAVES * ORDER;

	for (unsigned h = t.height; h > 0; h--) {
		/* The lowest are all full. */
		unsigned n = h > 1 ? node_count[v] : ORDER - 1, i = 0;
		uint32_t rest = key & (span - 1);

		while (i < n) {
			keys++;
			if (rest < node_keys[v][i])
				break;
			i++;
		}
		v = node_child[v][i];
		span /= ORDER;
	}
	c->keys += keys;
	c->levels += t.height;
	return v;
}

NOINLINE static struct counts work(struct tree t, long n)
{
	struct counts c = { 0, 0, 0 };
	uint64_t s = 2024;

	for (long i = 0; i < n; i++) {
		uint64_t r = next_random(&s);
		uint32_t key = (skew[r & (SKEW - 1)] + (uint32_t)((r >> 20) & 4095)) &
			       (LEAVES * ORDER - 1);
		unsigned leaf = descend(t, key, &c);

		if (key & 3) {
			leaf_value[leaf * ORDER + (key & (ORDER - 1))]++;
			c.values++;
		}
	}
	return c;
}

int main(int argc, char **argv)
{
	uint64_t n = 10000 * (uint64_t)work_asked(argc, argv, 3500);
	struct counts c;

	c = work(init(), (long)n);
	HOT_PRINT({ "node_keys", c.keys }, { "node_child", c.levels },
		  { "node_count", c.levels - n }, { "leaf_value", 2 * c.values }, { "skew", n });
	return 0;
}
