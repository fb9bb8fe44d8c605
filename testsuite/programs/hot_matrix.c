// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_matrix.c - products of small sparse and dense matrices, row by row. */
#include "hot.h"

enum { N = 48, K = 40 };

float left[N][K];
float right[K][N];
float product[N][N];
float column_scale[N];
float row_norm[N];
uint8_t used[K];

/* Returns how many columns are used. */
NOINLINE static uint64_t init(void)
{
	uint64_t s = 271828, kept = 0;

	for (int i = 0; i < N; i++)
		for (int k = 0; k < K; k++)
			left[i][k] = (float)(next_random(&s) % 7) - 3;
	for (int k = 0; k < K; k++) {
		used[k] = k % 4 != 1;
		kept += used[k];
		for (int j = 0; j < N; j++)
			right[k][j] = (float)(next_random(&s) % 5) - 2;
	}
	for (int j = 0; j < N; j++)
		column_scale[j] = 1.0f / (float)(j + 1);
	return kept;
}

/* Returns how many rows of the right matrix were added. */
NOINLINE static uint64_t multiply(void)
{
	uint64_t rows = 0;

	for (int i = 0; i < N; i++) {
		for (int k = 0; k < K; k++) {
			float f;

			if (!used[k])
				continue;
			f = left[i][k];
			if (f == 0)
				continue;
			for (int j = 0; j < N; j++)
				product[i][j] += f * right[k][j];
			rows++;
		}
	}
	return rows;
}

NOINLINE static void norms(void)
{
	for (int i = 0; i < N; i++) {
		float sum = 0;

		for (int j = 0; j < N; j++)
			sum += product[i][j] * column_scale[j];
		row_norm[i] = sum;
	}
}

int main(int argc, char **argv)
{
	long n = work_asked(argc, argv, 75000);
	uint64_t rows = 0, rounds = (uint64_t)n, kept = init();

	for (long r = 0; r < n; r++) {
		rows += multiply();
		norms();
	}
	HOT_PRINT({ "product", 2 * N * rows + rounds * N * N }, { "right", N * rows },
		  { "column_scale", rounds * N * N }, { "used", rounds * N * K },
		  { "left", rounds * N * kept }, { "row_norm", rounds * N });
	return 0;
}
