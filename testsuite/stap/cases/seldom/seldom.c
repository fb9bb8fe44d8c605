// SPDX-License-Identifier: GPL-2.0-or-later
/* seldom.c - what programs hardly ever do to their memory, and says at checkpoints what it then is. */
#define _GNU_SOURCE
#include "mark.h"
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define ARCH_MAP_VDSO_64 0x2003 /* asm/prctl.h */

static volatile int over;

/* The vDSO may be gone: nothing here may use it. */
static long now_ms(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Calls that map nothing, for long enough that what does not change any more is noticed. */
static void call_on(void)
{
	long until = now_ms() + 500;

	while (now_ms() < until)
		mark(0, 0, 0);
}

static void *caller(void *arg)
{
	(void)arg;
	while (!over)
		mark(0, 0, 0);
	return NULL;
}

/* Take away [vdso] and [vvar...], one after the other; returns where the vDSO was. */
static unsigned long no_vdso(void)
{
	unsigned long start[8], end[8], at = 0;
	char line[256];
	FILE *f = fopen("/proc/self/maps", "r");
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		if (n < 8 && (strstr(line, "[vdso]") || strstr(line, "[vvar")) &&
		    sscanf(line, "%lx-%lx", &start[n], &end[n]) == 2) {
			if (strstr(line, "[vdso]"))
				at = start[n];
			n++;
		}
	if (f)
		fclose(f);
	while (n--)
		munmap((void *)start[n], end[n] - start[n]);
	return at;
}

/* A call that maps, and is not known for it, in a program of several threads. */
static void unknown(int threads)
{
	pthread_t t[8];
	unsigned long at;
	int i;

	for (i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, caller, NULL))
			die("pthread_create");
	checkpoint();
	at = no_vdso();
	checkpoint();
	if (syscall(SYS_arch_prctl, ARCH_MAP_VDSO_64, at) < 0)
		die("ARCH_MAP_VDSO_64");
	call_on();
	checkpoint();
	over = 1;
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	checkpoint();
}

/* A file has another name, since a directory above it has. */
static void renamed(void)
{
	char from[64], to[64], name[80];
	char *p;
	int fd;

	snprintf(from, sizeof(from), "/tmp/seldom.%d", getpid());
	snprintf(to, sizeof(to), "/tmp/renamed.%d", getpid());
	snprintf(name, sizeof(name), "%s/d/file", from);
	mkdir(from, 0755);
	*strrchr(name, '/') = '\0';
	mkdir(name, 0755);
	snprintf(name, sizeof(name), "%s/d/file", from);
	fd = open(name, O_CREAT | O_RDWR, 0644);
	if (fd < 0 || ftruncate(fd, 8192))
		die(name);
	p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	checkpoint();
	munmap(p, 8192);
	if (rename(from, to))
		die("rename");
	p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	checkpoint();
	munmap(p, 8192);
	if (rename(to, from)) /* and back: the name that it had before */
		die("rename");
	mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
	checkpoint();
}

static void *execs(void *self)
{
	execl(self, self, "once", NULL);
	die("execl");
	return NULL;
}

/* An exec by another thread than the first, which takes the first one's place and number; checkpoints begin anew. */
static void other_exec(char *self)
{
	pthread_t t;

	if (pthread_create(&t, NULL, execs, self))
		die("pthread_create");
	for (;;)
		mark(0, 0, 0);
}

/* Many processes of many threads that end all at once. */
static void exits(int processes)
{
	pthread_t t;
	int go[2], i, k;
	char x;

	if (pipe(go))
		die("pipe");
	for (i = 0; i < processes; i++)
		if (!fork()) {
			close(go[1]);
			for (k = 0; k < 20; k++)
				if (pthread_create(&t, NULL, caller, NULL))
					die("pthread_create");
			if (read(go[0], &x, 1) < 0)
				die("read");
			_exit(0);
		}
	close(go[0]);
	close(go[1]);
	while (wait(NULL) > 0)
		;
	checkpoint();
}

/* Threads that make areas as fast as they can, and give every eighth back: the list outgrows its place while others change it. */
static void *grower(void *n)
{
	char *p;
	long i;

	for (i = 0; i < (long)n; i++) {
		p = map(8192, PROT_READ, ANON);
		mprotect(p, 4096, RW);
		if (i % 8 == 0)
			munmap(p, 8192);
	}
	return NULL;
}

static void grow(long threads, long n)
{
	pthread_t t[64];
	long i;

	for (i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, grower, (void *)n))
			die("pthread_create");
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	checkpoint();
}

/* One call that takes away thousands of areas. */
static void wide(void)
{
	size_t n = 20000, i;
	char *p = map(n * 4096, PROT_NONE, ANON);

	for (i = 1; i < n; i += 2)
		if (mprotect(p + i * 4096, 4096, RW))
			die("mprotect");
	checkpoint();
	munmap(p + 4096, (n - 2) * 4096);
	checkpoint();
	munmap(p, n * 4096);
	checkpoint();
}

/* Neighbours that have a name for where they lie, or for what they are. */
static void merged(void)
{
	char *brk = sbrk(1 << 16), *p, *q;

	checkpoint();
	brk += 1 << 16;
	p = mmap(brk, 1 << 16, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0); /* joins the heap */
	checkpoint();
	if (p == brk) {
		munmap(p + 8192, 4096);
		checkpoint();
		mprotect(p + 4096, 4096, PROT_READ);
		checkpoint();
		mprotect(p + 4096, 4096, RW);
		checkpoint();
		munmap(brk - 4096, 4096);
		checkpoint();
	}
	p = map(1 << 20, PROT_NONE, ANON);
	q = mmap(p + 65536, 65536, RW, ANON | MAP_FIXED, -1, 0);
	mmap(q + 65536, 65536, RW, ANON | MAP_FIXED, -1, 0); /* joins from above */
	checkpoint();
	mmap(q - 8192, 8192, RW, ANON | MAP_FIXED, -1, 0); /* and from below */
	checkpoint();
	mprotect(q, 4096, PROT_READ);
	checkpoint();
	mprotect(q, 4096, RW);
	checkpoint();
	munmap(q + 4096, 8192);
	checkpoint();
	mmap(q + 4096, 8192, RW, ANON | MAP_FIXED, -1, 0); /* joins both */
	checkpoint();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "once"))
		checkpoint();
	else if (!strcmp(mode, "unknown"))
		unknown(argc > 2 ? atoi(argv[2]) : 0);
	else if (!strcmp(mode, "renamed"))
		renamed();
	else if (!strcmp(mode, "exec"))
		other_exec(argv[0]);
	else if (!strcmp(mode, "exits"))
		exits(argc > 2 ? atoi(argv[2]) : 1);
	else if (!strcmp(mode, "grow"))
		grow(argc > 3 ? atoi(argv[2]) : 1, argc > 3 ? atoi(argv[3]) : 1);
	else if (!strcmp(mode, "wide"))
		wide();
	else if (!strcmp(mode, "merged"))
		merged();
	else
		return 2;
	return 0;
}
