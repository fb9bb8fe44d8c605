// SPDX-License-Identifier: GPL-2.0-or-later
/* phases.c - three phases that take the same time and make very different numbers of accesses. */
#include "work.h"

enum { FAR = 1 << 23 };

uint32_t far_table[FAR];
uint16_t near_a[1024], near_b[1024];
double series[256];
uint64_t results[3];
uint8_t toggles[64];

NOINLINE static void misses(long n)
{
	uint64_t x = 1, sum = 0;

	for (long i = 0; i < n; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		sum += far_table[x >> 41]++;
		x ^= sum & 1;
	}
	results[0] += sum;
}

NOINLINE static void near_by(long n)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i++) {
		unsigned k = near_b[i & 1023];

		near_a[(k + (unsigned)i) & 1023] += (uint16_t)i;
		sum += k;
	}
	results[1] += sum;
}

NOINLINE static void divides(long n)
{
	double v = 1;

	for (long i = 0; i < n; i++) {
		v = series[i & 255] / (v + 1.5);
		if (v > 100)
			toggles[i & 63] ^= 1;
	}
	results[2] += (uint64_t)v;
}

int main(int argc, char **argv)
{
	long n = work_amount(argc, argv, 25);

	for (uint32_t i = 0; i < FAR; i += 16)
		far_table[i] = i;
	for (int i = 0; i < 1024; i++)
		near_b[i] = (uint16_t)(i * 7);
	for (int i = 0; i < 256; i++)
		series[i] = i * 1.25;
	for (long r = 0; r < n; r++) {
		misses(400000);
		near_by(15000000);
		divides(6000000);
	}
	printf("%llu %llu\n", (unsigned long long)results[0], (unsigned long long)results[1]);
	return 0;
}
