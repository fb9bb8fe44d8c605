// SPDX-License-Identifier: GPL-2.0-or-later
/* blur.c - a filter over a picture, by rows, by columns, and where an edge is. */
#include "work.h"

enum { W = 512, H = 384 };

uint8_t picture[H][W], edges[H][W];
uint16_t rows_done[H][W];
uint32_t column_sum[W];
uint8_t gamma_table[256];
uint32_t bins[256];
int16_t kernel[5] = { 1, 4, 6, 4, 1 };

NOINLINE static void by_rows(void)
{
	for (int y = 0; y < H; y++)
		for (int x = 2; x < W - 2; x++) {
			int s = 0;

			for (int k = -2; k <= 2; k++)
				s += picture[y][x + k] * kernel[k + 2];
			rows_done[y][x] = (uint16_t)s;
		}
}

NOINLINE static void by_columns(void)
{
	for (int x = 0; x < W; x++)
		column_sum[x] = 0;
	for (int y = 2; y < H - 2; y++)
		for (int x = 2; x < W - 2; x++) {
			int s = 0;

			for (int k = -2; k <= 2; k++)
				s += rows_done[y + k][x] * kernel[k + 2];
			column_sum[x] += (uint32_t)s >> 8;
			picture[y][x] = gamma_table[s >> 8 & 255];
		}
}

NOINLINE static void find_edges(void)
{
	for (int y = 1; y < H; y++)
		for (int x = 1; x < W; x++) {
			int d = picture[y][x] - picture[y - 1][x] + picture[y][x] - picture[y][x - 1];

			if (d > 12 || d < -12) {
				edges[y][x]++;
				bins[picture[y][x]]++;
			}
		}
}

NOINLINE static void draw(uint64_t *s)
{
	for (int k = 0; k < 200; k++) {
		uint64_t r = random_next(s);
		unsigned x0 = (r & 511) % (W - 30), y0 = (r >> 16 & 511) % (H - 30);

		for (unsigned y = 0; y < 20; y++)
			for (unsigned x = 0; x < 20; x++)
				picture[y0 + y][x0 + x] = (uint8_t)(r >> 40);
	}
}

int main(int argc, char **argv)
{
	uint64_t s = 37;
	long n = work_amount(argc, argv, 1800);

	for (int i = 0; i < 256; i++)
		gamma_table[i] = (uint8_t)(i * i / 255);
	for (long r = 0; r < n; r++) {
		draw(&s);
		by_rows();
		by_columns();
		find_edges();
	}
	printf("%u %u\n", bins[100], column_sum[33]);
	return 0;
}
