// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-libs: -ldl */
/* lab: no image */
/*
 * plugged.c - marks a variable of its own, later one of a plug-in that it loads after a second, until /tmp/stop is there.
 *
 *	ADDRESS 0x... NAME	this variable lies there
 */
#define _GNU_SOURCE
#include "mark.h"
#include <dlfcn.h>
#include <time.h>

static int own_table[32] = { 5 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(void)
{
	const struct timespec pause = { 0, 50 * 1000 * 1000 };
	double begin = now();
	void *(*plug_address)(void);
	void *lib = NULL, *plug = NULL;

	printf("ADDRESS %p own_table\n", (void *)own_table);
	fflush(stdout);
	while (access("/tmp/stop", F_OK) && now() - begin < 500) {
		mark(MARK_NAME, (long)own_table, 0);
		if (plug)
			mark(MARK_NAME, (long)plug, 0);
		if (!lib && now() - begin > 1) {
			lib = dlopen("/srv/companion/libplugged.so", RTLD_NOW);
			if (!lib)
				die("dlopen");
			plug_address = (void *(*)(void))dlsym(lib, "plug_address");
			plug = plug_address();
			printf("ADDRESS %p plug_hidden\n", plug);
			fflush(stdout);
		}
		nanosleep(&pause, NULL);
	}
	return own_table[1];
}
