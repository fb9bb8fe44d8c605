/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_vmas_tree.h - where hvar_vmas.c keeps its areas: a B+ tree in the caller's bytes.
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
#ifndef HVAR_VMAS_TREE_H
#define HVAR_VMAS_TREE_H

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

/*
 * Most areas: more than vm.max_map_count can allow, and few enough for nodes to be named.
 * No tree of them is higher, even of leaves of 8 and inner nodes of 32, all half full.
 */
#define HVAR_VMAS_MOST	 (1u << 31)
#define HVAR_VMAS_LEVELS 10

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

static inline struct hvar_vmas_leaf *hvar_vmas_leaf(const struct hvar_vmas *m, uint32_t node)
{
	return (struct hvar_vmas_leaf *)((char *)m->mem +
					 ((uint64_t)node << HVAR_VMAS_LINE_SHIFT));
}

static inline struct hvar_vmas_inner *hvar_vmas_inner(const struct hvar_vmas *m, uint32_t node)
{
	return (struct hvar_vmas_inner *)hvar_vmas_leaf(m, node);
}

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
static inline uint64_t hvar_vmas_clamp(uint64_t addr)
{
	return addr - (addr == HVAR_VMAS_TOP);
}

/* Bytes that are enough for any tree of @n areas. */
HVAR_API uint64_t hvar_vmas_tree_bytes(uint32_t n);

/*
 * The way to the last area that starts at or below @addr, or to the first of all if none does,
 * into @p.  The tree is not empty.  Good until an area is inserted or erased.
 */
HVAR_API void hvar_vmas_tree_way(const struct hvar_vmas *m, uint64_t addr,
				 struct hvar_vmas_path *p);

/* Put @v over the area at @p, between whose neighbours it starts. */
HVAR_API void hvar_vmas_tree_store(const struct hvar_vmas *m, const struct hvar_vmas_path *p,
				   const struct hvar_vma *v);

/*
 * Put @v into the tree, which has room for it: after the area at @p, or before it if that is the
 * first of all and starts above; anywhere if the tree is empty.
 */
HVAR_API void hvar_vmas_tree_insert(struct hvar_vmas *m, const struct hvar_vmas_path *p,
				    const struct hvar_vma *v);

/* Take @count areas from the one at @p on out; all are in its leaf. */
HVAR_API void hvar_vmas_tree_erase(struct hvar_vmas *m, const struct hvar_vmas_path *p,
				   uint32_t count);

#endif /* HVAR_VMAS_TREE_H */
