/* hotvar-cflags: -O1 -g -fno-optimize-sibling-calls -fcf-protection=none */
/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watched - takes a range of its memory away in one of many ways, when there is a line on stdin.
 *
 *	watched HOW
 *
 * Prints "0xSTART-0xEND PID"; reads a line; then the first thread, or with "thread" another one, calls
 * outer(), which calls middle(), which calls take_away(), which does it.  "again TID" is printed
 * afterwards, by who did it, and another line is waited for.  A range at a fixed address is 4 pages at 0x6d0000000000.
 *
 *	munmap mremap dontunmap fixed thread	at the fixed address
 *	brk shmdt					where the kernel puts it
 *	exec exit					at the fixed address
 *	protect child					at the fixed address, and not taken away
 *	variable					those pages that hold the variable `victim'
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define AT ((char *)0x6d0000000000)

struct pair {
	int first[1024];
	struct {
		int left[2048], right[2048];
	} rest;
};

__attribute__((aligned(4096))) struct pair victim = { .first = { 1 } };
__attribute__((aligned(4096))) static char spare[PAGE];

static const char *how;
static char *start, *end;

static int is(const char *what)
{
	return !strcmp(how, what);
}

static void die(const char *what)
{
	perror(what);
	_exit(99);
}

static void wait_for_line(void)
{
	char line[64];

	if (read(0, line, sizeof(line)) < 0)
		die("stdin");
}

static void begin(void)
{
	start = AT;
	end = AT + 4 * PAGE;
	if (is("brk")) {
		start = sbrk(0);
		start = (char *)(((uintptr_t)start + PAGE - 1) & ~(PAGE - 1));
		end = start + 4 * PAGE;
		if (brk(end))
			die("brk");
	} else if (is("shmdt")) {
		int id = shmget(IPC_PRIVATE, 4 * PAGE, 0600 | IPC_CREAT);

		start = shmat(id, NULL, 0);
		end = start + 4 * PAGE;
		shmctl(id, IPC_RMID, NULL);
		if (start == (void *)-1)
			die("shmat");
	} else if (is("variable")) {
		start = (char *)&victim;
		end = start + sizeof(victim);
	} else if (mmap(AT, 4 * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != AT) {
		die("mmap");
	}
	spare[0] = 1;
}

__attribute__((noinline)) static int take_away(void)
{
	int bad = 0, status;
	pid_t pid;

	if (is("munmap") || is("thread"))
		bad = munmap(start + PAGE, PAGE);
	else if (is("mremap"))
		bad = mremap(start + 2 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			     start + 64 * PAGE) == MAP_FAILED;
	else if (is("dontunmap"))
		bad = mremap(start, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | 4, NULL) == MAP_FAILED;
	else if (is("fixed"))
		bad = mmap(start - 2 * PAGE, 3 * PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
			   -1, 0) == MAP_FAILED;
	else if (is("brk"))
		bad = brk(end - PAGE);
	else if (is("shmdt"))
		bad = shmdt(start);
	else if (is("exec"))
		bad = execl("/bin/true", "true", (char *)NULL);
	else if (is("exit"))
		_exit(7);
	else if (is("protect"))
		bad = mprotect(start, PAGE, PROT_READ) || madvise(start, 4 * PAGE, MADV_DONTNEED) ||
		      mmap(end, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
		      munmap(end, PAGE);
	else if (is("variable"))
		bad = munmap(start + PAGE, PAGE);
	else if (is("child")) {
		bad = madvise(start, PAGE, MADV_DONTFORK);
		pid = fork();
		if (!pid) {
			munmap(start + PAGE, PAGE);
			execl("/bin/true", "true", (char *)NULL);
		}
		bad |= waitpid(pid, &status, 0) != pid || status;
	}
	if (bad)
		die(how);
	return 0;
}

__attribute__((noinline)) static int middle(void)
{
	return take_away() + 1;
}

__attribute__((noinline)) static int outer(void)
{
	return middle() + 1;
}

static void *act(void *arg)
{
	if (outer() != 2)
		die("outer");
	printf("again %ld\n", syscall(SYS_gettid));
	fflush(stdout);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	static char buf[4096]; /* so that the heap is nobody's */

	setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	how = argc > 1 ? argv[1] : "munmap";
	begin();
	printf("%p-%p %d\n", (void *)start, (void *)end, (int)getpid());
	fflush(stdout);
	wait_for_line();
	if (!is("thread"))
		act(NULL);
	else if (pthread_create(&t, NULL, act, NULL) || pthread_join(t, NULL))
		die("thread");
	wait_for_line();
	return 3;
}
