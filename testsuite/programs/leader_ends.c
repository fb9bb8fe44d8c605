/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leader_ends.c - a process whose first thread has ended by pthread_exit(), and which goes on in another.
 *
 *	leader_ends FILE MIB			until standard input ends
 *	leader_ends FILE MIB MILLIONS HOW	until so many accesses; then it ends by "exit", or the "last" thread does
 *
 * Says where the memory is that it accesses at random, and its variables: "range START END", "table START", "own START";
 * FILE becomes a copy of its map as it stays; then "ready".  A second thread that is there, listed before, ends too: when a
 * line comes on standard input, in the second form at once.  In the first form it then fills as much memory again, copies
 * its map again, and says "gone".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PAGE = 4096, ROUND = 1 << 16 };

volatile uint64_t sum;
char table[3 * PAGE] __attribute__((aligned(PAGE)));
__thread char own[64];
static const char *file;
static size_t size;
static long millions = -1;
static int last, until[2];
static pthread_t other;

/* Is the first thread a zombie? */
static int leader_ended(void)
{
	char path[64], text[512], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	return p && p[1] == ' ' && p[2] == 'Z';
}

static int copy_map(void)
{
	static char buf[PAGE];
	int in = open("/proc/thread-self/maps", O_RDONLY), out = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ssize_t n;

	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			return -1;
	close(in);
	close(out);
	return in < 0 || out < 0 ? -1 : 0;
}

__attribute__((noinline)) static void jump(const volatile char *p, uint64_t *x)
{
	for (int i = 0; i < ROUND; i++) {
		*x ^= *x << 13;
		*x ^= *x >> 7;
		*x ^= *x << 17;
		sum += (uint64_t)p[*x % size];
	}
}

static void end_other(void)
{
	close(until[1]);
	pthread_join(other, NULL);
}

static void *wait_for_end(void *none)
{
	char byte;

	if (read(until[0], &byte, 1) < 0)
		exit(2);
	return none;
}

static char *fill(int how)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	return memset(p, 1, size);
}

static void *go_on(void *none)
{
	uint64_t x = 88172645463325252ull;
	struct pollfd in = { .fd = 0, .events = POLLIN };
	char *p, line[16];
	ssize_t n;

	while (!leader_ended())
		sched_yield();
	p = fill(MAP_PRIVATE);
	memset(table, 1, sizeof(table));
	memset(own, 1, sizeof(own));
	printf("range %p %p\ntable %p\nown %p\n", (void *)p, (void *)(p + size), (void *)table, (void *)own);
	if (millions >= 0)
		end_other();
	if (copy_map())
		exit(2);
	puts("ready");
	for (long i = 0; millions < 0 || i < millions * 1000000; i += ROUND) {
		jump(p, &x);
		if (millions >= 0 || poll(&in, 1, 0) < 1)
			continue;
		n = read(0, line, sizeof(line));
		if (n <= 0)
			exit(0);
		end_other();
		fill(MAP_SHARED); /* so that the two are two areas */
		if (copy_map())
			exit(2);
		puts("gone");
	}
	if (!last)
		exit(0);
	return none;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3 && argc != 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (getenv("ADVISE_NO_THP"))
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	file = argv[1];
	size = (size_t)atoi(argv[2]) << 20;
	if (argc == 5) {
		millions = atol(argv[3]);
		last = !strcmp(argv[4], "last");
	}
	if (pipe(until) || pthread_create(&other, NULL, wait_for_end, NULL) || pthread_create(&thread, NULL, go_on, NULL))
		return 2;
	pthread_exit(NULL);
}
