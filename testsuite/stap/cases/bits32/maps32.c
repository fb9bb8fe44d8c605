/* hotvar-cflags: -m32 -O2 -g -static -nostdlib -ffreestanding -fno-stack-protector -fno-pie -no-pie -fcf-protection=none */
/* lab: no image */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * maps32.c - a 32-bit program without a C library: changes its map by 32-bit calls, and says at checkpoints what it is.
 *
 *	maps32 ops	every call that changes a map, and a child
 *	maps32 wait	the same, once there is a file $OUT/go
 *	maps32 threads	threads map and unmap all at once
 *	maps32 vfork	children that share the memory change it
 *	maps32 exec	becomes the 64-bit program /srv/maps/maps
 */
#include "raw32.h"

enum { THREADS = 4 };
static char stacks[THREADS][8192] __attribute__((aligned(16)));
static volatile int done;

static __attribute__((noinline)) void deep(int n)
{
	volatile char a[32768];

	a[0] = n;
	if (n)
		deep(n - 1);
	a[1] = a[0];
}

static void mapper(long n)
{
	char *p;
	int i;

	for (i = 0; i < 40; i++) {
		p = mmap2(0, 16384, READ | WRITE, PRIVATE | ANON, -1, 0);
		call3(NR_mprotect, p + 4096, 4096, i & 1 ? READ : 0);
		call3(NR_munmap, p, i % 4 == n ? 4096 : 16384, 0);
	}
	__sync_fetch_and_add(&done, 1);
	call3(NR_exit, 0, 0, 0);
}

static void threads(void)
{
	long i;

	for (i = 0; i < THREADS; i++)
		if (spawn(CLONE_THREADS, mapper, i, stacks[i] + sizeof(stacks[i])) < 0)
			die(95);
	while (done < THREADS)
		call3(NR_sched_yield, 0, 0, 0);
	checkpoint();
}

static void borrower(long n)
{
	(void)mmap2(0, 4096 << n, READ, PRIVATE | ANON, -1, 0);
	(void)mmap2(0, 4096, READ | WRITE, SHARED | ANON, -1, 0);
	call3(NR_exit, 0, 0, 0);
}

static void vforks(void)
{
	long i, pid;

	for (i = 0; i < 4; i++) {
		pid = spawn(CLONE_VM | CLONE_VFORK | SIGCHLD, borrower, i, stacks[i] + sizeof(stacks[i]));
		if (pid < 0)
			die(95);
		call3(NR_waitpid, pid, 0, 0);
		checkpoint();
	}
}

static void ops(void)
{
	char *p, *q;
	long brk, pid, fd;
	struct { long at, len, prot, flags, fd, offset; } old = { 0, 8192, READ | WRITE, PRIVATE | ANON, -1, 0 };

	checkpoint();
	p = mmap2(0, 1 << 20, READ | WRITE, PRIVATE | ANON, -1, 0);
	checkpoint();
	call3(NR_mprotect, p + 8192, 8192, READ);
	checkpoint();
	call3(NR_munmap, p + 65536, 4096, 0);
	checkpoint();
	q = (char *)call(NR_mremap, (long)p, 8192, 1 << 19, 1, 0, 0);
	if ((unsigned long)q > -4096ul)
		die(98);
	checkpoint();
	call3(NR_old_mmap, &old, 0, 0);
	checkpoint();
	brk = call3(NR_brk, 0, 0, 0);
	call3(NR_brk, brk + (1 << 20), 0, 0);
	checkpoint();
	call3(NR_brk, brk + (1 << 16), 0, 0);
	checkpoint();
	deep(20);
	checkpoint();
	deep(60);
	checkpoint();
	fd = call3(NR_open, "/srv/bits32/maps32", 0, 0);
	p = mmap2(0, 8192, READ, PRIVATE, fd, 0);
	checkpoint();
	q = mmap2(p + 4096, 4096, READ | WRITE, PRIVATE | ANON | FIXED, -1, 0);
	checkpoint();
	q = mmap2(0, 8192, READ | WRITE, SHARED | ANON, -1, 0);
	checkpoint();
	pid = call3(NR_fork, 0, 0, 0);
	if (!pid) {
		checkpoint();
		call3(NR_munmap, p, 8192, 0);
		checkpoint();
		call3(NR_exit_group, 0, 0, 0);
	}
	call3(NR_waitpid, pid, 0, 0);
	call3(NR_munmap, q, 4096, 0);
	checkpoint();
	call3(NR_exit_group, 0, 0, 0);
}


__attribute__((used)) void begin(long *stack)
{
	char **argv = (char **)(stack + 1), *other[] = { "maps", "threads", "4", "20", 0 };
	long fd;

	begin_out(stack);
	switch (argv[1][0]) {
	case 'w':
		put(put(name, out), "/go");
		while ((fd = call3(NR_open, name, 0, 0)) < 0)
			call3(NR_sched_yield, 0, 0, 0);
		call3(NR_close, fd, 0, 0);
		/* fallthrough */
	case 'o':
		ops();
		break;
	case 't':
		threads();
		break;
	case 'v':
		vforks();
		break;
	case 'e':
		call3(NR_execve, "/srv/maps/maps", other, stack + stack[0] + 2);
	}
	call3(NR_exit_group, 0, 0, 0);
}
