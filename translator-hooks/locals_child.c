// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "locals_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "line_file.h"

enum {
	CPU_SECONDS = 120,    /* all that it may use; debug information of gigabytes takes tens */
	SILENT_MS = 300000,   /* so long an answer is waited for: a file system may never give one */
	MEMORY_PAGES = 1 << 21, /* that it may need beyond what we have when it begins: 8 GiB */
	FUNCTION_MAX = 1024,
};

struct question {
	bool line; /* of at.vaddr; else the local */
	struct locals_at at;
};

struct answer {
	int result; /* 0 or -errno */
	bool has_function;
	struct locals_found found;
	char function[FUNCTION_MAX]; /* or the file of the line, which is: */
	uint32_t line;
};

struct locals_child {
	pid_t pid; /* -1: none any more */
	int fd, status;
	struct answer answer;
	char why[64];
};

/* ---- the process ---- */

static void limit(int what, uint64_t n)
{
	struct rlimit l;

	if (getrlimit(what, &l))
		return;
	if (l.rlim_cur > n)
		l.rlim_cur = n;
	l.rlim_max = l.rlim_cur;
	setrlimit(what, &l);
}

/* Pages of data that this process has, as proc(5) has them: the sixth number of its statm. */
static uint64_t data_pages(void)
{
	unsigned long long n = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f) {
		if (fscanf(f, "%*u %*u %*u %*u %*u %llu", &n) != 1)
			n = 0;
		fclose(f);
	}
	return n;
}

static void shut(unsigned from, unsigned to)
{
	if (from > to || !close_range(from, to, 0))
		return;
	for (; from <= to && from < 65536; from++)
		close((int)from);
}

/* Only its own two descriptors, and stderr: what others wait for the end of must not stay open here. */
static void only(int *a, int *b)
{
	int null = open("/dev/null", O_RDWR);
	unsigned lo, hi;

	*a = fcntl(*a, F_DUPFD_CLOEXEC, 3);
	*b = fcntl(*b, F_DUPFD_CLOEXEC, 3);
	if (*a < 0 || *b < 0 || null < 0)
		_exit(2);
	dup2(null, 0);
	dup2(null, 1);
	lo = (unsigned)(*a < *b ? *a : *b);
	hi = (unsigned)(*a < *b ? *b : *a);
	shut(3, lo - 1);
	shut(lo + 1, hi - 1);
	shut(hi + 1, ~0u);
}

static void answer_local(struct locals_file *f, const struct locals_at *at, struct answer *a)
{
	a->result = f ? 0 : -ENOEXEC;
	if (f)
		locals_file_find(f, at, &a->found);
	a->has_function = a->found.function;
	if (a->has_function)
		snprintf(a->function, sizeof(a->function), "%s", a->found.function);
	a->found.function = NULL;
}

static void answer_line(struct line_file *f, uint64_t vaddr, struct answer *a)
{
	const char *file;

	if (f && line_file_find(f, vaddr, &file, &a->line))
		snprintf(a->function, sizeof(a->function), "%s", file);
	else
		a->result = -ENOENT;
}

/* What is never asked for is never opened. */
static void serve(int fd, int file_fd, const char *path)
{
	struct locals_file *f = NULL;
	struct line_file *lines = NULL;
	bool opened = false, lines_opened = false;
	static struct answer a;
	struct question q;

	while (recv(fd, &q, sizeof(q), 0) == sizeof(q)) {
		memset(&a, 0, sizeof(a));
		if (!q.line && !opened)
			f = locals_file_open(file_fd, path);
		if (q.line && !lines_opened)
			lines = line_file_open(file_fd, path);
		opened |= !q.line;
		lines_opened |= q.line;
		if (q.line)
			answer_line(lines, q.at.vaddr, &a);
		else
			answer_local(f, &q.at, &a);
		if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			break;
	}
	locals_file_close(f);
	line_file_close(lines);
}

static _Noreturn void child(int fd, int file_fd, const char *path)
{
	only(&fd, &file_fd);
	prctl(PR_SET_DUMPABLE, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, CPU_SECONDS);
	limit(RLIMIT_DATA, (data_pages() + MEMORY_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
	serve(fd, file_fd, path);
	_exit(0);
}

struct locals_child *locals_child_open(int fd, const char *path)
{
	struct locals_child *c = calloc(1, sizeof(*c));
	sigset_t all, was;
	int ends[2];

	if (!c)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		free(c);
		return NULL;
	}
	/* what a terminal or a duration sends is ours to answer; a fault of its own ends it nonetheless */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	c->pid = fork();
	if (!c->pid) {
		close(ends[0]);
		child(ends[1], fd, path);
	}
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	close(ends[1]);
	c->fd = ends[0];
	c->status = -1;
	if (c->pid > 0)
		return c;
	close(c->fd);
	free(c);
	return NULL;
}

/* ---- asking it ---- */

static void reap(struct locals_child *c, bool by_us)
{
	pid_t got;

	if (by_us)
		kill(c->pid, SIGKILL);
	do
		got = waitpid(c->pid, &c->status, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		c->status = -1;
	c->pid = -1;
}

void locals_child_close(struct locals_child *c)
{
	if (!c)
		return;
	close(c->fd);
	if (c->pid > 0)
		reap(c, false);
	free(c);
}

static int gone(struct locals_child *c, bool silent)
{
	if (c->pid > 0)
		reap(c, silent);
	if (silent)
		snprintf(c->why, sizeof(c->why), "has not answered for %d seconds", SILENT_MS / 1000);
	else if (c->status != -1 && WIFSIGNALED(c->status))
		snprintf(c->why, sizeof(c->why), "was killed by signal %d (%s)", WTERMSIG(c->status), strsignal(WTERMSIG(c->status)));
	else
		snprintf(c->why, sizeof(c->why), "has ended");
	return -EPIPE;
}

static bool heard(struct locals_child *c, bool *silent)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	ssize_t n;
	int got;

	do
		got = poll(&p, 1, SILENT_MS);
	while (got < 0 && errno == EINTR);
	*silent = !got;
	if (got <= 0)
		return false;
	do
		n = recv(c->fd, &c->answer, sizeof(c->answer), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(c->answer);
}

/* Whatever has become of the other process, what it says is taken for no more than it is. */
static void settle(struct answer *a)
{
	struct locals_found *f = &a->found;

	a->function[sizeof(a->function) - 1] = '\0';
	f->name[sizeof(f->name) - 1] = f->member[sizeof(f->member) - 1] = f->type[sizeof(f->type) - 1] = '\0';
	if ((unsigned)f->kind >= LOCALS_KINDS)
		f->kind = LOCALS_STACK;
	f->function = a->has_function ? a->function : NULL;
}

static int ask(struct locals_child *c, const struct question *q)
{
	bool silent = false;

	if (c->pid <= 0)
		return -EPIPE;
	if (send(c->fd, q, sizeof(*q), MSG_NOSIGNAL) != sizeof(*q) || !heard(c, &silent))
		return gone(c, silent);
	settle(&c->answer);
	return c->answer.result;
}

int locals_child_find(struct locals_child *c, const struct locals_at *at, struct locals_found *out)
{
	struct question q;
	int err;

	memset(&q, 0, sizeof(q));
	q.at = *at;
	err = ask(c, &q);
	if (!err)
		*out = c->answer.found;
	return err;
}

int locals_child_line(struct locals_child *c, uint64_t vaddr, const char **file, uint32_t *line)
{
	struct question q;
	int err;

	memset(&q, 0, sizeof(q));
	q.line = true;
	q.at.vaddr = vaddr;
	err = ask(c, &q);
	if (err)
		return err;
	*file = c->answer.function;
	*line = c->answer.line;
	return 0;
}

const char *locals_child_why(const struct locals_child *c)
{
	return c->why;
}

int locals_child_status(const struct locals_child *c)
{
	return c->status;
}
