// SPDX-License-Identifier: GPL-2.0-or-later
/* hashjoin.c - two tables of rows joined over a hash table, with groups and sums. */
#include "work.h"

enum { ROWS = 1 << 17, KEYS = 1 << 15, SLOTS = 1 << 16, GROUPS = 256 };

struct row {
	uint32_t key, amount;
};
struct row left_rows[KEYS], right_rows[ROWS];
uint32_t slot_row[SLOTS];
uint8_t filter_bits[SLOTS / 8], bit_of[8] = { 1, 2, 4, 8, 16, 32, 64, 128 };
uint64_t group_sum[GROUPS];
uint32_t group_count[GROUPS];
uint8_t group_of[KEYS];
uint64_t joined, passed_over;

static uint32_t slot_of(uint32_t key)
{
	return key * 2654435761u >> 16;
}

NOINLINE static void build(void)
{
	memset(slot_row, 0, sizeof(slot_row));
	memset(filter_bits, 0, sizeof(filter_bits));
	for (uint32_t i = 1; i < KEYS; i++) {
		uint32_t h = slot_of(left_rows[i].key);

		filter_bits[h >> 3] |= bit_of[h & 7];
		while (slot_row[h])
			h = (h + 1) & (SLOTS - 1);
		slot_row[h] = i;
	}
}

NOINLINE static void probe(void)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t key = right_rows[i].key, h = slot_of(key), at;

		if (!(filter_bits[h >> 3] & bit_of[h & 7])) {
			passed_over++;
			continue;
		}
		while ((at = slot_row[h])) {
			if (left_rows[at].key == key) {
				unsigned g = group_of[at];

				group_sum[g] += (uint64_t)left_rows[at].amount * right_rows[i].amount;
				group_count[g]++;
				joined++;
			}
			h = (h + 1) & (SLOTS - 1);
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t s = 19;
	long n = work_amount(argc, argv, 500);

	for (uint32_t i = 0; i < KEYS; i++) {
		left_rows[i].key = (uint32_t)random_next(&s) % 60000;
		left_rows[i].amount = i;
		group_of[i] = (uint8_t)(i * 37);
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		right_rows[i].key = (uint32_t)random_next(&s) % 120000;
		right_rows[i].amount = i & 15;
	}
	for (long r = 0; r < n; r++) {
		build();
		probe();
		probe();
	}
	printf("%llu %llu\n", (unsigned long long)joined, (unsigned long long)group_sum[3]);
	return 0;
}
