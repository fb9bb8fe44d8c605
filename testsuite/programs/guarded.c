// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guarded - a process that guards its memory as set-user-ID programs do, so that its own user may not look at it.
 *
 * Says "guarded", and ends with status 3 when standard input does.
 */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void)
{
	char byte;

	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return 2;
	puts("guarded");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 3;
}
