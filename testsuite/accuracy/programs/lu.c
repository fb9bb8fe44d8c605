// SPDX-License-Identifier: GPL-2.0-or-later
/* lu.c - decomposition of a matrix with pivots, and solving with it. */
#include "work.h"

enum { N = 160 };

double original[N][N], factored[N][N];
double right_side[N], solution[N];
int pivot[N];
double row_scale[N];
double residual[N];

NOINLINE static void decompose(void)
{
	memcpy(factored, original, sizeof(factored));
	for (int i = 0; i < N; i++) {
		double big = 0;

		for (int j = 0; j < N; j++) {
			double a = factored[i][j] < 0 ? -factored[i][j] : factored[i][j];

			big = a > big ? a : big;
		}
		row_scale[i] = 1 / big;
		pivot[i] = i;
	}
	for (int k = 0; k < N; k++) {
		int best = k;
		double most = 0;

		for (int i = k; i < N; i++) {
			double a = factored[pivot[i]][k] * row_scale[pivot[i]];

			a = a < 0 ? -a : a;
			if (a > most) {
				most = a;
				best = i;
			}
		}
		if (best != k) {
			int t = pivot[k];

			pivot[k] = pivot[best];
			pivot[best] = t;
		}
		for (int i = k + 1; i < N; i++) {
			double f = factored[pivot[i]][k] / factored[pivot[k]][k];

			factored[pivot[i]][k] = f;
			for (int j = k + 1; j < N; j++)
				factored[pivot[i]][j] -= f * factored[pivot[k]][j];
		}
	}
}

NOINLINE static void solve(void)
{
	for (int i = 0; i < N; i++) {
		double s = right_side[pivot[i]];

		for (int j = 0; j < i; j++)
			s -= factored[pivot[i]][j] * solution[j];
		solution[i] = s;
	}
	for (int i = N - 1; i >= 0; i--) {
		double s = solution[i];

		for (int j = i + 1; j < N; j++)
			s -= factored[pivot[i]][j] * solution[j];
		solution[i] = s / factored[pivot[i]][i];
	}
}

NOINLINE static double check(void)
{
	double worst = 0;

	for (int i = 0; i < N; i++) {
		residual[i] = -right_side[i];
		for (int j = 0; j < N; j++)
			residual[i] += original[i][j] * solution[j];
		worst = residual[i] > worst ? residual[i] : worst;
	}
	return worst;
}

int main(int argc, char **argv)
{
	uint64_t s = 11;
	long n = work_amount(argc, argv, 2000);
	double worst = 0;

	for (long r = 0; r < n; r++) {
		if (!(r % 16))
			for (int i = 0; i < N; i++)
				for (int j = 0; j < N; j++)
					original[i][j] = (double)(random_next(&s) & 0xffff) / 1000;
		decompose();
		for (int k = 0; k < 20; k++) {
			for (int i = 0; i < N; i++)
				right_side[i] = i * k;
			solve();
			worst += check();
		}
	}
	printf("%g %g\n", solution[3], worst);
	return 0;
}
