// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-libs: -ldl -lpthread */
/* lab: no image */
/*
 * plugged.c - marks a variable of its own, later one of a plug-in that it loads after a second, until /tmp/stop is there.
 *
 * What makes images, if it is there, is stopped before the plug-in is loaded, and goes on when that has been marked thrice.
 *
 *	ADDRESS 0x... NAME	this variable lies there
 *
 * With STORM=FOLDER: threads load and unload all of FOLDER, at most 64 files, each 40 times, and mark the variable each time.
 *
 *	LOADED N	times
 */
#define _GNU_SOURCE
#include "mark.h"
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
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

/* ---- the storm ---- */

static char storm_files[64][300];
static int n_storm_files, n_loaded;

static void *storm_thread(void *arg)
{
	int i, k;

	for (i = 0; i < 40; i++)
		for (k = 0; k < n_storm_files; k++) {
			void *lib = dlopen(storm_files[(k + (long)arg * 7) % n_storm_files], RTLD_NOW);
			void *(*plug_address)(void);

			if (!lib)
				die("dlopen");
			plug_address = (void *(*)(void))dlsym(lib, "plug_address");
			mark(MARK_NAME, (long)plug_address(), 0);
			dlclose(lib);
			__atomic_fetch_add(&n_loaded, 1, __ATOMIC_RELAXED);
		}
	return NULL;
}

static int storm(const char *folder)
{
	pthread_t t[4];
	struct dirent *de;
	DIR *dir = opendir(folder);
	int i;

	if (!dir)
		die(folder);
	while ((de = readdir(dir)) != NULL && n_storm_files < 64)
		if (strstr(de->d_name, ".so"))
			snprintf(storm_files[n_storm_files++], sizeof(storm_files[0]), "%s/%s", folder, de->d_name);
	closedir(dir);
	for (i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, storm_thread, (void *)(long)i))
			die("pthread_create");
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("LOADED %d\n", n_loaded);
	return 0;
}

int main(void)
{
	const struct timespec pause = { 0, 50 * 1000 * 1000 };
	double begin = now();
	void *(*plug_address)(void);
	void *lib = NULL, *plug = NULL;
	int i;

	if (getenv("STORM"))
		return storm(getenv("STORM"));
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
