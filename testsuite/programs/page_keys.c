// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_keys.c - processes with memory that they share or do not, and the proof by writing.
 *
 * Says "case NAME PID ADDR PID ADDR" for each, then "ready".  After a line on stdin it says "seen NAME 0|1"
 * for each: whether a write by the first process is seen by the second; then "done".  It ends with stdin.
 *
 * Names that begin with "file_" are pages of private mappings: there the write is one to the file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 4, CASES = 64 };

static char data[3 * PAGE] __attribute__((aligned(PAGE))) = { 1 };

static struct one {
	const char *name;
	volatile char *at[2];
	pid_t pid;	/* of the second */
	int fd;		/* that is written, at @offset; -1: the first process writes */
	off_t offset;
} cases[CASES];
static int n_cases;
static pid_t child;

static struct one *a_case(const char *name, volatile char *first, volatile char *second)
{
	struct one *c = &cases[n_cases++];

	*c = (struct one){ .name = name, .at = { first, second }, .pid = child, .fd = -1 };
	return c;
}

static void file_case(const char *name, volatile char *first, volatile char *second, int fd, off_t offset)
{
	struct one *c = a_case(name, first, second);

	c->fd = fd;
	c->offset = offset;
}

static char *map(size_t size, int flags, int fd, off_t offset)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, offset);

	if (p == MAP_FAILED)
		exit(2);
	return p;
}

static int file(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/keys", dir ? dir : "/tmp");
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, 8 * PAGE))
		exit(2);
	return fd;
}

static char other_sees(const struct one *c)
{
	char byte = 0;
	struct iovec here = { &byte, 1 }, there = { (void *)c->at[1], 1 };

	if (process_vm_readv(c->pid, &here, 1, &there, 1, 0) != 1)
		exit(2);
	return byte;
}

static int seen(const struct one *c)
{
	char byte = (char)(other_sees(c) ^ 0x5a);

	if (c->fd < 0)
		*c->at[0] = byte;
	else if (pwrite(c->fd, &byte, 1, c->offset) != 1)
		exit(2);
	return *c->at[0] == byte && other_sees(c) == byte;
}

static int sleep_on(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

/* Made before the fork, so at the same address in both. */
static char *anon, *zero_page, *shm, *other_shm, *dev_zero, *shared_zero, *whole, *again, *private, *copied;
static char *memfd, *private_memfd, *sysv[2], *other_sysv, *huge;

int main(void)
{
	static char stack[4 * PAGE];
	int fd = file(), mem = memfd_create("keys", 0), dev = open("/dev/zero", O_RDWR), id, other, ready[2], pages;
	pid_t same;
	char text[64];

	anon = map(PAGES * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	anon[0] = anon[PAGE] = anon[2 * PAGE] = 1;
	zero_page = map(PAGES * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	data[PAGE] = data[2 * PAGE] = zero_page[0] + 2;
	shm = map(PAGES * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	other_shm = map(PAGES * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	dev_zero = map(PAGES * PAGE, MAP_PRIVATE, dev, 0);
	dev_zero[0] = 1;
	shared_zero = map(PAGES * PAGE, MAP_SHARED, dev, 0);
	whole = map(8 * PAGE, MAP_SHARED, fd, 0);
	again = map(PAGES * PAGE, MAP_SHARED, fd, PAGE);
	private = map(8 * PAGE, MAP_PRIVATE, fd, 0);
	copied = map(8 * PAGE, MAP_PRIVATE, fd, 0);
	if (ftruncate(mem, PAGES * PAGE))
		return 2;
	memfd = map(PAGES * PAGE, MAP_SHARED, mem, 0);
	private_memfd = map(PAGES * PAGE, MAP_PRIVATE, mem, 0);
	id = shmget(IPC_PRIVATE, PAGES * PAGE, IPC_CREAT | 0600);
	other = shmget(IPC_PRIVATE, PAGES * PAGE, IPC_CREAT | 0600);
	if (id >= 0 && other >= 0) {
		sysv[0] = shmat(id, NULL, 0);
		sysv[1] = shmat(id, NULL, 0);
		other_sysv = shmat(other, NULL, 0);
		shmctl(id, IPC_RMID, NULL);
		shmctl(other, IPC_RMID, NULL);
	}
	huge = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	for (pages = 0; pages < 8; pages++)
		*(volatile char *)(private + pages * PAGE);
	if (pipe(ready))
		return 2;
	child = fork();
	if (!child) {
		anon[PAGE] = 3;
		data[2 * PAGE] = 7;
		copied[5 * PAGE] = 7;
		if (write(ready[1], "", 1) != 1)
			_exit(2);
		sleep_on(NULL);
	}
	if (read(ready[0], text, 1) != 1)
		return 2;
	same = clone(sleep_on, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	a_case("anon_not_copied", anon + 1, anon + 1);
	a_case("anon_copied", anon + PAGE + 1, anon + PAGE + 1);
	a_case("zero_page", zero_page + 1, zero_page + 1);
	a_case("data_not_copied", data + PAGE + 9, data + PAGE + 9);
	a_case("data_copied", data + 2 * PAGE + 9, data + 2 * PAGE + 9);
	a_case("shared_anon", shm + 9, shm + 9);
	a_case("two_shared_anon", shm + 9, other_shm + 9);
	a_case("private_dev_zero", dev_zero + 9, dev_zero + 9);
	a_case("shared_dev_zero", shared_zero + 9, shared_zero + 9);
	a_case("two_shared_zero", shared_zero + 9, shm + 9);
	a_case("shared_file", whole + 2 * PAGE, whole + 2 * PAGE);
	a_case("same_offset", whole + 2 * PAGE + 3, again + PAGE + 3);
	a_case("other_offset", whole + 2 * PAGE + 3, again + 2 * PAGE + 3);
	a_case("other_byte", whole + 2 * PAGE + 3, whole + 2 * PAGE + 4);
	a_case("shared_and_clean", whole + 3 * PAGE + 3, private + 3 * PAGE + 3);
	a_case("shared_and_copied", whole + 5 * PAGE + 3, copied + 5 * PAGE + 3);
	a_case("memfd", memfd + 1, memfd + 1);
	a_case("memfd_and_file", memfd + 1, whole + 1);
	a_case("memfd_and_clean", memfd + 2 * PAGE, private_memfd + 2 * PAGE);
	if (sysv[0] && sysv[0] != (void *)-1) {
		a_case("sysv", sysv[0] + 8, sysv[1] + 8);
		a_case("sysv_other_page", sysv[0] + 8, sysv[1] + PAGE + 8);
		a_case("two_sysv", sysv[0] + 8, other_sysv + 8);
		a_case("sysv_and_memfd", sysv[0] + 8, memfd + 8);
	}
	if (huge != MAP_FAILED)
		a_case("hugetlb", huge + 8, huge + 8);
	file_case("file_clean", private + 6 * PAGE + 2, private + 6 * PAGE + 2, fd, 6 * PAGE + 2);
	file_case("file_copied", copied + 5 * PAGE + 2, copied + 5 * PAGE + 2, fd, 5 * PAGE + 2);
	file_case("file_memfd", private_memfd + 5, private_memfd + 5, mem, 5);
	a_case("same_space", anon + 2 * PAGE + 3, anon + 2 * PAGE + 3)->pid = same;

	for (int i = 0; i < n_cases; i++)
		printf("case %s %d 0x%" PRIxPTR " %d 0x%" PRIxPTR "\n", cases[i].name, (int)getpid(),
		       (uintptr_t)cases[i].at[0], (int)cases[i].pid, (uintptr_t)cases[i].at[1]);
	puts("ready");
	fflush(stdout);
	if (read(0, text, sizeof(text)) > 0) {
		for (int i = 0; i < n_cases; i++)
			printf("seen %s %d\n", cases[i].name, seen(&cases[i]));
		puts("done");
		fflush(stdout);
		while (read(0, text, sizeof(text)) > 0)
			;
	}
	kill(child, SIGKILL);
	kill(same, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
	return 0;
}
