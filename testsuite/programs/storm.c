// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-libs: -ldl */
/*
 * storm WHAT N ... - very many short processes, programs or libraries; prints how many there were.
 *
 *	forks N WORKERS    WORKERS processes make N children in all, each maps and unmaps a page and ends
 *	execs N WORKERS    the same, and each child executes "storm end"
 *	loads N A.so B.so  N rounds of loading and unloading the two libraries in turn
 *	bursts N A.so B.so N processes that do this twice in a row, and BURSTS times nothing for about 200 ms before
 *	end		   nothing
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BURSTS 5

static void be_child(int executes)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page, 4096);
	if (executes)
		execl("/proc/self/exe", "storm", "end", (char *)NULL);
	_exit(executes);
}

static void work(int n, int executes)
{
	while (n--) {
		pid_t pid = fork();
		int status;

		if (!pid)
			be_child(executes);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			_exit(1);
	}
	_exit(0);
}

static int processes(int n, int workers, int executes)
{
	int i, status, bad = 0;

	for (i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (!pid)
			work(n / workers + (i < n % workers), executes);
		bad += pid < 0;
	}
	for (i = 0; i < workers; i++)
		bad += wait(&status) < 0 || status;
	printf("%d\n", n + workers);
	return bad != 0;
}

static int load(int n, char **paths)
{
	int i;

	for (i = 0; i < n; i++) {
		void *lib = dlopen(paths[i & 1], RTLD_NOW);

		if (!lib || dlclose(lib))
			return 1;
	}
	return 0;
}

static int loads(int n, char **paths)
{
	if (load(n, paths))
		return 1;
	printf("%d\n", n);
	return 0;
}

static void burst(unsigned seed, char **paths)
{
	int i;

	srand(seed);
	for (i = 0; i < BURSTS; i++) {
		usleep(180000 + rand() % 60000);
		if (load(2, paths))
			_exit(1);
	}
	_exit(0);
}

static int bursts(int n, char **paths)
{
	int i, status, bad = 0;

	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid)
			burst((unsigned)i, paths);
		bad += pid < 0;
	}
	for (i = 0; i < n; i++)
		bad += wait(&status) < 0 || status;
	printf("%d\n", n * BURSTS * 2);
	return bad != 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && (!strcmp(argv[1], "forks") || !strcmp(argv[1], "execs")))
		return processes(atoi(argv[2]), atoi(argv[3]), argv[1][0] == 'e');
	if (argc == 5 && !strcmp(argv[1], "loads"))
		return loads(atoi(argv[2]), argv + 3);
	if (argc == 5 && !strcmp(argv[1], "bursts"))
		return bursts(atoi(argv[2]), argv + 3);
	return argc == 2 && !strcmp(argv[1], "end") ? 0 : 2;
}
