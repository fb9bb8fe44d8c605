// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_call.c - mapping calls: their table against the kernel's headers, arguments taken from
 * registers and memory, ranges, and that a call which nobody should make does no harm.
 * What calls really do is test_call_kernel.c's matter.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <asm/prctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <sys/prctl.h>

#include "call_table.h"
#include "runtime/core/hvar_call.h"

static void test_numbers(void **state)
{
	uint32_t nr[64], abi, i, k, n, want;

	(void)state;
	for (abi = HVAR_ABI_X86_64; abi <= HVAR_ABI_X32; abi++) {
		n = hvar_call_numbers(abi, nr, 64);
		assert_true(n <= 64);
		want = 0;
		for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
			assert_int_equal(hvar_call_cause(abi, table[i].nr[abi]), table[i].cause);
			for (k = 0; k < n && nr[k] != table[i].nr[abi]; k++)
				;
			/* Stop at all but those that change nothing, or names only. */
			if (table[i].cause == HVAR_CAUSE_NONE ||
			    table[i].cause == HVAR_CAUSE_MADVISE ||
			    table[i].cause == HVAR_CAUSE_PRCTL) {
				assert_int_equal(k, n);
			} else {
				assert_true(k < n);
				want++;
			}
		}
		/* Of i386 alone: mmap2, ipc; of x86-64: map_shadow_stack. */
		if (abi == HVAR_ABI_I386) {
			assert_int_equal(hvar_call_cause(abi, i386_mmap2), HVAR_CAUSE_MMAP);
			assert_int_equal(hvar_call_cause(abi, i386_ipc), HVAR_CAUSE_SHMAT);
			want += 2;
		} else if (abi == HVAR_ABI_X86_64) {
			assert_int_equal(hvar_call_cause(abi, 453), HVAR_CAUSE_MMAP);
			want++;
		}
		assert_int_equal(n, want);
		assert_int_equal(hvar_call_numbers(abi, nr, 3), want);
		assert_int_equal(hvar_call_numbers(abi, NULL, 0), want);
		assert_int_equal(hvar_call_cause(abi, 0xffff), HVAR_CAUSE_NONE);
		assert_int_equal(hvar_call_cause(abi, ~(uint64_t)0), HVAR_CAUSE_NONE);
	}
	/* An x32 number is none of x86-64, nor the other way round. */
	assert_int_equal(hvar_call_cause(HVAR_ABI_X86_64, x32_mmap), HVAR_CAUSE_NONE);
	assert_int_equal(hvar_call_cause(HVAR_ABI_X32, x64_mmap), HVAR_CAUSE_NONE);
	assert_int_equal(hvar_call_cause(7, x64_mmap), HVAR_CAUSE_NONE);
	assert_int_equal(hvar_call_numbers(7, nr, 64), 0);
}

/* Calls that change a map for some first arguments only; the numbers are arch/x86's own. */
static void test_some(void **state)
{
	static const struct {
		uint32_t nr[3], first;
	} want[] = {
		{ { x64_prctl, i386_prctl, x32_prctl }, PR_SET_MM },
		{ { x64_prctl, i386_prctl, x32_prctl }, 0x53564d41 /* PR_SET_VMA */ },
		{ { x64_arch_prctl, i386_arch_prctl, x32_arch_prctl }, ARCH_MAP_VDSO_X32 },
		{ { x64_arch_prctl, i386_arch_prctl, x32_arch_prctl }, ARCH_MAP_VDSO_32 },
		{ { x64_arch_prctl, i386_arch_prctl, x32_arch_prctl }, ARCH_MAP_VDSO_64 },
	};
	struct hvar_call_some some[16];
	uint64_t regs[6] = { 0 };
	struct hvar_range r[3];
	struct hvar_call c;
	uint32_t abi, i;

	(void)state;
	for (abi = HVAR_ABI_X86_64; abi <= HVAR_ABI_X32; abi++) {
		assert_int_equal(hvar_call_some(abi, some, 16), 5);
		assert_int_equal(hvar_call_some(abi, NULL, 0), 5);
		for (i = 0; i < 5; i++) {
			assert_int_equal(some[i].nr, want[i].nr[abi]);
			assert_int_equal(some[i].first, want[i].first);
			/* An int: what is above its 32 bits means nothing. */
			assert_true(hvar_call_changes(abi, some[i].nr, some[i].first | (uint64_t)7 << 32));
			assert_false(hvar_call_changes(abi, some[i].nr, some[i].first + 0x100));
		}
	}
	assert_int_equal(hvar_call_some(7, some, 16), 0);
	assert_true(hvar_call_changes(HVAR_ABI_X86_64, x64_mmap, 0));
	assert_false(hvar_call_changes(HVAR_ABI_X86_64, x64_madvise, 0));
	assert_false(hvar_call_changes(HVAR_ABI_X86_64, x64_getppid, 0));

	regs[0] = ARCH_SET_FS;
	hvar_call_fill(&c, HVAR_ABI_X86_64, x64_arch_prctl, regs, 0, NULL, 0);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 0);
	regs[0] = ARCH_MAP_VDSO_64;
	hvar_call_fill(&c, HVAR_ABI_X86_64, x64_arch_prctl, regs, 8192, NULL, 0);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 1);
	assert_int_equal(r[0].start, 0);
	assert_int_equal(r[0].end, ~(uint64_t)0);
	hvar_call_fill(&c, HVAR_ABI_X86_64, x64_arch_prctl, regs, -EEXIST, NULL, 0);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 0);
	regs[0] = PR_SET_MM | (uint64_t)1 << 32;
	hvar_call_fill(&c, HVAR_ABI_X86_64, x64_prctl, regs, 0, NULL, 0);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 1);
}

static void test_fill(void **state)
{
	static const uint32_t block[6] = { 0x1000, 0x2000, 3, 0x22, 0xffffffff, 0x5000 };
	uint64_t regs[6] = { 0xffff0000deadb000, 2, 3, 4, 5, 6 };
	const uint32_t at = 0xf7000000;
	struct hvar_call c;
	struct hvar_range r[3];

	(void)state;
	memset(&c, 0, sizeof(c));
	hvar_call_fill(&c, HVAR_ABI_X86_64, x64_mmap, regs, 0x7000, NULL, 0);
	assert_int_equal(c.cause, HVAR_CAUSE_MMAP);
	assert_memory_equal(c.args, regs, sizeof(regs));
	assert_int_equal(c.ret, 0x7000);
	assert_int_equal(hvar_call_words(HVAR_ABI_X86_64, x64_mmap, regs), 0);

	/* i386: the old mmap's block; addresses above 2 GiB; errors. */
	assert_int_equal(hvar_call_words(HVAR_ABI_I386, i386_mmap, regs), 0xdeadb000);
	hvar_call_fill(&c, HVAR_ABI_I386, i386_mmap, regs, (int32_t)0xf7001000, block, 6);
	assert_int_equal(c.ret, 0xf7001000);
	assert_int_equal(c.args[0], 0x1000);
	assert_int_equal(c.args[4], 0xffffffff);
	assert_int_equal(c.args[5], 0x5000);
	hvar_call_fill(&c, HVAR_ABI_I386, i386_mmap, regs, 0xfffffff4, block, 6);
	assert_int_equal(c.ret, -ENOMEM);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 0);
	/* The block could not be read: anything may have changed. */
	hvar_call_fill(&c, HVAR_ABI_I386, i386_mmap, regs, 0x10000, block, 5);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 1);
	assert_int_equal(r[0].start, 0);
	assert_int_equal(r[0].end, ~(uint64_t)0);
	/* mmap2 counts in pages. */
	regs[5] = 0xfffff;
	assert_int_equal(hvar_call_words(HVAR_ABI_I386, i386_mmap2, regs), 0);
	hvar_call_fill(&c, HVAR_ABI_I386, i386_mmap2, regs, 0x10000, NULL, 0);
	assert_int_equal(c.args[0], 0xdeadb000);
	assert_int_equal(c.args[5], 0xfffff000u);

	/* ipc: shmat, whose result is in memory; shmdt; what is no mapping call. */
	regs[0] = 21;
	regs[1] = 77;
	regs[2] = 0;
	regs[3] = 0xff00;
	regs[4] = 0x4000;
	assert_int_equal(hvar_call_words(HVAR_ABI_I386, i386_ipc, regs), 0xff00);
	hvar_call_fill(&c, HVAR_ABI_I386, i386_ipc, regs, 0, &at, 1);
	assert_int_equal(c.cause, HVAR_CAUSE_SHMAT);
	assert_int_equal(c.args[0], 77);
	assert_int_equal(c.args[1], 0x4000);
	assert_int_equal(c.ret, at);
	hvar_call_fill(&c, HVAR_ABI_I386, i386_ipc, regs, -EFAULT, NULL, 0);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 1);
	assert_int_equal(r[0].start, 0);
	hvar_call_fill(&c, HVAR_ABI_I386, i386_ipc, regs, -EINVAL, NULL, 0);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 0);
	regs[0] = 22;
	assert_int_equal(hvar_call_words(HVAR_ABI_I386, i386_ipc, regs), 0);
	hvar_call_fill(&c, HVAR_ABI_I386, i386_ipc, regs, 0, NULL, 0);
	assert_int_equal(c.cause, HVAR_CAUSE_SHMDT);
	assert_int_equal(c.args[0], 0x4000);
	regs[0] = 2;
	hvar_call_fill(&c, HVAR_ABI_I386, i386_ipc, regs, 0, NULL, 0);
	assert_int_equal(c.cause, HVAR_CAUSE_NONE);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 0);

	hvar_call_fill(&c, HVAR_ABI_X86_64, x64_getppid, regs, 1, NULL, 0);
	assert_int_equal(c.cause, HVAR_CAUSE_NONE);
	hvar_call_fill(&c, HVAR_ABI_X86_64, x64_io_setup, regs, 0, NULL, 0);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 1);
	assert_int_equal(r[0].end, ~(uint64_t)0);
	hvar_call_fill(&c, HVAR_ABI_X86_64, x64_io_destroy, regs, 0, NULL, 0);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 1);
	hvar_call_fill(&c, HVAR_ABI_X86_64, x64_io_setup, regs, -EAGAIN, NULL, 0);
	assert_int_equal(hvar_call_ranges(&c, 0, r), 0);
}

#define TOP	      ((uint64_t)-1)
#define FAIL	      (-ENOMEM)
#define ANON	      (MAP_PRIVATE | MAP_ANONYMOUS)
#define HUGE	      ((uint64_t)1 << 21)
#define GIGA	      ((uint64_t)1 << 30)
#define NOREPLACE     0x100000

static void test_ranges(void **state)
{
	static const struct {
		struct hvar_call c;
		uint64_t brk;
		uint32_t n;
		struct hvar_range r[2];
	} cases[] = {
		{ { HVAR_CAUSE_MMAP, 0, { 0, 1, 3, ANON }, 0x5000 }, 0, 1, { { 0x5000, 0x6000 } } },
		{ { HVAR_CAUSE_MMAP, 0, { 0, 0x1001, 3, ANON }, 0x5000 }, 0, 1, { { 0x5000, 0x7000 } } },
		{ { HVAR_CAUSE_MMAP, 0, { 0, 1, 3, ANON }, FAIL }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_MMAP, 0, { 0x8000, 1, 3, ANON | MAP_FIXED }, FAIL }, 0, 1, { { 0x8000, 0x9000 } } },
		{ { HVAR_CAUSE_MMAP, 0, { 0x8000, 1, 3, ANON | MAP_FIXED | NOREPLACE }, FAIL }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_MMAP, 0, { HUGE, 1, 3, ANON | MAP_HUGETLB | MAP_FIXED }, FAIL }, 0, 1, { { HUGE, 2 * HUGE } } },
		{ { HVAR_CAUSE_MMAP, 0, { 0, 1, 3, ANON | MAP_HUGETLB }, HUGE }, 0, 1, { { HUGE, 2 * HUGE } } },
		{ { HVAR_CAUSE_MMAP, 0, { 0, 1, 3, ANON | MAP_HUGETLB }, GIGA }, 0, 1, { { GIGA, 2 * GIGA } } },
		{ { HVAR_CAUSE_MMAP, 0, { 0, 1, 3, MAP_SHARED }, HUGE }, 0, 1, { { HUGE, 2 * HUGE } } },
		{ { HVAR_CAUSE_MMAP, 0, { 0, TOP, 3, ANON }, 0x5000 }, 0, 1, { { 0x5000, TOP } } },
		{ { HVAR_CAUSE_MUNMAP, 0, { 0x5000, 0x1800 }, 0 }, 0, 1, { { 0x5000, 0x7000 } } },
		{ { HVAR_CAUSE_MUNMAP, 0, { 0x5000, 0x1800 }, FAIL }, 0, 1, { { 0x5000, 0x7000 } } },
		{ { HVAR_CAUSE_MUNMAP, 0, { 0x5001, 0x1800 }, -EINVAL }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_MUNMAP, 0, { 0x5000, 0 }, -EINVAL }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_MUNMAP, 0, { 0x5000, TOP }, -EINVAL }, 0, 1, { { 0x5000, TOP } } },
		{ { HVAR_CAUSE_MPROTECT, 0, { 0x5000, 0x1800, 1 }, FAIL }, 0, 1, { { 0x5000, 0x7000 } } },
		{ { HVAR_CAUSE_PKEY_MPROTECT, 0, { 0x5000, 0, 1 }, 0 }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_MPROTECT, 0, { 0x5000, 1, PROT_GROWSDOWN }, 0 }, 0, 1, { { 0, 0x6000 } } },
		{ { HVAR_CAUSE_MPROTECT, 0, { 0x5000, 1, PROT_GROWSUP }, 0 }, 0, 1, { { 0x5000, TOP } } },
		{ { HVAR_CAUSE_MREMAP, 0, { 0x5000, 0x1000, 0x3000 }, 0x5000 }, 0, 1, { { 0x5000, 0x8000 } } },
		{ { HVAR_CAUSE_MREMAP, 0, { 0x5000, 0x3000, 0x1000 }, 0x5000 }, 0, 1, { { 0x5000, 0x8000 } } },
		{ { HVAR_CAUSE_MREMAP, 0, { 0x5000, 0x1000, 0x3000, 1 }, 0x9000 }, 0, 2, { { 0x5000, 0x6000 }, { 0x9000, 0xc000 } } },
		{ { HVAR_CAUSE_MREMAP, 0, { 0x5000, 0, 0x3000, 1 }, 0x9000 }, 0, 1, { { 0x9000, 0xc000 } } },
		{ { HVAR_CAUSE_MREMAP, 0, { 0x5000, 0x1000, 0x3000, 3, 0x9000 }, FAIL }, 0, 2, { { 0x5000, 0x6000 }, { 0x9000, 0xc000 } } },
		{ { HVAR_CAUSE_MREMAP, 0, { 0x5000, 0x3000, 0x1000, 1, 0x9000 }, FAIL }, 0, 1, { { 0x5000, 0x8000 } } },
		{ { HVAR_CAUSE_BRK, 0, { 0x9800 }, 0x9800 }, 0x8001, 1, { { 0x9000, 0xa000 } } },
		{ { HVAR_CAUSE_BRK, 0, { 0x8001 }, 0x8001 }, 0x9800, 1, { { 0x9000, 0xa000 } } },
		{ { HVAR_CAUSE_BRK, 0, { 0x9900 }, 0x9900 }, 0x9800, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_BRK, 0, { 0 }, 0x9900 }, 0x9900, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_BRK, 0, { 0xb000 }, 0x9900 }, 0x9900, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_BRK, 0, { 0x9900 }, 0x9900 }, 0, 1, { { 0, TOP } } },
		{ { HVAR_CAUSE_SHMAT, 0, { 1 }, 0x5000 }, 0, 1, { { 0x5000, TOP } } },
		{ { HVAR_CAUSE_SHMAT, 0, { 1 }, FAIL }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_SHMDT, 0, { 0x5000 }, 0 }, 0, 1, { { 0x5000, TOP } } },
		{ { HVAR_CAUSE_SHMDT, 0, { 0x5000 }, -EINVAL }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_REMAP_FILE_PAGES, 0, { 0x5000, 0x2000 }, 0 }, 0, 1, { { 0x5000, 0x7000 } } },
		{ { HVAR_CAUSE_MADVISE, 0, { 0x5000, 0x1001 }, 0 }, 0, 1, { { 0x5000, 0x7000 } } },
		{ { HVAR_CAUSE_PRCTL, 0, { PR_SET_NAME, 1, 2, 3 }, 0 }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_PRCTL, 0, { 0x53564d41, 0, 0x5000, 1 }, 0 }, 0, 1, { { 0x5000, 0x6000 } } },
		{ { HVAR_CAUSE_EXECVE, 0, { 0 }, 0 }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_CLONE, 0, { 0 }, 5 }, 0, 0, { { 0, 0 } } },
		{ { HVAR_CAUSE_NONE, 0, { 0 }, 0 }, 0, 0, { { 0, 0 } } },
	};
	struct hvar_range r[3];
	uint32_t i, k, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n = hvar_call_ranges(&cases[i].c, cases[i].brk, r);
		if (n != cases[i].n)
			fail_msg("case %u: %u ranges, not %u", i, n, cases[i].n);
		for (k = 0; k < n; k++)
			if (r[k].start != cases[i].r[k].start || r[k].end != cases[i].r[k].end)
				fail_msg("case %u: range %u is %#lx-%#lx", i, k,
					 (long)r[k].start, (long)r[k].end);
	}
}

/* ---- any call, whether a kernel would let it pass or not ---- */

static uint64_t rng = 0x2545f4914f6cdd1d;

static uint32_t rnd(uint32_t below)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (uint32_t)((rng * 2685821657736338717u) >> 32) % below;
}

/* An argument: mostly a page or a length near the list's areas, sometimes anything. */
static uint64_t any_arg(void)
{
	static const uint64_t odd[] = { 0, 1, 4095, 4097, HUGE, TOP, TOP - 4095, TOP >> 1,
					(uint64_t)1 << 63, 0x80000000, 0xffffffff };

	switch (rnd(8)) {
	case 0:
		return odd[rnd(sizeof(odd) / sizeof(odd[0]))];
	case 1:
		return rnd(64);
	case 2:
		return (uint64_t)rnd(1 << 16) << rnd(48);
	case 3:
	case 4:
		return (1 + rnd(8)) * 4096;
	default:
		return 0x100000 + rnd(64) * 4096;
	}
}

static void any_call(struct hvar_call *c)
{
	int i;

	memset(c, 0, sizeof(*c));
	c->cause = rnd(HVAR_CAUSES + 1);
	for (i = 0; i < 6; i++)
		c->args[i] = any_arg();
	if (rnd(2))
		c->args[3] = rnd(4) | (rnd(2) ? 0x20 : 0) | (rnd(2) ? 0x10 : 0);
	c->personality = rnd(20) ? 0 : 0x0400000;
	switch (rnd(5)) {
	case 0:
		c->ret = -(int64_t)rnd(200);
		break;
	case 1:
		c->ret = any_arg();
		break;
	case 2:
		c->ret = c->args[rnd(5)];
		break;
	}
}

struct told {
	struct hvar_vmas *copy;
	uint32_t n;
};

static void tell(void *ctx, const struct hvar_event *e)
{
	struct told *t = ctx;

	assert_true(e->type > HVAR_EVENT_NONE && e->type <= HVAR_EVENT_SHRINK);
	assert_int_equal(hvar_apply(t->copy, e), 0);
	t->n++;
}

static void list_new(struct hvar_vmas *m, uint32_t n)
{
	uint64_t size = (hvar_vmas_bytes(n) + 63) / 64 * 64;
	void *mem = aligned_alloc(64, size);

	assert_non_null(mem);
	hvar_vmas_init(m, mem, size);
}

static void list_same(const struct hvar_vmas *a, const struct hvar_vmas *b)
{
	const struct hvar_vma *v = hvar_vmas_next(a, 0), *w = hvar_vmas_next(b, 0);

	assert_int_equal(a->n, b->n);
	for (; v; v = hvar_vmas_next(a, v->end), w = hvar_vmas_next(b, w->end))
		assert_memory_equal(v, w, sizeof(*v));
}

static void list_copy(struct hvar_vmas *to, const struct hvar_vmas *from)
{
	const struct hvar_vma *v;

	hvar_vmas_init(to, to->mem, to->size);
	for (v = hvar_vmas_next(from, 0); v; v = hvar_vmas_next(from, v->end))
		assert_int_equal(hvar_vmas_set(to, v->start, v->end, v), 0);
}

/*
 * A call returns, changes nothing that it does not tell, nothing at all if it says that it cannot,
 * and, refused for want of room, ends as it would have with room when made again.
 */
static void test_any_call(void **state)
{
	struct hvar_vmas m, was, copy, tight;
	struct hvar_vma file = { .module = 7, .region = HVAR_REGION_FILE };
	uint32_t i, done = 0, refused = 0, short_of_room = 0;
	struct hvar_event base;
	struct hvar_range r[3];
	struct hvar_call c;

	(void)state;
	memset(&base, 0, sizeof(base));
	list_new(&m, 200);
	list_new(&was, 200);
	list_new(&copy, 200);
	list_new(&tight, 400);
	for (i = 0; i < 200000; i++) {
		struct told told = { &copy, 0 };
		uint64_t brk = rnd(2) ? 0 : any_arg();
		const struct hvar_vma *maps = rnd(2) ? &file : NULL;
		uint32_t n, k;
		int err;

		if (m.n < 5 || m.n > 60 || rnd(16) == 0) {
			uint64_t at = 0x100000 + rnd(64) * 4096;
			struct hvar_vma v = { .module = rnd(3), .prot = rnd(16),
					      .region = 1 + rnd(HVAR_REGIONS - 1) };

			if (m.n > 60 || rnd(100) == 0)
				hvar_vmas_init(&m, m.mem, m.size);
			assert_int_equal(hvar_vmas_set(&m, at, at + (1 + rnd(6)) * 4096, &v), 0);
		}
		list_copy(&was, &m);
		list_copy(&copy, &m);
		list_copy(&tight, &m);
		any_call(&c);
		n = hvar_call_ranges(&c, brk, r);
		assert_true(n <= 3);
		for (k = 0; k < n; k++) {
			assert_true(r[k].start < r[k].end);
			hvar_call_widen(&m, &r[k]);
			assert_true(r[k].start < r[k].end);
		}
		err = hvar_call_apply(&m, &c, brk, maps, &base, tell, &told);
		list_same(&m, &copy);
		if (err) {
			assert_int_equal(err, -EOPNOTSUPP);
			assert_int_equal(told.n, 0);
			list_same(&m, &was);
			refused++;
			continue;
		}
		done += told.n > 0;

		/* The same, with room for what is there and no more. */
		list_copy(&copy, &was);
		for (k = 0; k < 100; k++) {
			tight.cap = tight.n + k;
			err = hvar_call_apply(&tight, &c, brk, maps, &base, tell, &told);
			list_same(&tight, &copy);
			if (err != -ENOSPC)
				break;
			short_of_room++;
		}
		assert_int_equal(err, 0);
		list_same(&tight, &m);
	}
	assert_true(done > 1000 && refused > 1000 && short_of_room > 1000);
	free(m.mem);
	free(was.mem);
	free(copy.mem);
	free(tight.mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_some),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_any_call),
	};

	return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
