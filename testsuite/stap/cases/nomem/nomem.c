// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nomem.c - maps all kinds of things in many threads and processes while the script has no memory to keep them, says when it
 * has (MARK_MEMORY), and what is right then.
 */
#define _GNU_SOURCE
#include "mark.h"
#include <pthread.h>
#include <sys/wait.h>

#define MARK_MEMORY 0x4d4d
#define THREADS 12
#define AREAS 1000

static volatile int over;

static void *thread(void *arg)
{
	unsigned seed = (unsigned long)arg + 1;
	char *p;
	int i;

	for (i = 0; i < 100; i++) {
		p = map(16384, RW, ANON);
		mprotect(p + 4096, 4096, PROT_READ);
		if (rand_r(&seed) % 3)
			munmap(p, 16384);
	}
	while (arg && !over)
		usleep(20000);
	return NULL;
}

static void files(const char *self)
{
	char name[64];
	int i, fd;

	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "/tmp/nomem.%d.%d", getpid(), i);
		if (i < 4)
			snprintf(name, sizeof(name), "%s", self);
		fd = open(name, O_CREAT | O_RDWR, 0644);
		if (fd < 0)
			fd = open(name, O_RDONLY); /* itself */
		if (fd < 0 || (i >= 4 && ftruncate(fd, 8192)))
			die(name);
		if (mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			die("mmap");
		close(fd);
	}
}

static void all(const char *self)
{
	char *p = map(AREAS * 4096ul, PROT_NONE, ANON);
	pthread_t t[THREADS];
	long i;

	for (i = 1; i < AREAS; i += 2)
		if (mprotect(p + i * 4096, 4096, RW))
			die("mprotect");
	files(self);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)(i % 2)))
			die("pthread_create");
	for (i = 0; i < THREADS; i += 2)
		pthread_join(t[i], NULL);
	for (i = 0; i < 20; i++)
		if (!fork()) {
			if (i % 2)
				execl(self, self, "once", NULL);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	sbrk(1 << 20);
}

int main(int argc, char **argv)
{
	int to[2];
	pid_t c;
	char x;

	if (argc > 1) {
		thread(NULL);
		return 0;
	}
	all(argv[0]);
	if (pipe(to))
		die("pipe");
	c = fork();
	if (c) {
		/* Those who have failed wait before they try again; none longer than 2 seconds. */
		mark(MARK_MEMORY, 0, 0);
		sleep(3);
		if (write(to[1], "x", 1) != 1)
			die("write");
	} else {
		map(1 << 20, RW, ANON);
		files(argv[0]);
		if (read(to[0], &x, 1) != 1)
			die("read");
	}
	mark(0, 0, 0);
	usleep(200000);
	checkpoint();
	munmap(map(8192, RW, ANON), 4096);
	checkpoint();
	over = 1;
	waitpid(c, NULL, 0);
	return 0;
}
