// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_call_kernel.c - what mapping calls did, by their arguments, against /proc/self/maps.
 *
 * Thousands of random calls are made in a child of its own, most of them in a range where nothing
 * else lies, as x86-64 and, where the kernel has it, as i386.  Each is applied by its arguments or,
 * if those do not tell, by a look at the ranges that the call may have changed; then the whole
 * list must be what maps shows.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call_table.h"
#include "raw_call.h"
#include "runtime/core/hvar_call.h"
#include "self_maps.h"

#define TOP	  ((uint64_t)-1)
#define ANON	  (MAP_PRIVATE | MAP_ANONYMOUS)
#define NOREPLACE 0x100000

/* Everything from here to play() runs in the child, without malloc. */

enum { ARENA_PAGES = 256, OUTSIDE = 16, SHMS = 3, FILES = 5 };
#define ARENA ((uint64_t)0x50000000)
#define LOW   (ARENA - 0x100000) /* a page that i386 calls can point at */

static struct world {
	struct hvar_vmas m, real, copy;
	struct hvar_vma file[FILES];
	int fd[FILES];
	int shm[SHMS];
	struct { uint64_t start, len; } out[OUTSIDE]; /* where the kernel chose */
	uint64_t brk, first_brk, stack_low;
	uint32_t personality;
	bool has_i386;
	uint32_t calls[HVAR_CAUSES], applied[HVAR_CAUSES], failed[HVAR_CAUSES];
	uint64_t seed;
	char did[256];
} w;

static _Noreturn void die(const char *what)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "# %s after %s\n", what, w.did);

	if (write(STDOUT_FILENO, text, n) != n)
		_exit(3);
	_exit(2);
}

static _Noreturn void self_maps_die(const char *what)
{
	die(what);
}

static uint32_t rnd(uint32_t below)
{
	w.seed ^= w.seed >> 12;
	w.seed ^= w.seed << 25;
	w.seed ^= w.seed >> 27;
	return (uint32_t)((w.seed * 2685821657736338717u) >> 32) % below;
}

static void copy_event(void *ctx, const struct hvar_event *e)
{
	(void)ctx;
	if (hvar_apply(&w.copy, e))
		die("event refused");
}

static void list_same(const struct hvar_vmas *a, const char *what)
{
	const struct hvar_vma *v = hvar_vmas_next(a, 0), *r = hvar_vmas_next(&w.real, 0);
	char text[256];

	while (v && r && !memcmp(v, r, sizeof(*v))) {
		v = hvar_vmas_next(a, v->end);
		r = hvar_vmas_next(&w.real, r->end);
	}
	if (!v && !r)
		return;
	snprintf(text, sizeof(text),
		 "%s has %lx-%lx prot %x pgoff %lx module %u region %u flags %u, maps has "
		 "%lx-%lx prot %x pgoff %lx module %u region %u flags %u", what,
		 v ? (long)v->start : 0, v ? (long)v->end : 0, v ? v->prot : 0,
		 v ? (long)v->pgoff : 0, v ? v->module : 0, v ? v->region : 0, v ? v->flags : 0,
		 r ? (long)r->start : 0, r ? (long)r->end : 0, r ? r->prot : 0,
		 r ? (long)r->pgoff : 0, r ? r->module : 0, r ? r->region : 0, r ? r->flags : 0);
	die(text);
}

/* The list is what maps shows, and so is what the events make. */
static void check(void)
{
	uint32_t i;

	self_look();
	hvar_vmas_init(&w.real, w.real.mem, w.real.size);
	for (i = 0; i < self_maps.n; i++)
		if (hvar_vmas_set(&w.real, self_maps.area[i].start, self_maps.area[i].end, &self_maps.area[i]))
			die("no room");
	list_same(&w.m, "the list");
	list_same(&w.copy, "the list of the events");
}

/* The call by @abi's numbers and registers: what the tracer of it would see. */
static void make_call(enum hvar_abi abi, uint32_t row, const uint64_t a[6],
		      struct hvar_call *c)
{
	uint64_t regs[6];
	uint32_t *low = (uint32_t *)LOW;
	uint64_t nr = table[row].nr[abi], words;
	long ret;
	int i;

	memcpy(regs, a, sizeof(regs));
	if (abi == HVAR_ABI_X86_64) {
		ret = raw(nr, regs);
		hvar_call_fill(c, abi, nr, regs, ret, NULL, 0);
		return;
	}
	if (nr == i386_mmap && rnd(2)) {
		nr = i386_mmap2;
		regs[5] >>= 12;
	} else if (nr == i386_mmap) {
		for (i = 0; i < 6; i++)
			low[i] = a[i];
		regs[0] = LOW;
	} else if (nr == i386_shmat && rnd(2)) {
		nr = i386_ipc;
		regs[0] = 21;
		regs[1] = a[0];
		regs[2] = a[2];
		regs[3] = LOW;
		regs[4] = a[1];
	} else if (nr == i386_shmdt && rnd(2)) {
		nr = i386_ipc;
		regs[0] = 22;
		regs[4] = a[0];
	}
	ret = int80(nr, regs);
	words = hvar_call_words(abi, nr, regs);
	if (words && words != LOW)
		die("words elsewhere");
	hvar_call_fill(c, abi, nr, regs, ret, words ? low : NULL, words ? 6 : 0);
}

/* Make the call, follow it, compare. */
static int64_t call(uint32_t row, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
		    uint64_t a4, uint64_t a5, const struct hvar_vma *file)
{
	uint64_t a[6] = { a0, a1, a2, a3, a4, a5 };
	uint64_t wide = (a0 | a1 | a4) >> 31; /* i386 would cut it off */
	enum hvar_abi abi = HVAR_ABI_X86_64;
	struct hvar_range r[3];
	struct hvar_event base;
	struct hvar_call c;
	uint32_t i, n;
	int err = -EOPNOTSUPP;

	if (w.has_i386 && !wide && table[row].cause != HVAR_CAUSE_BRK && rnd(3) == 0)
		abi = HVAR_ABI_I386;
	memset(&c, 0, sizeof(c));
	c.personality = w.personality;
	make_call(abi, row, a, &c);
	snprintf(w.did, sizeof(w.did), "%s %s(%#lx, %#lx, %#lx, %#lx, %#lx, %#lx) = %#lx",
		 abi == HVAR_ABI_I386 ? "i386" : "x86-64", table[row].name, (long)a0, (long)a1,
		 (long)a2, (long)a3, (long)a4, (long)a5, (long)c.ret);
	if (c.cause != table[row].cause)
		die("cause is another");
	memset(&base, 0, sizeof(base));
	w.calls[c.cause]++;
	if (c.ret < 0 && c.ret > -4096)
		w.failed[c.cause]++;
	/* Now and then by a look alone, as a host that trusts no arguments. */
	if (rnd(6))
		err = hvar_call_apply(&w.m, &c, w.brk, file, &base, copy_event, NULL);
	if (err == -EOPNOTSUPP) {
		n = hvar_call_ranges(&c, w.brk, r);
		self_look();
		for (i = 0; i < n; i++) {
			hvar_call_widen(&w.m, &r[i]);
			err = hvar_diff(&w.m, r[i].start, r[i].end, self_maps.area, self_maps.n, &base,
					copy_event, NULL);
			if (err)
				die("diff failed");
		}
	} else if (err) {
		die("apply failed");
	} else if (c.ret >= 0 || c.ret < -4095) {
		w.applied[c.cause]++;
	}
	if (c.cause == HVAR_CAUSE_BRK)
		w.brk = c.ret;
	check();
	return c.ret;
}

static uint32_t row_of(uint32_t nr)
{
	uint32_t i = 0;

	while (table[i].nr[0] != nr)
		i++;
	return i;
}

#define CALL(name, ...) call(row_of(x64_##name), __VA_ARGS__)

static uint64_t page(void)
{
	return ARENA + (uint64_t)rnd(ARENA_PAGES) * 4096;
}

static uint64_t length(void)
{
	return (1 + rnd(20)) * 4096 - (rnd(4) ? 0 : rnd(4096));
}

/* Mostly pages that are mapped: a part of a run of areas, from @at on. */
static void mapped(uint64_t *at, uint64_t *len)
{
	const struct hvar_vma *v = hvar_vmas_next(&w.m, *at);
	uint64_t end;

	if (rnd(4) == 0 || !v || v->start >= ARENA + ARENA_PAGES * 4096)
		return;
	if (*at < v->start)
		*at = v->start;
	for (end = v->end; (v = hvar_vmas_find(&w.m, end)) != NULL;)
		end = v->end;
	if (*len > end - *at)
		*len = end - *at;
}

/* Remember what lies outside the arena; what was in that place goes. */
static void keep_outside(int64_t at, uint64_t len)
{
	uint32_t i = rnd(OUTSIDE);
	uint64_t start = w.out[i].start;

	if (at < 0 && at > -4096)
		return;
	if ((uint64_t)at >= ARENA && (uint64_t)at < ARENA + ARENA_PAGES * 4096)
		return;
	w.out[i].start = at;
	if (start)
		CALL(munmap, start, w.out[i].len, 0, 0, 0, 0, NULL);
	w.out[i].len = len;
}

static void do_mmap(void)
{
	static const int extra[] = { 0, 0, 0, 0, MAP_NORESERVE, MAP_POPULATE, MAP_STACK,
				     MAP_GROWSDOWN, MAP_32BIT, MAP_LOCKED };
	uint32_t f = rnd(2 * FILES);
	uint64_t at = page(), len = length(), prot = rnd(8), pgoff = rnd(20) * 4096;
	uint64_t flags = MAP_PRIVATE | extra[rnd(10)];
	const struct hvar_vma *file = NULL;
	int fd = -1;

	if (rnd(4)) {
		flags |= rnd(6) ? MAP_FIXED : NOREPLACE;
	} else if (rnd(2)) {
		at = 0;
	}
	if (f >= FILES) {
		flags |= MAP_ANONYMOUS;
		if (rnd(8) == 0)
			flags ^= MAP_PRIVATE | MAP_SHARED;
		fd = rnd(2) ? -1 : w.fd[rnd(FILES)];
	} else {
		fd = w.fd[f];
		/* /dev/zero, mapped shared, is memory that only maps can name. */
		if (rnd(2) && f) {
			flags ^= MAP_PRIVATE | MAP_SHARED;
			if (rnd(3) == 0)
				flags |= MAP_SHARED_VALIDATE;
			if ((flags & MAP_TYPE) == MAP_SHARED_VALIDATE)
				flags &= MAP_SHARED_VALIDATE | MAP_FIXED | NOREPLACE | MAP_POPULATE;
		}
		file = &w.file[f];
		if (!f)
			flags &= ~MAP_GROWSDOWN;
	}
	if (rnd(20) == 0)
		fd = 999;
	if (rnd(40) == 0)
		flags &= ~(uint64_t)MAP_TYPE;
	if (rnd(40) == 0)
		pgoff += 123;
	if (rnd(40) == 0)
		flags |= MAP_HUGETLB;
	keep_outside(CALL(mmap, at, len, prot, flags, fd, pgoff, file), len);
}

static void do_mremap(void)
{
	uint64_t from = page(), old_len = rnd(8) ? length() : 0, new_len = length();
	uint64_t flags = rnd(8), to = page();
	const struct hvar_vma *v;
	int64_t ret;

	/* Mostly what may succeed: within one area, or several that keep their sizes. */
	if (rnd(4)) {
		v = hvar_vmas_next(&w.m, from);
		if (v && v->start < ARENA + ARENA_PAGES * 4096) {
			from = v->start + (rnd(3) ? 0 : rnd((v->end - v->start) >> 12) * 4096);
			if (old_len > v->end - from)
				old_len = v->end - from;
		}
		if (rnd(2))
			flags &= MREMAP_MAYMOVE | MREMAP_FIXED;
	}
	if (rnd(3) == 0) {
		new_len = old_len = length();
		flags = MREMAP_MAYMOVE | MREMAP_FIXED;
	}
	if (flags & MREMAP_FIXED)
		flags |= MREMAP_MAYMOVE;
	ret = CALL(mremap, from, old_len, new_len, flags, to, 0, NULL);
	if (ret != (int64_t)from)
		keep_outside(ret, new_len);
}

/* Above the first break only: what is below is in use. */
static void do_brk(void)
{
	uint64_t was = w.brk, above = (was + 4095) & ~(uint64_t)4095, at, to;

	to = w.first_brk + rnd(0x8000);
	at = above - rnd(4) * 4096;
	if (at < ((w.first_brk + 4095) & ~(uint64_t)4095))
		at = above;
	switch (rnd(5)) {
	case 0: /* a question */
		to = 0;
		break;
	case 1: /* a page just above: it may become [heap] */
		if (!hvar_vmas_find(&w.m, above))
			CALL(mmap, above, 4096, rnd(4), ANON | MAP_FIXED, -1, 0, NULL);
		return;
	case 2: /* and goes, with some heap or none */
		CALL(munmap, at, 4096 * (1 + rnd(3)), 0, 0, 0, 0, NULL);
		return;
	case 3:
		CALL(mprotect, at, 4096, rnd(2) ? 3 : rnd(8), 0, 0, 0, NULL);
		return;
	}
	CALL(brk, to, 0, 0, 0, 0, 0, NULL);
}

static void do_shm(void)
{
	uint64_t at = page(), flags = 0;
	int64_t ret;

	if (rnd(2)) {
		CALL(shmdt, at, 0, 0, 0, 0, 0, NULL);
		return;
	}
	if (rnd(2))
		flags |= SHM_REMAP;
	if (rnd(4) == 0)
		flags |= SHM_RDONLY;
	ret = CALL(shmat, w.shm[rnd(SHMS)], rnd(3) ? at : 0, flags, 0, 0, 0, NULL);
	if (ret > 0 && !(ret >= (int64_t)ARENA && ret < (int64_t)(ARENA + ARENA_PAGES * 4096)))
		CALL(shmdt, ret, 0, 0, 0, 0, 0, NULL);
}

static void do_one(void)
{
	uint64_t at = page(), len = length();

	if (rnd(100) == 0)
		at += 5;
	if (rnd(100) == 0)
		len = rnd(2) ? 0 : TOP - rnd(9000);
	switch (rnd(24)) {
	case 0: case 1: case 2:
		CALL(munmap, at, len, 0, 0, 0, 0, NULL);
		break;
	case 3: case 4: case 5: case 6: case 7: case 8:
		mapped(&at, &len);
		CALL(mprotect, at, len, rnd(8), 0, 0, 0, NULL);
		break;
	case 9:
		mapped(&at, &len);
		CALL(pkey_mprotect, at, len & 0xffff, rnd(8), -1, 0, 0, NULL);
		break;
	case 10: case 11: case 12: case 13:
		do_mremap();
		break;
	case 14:
		do_brk();
		break;
	case 15:
		do_shm();
		break;
	case 16:
		mapped(&at, &len);
		CALL(remap_file_pages, at, len & 0xffff, 0, rnd(20), 0, 0, NULL);
		break;
	case 17:
		CALL(madvise, at, len & 0xffff, rnd(2) ? MADV_DONTFORK : MADV_DONTNEED, 0, 0, 0,
		     NULL);
		break;
	case 18: /* the stack's lowest page: what is not its top loses the name */
		CALL(mprotect, w.stack_low + rnd(3) * 4096, 4096, rnd(2) ? 3 : 1, 0, 0, 0, NULL);
		break;
	case 19:
		if (w.personality) {
			CALL(mprotect, at, 4096, rnd(8) | (rnd(2) ? PROT_GROWSDOWN : 0), 0, 0, 0,
			     NULL);
			break;
		}
		/* fall through */
	default:
		do_mmap();
	}
}

static void open_files(void)
{
	char link[64], path[256], name[] = "/tmp/hotvar-test-XXXXXX";
	struct stat st;
	ssize_t n;
	int i;

	w.fd[0] = open("/dev/zero", O_RDWR);
	w.fd[1] = memfd_create("one", 0);
	w.fd[2] = memfd_create("two words", 0);
	w.fd[3] = mkstemp(name);
	w.fd[4] = open(name, O_RDONLY);
	unlink(name);
	for (i = 0; i < FILES; i++) {
		if (w.fd[i] < 0 || fstat(w.fd[i], &st) ||
		    (i && i < 4 && ftruncate(w.fd[i], 64 * 4096)))
			die("no file");
		snprintf(link, sizeof(link), "/proc/self/fd/%d", w.fd[i]);
		n = readlink(link, path, sizeof(path) - 1);
		if (n < 0)
			die("no link");
		path[n] = 0;
		self_classify(major(st.st_dev), minor(st.st_dev), st.st_ino, path, &w.file[i]);
	}
	for (i = 0; i < SHMS; i++) {
		w.shm[i] = shmget(IPC_PRIVATE, (i + 1) * 5 * 4096 - 100, 0600);
		/* Attached and marked: it goes with this process, whatever happens. */
		if (w.shm[i] < 0 || shmat(w.shm[i], NULL, 0) == (void *)-1)
			die("no shared memory");
		shmctl(w.shm[i], IPC_RMID, NULL);
	}
}

static int play(uint64_t seed, uint32_t persona, bool i386, uint32_t steps)
{
	static uint8_t mem[3][1 << 19] __attribute__((aligned(64)));
	static char spare[1 << 16];
	struct hvar_event base;
	uint32_t i;

	w.seed = seed;
	w.has_i386 = i386;
	strcpy(w.did, "the start");
	if (persona && personality(personality(0xffffffff) | persona) < 0)
		die("no personality");
	w.personality = persona;
	/* Touched, so that nothing below grows later. */
	memset(spare, 1, sizeof(spare));
	open_files();
	if (mmap((void *)LOW, 4096, PROT_READ | PROT_WRITE, ANON | MAP_FIXED, -1, 0) !=
	    (void *)LOW)
		die("no low page");
	hvar_vmas_init(&w.m, mem[0], sizeof(mem[0]));
	hvar_vmas_init(&w.real, mem[1], sizeof(mem[1]));
	hvar_vmas_init(&w.copy, mem[2], sizeof(mem[2]));
	w.brk = w.first_brk = (uint64_t)sbrk(0);
	self_look();
	for (i = 0; i < self_maps.n; i++) {
		if (self_maps.area[i].region == HVAR_REGION_STACK)
			w.stack_low = self_maps.area[i].start;
		if (self_maps.area[i].start < ARENA + ARENA_PAGES * 4096 && self_maps.area[i].end > ARENA)
			die("the arena is taken");
	}
	memset(&base, 0, sizeof(base));
	base.type = HVAR_EVENT_INITIAL;
	if (hvar_diff(&w.m, 0, TOP, self_maps.area, self_maps.n, &base, copy_event, NULL))
		die("no room");
	check();
	for (i = 0; i < steps; i++)
		do_one();
	for (i = 0; i < HVAR_CAUSES; i++)
		if (w.calls[i]) {
			char text[128];
			int n = snprintf(text, sizeof(text),
					 "# %s: %u calls, %u failed, %u applied without a look\n",
					 hvar_cause_name(i), w.calls[i], w.failed[i], w.applied[i]);

			if (write(STDOUT_FILENO, text, n) != n)
				return 3;
		}
	/* Most were told by their arguments: one look in six is asked for above. */
	if (!persona && (w.applied[HVAR_CAUSE_MUNMAP] < steps / 15 ||
			 w.applied[HVAR_CAUSE_MMAP] < steps / 15 ||
			 w.applied[HVAR_CAUSE_MPROTECT] < steps / 30 ||
			 w.applied[HVAR_CAUSE_MREMAP] < steps / 50 ||
			 w.applied[HVAR_CAUSE_BRK] < steps / 1000 ||
			 w.applied[HVAR_CAUSE_REMAP_FILE_PAGES] < steps / 1000))
		die("too few calls applied");
	return 0;
}

/* A fork in which a fault ends it, and is not taken by cmocka for the test's. */
static pid_t fork_plain(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS };
	pid_t pid;
	uint32_t i;

	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	for (i = 0; !pid && i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], SIG_DFL);
	return pid;
}

static int in_child(uint64_t seed, uint32_t persona, bool i386, uint32_t steps)
{
	int status;
	pid_t pid = fork_plain();

	if (!pid)
		_exit(play(seed, persona, i386, steps));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static bool kernel_has_i386(void)
{
	static const uint64_t none[6];
	int status;
	pid_t pid = fork_plain();

	if (!pid)
		_exit(int80(i386_getppid, none) > 0 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return !status;
}

static void test_kernel(void **state)
{
	bool i386 = kernel_has_i386();
	uint32_t i;

	(void)state;
	if (!i386)
		printf("# no i386 calls: this kernel has no IA32 emulation\n");
	for (i = 0; i < 4; i++)
		assert_int_equal(in_child(0x9e3779b97f4a7c15 + i, 0, i386 && i & 1, 4000), 0);
}

/* What can be read can be executed: the arguments do not say so. */
static void test_read_implies_exec(void **state)
{
	(void)state;
	assert_int_equal(in_child(42, READ_IMPLIES_EXEC, false, 3000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_read_implies_exec),
	};

	return cmocka_run_group_tests_name("call_kernel", tests, NULL, NULL);
}
