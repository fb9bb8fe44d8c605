// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracker_stage.h - live children for tests of the tracker, and what was told of them.
 *
 * The children do whatever system call they are sent, and then wait.  The test
 * tells the tracker of the call, replays what the tracker told into lists of its own,
 * and compares those with /proc/PID/maps, read by a parser of its own.
 */
#ifndef TRACKER_STAGE_H
#define TRACKER_STAGE_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/grow.h"
#include "runtime/user/look.h"
#include "runtime/user/tracker.h"

enum { PG = 4096, CHANNELS = 8, SPACES = 64, FILES = 12 };
enum { R = PROT_READ, W = PROT_WRITE, X = PROT_EXEC };

/* ---- children ---- */

/* Numbers beside the kernel's: what no plain system call can do here. */
enum { DO_FORK = 10000, DO_CLONE_VM, DO_THREAD, DO_EXEC, DO_GROW_STACK, DO_CHURN, DO_QUIT };

struct order {
	long nr;
	uint64_t a[6];
};

static int channel[CHANNELS][2]; /* [0]: the test's end, [1]: the child's */
static char clone_stack[CHANNELS][65536];
static char exe[4096];

static void serve(int k);

static int served(void *arg)
{
	serve((int)(intptr_t)arg);
	return 0;
}

/* Touch @n pages of stack, each in a frame of its own. */
static __attribute__((noinline)) int deep(int n)
{
	volatile char page[PG];

	page[0] = (char)n;
	return n ? deep(n - 1) + page[0] : 0;
}

/* Map and unmap and cut up memory, @n times, as fast as can be. */
static int churn(int n)
{
	for (int i = 0; i < n; i++) {
		char *p = mmap(NULL, 64 * PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (int j = 1; j < 64; j += 2)
			mprotect(p + j * PG, PG, PROT_NONE);
		munmap(p + i % 8 * PG, (size_t)(64 - i % 8) * PG);
		munmap(p, 64 * PG);
	}
	return 0;
}

static int64_t obey(const struct order *o)
{
	int k = (int)o->a[0], r;
	char fd[16];

	switch (o->nr) {
	case DO_FORK:
		r = (int)syscall(SYS_fork);
		if (!r)
			serve(k);
		return r;
	case DO_CLONE_VM:
		return clone(served, clone_stack[k] + sizeof(clone_stack[k]), CLONE_VM | SIGCHLD,
			     (void *)(intptr_t)k);
	case DO_THREAD:
		return clone(served, clone_stack[k] + sizeof(clone_stack[k]),
			     CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			     CLONE_SYSVSEM, (void *)(intptr_t)k);
	case DO_EXEC:
		snprintf(fd, sizeof(fd), "%d", channel[k][1]);
		execl(exe, exe, "--serve", fd, NULL);
		return -errno;
	case DO_GROW_STACK:
		return deep((int)o->a[0]);
	case DO_CHURN:
		return churn((int)o->a[0]);
	case DO_QUIT:
		_exit(0);
	}
	r = 0;
	errno = 0;
	long ret = syscall(o->nr, o->a[0], o->a[1], o->a[2], o->a[3], o->a[4], o->a[5]);

	if (o->nr == SYS_brk) /* the kernel's answer is the break; libc passes it on */
		return ret;
	return ret == -1 && errno ? -errno : ret;
}

static void serve_fd(int fd)
{
	struct order o;
	int64_t ret = 0;

	/* The first answer says that it runs. */
	for (;;) {
		if (write(fd, &ret, sizeof(ret)) != sizeof(ret) ||
		    read(fd, &o, sizeof(o)) != sizeof(o))
			_exit(1);
		ret = obey(&o);
	}
}

static void serve(int k)
{
	serve_fd(channel[k][1]);
}

static int64_t answer(int k)
{
	int64_t ret;

	assert_int_equal(read(channel[k][0], &ret, sizeof(ret)), sizeof(ret));
	return ret;
}

static int64_t order(int k, long nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
		     uint64_t a4, uint64_t a5)
{
	struct order o = { nr, { a0, a1, a2, a3, a4, a5 } };

	assert_int_equal(write(channel[k][0], &o, sizeof(o)), sizeof(o));
	return answer(k);
}

/* ---- what the tracker told ---- */

struct told {
	uint32_t mm;
	struct hvar_vmas vmas;
};

struct fixture {
	struct stream *s;
	struct stream_reader *r;
	struct tracker *t;
	uint64_t now;
	struct told space[SPACES];
	uint32_t nspaces;
	struct stream_module **module; /* by number */
	size_t nmodules;
	struct hvar_event ev[4096]; /* since the last pull */
	uint32_t nev;
	uint64_t lost;
	pid_t child[CHANNELS];
	int file[FILES];
	struct stat st[FILES];
	char dir[64];
};

static struct hvar_vmas *told_of(struct fixture *f, uint32_t mm, bool make)
{
	for (uint32_t i = 0; i < f->nspaces; i++)
		if (f->space[i].mm == mm)
			return &f->space[i].vmas;
	if (!make)
		return NULL;
	assert_true(f->nspaces < SPACES);
	f->space[f->nspaces].mm = mm;
	assert_int_equal(grow_vmas_init(&f->space[f->nspaces].vmas, 16), 0);
	return &f->space[f->nspaces++].vmas;
}

static void replay(struct fixture *f, const struct hvar_event *e)
{
	struct hvar_vmas *m;
	int r;

	assert_true(hvar_event_valid(e));
	if (e->module)
		assert_true(e->module < f->nmodules && f->module[e->module]);
	if (f->nev < 4096)
		f->ev[f->nev++] = *e;
	if (e->type == HVAR_EVENT_FORK && e->u.task.child_mm != e->mm) {
		assert_null(told_of(f, e->u.task.child_mm, false));
		assert_true(f->nspaces < SPACES);
		f->space[f->nspaces].mm = e->u.task.child_mm;
		assert_int_equal(grow_vmas_copy(&f->space[f->nspaces].vmas,
						told_of(f, e->mm, true)), 0);
		f->nspaces++;
		return;
	}
	if (e->type == HVAR_EVENT_EXEC)
		assert_null(told_of(f, e->mm, false)); /* a number is used once */
	m = told_of(f, e->mm, true);
	while ((r = hvar_apply(m, e)) == -ENOSPC)
		assert_int_equal(grow_vmas_more(m), 0);
	assert_int_equal(r, 0);
}

static void note_module(struct fixture *f, const struct stream_module *m, size_t len)
{
	struct stream_module *copy = calloc(1, len + 1);

	assert_int_equal(len, sizeof(*m) + m->path_len);
	memcpy(copy, m, len);
	if (m->id >= f->nmodules) {
		f->module = realloc(f->module, (m->id + 1) * sizeof(*f->module));
		while (f->nmodules <= m->id)
			f->module[f->nmodules++] = NULL;
	}
	free(f->module[m->id]);
	f->module[m->id] = copy;
}

/* Take in all that was told since the last time. */
static void pull(struct fixture *f)
{
	struct stream_record rec;

	f->nev = 0;
	tracker_tell_losses(f->t, f->now);
	stream_put_meta(f->s, "mark", "%d", 1);
	stream_flush(f->s);
	while (stream_next(f->r, &rec) == 1 && rec.type != STREAM_META) {
		if (rec.type == STREAM_EVENT)
			replay(f, rec.data);
		else if (rec.type == STREAM_MODULE)
			note_module(f, rec.data, rec.len);
		else if (rec.type == STREAM_LOSS)
			f->lost += ((const struct stream_loss *)rec.data)->count;
	}
}

/* ---- what the kernel shows ---- */

struct line {
	uint64_t start, end, pgoff, ino;
	unsigned dev[2];
	char perms[5];
	char path[512];
};

static size_t kernel_lines(pid_t pid, struct line **out)
{
	char name[64], *text = NULL, *p;
	size_t cap = 0, n = 0;
	struct line *v = NULL;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	file = fopen(name, "re");
	assert_non_null(file);
	while (getline(&text, &cap, file) > 0) {
		struct line l = { 0 }, *last = n ? &v[n - 1] : NULL;
		int at = 0;

		assert_int_equal(sscanf(text, "%lx-%lx %4s %lx %x:%x %lu%n", &l.start, &l.end, l.perms,
					&l.pgoff, &l.dev[0], &l.dev[1], &l.ino, &at), 7);
		p = text + at;
		p += strspn(p, " ");
		p[strcspn(p, "\n")] = '\0';
		snprintf(l.path, sizeof(l.path), "%s", p);
		/* the interface: neighbours alike in everything count as one */
		if (last && last->end == l.start && !strcmp(last->perms, l.perms) &&
		    last->ino == l.ino && !memcmp(last->dev, l.dev, sizeof(l.dev)) &&
		    !strcmp(last->path, l.path) &&
		    (!l.ino || l.pgoff == last->pgoff + (last->end - last->start))) {
			last->end = l.end;
			continue;
		}
		v = realloc(v, (n + 1) * sizeof(*v));
		v[n++] = l;
	}
	fclose(file);
	free(text);
	*out = v;
	return n;
}

/* @v as the kernel would write it. */
static void told_line(const struct fixture *f, const struct hvar_vma *v, struct line *l)
{
	const struct stream_module *m = v->module ? f->module[v->module] : NULL;
	size_t n = 0;

	memset(l, 0, sizeof(*l));
	l->start = v->start;
	l->end = v->end;
	l->pgoff = v->pgoff;
	snprintf(l->perms, sizeof(l->perms), "%c%c%c%c", v->prot & HVAR_PROT_READ ? 'r' : '-',
		 v->prot & HVAR_PROT_WRITE ? 'w' : '-', v->prot & HVAR_PROT_EXEC ? 'x' : '-',
		 v->prot & HVAR_PROT_SHARED ? 's' : 'p');
	if (v->region == HVAR_REGION_HEAP)
		strcpy(l->path, "[heap]");
	if (v->region == HVAR_REGION_STACK)
		strcpy(l->path, "[stack]");
	if (!m)
		return;
	l->dev[0] = m->m.dev_major;
	l->dev[1] = m->m.dev_minor;
	l->ino = m->m.ino;
	for (const char *p = m->path; *p; p++) {
		if (*p == '\n')
			n += (size_t)sprintf(l->path + n, "\\012");
		else
			l->path[n++] = *p;
	}
	if (v->flags & HVAR_VMA_DELETED)
		strcpy(l->path + n, " (deleted)");
}

static void check(struct fixture *f, pid_t tid)
{
	const struct hvar_vmas *m;
	const struct hvar_vma *v;
	struct line *want, got;
	uint32_t mm;
	pid_t pid;
	size_t n, i = 0;

	pull(f);
	assert_true(tracker_knows(f->t, tid, &pid, &mm));
	m = told_of(f, mm, false);
	assert_non_null(m);
	n = kernel_lines(tid, &want);
	for (v = hvar_vmas_next(m, 0); v; v = hvar_vmas_next(m, v->end), i++) {
		told_line(f, v, &got);
		if (i >= n || memcmp(&got, &want[i], offsetof(struct line, path)) ||
		    strcmp(got.path, want[i].path))
			fail_msg("told  %lx-%lx %s %lx %x:%x %lu '%s'\n  shown %lx-%lx %s %lx %x:%x %lu '%s'",
				 got.start, got.end, got.perms, got.pgoff, got.dev[0], got.dev[1], got.ino,
				 got.path, i < n ? want[i].start : 0, i < n ? want[i].end : 0,
				 i < n ? want[i].perms : "", i < n ? want[i].pgoff : 0,
				 i < n ? want[i].dev[0] : 0, i < n ? want[i].dev[1] : 0,
				 i < n ? want[i].ino : 0, i < n ? want[i].path : "nothing");
	}
	assert_int_equal(i, n);
	free(want);
}

/* ---- the stage ---- */

static const char *const names[FILES] = { "plain", "a b", " lead", "trail ", "tab\tx", "\xff\xfe",
					  "new\nline", "x (deleted)", "goes", "gone (deleted)" };

static uint32_t cause_of(long nr)
{
	return hvar_call_cause(HVAR_ABI_X86_64, (uint64_t)nr);
}

/* Child @k does that call, and the tracker is told.  Returns what the kernel did. */
static int64_t call(struct fixture *f, int k, long nr, uint64_t a0, uint64_t a1, uint64_t a2,
		    uint64_t a3, uint64_t a4, uint64_t a5)
{
	struct hvar_call c = { .cause = cause_of(nr), .args = { a0, a1, a2, a3, a4, a5 } };

	c.ret = order(k, nr, a0, a1, a2, a3, a4, a5);
	assert_int_not_equal(c.cause, HVAR_CAUSE_NONE);
	assert_int_equal(tracker_call(f->t, f->child[k], &c, ++f->now), 0);
	return c.ret;
}

/* The same, and the list is right afterwards. */
static __attribute__((unused)) int64_t step(struct fixture *f, int k, long nr, uint64_t a0, uint64_t a1, uint64_t a2,
		    uint64_t a3, uint64_t a4, uint64_t a5)
{
	int64_t ret = call(f, k, nr, a0, a1, a2, a3, a4, a5);

	check(f, f->child[k]);
	return ret;
}

static int setup(void **state)
{
	const struct timeval patience = { .tv_sec = 30 };
	struct fixture *f = calloc(1, sizeof(*f));
	struct err e = { 0 };
	char path[256];

	*state = f;
	/* A child that died answers never: that is a failure, not a hang. */
	for (int k = 0; k < CHANNELS; k++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel[k]), 0);
		assert_int_equal(setsockopt(channel[k][0], SOL_SOCKET, SO_RCVTIMEO, &patience,
					    sizeof(patience)), 0);
	}
	strcpy(f->dir, "/tmp/hotvar-test.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	for (int i = 0; i < FILES && names[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		f->file[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		assert_true(f->file[i] >= 0);
		assert_int_equal(ftruncate(f->file[i], 64 * PG), 0);
		assert_int_equal(fstat(f->file[i], &f->st[i]), 0);
	}
	f->s = stream_to_queue(&e);
	assert_non_null(f->s);
	f->r = stream_reader_of_queue(f->s);
	assert_non_null(f->r);
	f->t = tracker_new(f->s, &e);
	assert_non_null(f->t);
	f->now = 1;
	f->child[0] = fork();
	if (!f->child[0])
		serve(0);
	answer(0);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char path[256];

	for (int k = 0; k < CHANNELS; k++) {
		if (f->child[k] > 0)
			kill(f->child[k], SIGKILL);
		close(channel[k][0]);
		if (channel[k][1] >= 0)
			close(channel[k][1]);
	}
	while (waitpid(-1, NULL, __WALL | WNOHANG) > 0 || (errno != ECHILD && waitpid(-1, NULL, __WALL) > 0))
		;
	for (int i = 0; i < FILES && names[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		unlink(path);
		close(f->file[i]);
	}
	rmdir(f->dir);
	tracker_free(f->t);
	stream_close(f->s, NULL);
	stream_reader_free(f->r);
	for (uint32_t i = 0; i < f->nspaces; i++)
		grow_vmas_fini(&f->space[i].vmas);
	for (size_t i = 0; i < f->nmodules; i++)
		free(f->module[i]);
	free(f->module);
	free(f);
	look_without_query(false);
	return 0;
}

static __attribute__((unused)) void start(struct fixture *f)
{
	struct err e = { 0 };

	if (tracker_add(f->t, f->child[0], f->child[0], f->now, &e))
		fail_msg("%s", e.text);
	check(f, f->child[0]);
}

/* How many of the events pulled last are of @type and @cause. */
static __attribute__((unused)) uint32_t events(const struct fixture *f, uint32_t type, uint32_t cause)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nev; i++)
		n += f->ev[i].type == type && f->ev[i].cause == cause;
	return n;
}

/* main() of such a test: @tests of @n, each with a stage of its own. */
static int perform(int argc, char **argv, const struct CMUnitTest *tests, size_t n)
{
	ssize_t len;

	if (argc == 3 && !strcmp(argv[1], "--serve"))
		serve_fd(atoi(argv[2]));
	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (len < 0)
		return 1;
	exe[len] = '\0';
	/* Whatever happens, no child is left behind. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	return _cmocka_run_group_tests("tracker", tests, n, NULL, NULL);
}

#define LIVE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif /* TRACKER_STAGE_H */
