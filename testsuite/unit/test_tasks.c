// SPDX-License-Identifier: GPL-2.0-or-later
/* test_tasks.c - threads, forks, execs, exits and reused numbers, then at random against a plain list. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_tasks.h"

struct table {
	struct hvar_tasks t;
	struct hvar_task *tasks;
	struct hvar_mm *mms;
	uint32_t *slots;
};

static void make(struct table *x, uint32_t ntasks, uint32_t nmms, uint32_t nslots)
{
	x->tasks = malloc(ntasks * sizeof(*x->tasks));
	x->mms = malloc(nmms * sizeof(*x->mms));
	x->slots = malloc(nslots * sizeof(*x->slots));
	hvar_tasks_init(&x->t, x->tasks, ntasks, x->mms, nmms, x->slots, nslots);
}

static void move(struct table *x, uint32_t ntasks, uint32_t nmms, uint32_t nslots)
{
	struct table old = *x;

	x->tasks = malloc(ntasks * sizeof(*x->tasks));
	x->mms = malloc(nmms * sizeof(*x->mms));
	x->slots = malloc(nslots * sizeof(*x->slots));
	memcpy(x->tasks, old.tasks, x->t.ntasks * sizeof(*x->tasks));
	memcpy(x->mms, old.mms, x->t.nmms * sizeof(*x->mms));
	free(old.tasks);
	free(old.mms);
	free(old.slots);
	hvar_tasks_moved(&x->t, x->tasks, ntasks, x->mms, nmms, x->slots, nslots);
}

static void drop(struct table *x)
{
	free(x->tasks);
	free(x->mms);
	free(x->slots);
}

static uint32_t mm_of(struct table *x, uint32_t tid)
{
	struct hvar_task *task = hvar_tasks_find(&x->t, tid);

	return task ? hvar_tasks_mm(&x->t, task)->id : 0;
}

static void test_life(void **state)
{
	struct table x;
	struct hvar_mm *mm, gone;
	bool born;

	(void)state;
	make(&x, 8, 4, 4);
	/* a process, its thread, its vfork child, its fork child */
	assert_int_equal(hvar_tasks_add(&x.t, 10, 10, 500, 0, &mm, &born, &gone), 0);
	assert_true(born && mm->id == 1 && mm->refs == 1 && !gone.id);
	mm->host = &x;
	assert_int_equal(hvar_tasks_add(&x.t, 11, 10, 501, 1, &mm, &born, &gone), 0);
	assert_true(!born && mm->id == 1 && mm->refs == 2);
	assert_int_equal(hvar_tasks_add(&x.t, 12, 12, 502, 1, &mm, &born, &gone), 0);
	assert_true(!born && mm->id == 1 && mm->refs == 3 && mm->host == &x);
	assert_int_equal(hvar_tasks_add(&x.t, 13, 13, 503, 0, &mm, &born, &gone), 0);
	assert_true(born && mm->id == 2 && !mm->host);
	assert_int_equal(hvar_tasks_add(&x.t, 13, 13, 503, 0, &mm, &born, &gone), -EEXIST);
	assert_true(!born && mm->id == 2 && mm->refs == 1);
	/* the vfork child's exec leaves the parent's alone */
	assert_int_equal(hvar_tasks_exec(&x.t, 12, 0, &mm, &gone), 0);
	assert_true(mm->id == 3 && !gone.id && mm_of(&x, 10) == 1);
	/* the thread's exec ends the other thread and frees the old */
	assert_int_equal(hvar_tasks_exec(&x.t, 10, 0, &mm, &gone), 0);
	assert_true(mm->id == 4 && gone.id == 1 && gone.host == &x && !gone.refs);
	assert_null(hvar_tasks_find(&x.t, 11));
	assert_int_equal(x.t.used, 3);
	assert_null(hvar_tasks_mm_by_id(&x.t, 1));
	assert_ptr_equal(hvar_tasks_mm_by_id(&x.t, 4), mm);
	assert_int_equal(hvar_tasks_exit(&x.t, 13, &gone), 0);
	assert_int_equal(gone.id, 2);
	assert_int_equal(hvar_tasks_exit(&x.t, 13, &gone), -ESRCH);
	assert_int_equal(gone.id, 0);
	assert_int_equal(hvar_tasks_exec(&x.t, 13, 0, &mm, &gone), -ESRCH);
	assert_int_equal(hvar_tasks_add(&x.t, 0, 1, 1, 0, &mm, &born, &gone), -EINVAL);
	assert_null(hvar_tasks_find(&x.t, 0));
	assert_null(hvar_tasks_mm_by_id(&x.t, 0));
	drop(&x);
}

static void test_reuse(void **state)
{
	struct table x;
	struct hvar_mm *mm, gone;
	bool born;

	(void)state;
	make(&x, 2, 1, 2);
	assert_int_equal(hvar_tasks_add(&x.t, 7, 7, 100, 0, &mm, &born, &gone), 0);
	/* not known is no other time; known is remembered */
	assert_int_equal(hvar_tasks_add(&x.t, 7, 7, 0, 0, &mm, &born, &gone), -EEXIST);
	/* another start: another task, in a new address space, though there is but one entry */
	assert_int_equal(hvar_tasks_add(&x.t, 7, 7, 200, 0, &mm, &born, &gone), 0);
	assert_true(born && mm->id == 2 && gone.id == 1 && x.t.used == 1);
	/* the number of a thread of another process */
	assert_int_equal(hvar_tasks_add(&x.t, 7, 6, 0, 2, &mm, &born, &gone), 0);
	assert_true(!born && mm->id == 2 && !gone.id && mm->refs == 1);
	assert_int_equal(hvar_tasks_add(&x.t, 7, 6, 300, 2, &mm, &born, &gone), -EEXIST);
	assert_int_equal(hvar_tasks_add(&x.t, 7, 6, 301, 2, &mm, &born, &gone), 0);
	drop(&x);
}

static void test_recorded_numbers(void **state)
{
	struct table x;
	struct hvar_mm *mm, gone;
	bool born;

	(void)state;
	make(&x, 4, 4, 8);
	assert_int_equal(hvar_tasks_add(&x.t, 1, 1, 0, 40, &mm, &born, &gone), 0);
	assert_true(born && mm->id == 40);
	assert_int_equal(hvar_tasks_add(&x.t, 2, 2, 0, 30, &mm, &born, &gone), 0);
	assert_true(born && mm->id == 30);
	assert_int_equal(hvar_tasks_exec(&x.t, 2, 0, &mm, &gone), 0);
	assert_true(mm->id == 41 && gone.id == 30);
	assert_int_equal(hvar_tasks_exec(&x.t, 2, 40, &mm, &gone), -EINVAL); /* in use */
	assert_int_equal(hvar_tasks_exec(&x.t, 2, 41, &mm, &gone), -EINVAL);
	assert_int_equal(mm_of(&x, 2), 41);
	assert_int_equal(hvar_tasks_exec(&x.t, 2, UINT32_MAX, &mm, &gone), 0);
	assert_true(mm->id == UINT32_MAX && gone.id == 41);
	/* no number is left that was never used */
	assert_int_equal(hvar_tasks_add(&x.t, 3, 3, 0, 0, &mm, &born, &gone), -ENOSPC);
	assert_int_equal(hvar_tasks_exec(&x.t, 1, 0, &mm, &gone), -ENOSPC);
	assert_int_equal(x.t.lost, 2);
	assert_int_equal(hvar_tasks_add(&x.t, 3, 3, 0, 40, &mm, &born, &gone), 0);
	assert_false(born);
	drop(&x);
}

static void test_full(void **state)
{
	struct table x;
	struct hvar_mm *mm, gone;
	bool born;

	(void)state;
	make(&x, 3, 1, 2);
	assert_int_equal(hvar_tasks_add(&x.t, 1, 1, 9, 0, &mm, &born, &gone), 0);
	assert_int_equal(hvar_tasks_add(&x.t, 2, 2, 9, 0, &mm, &born, &gone), -ENOSPC);
	assert_int_equal(hvar_tasks_add(&x.t, 2, 2, 9, 1, &mm, &born, &gone), 0);
	/* the old one is shared, and there is room for no other */
	assert_int_equal(hvar_tasks_exec(&x.t, 2, 0, &mm, &gone), -ENOSPC);
	assert_int_equal(hvar_tasks_add(&x.t, 2, 2, 10, 0, &mm, &born, &gone), -ENOSPC);
	assert_int_equal(hvar_tasks_find(&x.t, 2)->start_time, 9);
	assert_int_equal(x.t.lost, 3);
	move(&x, 4, 2, 4);
	assert_int_equal(mm_of(&x, 1), 1);
	assert_int_equal(mm_of(&x, 2), 1);
	assert_int_equal(hvar_tasks_exec(&x.t, 2, 0, &mm, &gone), 0);
	assert_int_equal(mm->id, 2);
	/* alone in it: its own place is reused, even when all are taken */
	assert_int_equal(hvar_tasks_exec(&x.t, 2, 0, &mm, &gone), 0);
	assert_true(mm->id == 3 && gone.id == 2);
	drop(&x);
}

struct model {
	uint32_t tid, pid, mm;
	uint64_t start;
};

static uint32_t refs(const struct model *m, uint32_t n, uint32_t mm)
{
	uint32_t r = 0;

	for (uint32_t i = 0; i < n; i++)
		r += m[i].mm == mm;
	return r;
}

static void test_random(void **state)
{
	enum { MAX = 40, TIDS = 24 };
	struct model m[MAX] = { { 0 } };
	uint32_t n = 0, last = 0, ntasks = 3, nmms = 2, nslots = 2, lost = 0;
	struct table x;

	(void)state;
	srand(6);
	make(&x, ntasks, nmms, nslots);
	for (int step = 0; step < 200000; step++) {
		uint32_t tid = 1 + rand() % TIDS, i, before;
		struct hvar_mm *mm, gone;
		bool born = false;
		int r, what = rand() % 8;

		for (i = 0; i < n && m[i].tid != tid; i++)
			;
		before = i < n ? m[i].mm : 0;
		if (what < 5) {
			/* a process of its own, or a thread of the one whose tid is its pid */
			uint64_t start = 1 + rand() % 2;
			uint32_t pid = tid, mm_id = 0, j = n ? rand() % n : 0;

			if (n && rand() % 2) {
				mm_id = m[j].mm;
				if (m[j].tid != tid && rand() % 2)
					pid = m[j].pid;
			}
			r = hvar_tasks_add(&x.t, tid, pid, start, mm_id, &mm, &born, &gone);
			if (i < n && m[i].pid == pid && m[i].start == start) {
				assert_int_equal(r, -EEXIST);
				assert_int_equal(mm->id, m[i].mm);
			} else if (r == -ENOSPC) {
				assert_int_equal(x.t.lost, ++lost);
				assert_int_equal(gone.id, 0);
			} else {
				assert_int_equal(r, 0);
				if (i < n)
					m[i] = m[--n];
				m[n].tid = tid;
				m[n].pid = pid;
				m[n].start = start;
				m[n].mm = mm_id ? mm_id : last + 1;
				assert_int_equal(born, !mm_id);
				if (born)
					last++;
				n++;
				assert_int_equal(mm->id, m[n - 1].mm);
				assert_int_equal(gone.id, before && !refs(m, n, before) ? before : 0);
			}
		} else if (what < 7) {
			r = hvar_tasks_exit(&x.t, tid, &gone);
			assert_int_equal(r, i < n ? 0 : -ESRCH);
			if (i < n)
				m[i] = m[--n];
			assert_int_equal(gone.id, before && !refs(m, n, before) ? before : 0);
		} else {
			r = hvar_tasks_exec(&x.t, tid, 0, &mm, &gone);
			if (i == n) {
				assert_int_equal(r, -ESRCH);
			} else if (r == -ENOSPC) {
				assert_int_equal(x.t.lost, ++lost);
			} else {
				struct model me = m[i];

				assert_int_equal(r, 0);
				for (uint32_t k = 0; k < n;) {
					if (m[k].tid == tid || (m[k].pid == me.pid && m[k].mm == me.mm))
						m[k] = m[--n];
					else
						k++;
				}
				me.mm = ++last;
				m[n++] = me;
				assert_int_equal(mm->id, last);
				assert_int_equal(gone.id, refs(m, n, before) ? 0 : before);
			}
		}
		if (step % 50 == 0 && x.t.lost && ntasks < MAX / 2)
			move(&x, ntasks += 2, nmms += 1, nslots *= 1 + (nslots < 32));
		assert_int_equal(x.t.used, n);
		for (uint32_t k = 1; k <= TIDS; k++) {
			struct hvar_task *task = hvar_tasks_find(&x.t, k);

			for (i = 0; i < n && m[i].tid != k; i++)
				;
			assert_int_equal(!task, i == n);
			if (!task)
				continue;
			mm = hvar_tasks_mm(&x.t, task);
			assert_int_equal(task->pid, m[i].pid);
			assert_int_equal(mm->id, m[i].mm);
			assert_int_equal(mm->refs, refs(m, n, m[i].mm));
			assert_ptr_equal(hvar_tasks_mm_by_id(&x.t, mm->id), mm);
		}
		assert_null(hvar_tasks_mm_by_id(&x.t, last + 1));
	}
	assert_true(lost > 10);
	drop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),	    cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_recorded_numbers), cmocka_unit_test(test_full),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
