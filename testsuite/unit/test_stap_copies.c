// SPDX-License-Identifier: GPL-2.0-or-later
/* test_stap_copies.c - which copies of stap's runtime stay, and that none is taken away under its user. */
#include "config.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "testsuite/unit/temp_tree.h"
#include "translator-hooks/stap_copies.h"

#define DAY (24 * 60 * 60)

static int cache(void)
{
	int fd = open(at("cache"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Last used @ago seconds before now. */
static void used(const char *name, long ago)
{
	struct timespec t[2] = { { time(NULL) - ago, 0 }, { time(NULL) - ago, 0 } };
	char path[700];

	snprintf(path, sizeof(path), "%s/cache/%s/runtime.h", dir, name);
	if (utimensat(AT_FDCWD, path, t, AT_SYMLINK_NOFOLLOW)) {
		*strrchr(path, '/') = 0;
		assert_int_equal(utimensat(AT_FDCWD, path, t, AT_SYMLINK_NOFOLLOW), 0);
	}
}

static void made(const char *name, long ago)
{
	char path[300];

	snprintf(path, sizeof(path), "cache/%s/linux/runtime.h", name);
	put(path, "x");
	if (*name != '.') {
		snprintf(path, sizeof(path), "cache/%s/runtime.h", name);
		put(path, "x");
	}
	used(name, ago);
}

static bool is_there(const char *name)
{
	char path[700];
	struct stat st;

	snprintf(path, sizeof(path), "%s/cache/%s", dir, name);
	return !lstat(path, &st);
}

static void those_used_last(void **state)
{
	static const struct {
		const char *name;
		long ago;
		bool stays;
	} copies[] = {
		{ "stap-runtime-a", 100, true },	/* the four used last: this one, */
		{ "stap-runtime-b", 2 * DAY, true },
		{ "stap-runtime-c", 29 * DAY, true },	/* this one */
		{ "stap-runtime-d", 29 * DAY + 9, false },
		{ "stap-runtime-e", 31 * DAY, false },
		{ "stap-runtime-f", 200 * DAY, true },	/* that which is used */
		{ "stap-runtime-g", 200, true },	/* and this one */
		{ ".stap-runtime-17", DAY, false },
		{ ".stap-runtime-18", 60, true },	/* somebody is at it */
		{ "other", 300 * DAY, true },
	};
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		made(copies[i].name, copies[i].ago);
	fd = cache();
	stap_copies_sweep(fd, "stap-runtime-f");
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		if (is_there(copies[i].name) != copies[i].stays)
			fail_msg("%s", copies[i].name);
	/* as many as were used within a day */
	for (int i = 0; i < 9; i++) {
		char name[40];

		snprintf(name, sizeof(name), "stap-runtime-%d", i);
		made(name, 1000);
	}
	stap_copies_sweep(fd, "stap-runtime-f");
	for (int i = 0; i < 9; i++) {
		char name[40];

		snprintf(name, sizeof(name), "stap-runtime-%d", i);
		assert_true(is_there(name));
	}
	assert_false(is_there("stap-runtime-c"));
	close(fd);
}

static void links_and_locks(void **state)
{
	char path[700];
	int fd, held;

	(void)state;
	put("elsewhere/file", "x");
	assert_int_equal(symlink(at("elsewhere"), at("cache/stap-runtime-link")), 0);
	used("stap-runtime-link", 99 * DAY);
	made("stap-runtime-old", 99 * DAY);
	assert_int_equal(symlink(at("elsewhere"), at("cache/stap-runtime-old/up")), 0);
	used("stap-runtime-old", 99 * DAY);
	made("stap-runtime-held", 99 * DAY);
	put("cache/stap-runtime-file", "x");
	used("stap-runtime-file", 99 * DAY);
	held = open(at("cache/stap-runtime-held"), O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(held, LOCK_SH), 0);
	fd = cache();
	assert_false(stap_copies_use(fd, "stap-runtime-link"));
	stap_copies_sweep(fd, "");
	assert_false(is_there("stap-runtime-old"));
	assert_true(is_there("stap-runtime-held"));
	assert_true(is_there("stap-runtime-link"));
	assert_true(is_there("stap-runtime-file"));
	snprintf(path, sizeof(path), "%s/elsewhere/file", dir);
	assert_int_equal(access(path, F_OK), 0);
	close(held);
	stap_copies_sweep(fd, "");
	assert_false(is_there("stap-runtime-held"));
	assert_false(stap_copies_use(fd, "stap-runtime-held"));
	close(fd);
}

/* By the folders' times stap tells whether it knows this runtime: to use a copy, or to sweep, changes none; and it counts. */
static void known_to_stap(void **state)
{
	static const char *const folders[] = { "cache/stap-runtime-known", "cache/stap-runtime-known/linux" };
	struct timespec t[2] = { { 1000000000, 5 }, { 1000000000, 5 } };
	struct stat st;
	int fd = cache();

	(void)state;
	made("stap-runtime-known", 99 * DAY);
	for (int i = 0; i < 2; i++)
		assert_int_equal(utimensat(AT_FDCWD, at(folders[i]), t, 0), 0);
	assert_true(stap_copies_use(fd, "stap-runtime-known"));
	stap_copies_sweep(fd, "");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stat(at(folders[i]), &st), 0);
		assert_int_equal(st.st_mtim.tv_sec, 1000000000);
		assert_int_equal(st.st_mtim.tv_nsec, 5);
	}
	close(fd);
}

/* One makes a copy, lets it get old, and uses it; the other sweeps: what is used is there after that. */
static void two_at_once(void **state)
{
	int fd, kept = 0;
	pid_t pid;

	(void)state;
	fd = cache();
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		for (;;)
			stap_copies_sweep(fd, "");
	for (int i = 0; i < 400; i++) {
		if (!is_there("stap-runtime-two")) {
			/* as hotvar does: complete at once */
			made("making", 99 * DAY);
			assert_int_equal(rename(at("cache/making"), at("cache/stap-runtime-two")), 0);
		}
		if (i % 2)
			sched_yield();
		if (!stap_copies_use(fd, "stap-runtime-two"))
			continue;
		kept++;
		for (int n = 0; n < 20; n++) {
			assert_int_equal(access(at("cache/stap-runtime-two/linux/runtime.h"), F_OK), 0);
			sched_yield();
		}
		used("stap-runtime-two", 99 * DAY);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(kept > 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_used_last),
		cmocka_unit_test(links_and_locks),
		cmocka_unit_test(known_to_stap),
		cmocka_unit_test(two_at_once),
	};

	return cmocka_run_group_tests(tests, temp_begin, temp_end);
}
