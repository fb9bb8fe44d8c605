// SPDX-License-Identifier: GPL-2.0-or-later
/* test_tracker_tasks.c - births, execs, ends of live processes, and what perf tells of them. */
#include "config.h"

#include "testsuite/unit/tracker_stage.h"

#include <sys/resource.h>

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

#ifdef __SANITIZE_ADDRESS__
	skip(); /* its runtime maps memory in the children, untold */
#endif
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

static struct rlimit files_before;

static int setup_few(void **state)
{
	struct rlimit few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files_before), 0);
	few = files_before;
	few.rlim_cur = 48;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	return setup(state);
}

static int teardown_few(void **state)
{
	setrlimit(RLIMIT_NOFILE, &files_before);
	return teardown(state);
}

/* More processes than windows, more ELF files than descriptors for them. */
static void test_bounds(void **state)
{
	struct fixture *f = *state;
	uint32_t id[10];

	start(f);
	/* the children have these ends: here they would only take up room */
	for (int k = 0; k < CHANNELS; k++) {
		close(channel[k][1]);
		channel[k][1] = -1;
	}
	for (int i = 0; i < 10; i++)
		assert_int_equal(pwrite(f->file[i], "\177ELF", 4, 0), 4);
	for (int k = 1; k < CHANNELS; k++)
		check(f, born(f, k, DO_FORK, HVAR_CAUSE_FORK, k - 1));
	for (int i = 0; i < 10; i++)
		for (int k = 0; k < CHANNELS; k++) {
			uint64_t m = (uint64_t)step(f, k, SYS_mmap, 0, (uint64_t)(k + 1) * PG, R, MAP_PRIVATE,
						    (uint64_t)f->file[i], 0);

			id[i] = tracker_find(f->t, f->child[k], m, ++f->now)->module;
		}
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 10; i++) {
			struct stat st;
			int fd = tracker_module_fd(f->t, id[i]);

			assert_true(fd >= 0);
			assert_int_equal(fstat(fd, &st), 0);
			assert_int_equal(st.st_ino, f->st[i].st_ino);
		}
	assert_int_equal(f->lost, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LIVE(test_family),
		LIVE(test_add_process),
		LIVE(test_pid_reuse),
		LIVE(test_perf),
		cmocka_unit_test_setup_teardown(test_bounds, setup_few, teardown_few),
	};

	return perform(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
