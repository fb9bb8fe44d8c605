// SPDX-License-Identifier: GPL-2.0-or-later
/* gemm.c - products of matrices in blocks, with packing, a bias and a threshold. */
#include "work.h"

enum { N = 192, B = 48 };

float left[N][N], right[N][N], product[N][N];
float left_pack[B][B], right_pack[B][B];
float bias[N];
uint32_t active[N];
float lookup[256];

NOINLINE static void pack(int i0, int k0, int j0)
{
	for (int i = 0; i < B; i++)
		for (int k = 0; k < B; k++)
			left_pack[i][k] = left[i0 + i][k0 + k];
	for (int j = 0; j < B; j++)
		for (int k = 0; k < B; k++)
			right_pack[j][k] = right[k0 + k][j0 + j];
}

NOINLINE static void block(int i0, int j0)
{
	for (int i = 0; i < B; i++)
		for (int j = 0; j < B; j++) {
			float s = product[i0 + i][j0 + j];

			for (int k = 0; k < B; k++)
				s += left_pack[i][k] * right_pack[j][k];
			product[i0 + i][j0 + j] = s;
		}
}

NOINLINE static void finish(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			float v = product[i][j] + bias[j];

			if (v > 0) {
				active[j]++;
				left[i][j] = lookup[(unsigned)v & 255];
			}
			product[i][j] = 0;
		}
}

int main(int argc, char **argv)
{
	uint64_t s = 47;
	long n = work_amount(argc, argv, 1000);

	for (int i = 0; i < N; i++) {
		bias[i] = (float)(i % 5) - 2;
		for (int j = 0; j < N; j++) {
			left[i][j] = (float)(random_next(&s) & 15) - 7;
			right[i][j] = (float)(random_next(&s) & 15) - 8;
		}
	}
	for (int i = 0; i < 256; i++)
		lookup[i] = (float)(i & 15) - 7;
	for (long r = 0; r < n; r++) {
		for (int i = 0; i < N; i += B)
			for (int j = 0; j < N; j += B)
				for (int k = 0; k < N; k += B) {
					pack(i, k, j);
					block(i, j);
				}
		finish();
	}
	printf("%u %g\n", active[7], left[5][5]);
	return 0;
}
