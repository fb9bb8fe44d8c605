// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tracees.c - the table of traced tasks against an array that is searched from end to end.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/user/tracees.h"

enum { MODEL = 300, TIDS = 500, STEPS = 200000 };

struct model {
	pid_t tid[MODEL];
	struct tracee *at[MODEL];
	size_t n;
};

static size_t model_find(const struct model *m, pid_t tid)
{
	size_t i = 0;

	while (i < m->n && m->tid[i] != tid)
		i++;
	return i;
}

/* Every entry is found, under a walk as well, and no other. */
static void check_all(const struct tracees *t, const struct model *m)
{
	struct tracee *x;
	size_t i = 0, n = 0, alive = 0;
	pid_t tid;

	assert_int_equal(t->n, m->n);
	for (tid = 1; tid <= TIDS; tid++) {
		size_t at = model_find(m, tid);

		assert_ptr_equal(tracees_find(t, tid), at < m->n ? m->at[at] : NULL);
	}
	while ((x = tracees_next(t, &i))) {
		assert_ptr_equal(m->at[model_find(m, x->tid)], x);
		n++;
		alive += x->pid == 7 && !x->exiting;
	}
	assert_int_equal(n, m->n);
	assert_int_equal(tracees_alive(t, 7), alive);
}

static void random_changes(void **state)
{
	struct tracees t = { 0 };
	static struct model m;
	int step;

	(void)state;
	srand(1);
	assert_null(tracees_find(&t, 1));
	for (step = 0; step < STEPS; step++) {
		/* Now few, now many, so that it grows and empties. */
		pid_t tid = 1 + rand() % (step / 20000 % 2 ? TIDS : 40);
		size_t at = model_find(&m, tid);

		if (rand() % 2 && m.n < MODEL) {
			struct tracee *x = tracees_get(&t, tid);

			assert_non_null(x);
			assert_int_equal(x->tid, tid);
			if (at == m.n) {
				assert_int_equal(x->pid, tid);
				assert_false(x->told || x->started || x->in_call);
				x->pid = rand() % 4 ? tid : 7;
				x->exiting = rand() % 2;
				m.tid[m.n] = tid;
				m.at[m.n++] = x;
			} else {
				assert_ptr_equal(x, m.at[at]);
			}
		} else if (at < m.n) {
			tracees_drop(&t, m.at[at]);
			m.n--;
			m.tid[at] = m.tid[m.n];
			m.at[at] = m.at[m.n];
		}
		if (step % 997 == 0)
			check_all(&t, &m);
	}
	check_all(&t, &m);
	tracees_fini(&t);
	assert_int_equal(t.n, 0);
	assert_null(tracees_find(&t, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_changes),
	};

	return cmocka_run_group_tests_name("tracees", tests, NULL, NULL);
}
