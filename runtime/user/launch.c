// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * launch.c - fork a child that waits, then executes CMD as if hotvar were not there.
 *
 *	hotvar                          child
 *	fork ------------------------>  dispositions and mask as hotvar found them
 *	                                gate (if asked for)
 *	     <------------- why: int    0 or the gate's errno (gated only)
 *	open events / seize             read(go)
 *	launch_go: a byte ----------->  execve
 *	     <------------- why: int    errno, or EOF when execve closed it
 *
 * All descriptors are close-on-exec.  If hotvar dies first, the child reads EOF and ends.
 */
#include "config.h"

#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate.h"
#include "launch_find.h"

/* How hotvar itself was started: signals ignored (nohup) and blocked. */
static sigset_t found_ignored, found_mask;

/* Before main(), so whatever handlers anyone installs later do not count. */
__attribute__((constructor)) static void remember_signals(void)
{
	int sig;

	sigemptyset(&found_ignored);
	for (sig = 1; sig < NSIG; sig++) {
		struct sigaction sa;

		if (!sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_IGN)
			sigaddset(&found_ignored, sig);
	}
	sigprocmask(SIG_SETMASK, NULL, &found_mask);
}

/* In the child all signals are blocked: none may meet a handler of hotvar's. */
void launch_restore_signals(void)
{
	int sig;

	for (sig = 1; sig < NSIG; sig++) {
		bool ignored = sigismember(&found_ignored, sig) == 1;

		signal(sig, ignored ? SIG_IGN : SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, &found_mask, NULL);
}

/* What the child needs, made before fork: it may only make system calls. */
struct child {
	const char *path;
	char *const *argv;
	char **sh_argv; /* NULL: the kernel's word is final */
	struct gate *gate; /* NULL: none */
	int go, why;
};

static void say(int fd, int code)
{
	ssize_t n = write(fd, &code, sizeof(code));

	(void)n; /* hotvar is gone: then so is the child, at its next read */
}

static _Noreturn void be_child(const struct child *c)
{
	extern char **environ;
	ssize_t n;
	char byte;
	int code;

	launch_restore_signals();
	if (c->gate)
		say(c->why, -gate_install(c->gate));
	do
		n = read(c->go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	execve(c->path, c->argv, environ);
	code = errno;
	if (code == ENOEXEC && c->sh_argv) {
		execve(c->sh_argv[0], c->sh_argv, environ);
		code = errno;
	}
	say(c->why, code);
	_exit(127);
}

/* "/bin/sh PATH ARGS", as execvp(3) has it; NULL: no memory. */
static char **shell_argv(const char *path, char *const argv[])
{
	size_t n = 0, i;
	char **v;

	while (argv[n])
		n++;
	v = calloc(n + 2, sizeof(*v));
	if (!v)
		return NULL;
	v[0] = (char *)"/bin/sh";
	v[1] = (char *)path;
	for (i = 1; i < n; i++)
		v[i + 1] = argv[i];
	return v;
}

/* An int of the child's: 1, 0 at EOF, or -errno. */
static int hear(int fd, int *code)
{
	ssize_t n;

	do
		n = read(fd, code, sizeof(*code));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(*code);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static pid_t fork_quietly(const struct child *c, const int other_ends[2])
{
	sigset_t all, old;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = fork();
	if (!pid) {
		close(other_ends[0]);
		close(other_ends[1]);
		be_child(c);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return pid;
}

int launch_fork(struct launch *l, char *const argv[], bool gated, struct err *e)
{
	struct child c = { .path = l->path, .argv = argv };
	int go[2] = { -1, -1 }, why[2] = { -1, -1 }, err = 0;

	l->pid = -1;
	l->gate_errno = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) ||
	    pipe2(why, O_CLOEXEC)) {
		err = err_set(e, errno,
			      "cannot start '%s': pipe: %s; if it is files, raise: ulimit -n",
			      l->path, strerror(errno));
		goto out;
	}
	c.go = go[0];
	c.why = why[1];
	if (launch_is_text(l->path)) {
		c.sh_argv = shell_argv(l->path, argv);
		if (!c.sh_argv)
			goto no_memory;
	}
	if (gated) {
		c.gate = gate_new();
		if (!c.gate) {
			err = err_set(e, errno, "cannot start '%s': its seccomp filter: %s; %s", l->path,
				      strerror(errno), errno == EMFILE ? "raise: ulimit -n" : "free some memory");
			goto out;
		}
	}
	l->pid = fork_quietly(&c, (int[]){ go[1], why[0] });
	if (l->pid < 0) {
		err = err_set(e, errno,
			      "cannot start '%s': fork: %s; end some processes or raise: ulimit -u",
			      l->path, strerror(errno));
		goto out;
	}
	close_fd(&why[1]);
	l->go_fd = go[1];
	l->why_fd = why[0];
	go[1] = why[0] = -1;
	if (gated && hear(l->why_fd, &l->gate_errno) != 1)
		l->gate_errno = EIO; /* it was killed: its end will tell */
	goto out;

no_memory:
	err = err_set(e, ENOMEM, "cannot start '%s': no memory; free some", l->path);
out:
	close_fd(&go[0]);
	close_fd(&go[1]);
	close_fd(&why[0]);
	close_fd(&why[1]);
	gate_free(c.gate);
	free(c.sh_argv);
	return err;
}

void launch_go(struct launch *l)
{
	/* A socket, because a child that was killed already must give EPIPE, not SIGPIPE. */
	if (l->go_fd >= 0)
		send(l->go_fd, "", 1, MSG_NOSIGNAL);
	close_fd(&l->go_fd);
}

static void reap(struct launch *l)
{
	int status;

	while (l->pid > 0) {
		pid_t got = waitpid(l->pid, &status, __WALL);

		if (got == l->pid && WIFSTOPPED(status))
			ptrace(PTRACE_CONT, l->pid, 0, 0); /* a traced one stops on its way out */
		else if (got >= 0 || errno != EINTR)
			break;
	}
	l->pid = -1;
}

int launch_result(struct launch *l, bool wait, struct err *e)
{
	struct pollfd p = { .fd = l->why_fd, .events = POLLIN };
	int code = 0, n;

	if (l->why_fd < 0)
		return 1;
	if (!wait && poll(&p, 1, 0) <= 0)
		return 0;
	n = hear(l->why_fd, &code);
	close_fd(&l->why_fd);
	if (n == 0)
		return 1; /* closed by execve, or by a signal that its end tells */
	close_fd(&l->go_fd);
	reap(l);
	return launch_explain(l->path, n < 0 ? -n : code, e);
}

void launch_abort(struct launch *l)
{
	if (l->pid > 0 && l->why_fd >= 0) {
		kill(l->pid, SIGKILL);
		reap(l);
	}
	close_fd(&l->go_fd);
	close_fd(&l->why_fd);
}
