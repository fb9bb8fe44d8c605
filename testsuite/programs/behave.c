/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * behave - says what it sees of signals, waits, stops and itself.
 *
 * Whoever watches it must not show: its output is the same each time it runs, so a run that is watched
 * is compared with one that is not.  Exit status 42.
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
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t got[NSIG];
static volatile siginfo_t last; /* as the last handler got it */

static void note(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	got[sig]++;
	last = *si;
}

static void catch(int sig, int flags)
{
	struct sigaction sa = { .sa_sigaction = note, .sa_flags = SA_SIGINFO | flags };

	sigaction(sig, &sa, NULL);
}

/* Every catchable signal, a hundred times, with what comes with it. */
static void signals(void)
{
	int sig, i, n = 0, pid_right = 0;

	for (sig = 1; sig < NSIG; sig++) {
		if (sig == SIGKILL || sig == SIGSTOP || (sig >= 32 && sig < SIGRTMIN))
			continue;
		catch(sig, 0);
		for (i = 0; i < 100; i++) {
			kill(getpid(), sig);
			pid_right += last.si_signo == sig && last.si_code == SI_USER &&
				     last.si_pid == getpid();
		}
		n += got[sig];
		got[sig] = 0;
	}
	printf("signals %d, right %d\n", n, pid_right);
	for (i = 0, n = 0; i < 100; i++) {
		sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = i });
		n += last.si_code == SI_QUEUE && last.si_value.sival_int == i;
	}
	printf("values %d\n", n);
	/* The program's own traps: by kill(2), by int3, and a real fault. */
	got[SIGTRAP] = 0;
	raise(SIGTRAP);
	__asm__ volatile("int3");
	printf("SIGTRAP %d, code %d\n", (int)got[SIGTRAP], last.si_code);
	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
}

static sigset_t blocked(void)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	return set;
}

static void fault(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	last = *si;
	got[sig]++;
	mprotect((void *)((uintptr_t)si->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}

/* A handler that makes the page it faulted on writable, and goes on. */
static void faults(void)
{
	struct sigaction sa = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
	volatile char *p = mmap(NULL, 8 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, right = 0;

	got[SIGSEGV] = 0;
	sigaction(SIGSEGV, &sa, NULL);
	for (i = 0; i < 8; i++) {
		p[i * 4096 + 7] = 1;
		right += last.si_addr == (void *)(p + i * 4096 + 7) && last.si_code == SEGV_ACCERR;
	}
	printf("faults %d, right %d\n", (int)got[SIGSEGV], right);
	munmap((void *)p, 8 * 4096);
}

/* Does the main thread sleep in a call? */
static int sleeps(void)
{
	char path[64], text[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strrchr(text, ')') && strrchr(text, ')')[2] == 'S';
}

/* One signal after the other, each when the one before has been seen and the main thread waits again. */
static void *poke(void *arg)
{
	pthread_t main_thread = *(pthread_t *)arg;
	int i, before = got[SIGUSR1];

	for (i = 0; i < 5; i++) {
		do
			usleep(1000);
		while (got[SIGUSR1] != before + i || !sleeps());
		pthread_kill(main_thread, SIGUSR1);
	}
	return NULL;
}

/* System calls that signals interrupt: those that go on, and those that say EINTR. */
static void interrupted(void)
{
	pthread_t me = pthread_self(), t;
	struct timespec left, ask = { 0, 30000000 };
	int p[2], n, ep;
	char c;

	if (pipe(p))
		exit(1);
	catch(SIGUSR1, SA_RESTART);
	got[SIGUSR1] = 0;
	pthread_create(&t, NULL, poke, &me);
	alarm(0);
	if (!fork()) {
		usleep(150000);
		_exit(write(p[1], "x", 1) != 1);
	}
	n = (int)read(p[0], &c, 1);
	pthread_join(t, NULL);
	printf("read goes on: %d, signals %d\n", n, (int)got[SIGUSR1]);
	wait(NULL);
	catch(SIGUSR1, 0);
	pthread_create(&t, NULL, poke, &me);
	n = (int)read(p[0], &c, 1);
	printf("read is interrupted: %d %s\n", n, strerror(errno));
	n = nanosleep(&(struct timespec){ 5, 0 }, &left);
	/* a timer's slack makes it more than 5 where the signal came at once */
	printf("nanosleep is interrupted: %d, some is left: %d\n", n, left.tv_sec > 0);
	ep = epoll_create1(0);
	n = epoll_wait(ep, &(struct epoll_event){ 0 }, 1, 5000);
	printf("epoll_wait is interrupted: %d %s\n", n, strerror(errno));
	pthread_join(t, NULL);
	n = nanosleep(&ask, &left);
	printf("nanosleep is not: %d\n", n);
	n = epoll_wait(ep, &(struct epoll_event){ 0 }, 1, 30);
	printf("epoll_wait is not: %d\n", n);
	close(ep);
	close(p[0]);
	close(p[1]);
}

/* A child is stopped and continued; its parent hears of each. */
static void stops(int sig)
{
	int status;
	pid_t pid;

	signal(sig, SIG_DFL);
	signal(SIGCONT, SIG_DFL);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		raise(sig);
		_exit(7);
	}
	waitpid(pid, &status, WUNTRACED);
	printf("stopped %d by %d", WIFSTOPPED(status), WSTOPSIG(status));
	printf(", then %d", (int)waitpid(pid, &status, WUNTRACED | WNOHANG));
	kill(pid, SIGCONT);
	waitpid(pid, &status, WCONTINUED);
	printf(", continued %d", WIFCONTINUED(status) != 0);
	waitpid(pid, &status, 0);
	printf(", status %d\n", WEXITSTATUS(status));
}

/* A stopped child is killed. */
static void killed(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		raise(SIGSTOP);
		_exit(7);
	}
	waitpid(pid, &status, WUNTRACED);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	printf("killed %d by %d\n", WIFSIGNALED(status), WTERMSIG(status));
	pid = fork();
	if (!pid)
		abort();
	waitpid(pid, &status, 0);
	printf("aborted %d by %d\n", WIFSIGNALED(status), WTERMSIG(status));
}

/* Threads stop and go on with their process. */
static volatile int threads_run;
static void *count(void *arg)
{
	while (threads_run)
		++*(volatile unsigned long *)arg;
	return NULL;
}

static void thread_stop(void)
{
	int status, p[2];
	unsigned char b;
	pid_t pid;

	if (pipe(p))
		exit(1);
	pid = fork();
	if (!pid) {
		volatile unsigned long a = 0;
		unsigned long before;
		pthread_t t;

		threads_run = 1;
		pthread_create(&t, NULL, count, (void *)&a);
		while (!a)
			;
		raise(SIGSTOP);
		before = a;
		while (a == before)
			; /* the other thread goes on as well */
		threads_run = 0;
		pthread_join(t, NULL);
		_exit(write(p[1], "y", 1) != 1);
	}
	waitpid(pid, &status, WUNTRACED);
	printf("threads stopped %d", WIFSTOPPED(status));
	kill(pid, SIGCONT);
	printf(", went on %d", (int)read(p[0], &b, 1));
	waitpid(pid, &status, 0);
	printf(", status %d\n", WEXITSTATUS(status));
	close(p[0]);
	close(p[1]);
}

/* What the process can see of its own state. */
static void itself(void)
{
	cpu_set_t set;
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");
	sigset_t mask = blocked();
	unsigned long long ignored;
	int i, n = 0;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	printf("cpus %d, no_new_privs %s", CPU_COUNT(&set),
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? "no" : "yes");
	for (i = 1; i < NSIG; i++)
		n += sigismember(&mask, i) == 1;
	printf(", blocked %d, session %s\n", n, getsid(0) == getsid(getppid()) ? "same" : "other");
	while (f && fgets(line, sizeof(line), f)) {
		/* 32 and 33 are the C library's own: what make starts by posix_spawn() ignores them. */
		if (sscanf(line, "SigIgn: %llx", &ignored) == 1)
			printf("SigIgn:\t%016llx\n", ignored & ~0x180000000ull);
		else if (!strncmp(line, "SigBlk", 6) || !strncmp(line, "Cpus_allowed:", 13))
			fputs(line, stdout);
	}
	if (f)
		fclose(f);
}

/* A sandbox of its own: a call that its filter sends to a tracer is not run. */
static void filtered(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		/* prctl(PR_SET_SECCOMP, filter): getuid -> TRACE, getgid -> ERRNO 77 */
		struct { unsigned short code; unsigned char jt, jf; unsigned k; } code[] = {
			{ 0x20, 0, 0, 0 },
			{ 0x15, 0, 1, SYS_getuid },
			{ 0x06, 0, 0, 0x7ff00000u },
			{ 0x15, 0, 1, SYS_getgid },
			{ 0x06, 0, 0, 0x00050000u | 77 },
			{ 0x06, 0, 0, 0x7fff0000u },
		};
		struct { unsigned short len; void *filter; } prog = { 6, code };
		long a, b;

		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (prctl(PR_SET_SECCOMP, 2, &prog))
			_exit(99);
		errno = 0;
		a = syscall(SYS_getuid);
		status = errno == ENOSYS && a == -1;
		b = syscall(SYS_getgid);
		_exit(status + 2 * (b == -1 && errno == 77));
	}
	waitpid(pid, &status, 0);
	printf("own filter %d\n", WEXITSTATUS(status));
}

/* Descriptors that were handed on, and nothing else. */
static void files(void)
{
	int fd, n = 0;

	for (fd = 3; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	printf("other descriptors %d\n", n);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	itself();
	files();
	fflush(stdout);
	signals();
	faults();
	fflush(stdout);
	interrupted();
	fflush(stdout);
	stops(SIGSTOP);
	fflush(stdout);
	stops(SIGTTIN);
	fflush(stdout);
	killed();
	fflush(stdout);
	thread_stop();
	fflush(stdout);
	filtered();
	fflush(stdout);
	return 42;
}
