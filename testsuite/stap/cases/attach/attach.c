// SPDX-License-Identifier: GPL-2.0-or-later
/* attach.c - threads that map before anybody looks; checkpoints when told to: attach FOLDER, which gets `ready`, then `go`. */
#define _GNU_SOURCE
#include "mark.h"
#include <pthread.h>
#include <sched.h>

#define THREADS 16

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

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	long i;

	if (argc < 2)
		return 2;
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, mapper, (void *)i))
			die("pthread_create");
	for (i = 0; i < THREADS; i++)
		while (turns[i] < 3)
			usleep(1000);
	close(open(in(argv[1], "ready"), O_CREAT | O_WRONLY, 0644));
	while (access(in(argv[1], "go"), F_OK))
		usleep(10000);
	over = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	checkpoint();
	munmap(map(1 << 20, RW, ANON), 4096);
	checkpoint();
	return 0;
}
