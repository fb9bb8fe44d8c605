// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-libs: -ldl */
/* lab: no image */
/*
 * plugged.c - marks a variable of its own, later one of a plug-in that it loads after a second, until /tmp/stop is there.
 *
 * What makes images, if it is there, is stopped before the plug-in is loaded, and goes on when that has been marked thrice.
 *
 *	ADDRESS 0x... NAME	this variable lies there
 */
#define _GNU_SOURCE
#include "mark.h"
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <time.h>

static int own_table[32] = { 5 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Tell the companion, whatever is called so. */
static void companion(int sig)
{
	char name[300], comm[32];
	struct dirent *de;
	DIR *dir = opendir("/proc");
	FILE *f;

	if (!dir)
		die("/proc");
	while ((de = readdir(dir)) != NULL) {
		snprintf(name, sizeof(name), "/proc/%s/comm", de->d_name);
		f = atoi(de->d_name) > 1 ? fopen(name, "r") : NULL;
		if (f && fgets(comm, sizeof(comm), f) && !strcmp(comm, "hotvar-images\n"))
			kill(atoi(de->d_name), sig);
		if (f)
			fclose(f);
	}
	closedir(dir);
}

int main(void)
{
	const struct timespec pause = { 0, 50 * 1000 * 1000 };
	double begin = now();
	void *(*plug_address)(void);
	void *lib = NULL, *plug = NULL;
	int i;

	printf("ADDRESS %p own_table\n", (void *)own_table);
	fflush(stdout);
	while (access("/tmp/stop", F_OK) && now() - begin < 500) {
		mark(MARK_NAME, (long)own_table, 0);
		if (plug)
			mark(MARK_NAME, (long)plug, 0);
		if (!lib && now() - begin > 1) {
			companion(SIGSTOP);
			lib = dlopen("/srv/companion/libplugged.so", RTLD_NOW);
			if (!lib)
				die("dlopen");
			plug_address = (void *(*)(void))dlsym(lib, "plug_address");
			plug = plug_address();
			printf("ADDRESS %p plug_hidden\n", plug);
			fflush(stdout);
			for (i = 0; i < 3; i++)
				mark(MARK_NAME, (long)plug, 0);
			companion(SIGCONT);
		}
		nanosleep(&pause, NULL);
	}
	return own_table[1];
}
