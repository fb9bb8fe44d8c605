// SPDX-License-Identifier: GPL-2.0-or-later
/* test_tls_seen.c - blocks told of, forgotten and looked up, against an array with one entry for each byte. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/report/tls_seen.h"

enum { BYTES = 256, MODULES = 5, ROUNDS = 20000 };

static struct images *images;

static void told(struct tls_seen *t, uint32_t mm, uint32_t module, uint64_t start, uint64_t size)
{
	char key[64], value[64];

	snprintf(key, sizeof(key), "%u.%u=", mm, module);
	snprintf(value, sizeof(value), "%llx+%llu", (unsigned long long)start, (unsigned long long)size);
	tls_seen_told(t, images, key, value);
}

/* The module whose block @addr is in; 0: none. */
static uint32_t at(struct tls_seen *t, uint32_t mm, uint64_t addr)
{
	struct hvar_event ev = { .type = HVAR_EVENT_ACCESS, .mm = mm };
	const struct tls_block *b = tls_seen_find(t, images, &ev, NULL, addr, false);

	if (!b)
		return 0;
	assert_true(b->start <= addr && addr < b->end);
	return b->module;
}

static void *from(struct tls_seen *t, uint32_t mm, uint32_t module, uint64_t offset, uint64_t *addr)
{
	struct hvar_event ev = { .type = HVAR_EVENT_SAMPLE, .mm = mm };
	const struct tls_block *b = tls_seen_relative(t, images, &ev, NULL, module, offset, false, addr);

	return b ? (void *)(uintptr_t)b->start : NULL;
}

static void map_event(struct tls_seen *t, uint32_t type, uint32_t mm, uint32_t module, uint64_t start, uint64_t end)
{
	struct hvar_event ev = { .type = type, .mm = mm, .module = module, .u.map = { .start = start, .end = end } };

	tls_seen_event(t, &ev);
}

static void test_table(void **state)
{
	struct hvar_event fork = { .type = HVAR_EVENT_FORK, .mm = 1, .u.task = { .child_mm = 2 } };
	struct tls_seen *t = tls_seen_new();
	uint64_t addr;

	(void)state;
	assert_int_equal(at(t, 1, 100), 0);
	told(t, 1, 7, 0x100, 0x40);
	told(t, 1, 8, 0x140, 0x10);
	assert_int_equal(at(t, 1, 0xff), 0);
	assert_int_equal(at(t, 1, 0x100), 7);
	assert_int_equal(at(t, 1, 0x13f), 7);
	assert_int_equal(at(t, 1, 0x140), 8);
	assert_int_equal(at(t, 1, 0x150), 0);
	assert_int_equal(at(t, 2, 0x100), 0);
	assert_true(tls_seen_within(t, 1, 0, 0x101));
	assert_false(tls_seen_within(t, 1, 0, 0x100));
	assert_true(tls_seen_within(t, 1, 0x14f, 0x200));
	assert_false(tls_seen_within(t, 1, 0x150, 0x200));
	tls_seen_event(t, &fork);
	told(t, 1, 7, 0x100, 0); /* the parent's is gone, the child's is not */
	assert_int_equal(at(t, 1, 0x100), 0);
	assert_int_equal(at(t, 2, 0x100), 7);
	map_event(t, HVAR_EVENT_UNMAP, 2, 8, 0x9000, 0xa000); /* a part of file 8 */
	assert_int_equal(at(t, 2, 0x140), 0);
	assert_int_equal(at(t, 1, 0x140), 8);
	map_event(t, HVAR_EVENT_MAP, 2, 0, 0x13f, 0x1000); /* over the last byte */
	assert_int_equal(at(t, 2, 0x100), 0);
	/* from the thread pointer: of whichever thread, if it is the same place in its block */
	tls_seen_told(t, images, "3.7=", "2000+100@3000");
	assert_ptr_equal(from(t, 3, 7, (uint64_t)-0x1000 + 5, &addr), (void *)0x2000);
	assert_int_equal(addr, 0x2005);
	assert_null(from(t, 3, 8, (uint64_t)-0x1000 + 5, &addr));
	assert_null(from(t, 3, 7, (uint64_t)-0x1001, &addr));
	assert_null(from(t, 3, 7, (uint64_t)-0xf9c, &addr));
	tls_seen_told(t, images, "3.7=", "4000+100@5000");
	assert_non_null(from(t, 3, 7, (uint64_t)-0x1000 + 5, &addr));
	assert_true(addr == 0x2005 || addr == 0x4005);
	tls_seen_told(t, images, "3.7=", "6000+100@7004"); /* there it is another */
	assert_null(from(t, 3, 7, (uint64_t)-0x1000 + 5, &addr));
	/* what no recording of ours has */
	told(t, 1, 9, UINT64_MAX - 3, 100);
	told(t, 0, 9, 0x500, 100);
	tls_seen_told(t, images, "1", "500+10");
	tls_seen_told(t, images, "1.9=", "500");
	assert_int_equal(at(t, 1, 0x500), 0);
	assert_int_equal(at(t, 0, 0x500), 0);
	assert_int_equal(at(t, 1, UINT64_MAX), 0);
	tls_seen_free(t);
}

static bool is_stack(struct tls_seen *t, uint32_t mm, const struct hvar_vmas *vmas, const struct hvar_vma *in, uint64_t addr)
{
	return tls_seen_is_stack(t, &(struct hvar_event){ .type = HVAR_EVENT_ACCESS, .mm = mm }, vmas, in, addr, false);
}

static bool is_control(struct tls_seen *t, uint32_t mm, const struct hvar_vma *in, uint64_t addr)
{
	return tls_seen_is_control(t, &(struct hvar_event){ .type = HVAR_EVENT_ACCESS, .mm = mm }, in, addr, false);
}

static struct hvar_vma area(uint64_t start, uint64_t end, uint32_t region, uint8_t prot)
{
	return (struct hvar_vma){ .start = start, .end = end, .region = region, .prot = prot };
}

/* A guard, a stack with a block and the thread pointer, memory that only follows on it; a block elsewhere. */
static void test_stack(void **state)
{
	static _Alignas(64) uint8_t mem[65536];
	const struct hvar_vma guard = area(0x10000, 0x11000, HVAR_REGION_ANON, 0), stack = area(0x11000, 0x20000, HVAR_REGION_ANON, 3),
			      lowest = area(0, 0x1000, HVAR_REGION_ANON, 3), apart = area(0x30000, 0x40000, HVAR_REGION_ANON, 3),
			      file = area(0x11000, 0x20000, HVAR_REGION_FILE, 3);
	struct tls_seen *t = tls_seen_new();
	struct hvar_vmas vmas;

	(void)state;
	hvar_vmas_init(&vmas, mem, sizeof(mem));
	assert_int_equal(hvar_vmas_set(&vmas, guard.start, guard.end, &guard), 0);
	assert_int_equal(hvar_vmas_set(&vmas, stack.start, stack.end, &stack), 0);
	assert_int_equal(hvar_vmas_set(&vmas, apart.start, apart.end, &apart), 0);
	assert_false(is_stack(t, 1, &vmas, &stack, 0x18000));
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040");
	assert_false(is_stack(t, 1, &vmas, &stack, 0x18000)); /* where it begins is not known: the first thread's block */
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040/10000+4096");
	tls_seen_told(t, images, "1.7=", "3f000+40@3f040");
	assert_true(is_stack(t, 1, &vmas, &stack, 0x11000));
	assert_true(is_stack(t, 1, &vmas, &stack, 0x1efff));
	assert_false(is_stack(t, 1, &vmas, &stack, 0x1f000)); /* the block itself, and behind */
	assert_false(is_stack(t, 1, &vmas, &stack, 0x1f040));
	assert_false(is_stack(t, 2, &vmas, &stack, 0x18000));
	assert_false(is_stack(t, 1, &vmas, &file, 0x18000));
	assert_false(is_stack(t, 1, &vmas, &apart, 0x38000));
	assert_false(is_control(t, 1, &stack, 0x1f03f));
	assert_true(is_control(t, 1, &stack, 0x1f040));
	assert_false(is_control(t, 1, &lowest, 0x100)); /* before the first thread there is none */
	assert_false(is_control(t, 3, &lowest, 0x100));
	assert_true(is_control(t, 1, &stack, 0x1f341));
	assert_false(is_control(t, 1, &stack, 0x1ffff));
	assert_false(is_control(t, 2, &stack, 0x1f040));
	assert_false(is_control(t, 1, &apart, 0x3f03f));
	assert_true(is_control(t, 1, &apart, 0x3f040));
	/* a block that some library has elsewhere */
	tls_seen_told(t, images, "1.9=", "14000+40@3f040/10000+4096");
	assert_false(is_stack(t, 1, &vmas, &stack, 0x13000));
	assert_true(is_stack(t, 1, &vmas, &stack, 0x15000));
	tls_seen_free(t);
}

/* What is below the area must be what the C library has left without access, if it is where the stack begins. */
static void test_no_stack(void **state)
{
	static _Alignas(64) uint8_t mem[65536];
	const struct hvar_vma none = area(0x10000, 0x110000, HVAR_REGION_ANON, 0), open = area(0x10000, 0x110000, HVAR_REGION_ANON, 1),
			      of_file = area(0x10000, 0x110000, HVAR_REGION_FILE, 0), above = area(0x110000, 0x120000, HVAR_REGION_ANON, 3);
	struct tls_seen *t = tls_seen_new();
	struct hvar_vmas vmas;

	(void)state;
	hvar_vmas_init(&vmas, mem, sizeof(mem));
	assert_int_equal(hvar_vmas_set(&vmas, above.start, above.end, &above), 0);
	tls_seen_told(t, images, "1.7=", "11f000+40@11f040/10000+1048576");
	assert_false(is_stack(t, 1, &vmas, &above, 0x11e000)); /* nothing there */
	assert_int_equal(hvar_vmas_set(&vmas, open.start, open.end, &open), 0);
	assert_false(is_stack(t, 1, &vmas, &above, 0x11e000));
	assert_int_equal(hvar_vmas_set(&vmas, of_file.start, of_file.end, &of_file), 0);
	assert_false(is_stack(t, 1, &vmas, &above, 0x11e000));
	assert_int_equal(hvar_vmas_set(&vmas, none.start, none.end, &none), 0);
	assert_true(is_stack(t, 1, &vmas, &above, 0x11e000));
	tls_seen_told(t, images, "1.7=", "11f000+40@11f040/f000+1052672"); /* it begins lower */
	assert_false(is_stack(t, 1, &vmas, &above, 0x11e000));
	tls_seen_told(t, images, "1.7=", "11f000+40@11f040"); /* not known */
	assert_false(is_stack(t, 1, &vmas, &above, 0x11e000));
	/* nothing without access below, but other memory in one piece with it; and only while the thread lives */
	assert_int_equal(hvar_vmas_set(&vmas, none.start, none.end, NULL), 0);
	tls_seen_told(t, images, "1.7=", "11f000+40@11f040:42/118000");
	assert_true(is_stack(t, 1, &vmas, &above, 0x118000));
	assert_false(is_stack(t, 1, &vmas, &above, 0x117fff));
	tls_seen_told(t, images, "1.7=", "11f000+40@11f040:0/118000+4096");
	assert_false(is_stack(t, 1, &vmas, &above, 0x11e000));
	tls_seen_free(t);
}

/* A thread's end is its block's, until another thread has the same place. */
static void test_ended(void **state)
{
	static _Alignas(64) uint8_t mem[65536];
	const struct hvar_vma guard = area(0x10000, 0x11000, HVAR_REGION_ANON, 0), stack = area(0x11000, 0x20000, HVAR_REGION_ANON, 3);
	struct hvar_event end = { .type = HVAR_EVENT_EXIT, .mm = 1, .tid = 43 },
			  fork = { .type = HVAR_EVENT_FORK, .mm = 1, .u.task = { .child_mm = 2 } };
	struct tls_seen *t = tls_seen_new();
	struct hvar_vmas vmas;

	(void)state;
	hvar_vmas_init(&vmas, mem, sizeof(mem));
	assert_int_equal(hvar_vmas_set(&vmas, guard.start, guard.end, &guard), 0);
	assert_int_equal(hvar_vmas_set(&vmas, stack.start, stack.end, &stack), 0);
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040:42/10000");
	tls_seen_event(t, &fork);
	tls_seen_event(t, &end);
	assert_true(is_stack(t, 1, &vmas, &stack, 0x18000));
	assert_true(is_control(t, 1, &stack, 0x1f100));
	end.tid = 42;
	tls_seen_event(t, &end);
	assert_false(is_stack(t, 1, &vmas, &stack, 0x18000)); /* nobody says that the C library mapped it */
	assert_false(is_control(t, 1, &stack, 0x1f100));
	assert_true(is_stack(t, 2, &vmas, &stack, 0x18000)); /* a child's is its own */
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040:44/10000");
	assert_true(is_stack(t, 1, &vmas, &stack, 0x18000));
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040:0/10000");
	assert_false(is_stack(t, 1, &vmas, &stack, 0x18000));
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040/10000");
	assert_true(is_stack(t, 1, &vmas, &stack, 0x18000));
	/* the C library's own stays, if that is where what it has left without access ends */
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040:0/10000+4096");
	assert_true(is_stack(t, 1, &vmas, &stack, 0x11000));
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040:0/10000+4095");
	assert_false(is_stack(t, 1, &vmas, &stack, 0x18000));
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040:0/10000+0");
	assert_false(is_stack(t, 1, &vmas, &stack, 0x18000));
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040:0/10000+no");
	assert_false(is_stack(t, 1, &vmas, &stack, 0x18000));
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040:0/10000+99999999999999999999999");
	assert_false(is_stack(t, 1, &vmas, &stack, 0x18000));
	/* given to the thread: as long as that lives */
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040/18000");
	assert_false(is_stack(t, 1, &vmas, &stack, 0x17fff));
	assert_true(is_stack(t, 1, &vmas, &stack, 0x18000));
	tls_seen_told(t, images, "1.7=", "1f000+40@1f040:0/18000");
	assert_false(is_stack(t, 1, &vmas, &stack, 0x18000));
	tls_seen_free(t);
}

/* A new block takes the place of all that it overlaps; a change of the map, of all that it touches. */
static void forget(uint8_t model[BYTES], const uint8_t block[BYTES], uint32_t start, uint32_t end)
{
	for (uint32_t i = start; i < end; i++)
		for (uint32_t k = 0; model[i] && k < BYTES; k++)
			if (k != i && model[k] && block[k] == block[i])
				model[k] = 0;
	memset(model + start, 0, end - start);
}

static void test_random(void **state)
{
	static uint8_t model[BYTES], block[BYTES]; /* which module's, and the first byte of the block */
	struct tls_seen *t = tls_seen_new();

	(void)state;
	srand(4);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t a = (uint32_t)rand() % BYTES, n = 1 + (uint32_t)rand() % 40, m = 1 + (uint32_t)rand() % MODULES;

		if (n > BYTES - a)
			n = BYTES - a;
		switch (rand() % 4) {
		case 0:
			map_event(t, HVAR_EVENT_UNMAP, 1, 0, a, a + n);
			forget(model, block, a, a + n);
			break;
		case 1:
			if (model[a] && block[a] == a) {
				told(t, 1, model[a], a, 0);
				forget(model, block, a, a + 1);
			}
			break;
		default:
			told(t, 1, m, a, n);
			forget(model, block, a, a + n);
			memset(model + a, (int)m, n);
			memset(block + a, (int)a, n);
		}
		for (uint32_t i = 0; i < BYTES; i++)
			assert_int_equal(at(t, 1, i), model[i]);
	}
	tls_seen_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_no_stack),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_random),
	};

	int r;

	images = images_new(false);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	images_free(images);
	return r;
}
