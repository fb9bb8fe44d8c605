/* hotvar-cflags: -O1 -g -no-pie */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * own.c - maps a page at a fixed address, uses it for a while, and unmaps it.
 *
 *	own [FILE]	then runs FILE, which may be set-uid, as a child
 *
 * Prints RUNS NAME PID, and RAN NAME PID at its end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((section("own_data"), aligned(4096)))
char own_variable[300] OWN = "own";
/* Names of files and symbols may be anything: what is printed of them stays on its line, and rules no terminal. */
char odd_variable[16] __asm__("\"odd\033[31m\"") OWN = "odd";

int main(int argc, char **argv)
{
	char *at = (char *)0x70000000;
	pid_t child;
	int fd;

	printf("RUNS %s %d\n", program_invocation_short_name, getpid());
	fflush(stdout);
	if (mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		return 1;
	at[0] = 1;
	fd = memfd_create("odd\nMAP injected", 0);
	if (fd < 0 || ftruncate(fd, 4096) || mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		return 1;
	while (clock() < CLOCKS_PER_SEC)
		at[1]++;
	((volatile char *)own_variable)[5]++;
	((volatile char *)odd_variable)[5]++;
	munmap(at, 4096);
	if (argc > 1) {
		child = fork();
		if (!child) {
			execl(argv[1], "others", NULL);
			_exit(2);
		}
		waitpid(child, NULL, 0);
	}
	printf("RAN %s %d\n", program_invocation_short_name, getpid());
	return 0;
}
