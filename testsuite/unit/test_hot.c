// SPDX-License-Identifier: GPL-2.0-or-later
/* test_hot.c - the hot table: known sums, saturation, exhaustion, then at random against a plain list. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_hot.h"

enum { RD = HVAR_ACCESS_READ, WR = HVAR_ACCESS_WRITE, ONE = 65536 };

static void test_table(void **state)
{
	struct hvar_hot v[4];
	uint32_t slots[8], i, j;
	uint64_t tids[16];
	struct hvar_hot_table t;
	struct hvar_hot_key key = { .module = 1, .symbol = 2, .kind = 3 };

	(void)state;
	hvar_hot_init(&t, v, 4, slots, 8, tids, 16);
	assert_true(hvar_hot_room(&t));
	assert_int_equal(hvar_hot_slot(&t, &key, ONE, &i), 0);
	assert_int_equal(i, 0);
	key.mm = 1; /* each field is part of what is counted */
	assert_int_equal(hvar_hot_slot(&t, &key, ONE, &j), 0);
	assert_int_equal(j, 1);
	key.mm = 0;
	key.kind = 4;
	assert_int_equal(hvar_hot_slot(&t, &key, ONE, &j), 0);
	assert_int_equal(j, 2);
	key.kind = 3;
	assert_int_equal(hvar_hot_slot(&t, &key, ONE, &j), 0);
	assert_int_equal(j, 0);
	hvar_hot_count(&t, 0, 100, 3 * ONE, 8, RD);
	hvar_hot_count(&t, 0, 100, ONE / 2, 4, WR);
	hvar_hot_count(&t, 0, 101, ONE, 2, RD | WR); /* once as each */
	assert_int_equal(v[0].reads, 4 * ONE);
	assert_int_equal(v[0].writes, ONE + ONE / 2);
	assert_int_equal(v[0].bytes, 24 * ONE + 2 * ONE + 4 * ONE);
	assert_int_equal(v[0].threads, 2);
	hvar_hot_count(&t, 1, 100, ONE, 0, 0);
	assert_int_equal(v[1].reads + v[1].writes + v[1].bytes, 0);
	assert_int_equal(v[1].threads, 1);
	hvar_hot_time(&t, 0, 1000);
	hvar_hot_time(&t, 0, 500);
	assert_int_equal(v[0].time_ns, 1500);
	assert_int_equal(v[0].samples, 2);
	hvar_hot_count(&t, 3, 1, ONE, 1, RD); /* never given out */
	hvar_hot_time(&t, HVAR_HOT_NONE, 1);
	assert_int_equal(t.n, 3);
}

static void test_saturates(void **state)
{
	struct hvar_hot v[1];
	uint32_t slots[4], i;
	uint64_t tids[4];
	struct hvar_hot_table t;
	struct hvar_hot_key key = { 0 }, other = { .module = 1 };

	(void)state;
	hvar_hot_init(&t, v, 1, slots, 4, tids, 4);
	assert_int_equal(hvar_hot_slot(&t, &key, 1, &i), 0);
	hvar_hot_count(&t, i, 1, UINT64_MAX - 1, 1, RD | WR);
	hvar_hot_count(&t, i, 1, 1, 1, RD);
	assert_true(v[0].reads == UINT64_MAX);
	hvar_hot_count(&t, i, 1, 5, 1, RD);
	assert_true(v[0].reads == UINT64_MAX);
	assert_true(v[0].writes == UINT64_MAX - 1);
	assert_true(v[0].bytes == UINT64_MAX);
	v[0].bytes = 0;
	hvar_hot_count(&t, i, 1, 1ull << 62, 8, WR); /* weight * size has 65 bits */
	assert_true(v[0].bytes == UINT64_MAX);
	hvar_hot_time(&t, i, UINT64_MAX);
	hvar_hot_time(&t, i, 2);
	assert_true(v[0].time_ns == UINT64_MAX);
	assert_false(hvar_hot_room(&t));
	assert_int_equal(hvar_hot_slot(&t, &other, UINT64_MAX, &i), -ENOSPC);
	assert_int_equal(hvar_hot_slot(&t, &other, 9, &i), -ENOSPC);
	assert_true(t.lost == UINT64_MAX);
}

static void test_tids_full(void **state)
{
	struct hvar_hot v[2];
	uint32_t slots[4], i;
	uint64_t tids[4], more[8];
	struct hvar_hot_table t;
	struct hvar_hot_key key = { 0 };

	(void)state;
	hvar_hot_init(&t, v, 2, slots, 4, tids, 4);
	assert_int_equal(hvar_hot_slot(&t, &key, 1, &i), 0);
	for (uint32_t tid = 0; tid < 5; tid++)
		hvar_hot_count(&t, 0, tid, 1, 1, RD);
	assert_int_equal(v[0].threads, 3);
	assert_int_equal(t.lost_tids, 2);
	assert_false(hvar_hot_room(&t));
	hvar_hot_count(&t, 0, 1, 1, 1, RD); /* noted already: nothing is lost */
	assert_int_equal(t.lost_tids, 2);
	hvar_hot_moved(&t, v, 2, slots, 4, tids, 4, more, 8);
	assert_true(hvar_hot_room(&t));
	hvar_hot_count(&t, 0, 1, 1, 1, RD);
	assert_int_equal(v[0].threads, 3);
	hvar_hot_count(&t, 0, 9, 1, 1, RD);
	assert_int_equal(v[0].threads, 4);
	assert_int_equal(t.lost_tids, 2);
	assert_int_equal(v[0].reads, 8);
}

static void test_random(void **state)
{
	enum { MAX = 300, TIDS = 6 };
	struct model {
		struct hvar_hot h;
		bool tid[TIDS];
	} *model = calloc(MAX, sizeof(*model));
	uint32_t n = 0, cap = 2, nslots = 4, ntids = 8, moves = 0;
	struct hvar_hot *v = malloc(cap * sizeof(*v));
	uint32_t *slots = malloc(nslots * sizeof(*slots));
	uint64_t *tids = malloc(ntids * sizeof(*tids)), lost = 0;
	struct hvar_hot_table t;

	(void)state;
	srand(5);
	hvar_hot_init(&t, v, cap, slots, nslots, tids, ntids);
	for (int step = 0; step < 100000; step++) {
		struct hvar_hot_key key = { rand() % 4, rand() % 8, rand() % 3, rand() % 3 };
		uint32_t i, k, tid = rand() % TIDS, size = rand() % 9, flags = rand() % 4;
		uint64_t w = rand() % 1000;
		int r = hvar_hot_slot(&t, &key, w, &i);

		for (k = 0; k < n && memcmp(&model[k].h.key, &key, sizeof(key)); k++)
			;
		if (r == -ENOSPC) {
			assert_int_equal(k, n);
			lost += w;
			assert_int_equal(t.lost, lost);
		} else {
			assert_int_equal(r, 0);
			assert_int_equal(i, k);
			if (k == n)
				model[n++].h.key = key;
			hvar_hot_count(&t, i, tid, w, size, flags);
			hvar_hot_time(&t, i, w);
			model[k].h.reads += flags & RD ? w : 0;
			model[k].h.writes += flags & WR ? w : 0;
			model[k].h.bytes += w * size * (!!(flags & RD) + !!(flags & WR));
			model[k].h.time_ns += w;
			model[k].h.samples++;
			if (!model[k].tid[tid] && !t.lost_tids) {
				model[k].tid[tid] = true;
				model[k].h.threads++;
			}
			assert_int_equal(t.lost_tids, 0);
			assert_memory_equal(&v[i], &model[k].h, sizeof(v[i]));
		}
		assert_int_equal(t.n, n);
		/* a host that waits for a refusal now and then, but never for lost threads */
		if (!hvar_hot_room(&t) && (t.used_tids + 1 >= ntids / 2 || rand() % 4 == 0)) {
			struct hvar_hot *nv = malloc((cap *= 2) * sizeof(*v));
			uint32_t *ns = malloc((nslots *= 2) * sizeof(*slots));
			uint64_t *nt = malloc((uint64_t)ntids * 2 * sizeof(*tids));

			memcpy(nv, v, t.n * sizeof(*v));
			hvar_hot_moved(&t, nv, cap, ns, nslots, tids, ntids, nt, ntids * 2);
			ntids *= 2;
			free(v);
			free(slots);
			free(tids);
			v = nv;
			slots = ns;
			tids = nt;
			moves++;
		}
	}
	assert_true(moves > 4);
	assert_true(lost > 0);
	for (uint32_t i = 0; i < n; i++)
		assert_memory_equal(&v[i], &model[i].h, sizeof(v[i]));
	free(model);
	free(v);
	free(slots);
	free(tids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_saturates),
		cmocka_unit_test(test_tids_full),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
