// SPDX-License-Identifier: GPL-2.0-or-later
/* x32.c - changes its map by calls under the numbers of x32, where the kernel has them (syscall.x32=y), and says at checkpoints what it is. */
#define _GNU_SOURCE
#include <errno.h>
#include "mark.h"

#define X32(nr) ((nr) | 0x40000000)

int main(void)
{
	char *p, *q;
	long brk;

	p = (char *)syscall(X32(SYS_mmap), NULL, 1 << 20, RW, ANON, -1, 0);
	if (p == MAP_FAILED && errno == ENOSYS) {
		puts("NONE");
		checkpoint();
		return 0;
	}
	checkpoint();
	syscall(X32(SYS_mprotect), p + 8192, 8192, PROT_READ);
	checkpoint();
	q = (char *)syscall(X32(SYS_mremap), p, 8192, 1 << 19, MREMAP_MAYMOVE, NULL);
	if (q == MAP_FAILED)
		die("mremap");
	checkpoint();
	syscall(X32(SYS_munmap), p + 65536, 4096);
	checkpoint();
	brk = syscall(X32(SYS_brk), 0);
	syscall(X32(SYS_brk), brk + (1 << 20));
	checkpoint();
	syscall(X32(SYS_brk), brk + (1 << 16));
	checkpoint();
	syscall(X32(SYS_munmap), q, 1 << 19);
	checkpoint();
	puts("X32");
	return 0;
}
