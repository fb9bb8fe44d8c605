// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_advise_process - a process that is watched, a child: new code all the time is read so often and no more; its end.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/advise_process.h"

enum { PAGES = 2000, PAGE = 4096 };

/* mov (%rdi),%eax; ret */
static const unsigned char code[] = { 0x8b, 0x07, 0xc3 };
static char data[64];

static void sample(struct advise_process *p, uint64_t ip, uint64_t time_ns)
{
	struct perf_record r = { .what = PERF_IS_SAMPLE, .pid = 1, .tid = 1, .time_ns = time_ns };

	r.u.sample.ip = ip;
	for (int i = 0; i < STREAM_REGS; i++) /* RDI is one of them */
		r.u.sample.regs[i] = (uint64_t)(uintptr_t)data;
	advise_process_sample(p, &r);
}

/* A child with our memory, that waits to be ended. */
static struct child {
	pid_t pid;
	int go;
} fork_one(void)
{
	struct child c;
	int go[2];
	char byte;

	assert_int_equal(pipe(go), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) != 0);
	}
	close(go[0]);
	c.go = go[1];
	return c;
}

static void end(const struct child *c)
{
	close(c->go);
	assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
}

static struct advise_process *watched(const struct child *c)
{
	struct advise_process *p = advise_process_new(c->pid, 1000000000, 1);
	struct err e = { 0 };

	assert_non_null(p);
	assert_int_equal(advise_process_begin(p, false, &e), 0);
	return p;
}

static void new_code(void **state)
{
	unsigned char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct advise_process *p;
	struct child c;
	uint64_t taken;

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	for (int i = 0; i < PAGES; i++)
		memcpy(at + i * PAGE, code, sizeof(code));
	c = fork_one();
	p = watched(&c);
	for (int i = 0; i < PAGES; i++)
		sample(p, (uintptr_t)at + (uint64_t)i * PAGE, (uint64_t)i);
	taken = advise_jumps_samples(p->jumps);
	assert_in_range(taken, 1, ADVISE_PROCESS_READS);
	assert_int_equal(taken + p->unread, PAGES);
	assert_int_equal(advise_jumps_unproven(p->jumps), 0);

	/* what is known already costs nothing, and later more may be read */
	advise_process_see(p, 1);
	for (int i = 0; i < PAGES; i++)
		sample(p, (uintptr_t)at, PAGES + (uint64_t)i);
	sample(p, (uintptr_t)at + (PAGES - 1) * PAGE, 2 * PAGES);
	assert_int_equal(advise_jumps_samples(p->jumps), taken + PAGES + 1);
	assert_int_equal(advise_jumps_unproven(p->jumps), 0);
	advise_process_free(p);
	end(&c);
	munmap(at, PAGES * PAGE);
}

static void is_new(void **state)
{
	struct child c = fork_one();
	struct advise_process *p = watched(&c);

	(void)state;
	assert_false(advise_process_is_new(p));
	end(&c);
	assert_true(advise_process_is_new(p));
	assert_int_equal(advise_process_executed(p), -ESRCH);
	advise_process_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_code),
		cmocka_unit_test(is_new),
	};

	return cmocka_run_group_tests_name("advise_process", tests, NULL, NULL);
}
