// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_companion.c - watch who runs what, and make images.
 *
 * One line of /proc/PID/stat tells of a process what is needed to see whether its map is worth a look:
 *
 *	4242 (app name) S 4240 4242 ... starttime vsize
 *	pid   comm        ppid           22        23
 *
 * A process that has loaded a library has another size.  Some changes of the map leave it as it was, so a map is read
 * every two seconds at the latest.
 */
#include "config.h"

#include "stap_companion.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache_dir.h"
#include "runtime/user/clock.h"
#include "runtime/user/proc.h"

#define LOOK_NS	 200000000u  /* between two looks */
#define READ_NS	 2000000000u /* a map is read again at the latest */
#define SHARE	 50	     /* one part of time for looking, this many for none */
#define NICENESS 10

struct process {
	pid_t pid, parent;
	uint64_t start, size;
	bool stapio;	/* that is its name */
	bool ours;	/* stap, or what descends from it */
	bool followed;
	bool asked;	/* whether it runs a program that is named */
	uint64_t read_size, read_ns; /* when its map was last read */
};

struct processes {
	struct process *v; /* by pid */
	size_t n, cap;
};

struct companion {
	struct stap_targets *t;
	bool all;
	pid_t stap;
	int stap_fd; /* pidfd */
	struct processes now, before;
	struct stap_mapped_set known;
};

/* ---- who there is ---- */

/* What stat says of @pid; false: gone, or a thread of the kernel. */
static bool read_stat(pid_t pid, struct process *p)
{
	unsigned long long start, size;
	char buf[1024], *name, *end;
	int parent;

	if (proc_read(pid, "stat", buf, sizeof(buf)) < 0)
		return false;
	name = strchr(buf, '(');
	end = strrchr(buf, ')');
	if (!name || !end ||
	    sscanf(end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu %llu",
		   &parent, &start, &size) != 3 || !size)
		return false;
	*end = '\0';
	*p = (struct process){ .pid = pid, .parent = parent, .start = start, .size = size,
			       .stapio = !strcmp(name + 1, "stapio") };
	return true;
}

static struct process *find(const struct processes *ps, pid_t pid)
{
	size_t lo = 0, hi = ps->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ps->v[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ps->n && ps->v[lo].pid == pid ? &ps->v[lo] : NULL;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool add(struct processes *ps, const struct process *p)
{
	if (ps->n == ps->cap) {
		size_t cap = ps->cap ? 2 * ps->cap : 512;
		struct process *v = reallocarray(ps->v, cap, sizeof(*v));

		if (!v)
			return false;
		ps->v = v;
		ps->cap = cap;
	}
	ps->v[ps->n++] = *p;
	return true;
}

/* All processes into c->now; what was known of them before stays so. */
static void list(struct companion *c)
{
	DIR *d = opendir("/proc");
	const struct dirent *de;
	struct processes old = c->before;

	c->before = c->now;
	c->now = old;
	c->now.n = 0;
	while (d && (de = readdir(d)) != NULL) {
		pid_t pid = atoi(de->d_name);
		const struct process *was;
		struct process p;

		if (pid <= 0 || !read_stat(pid, &p))
			continue;
		was = find(&c->before, pid);
		if (was && was->start == p.start) {
			p.followed = was->followed;
			p.asked = was->asked && was->size == p.size;
			p.read_size = was->read_size;
			p.read_ns = was->read_ns;
		}
		if (!add(&c->now, &p))
			break;
	}
	if (d)
		closedir(d);
	qsort(c->now.v, c->now.n, sizeof(*c->now.v), by_pid);
}

/* Does @p run a program that the script names? */
static bool is_named(const struct companion *c, struct process *p)
{
	char path[64];
	struct stat st;

	if (p->asked || !c->t->n_programs)
		return false;
	p->asked = true;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)p->pid);
	if (stat(path, &st))
		return false;
	for (size_t i = 0; i < c->t->n_programs; i++)
		if (c->t->programs[i].ino == st.st_ino && c->t->programs[i].dev == st.st_dev)
			return true;
	return false;
}

static bool is_given(const struct companion *c, pid_t pid)
{
	for (size_t i = 0; i < c->t->n_pids; i++)
		if (c->t->pids[i] == pid)
			return true;
	return false;
}

/* Mark what is followed: a child's parent may have any number, so until nothing changes. */
static void mark(struct companion *c)
{
	bool news = true;

	for (size_t i = 0; i < c->now.n; i++) {
		struct process *p = &c->now.v[i];

		p->ours = p->pid == c->stap;
		p->followed |= c->all || is_given(c, p->pid) || is_named(c, p);
	}
	while (news) {
		news = false;
		for (size_t i = 0; i < c->now.n; i++) {
			struct process *p = &c->now.v[i];
			const struct process *parent = find(&c->now, p->parent);

			if (!parent)
				continue;
			if (!p->ours && parent->ours)
				p->ours = news = true;
			if (!p->followed && !p->stapio &&
			    (parent->followed || (parent->ours && parent->stapio)))
				p->followed = news = true;
		}
	}
}

/* One look at everybody; false: stap has ended. */
static bool look(struct companion *c)
{
	uint64_t now = clock_now_ns();

	list(c);
	mark(c);
	for (size_t i = 0; i < c->now.n; i++) {
		struct process *p = &c->now.v[i];

		if (!p->followed || p->pid == getpid())
			continue;
		if (p->size == p->read_size && now - p->read_ns < READ_NS)
			continue;
		p->read_size = p->size;
		p->read_ns = now;
		if (stap_targets_maps(c->t, p->pid, &c->known, true) == -ECANCELED)
			return false;
	}
	return true;
}

/* Nobody's: no terminal, no group, no files but two. */
static void leave(const struct companion *c)
{
	int null = open("/dev/null", O_RDWR), keep[2] = { c->stap_fd, c->t->images->fd };
	unsigned lo = keep[0] < keep[1] ? keep[0] : keep[1], hi = keep[0] < keep[1] ? keep[1] : keep[0];
	sigset_t none;

	cache_dir_forget();
	setsid();
	if (chdir("/"))
		_exit(0);
	for (int i = 0; i < 3; i++)
		if (null >= 0)
			dup2(null, i);
	if (lo > 3)
		syscall(SYS_close_range, 3u, lo - 1, 0);
	if (hi > lo + 1)
		syscall(SYS_close_range, lo + 1, hi - 1, 0);
	syscall(SYS_close_range, hi + 1, ~0u, 0);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "hotvar-images");
	setpriority(PRIO_PROCESS, 0, NICENESS);
}

/*
 * A file of another's making (FUSE) may keep its reader waiting for ever, and a look with it.  A second after
 * stap's end the companion is gone all the same.
 */
static void *end_it(void *arg)
{
	struct pollfd p = { .fd = *(const int *)arg, .events = POLLIN };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	sleep(1);
	_exit(0);
}

__attribute__((noreturn)) static void run(struct companion *c)
{
	struct pollfd p = { .fd = c->stap_fd, .events = POLLIN };
	pthread_t end;

	leave(c);
	if (pthread_create(&end, NULL, end_it, &c->stap_fd))
		_exit(0);
	c->t->until = c->stap_fd;
	c->t->notes->n = 0;
	for (;;) {
		uint64_t begin = clock_own_cpu_ns(), spent, pause;

		if (!look(c))
			_exit(0);
		spent = clock_own_cpu_ns() - begin;
		pause = spent * SHARE > LOOK_NS ? spent * SHARE : LOOK_NS;
		if (poll(&p, 1, (int)(pause / 1000000)) > 0)
			_exit(0);
	}
}

int stap_companion_start(struct stap_targets *t, bool all, struct err *e)
{
	struct companion c = { .t = t, .all = all, .stap = getpid() };
	pid_t child;
	int r = 0;

	c.stap_fd = (int)syscall(SYS_pidfd_open, c.stap, 0);
	if (c.stap_fd < 0)
		return err_set(e, errno, "no names of what is loaded later: nobody can wait for stap's end here: %s: it needs Linux 5.3",
			       strerror(errno));
	child = fork();
	if (!child) {
		child = fork();
		if (!child)
			run(&c);
		_exit(child < 0);
	}
	r = errno;
	close(c.stap_fd);
	if (child < 0)
		return err_set(e, r, "no names of what is loaded later: no process for it: %s: end some", strerror(r));
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}
