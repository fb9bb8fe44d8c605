// SPDX-License-Identifier: GPL-2.0-or-later
/* maps.c - changes its own memory map in every way there is, and says at checkpoints what it is. */
#define _GNU_SOURCE
#include "mark.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>

static int count = 64, loops = 100;

/* Deep enough that the stack's area grows by faults. */
static __attribute__((noinline)) void deep(int n)
{
	char a[65536];

	memset(a, n, sizeof(a));
	if (n)
		deep(n - 1);
	__asm__ volatile("" : : "r"(a) : "memory");
}

static void anonymous(void)
{
	char *p, *q;

	p = map(1 << 20, RW, ANON);
	checkpoint();
	mprotect(p + 8192, 8192, PROT_READ);
	checkpoint();
	munmap(p + 65536, 4096);
	checkpoint();
	mprotect(p, 65536, RW); /* three become one again */
	checkpoint();
	mprotect(p, 1 << 20, PROT_READ); /* fails at the hole, done up to there */
	checkpoint();
	mmap(p + 65536, 4096, PROT_READ, ANON | MAP_FIXED, -1, 0); /* fills the hole */
	checkpoint();
	q = mremap(p, 16384, 1 << 20, MREMAP_MAYMOVE);
	checkpoint();
	q = mremap(q, 1 << 20, 8192, 0);
	checkpoint();
	p = map(1 << 16, RW, ANON);
	q = mremap(q, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, p + 8192); /* over others */
	checkpoint();
	q = mremap(p, 4096, 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
	checkpoint();
	madvise(p, 1 << 15, MADV_DONTFORK);
	checkpoint();
	madvise(p, 4096, MADV_DOFORK);
	mlock(p + 16384, 4096);
	checkpoint();
	munlock(p + 16384, 4096);
	mprotect(p + 4096, 4096, PROT_NONE);
	checkpoint();
	munmap(p, 1 << 16);
	checkpoint();
	munmap((void *)0x10000, 1 << 20); /* nothing there */
	checkpoint();
}

static void heap_and_stack(void)
{
	char *p;

	if (sbrk(1 << 20) == (void *)-1)
		die("sbrk");
	checkpoint();
	sbrk(-(1 << 19));
	checkpoint();
	deep(10);
	checkpoint();
	deep(30);
	checkpoint();
	p = mmap((void *)0x20000000, 1 << 16, RW, ANON | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
	if (p == MAP_FAILED)
		die("MAP_GROWSDOWN");
	checkpoint();
	*(volatile char *)(p - 8) = 1; /* grows by a fault, and is no stack */
	checkpoint();
	munmap(p - (1 << 16), 1 << 17);
	checkpoint();
}

static void files(void)
{
	char name[128], *p, *q;
	int fd, id;
	void *h;

	fd = open("/proc/self/exe", O_RDONLY);
	p = mmap(NULL, 16384, PROT_READ, MAP_PRIVATE, fd, 4096);
	checkpoint();
	mmap(p + 4096, 4096, RW, ANON | MAP_FIXED, -1, 0);
	checkpoint();
	mmap(p + 8192, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0); /* same file, elsewhere */
	checkpoint();
	munmap(p, 16384);
	close(fd);
	h = dlopen("/srv/names/libplugin.so", RTLD_NOW);
	if (!h)
		die(dlerror());
	checkpoint();
	dlclose(h);
	checkpoint();
	map(1 << 16, RW, MAP_SHARED | MAP_ANONYMOUS);
	checkpoint();
	fd = memfd_create("with space\nand line", 0);
	if (fd < 0 || ftruncate(fd, 1 << 16))
		die("memfd");
	q = mmap(NULL, 1 << 16, RW, MAP_SHARED, fd, 0);
	checkpoint();
	mmap(q, 4096, RW, MAP_SHARED | MAP_FIXED, fd, 8192);
	checkpoint();
	remap_file_pages(q + 8192, 4096, 0, 4, 0);
	checkpoint();
	q = mremap(q + (1 << 15), 0, 1 << 15, MREMAP_MAYMOVE); /* a second mapping of the same */
	checkpoint();
	id = shmget(IPC_PRIVATE, 40960, 0600 | IPC_CREAT);
	p = shmat(id, NULL, 0);
	if (p == (void *)-1)
		die("shmat");
	checkpoint();
	shmdt(p);
	shmctl(id, IPC_RMID, NULL);
	checkpoint();
	snprintf(name, sizeof(name), "%s/a file", mark_out());
	fd = open(name, O_CREAT | O_RDWR, 0644);
	if (fd < 0 || ftruncate(fd, 8192))
		die(name);
	p = mmap(NULL, 8192, RW, MAP_SHARED, fd, 0);
	checkpoint();
	unlink(name);
	madvise(p, 4096, MADV_RANDOM);
	checkpoint();
}

static void ops(void)
{
	checkpoint();
	anonymous();
	heap_and_stack();
	files();
}

/* ---- many threads at once ---- */

static pthread_barrier_t barrier;

static void *thread(void *arg)
{
	unsigned seed = (unsigned long)arg * 7919 + 1;
	char *at[16] = { 0 };
	size_t len[16];
	int i, k;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < loops; i++) {
		size_t n = 4096 * (1 + rand_r(&seed) % 8);

		k = rand_r(&seed) % 16;
		switch (at[k] ? rand_r(&seed) % 4 : 0) {
		case 0:
		case 1:
			if (at[k])
				munmap(at[k], len[k]);
			at[k] = map(n, RW, ANON);
			len[k] = n;
			break;
		case 2:
			mprotect(at[k], 4096, rand_r(&seed) % 2 ? PROT_READ : RW);
			break;
		case 3:
			at[k] = mremap(at[k], len[k], n, MREMAP_MAYMOVE);
			len[k] = n;
			break;
		}
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[256];
	int i;

	if (count > 256)
		count = 256;
	pthread_barrier_init(&barrier, NULL, count);
	checkpoint();
	for (i = 0; i < count; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)(long)i))
			die("pthread_create");
	for (i = 0; i < count; i++)
		pthread_join(t[i], NULL);
	checkpoint();
	checkpoint();
}

/* ---- processes ---- */

static void forks(const char *self)
{
	char *p = map(1 << 20, RW, ANON);
	pid_t c;
	int i;

	madvise(p + 4096, 8192, MADV_DONTFORK);
	checkpoint();
	for (i = 0; i < count; i++) {
		c = fork();
		if (!c) {
			checkpoint();
			map(8192, RW, ANON);
			checkpoint();
			if (i % 3 == 0)
				execl(self, self, "once", NULL);
			if (i % 3 == 1)
				deep(3);
			checkpoint();
			_exit(0);
		}
		waitpid(c, NULL, 0);
	}
	for (i = 0; i < count; i++) {
		c = vfork();
		if (!c) {
			execl(self, self, "once", NULL);
			_exit(1);
		}
		waitpid(c, NULL, 0);
	}
	execl("/does/not/exist", "x", NULL); /* changes nothing */
	checkpoint();
}

/* ---- tens of thousands of areas ---- */

static void many(void)
{
	char *p = map((size_t)count * 4096 * 2, PROT_NONE, ANON);
	int i;

	for (i = 0; i < count / 2; i++)
		if (mprotect(p + (size_t)i * 8192, 4096, RW))
			die("mprotect");
	checkpoint();
	for (i = 0; i < loops; i++)
		munmap(map(4096, RW, ANON), 4096);
	for (i = 0; i < loops; i++)
		mprotect(p + (size_t)(i * 97 % (count / 2)) * 8192, 4096, i % 2 ? PROT_READ : PROT_NONE);
	checkpoint();
	munmap(p + 4096, (size_t)count * 4096);
	checkpoint();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "ops";

	if (argc > 2)
		count = atoi(argv[2]);
	if (argc > 3)
		loops = atoi(argv[3]);
	if (!strcmp(mode, "ops"))
		ops();
	else if (!strcmp(mode, "threads"))
		threads();
	else if (!strcmp(mode, "forks"))
		forks(argv[0]);
	else if (!strcmp(mode, "many"))
		many();
	else if (!strcmp(mode, "once"))
		checkpoint();
	else
		return 2;
	return 0;
}
