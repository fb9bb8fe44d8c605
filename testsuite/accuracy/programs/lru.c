// SPDX-License-Identifier: GPL-2.0-or-later
/* lru.c - a cache with hashed look-up, a list in order of use and an ageing sweep. */
#include "work.h"

enum { SLOTS = 8192, BUCKETS = 16384, NIL = 0 };

struct slot {
	uint64_t key;
	uint32_t next, newer, older, hits;
};
struct slot slots[SLOTS + 1];
uint32_t heads[BUCKETS];
uint64_t backing[1 << 20];
struct {
	uint64_t hit, miss, evicted;
} counters;
uint32_t newest, oldest, filled;

static uint32_t bucket_of(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 50);
}

static void unlink_slot(uint32_t s)
{
	uint32_t n = slots[s].newer, o = slots[s].older;

	if (n)
		slots[n].older = o;
	else
		newest = o;
	if (o)
		slots[o].newer = n;
	else
		oldest = n;
}

static void push_newest(uint32_t s)
{
	slots[s].newer = NIL;
	slots[s].older = newest;
	if (newest)
		slots[newest].newer = s;
	else
		oldest = s;
	newest = s;
}

static void forget(uint32_t s)
{
	uint32_t *p = &heads[bucket_of(slots[s].key)];

	while (*p != s)
		p = &slots[*p].next;
	*p = slots[s].next;
	counters.evicted++;
}

NOINLINE static uint64_t get(uint64_t key)
{
	uint32_t b = bucket_of(key), s;

	for (s = heads[b]; s; s = slots[s].next)
		if (slots[s].key == key)
			break;
	if (s) {
		counters.hit++;
		slots[s].hits++;
		if (s != newest) {
			unlink_slot(s);
			push_newest(s);
		}
		return slots[s].hits;
	}
	counters.miss++;
	if (filled < SLOTS) {
		s = ++filled;
	} else {
		s = oldest;
		forget(s);
		unlink_slot(s);
	}
	slots[s].key = key;
	slots[s].hits = 0;
	slots[s].next = heads[b];
	heads[b] = s;
	push_newest(s);
	return backing[key & ((1 << 20) - 1)] += key;
}

NOINLINE static void age(void)
{
	for (uint32_t s = 1; s <= SLOTS; s++)
		slots[s].hits >>= 1;
}

int main(int argc, char **argv)
{
	uint64_t s = 99, sum = 0;
	long n = work_amount(argc, argv, 160000000);

	for (long i = 0; i < n; i++) {
		uint64_t r = random_next(&s);
		uint64_t key = r & 7 ? (r >> 8) % 6000 : (r >> 8) % 500000;

		sum += get(key + 1);
		if (!(i & 0xffff))
			age();
	}
	printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)counters.hit);
	return 0;
}
