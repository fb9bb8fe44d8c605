// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_relook - which processes are looked at, against a list that is searched.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/user/clock.h"
#include "runtime/user/relook.h"

enum { PIDS = 400 };

/* By pid: what must be true of it. */
static struct {
	bool there, active, sampled;
	uint64_t seen;
	unsigned looks;
} model[PIDS];

static struct relook *l;
static uint64_t burn_ns; /* how much CPU time a look takes */

static void look(void *ctx, pid_t pid, uint64_t now)
{
	uint64_t begin = clock_own_cpu_ns();

	(void)ctx;
	assert_true(pid > 0 && pid < PIDS);
	assert_int_equal(relook_seen(l, pid), now);
	model[pid].looks++;
	model[pid].seen = now;
	while (clock_own_cpu_ns() < begin + burn_ns)
		;
}

/* A share of 1 is all the time there is: every active process is due. */
static void agrees_with_a_list(void **state)
{
	(void)state;
	memset(model, 0, sizeof(model));
	l = relook_new(1);
	assert_non_null(l);
	burn_ns = 0;
	srand(1);
	for (int i = 0; i < 100000; i++) {
		pid_t pid = 1 + rand() % (PIDS - 1);
		bool sampled = rand() % 2;

		switch (rand() % 8) {
		case 0:
		case 1:
		case 2:
			assert_int_equal(relook_active(l, pid, sampled), 0);
			model[pid].there = model[pid].active = true;
			model[pid].sampled |= sampled;
			break;
		case 3:
			relook_saw(l, pid, (uint64_t)i);
			model[pid].there = true;
			model[pid].seen = (uint64_t)i;
			break;
		case 4:
		case 5:
		case 6:
			assert_int_equal(relook_gone(l, pid), model[pid].sampled);
			memset(&model[pid], 0, sizeof(model[pid]));
			break;
		default:
			if (i % 64)
				break;
			relook_all(l);
			relook_run(l, look, NULL);
			for (pid = 1; pid < PIDS; pid++) {
				assert_int_equal(model[pid].looks, model[pid].there);
				model[pid].looks = 0;
				model[pid].active = false;
			}
		}
		pid = 1 + rand() % (PIDS - 1);
		assert_int_equal(relook_seen(l, pid), model[pid].seen);
	}
	relook_free(l);
}

/* Only the active are looked at, once. */
static void looks_at_the_active(void **state)
{
	(void)state;
	memset(model, 0, sizeof(model));
	l = relook_new(1);
	burn_ns = 0;
	relook_saw(l, 7, 1);
	relook_active(l, 8, false);
	relook_run(l, look, NULL);
	relook_run(l, look, NULL);
	assert_int_equal(model[7].looks, 0);
	assert_int_equal(model[8].looks, 1);
	assert_int_equal(relook_active(l, 0, false), -ENOMEM);
	assert_int_equal(relook_active(l, -1, false), -ENOMEM);
	relook_free(l);
}

/* With next to no share, looks stop once the grace is used up, unless news was lost. */
static void keeps_to_its_share(void **state)
{
	unsigned looks = 0;

	(void)state;
	memset(model, 0, sizeof(model));
	l = relook_new(1000000000);
	burn_ns = 3000000; /* more than the grace */
	for (int i = 0; i < 20; i++) {
		relook_active(l, 3, true);
		relook_run(l, look, NULL);
	}
	looks = model[3].looks;
	assert_int_equal(looks, 1);
	relook_all(l);
	relook_run(l, look, NULL);
	assert_int_equal(model[3].looks, looks + 1);
	relook_free(l);
}

/* One whose looks cost much is waited for: those that cost less take half of the time there is since, and one look that is begun. */
static void waits_for_the_dear(void **state)
{
	enum { SHARE = 4, DEAR_NS = 3000000, CHEAP_NS = 300000 };
	uint64_t begin_ns, others_ns = 0;

	(void)state;
	memset(model, 0, sizeof(model));
	l = relook_new(SHARE);
	burn_ns = DEAR_NS;
	relook_active(l, 3, true);
	relook_run(l, look, NULL);
	assert_int_equal(model[3].looks, 1);
	burn_ns = CHEAP_NS;
	relook_active(l, 3, true);
	begin_ns = clock_now_ns();
	while (model[3].looks < 2) {
		unsigned was = model[4].looks;

		relook_active(l, 4, true);
		relook_run(l, look, NULL);
		if (model[4].looks == was || model[3].looks == 2)
			continue;
		assert_true(others_ns * 2 * SHARE <= clock_now_ns() - begin_ns);
		others_ns += CHEAP_NS;
	}
	relook_free(l);
}

/* One that there is never time for keeps nobody from what there is left, nor does anybody keep more than that. */
static void passes_the_dear(void **state)
{
	uint64_t used;

	(void)state;
	do { /* within the grace, and twice that is not */
		memset(model, 0, sizeof(model));
		l = relook_new(1000000000);
		burn_ns = 1200000;
		relook_active(l, 3, true);
		used = clock_own_cpu_ns();
		relook_run(l, look, NULL);
		used = clock_own_cpu_ns() - used;
		if (used >= 1900000)
			relook_free(l);
	} while (used >= 1900000);
	burn_ns = 0;
	for (int i = 0; i < 20; i++) {
		relook_active(l, 3, true);
		relook_active(l, 4, true);
		relook_run(l, look, NULL);
	}
	assert_int_equal(model[3].looks, 1);
	assert_int_equal(model[4].looks, 1);
	/* It has ended: nobody is waited for. */
	relook_gone(l, 3);
	relook_run(l, look, NULL);
	assert_int_equal(model[4].looks, 2);
	relook_free(l);
}

static bool expect_untold, spare;

static void look_unless_untold(void *ctx, pid_t pid, uint64_t now)
{
	uint64_t before = model[pid].seen;

	(void)ctx;
	assert_int_equal(relook_is_untold(l, pid), expect_untold);
	if (spare) {
		relook_unseen(l, pid);
		assert_int_equal(relook_seen(l, pid), before);
	} else {
		model[pid].seen = now;
	}
	model[pid].looks++;
}

/* A look that is spared leaves everything as it was: what was told, and when the map was seen. */
static void knows_what_was_told(void **state)
{
	static const struct {
		char what; /* a sample, news, exec, all */
		bool untold, spare;
	} steps[] = {
		{ 's', false, false }, { 's', true, false },  { 's', true, true },   { 's', true, true },   { 'n', false, true },
		{ 's', false, true },  { 's', false, false }, { 's', true, true },   { 'a', false, false }, { 's', true, false },
		{ 'e', false, false }, { 's', true, false },  { 'n', false, false }, { 's', true, true },
	};
	unsigned looks = 0;

	(void)state;
	memset(model, 0, sizeof(model));
	l = relook_new(1);
	burn_ns = 0;
	assert_false(relook_is_untold(l, 5));
	relook_unseen(l, 5);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i].what == 'a')
			relook_all(l);
		if (steps[i].what == 'e')
			relook_saw(l, 5, model[5].seen = 0);
		relook_active(l, 5, steps[i].what != 'n');
		expect_untold = steps[i].untold;
		spare = steps[i].spare;
		relook_run(l, look_unless_untold, NULL);
		assert_int_equal(model[5].looks, ++looks);
	}
	relook_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_list),
		cmocka_unit_test(looks_at_the_active),
		cmocka_unit_test(keeps_to_its_share),
		cmocka_unit_test(waits_for_the_dear),
		cmocka_unit_test(passes_the_dear),
		cmocka_unit_test(knows_what_was_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
