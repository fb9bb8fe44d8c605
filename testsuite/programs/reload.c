// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-libs: -ldl */
/*
 * reload ROUNDS FIRST.so SECOND.so - works on a variable of the first library, unloads it, and on one of the
 * second, which most likely lies at the same address.
 *
 * Prints the two addresses.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void __attribute__((noinline)) work(volatile long *v, long rounds)
{
	for (long i = 0; i < rounds; i++)
		v[i & 511]++;
}

int main(int argc, char **argv)
{
	long rounds;

	if (argc != 4)
		return 2;
	rounds = atol(argv[1]);
	for (int i = 2; i < 4; i++) {
		void *lib = dlopen(argv[i], RTLD_NOW);
		long *(*variable)(void) = lib ? (long *(*)(void))dlsym(lib, "variable") : NULL;

		if (!variable) {
			fprintf(stderr, "reload: %s\n", dlerror());
			return 1;
		}
		printf("%p\n", (void *)variable());
		work(variable(), rounds);
		dlclose(lib);
	}
	return 0;
}
