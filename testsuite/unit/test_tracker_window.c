// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tracker_window - a window on a map that has to be opened anew, and then cannot be read: no other program
 * was executed, and what fails is said as it is.  What looks find counts as news.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/clock.h"
#include "runtime/user/code_capture.h"
#include "runtime/user/look.h"
#include "runtime/user/perf_news.h"
#include "runtime/user/relook.h"
#include "runtime/user/stream.h"
#include "runtime/user/target.h"
#include "runtime/user/tracker.h"

enum { PAGE = 4096, AREA = 8 * PAGE };

/* ---- what reads fail with ---- */

static int fails_with; /* 0: they do not */
static unsigned failed;

/* In place of the library's: a read that would show something fails. */
ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
	ssize_t got = syscall(SYS_pread64, fd, buf, n, at);

	if (got <= 0 || !fails_with)
		return got;
	failed++;
	errno = fails_with;
	return -1;
}

/* ---- a child, and what follows it ---- */

static struct shared {
	volatile pid_t thread;
	volatile bool thread_ends, moves, moved, grows, grown, shrinks, shrunk;
} *shared;

static pid_t child;
static struct stream *out;
static struct stream_reader *in;
static struct tracker *t;
static uint64_t now = 1000;

static void *wait_for_end(void *arg)
{
	shared->thread = gettid();
	while (!shared->thread_ends)
		sched_yield();
	return arg;
}

static void serve(void)
{
	void *area = mmap(NULL, AREA, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	if (area == MAP_FAILED || pthread_create(&thread, NULL, wait_for_end, NULL))
		_exit(1);
	while (!shared->moves)
		sched_yield();
	/* half of it goes elsewhere: however it was mapped, that is a change */
	if (mremap(area, AREA / 2, AREA / 2, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)area + (1ull << 30)) == MAP_FAILED)
		_exit(1);
	shared->moved = true;
	while (!shared->grows)
		sched_yield();
	area = mmap(NULL, PAGE, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		_exit(1);
	shared->grown = true;
	while (!shared->shrinks)
		sched_yield();
	if (munmap(area, PAGE))
		_exit(1);
	shared->shrunk = true;
	for (;;)
		pause();
}

static int begin(void **state)
{
	(void)state;
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return -1;
	child = fork();
	if (!child)
		serve();
	while (target_is_alive(child) && !shared->thread)
		sched_yield();
	out = stream_to_queue(NULL);
	in = out ? stream_reader_of_queue(out) : NULL;
	t = in ? tracker_new(out, NULL) : NULL;
	return t ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	fails_with = 0;
	look_without_query(false);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	tracker_free(t);
	stream_close(out, NULL);
	stream_reader_free(in);
	munmap(shared, PAGE);
	return 0;
}

static int look_at_all(void)
{
	return tracker_look(t, child, 0, UINT64_MAX, HVAR_CAUSE_NONE, ++now);
}

static void test_failed_look(void **state)
{
	static const int codes[] = { EACCES, ENOMEM };
	uint32_t before, after;
	pid_t pid, thread = shared->thread;

	(void)state;
	look_without_query(true);
	/* The window is opened through the thread, which ends. */
	assert_int_equal(tracker_add(t, thread, child, ++now, NULL), 0);
	assert_int_equal(tracker_add(t, child, child, ++now, NULL), 0);
	assert_true(tracker_knows(t, child, &pid, &before));
	shared->thread_ends = true;
	while (target_state(thread))
		sched_yield();
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		failed = 0;
		fails_with = codes[i];
		assert_int_equal(look_at_all(), -codes[i]);
		assert_true(failed > 0);
		fails_with = 0;
	}
	/* It was the same space all the time. */
	assert_int_equal(look_at_all(), 0);
	assert_true(tracker_knows(t, child, &pid, &after));
	assert_int_equal(after, before);
}

static void test_news(void **state)
{
	struct code_capture *code = code_capture_new(t, out);
	struct perf_news n = { .t = t, .out = out, .code = code, .hz = 1000 };
	uint64_t before;

	(void)state;
	assert_non_null(code);
	tracker_late_is_usual(t);
	assert_int_equal(tracker_add(t, child, child, ++now, NULL), 0);
	before = perf_news_new(&n);
	assert_int_equal(look_at_all(), 0);
	assert_int_equal(perf_news_new(&n), before);
	shared->moves = true;
	while (target_is_alive(child) && !shared->moved)
		sched_yield();
	assert_int_equal(perf_news_new(&n), before);
	assert_int_equal(look_at_all(), 0);
	assert_true(perf_news_new(&n) > before);
	before = perf_news_new(&n);
	assert_int_equal(look_at_all(), 0);
	assert_int_equal(perf_news_new(&n), before);
	code_capture_free(code);
}

/* A move without growth is not seen by its size: it is, one time in some. */
static void test_size(void **state)
{
	int spared = 0;

	(void)state;
	assert_false(tracker_is_as_large(t, child));
	assert_int_equal(tracker_add(t, child, child, ++now, NULL), 0);
	assert_false(tracker_is_as_large(t, child));
	assert_true(tracker_is_as_large(t, child));
	shared->moves = true;
	while (target_is_alive(child) && !shared->moved)
		sched_yield();
	while (tracker_is_as_large(t, child))
		assert_true(++spared < 20);
	assert_true(spared > 3);
	assert_true(tracker_is_as_large(t, child));
	shared->grows = true;
	while (target_is_alive(child) && !shared->grown)
		sched_yield();
	assert_false(tracker_is_as_large(t, child));
	assert_true(tracker_is_as_large(t, child));
	kill(child, SIGKILL);
	while (target_state(child) && target_state(child) != 'Z')
		sched_yield();
	assert_false(tracker_is_as_large(t, child));
	assert_false(tracker_is_as_large(t, child));
}

/* The time for a look has come, after a sample or after news of a mapping: how many changes does it tell? */
static uint64_t look_after(struct perf_news *n, bool news)
{
	uint64_t before = tracker_told(t);

	assert_int_equal(relook_active(n->look, child, !news), 0);
	perf_news_look(n, clock_now_ns());
	return tracker_told(t) - before;
}

/* What came was told, and what goes is not: as large as before it came is not as large as at the last look. */
static void test_size_at_news(void **state)
{
	struct code_capture *code = code_capture_new(t, out);
	struct perf_news n = { .t = t, .out = out, .code = code, .look = relook_new(1), .hz = 1000 };

	(void)state;
	assert_non_null(code);
	assert_non_null(n.look);
	tracker_late_is_usual(t);
	assert_int_equal(tracker_add(t, child, child, clock_now_ns(), NULL), 0);
	for (int i = 0; i < 4; i++)
		look_after(&n, false);
	shared->moves = true;
	while (target_is_alive(child) && !shared->moved)
		sched_yield();
	/* Looks were spared until then. */
	assert_int_equal(look_after(&n, false), 0);
	shared->grows = true;
	while (target_is_alive(child) && !shared->grown)
		sched_yield();
	assert_true(look_after(&n, true) > 0);
	shared->shrinks = true;
	while (target_is_alive(child) && !shared->shrunk)
		sched_yield();
	assert_true(look_after(&n, false) > 0);
	relook_free(n.look);
	code_capture_free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_failed_look, begin, finish),
		cmocka_unit_test_setup_teardown(test_news, begin, finish),
		cmocka_unit_test_setup_teardown(test_size, begin, finish),
		cmocka_unit_test_setup_teardown(test_size_at_news, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
