// SPDX-License-Identifier: GPL-2.0-or-later
/* heap_churn.c - what an allocator costs: "churn N": objects come and go and are accessed a little; "live N": they stay. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	struct item *next;
	long key;
	int a, b;
	long value[6];
};

static struct item *make(long key, struct item *next)
{
	struct item *p = malloc(sizeof(*p));

	p->key = key;
	p->next = next;
	p->a = 1;
	p->b = 2;
	p->value[key % 6] = key;
	return p;
}

static long churn(long n)
{
	static long *table[1024];
	static struct item *heads[64];
	long sum = 0, i;
	int b;

	for (i = 0; i < n; i++) {
		unsigned long h = (unsigned long)i * 0x9e3779b97f4a7c15ul >> 54;

		free(table[h]);
		table[h] = malloc(16 + (h & 127));
		table[h][0] = i;
		sum += table[h][0];
		heads[h & 63] = make(i, heads[h & 63]);
		for (b = 0; (i & 1023) == 1023 && b < 64; b++) {
			while (heads[b]) {
				struct item *p = heads[b];

				heads[b] = p->next;
				sum += p->key + p->a;
				free(p);
			}
		}
	}
	return sum;
}

static long live(long n)
{
	struct item *all = NULL, *p;
	long sum = 0, i;

	for (i = 0; i < n; i++)
		all = make(i, all);
	for (i = 0; i < 3; i++)
		for (p = all; p; p = p->next)
			sum += p->key + p->a;
	return sum;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 100000;

	printf("%ld\n", argc > 1 && !strcmp(argv[1], "live") ? live(n) : churn(n));
	return 0;
}
