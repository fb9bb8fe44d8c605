/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tree WHAT [N] - makes processes and threads in the ways that are hard to follow.
 *
 *	forks N     N children, each ends at once		status 3
 *	vforks N    N children by vfork, which execute true	status 4
 *	threads N   N threads, 50 at a time			status 5
 *	exec	    a thread executes "tree status 6"		status 6
 *	leader	    the first thread ends, another exits 7	status 7
 *	daemon FIFO a grandchild in a session of its own reads FIFO to its end
 *	kill SIG    kills itself
 *	status N    exits N
 *	zombie	    prints the pid of a child that it never waits for, and sleeps
 *	spin	    runs until it is killed, in two threads
 *	mmap N	    maps and unmaps a page N times		status 0
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int forks(int n)
{
	int status, bad = 0;

	while (n--) {
		pid_t pid = fork();

		if (!pid)
			_exit(9);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 9)
			bad++;
	}
	return bad ? 1 : 3;
}

static int vforks(int n)
{
	static int status, bad; /* static: vfork(2) returns twice */

	while (n--) {
		pid_t pid = vfork();

		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			bad++;
	}
	return bad ? 1 : 4;
}

static void *nothing(void *arg)
{
	return arg;
}

static int threads(int n)
{
	pthread_t t[50];
	int i, bad = 0;

	for (; n > 0; n -= 50) {
		int m = n < 50 ? n : 50;

		for (i = 0; i < m; i++)
			bad += pthread_create(&t[i], NULL, nothing, NULL) != 0;
		for (i = 0; i < m && !bad; i++)
			bad += pthread_join(t[i], NULL) != 0;
	}
	return bad ? 1 : 5;
}

static void *execute(void *arg)
{
	execl("/proc/self/exe", "tree", "status", "6", (char *)NULL);
	return arg;
}

static void *spin(void *arg)
{
	for (;;)
		++*(volatile long *)arg;
	return NULL;
}

static void *outlive(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	exit(7);
}

static int with_thread(void *(*fn)(void *), int others)
{
	static pthread_t me, t;
	static long n;

	me = pthread_self();
	while (others--)
		pthread_create(&t, NULL, spin, &n);
	if (pthread_create(&t, NULL, fn, &me))
		return 1;
	if (fn == outlive)
		pthread_exit(NULL);
	pthread_join(t, NULL);
	return 1;
}

static int leave_daemon(const char *fifo)
{
	char buf[64];
	int fd;

	if (fork())
		return 0;
	setsid();
	if (fork())
		_exit(0);
	fd = open(fifo, O_RDONLY);
	while (read(fd, buf, sizeof(buf)) > 0)
		free(malloc(1 << 20)); /* mmap and munmap: gated calls */
	_exit(0);
}

static int zombie(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	printf("%d\n", (int)pid);
	fflush(stdout);
	for (;;)
		pause();
}

static int maps(int n)
{
	while (n--) {
		void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

		if (p == MAP_FAILED || munmap(p, 4096))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : "0";

	if (!strcmp(what, "forks"))
		return forks(atoi(arg));
	if (!strcmp(what, "vforks"))
		return vforks(atoi(arg));
	if (!strcmp(what, "threads"))
		return threads(atoi(arg));
	if (!strcmp(what, "exec"))
		return with_thread(execute, 3);
	if (!strcmp(what, "leader"))
		return with_thread(outlive, 0);
	if (!strcmp(what, "spin"))
		return with_thread(spin, 1);
	if (!strcmp(what, "zombie"))
		return zombie();
	if (!strcmp(what, "daemon"))
		return leave_daemon(arg);
	if (!strcmp(what, "mmap"))
		return maps(atoi(arg));
	if (!strcmp(what, "status"))
		return atoi(arg);
	if (!strcmp(what, "kill")) {
		signal(atoi(arg), SIG_DFL);
		kill(getpid(), atoi(arg));
		pause();
	}
	return 2;
}
