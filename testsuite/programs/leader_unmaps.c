/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leader_unmaps - memory goes when the first thread has ended: a page at HERE is there from the beginning, and at a line on stdin
 * the first thread ends; then another unmaps the page and says so, and stays until stdin ends.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HERE ((void *)0x6e0000000000)

/* "4711 (leader_unmaps) Z ..." */
static int leader_ended(void)
{
	char path[64], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	fd = open(path, O_RDONLY);
	if (read(fd, text, sizeof(text) - 1) < 0)
		return 1;
	close(fd);
	return strstr(text, ") Z") != NULL;
}

static void *unmap(void *arg)
{
	char byte;

	while (!leader_ended())
		sched_yield();
	munmap(HERE, 4096);
	puts("unmapped");
	fflush(stdout);
	return read(0, &byte, 1) < 0 ? NULL : arg;
}

int main(void)
{
	pthread_t t;
	char byte;

	if (mmap(HERE, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != HERE)
		return 1;
	puts("ready");
	fflush(stdout);
	if (read(0, &byte, 1) != 1 || pthread_create(&t, NULL, unmap, NULL))
		return 2;
	pthread_exit(NULL);
}
