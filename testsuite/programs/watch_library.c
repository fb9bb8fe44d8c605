/* hotvar-cflags: -D_GNU_SOURCE -O1 -g */
/* hotvar-libs: -ldl */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_library LIBRARY TIMES - loads a library, has it write its variables, unloads it, writes to other memory at the
 * same place, which is none of the library's, and loads it again; then executes itself once less.
 *
 * It says what the library has written: NAME TID FUNCTION ACCESSES READS WRITES.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static long *use(const char *path, int n, void **lib)
{
	void (*bss)(int), (*data)(int);
	long *(*where)(void);

	*lib = dlopen(path, RTLD_NOW);
	if (!*lib)
		exit(1);
	bss = (void (*)(int))dlsym(*lib, "write_bss");
	data = (void (*)(int))dlsym(*lib, "write_data");
	where = (long *(*)(void))dlsym(*lib, "where");
	bss(n);
	printf("in_bss.behind %d write_bss %d 0 %d\n", getpid(), n, n);
	data(n + 1);
	printf("in_data %d write_data %d 0 %d\n", getpid(), n + 1, n + 1);
	fflush(stdout);
	return where();
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[2]) : 1;
	char less[16];
	void *lib, *page;
	long *at;

	at = use(argv[1], 10, &lib);
	dlclose(lib);
	page = mmap((void *)((uintptr_t)at & ~4095ul), 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (page == MAP_FAILED)
		return 3;
	*(volatile long *)at = 1;
	munmap(page, 4096);
	use(argv[1], 20, &lib);
	if (times <= 1)
		return 0;
	snprintf(less, sizeof(less), "%d", times - 1);
	execl(argv[0], argv[0], argv[1], less, (char *)NULL);
	return 1;
}
