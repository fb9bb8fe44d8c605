// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "sort_keys.h"

#include <string.h>

/* Of one digit: more would not fit the first cache. */
#define DIGIT_MAX 11
#define DIGITS	  3

uint64_t *sort_keys(uint64_t *keys, uint64_t *spare, uint32_t n, unsigned bits)
{
	static const unsigned all = 32;
	uint32_t at[DIGITS][1 << DIGIT_MAX];
	unsigned digits, digit, d;
	uint32_t i, mask;

	bits = bits > all ? all : bits;
	digits = (bits + DIGIT_MAX - 1) / DIGIT_MAX;
	if (!digits || n < 2)
		return keys;
	digit = (bits + digits - 1) / digits;
	mask = ((uint32_t)1 << digit) - 1;
	memset(at, 0, sizeof(at));
	for (i = 0; i < n; i++)
		for (d = 0; d < digits; d++)
			at[d][(uint32_t)(keys[i] >> 32) >> (d * digit) & mask]++;
	for (d = 0; d < digits; d++) {
		uint32_t sum = 0, v;
		uint64_t *swap;

		for (v = 0; v <= mask; v++) {
			uint32_t here = at[d][v];

			at[d][v] = sum;
			sum += here;
		}
		for (i = 0; i < n; i++)
			spare[at[d][(uint32_t)(keys[i] >> 32) >> (d * digit) & mask]++] = keys[i];
		swap = keys;
		keys = spare;
		spare = swap;
	}
	return keys;
}
