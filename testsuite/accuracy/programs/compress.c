// SPDX-License-Identifier: GPL-2.0-or-later
/* compress.c - matches found by hash chains, then a code by frequencies, and back again. */
#include "work.h"

enum { SIZE = 1 << 18, HASH = 1 << 14, LAST = 65536 };

uint8_t plain[SIZE], packed[SIZE * 2], unpacked[SIZE];
uint32_t hash_head[HASH];
uint32_t hash_prev[LAST];
uint32_t literal_count[256], length_count[256];
uint8_t rank_of[256], by_rank[256];
uint32_t checksum_table[256];
uint64_t total_in, total_out;

static uint32_t hash_at(const uint8_t *p)
{
	return (uint32_t)(p[0] | p[1] << 8 | p[2] << 16) * 2654435761u >> 18;
}

NOINLINE static uint32_t pack(void)
{
	uint32_t out = 0, i = 0;

	memset(hash_head, 0, sizeof(hash_head));
	while (i + 4 < SIZE) {
		uint32_t h = hash_at(plain + i), at = hash_head[h], best = 0, where = 0;

		for (int tries = 0; at && i - at < LAST - 1 && tries < 6; tries++) {
			uint32_t len = 0;

			while (len < 200 && i + len < SIZE - 1 && plain[at + len] == plain[i + len])
				len++;
			if (len > best) {
				best = len;
				where = at;
			}
			at = hash_prev[at & (LAST - 1)];
		}
		hash_prev[i & (LAST - 1)] = hash_head[h];
		hash_head[h] = i;
		if (best > 4) {
			packed[out++] = 255;
			packed[out++] = (uint8_t)best;
			packed[out++] = (uint8_t)(i - where);
			packed[out++] = (uint8_t)((i - where) >> 8);
			length_count[best]++;
			i += best;
		} else {
			packed[out++] = rank_of[plain[i]];
			literal_count[plain[i]]++;
			i++;
		}
	}
	return out;
}

NOINLINE static void unpack(uint32_t n)
{
	uint32_t out = 0;

	for (uint32_t i = 0; i < n;) {
		if (packed[i] == 255) {
			uint32_t len = packed[i + 1], back = packed[i + 2] | (uint32_t)packed[i + 3] << 8;

			for (; len && out < SIZE; len--, out++)
				unpacked[out] = unpacked[out - back];
			i += 4;
		} else {
			unpacked[out++] = by_rank[packed[i++]];
		}
	}
}

NOINLINE static uint32_t checksum(void)
{
	uint32_t c = ~0u;

	for (uint32_t i = 0; i < SIZE - 4; i++)
		c = checksum_table[(c ^ unpacked[i]) & 255] ^ c >> 8;
	return c;
}

int main(int argc, char **argv)
{
	uint64_t s = 29;
	long n = work_amount(argc, argv, 650);
	uint32_t c = 0;

	for (int i = 0; i < 256; i++) {
		uint32_t v = (uint32_t)i;

		for (int k = 0; k < 8; k++)
			v = v & 1 ? 0xedb88320u ^ v >> 1 : v >> 1;
		checksum_table[i] = v;
		rank_of[i] = (uint8_t)((i * 7) % 251);
		by_rank[rank_of[i]] = (uint8_t)i;
	}
	for (uint32_t i = 0; i < SIZE;) {
		uint64_t r = random_next(&s);

		if (i > 1000 && r & 1) {
			uint32_t from = (r >> 8) % (i - 300), len = 4 + (r >> 40) % 40;

			for (; len && i < SIZE; len--)
				plain[i++] = plain[from++];
		} else {
			plain[i++] = (uint8_t)((r >> 8) % 64 + 32);
		}
	}
	for (long r = 0; r < n; r++) {
		uint32_t len = pack();

		unpack(len);
		c ^= checksum();
		total_in += SIZE;
		total_out += len;
		plain[r * 31 % SIZE]++;
	}
	printf("%x %llu\n", c, (unsigned long long)total_out);
	return 0;
}
