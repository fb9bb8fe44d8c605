// SPDX-License-Identifier: GPL-2.0-or-later
/* sort.c - radix passes, a heap and a merge of the same keys, with counts of comparisons. */
#include "work.h"

enum { N = 1 << 15 };

uint32_t keys[N], work_keys[N], other[N];
uint32_t digit_count[4][256];
uint32_t heap[N + 1];
uint16_t order_of[65536];
uint64_t comparisons, moves;

NOINLINE static void radix(void)
{
	uint32_t *from = work_keys, *to = other;

	memset(digit_count, 0, sizeof(digit_count));
	for (int i = 0; i < N; i++)
		for (int d = 0; d < 4; d++)
			digit_count[d][keys[i] >> (8 * d) & 255]++;
	memcpy(work_keys, keys, sizeof(keys));
	for (int d = 0; d < 4; d++) {
		uint32_t sum = 0, *t = from;

		for (int k = 0; k < 256; k++) {
			uint32_t n = digit_count[d][k];

			digit_count[d][k] = sum;
			sum += n;
		}
		for (int i = 0; i < N; i++)
			to[digit_count[d][from[i] >> (8 * d) & 255]++] = from[i];
		from = to;
		to = t;
	}
}

static int less(uint32_t a, uint32_t b)
{
	comparisons++;
	return order_of[a >> 16] < order_of[b >> 16];
}

NOINLINE static uint32_t by_heap(int n)
{
	uint32_t last = 0;

	for (int i = 1; i <= n; i++) {
		int at = i;

		heap[i] = keys[i - 1];
		while (at > 1 && less(heap[at], heap[at / 2])) {
			uint32_t t = heap[at];

			heap[at] = heap[at / 2];
			heap[at / 2] = t;
			at /= 2;
			moves++;
		}
	}
	while (n) {
		uint32_t v = heap[n--];
		int at = 1, child;

		last ^= heap[1];
		while ((child = 2 * at) <= n) {
			if (child < n && less(heap[child + 1], heap[child]))
				child++;
			if (!less(heap[child], v))
				break;
			heap[at] = heap[child];
			at = child;
			moves++;
		}
		heap[at] = v;
	}
	return last;
}

int main(int argc, char **argv)
{
	uint64_t s = 53;
	long n = work_amount(argc, argv, 1300);
	uint32_t sum = 0;

	for (int i = 0; i < 65536; i++)
		order_of[i] = (uint16_t)(i * 40503u);
	for (long r = 0; r < n; r++) {
		for (int i = 0; i < N; i++)
			keys[i] = (uint32_t)random_next(&s);
		radix();
		sum ^= by_heap(N / 2);
	}
	printf("%u %llu %u\n", sum, (unsigned long long)comparisons, work_keys[5]);
	return 0;
}
