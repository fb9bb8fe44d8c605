// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nmi.c - threads on both processors that walk through nmi_table, and map and unmap, until the script has printed something.
 */
#define _GNU_SOURCE
#include "mark.h"
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

volatile int nmi_table[4096];
static volatile int over;

static void *work(void *arg)
{
	int i;

	while (!over) {
		for (i = 0; i < 4096; i++)
			nmi_table[i]++;
		munmap(map(8192, RW, ANON), 8192);
	}
	return arg;
}

int main(void)
{
	time_t begin = time(NULL);
	struct stat st = { 0 };
	char events[300];
	pthread_t t[3];
	int i;

	for (i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, work, NULL))
			die("pthread_create");
	mark(MARK_NAME, (long)nmi_table, 1);
	snprintf(events, sizeof(events), "%s/events", mark_out());
	while (!st.st_size && time(NULL) < begin + 400) {
		for (i = 0; i < 4096; i++)
			nmi_table[i]++;
		stat(events, &st);
	}
	over = 1;
	mark(MARK_NAME, 0, 0);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
