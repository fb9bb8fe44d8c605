// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hog.c - memory runs out.
 *
 *	hog all		takes all there is, again and again, and is what the kernel kills for it
 *	hog maps	maps, in processes that come and go
 *	hog many	makes 40,000 areas, has all memory taken but for a rest, and changes them all by one call
 */
#define _GNU_SOURCE
#include "mark.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define AREAS 40000
#define REST_KB 1200 /* an event for each area is 4 MB */

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

static void many(void)
{
	char *p = map(AREAS * 4096ul, PROT_NONE, ANON);
	int i, go[2], fd = memfd_create("other", 0);
	char x;
	pid_t c;

	if (fd < 0 || ftruncate(fd, 4096) || pipe(go))
		die("memfd");
	/* Neighbours that stay two, whatever both may be. */
	for (i = 0; i < AREAS; i += 2)
		if (mmap(p + i * 4096ul, 4096, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			die("mmap");
	c = fork();
	if (!c) {
		first_to_be_killed();
		while (free_kb() > REST_KB)
			take(free_kb() > 4 * REST_KB ? 1 << 20 : 1 << 16);
		if (write(go[1], "x", 1) != 1)
			die("pipe");
		for (;;)
			pause();
	}
	close(go[1]);
	if (read(go[0], &x, 1) != 1)
		puts("the hog was killed too soon");
	mprotect(p, AREAS * 4096ul, PROT_READ);
	getppid();
	kill(c, SIGKILL);
	waitpid(c, NULL, 0);
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
