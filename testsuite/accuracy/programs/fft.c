// SPDX-License-Identifier: GPL-2.0-or-later
/* fft.c - radix-2 transforms with tables, a filter and a histogram. */
#include "work.h"

enum { LOG = 12, N = 1 << LOG };

float real[N], imag[N];
float cosine[N / 2], sine[N / 2];
uint16_t reversed[N];
float window[N];
float signal[N * 8];
uint32_t histogram[64];
float filter[N];

/* A rotation by 2 pi / N, over and over: no mathematics library needed. */
static void make_tables(void)
{
	double c = 1, s = 0, dc = 0.99999882345170187925, ds = 0.00153398018628476561;

	for (int i = 0; i < N / 2; i++) {
		double t = c * dc - s * ds;

		cosine[i] = (float)c;
		sine[i] = (float)s;
		s = s * dc + c * ds;
		c = t;
	}
	for (int i = 0; i < N; i++) {
		unsigned r = 0;

		for (int b = 0; b < LOG; b++)
			r |= (unsigned)(i >> b & 1) << (LOG - 1 - b);
		reversed[i] = (uint16_t)r;
		window[i] = 1 - (float)i / N;
		filter[i] = (float)(i & 255) / 256;
	}
}

NOINLINE static void load(const float *from)
{
	for (int i = 0; i < N; i++) {
		real[reversed[i]] = from[i] * window[i];
		imag[reversed[i]] = 0;
	}
}

NOINLINE static void transform(void)
{
	for (int half = 1, step = N / 2; half < N; half *= 2, step /= 2) {
		for (int start = 0; start < N; start += 2 * half) {
			for (int k = 0; k < half; k++) {
				int a = start + k, b = a + half;
				float c = cosine[k * step], s = sine[k * step];
				float re = real[b] * c + imag[b] * s;
				float im = imag[b] * c - real[b] * s;

				real[b] = real[a] - re;
				imag[b] = imag[a] - im;
				real[a] += re;
				imag[a] += im;
			}
		}
	}
}

NOINLINE static void analyse(void)
{
	for (int i = 0; i < N; i++) {
		float p = (real[i] * real[i] + imag[i] * imag[i]) * filter[i];
		unsigned bin = 0;

		while (p >= 1 && bin < 63) {
			p /= 2;
			bin++;
		}
		histogram[bin]++;
	}
}

int main(int argc, char **argv)
{
	uint64_t s = 31;
	long n = work_amount(argc, argv, 12000);

	make_tables();
	for (int i = 0; i < N * 8; i++)
		signal[i] = (float)(random_next(&s) & 1023) - 512;
	for (long r = 0; r < n; r++) {
		load(signal + (r % 8) * (N - 100));
		transform();
		analyse();
	}
	printf("%u %u\n", histogram[9], histogram[20]);
	return 0;
}
