// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_stencil.c - a five-point stencil over cells of several materials. */
#include "hot.h"

enum { N = 256 };

double grid[N][N];
double fresh[N][N];
double conduct[8];
uint8_t material[N][N];
double row_heat[N];

NOINLINE static void init(void)
{
	uint64_t s = 7;

	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			uint64_t r = next_random(&s);

			grid[i][j] = (double)(r & 1023);
			/* A quarter insulates and is passed over. */
			material[i][j] = (r >> 20) & 3 ? (uint8_t)(1 + ((r >> 30) & 7) % 7) : 0;
		}
	}
	for (int k = 0; k < 8; k++)
		conduct[k] = 0.2 + 0.001 * k;
}

/* Returns how many cells were computed. */
NOINLINE static uint64_t relax(void)
{
	uint64_t cells = 0;

	for (int i = 1; i < N - 1; i++) {
		for (int j = 1; j < N - 1; j++) {
			unsigned m = material[i][j];

			if (!m)
				continue;
			fresh[i][j] = conduct[m] * (grid[i][j] + grid[i - 1][j] +
						    grid[i + 1][j] + grid[i][j - 1] +
						    grid[i][j + 1]);
			cells++;
		}
	}
	return cells;
}

/* Every other row is taken over. */
NOINLINE static void take_over(int odd)
{
	for (int i = odd; i < N; i += 2) {
		double sum = 0;

		for (int j = 0; j < N; j++) {
			double v = fresh[i][j];

			grid[i][j] = v;
			sum += v;
		}
		row_heat[i] += sum;
	}
}

int main(int argc, char **argv)
{
	long n = work_asked(argc, argv, 12000);
	uint64_t cells = 0, steps = (uint64_t)n;

	init();
	for (long k = 0; k < n; k++) {
		cells += relax();
		take_over((int)(k & 1));
	}
	HOT_PRINT({ "grid", 5 * cells + steps * N / 2 * N },
		  { "fresh", cells + steps * N / 2 * N },
		  { "conduct", cells },
		  { "material", steps * (N - 2) * (N - 2) },
		  { "row_heat", steps * N });
	return 0;
}
