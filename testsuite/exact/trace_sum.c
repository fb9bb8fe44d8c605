// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_sum.c - what valgrind's lackey writes with --trace-mem=yes, read from stdin and summed up by address, in order: lines "ADDRESS READS WRITES".
 *
 * Lines of a trace are " L 1ffeffe7e8,8" (read), " S ..." (written), " M ..." (read, then written); "I ..." is an
 * instruction.  So a program of a hundred million accesses can be judged, whose trace no disk should hold.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct sum {
	uint64_t addr, reads, writes;
};

static struct sum *table;
static uint64_t mask, n_used;

static struct sum *find(uint64_t addr)
{
	uint64_t at = (addr * 0x9e3779b97f4a7c15u) >> 20;

	while (table[at & mask].addr != addr && (table[at & mask].reads || table[at & mask].writes))
		at++;
	return &table[at & mask];
}

static void grow(void)
{
	struct sum *old = table;
	uint64_t n = mask + 1, i;

	mask = mask * 2 + 1;
	table = calloc(mask + 1, sizeof(*table));
	if (!table)
		exit(1);
	for (i = 0; i < n; i++)
		if (old[i].reads || old[i].writes)
			*find(old[i].addr) = old[i];
	free(old);
}

static int by_addr(const void *pa, const void *pb)
{
	const struct sum *a = pa, *b = pb;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

int main(void)
{
	char line[4096];
	uint64_t i;

	mask = (1 << 20) - 1;
	table = calloc(mask + 1, sizeof(*table));
	if (!table)
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		struct sum *s;
		char *end;
		uint64_t addr;

		if (line[0] != ' ' || (line[1] != 'L' && line[1] != 'S' && line[1] != 'M') || line[2] != ' ')
			continue;
		addr = strtoull(line + 3, &end, 16);
		if (*end != ',')
			continue;
		s = find(addr);
		n_used += !s->reads && !s->writes;
		s->addr = addr;
		s->reads += line[1] != 'S';
		s->writes += line[1] != 'L';
		if (n_used * 2 > mask)
			grow();
	}
	qsort(table, mask + 1, sizeof(*table), by_addr);
	for (i = 0; i <= mask; i++)
		if (table[i].reads || table[i].writes)
			printf("%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", table[i].addr, table[i].reads, table[i].writes);
	return 0;
}
