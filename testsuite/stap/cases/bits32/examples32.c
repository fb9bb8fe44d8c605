/* hotvar-cflags: -m32 -O1 -g -static -nostdlib -ffreestanding -fno-stack-protector -fno-pie -no-pie -fcf-protection=none -fno-tree-vectorize -fno-tree-loop-distribute-patterns -Wl,--build-id */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * examples32.c - a 32-bit program of which it is known what the examples are to say; as of locks.c, buffers.c and copies.c.
 *
 *	examples32 locks	threads wait for two mutexes, as the C library's
 *	examples32 variable	a page of ring is dropped, then one mapped over
 *	examples32 copies	page faults on named variables, in the process and in its child
 *	examples32 spin		spends its time on hot_table
 */
#include "raw32.h"

enum { PAGE = 4096, THREADS = 4, HELD_US = 20000 };
#define PAGES(n) [(n) * PAGE] __attribute__((aligned(PAGE)))

/* All that is printed: LETTERS, then numbers. */
static char line[400];

static void put_hex(unsigned n)
{
	char digits[9], *d = digits + 8, *end = line;

	*d = '\0';
	do
		*--d = "0123456789abcdef"[n % 16];
	while (n /= 16);
	while (*end)
		end++;
	put(end, d);
}

static void add(const char *s)
{
	char *end = line;

	while (*end)
		end++;
	put(end, s);
}

static void add_number(unsigned n)
{
	char digits[12];

	number(digits, n);
	add(digits);
}

static void flush(void)
{
	add("\n");
	say(line);
	line[0] = '\0';
}

/* ---- locks ---- */

struct mutex {
	volatile int lock; /* 1 taken, 2 somebody waits */
	int count;
	volatile int owner;
};
struct mutex hot_lock;
static struct mutex warm_locks[3];
static struct mutex *volatile wanted;
static volatile int go, ready, finished, tids[THREADS];
static volatile unsigned waited_us[THREADS];
static char stacks[THREADS][8192] __attribute__((aligned(16)));

static unsigned now_us(void)
{
	struct { long s, ns; } t;

	call3(NR_clock_gettime, 1, &t, 0);
	return t.s * 1000000u + t.ns / 1000;
}

static void take(struct mutex *m)
{
	if (!__sync_bool_compare_and_swap(&m->lock, 0, 1))
		while (__sync_lock_test_and_set(&m->lock, 2))
			call(NR_futex, (long)&m->lock, 128 /* FUTEX_WAIT, private */, 2, 0, 0, 0);
	m->owner = call3(NR_gettid, 0, 0, 0);
}

static void give(struct mutex *m)
{
	m->owner = 0;
	if (__sync_lock_test_and_set(&m->lock, 0) == 2)
		call(NR_futex, (long)&m->lock, 129, 1, 0, 0, 0);
}

static void waiter(long i)
{
	int round = 0;
	unsigned t;

	tids[i] = call3(NR_gettid, 0, 0, 0);
	for (;;) {
		while (go == round)
			call3(NR_sched_yield, 0, 0, 0);
		round++;
		if (!wanted) {
			__sync_fetch_and_add(&finished, 1);
			call3(NR_exit, 0, 0, 0);
		}
		t = now_us();
		take(wanted);
		waited_us[i] += now_us() - t;
		give(wanted);
		__sync_fetch_and_add(&ready, 1);
	}
}

/* Does thread @tid wait in futex() for @m?  "240 0xADDRESS ..." */
static int waits(int tid, struct mutex *m)
{
	char *p = put(number(put(name, "/proc/self/task/"), tid), "/syscall"), is[64];
	int fd = call3(NR_open, name, 0, 0), n = call3(NR_read, fd, is, sizeof(is) - 1), i;

	(void)p;
	call3(NR_close, fd, 0, 0);
	if (n < 0)
		die(94);
	is[n] = '\0';
	line[0] = '\0';
	add("240 0x");
	put_hex((unsigned)m);
	for (i = 0; line[i] && line[i] == is[i]; i++)
		;
	n = !line[i];
	line[0] = '\0';
	return n;
}

static void contend(const char *what, struct mutex *m, int rounds)
{
	unsigned most = 0, t;
	int r, i;

	for (i = 0; i < THREADS; i++)
		waited_us[i] = 0;
	for (r = 0; r < rounds; r++) {
		take(m);
		wanted = m;
		ready = 0;
		go++;
		for (i = 0; i < THREADS; i++)
			while (!waits(tids[i], m))
				call3(NR_sched_yield, 0, 0, 0);
		for (t = now_us(); now_us() - t < HELD_US;)
			;
		give(m);
		while (ready < THREADS)
			call3(NR_sched_yield, 0, 0, 0);
	}
	for (i = 0; i < THREADS; i++)
		most += waited_us[i];
	add("LOCK ");
	add(what);
	add(" mutex ");
	add_number(rounds * THREADS);
	add(" 4 ");
	add_number(rounds * THREADS * HELD_US);
	add(" ");
	add_number(most);
	add(" ");
	add_number(call3(NR_getpid, 0, 0, 0));
	flush();
}

static void locks(void)
{
	long i;

	for (i = 0; i < THREADS; i++)
		if (spawn(CLONE_THREADS, waiter, i, stacks[i] + sizeof(stacks[i])) < 0)
			die(95);
	for (i = 0; i < THREADS; i++)
		while (!tids[i])
			call3(NR_sched_yield, 0, 0, 0);
	contend("hot_lock+0x0/0xc", &hot_lock, 3);
	contend("warm_locks+0x18/0x24", &warm_locks[2], 1);
	wanted = 0;
	go++;
	while (finished < THREADS)
		call3(NR_sched_yield, 0, 0, 0);
}

/* ---- a buffer ---- */

static char ring PAGES(16);

static __attribute__((noinline)) int drop_page(void)
{
	return call3(NR_madvise, ring + 2 * PAGE, PAGE, 4 /* MADV_DONTNEED */) + 1;
}

static __attribute__((noinline)) int map_over(void)
{
	return mmap2(ring + PAGE, PAGE, READ | WRITE, PRIVATE | ANON | FIXED, -1, 0) != ring + PAGE;
}

static void say_hit(const char *what, const char *p, const char *from)
{
	add("HIT ");
	add(what);
	add(" ");
	put_hex((unsigned)p);
	add("-");
	put_hex((unsigned)p + PAGE);
	add(" by examples32, pid ");
	add_number(call3(NR_getpid, 0, 0, 0));
	add(" tid ");
	add_number(call3(NR_gettid, 0, 0, 0));
	add("\nFROM ");
	add(from);
	flush();
}

static void variable(void)
{
	long child, i;

	add("WATCH ");
	put_hex((unsigned)ring);
	add(" ");
	put_hex((unsigned)ring + sizeof(ring));
	flush();
	for (i = 0; i < 16; i++)
		((volatile char *)ring)[i * PAGE] = 1;
	child = call3(NR_fork, 0, 0, 0);
	if (!child) {
		drop_page(); /* of its own copy: not the one that is watched */
		call3(NR_exit_group, 0, 0, 0);
	}
	add("FORK by pid ");
	add_number(call3(NR_getpid, 0, 0, 0));
	add(": child ");
	add_number(child);
	add(" has it too");
	flush();
	call3(NR_waitpid, child, 0, 0);
	say_hit("madvise(MADV_DONTNEED) of", ring + 2 * PAGE, "drop_page");
	if (drop_page() != 1)
		die(93);
	say_hit("mmap over", ring + PAGE, "map_over");
	if (map_over())
		die(92);
}

/* ---- pages ---- */

char written PAGES(12);		/* written, then shared by the fork */
static char read_only PAGES(6); /* read, then two pages written */
char in_file PAGES(16) __attribute__((section("file_pages"))) = { 1 };
static volatile char sum;

static __attribute__((noinline)) void write_pages(char *p, int from, int to)
{
	int i;

	for (i = from; i < to; i++)
		((volatile char *)p)[i * PAGE + 7] = 1;
}

static __attribute__((noinline)) void read_pages(char *p, int from, int to)
{
	int i;

	for (i = from; i < to; i++)
		sum += ((volatile char *)p)[i * PAGE + 9];
}

static void say_copies(long pid, const char *rest)
{
	add("COPY ");
	add_number(pid);
	add(rest);
	flush();
}

static void copies(void)
{
	int turn[2], done[2];
	long child, pid = call3(NR_getpid, 0, 0, 0);
	char *shared, x = 0;

	write_pages(written, 0, 12);
	read_pages(read_only, 0, 6);
	write_pages(read_only, 1, 3);
	write_pages(in_file, 0, 5);
	read_pages(in_file, 5, 16);
	shared = mmap2(0, 8 * PAGE, READ | WRITE, SHARED | ANON, -1, 0);
	write_pages(shared, 0, 8);
	if (call3(42 /* pipe */, turn, 0, 0) || call3(42, done, 0, 0))
		die(91);
	child = call3(NR_fork, 0, 0, 0);
	if (!child) {
		call3(NR_close, turn[1], 0, 0);
		write_pages(written, 0, 4);
		write_pages(shared, 0, 3);
		if (call3(NR_write, done[1], &x, 1) != 1 || call3(NR_read, turn[0], &x, 1) != 0)
			die(90);
		call3(NR_exit_group, 0, 0, 0); /* the parent has ended */
	}
	if (call3(NR_read, done[0], &x, 1) != 1)
		die(89);
	write_pages(written, 2, 9); /* 2 that are alone by now, 5 copies */
	say("FAULT written 0 23 12 11 0\nFAULT read_only 6 2 6 2 0\n");
	say_copies(child, " written 4 fork");
	say_copies(pid, " written 5 fork");
	say_copies(pid, " read_only 2 zeros");
	say_copies(pid, " in_file 5 file");
	say("PAGES file_pages 16 5 -\nPAGES shm 8 0 3\n");
}

/* ---- time ---- */

static unsigned hot_table[1 << 14];
unsigned seldom_table[1 << 10];

static void spin(void)
{
	unsigned i, begin = now_us();

	while (now_us() - begin < 3000000) {
		for (i = 0; i < 20u << 14; i++)
			hot_table[i & ((1 << 14) - 1)] += i;
		for (i = 0; i < 1 << 10; i++)
			seldom_table[i] += i;
		__asm__ volatile("" : : "r"(hot_table), "r"(seldom_table) : "memory"); /* somebody may read them */
	}
}

__attribute__((used)) void begin(long *stack)
{
	char **argv = (char **)(stack + 1);

	switch (argv[1][0]) {
	case 'l':
		locks();
		break;
	case 'v':
		variable();
		break;
	case 'c':
		copies();
		break;
	case 's':
		spin();
	}
	call3(NR_exit_group, 0, 0, 0);
}
