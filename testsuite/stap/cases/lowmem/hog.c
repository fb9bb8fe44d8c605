// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hog.c - memory runs out.
 *
 *	hog all		takes all there is, again and again, and is what the kernel kills for it; each time for a minute at most
 *	hog maps	maps, in processes that come and go
 *	hog many	makes 60,000 areas, takes all memory but for a rest, and changes them all by one call
 *
 * What is begun by a process that cannot be killed for memory cannot either, but for what offers itself.
 */
#define _GNU_SOURCE
#include "mark.h"
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define AREAS 60000
#define REST_KB 1500 /* an event for each area is 6 MB */

static void first_to_be_killed(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY);

	if (fd < 0 || write(fd, "1000", 4) != 4)
		die("oom_score_adj");
	close(fd);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void take(size_t n)
{
	char *p = mmap(NULL, n, RW, ANON, -1, 0);

	if (p != MAP_FAILED)
		memset(p, 1, n);
}

static void all(void)
{
	for (;;) {
		pid_t c = fork();

		if (!c) {
			first_to_be_killed();
			alarm(60);
			for (;;)
				take(1 << 20);
		}
		if (c > 0)
			waitpid(c, NULL, 0);
	}
}

static void maps(void)
{
	int i, k;

	for (i = 0; i < 10; i++) {
		pid_t c = fork();

		if (!c) {
			char *p = mmap(NULL, 4096ul * 4096, PROT_NONE, ANON, -1, 0);

			for (k = 0; p != MAP_FAILED && k < 200; k++)
				mprotect(p + k * 8192ul, 4096, PROT_READ);
			_exit(0);
		}
		if (c > 0)
			waitpid(c, NULL, 0);
	}
}

static long free_kb(void)
{
	char text[256];
	int fd = open("/proc/meminfo", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	char *at;

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "MemFree:");
	return at ? atol(at + 8) : -1;
}

/* Those that the kernel may kill when it must. */
static void offer(pid_t *c, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		c[i] = fork();
		if (!c[i]) {
			first_to_be_killed();
			for (;;)
				pause();
		}
	}
}

/* Take memory that no process's end gives back, but for REST_KB. */
static int fill(void)
{
	int fd = memfd_create("filler", 0);
	off_t at = 0, step;

	while (free_kb() > REST_KB) {
		step = free_kb() > 4 * REST_KB ? 1 << 20 : 1 << 16;
		if (fallocate(fd, 0, at, step)) {
			printf("memory cannot be filled: %ld kB are free\n", free_kb());
			break;
		}
		at += step;
	}
	return fd;
}

static void many(void)
{
	int i, filler, fd = memfd_create("other", 0);
	cpu_set_t one;
	pid_t c[16];
	char *p;

	offer(c, 16); /* before there is much to copy */
	p = map(AREAS * 4096ul, PROT_NONE, ANON);
	if (fd < 0 || ftruncate(fd, 4096))
		die("memfd");
	/* Neighbours that stay two, whatever both may be. */
	for (i = 0; i < AREAS; i += 2)
		if (mmap(p + i * 4096ul, 4096, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			die("mmap");
	/* Each processor keeps some free memory for itself. */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
	filler = fill();
	mprotect(p, AREAS * 4096ul, PROT_READ);
	getppid();
	close(filler);
	for (i = 0; i < 16; i++) {
		kill(c[i], SIGKILL);
		waitpid(c[i], NULL, 0);
	}
	mprotect(p, AREAS * 4096ul, PROT_NONE);
	getppid();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "all"))
		all();
	else if (!strcmp(mode, "maps"))
		maps();
	else if (!strcmp(mode, "many"))
		many();
	else
		return 2;
	return 0;
}
