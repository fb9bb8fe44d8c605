// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach.c - threads that map before anybody looks; checkpoints when told to: attach [held] FOLDER, which gets `ready`, then `go`.
 *
 * held: one thread only, whose every call holds the lock of all areas for as long as it takes; so whoever else is looked at
 * first finds it taken, and has to wait until that call is over.
 */
#define _GNU_SOURCE
#include "mark.h"
#include <pthread.h>
#include <sched.h>

#define THREADS 16
#define HELD (256ul << 20)

static volatile int over;
static volatile int turns[THREADS];
static char path[256];

static const char *in(const char *folder, const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void *mapper(void *arg)
{
	unsigned seed = (unsigned long)arg;
	char *kept[8] = { 0 };
	int i = 0;

	while (!over) {
		char **k = &kept[i++ % 8];

		if (*k)
			munmap(*k, 16384);
		*k = map(16384, RW, ANON);
		mprotect(*k + 4096 * (rand_r(&seed) % 4), 4096, PROT_READ);
		turns[(long)arg]++;
		sched_yield();
	}
	return NULL;
}

/* Each page that is there takes time. */
static void *holder(void *arg)
{
	char *p = map(HELD, RW, ANON);

	if (madvise(p, HELD, MADV_NOHUGEPAGE) || madvise(p, HELD, MADV_POPULATE_WRITE))
		die("madvise");
	while (!over) {
		mprotect(p, HELD, PROT_READ);
		mprotect(p, HELD, RW);
		turns[(long)arg]++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int held = argc > 2 && !strcmp(argv[1], "held");
	long i, threads = held ? 1 : THREADS;
	const char *folder = argv[1 + held];
	pthread_t t[THREADS];

	if (argc != 2 + held)
		return 2;
	for (i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, held ? holder : mapper, (void *)i))
			die("pthread_create");
	for (i = 0; i < threads; i++)
		while (turns[i] < 3)
			usleep(1000);
	close(open(in(folder, "ready"), O_CREAT | O_WRONLY, 0644));
	while (access(in(folder, "go"), F_OK))
		usleep(held ? 1000 : 10000);
	over = 1;
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	checkpoint();
	munmap(map(1 << 20, RW, ANON), 4096);
	checkpoint();
	return 0;
}
