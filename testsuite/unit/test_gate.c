// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_gate.c - the gate under a kernel: without a tracer each gated call fails with ENOSYS, and no other does.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/core/hvar_call.h"
#include "runtime/user/gate.h"

enum { LAST_NR = 462, X32_BIT = 0x40000000 };

static bool listed(enum hvar_abi abi, uint64_t nr)
{
	uint32_t v[64], n = hvar_call_numbers(abi, v, 64), i;

	for (i = 0; i < n; i++)
		if (v[i] == nr)
			return true;
	return gate_is_affinity(abi, nr);
}

static long call_i386(long nr)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(-1), "c"(-1), "d"(-1), "S"(-1), "D"(-1)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

/* In a child: how many gated calls did not fail with ENOSYS; -1: the gate could not be had. */
static int gated_calls(const struct gate *g)
{
	int bad = 0, err = gate_install(g);
	long nr;

	if (err)
		return err == -EINVAL || err == -ENOSYS || err == -EPERM ? 77 : 99;
	for (nr = 0; nr <= LAST_NR; nr++) {
		if (listed(HVAR_ABI_X86_64, (uint64_t)nr)) {
			errno = 0;
			bad += syscall(nr, -1, -1, -1, -1, -1, -1) != -1 || errno != ENOSYS;
		}
		if (listed(HVAR_ABI_I386, (uint64_t)nr))
			bad += call_i386(nr) != -ENOSYS;
	}
	return bad;
}

/* In a child: how many others fail with ENOSYS that did not without the gate. */
static int other_calls(const struct gate *g)
{
	static bool there[LAST_NR + 1];
	static const long harmless[] = {
		SYS_read, SYS_close, SYS_fstat, SYS_lseek, SYS_ioctl, SYS_getpid, SYS_getppid,
		SYS_getuid, SYS_madvise, SYS_rt_sigprocmask, SYS_fcntl, SYS_sched_yield,
		SYS_prctl, SYS_futex, SYS_openat, SYS_dup2, SYS_mincore, SYS_msync, SYS_mlock,
	};
	size_t i;
	int bad = 0, pass;

	for (pass = 0; pass < 2; pass++) {
		if (pass && gate_install(g))
			return 77;
		for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
			bool ok;

			errno = 0;
			syscall(harmless[i], -1, -1, -1, -1, -1, -1);
			ok = errno != ENOSYS;
			if (!pass)
				there[harmless[i]] = ok;
			else
				bad += there[harmless[i]] && !ok;
		}
	}
	return bad;
}

static int in_child(int (*fn)(const struct gate *g))
{
	struct gate *g = gate_new();
	int status;
	pid_t pid;

	assert_non_null(g);
	pid = fork();
	if (!pid)
		_exit(fn(g));
	gate_free(g);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void gated(void **state)
{
	int bad = in_child(gated_calls);

	(void)state;
	if (bad == 77)
		skip();
	assert_int_equal(bad, 0);
}

static void others(void **state)
{
	int bad = in_child(other_calls);

	(void)state;
	if (bad == 77)
		skip();
	assert_int_equal(bad, 0);
}

static void lists(void **state)
{
	(void)state;
	assert_true(listed(HVAR_ABI_X86_64, SYS_mmap));
	assert_true(listed(HVAR_ABI_X86_64, SYS_execve));
	assert_true(listed(HVAR_ABI_X86_64, SYS_sched_getaffinity));
	assert_true(listed(HVAR_ABI_X32, SYS_mmap | X32_BIT));
	assert_true(listed(HVAR_ABI_X32, SYS_sched_setaffinity | X32_BIT));
	assert_false(listed(HVAR_ABI_X86_64, SYS_getppid));
	assert_false(listed(HVAR_ABI_I386, SYS_sched_getaffinity));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(gated),
		cmocka_unit_test(others),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
