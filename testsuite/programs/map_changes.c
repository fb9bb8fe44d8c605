// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_changes - changes its memory map in every way there is, and writes down what
 * /proc/self/maps shows after each.
 *
 *	map_changes LOG DIR [wait]
 *
 * Each checkpoint first maps one page at MARK + N * STEP, so that whoever follows
 * the map knows where in the stream it is; then it appends to LOG
 *
 *	checkpoint N PID TEXT
 *	(the lines of /proc/self/maps)
 *	end
 *
 * by system calls alone: nothing of libc's may map memory between the mark and the read.
 * DIR is a folder for files to map.  With "wait" it begins when there is a line on stdin.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define MARK 0x6f0000000000ul
#define STEP 0x10000ul
#define HERE 0x6e0000000000ul /* where nothing else is */

static int log_fd;
static const char *dir;
static volatile int number; /* of the next checkpoint; volatile because gcc takes clone(2) for a leaf */

static void die(const char *what)
{
	perror(what);
	_exit(99);
}

static char *must(void *p, const char *what)
{
	if (p == MAP_FAILED)
		die(what);
	return p;
}
#define MUST(call) must(call, #call)
#define ZERO(call)                       \
	do {                             \
		if (call)                \
			die(#call);      \
	} while (0)

static char *anon(void *at, unsigned long pages, int prot, int flags)
{
	return must(mmap(at, pages * PAGE, prot, MAP_ANONYMOUS | flags, -1, 0), "mmap");
}

/* Threads of other processes write to the same log: one write(2) each. */
static void checkpoint(const char *text)
{
	static char buf[1 << 20];
	size_t n;
	ssize_t got;
	int fd;

	anon((void *)(MARK + (unsigned long)number * STEP), 1, PROT_NONE,
	     MAP_PRIVATE | MAP_FIXED_NOREPLACE);
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	n = (size_t)snprintf(buf, 256, "checkpoint %d %d %s\n", number, (int)getpid(), text);
	while ((got = read(fd, buf + n, sizeof(buf) - n - 16)) > 0)
		n += (size_t)got;
	close(fd);
	memcpy(buf + n, "end\n", 4);
	if (write(log_fd, buf, n + 4) != (ssize_t)(n + 4))
		die("log");
	number++;
}

static int file_of(const char *name, unsigned long pages)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)(pages * PAGE)))
		die(path);
	return fd;
}

static void anonymous(void)
{
	char *a = anon((void *)HERE, 8, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	int flags[2];

	checkpoint("mmap");
	ZERO(mprotect(a + 2 * PAGE, 2 * PAGE, PROT_READ));
	checkpoint("mprotect splits");
	ZERO(mprotect(a + 2 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE));
	checkpoint("mprotect merges");
	ZERO(munmap(a + 3 * PAGE, PAGE));
	checkpoint("a hole");
	anon(a + 3 * PAGE, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED);
	checkpoint("the hole is filled and all is one");
	ZERO(mprotect(a + PAGE, PAGE, PROT_NONE));
	ZERO(mprotect(a + 4 * PAGE, PAGE, PROT_READ | PROT_EXEC));
	anon(a + PAGE, 5, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED);
	checkpoint("MAP_FIXED over five areas");
	/* Fails half-way: the first page is protected, the hole after it is none. */
	ZERO(munmap(a + 7 * PAGE, PAGE));
	if (!mprotect(a + 6 * PAGE, 3 * PAGE, PROT_READ) || errno != ENOMEM)
		die("mprotect over a hole");
	checkpoint("a call that fails half-way");
	if (mmap(a, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) != MAP_FAILED)
		die("MAP_FIXED_NOREPLACE");
	checkpoint("a call that fails");
	flags[0] = pkey_mprotect(a, PAGE, PROT_READ, -1);
	flags[1] = madvise(a, PAGE, MADV_DONTNEED);
	(void)flags;
	checkpoint("pkey_mprotect");
	ZERO(munmap((void *)HERE, 16 * PAGE));
	checkpoint("munmap of areas and holes");
}

static void moving(void)
{
	char *a = anon((void *)HERE, 4, PROT_READ | PROT_WRITE, MAP_PRIVATE), *b;
	int fd = file_of("moved", 16);

	a = MUST(mremap(a, 4 * PAGE, 6 * PAGE, 0));
	checkpoint("mremap grows in place");
	a = MUST(mremap(a, 6 * PAGE, 2 * PAGE, 0));
	checkpoint("mremap shrinks");
	a = MUST(mremap(a, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			(void *)(HERE + 64 * PAGE)));
	checkpoint("mremap moves and grows");
	b = MUST(mmap((void *)(HERE + 128 * PAGE), 6 * PAGE, PROT_READ, MAP_PRIVATE, fd,
		      (off_t)(2 * PAGE)));
	b = MUST(mremap(b + 2 * PAGE, 2 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, a));
	checkpoint("the middle of a file moves over something else");
#ifdef MREMAP_DONTUNMAP
	anon((void *)(HERE + 256 * PAGE), 2, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	if (mremap((void *)(HERE + 256 * PAGE), 2 * PAGE, 2 * PAGE,
		   MREMAP_MAYMOVE | MREMAP_DONTUNMAP, (void *)(HERE + 300 * PAGE)) != MAP_FAILED)
		checkpoint("mremap leaves the old place mapped");
#endif
	ZERO(munmap((void *)HERE, 1024 * PAGE));
	checkpoint("all moved ones gone");
	close(fd);
}

static void files(void)
{
	int fd = file_of("a file", 8), gone = file_of("gone", 4);
	char *a = MUST(mmap((void *)HERE, 4 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0));
	char path[4096];

	checkpoint("a file whose name has a blank");
	MUST(mmap(a + 4 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)(4 * PAGE)));
	MUST(mmap(a + 5 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0));
	checkpoint("a page that goes on, and one that does not");
	MUST(mmap(a + 8 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, gone,
		  (off_t)PAGE));
	checkpoint("shared");
	snprintf(path, sizeof(path), "%s/gone", dir);
	unlink(path);
	ZERO(munmap(a + 9 * PAGE, PAGE));
	checkpoint("a part of a file that has no name any more");
	ZERO(munmap(a, 16 * PAGE));
	close(fd);
	close(gone);
}

static void shared(void)
{
	int id = shmget(IPC_PRIVATE, 3 * PAGE, 0600 | IPC_CREAT), fd;
	char *a;

	if (id < 0)
		die("shmget");
	a = MUST(shmat(id, NULL, 0));
	checkpoint("shmat");
	ZERO(munmap(a + PAGE, PAGE));
	checkpoint("a hole in it");
	ZERO(shmdt(a));
	checkpoint("shmdt");
	a = MUST(shmat(id, (void *)HERE, SHM_RDONLY));
	shmctl(id, IPC_RMID, NULL);
	checkpoint("shmat at an address");
	ZERO(shmdt(a));
	fd = memfd_create("my name", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 8 * PAGE))
		die("memfd");
	MUST(mmap((void *)HERE, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	MUST(mmap((void *)(HERE + 8 * PAGE), 4 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0));
	checkpoint("memfd, shared and private");
	/* The kernel maps it anew; page order is what changes. */
	ZERO(syscall(SYS_remap_file_pages, HERE, PAGE, 0, 2, 0));
	checkpoint("remap_file_pages");
	ZERO(munmap((void *)HERE, 16 * PAGE));
	close(fd);
	anon((void *)HERE, 2, PROT_READ, MAP_SHARED);
	checkpoint("shared anonymous");
	ZERO(munmap((void *)HERE, 2 * PAGE));
}

static void brk_to(char *to)
{
	if ((char *)syscall(SYS_brk, to) != to)
		die("brk");
}

static void heap(void)
{
	char *begin = (char *)syscall(SYS_brk, 0);

	begin = (char *)(((uintptr_t)begin + PAGE - 1) & ~(PAGE - 1));
	brk_to(begin + 0x3003);
	checkpoint("brk grows, not by whole pages");
	brk_to(begin + 0x3fff);
	checkpoint("within a page");
	brk_to(begin + 0x1000);
	checkpoint("brk shrinks");
	brk_to(begin + 0x5000);
	ZERO(mprotect(begin + 0x2000, PAGE, PROT_READ));
	checkpoint("the heap is split");
	ZERO(munmap(begin + 0x3000, PAGE));
	checkpoint("and has a hole");
	brk_to(begin);
	checkpoint("brk back");
}

static __attribute__((noinline)) int deep(int n)
{
	volatile char frame[4096];

	frame[0] = (char)n;
	return n ? deep(n - 1) + frame[0] : 0;
}

static void *in_thread(void *arg)
{
	char *a = anon((void *)(HERE + 32 * PAGE), 3, PROT_READ, MAP_PRIVATE);

	checkpoint("in a thread");
	ZERO(munmap(a, PAGE));
	return arg;
}

static void threads(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 3; i++) {
		if (pthread_create(&t, NULL, in_thread, NULL) || pthread_join(t, NULL))
			die("thread");
		ZERO(munmap((void *)(HERE + 32 * PAGE), 3 * PAGE));
		checkpoint("after a thread");
	}
}

static volatile int storming;

static void *storm(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	while (storming) {
		unsigned long n = 1 + (unsigned long)rand_r(&seed) % 16;
		char *a = anon(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE);

		ZERO(mprotect(a, (n + 1) / 2 * PAGE, PROT_READ));
		if (rand_r(&seed) % 8)
			ZERO(munmap(a, n * PAGE));
	}
	return NULL;
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, __WALL) != pid || status)
		die("child");
}

static int in_child(void *arg)
{
	anon((void *)(HERE + 40 * PAGE), 2, PROT_READ, MAP_PRIVATE);
	checkpoint(arg);
	return 0;
}

static void children(void)
{
	static char stack[64 * 1024];
	char *a = anon((void *)HERE, 6, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	int mine;
	pid_t pid;

	ZERO(madvise(a + 2 * PAGE, 2 * PAGE, MADV_DONTFORK));
	pid = fork();
	if (!pid) {
		number = 100;
		checkpoint("a copy, but for what is not to be copied");
		ZERO(munmap(a, PAGE));
		checkpoint("the copy changes");
		_exit(0);
	}
	wait_for(pid);
	checkpoint("the parent has not");
	/* What a child does that shares the memory is done to the parent. */
	pid = clone(in_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, "clone(CLONE_VM)");
	wait_for(pid);
	ZERO(munmap((void *)(HERE + 40 * PAGE), PAGE));
	checkpoint("after clone(CLONE_VM)");
	pid = vfork();
	if (!pid) {
		syscall(SYS_mmap, HERE + 64 * PAGE, PAGE, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait_for(pid);
	checkpoint("a vfork child has mapped, then executed");
	/* Not followed, if the kernel is let do as it is told. */
	mine = number;
	number = 110;
	pid = clone(in_child, stack + sizeof(stack), CLONE_UNTRACED | SIGCHLD,
		    "clone(CLONE_UNTRACED)");
	number = mine;
	wait_for(pid);
	ZERO(munmap((void *)HERE, 128 * PAGE));
}

/* Copies are made while other threads change what is copied. */
static void storms(void)
{
	pthread_t t[3];
	uintptr_t i;
	int mine = number;

	storming = 1;
	for (i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, storm, (void *)i))
			die("thread");
	for (i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (!pid) {
			number = 300 + (int)i;
			checkpoint("copied in a storm");
			_exit(0);
		}
		wait_for(pid);
	}
	storming = 0;
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	number = mine;
	checkpoint("after a storm");
}

/* The same calls under the numbers of 32-bit programs. */
static long call_i386(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

static void i386(void)
{
	enum { MUNMAP = 91, MPROTECT = 125, MMAP2 = 192, AT = 0x40000000 };

	if (call_i386(MMAP2, AT, 4 * PAGE, PROT_READ,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1) != AT)
		return; /* a kernel without 32-bit calls */
	checkpoint("mmap2 by int 0x80");
	call_i386(MPROTECT, AT + PAGE, PAGE, PROT_NONE, 0, 0);
	checkpoint("mprotect by int 0x80");
	call_i386(MUNMAP, AT, 2 * PAGE, 0, 0, 0);
	checkpoint("munmap by int 0x80");
	ZERO(munmap((void *)AT, 4 * PAGE));
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc == 3 && !strcmp(argv[1], "--executed")) {
		/* A new address space: its own hundred. */
		number = 200;
		log_fd = atoi(argv[2]);
		checkpoint("executed");
		return 0;
	}
	if (argc < 3)
		return 2;
	if (argc > 3 && read(0, line, sizeof(line)) < 0)
		die("stdin");
	log_fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (log_fd < 0)
		die(argv[1]);
	dir = argv[2];
	checkpoint("begin");
	anonymous();
	moving();
	files();
	shared();
	heap();
	deep(200);
	checkpoint("a deep stack");
	i386();
	threads();
	children();
	storms();
	checkpoint("end");
	execv("/nonexistent", argv);
	checkpoint("a failed execve");
	{
		char fd[16];

		snprintf(fd, sizeof(fd), "%d", log_fd);
		execl("/proc/self/exe", "map_changes", "--executed", fd, (char *)NULL);
	}
	die("execl");
}
