// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fork_write ROUNDS - parent and child write the same private variable, each its own copy, and a shared one.
 *
 * Prints the two pids.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

long copied[1024];

static void __attribute__((noinline)) work(volatile long *mine, volatile long *both, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		mine[i & 1023]++;
		both[i & 511]++;
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0, *both;
	int status;
	pid_t pid;

	both = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (both == MAP_FAILED)
		return 1;
	pid = fork();
	if (pid < 0)
		return 1;
	work(copied, both, rounds);
	if (!pid)
		_exit(0);
	printf("%d %d\n", (int)getpid(), (int)pid);
	return waitpid(pid, &status, 0) == pid && !status ? 0 : 1;
}
