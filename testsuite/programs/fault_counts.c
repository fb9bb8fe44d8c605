/* hotvar-cflags: -D_GNU_SOURCE -O1 -g -pthread -fno-inline */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault_counts [wait] - touches pages of its variables, each for the first time, and says how many:
 *
 *	NAME PID MEMBER FAULTS READS WRITES BY-KERNEL
 *
 * "wait": begins when there is a byte on stdin.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct page {
	long first;
	char fill[PAGE - 2 * sizeof(long)];
	long last;
};

#define PAGES(name, n) struct page name[n] __attribute__((aligned(PAGE)))
PAGES(read_area, 9);
PAGES(write_area, 11);
PAGES(change_area, 6);
PAGES(call_area, 5);
PAGES(copied_area, 7);
PAGES(thread_area, 8);
PAGES(copy_from, 4);
PAGES(copy_to, 4);
PAGES(untouched_area, 4);
PAGES(given_back, 3);

static void read_pages(struct page *p, int n)
{
	while (n-- > 0)
		(void)*(volatile long *)&p[n].first;
}

static void write_pages(struct page *p, int n)
{
	while (n-- > 0)
		*(volatile long *)&p[n].last = 1;
}

static void change_pages(struct page *p, int n)
{
	while (n-- > 0)
		__asm__ volatile("incq %0" : "+m"(p[n].last));
}

static void *thread(void *arg)
{
	write_pages(arg, 4);
	return NULL;
}

static void say(const char *name, const char *member, int n, int reads, int writes, int by_kernel)
{
	printf("%s %d %s %d %d %d %d\n", name, getpid(), member, n, reads, writes, by_kernel);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int zero = open("/dev/zero", O_RDONLY), status, i;
	void *from = copy_from, *to = copy_to;
	long words = sizeof(copy_from) / sizeof(long);
	pthread_t t[2];
	char c;
	pid_t pid;

	(void)argv;
	if (argc > 1 && read(0, &c, 1) != 1)
		return 1;
	read_pages(read_area, 9);
	say("read_area", "[].first", 9, 9, 0, 0);
	write_pages(write_area, 11);
	say("write_area", "[].last", 11, 0, 11, 0);
	write_pages(write_area, 11); /* they are there */
	change_pages(change_area, 6);
	say("change_area", "[].last", 6, 0, 6, 0);
	__asm__ volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(words) : : "memory");
	say("copy_from", "[].first", 4, 4, 0, 0);
	say("copy_to", "[].first", 4, 0, 4, 0);
	if (read(zero, call_area, sizeof(call_area)) != sizeof(call_area))
		return 1;
	say("call_area", "[].first", 5, 0, 0, 5);
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, &thread_area[4 * i]);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	say("thread_area", "[].last", 8, 0, 8, 0);
	write_pages(given_back, 3);
	madvise(given_back, sizeof(given_back), MADV_DONTNEED);
	write_pages(given_back, 3);
	say("given_back", "[].last", 6, 0, 6, 0);
	write_pages(copied_area, 7);
	say("copied_area", "[].last", 7, 0, 7, 0);
	pid = fork();
	if (!pid) {
		write_pages(copied_area, 7);
		say("copied_area", "[].last", 7, 0, 7, 0);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}
