// SPDX-License-Identifier: GPL-2.0-or-later
/* allocator.c - churn of a pool allocator with size classes, and of malloc. */
#include "work.h"

enum { SLOTS = 4096, CLASSES = 8, POOL = 1 << 22 };

struct holding {
	uint32_t at, size;
	void *extra;
};
struct holding held[SLOTS];
uint32_t free_list[CLASSES];
uint8_t pool[POOL];
uint8_t class_of[512];
uint32_t class_size[CLASSES];
uint64_t requests[CLASSES], reuses[CLASSES];
uint32_t pool_top = 64;

NOINLINE static uint32_t take(unsigned size)
{
	unsigned c = class_of[size];
	uint32_t at = free_list[c];

	requests[c]++;
	if (at) {
		memcpy(&free_list[c], pool + at, 4);
		reuses[c]++;
		return at;
	}
	at = pool_top;
	pool_top += class_size[c];
	if (pool_top > POOL - 1024)
		exit(1);
	return at;
}

NOINLINE static void give(uint32_t at, unsigned size)
{
	unsigned c = class_of[size];

	memcpy(pool + at, &free_list[c], 4);
	free_list[c] = at;
}

int main(int argc, char **argv)
{
	uint64_t s = 23, sum = 0;
	long n = work_amount(argc, argv, 128000000);

	for (int c = 0; c < CLASSES; c++)
		class_size[c] = (uint32_t)(c + 1) * 64;
	for (int i = 0; i < 512; i++)
		class_of[i] = (uint8_t)(i / 64);
	for (long i = 0; i < n; i++) {
		uint64_t r = random_next(&s);
		struct holding *h = &held[r & (SLOTS - 1)];

		if (h->at) {
			for (unsigned k = 0; k < h->size; k += 64)
				sum += pool[h->at + k + 8];
			give(h->at, h->size);
			h->at = 0;
			if (h->extra) {
				free(h->extra);
				h->extra = NULL;
			}
			continue;
		}
		h->size = (r >> 16) % ((r >> 13 & 7) ? 100 : 512);
		h->at = take(h->size);
		for (unsigned k = 0; k < h->size; k += 64)
			pool[h->at + k + 8] = (uint8_t)r;
		if (!(r >> 32 & 15)) {
			h->extra = malloc(h->size + 16);
			memset(h->extra, (int)r, h->size + 16);
		}
	}
	printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)reuses[1]);
	return 0;
}
