// SPDX-License-Identifier: GPL-2.0-or-later
/* one.c - a program of which several run: two.c is it under another name, three.c another that nobody follows. */
#include "mark.h"

int main(void)
{
	char *p;
	int i;

	printf("PID %d\n", getpid());
	fflush(stdout);
	for (i = 0; i < 10; i++) {
		p = map(65536, RW, ANON);
		mprotect(p + 8192, 8192, PROT_READ);
		munmap(p + 4096 * (i + 3), 4096);
#ifndef NO_CHECKPOINT
		checkpoint();
#endif
	}
	return 0;
}
