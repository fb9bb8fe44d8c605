// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fork_many N - makes N children that end at once, using some CPU time of its own between.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned long between[256]; /* what it touches */

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	volatile unsigned long *p = between;

	while (n-- > 0) {
		pid_t pid = fork();

		if (pid < 0)
			return 2;
		if (!pid)
			_exit(0);
		for (int i = 0; i < 100000; i++)
			p[i % 256] += i;
		if (waitpid(pid, NULL, 0) != pid)
			return 3;
	}
	return 0;
}
