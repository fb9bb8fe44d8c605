// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_pieces.c - random accesses in memory that is mapped 256 KiB at a time, each piece filled before the
 * next is mapped beside it: the kernel cannot give huge pages then.
 *
 *	advise_pieces MIB [MILLIONS]
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PIECE = 256 << 10 };

int main(int argc, char **argv)
{
	uint64_t size = (argc > 1 ? strtoull(argv[1], NULL, 10) : 64) << 20, x = 88172645463325252ull, s = 0;
	uint64_t n = (argc > 2 ? strtoull(argv[2], NULL, 10) : 10) * 1000000;
	unsigned char *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	for (uint64_t at = 0; at < size; at += PIECE) {
		if (mmap(p + at, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return 1;
		for (uint64_t i = 0; i < PIECE; i += 4096)
			p[at + i] = 1;
	}
	for (uint64_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		s += p[x % size];
	}
	return s == 1;
}
