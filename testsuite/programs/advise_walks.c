// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_walks.c - walks that are through a lot of memory from one sample to the next, and jumps that are not all jumps.
 *
 *	advise_walks HOW MIB SECONDS
 *
 * Walks:
 *	strided		every 1 KiB
 *	backwards	the same, from the end
 *	streams		four parts of it by turns, through one function
 *	stencil		above, below and at a place, in rows of 16 KiB
 *	copy		one half of it into the other, by memcpy()
 *	copies		the same in pieces of 64 KiB
 *	threads		strided, by two threads, in a half each
 * Jumps:
 *	records		128 bytes one after the other, anywhere
 *	search		a binary search
 *	columns		every 64 KiB, by one column after the other
 *	mixed		of both, by turns for 100 ms: strided, and anywhere
 *
 * Time is CPU time of the thread, from when all memory was touched.  With ADVISE_NO_THP in the environment the kernel gives it no huge pages.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

static unsigned char *mem;
static uint64_t size;
static double seconds;
static volatile uint64_t sum;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

__attribute__((noinline)) static void strided(unsigned char *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i += 1024)
		p[i]++;
}

__attribute__((noinline)) static void backwards(unsigned char *p, uint64_t n)
{
	for (uint64_t i = n; i >= 1024; i -= 1024)
		p[i - 1]++;
}

__attribute__((noinline)) static unsigned get(const unsigned char *p, uint64_t i)
{
	return p[i];
}

static void streams(unsigned char *p, uint64_t n)
{
	uint64_t s = 0;

	for (uint64_t i = 0; i < n / 4; i += 512)
		s += get(p, i) + get(p + n / 4, i) + get(p + n / 2, i) + get(p + 3 * (n / 4), i);
	sum += s;
}

static void stencil(unsigned char *p, uint64_t n)
{
	enum { ROW = 16384 };

	for (uint64_t i = ROW; i + ROW < n; i += 256)
		p[i] = (unsigned char)(p[i - ROW] + p[i + ROW]);
}

static void copy(unsigned char *p, uint64_t n)
{
	memcpy(p, p + n / 2, n / 2);
}

static void copies(unsigned char *p, uint64_t n)
{
	for (uint64_t i = 0; i < n / 2; i += 65536)
		memcpy(p + i, p + n / 2 + i, 65536);
}

static void anywhere(unsigned char *p, uint64_t n, unsigned each)
{
	static uint64_t x = 88172645463325252ull;
	uint64_t s = 0;

	for (int k = 0; k < 100000; k++) {
		x = next(x);
		for (unsigned i = 0; i < each; i += 8)
			s += p[x % (n - each) + i];
	}
	sum += s;
}

static void records(unsigned char *p, uint64_t n)
{
	anywhere(p, n, 128);
}

static void search(unsigned char *p, uint64_t n)
{
	const uint64_t *v = (const uint64_t *)(void *)p;
	static uint64_t x = 88172645463325252ull;

	if (!v[1])
		for (uint64_t i = 0; i < n / 8; i++)
			((uint64_t *)(void *)p)[i] = i;
	for (int k = 0; k < 20000; k++) {
		uint64_t a = 0, b = n / 8, want;

		x = next(x);
		want = x % b;
		while (b - a > 1) {
			uint64_t mid = a + (b - a) / 2;

			if (v[mid] <= want)
				a = mid;
			else
				b = mid;
		}
		sum += a;
	}
}

static void columns(unsigned char *p, uint64_t n)
{
	for (uint64_t k = 0; k < 64; k++)
		for (uint64_t i = 0; i < n; i += 65536)
			p[i + k * 977]++;
}

static void mixed(unsigned char *p, uint64_t n)
{
	if ((uint64_t)(now() * 10) % 2)
		strided(p, n);
	else
		anywhere(p, n, 8);
}

static void *half(void *p)
{
	for (double end = now() + seconds; now() < end;)
		strided(p, size / 2);
	return NULL;
}

static void threads(unsigned char *p, uint64_t n)
{
	pthread_t t;

	(void)n;
	if (pthread_create(&t, NULL, half, p + size / 2))
		exit(1);
	half(p);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned char *p, uint64_t n);
	} hows[] = { { "strided", strided }, { "backwards", backwards }, { "streams", streams }, { "stencil", stencil },
		     { "copy", copy }, { "copies", copies }, { "threads", threads }, { "records", records }, { "search", search },
		     { "columns", columns }, { "mixed", mixed } };
	size_t k = 0, n = sizeof(hows) / sizeof(hows[0]);
	double end;

	if (argc != 4)
		return 2;
	while (k < n && strcmp(hows[k].name, argv[1]))
		k++;
	if (k == n)
		return 2;
	if (getenv("ADVISE_NO_THP"))
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	size = strtoull(argv[2], NULL, 10) << 20;
	seconds = atof(argv[3]);
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return 1;
	memset(mem, 0, size);
	printf("range %p %p\n", (void *)mem, (void *)(mem + size));
	fflush(stdout);
	end = now() + seconds;
	do
		hows[k].run(mem, size);
	while (now() < end);
	return 0;
}
