// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_kin.c - which of the processes that were told of run still.
 */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/kin.h"

static pid_t start(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* where a check fails nobody ends it */
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void left(void **state)
{
	struct kin k = { 0 };
	pid_t a = start(), b = start(), c = start(), one;
	struct session s = { 0 };

	(void)state;
	assert_int_equal(kin_left(&k, 0, &one), 0);
	kin_note(&k, 0, &s);
	assert_string_equal(s.note, "");
	kin_born(&k, 0); /* outside of our namespace */
	kin_born(&k, a);
	kin_born(&k, b);
	kin_born(&k, c);
	kin_ended(&k, 1 << 22); /* never told */
	assert_int_equal(kin_left(&k, 0, &one), 3);
	assert_int_equal(kin_left(&k, b, &one), 2); /* CMD itself may have been told */
	kin_ended(&k, a); /* a thread of it has */
	assert_int_equal(kin_left(&k, 0, &one), 3);
	end(a);
	kin_ended(&k, a);
	assert_int_equal(k.n, 2);
	assert_int_equal(kin_left(&k, 0, &one), 2);
	end(b); /* and its end was lost */
	assert_int_equal(kin_left(&k, 0, &one), 1);
	assert_int_equal(one, c);
	kin_note(&k, 0, &s);
	assert_non_null(strstr(s.note, "which CMD started, ran on"));
	assert_int_equal(atoi(s.note + strlen("process ")), c);
	end(c);
	assert_int_equal(kin_left(&k, 0, &one), 0);
	assert_int_equal(one, 0);
	kin_fini(&k);
	assert_int_equal(k.n, 0);
}

/* Against a plain array of flags: numbers that no process has are never left. */
static void many(void **state)
{
	enum { N = 300 };
	static bool there[N];
	struct kin k = { 0 };
	unsigned seed = 7;
	size_t n = 0, i;
	pid_t one;

	(void)state;
	for (i = 0; i < 20000; i++) {
		unsigned at = (seed = seed * 1103515245 + 12345) / 65536 % N;
		pid_t pid = (1 << 22) + 1 + (pid_t)at;

		if (there[at])
			kin_ended(&k, pid);
		else
			kin_born(&k, pid);
		there[at] = !there[at];
		n = there[at] ? n + 1 : n - 1;
		assert_int_equal(k.n, n);
	}
	assert_int_equal(kin_left(&k, 0, &one), 0);
	kin_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(left),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests_name("kin", tests, NULL, NULL);
}
