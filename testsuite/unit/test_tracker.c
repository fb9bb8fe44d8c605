// SPDX-License-Identifier: GPL-2.0-or-later
/* test_tracker.c - the tracker's lists of live processes are what the kernel shows. */
#include "config.h"

#include <sys/personality.h>

#include "testsuite/unit/tracker_stage.h"

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

/* [heap] in pieces that touch: what the break, a hole or another protection does to one relabels others. */
static void heap_in_pieces(struct fixture *f)
{
	const uint64_t anon = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	uint64_t brk, top;

	start(f);
	brk = (uint64_t)step(f, 0, SYS_brk, 0, 0, 0, 0, 0, 0);
	top = (uint64_t)step(f, 0, SYS_brk, ((brk + PG - 1) & ~(PG - 1ull)) + 16 * PG, 0, 0, 0, 0, 0);
	/* the kernel keeps them apart, although they look alike */
	order(0, SYS_madvise, top - 12 * PG, 4 * PG, MADV_DONTDUMP, 0, 0, 0);
	order(0, SYS_madvise, top - 4 * PG, 4 * PG, MADV_DONTDUMP, 0, 0, 0);
	step(f, 0, SYS_mmap, top, 4 * PG, R | W, anon, -1, 0);
	order(0, SYS_madvise, top + 2 * PG, 2 * PG, MADV_DONTDUMP, 0, 0, 0);
	step(f, 0, SYS_mmap, top + 4 * PG, 2 * PG, R | W, anon, -1, 0);
	step(f, 0, SYS_mprotect, top + PG, 2 * PG, R, 0, 0, 0);
	step(f, 0, SYS_mprotect, top + PG, 2 * PG, R | W, 0, 0, 0);
	step(f, 0, SYS_munmap, top - 10 * PG, PG, 0, 0, 0, 0);
	step(f, 0, SYS_mmap, top - 10 * PG, PG, R | W, anon, -1, 0);
	order(0, SYS_madvise, top, 2 * PG, MADV_DONTDUMP, 0, 0, 0);
	step(f, 0, SYS_mprotect, top - PG, PG, R, 0, 0, 0);
	step(f, 0, SYS_mprotect, top - PG, PG, R | W, 0, 0, 0);
	step(f, 0, SYS_brk, top - 6 * PG, 0, 0, 0, 0, 0);
	step(f, 0, SYS_munmap, top, 6 * PG, 0, 0, 0, 0);
	step(f, 0, SYS_brk, top + 2 * PG, 0, 0, 0, 0, 0);
	step(f, 0, SYS_brk, brk, 0, 0, 0, 0, 0);
	assert_int_equal(f->lost, 0);
}

static void test_heap_in_pieces(void **state)
{
	heap_in_pieces(*state);
}

static void test_heap_in_pieces_without_query(void **state)
{
	look_without_query(true);
	heap_in_pieces(*state);
}

/* What may be read may be executed: no argument of a call says it. */
static void readable_is_executable(struct fixture *f)
{
	const uint64_t anon = MAP_PRIVATE | MAP_ANONYMOUS;
	uint64_t m, brk;

	for (int round = 0; round < 2; round++) {
		if (!round) {
			start(f);
			m = (uint64_t)step(f, 0, SYS_mmap, 0, 2 * PG, R, anon, -1, 0);
		} else {
			order(0, DO_EXEC, 0, 0, 0, 0, 0, 0);
			assert_int_equal(tracker_exec(f->t, f->child[0], f->child[0], true,
						      HVAR_CAUSE_EXECVE, ++f->now), 0);
			assert_int_not_equal(order(0, SYS_personality, READ_IMPLIES_EXEC, 0, 0, 0, 0, 0),
					     READ_IMPLIES_EXEC); /* an exec of 64 bits takes it off */
			m = (uint64_t)step(f, 0, SYS_mmap, 0, 8 * PG, R, anon, -1, 0);
			assert_true(events(f, HVAR_EVENT_MAP, HVAR_CAUSE_MMAP));
			assert_int_equal(f->ev[f->nev - 1].u.map.prot, HVAR_PROT_READ | HVAR_PROT_EXEC);
			step(f, 0, SYS_mprotect, m, 2 * PG, W, 0, 0, 0);
			step(f, 0, SYS_mprotect, m + PG, 2 * PG, R | W, 0, 0, 0);
			brk = (uint64_t)step(f, 0, SYS_brk, 0, 0, 0, 0, 0, 0);
			step(f, 0, SYS_brk, brk + 3 * PG, 0, 0, 0, 0, 0);
		}
		step(f, 0, SYS_mprotect, m, PG, 0, 0, 0, 0);
	}
	assert_int_equal(f->lost, 0);
}

static void test_readable_is_executable(void **state)
{
	readable_is_executable(*state);
}

static void test_readable_is_executable_without_query(void **state)
{
	look_without_query(true);
	readable_is_executable(*state);
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
	assert_null(tracker_find(f->t, f->child[0], m + PG, f->now + 1000000000));
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

/* Looks while the map is in motion: never refused as unsorted, right when it rests. */
static void in_motion(struct fixture *f, int rounds)
{
	struct order o = { DO_CHURN, { (uint64_t)rounds } };
	int64_t ret;
	int looks = 0;

	start(f);
	assert_int_equal(write(channel[0][0], &o, sizeof(o)), sizeof(o));
	while (recv(channel[0][0], &ret, sizeof(ret), MSG_DONTWAIT) < 0) {
		uint64_t lo = looks % 2 ? 0x10000 : 0, hi = looks % 2 ? 1ull << 63 : UINT64_MAX;

		assert_int_equal(tracker_look(f->t, f->child[0], lo, hi, HVAR_CAUSE_NONE, ++f->now), 0);
		pull(f);
		looks++;
	}
	assert_int_equal(ret, 0);
	assert_int_equal(tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now), 0);
	check(f, f->child[0]);
	assert_true(looks > 0);
}

static void test_in_motion(void **state)
{
	in_motion(*state, 1000);
}

static void test_in_motion_without_query(void **state)
{
	look_without_query(true);
	in_motion(*state, 1000);
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

/* C03: another file has the name by now.  The mapped one is had, or none. */
static void test_replaced(void **state)
{
	struct fixture *f = *state;
	const struct timespec before[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char path[256], other[256];
	const struct hvar_vma *v;
	struct stat st;
	uint64_t m;
	int fd;

	for (int i = 1; i < 3; i++)
		assert_int_equal(pwrite(f->file[i], "\177ELF", 4, 0), 4);
	assert_int_equal(futimens(f->file[1], before), 0); /* before the process began */
	m = (uint64_t)order(0, SYS_mmap, 0, PG, R, MAP_PRIVATE, (uint64_t)f->file[1], 0);
	snprintf(path, sizeof(path), "%s/%s", f->dir, names[1]);
	snprintf(other, sizeof(other), "%s/%s", f->dir, names[2]);
	assert_int_equal(rename(other, path), 0);
	start(f);
	v = tracker_find(f->t, f->child[0], m, ++f->now);
	assert_non_null(v);
	assert_string_equal(tracker_module_path(f->t, v->module), path);
	assert_int_equal(v->flags, HVAR_VMA_DELETED);
	fd = tracker_module_fd(f->t, v->module);
	if (fd < 0) {
		/* no right to /proc/PID/map_files */
		assert_true(tracker_module(f->t, v->module)->flags & HVAR_MODULE_UNREAD);
		return;
	}
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_ino, f->st[1].st_ino);
}

/* Written to after the process began: what it has mapped of it cannot be known. */
static void test_stale(void **state)
{
	struct fixture *f = *state;
	const struct hvar_vma *v;
	uint64_t m;

	m = (uint64_t)order(0, SYS_mmap, 0, PG, R, MAP_PRIVATE, (uint64_t)f->file[1], 0);
	/* start times are in ticks: let one pass by doing something */
	for (clock_t c = clock(); clock() - c < CLOCKS_PER_SEC / 20;)
		;
	assert_int_equal(pwrite(f->file[1], "\177ELF", 4, 0), 4);
	start(f);
	v = tracker_find(f->t, f->child[0], m, ++f->now);
	assert_non_null(v);
	assert_true(tracker_module(f->t, v->module)->flags & HVAR_MODULE_STALE);
	assert_int_equal(tracker_module_fd(f->t, v->module), -1);
	v = tracker_find(f->t, f->child[0], (uint64_t)(uintptr_t)&test_stale, ++f->now);
	assert_false(tracker_module(f->t, v->module)->flags & HVAR_MODULE_STALE);
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LIVE(test_scenes),
		LIVE(test_scenes_without_query),
		LIVE(test_shared_memory),
		LIVE(test_shared_memory_without_query),
		LIVE(test_heap_in_pieces),
		LIVE(test_heap_in_pieces_without_query),
		LIVE(test_readable_is_executable),
		LIVE(test_readable_is_executable_without_query),
		LIVE(test_random),
		LIVE(test_random_without_query),
		LIVE(test_stack),
		LIVE(test_untold),
		LIVE(test_in_motion),
		LIVE(test_in_motion_without_query),
		LIVE(test_names),
		LIVE(test_elf),
		LIVE(test_replaced),
		LIVE(test_stale),
		LIVE(test_device),
	};

	return perform(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
