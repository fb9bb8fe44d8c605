// SPDX-License-Identifier: GPL-2.0-or-later
/* intern.c - words of a text made unique, by a hash table of offsets into one block of bytes. */
#include "work.h"

enum { TEXT = 1 << 19, TABLE = 1 << 15, BYTES = 1 << 19 };

char text[TEXT];
uint32_t table_at[TABLE], table_hash[TABLE];
char bytes[BYTES];
uint32_t uses[TABLE];
uint32_t lengths[32];
uint8_t letter[256];
struct {
	uint64_t looked, probed, added;
} stats;
uint32_t bytes_used = 1;

NOINLINE static uint32_t intern(const char *w, unsigned len)
{
	uint32_t h = 2166136261u, i;

	for (unsigned k = 0; k < len; k++)
		h = (h ^ (uint8_t)w[k]) * 16777619u;
	stats.looked++;
	for (i = h >> 17;; i = (i + 1) & (TABLE - 1)) {
		stats.probed++;
		if (!table_at[i])
			break;
		if (table_hash[i] == h && !memcmp(bytes + table_at[i], w, len) && !bytes[table_at[i] + len]) {
			uses[i]++;
			return table_at[i];
		}
	}
	if (bytes_used + len + 1 > BYTES)
		exit(1);
	table_at[i] = bytes_used;
	table_hash[i] = h;
	memcpy(bytes + bytes_used, w, len);
	bytes_used += len + 1;
	stats.added++;
	return table_at[i];
}

NOINLINE static uint64_t words(void)
{
	uint64_t sum = 0;
	unsigned from = 0;

	for (unsigned i = 0; i < TEXT; i++) {
		if (letter[(uint8_t)text[i]])
			continue;
		if (i > from) {
			sum += intern(text + from, i - from);
			lengths[(i - from) & 31]++;
		}
		from = i + 1;
	}
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t s = 13, sum = 0;
	long n = work_amount(argc, argv, 1600);
	unsigned i = 0;

	for (int c = 'a'; c <= 'z'; c++)
		letter[c] = 1;
	while (i < TEXT - 20) {
		uint64_t r = random_next(&s);
		uint64_t w = (r & 3 ? r % 300 : r % 20000) * 0x9e3779b97f4a7c15ull;
		unsigned len = 2 + (w >> 60) % 11;

		for (unsigned k = 0; k < len; k++)
			text[i++] = (char)('a' + (w >> (k * 5)) % 26);
		text[i++] = r >> 32 & 7 ? ' ' : '\n';
	}
	for (long r = 0; r < n; r++)
		sum += words();
	printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)stats.added);
	return 0;
}
