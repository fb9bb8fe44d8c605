/* hotvar-cflags: -O2 -g -static */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wild.c - loads and stores of memory that is not mapped, or may not be touched, and of what may after all.
 *
 * Its handler goes on after each fault.  Prints how many of those reads and of writes there are; with an argument it ends by one
 * more read.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
static sigjmp_buf back;
static volatile char *page;
static void handler(int s) { (void)s; siglongjmp(back, 1); }
__attribute__((noinline)) static int reads(volatile char *p) { return sigsetjmp(back, 1) ? -1 : *p; /* wild read */ }
__attribute__((noinline)) static int writes(volatile long *p) { if (!sigsetjmp(back, 1)) *p = 1; /* wild write */ return 0; }
int main(int argc, char **argv)
{
	char copy[64];
	int i;
	signal(SIGSEGV, handler);
	signal(SIGBUS, handler);
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap((void *)(page + 4096), 4096);
	for (i = 0; i < 100; i++)
		reads(page + 4096);
	for (i = 0; i < 50; i++)
		writes((volatile long *)(i % 2 ? 0 : -64L));
	page[0] = 1;
	mprotect((void *)page, 4096, PROT_NONE);
	for (i = 0; i < 10; i++)
		reads(page);
	mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
	for (i = 0; i < 10; i++)
		reads(page);
	memset(copy, 0, 64);
	printf("reads 110\nwrites 50\n");
	fflush(stdout);
	if (argc > 1) {
		signal(SIGSEGV, SIG_DFL);
		return argv[1][strlen(copy)] + *(page + 4096);
	}
	return 0;
}
