// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_scan.c - a scanner that folds, hashes and counts the words of a text. */
#include "hot.h"

enum { TEXT = 1 << 18, WORDS = 1024 };

uint8_t text[TEXT + 1];
uint8_t kind_of[256];
uint8_t folded[256];
uint32_t word_count[WORDS];
uint32_t by_length[32];

NOINLINE static void init(void)
{
	static const uint8_t other[16] = "  .,;0123456789 ";
	uint64_t s = 1618;

	for (int i = 0; i < TEXT; i++) {
		uint64_t r = next_random(&s) % 100;

		text[i] = (uint8_t)(r < 70 ? 'a' + r % 26
				    : r < 80 ? 'A' + r % 26
					     : other[(r + (unsigned)i) % 16]);
	}
	for (int i = 0; i < 256; i++) {
		kind_of[i] = (i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z') ? 1
			     : i >= '0' && i <= '9'			      ? 2
									      : 0;
		folded[i] = (uint8_t)(i | 32);
	}
}

struct counts {
	uint64_t letters, words, looked;
};

NOINLINE static struct counts scan(void)
{
	struct counts c = { 0, 0, 0 };
	uint32_t h = 0, length = 0;

	for (int i = 0; i < TEXT; i++) {
		unsigned ch = text[i], kind = kind_of[ch];

		c.looked++;
		if (kind == 1) {
			unsigned f = folded[ch];

			h = h * 31 + f;
			length++;
			c.letters++;
			/* Look ahead: does the word go on? */
			if (text[i + 1] >= 'A')
				continue;
			word_count[h & (WORDS - 1)]++;
			if (length > 3)
				by_length[length & 31]++, c.words++;
			h = length = 0;
		}
	}
	return c;
}

int main(int argc, char **argv)
{
	long n = work_asked(argc, argv, 2400);
	struct counts c = { 0, 0, 0 }, one;
	uint64_t words = 0;

	init();
	for (long k = 0; k < n; k++) {
		one = scan();
		c.letters += one.letters;
		c.words += one.words;
		c.looked += one.looked;
	}
	/* What is counted in the table is how often it was written. */
	for (int i = 0; i < WORDS; i++)
		words += word_count[i];
	HOT_PRINT({ "text", c.looked + c.letters }, { "kind_of", c.looked },
		  { "folded", c.letters }, { "word_count", 2 * words },
		  { "by_length", 2 * c.words });
	return 0;
}
