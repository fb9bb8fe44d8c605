// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tracker_program.c - what perf leaves out of a program's map: [heap] of the first memory of a break, [vsyscall], names of anonymous memory.
 *
 * Most of it is told of processes that are gone, so that nothing can be asked: places are made up.
 */
#include "config.h"

#include "testsuite/unit/tracker_stage.h"

#define GONE	  (1 << 29) /* above each number that a process can have */
#define PIE	  0x555512340000ull
#define PIE_END	  0x555512348000ull /* with its .bss */
#define LIBRARY	  0x7f1234000000ull
#define MB	  0x100000ull
#define VSYSCALL  0xffffffffff600000ull

enum { RW = HVAR_PROT_READ | HVAR_PROT_WRITE };

static void tell(struct fixture *f, pid_t pid, uint64_t start, uint64_t end, uint32_t prot, const char *name, uint64_t ino)
{
	struct tracker_mmap m = { .start = start, .end = end, .prot = prot, .name = name, .ino = ino, .dev_major = ino ? 8 : 0,
				  .tid = pid };

	assert_int_equal(tracker_map(f->t, pid, &m, ++f->now), 0);
}

static uint32_t region(const struct fixture *f, pid_t pid, uint64_t addr)
{
	const struct hvar_vmas *m = tracker_vmas(f->t, pid);
	const struct hvar_vma *v = m ? hvar_vmas_find(m, addr) : NULL;

	return v ? v->region : 0;
}

/* Memory without a name: what is it taken for? */
static uint32_t anon(struct fixture *f, uint64_t start, uint32_t prot)
{
	tell(f, GONE, start, start + 16 * PG, prot, "//anon", 0);
	return region(f, GONE, start);
}

/* A process that nobody can ask has executed a program at @at, with .bss, and @interpreter, as the kernel tells it. */
static void executes(struct fixture *f, uint64_t at, bool interpreter, uint64_t vdso)
{
	assert_int_equal(tracker_exec(f->t, GONE, GONE, false, HVAR_CAUSE_EXECVE, ++f->now), 0);
	tell(f, GONE, 0x7ffd00000000, 0x7ffd00021000, RW, "[stack]", 0);
	tell(f, GONE, at, at + 4 * PG, HVAR_PROT_READ, "/nowhere/program", 5);
	tell(f, GONE, at + 3 * PG, at + 4 * PG, RW, "/nowhere/program", 5);
	tell(f, GONE, at + 4 * PG, at + 8 * PG, RW, "//anon", 0);
	assert_int_equal(region(f, GONE, at + 4 * PG), HVAR_REGION_ANON);
	if (interpreter)
		tell(f, GONE, LIBRARY, LIBRARY + 4 * PG, HVAR_PROT_READ, "/nowhere/ld.so", 6);
	tell(f, GONE, vdso, vdso + 2 * PG, HVAR_PROT_READ | HVAR_PROT_EXEC, "[vdso]", 0);
}

static void test_first_memory(void **state)
{
	struct fixture *f = *state;

	executes(f, PIE, true, LIBRARY + 64 * PG);
	assert_int_equal(anon(f, LIBRARY + 128 * PG, RW), HVAR_REGION_ANON);
	assert_int_equal(anon(f, PIE_END + 1100 * MB, RW), HVAR_REGION_ANON);
	assert_int_equal(anon(f, PIE - 64 * PG, RW), HVAR_REGION_ANON);
	assert_int_equal(anon(f, PIE_END + 10 * MB, HVAR_PROT_READ), HVAR_REGION_ANON);
	assert_int_equal(anon(f, PIE_END + 500 * MB, RW), HVAR_REGION_HEAP);
	/* Now its place is known: what lies elsewhere is not of it, and what begins where it ends is. */
	assert_int_equal(anon(f, PIE_END + 600 * MB, RW), HVAR_REGION_ANON);
	assert_int_equal(anon(f, PIE_END + 500 * MB + 16 * PG, RW), HVAR_REGION_HEAP);
	assert_int_equal(anon(f, PIE_END + 500 * MB + 64 * PG, RW), HVAR_REGION_ANON);
	/* Another protection; and shared memory is never it. */
	tell(f, GONE, PIE_END + 500 * MB + PG, PIE_END + 500 * MB + 2 * PG, HVAR_PROT_READ, "//anon", 0);
	assert_int_equal(region(f, GONE, PIE_END + 500 * MB + PG), HVAR_REGION_HEAP);
	tell(f, GONE, PIE_END + 500 * MB + PG, PIE_END + 500 * MB + 2 * PG, RW | HVAR_PROT_SHARED, "/dev/zero (deleted)", 9);
	assert_int_not_equal(region(f, GONE, PIE_END + 500 * MB + PG), HVAR_REGION_HEAP);
}

/* Not put at random: it begins where .bss ends. */
static void test_next_to_program(void **state)
{
	struct fixture *f = *state;

	executes(f, PIE, true, LIBRARY + 64 * PG);
	tell(f, GONE, PIE_END, PIE_END + 33 * PG, RW, "//anon", 0);
	assert_int_equal(region(f, GONE, PIE_END), HVAR_REGION_HEAP);
	assert_int_equal(region(f, GONE, PIE_END - PG), HVAR_REGION_ANON);
	/* It takes in what it touches, and the kernel says so. */
	tell(f, GONE, PIE_END - 4 * PG, PIE_END + 66 * PG, RW, "[heap]", 0);
	assert_int_equal(region(f, GONE, PIE_END - PG), HVAR_REGION_HEAP);
}

static void test_kernel_said(void **state)
{
	struct fixture *f = *state;

	tracker_break_begins(f->t, GONE, PIE_END + 77 * PG + 8);
	executes(f, PIE, true, LIBRARY + 64 * PG);
	assert_int_equal(anon(f, PIE_END + MB, RW), HVAR_REGION_ANON);
	assert_int_equal(anon(f, PIE_END + 78 * PG, RW), HVAR_REGION_HEAP);
	/* It was said of that one exec only. */
	executes(f, PIE, true, LIBRARY + 64 * PG);
	assert_int_equal(anon(f, PIE_END + MB, RW), HVAR_REGION_HEAP);
	/* And of another program it may have been said. */
	tracker_break_begins(f->t, GONE, PIE - 50 * MB);
	executes(f, PIE, true, LIBRARY + 64 * PG);
	assert_int_equal(anon(f, PIE_END + MB, RW), HVAR_REGION_HEAP);
}

static void test_narrow(void **state)
{
	struct fixture *f = *state;

	executes(f, 0x56555000, false, 0xf7fc0000);
	assert_int_equal(region(f, GONE, VSYSCALL), 0);
	assert_int_equal(anon(f, 0x56555000 + 64 * MB, RW), HVAR_REGION_ANON);
	assert_int_equal(anon(f, 0x56555000 + 16 * MB, RW), HVAR_REGION_HEAP);
}

/* Not at any place: what MAP_32BIT puts within 1 GB above it is no heap, in any order. */
static void test_low(void **state)
{
	struct fixture *f = *state;

	executes(f, 0x400000, true, LIBRARY + 64 * PG);
	assert_int_equal(anon(f, 0x40000000, RW), HVAR_REGION_ANON);
	assert_int_equal(anon(f, 0x40001000 + 2 * MB, RW), HVAR_REGION_ANON);
	assert_int_equal(anon(f, 0x40000000 - 32 * PG, RW), HVAR_REGION_HEAP);
	/* One that was linked to lie there has its break there. */
	executes(f, 0x50000000, true, LIBRARY + 64 * PG);
	assert_int_equal(anon(f, 0x50000000 + 64 * MB, RW), HVAR_REGION_HEAP);
	/* To a narrow one all places are low. */
	executes(f, 0x3ff00000, false, 0xf7fc0000);
	assert_int_equal(anon(f, 0x40000000 + 16 * MB, RW), HVAR_REGION_HEAP);
}

/* A program without interpreter that lies where libraries do. */
static void test_static_pie(void **state)
{
	struct fixture *f = *state;

	executes(f, LIBRARY + 512 * MB, false, LIBRARY + 64 * PG);
	assert_int_equal(anon(f, 0x555555540000, RW), HVAR_REGION_ANON);
	assert_int_equal(anon(f, 0x555555554000 + 700 * MB, RW), HVAR_REGION_HEAP);
}

static void test_child_goes_on(void **state)
{
	struct fixture *f = *state;

	executes(f, PIE, true, LIBRARY + 64 * PG);
	assert_int_equal(anon(f, PIE_END + MB, RW), HVAR_REGION_HEAP);
	assert_int_equal(tracker_fork(f->t, GONE, GONE + 1, GONE + 1, false, HVAR_CAUSE_FORK, ++f->now), 0);
	tell(f, GONE + 1, PIE_END + MB + 16 * PG, PIE_END + MB + 20 * PG, RW, "//anon", 0);
	assert_int_equal(region(f, GONE + 1, PIE_END + MB + 16 * PG), HVAR_REGION_HEAP);
	tell(f, GONE + 1, PIE_END + 2 * MB, PIE_END + 3 * MB, RW, "//anon", 0);
	assert_int_equal(region(f, GONE + 1, PIE_END + 2 * MB), HVAR_REGION_ANON);
}

/* [vsyscall] is told with the program where this kernel has one, once. */
static void test_vsyscall(void **state)
{
	struct fixture *f = *state;
	struct line *l;
	size_t n = kernel_lines(getpid(), &l), has = 0, told = 0;

	for (size_t i = 0; i < n; i++)
		has += l[i].start == VSYSCALL;
	free(l);
	executes(f, PIE, true, LIBRARY + 64 * PG);
	tell(f, GONE, LIBRARY + 64 * PG, LIBRARY + 66 * PG, HVAR_PROT_READ | HVAR_PROT_EXEC, "[vdso]", 0);
	pull(f);
	for (uint32_t i = 0; i < f->nev; i++)
		told += f->ev[i].type == HVAR_EVENT_MAP && f->ev[i].u.map.start == VSYSCALL;
	assert_int_equal(told, has);
	assert_int_equal(region(f, GONE, VSYSCALL), has ? HVAR_REGION_VSYSCALL : 0);
}

/* perf calls memory "//anon" that the program gave a name. */
static void test_named(void **state)
{
	struct fixture *f = *state;
	const struct hvar_vma *v;

	executes(f, PIE, true, LIBRARY + 64 * PG);
	tell(f, GONE, LIBRARY + 128 * PG, LIBRARY + 136 * PG, HVAR_PROT_READ, "[anon:mine]", 0);
	tell(f, GONE, LIBRARY + 130 * PG, LIBRARY + 132 * PG, RW, "//anon", 0);
	v = hvar_vmas_find(tracker_vmas(f->t, GONE), LIBRARY + 131 * PG);
	assert_non_null(v);
	assert_int_equal(v->end, LIBRARY + 132 * PG);
	assert_true(v->module && v->flags & HVAR_VMA_NAMED);
	assert_string_equal(tracker_module_path(f->t, v->module), "[anon:mine]");
	/* New memory in its place, which is used alike or reaches further, has none. */
	tell(f, GONE, LIBRARY + 130 * PG, LIBRARY + 132 * PG, RW, "//anon", 0);
	v = hvar_vmas_find(tracker_vmas(f->t, GONE), LIBRARY + 131 * PG);
	assert_int_equal(v->module, 0);
	tell(f, GONE, LIBRARY + 134 * PG, LIBRARY + 140 * PG, RW, "//anon", 0);
	assert_int_equal(hvar_vmas_find(tracker_vmas(f->t, GONE), LIBRARY + 135 * PG)->module, 0);
}

/* Of one that lives, the kernel is asked: its break is grown in steps, and other memory put where it would go on. */
static void test_living(void **state)
{
	struct fixture *f = *state;
	uint64_t was, top;

	tracker_late_is_usual(f->t);
	order(0, DO_EXEC, 0, 0, 0, 0, 0, 0);
	assert_int_equal(tracker_exec(f->t, f->child[0], f->child[0], false, HVAR_CAUSE_EXECVE, ++f->now), 0);
	assert_int_equal(tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_EXECVE, ++f->now), 0);
	was = (uint64_t)order(0, SYS_brk, 0, 0, 0, 0, 0, 0);
	top = HVAR_PAGE_UP(was);
	assert_int_equal(order(0, SYS_brk, top + 4 * PG, 0, 0, 0, 0, 0), top + 4 * PG);
	tell(f, f->child[0], top, top + 4 * PG, RW, "//anon", 0);
	check(f, f->child[0]);
	assert_int_equal(region(f, f->child[0], top), HVAR_REGION_HEAP);
	/* What is locked does not merge with what comes next, which has no name again. */
	if (!order(0, SYS_mlock, top + 2 * PG, 2 * PG, 0, 0, 0, 0)) {
		assert_int_equal(order(0, SYS_brk, top + 8 * PG, 0, 0, 0, 0, 0), top + 8 * PG);
		tell(f, f->child[0], top + 4 * PG, top + 8 * PG, RW, "//anon", 0);
		check(f, f->child[0]);
	}
	/* To nothing and up again, without news but of the growth. */
	order(0, SYS_munlock, top, 4 * PG, 0, 0, 0, 0);
	assert_int_equal(order(0, SYS_brk, was, 0, 0, 0, 0, 0), was);
	assert_int_equal(tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now), 0);
	assert_int_equal(order(0, SYS_brk, top + PG, 0, 0, 0, 0, 0), top + PG);
	tell(f, f->child[0], top, top + PG, RW, "//anon", 0);
	check(f, f->child[0]);
	assert_int_equal(order(0, SYS_brk, was, 0, 0, 0, 0, 0), was);
	assert_int_equal(tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now), 0);
	/* Memory of another kind in the place of it all. */
	assert_int_equal(order(0, SYS_mmap, top, 4 * PG, R | W, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0), top);
	tell(f, f->child[0], top, top + 4 * PG, RW, "//anon", 0);
	check(f, f->child[0]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LIVE(test_first_memory),
		LIVE(test_next_to_program),
		LIVE(test_kernel_said),
		LIVE(test_narrow),
		LIVE(test_low),
		LIVE(test_static_pie),
		LIVE(test_child_goes_on),
		LIVE(test_vsyscall),
		LIVE(test_named),
		LIVE(test_living),
	};

	return perform(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
