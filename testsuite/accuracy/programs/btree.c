// SPDX-License-Identifier: GPL-2.0-or-later
/* btree.c - a B-tree of fixed fan-out, filled and searched. */
#include "work.h"

enum { FAN = 16, NODES = 40000, KEYS = 200000 };

uint32_t node_keys[NODES][FAN];
uint32_t node_child[NODES][FAN + 1]; /* 0: a leaf */
uint8_t node_n[NODES];
uint32_t values[1 << 16];
uint64_t depth_seen[16];
uint32_t root = 1, used = 2;

static void split(uint32_t parent, unsigned at)
{
	uint32_t left = node_child[parent][at], right = used++;
	unsigned half = FAN / 2;

	for (unsigned i = node_n[parent]; i > at; i--) {
		node_keys[parent][i] = node_keys[parent][i - 1];
		node_child[parent][i + 1] = node_child[parent][i];
	}
	node_keys[parent][at] = node_keys[left][half];
	node_child[parent][at + 1] = right;
	node_n[parent]++;
	node_n[right] = FAN - half - 1;
	for (unsigned i = 0; i < node_n[right]; i++)
		node_keys[right][i] = node_keys[left][half + 1 + i];
	for (unsigned i = 0; i <= node_n[right]; i++)
		node_child[right][i] = node_child[left][half + 1 + i];
	node_n[left] = half;
}

NOINLINE static void insert(uint32_t key)
{
	uint32_t at = root;

	if (node_n[root] == FAN) {
		uint32_t top = used++;

		node_child[top][0] = root;
		split(top, 0);
		at = root = top;
	}
	for (;;) {
		unsigned i = node_n[at];

		while (i && node_keys[at][i - 1] > key)
			i--;
		if (!node_child[at][0]) {
			for (unsigned k = node_n[at]; k > i; k--)
				node_keys[at][k] = node_keys[at][k - 1];
			node_keys[at][i] = key;
			node_n[at]++;
			return;
		}
		if (node_n[node_child[at][i]] == FAN) {
			split(at, i);
			if (key > node_keys[at][i])
				i++;
		}
		at = node_child[at][i];
	}
}

NOINLINE static unsigned find(uint32_t key)
{
	uint32_t at = root;

	for (unsigned depth = 0;; depth++) {
		unsigned i = 0, n = node_n[at];

		while (i < n && node_keys[at][i] < key)
			i++;
		if ((i < n && node_keys[at][i] == key) || !node_child[at][0]) {
			depth_seen[depth & 15]++;
			return i;
		}
		at = node_child[at][i];
	}
}

int main(int argc, char **argv)
{
	uint64_t s = 7, sum = 0;
	long n = work_amount(argc, argv, 24000000);

	for (long i = 0; i < KEYS; i++)
		insert((uint32_t)random_next(&s));
	for (long i = 0; i < n; i++) {
		uint32_t key = (uint32_t)random_next(&s);

		sum += find(key);
		if (!(key & 3))
			values[key >> 16] += key;
	}
	printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)depth_seen[3]);
	return 0;
}
