// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_session.c - what a session does about the signals that ask it to end.
 */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/session.h"
#include "runtime/user/target.h"

/* session_run() forgets earlier signals; a process that is not there is the shortest run. */
static void begin(struct session *s)
{
	struct err e;

	*s = (struct session){ .pid = 1 << 22, .source = SESSION_PTRACE };
	assert_true(session_run(s, &e) < 0);
	assert_int_equal(session_stopping(), 0);
}

static void attached(void **state)
{
	struct session s;

	(void)state;
	begin(&s);
	assert_false(session_heed(&s, 0, false));
	session_stop(SIGINT);
	assert_int_equal(session_stopping(), SIGINT);
	assert_true(session_heed(&s, 0, false));
}

static void launched_int(void **state)
{
	char *argv[] = { "x", NULL };
	struct session s;

	(void)state;
	begin(&s);
	s.argv = argv;
	session_stop(SIGINT);
	assert_false(session_heed(&s, getpid(), false)); /* CMD got it from the terminal */
	assert_false(session_heed(&s, getpid(), false)); /* and once is once */
	session_stop(SIGINT);
	assert_true(session_heed(&s, getpid(), false));
	begin(&s);
	s.argv = argv;
	session_stop(SIGQUIT);
	assert_true(session_heed(&s, getpid(), true)); /* a stopped CMD cannot heed it */
	begin(&s);
	s.argv = argv;
	session_stop(SIGINT);
	assert_true(session_heed(&s, 0, false)); /* CMD has ended */
}

static void launched_term(void **state)
{
	char *argv[] = { "x", NULL };
	struct session s;
	int status;
	pid_t pid;

	(void)state;
	begin(&s);
	s.argv = argv;
	pid = fork();
	if (!pid)
		for (;;)
			raise(SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	session_stop(SIGTERM);
	assert_false(session_heed(&s, pid, true));
	assert_int_equal(waitpid(pid, &status, 0), pid); /* passed on, and woken to act on it */
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void targets(void **state)
{
	struct err e = { 0 };
	char name[64];
	int status;
	pid_t pid;

	(void)state;
	assert_true(target_check(getpid(), &e) < 0);
	assert_non_null(strstr(e.text, "hotvar itself"));
	assert_int_equal(target_check(getppid(), &e), 0);
	assert_int_equal(target_tracer(getpid(), name), 0);
	assert_int_equal(target_state(getpid()), 'R');
	assert_int_equal(target_status(getpid(), "Tgid:"), getpid());
	assert_int_equal(target_status(getpid(), "Nothing:"), -1);
	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_true(target_check(pid, &e) < 0);
	assert_non_null(strstr(e.text, "zombie"));
	waitpid(pid, &status, 0);
	assert_true(target_check(pid, &e) < 0);
	assert_non_null(strstr(e.text, "no such process"));
	assert_true(target_check(0, &e) < 0);
	assert_true(target_check(-5, &e) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attached),
		cmocka_unit_test(launched_int),
		cmocka_unit_test(launched_term),
		cmocka_unit_test(targets),
	};

	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
