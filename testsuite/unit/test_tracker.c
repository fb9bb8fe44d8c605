// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tracker.c - the tracker against live processes: what it told is what the kernel shows.
 *
 * The test starts children that do whatever system call they are sent, and then
 * wait.  It tells the tracker of the call, replays what the tracker told into lists of its
 * own, and compares those with /proc/PID/maps, read by a parser of its own.
 */
#include "config.h"

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
enum { DO_FORK = 10000, DO_CLONE_VM, DO_THREAD, DO_EXEC, DO_GROW_STACK, DO_QUIT };

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
static int64_t step(struct fixture *f, int k, long nr, uint64_t a0, uint64_t a1, uint64_t a2,
		    uint64_t a3, uint64_t a4, uint64_t a5)
{
	int64_t ret = call(f, k, nr, a0, a1, a2, a3, a4, a5);

	check(f, f->child[k]);
	return ret;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err e = { 0 };
	char path[256];

	*state = f;
	for (int k = 0; k < CHANNELS; k++)
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel[k]), 0);
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

static void start(struct fixture *f)
{
	struct err e = { 0 };

	if (tracker_add(f->t, f->child[0], f->child[0], f->now, &e))
		fail_msg("%s", e.text);
	check(f, f->child[0]);
}

/* How many of the events pulled last are of @type and @cause. */
static uint32_t events(const struct fixture *f, uint32_t type, uint32_t cause)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nev; i++)
		n += f->ev[i].type == type && f->ev[i].cause == cause;
	return n;
}

/* ---- tests ---- */

static void scenes(struct fixture *f)
{
	const uint64_t anon = MAP_PRIVATE | MAP_ANONYMOUS;
	uint64_t m, n, brk;

	start(f);
	/* V01: over several areas at once, by another kind of memory */
	m = (uint64_t)step(f, 0, SYS_mmap, 0, 6 * PG, R, anon, -1, 0);
	step(f, 0, SYS_mprotect, m + PG, PG, R | W, 0, 0, 0);
	step(f, 0, SYS_mmap, m + 3 * PG, PG, R, MAP_PRIVATE | MAP_FIXED, f->file[0], 0);
	step(f, 0, SYS_mmap, m + PG, 4 * PG, R | W, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	/* V03: split and merge back, a hole made and filled */
	m = (uint64_t)step(f, 0, SYS_mmap, 0, 8 * PG, R | W, anon, -1, 0);
	step(f, 0, SYS_mprotect, m + 2 * PG, 2 * PG, R, 0, 0, 0);
	step(f, 0, SYS_mprotect, m + 2 * PG, 2 * PG, R | W, 0, 0, 0);
	step(f, 0, SYS_munmap, m + 4 * PG, PG, 0, 0, 0, 0);
	assert_int_equal(events(f, HVAR_EVENT_UNMAP, HVAR_CAUSE_MUNMAP), 1);
	step(f, 0, SYS_mmap, m + 4 * PG, PG, R | W, anon | MAP_FIXED, -1, 0);
	n = (uint64_t)step(f, 0, SYS_mmap, 0, 3 * PG, 0, anon, -1, 0);
	step(f, 0, SYS_mmap, n, PG, R, MAP_PRIVATE | MAP_FIXED, f->file[0], 0);
	step(f, 0, SYS_mmap, n + PG, PG, R, MAP_PRIVATE | MAP_FIXED, f->file[0], PG);
	step(f, 0, SYS_mmap, n + 2 * PG, PG, R, MAP_PRIVATE | MAP_FIXED, f->file[0], 0);
	/* V05: move the middle, shrink, grow */
	n = (uint64_t)step(f, 0, SYS_mmap, 0, 8 * PG, R, MAP_PRIVATE, f->file[0], 2 * PG);
	m = (uint64_t)step(f, 0, SYS_mmap, 0, 16 * PG, 0, anon, -1, 0);
	step(f, 0, SYS_munmap, m, 16 * PG, 0, 0, 0, 0);
	assert_int_equal(step(f, 0, SYS_mremap, n + 2 * PG, 2 * PG, 2 * PG, MREMAP_MAYMOVE | MREMAP_FIXED, m, 0), m);
	assert_int_equal(events(f, HVAR_EVENT_MOVE, HVAR_CAUSE_MREMAP), 1);
	step(f, 0, SYS_mremap, m, 2 * PG, PG, 0, 0, 0);
	step(f, 0, SYS_mremap, m, PG, 5 * PG, 0, 0, 0);
	step(f, 0, SYS_mremap, m, 5 * PG, 40 * PG, MREMAP_MAYMOVE, 0, 0);
	/* over a hole: what comes before it is changed all the same */
	n = (uint64_t)step(f, 0, SYS_mmap, 0, 32 * PG, R, anon, -1, 0);
	step(f, 0, SYS_munmap, n + 8 * PG, 8 * PG, 0, 0, 0, 0);
	assert_int_equal(step(f, 0, SYS_mprotect, n, 24 * PG, R | W, 0, 0, 0), -ENOMEM);
	step(f, 0, SYS_munmap, n + 4 * PG, 20 * PG, 0, 0, 0, 0);
	/* V08: break not on a page, grown, shrunk, to nothing; [heap] covers its neighbour */
	brk = (uint64_t)step(f, 0, SYS_brk, 0, 0, 0, 0, 0, 0);
	step(f, 0, SYS_brk, brk + 0x1003, 0, 0, 0, 0, 0);
	step(f, 0, SYS_brk, brk + 0x1fff, 0, 0, 0, 0, 0);
	m = (uint64_t)step(f, 0, SYS_brk, brk + 0x8000, 0, 0, 0, 0, 0);
	m = (m + PG - 1) & ~(uint64_t)(PG - 1);
	assert_int_equal(step(f, 0, SYS_mmap, m, 2 * PG, R | W, anon | MAP_FIXED, -1, 0), m);
	step(f, 0, SYS_mprotect, m - 2 * PG, PG, R, 0, 0, 0);
	step(f, 0, SYS_mprotect, m, PG, R, 0, 0, 0);
	step(f, 0, SYS_mprotect, m, PG, R | W, 0, 0, 0);
	step(f, 0, SYS_mprotect, m - 2 * PG, PG, R | W, 0, 0, 0);
	step(f, 0, SYS_munmap, m - 3 * PG, PG, 0, 0, 0, 0);
	step(f, 0, SYS_brk, brk + 0x3000, 0, 0, 0, 0, 0);
	step(f, 0, SYS_brk, brk, 0, 0, 0, 0, 0);
	step(f, 0, SYS_brk, brk + 0x2000, 0, 0, 0, 0, 0);
	/* failed calls */
	assert_true(step(f, 0, SYS_mmap, 0, 0, R, anon, -1, 0) < 0);
	assert_true(step(f, 0, SYS_munmap, 1, PG, 0, 0, 0, 0) < 0);
	assert_true(step(f, 0, SYS_mremap, 0x1000, PG, 2 * PG, 0, 0, 0) < 0);
	assert_int_equal(f->lost, 0);
}

static void test_scenes(void **state)
{
	scenes(*state);
}

/* An older kernel: no ioctl.  What arguments tell is applied, the rest is read. */
static void test_scenes_without_query(void **state)
{
	look_without_query(true);
	scenes(*state);
}

static void shared_memory(struct fixture *f)
{
	uint64_t m, n;
	int fd, id;

	start(f);
	m = (uint64_t)step(f, 0, SYS_mmap, 0, 4 * PG, R | W, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	n = (uint64_t)step(f, 0, SYS_mmap, 0, 4 * PG, R | W, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	step(f, 0, SYS_munmap, m + PG, PG, 0, 0, 0, 0);
	step(f, 0, SYS_mprotect, n, PG, R, 0, 0, 0);
	fd = (int)order(0, SYS_memfd_create, (uint64_t)(uintptr_t)"my name", 0, 0, 0, 0, 0);
	assert_true(fd >= 0);
	order(0, SYS_ftruncate, (uint64_t)fd, 8 * PG, 0, 0, 0, 0);
	step(f, 0, SYS_mmap, 0, 4 * PG, R | W, MAP_SHARED, (uint64_t)fd, PG);
	step(f, 0, SYS_mmap, 0, 4 * PG, R | W, MAP_PRIVATE, (uint64_t)fd, 0);
	fd = (int)order(0, SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t)"/dev/zero", O_RDWR, 0, 0, 0);
	assert_true(fd >= 0);
	step(f, 0, SYS_mmap, 0, 4 * PG, R | W, MAP_PRIVATE, (uint64_t)fd, 0);
	step(f, 0, SYS_mmap, 0, 4 * PG, R | W, MAP_SHARED, (uint64_t)fd, 0);
	id = (int)order(0, SYS_shmget, IPC_PRIVATE, 6 * PG, IPC_CREAT | 0600, 0, 0, 0);
	if (id < 0)
		return; /* no SysV memory in this kernel or namespace: nothing to follow */
	m = (uint64_t)step(f, 0, SYS_shmat, (uint64_t)id, 0, 0, 0, 0, 0);
	n = (uint64_t)step(f, 0, SYS_shmat, (uint64_t)id, 0, SHM_RDONLY, 0, 0, 0);
	step(f, 0, SYS_mprotect, m + 2 * PG, PG, R, 0, 0, 0);
	step(f, 0, SYS_shmdt, m, 0, 0, 0, 0, 0);
	step(f, 0, SYS_shmdt, n, 0, 0, 0, 0, 0);
	assert_true(step(f, 0, SYS_shmdt, n, 0, 0, 0, 0, 0) < 0);
	order(0, SYS_shmctl, (uint64_t)id, IPC_RMID, 0, 0, 0, 0);
	assert_int_equal(f->lost, 0);
}

static void test_shared_memory(void **state)
{
	shared_memory(*state);
}

static void test_shared_memory_without_query(void **state)
{
	look_without_query(true);
	shared_memory(*state);
}

/* Any calls on any part of a place where files and memory of all kinds lie. */
static void random_calls(struct fixture *f, int steps)
{
	enum { PAGES = 40 };
	uint64_t place;

	start(f);
	srand(7);
	place = (uint64_t)step(f, 0, SYS_mmap, 0, PAGES * PG, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < steps; i++) {
		uint64_t at = place + (uint64_t)(rand() % PAGES) * PG;
		uint64_t room = place + PAGES * PG - at, len = (uint64_t)(1 + rand() % 10) * PG;
		static const uint64_t prots[] = { R, R | W, 0, R | X, W };
		uint64_t prot = prots[rand() % 5], to;

		if (len > room)
			len = room;
		switch (rand() % 8) {
		case 0:
			call(f, 0, SYS_mmap, at, len, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			break;
		case 1:
			call(f, 0, SYS_mmap, at, len, prot, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			break;
		case 2:
			call(f, 0, SYS_mmap, at, len, prot, (rand() % 2 ? MAP_PRIVATE : MAP_SHARED) | MAP_FIXED,
			     (uint64_t)f->file[rand() % 10], (uint64_t)(rand() % 20) * PG);
			break;
		case 3:
			call(f, 0, SYS_munmap, at, len, 0, 0, 0, 0);
			break;
		case 4:
		case 5:
			call(f, 0, SYS_mprotect, at, len, prot, 0, 0, 0);
			break;
		case 6:
			to = place + (uint64_t)(rand() % (PAGES - 10)) * PG;
			call(f, 0, SYS_mremap, at, len, (uint64_t)(1 + rand() % 10) * PG,
			     rand() % 2 ? MREMAP_MAYMOVE | MREMAP_FIXED : 0, to, 0);
			break;
		case 7:
			to = (uint64_t)order(0, SYS_brk, 0, 0, 0, 0, 0, 0);
			call(f, 0, SYS_brk, to + (uint64_t)(rand() % 9000) - 4000, 0, 0, 0, 0, 0);
			break;
		}
		check(f, f->child[0]);
	}
	assert_int_equal(f->lost, 0);
}

static void test_random(void **state)
{
	random_calls(*state, 1500);
}

static void test_random_without_query(void **state)
{
	look_without_query(true);
	random_calls(*state, 500);
}

/* The stack grows by no call: told before the next event, or when it is missed. */
static void test_stack(void **state)
{
	struct fixture *f = *state;
	const struct hvar_vma *v;
	uint64_t top = 0, below;
	uint32_t mm;
	pid_t pid;

	start(f);
	assert_true(tracker_knows(f->t, f->child[0], &pid, &mm));
	for (v = hvar_vmas_next(told_of(f, mm, false), 0); v; v = hvar_vmas_next(told_of(f, mm, false), v->end))
		if (v->region == HVAR_REGION_STACK)
			top = v->start;
	assert_int_not_equal(top, 0);
	order(0, DO_GROW_STACK, 100, 0, 0, 0, 0, 0);
	step(f, 0, SYS_mmap, 0, PG, R, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(events(f, HVAR_EVENT_GROW, HVAR_CAUSE_FAULT), 1);
	assert_int_equal(f->ev[0].cause, HVAR_CAUSE_FAULT);
	assert_int_equal(f->ev[0].u.map.old_start, top);
	below = f->ev[0].u.map.start - PG;
	assert_null(tracker_find(f->t, f->child[0], below, ++f->now)); /* not yet */
	order(0, DO_GROW_STACK, 300, 0, 0, 0, 0, 0);
	assert_null(tracker_find(f->t, f->child[0], below, ++f->now)); /* missed just now */
	f->now += 1000000000;
	v = tracker_find(f->t, f->child[0], below, f->now);
	assert_non_null(v);
	assert_int_equal(v->region, HVAR_REGION_STACK);
	check(f, f->child[0]);
	/* split it, take a part of it away */
	order(0, DO_GROW_STACK, 0, 0, 0, 0, 0, 0);
	step(f, 0, SYS_mprotect, top - 80 * PG, PG, R, 0, 0, 0);
	step(f, 0, SYS_mprotect, top - 80 * PG, PG, R | W, 0, 0, 0);
	assert_int_equal(f->lost, 0);
	assert_null(tracker_find(f->t, f->child[0], 0x10, f->now));
	assert_null(tracker_find(f->t, f->child[0], UINT64_MAX, f->now));
	assert_null(tracker_find(f->t, 1 << 29, 0x10, f->now));
}

/* What nobody told: found by a look at everything, at a range, or at a miss. */
static void test_untold(void **state)
{
	struct fixture *f = *state;
	uint64_t m, n;

	start(f);
	m = (uint64_t)order(0, SYS_mmap, 0, 20 * PG, R, MAP_PRIVATE, (uint64_t)f->file[0], 0);
	assert_non_null(tracker_find(f->t, f->child[0], m + 5 * PG, ++f->now));
	check(f, f->child[0]);
	assert_int_equal(f->lost, 1);
	order(0, SYS_munmap, m + 3 * PG, PG, 0, 0, 0, 0);
	n = (uint64_t)order(0, SYS_mmap, 0, 20 * PG, R, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(tracker_look(f->t, f->child[0], m + 3 * PG, m + 4 * PG, HVAR_CAUSE_NONE, ++f->now), 0);
	assert_non_null(tracker_find(f->t, f->child[0], n, ++f->now));
	check(f, f->child[0]);
	order(0, SYS_munmap, m, 20 * PG, 0, 0, 0, 0);
	order(0, SYS_munmap, n, 20 * PG, 0, 0, 0, 0);
	assert_int_equal(tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now), 0);
	check(f, f->child[0]);
	/* many misses of one page are one look */
	f->now += 1000000000;
	assert_null(tracker_find(f->t, f->child[0], n + 7, f->now));
	m = (uint64_t)order(0, SYS_mmap, n, PG, R, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (int i = 0; i < 100; i++)
		assert_null(tracker_find(f->t, f->child[0], n + 7, ++f->now));
	f->now += 1000000000;
	assert_non_null(tracker_find(f->t, f->child[0], n + 7, f->now));
	/* a process that is gone changes nothing */
	kill(f->child[0], SIGKILL);
	assert_int_equal(waitpid(f->child[0], NULL, 0), f->child[0]);
	pull(f);
	assert_int_equal(tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now), -ESRCH);
	assert_null(tracker_find(f->t, f->child[0], m - PG, f->now + 1000000000));
	pull(f);
	assert_int_equal(f->nev, 0);
	assert_int_equal(tracker_exit(f->t, f->child[0], SIGKILL, ++f->now), 0);
	pull(f);
	assert_int_equal(f->nev, 1);
	assert_int_equal(f->ev[0].type, HVAR_EVENT_EXIT);
	assert_int_equal(f->ev[0].u.task.status, SIGKILL);
	assert_int_equal(tracker_exit(f->t, f->child[0], 0, ++f->now), -ESRCH);
	f->child[0] = 0;
}

static void test_names(void **state)
{
	struct fixture *f = *state;
	char path[256], other[256];
	uint64_t m[FILES];
	uint32_t id;
	const struct hvar_vma *v;

	start(f);
	for (int i = 0; i < 10; i++)
		m[i] = (uint64_t)step(f, 0, SYS_mmap, 0, 2 * PG, R, MAP_PRIVATE, (uint64_t)f->file[i], PG);
	for (int i = 0; i < 10; i++) {
		v = tracker_find(f->t, f->child[0], m[i], ++f->now);
		assert_non_null(v);
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		assert_string_equal(tracker_module_path(f->t, v->module), path);
		assert_int_equal(v->flags, 0);
		assert_int_equal(tracker_module(f->t, v->module)->size, 64 * PG);
		assert_int_equal(tracker_module(f->t, v->module)->flags, 0);
		assert_int_equal(tracker_module(f->t, v->module)->ino, f->st[i].st_ino);
	}
	/* deleted: the same module still */
	id = tracker_find(f->t, f->child[0], m[8], ++f->now)->module;
	snprintf(path, sizeof(path), "%s/%s", f->dir, names[8]);
	assert_int_equal(unlink(path), 0);
	snprintf(other, sizeof(other), "%s/%s", f->dir, names[9]);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_PRCTL, ++f->now), 0);
	check(f, f->child[0]);
	v = tracker_find(f->t, f->child[0], m[8], ++f->now);
	assert_string_equal(tracker_module_path(f->t, v->module), path);
	assert_int_equal(v->flags, HVAR_VMA_DELETED);
	assert_int_equal(v->module, id);
	assert_true(tracker_module(f->t, id)->flags & HVAR_MODULE_DELETED);
	assert_true(f->module[id]->m.flags & HVAR_MODULE_DELETED); /* and told so */
	v = tracker_find(f->t, f->child[0], m[9], ++f->now);
	assert_string_equal(tracker_module_path(f->t, v->module), other);
	/* a new file of that name is another */
	close(f->file[8]);
	f->file[8] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(f->file[8], 64 * PG), 0);
	order(0, SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t)path, O_RDWR, 0, 0, 0);
	assert_int_equal(tracker_module_fd(f->t, id), -1); /* no ELF file */
	assert_int_equal(f->lost, 0);
}

/* ELF files: identity, descriptors, and what became of them meanwhile. */
static void test_elf(void **state)
{
	struct fixture *f = *state;
	struct stat a, b;
	char path[256];
	const struct hvar_vma *v;
	uint32_t id;
	int src, fd;
	char buf[65536];
	ssize_t n;
	uint64_t m;

	start(f);
	v = tracker_find(f->t, f->child[0], (uint64_t)(uintptr_t)&test_elf, ++f->now);
	assert_non_null(v);
	assert_int_equal(v->region, HVAR_REGION_FILE);
	id = v->module;
	assert_int_equal(stat("/proc/self/exe", &a), 0);
	assert_int_equal(tracker_module(f->t, id)->ino, a.st_ino);
	assert_true(tracker_module(f->t, id)->flags & HVAR_MODULE_ELF);
	assert_int_equal(tracker_module(f->t, id)->size, a.st_size);
	assert_int_equal(tracker_module(f->t, id)->mtime_ns,
			 a.st_mtim.tv_sec * 1000000000ull + a.st_mtim.tv_nsec);
	fd = tracker_module_fd(f->t, id);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &b), 0);
	assert_true(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	/* a copy of this program, mapped, then written to */
	snprintf(path, sizeof(path), "%s/%s", f->dir, names[0]);
	src = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	while ((n = read(src, buf, sizeof(buf))) > 0)
		assert_int_equal(write(f->file[0], buf, (size_t)n), n);
	close(src);
	m = (uint64_t)step(f, 0, SYS_mmap, 0, PG, R, MAP_PRIVATE, (uint64_t)f->file[0], 0);
	id = tracker_find(f->t, f->child[0], m, ++f->now)->module;
	assert_true(tracker_module(f->t, id)->flags & HVAR_MODULE_ELF);
	assert_true(tracker_module_fd(f->t, id) >= 0);
	assert_int_equal(pwrite(f->file[0], "x", 1, 64), 1);
	assert_int_equal(ftruncate(f->file[0], 1 << 20), 0);
	assert_int_equal(tracker_module_fd(f->t, id), -1);
	assert_true(tracker_module(f->t, id)->flags & HVAR_MODULE_STALE);
	/* mapped anew, it is another module, which is not stale */
	m = (uint64_t)step(f, 0, SYS_mmap, 0, PG, R | W, MAP_PRIVATE, (uint64_t)f->file[0], 0);
	v = tracker_find(f->t, f->child[0], m, ++f->now);
	assert_int_not_equal(v->module, id);
	assert_false(tracker_module(f->t, v->module)->flags & HVAR_MODULE_STALE);
	assert_true(tracker_module_fd(f->t, v->module) >= 0);
	tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now);
	pull(f);
	assert_true(f->module[id]->m.flags & HVAR_MODULE_STALE);
	assert_int_equal(f->lost, 0);
}

/* FIFOs and devices are mapped by nobody's opening them. */
static void test_device(void **state)
{
	struct fixture *f = *state;
	const struct hvar_vma *v;
	uint64_t m;

	start(f);
	m = (uint64_t)order(0, SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t)"/dev/zero", O_RDWR, 0, 0, 0);
	m = (uint64_t)step(f, 0, SYS_mmap, 0, PG, R | W, MAP_PRIVATE, m, 0);
	v = tracker_find(f->t, f->child[0], m, ++f->now);
	assert_int_equal(v->region, HVAR_REGION_ANON);
	assert_true(tracker_module(f->t, v->module)->flags & HVAR_MODULE_PSEUDO);
	assert_int_equal(tracker_module_fd(f->t, v->module), -1);
}

static pid_t born(struct fixture *f, int k, long how, uint32_t cause, int parent)
{
	pid_t pid = (pid_t)order(parent, how, (uint64_t)k, 0, 0, 0, 0, 0);

	assert_true(pid > 0);
	answer(k);
	f->child[k] = how == DO_THREAD ? 0 : pid; /* a thread is not killed on its own */
	assert_int_equal(tracker_fork(f->t, f->child[parent] ? f->child[parent] : f->child[0], pid,
				      how == DO_THREAD ? f->child[0] : pid, how != DO_FORK, cause,
				      ++f->now), 0);
	return pid;
}

static void test_family(void **state)
{
	struct fixture *f = *state;
	uint64_t m, n;
	uint32_t mm, mm0;
	pid_t pid, thread, vm, copy;

	start(f);
	assert_true(tracker_knows(f->t, f->child[0], &pid, &mm0));
	m = (uint64_t)step(f, 0, SYS_mmap, 0, 8 * PG, R | W, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	n = (uint64_t)step(f, 0, SYS_mmap, 0, 8 * PG, R, MAP_PRIVATE, (uint64_t)f->file[0], 0);
	/* a thread */
	thread = born(f, 1, DO_THREAD, HVAR_CAUSE_CLONE, 0);
	pull(f);
	assert_int_equal(events(f, HVAR_EVENT_FORK, HVAR_CAUSE_CLONE), 1);
	assert_int_equal(f->ev[0].u.task.child, thread);
	assert_int_equal(f->ev[0].u.task.child_pid, f->child[0]);
	assert_int_equal(f->ev[0].u.task.child_mm, mm0);
	assert_int_not_equal(f->ev[0].u.task.start_time, 0);
	f->child[1] = thread;
	step(f, 1, SYS_munmap, m, PG, 0, 0, 0, 0);
	check(f, f->child[0]);
	/* P03: a CLONE_VM child's calls are the parent's; its exec is its own */
	vm = born(f, 2, DO_CLONE_VM, HVAR_CAUSE_VFORK, 0);
	step(f, 2, SYS_munmap, m + PG, PG, 0, 0, 0, 0);
	check(f, f->child[0]);
	assert_int_equal(order(2, DO_EXEC, 2, 0, 0, 0, 0, 0), 0);
	assert_int_equal(tracker_exec(f->t, vm, vm, true, HVAR_CAUSE_EXECVE, ++f->now), 0);
	check(f, vm);
	assert_int_equal(events(f, HVAR_EVENT_EXEC, HVAR_CAUSE_EXECVE), 1);
	assert_int_equal(events(f, HVAR_EVENT_EXIT, HVAR_CAUSE_EXECVE), 0);
	assert_true(events(f, HVAR_EVENT_INITIAL, HVAR_CAUSE_EXECVE) > 5);
	assert_true(tracker_knows(f->t, vm, &pid, &mm));
	assert_int_not_equal(mm, mm0);
	check(f, f->child[0]);
	/* a fork copies, but for what is not to be copied */
	assert_int_equal(order(0, SYS_madvise, n + PG, 2 * PG, MADV_DONTFORK, 0, 0, 0), 0);
	copy = born(f, 3, DO_FORK, HVAR_CAUSE_FORK, 0);
	check(f, copy);
	assert_int_equal(events(f, HVAR_EVENT_UNMAP, HVAR_CAUSE_FORK), 1);
	step(f, 3, SYS_munmap, m, 8 * PG, 0, 0, 0, 0);
	check(f, f->child[0]);
	/* exec by a thread: the leader's number lives on, all else ends first */
	assert_int_equal(write(channel[1][0], &(struct order){ DO_EXEC, { 1 } }, sizeof(struct order)),
			 sizeof(struct order));
	answer(1);
	assert_int_equal(tracker_exec(f->t, f->child[0], thread, true, HVAR_CAUSE_EXECVE, ++f->now), 0);
	check(f, f->child[0]);
	assert_int_equal(f->ev[0].type, HVAR_EVENT_EXIT);
	assert_int_equal(f->ev[0].tid, thread);
	assert_int_equal(f->ev[0].mm, mm0);
	assert_int_equal(f->ev[1].type, HVAR_EVENT_EXEC);
	assert_false(tracker_knows(f->t, thread, &pid, &mm));
	f->child[1] = 0;
	/* a failed exec is no event and no change */
	assert_int_equal(f->lost, 0);
	assert_int_equal(tracker_exit(f->t, copy, 0, ++f->now), 0);
	assert_false(tracker_knows(f->t, copy, &pid, &mm));
}

/* A process found with its threads, one after the leader has ended. */
static void test_add_process(void **state)
{
	struct fixture *f = *state;
	struct err e = { 0 };
	pid_t pid, thread;
	uint32_t mm, mm2;

	thread = (pid_t)order(0, DO_THREAD, 1, 0, 0, 0, 0, 0);
	answer(1);
	assert_int_equal(tracker_add_process(f->t, f->child[0], ++f->now, &e), 2);
	check(f, f->child[0]);
	assert_true(tracker_knows(f->t, thread, &pid, &mm));
	assert_int_equal(pid, f->child[0]);
	assert_true(tracker_knows(f->t, f->child[0], &pid, &mm2));
	assert_int_equal(mm, mm2);
	assert_int_equal(tracker_add_process(f->t, f->child[0], ++f->now, &e), 0);
	assert_int_equal(tracker_add(f->t, thread, f->child[0], ++f->now, &e), -EEXIST);
	assert_int_equal(tracker_add(f->t, 1 << 29, 1 << 29, ++f->now, &e), -ESRCH);
	assert_non_null(strstr(e.text, "536870912"));
	assert_int_equal(tracker_add_process(f->t, 1 << 29, ++f->now, &e), -ESRCH);
	/* another process with the same memory */
	f->child[2] = (pid_t)order(0, DO_CLONE_VM, 2, 0, 0, 0, 0, 0);
	answer(2);
	assert_int_equal(tracker_add(f->t, f->child[2], f->child[2], ++f->now, &e), 0);
	assert_true(tracker_knows(f->t, f->child[2], &pid, &mm2));
	assert_int_equal(mm, mm2);
	/* the leader ends by itself, the thread goes on */
	assert_int_equal(write(channel[0][0], &(struct order){ SYS_exit, { 0 } }, sizeof(struct order)),
			 sizeof(struct order));
	f->child[1] = thread;
	step(f, 1, SYS_mmap, 0, 3 * PG, R, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now), 0);
	f->child[1] = 0;
}

/* P05: one pid, two processes. */
static void test_pid_reuse(void **state)
{
	struct fixture *f = *state;
	pid_t old = f->child[0], pid;
	uint32_t mm, mm2;
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
			set_tid_size;
	} args = { .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&old, .set_tid_size = 1 };

	start(f);
	assert_true(tracker_knows(f->t, old, &pid, &mm));
	kill(old, SIGKILL);
	assert_int_equal(waitpid(old, NULL, 0), old);
	f->child[0] = 0;
	/* start times are in ticks: wait for the next one by doing something */
	for (clock_t c = clock(); clock() - c < CLOCKS_PER_SEC / 50;)
		;
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		skip(); /* choosing a pid takes CAP_CHECKPOINT_RESTORE */
	if (!pid)
		serve(3);
	answer(3);
	f->child[0] = pid;
	assert_int_equal(pid, old);
	assert_int_equal(tracker_add(f->t, pid, pid, ++f->now, NULL), 0);
	check(f, pid);
	assert_int_equal(f->ev[0].type, HVAR_EVENT_EXIT);
	assert_int_equal(f->ev[0].mm, mm);
	assert_true(tracker_knows(f->t, pid, &pid, &mm2));
	assert_int_not_equal(mm, mm2);
}

/* What perf reports, as it reports it. */
static void test_perf(void **state)
{
	struct fixture *f = *state;
	char path[256], deleted[300];
	struct tracker_mmap p = { 0 };
	const struct hvar_vma *v;
	uint64_t m, n, brk;

	start(f);
	m = (uint64_t)order(0, SYS_mmap, 0, 8 * PG, R | W, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p = (struct tracker_mmap){ .start = m, .end = m + 8 * PG, .pgoff = m, .prot = HVAR_PROT_READ | HVAR_PROT_WRITE,
				   .name = "//anon" };
	/* it may be one with what lay there: the report is of the merged area */
	for (;;) {
		struct line *l;
		size_t lines = kernel_lines(f->child[0], &l);

		for (size_t i = 0; i < lines; i++)
			if (l[i].start <= m && m < l[i].end && !l[i].ino) {
				p.start = l[i].start;
				p.end = l[i].end;
			}
		free(l);
		break;
	}
	assert_int_equal(tracker_map(f->t, f->child[0], &p, ++f->now), 0);
	check(f, f->child[0]);
	m = (uint64_t)order(0, SYS_mmap, 0, 8 * PG, R, MAP_PRIVATE, (uint64_t)f->file[6], PG);
	snprintf(path, sizeof(path), "%s/%s", f->dir, names[6]);
	p = (struct tracker_mmap){ .start = m, .end = m + 8 * PG, .pgoff = PG, .prot = HVAR_PROT_READ, .name = path,
				   .dev_major = (uint32_t)(f->st[6].st_dev >> 8 & 0xfff),
				   .dev_minor = (uint32_t)(f->st[6].st_dev & 0xff), .ino = f->st[6].st_ino };
	assert_int_equal(tracker_map(f->t, f->child[0], &p, ++f->now), 0);
	check(f, f->child[0]);
	v = tracker_find(f->t, f->child[0], m, ++f->now);
	assert_string_equal(tracker_module_path(f->t, v->module), path);
	/* told twice is told once */
	assert_int_equal(tracker_map(f->t, f->child[0], &p, ++f->now), 0);
	pull(f);
	assert_int_equal(f->nev, 0);
	/* a deleted one; one with no device, as with build-ids: looked at */
	unlink(path);
	n = (uint64_t)order(0, SYS_mmap, 0, 8 * PG, R, MAP_SHARED, (uint64_t)f->file[6], 0);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	p.name = deleted;
	assert_int_equal(tracker_map(f->t, f->child[0], &p, ++f->now), 0);
	p.start = n;
	p.end = n + 8 * PG;
	p.ino = p.dev_major = p.dev_minor = 0;
	p.build_id_len = 20;
	assert_int_equal(tracker_map(f->t, f->child[0], &p, ++f->now), 0);
	check(f, f->child[0]);
	/* the heap, grown */
	brk = (uint64_t)order(0, SYS_brk, 0, 0, 0, 0, 0, 0);
	order(0, SYS_brk, brk + 10 * PG, 0, 0, 0, 0, 0);
	p = (struct tracker_mmap){ .start = brk & ~(PG - 1ull), .end = (brk + 11 * PG - 1) & ~(PG - 1ull),
				   .prot = HVAR_PROT_READ | HVAR_PROT_WRITE, .name = "[heap]" };
	assert_int_equal(tracker_map(f->t, f->child[0], &p, ++f->now), 0);
	check(f, f->child[0]);
	p.name = "//toolong";
	assert_int_equal(tracker_map(f->t, f->child[0], &p, ++f->now), 0);
	pull(f);
	assert_int_equal(f->nev, 0);
	p.end = p.start;
	assert_int_equal(tracker_map(f->t, f->child[0], &p, ++f->now), -EINVAL);
	assert_int_equal(tracker_map(f->t, 1 << 29, &p, ++f->now), -ESRCH);
	/* exec without a look: empty until it is told */
	order(0, DO_EXEC, 0, 0, 0, 0, 0, 0);
	assert_int_equal(tracker_exec(f->t, f->child[0], f->child[0], false, HVAR_CAUSE_EXECVE, ++f->now), 0);
	pull(f);
	assert_int_equal(f->nev, 1);
	assert_int_equal(f->ev[0].type, HVAR_EVENT_EXEC);
	assert_int_equal(tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_EXECVE, ++f->now), 0);
	check(f, f->child[0]);
	assert_int_equal(f->lost, 0);
}

/* More processes than windows, more files than descriptors. */
static void test_bounds(void **state)
{
	struct fixture *f = *state;

	start(f);
	for (int k = 1; k < CHANNELS; k++)
		check(f, born(f, k, DO_FORK, HVAR_CAUSE_FORK, k - 1));
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < CHANNELS; k++)
			step(f, k, SYS_mmap, 0, (uint64_t)(k + 1) * PG, R, MAP_PRIVATE, (uint64_t)f->file[i], 0);
	assert_int_equal(f->lost, 0);
}

int main(int argc, char **argv)
{
#define LIVE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		LIVE(test_scenes),
		LIVE(test_scenes_without_query),
		LIVE(test_shared_memory),
		LIVE(test_shared_memory_without_query),
		LIVE(test_random),
		LIVE(test_random_without_query),
		LIVE(test_stack),
		LIVE(test_untold),
		LIVE(test_names),
		LIVE(test_elf),
		LIVE(test_device),
		LIVE(test_family),
		LIVE(test_add_process),
		LIVE(test_pid_reuse),
		LIVE(test_perf),
		LIVE(test_bounds),
	};
	ssize_t n;

	if (argc == 3 && !strcmp(argv[1], "--serve"))
		serve_fd(atoi(argv[2]));
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n < 0)
		return 1;
	exe[n] = '\0';
	/* Whatever happens, no child is left behind. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
