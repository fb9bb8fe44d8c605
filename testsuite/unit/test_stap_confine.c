// SPDX-License-Identifier: GPL-2.0-or-later
/* test_stap_confine.c - what the process that makes images can do, and what it cannot. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "testsuite/unit/temp_tree.h"
#include "translator-hooks/stap_confine.h"

static char file[300], private_file[300], made[300];

/* What is tried in the confined process; each returns whether it could. */
static bool opens(const char *path, int flags)
{
	return open(path, flags, 0600) >= 0;
}

static bool reads_all(void)
{
	return opens(file, O_RDONLY) && opens(private_file, O_RDONLY) && opens("/etc/shadow", O_RDONLY);
}

static bool writes_root(void)
{
	return opens(private_file, O_WRONLY) || opens(private_file, O_RDWR);
}

/* Anybody may write to it. */
static bool writes_any(void)
{
	return opens(file, O_WRONLY) || opens(file, O_RDONLY | O_TRUNC) || !truncate(file, 0) || !chmod(file, 0600);
}

static bool makes(void)
{
	return opens(made, O_RDWR | O_CREAT) || !mkdir(made, 0700) || !symlink("/", made) || !link(file, made) || !rename(file, made) ||
	       !mkfifo(made, 0600);
}

static bool removes(void)
{
	return !unlink(file);
}

static bool talks(void)
{
	int v[2];

	return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || !socketpair(AF_UNIX, SOCK_STREAM, 0, v);
}

static bool forks(void)
{
	return fork() >= 0 || vfork() >= 0 || syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0;
}

static bool executes(void)
{
	execl("/bin/true", "true", NULL);
	return false; /* had it been able to, it would have said nothing */
}

static bool signals(void)
{
	return !kill(getppid(), 0) || !kill(getpid(), 0);
}

static bool is_root(void)
{
	return !geteuid() || !getuid() || !getegid() || !setuid(0) || !seteuid(0);
}

static bool has_terminal(void)
{
	return opens("/dev/tty", O_RDONLY);
}

/* Those that were open before: of the first 100, three are /dev/null. */
static bool has_others(void)
{
	int n = 0, fd;

	for (fd = 3; fd < 100; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n != 2 || write(1, "x", 1) != 1;
}

static const struct {
	const char *what;
	bool (*can)(void);
	bool may;
} tries[] = {
	{ "no other descriptors", has_others, false },
	{ "read", reads_all, true },
	{ "write what is root's", writes_root, false },
	{ "write what is everybody's", writes_any, false },
	{ "make files", makes, false },
	{ "remove files", removes, false },
	{ "use the network", talks, false },
	{ "fork", forks, false },
	{ "execute", executes, false },
	{ "send signals", signals, false },
	{ "be root", is_root, false },
	{ "have a terminal", has_terminal, false },
};
#define N_TRIES (sizeof(tries) / sizeof(tries[0]))

static void what_it_can(void **state)
{
	char got[N_TRIES];
	int io[2], fd, status;
	size_t n = 0;
	ssize_t r;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	put("file", "x");
	put("private", "x");
	snprintf(file, sizeof(file), "%s", at("file"));
	snprintf(private_file, sizeof(private_file), "%s", at("private"));
	snprintf(made, sizeof(made), "%s", at("made"));
	assert_int_equal(chmod(at("."), 0777) || chmod(file, 0666) || chmod(private_file, 0600), 0);
	fd = open(file, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(pipe(io), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct err e = { 0, "" };
		int parent = getppid();

		close(io[0]);
		dup2(fd, 50); /* one that is not named */
		if (stap_confine(&fd, &io[1], parent, &e)) {
			dprintf(io[1], "%s", e.text);
			_exit(1);
		}
		for (size_t i = 0; i < N_TRIES; i++) {
			char c = tries[i].can() ? 'y' : 'n';

			if (write(io[1], &c, 1) != 1)
				_exit(2);
		}
		/* the file itself can be read, and more than a page of the answer written */
		_exit(pread(fd, got, 1, 0) == 1 && got[0] == 'x' ? 0 : 3);
	}
	close(io[1]);
	close(fd);
	while ((r = read(io[0], got + n, sizeof(got) - n)) > 0)
		n += (size_t)r;
	close(io[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(n, N_TRIES);
	for (size_t i = 0; i < N_TRIES; i++) {
		if ((got[i] == 'y') != tries[i].may)
			fail_msg("%s: %c", tries[i].what, got[i]);
	}
	assert_int_equal(access(made, F_OK), -1);
	assert_int_equal(access(file, F_OK), 0);
}

/* It does not outlive who began it, however that ends. */
static void ends_with_its_parent(void **state)
{
	int io[2], fd;
	pid_t pid;
	char c;

	(void)state;
	if (geteuid())
		skip();
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(pipe(io), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int parent = getpid();

		close(io[0]);
		if (!fork()) {
			struct err e = { 0, "" };

			if (stap_confine(&fd, &io[1], parent, &e) || write(io[1], "r", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		close(io[1]);
		for (;;)
			pause();
	}
	close(io[1]);
	close(fd);
	assert_int_equal(read(io[0], &c, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* the other end is closed when it is gone */
	assert_int_equal(read(io[0], &c, 1), 0);
	close(io[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_can),
		cmocka_unit_test(ends_with_its_parent),
	};

	return cmocka_run_group_tests(tests, temp_begin, temp_end);
}
