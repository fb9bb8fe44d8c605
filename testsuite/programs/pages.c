/* hotvar-cflags: -O1 -g -static */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages.c - memory of every sort, with pages in states that this program knows.
 *
 *	pages regions [launched]	make them, say so, wait for the end of stdin
 *	pages swap	the same with pages that are swapped out, where there is swap
 *	pages fork	a parent and a child that has copied some pages
 *	pages touch	wait for a line, touch some pages, say so, wait for the end of stdin
 *	pages large	a terabyte with 4,096 pages in it, and 60,000 areas, or as many as there may be
 *	pages dense	a gibibyte of small pages
 *	pages phases	at one line touch 300 pages, at another unmap 250 of them
 *	pages random SEED	some regions after a thousand reads, writes and discards at random
 *	pages churn	map, touch, unmap and fork until the end of stdin
 *
 * Linked statically: pages of libraries are mapped by others, whose number changes.
 * Each line "region NAME START END FIELD=N..." is what is true of the region; FIELD<N and FIELD>N are bounds.
 * Each line "pages NAME START END FIELD=VALUE..." is what is true of each page in it; of those that are "absent", there is none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, N = 16 };
#define HUGE_BYTES ((size_t)2 << 20)
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* A variable of three whole pages, of which the program writes the middle one. */
char three_pages[3 * PAGE] __attribute__((aligned(PAGE))) = { 1 };
char zeros[5 * PAGE] __attribute__((aligned(PAGE)));
static volatile char sink;
static int launched;

/* Words of @facts that begin with "@" hold only if the program is watched from its start. */
static void tell(const char *type, const char *name, const char *at, size_t size, const char *facts)
{
	char text[256], *word, *rest = text;

	printf("%s %s 0x%" PRIxPTR " 0x%" PRIxPTR, type, name, (uintptr_t)at, (uintptr_t)at + size);
	snprintf(text, sizeof(text), "%s", facts);
	while ((word = strsep(&rest, " ")) != NULL)
		if (*word != '@' || launched)
			printf(" %s", word + (*word == '@'));
	putchar('\n');
}

static void say(const char *name, const char *at, size_t size, const char *facts)
{
	tell("region", name, at, size, facts);
}

/* Of pages @from to @to of what is at @p. */
static void say_pages(const char *name, const char *p, size_t from, size_t to, const char *facts)
{
	tell("pages", name, p + from * PAGE, (to - from) * PAGE, facts);
}

/* What is true of a page that was written, is its process's own, and was accessed since the start. */
#define OWN "present=true written=true anon=true zero=false exclusive=true swapped=false huge=false uffd_wp=false guard=false @touched=true"

/* @size bytes with a hole on both sides, so that no neighbour is like it. */
static char *map(size_t size, int prot, int flags, int fd)
{
	char *hole = mmap(NULL, size + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p;

	if (hole == MAP_FAILED)
		exit(2);
	p = mmap(hole + PAGE, size, prot, flags | MAP_FIXED, fd, 0);
	munmap(hole, PAGE);
	munmap(hole + PAGE + size, PAGE);
	return p == MAP_FAILED ? NULL : p;
}

static char *anon(size_t pages, int flags)
{
	return map(pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1);
}

static void put(char *p, int from, int to)
{
	for (int i = from; i < to; i++)
		p[(size_t)i * PAGE + 8] = 1;
}

static void get(const char *p, int from, int to)
{
	for (int i = from; i < to; i++)
		sink = p[(size_t)i * PAGE + 8];
}

static int file(const char *path, size_t pages)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *text = malloc(pages * PAGE);

	if (fd < 0 || !text)
		exit(2);
	memset(text, 'x', pages * PAGE);
	if (write(fd, text, pages * PAGE) != (ssize_t)(pages * PAGE))
		exit(2);
	free(text);
	unlink(path);
	return fd;
}

static void anonymous(void)
{
	char *p = anon(N, 0);

	put(p, 2, 7);
	say("anon_write", p, N * PAGE, "@touched=5 present=5 written=5 private=5 shared=0 zero=0 anon=5 swapped=0 huge=0");
	say_pages("anon_write", p, 0, 2, "absent");
	say_pages("anon_write", p, 2, 7, OWN);
	say_pages("anon_write", p, 7, N, "absent");
	p = anon(N, 0);
	get(p, 0, 7);
	say("anon_read", p, N * PAGE, "@touched=7 @touched_private=0 @touched_shared=7 present=7 written=0 private=0 shared=7 zero=7 anon=0");
	say_pages("anon_read", p, 0, 7, "present=true written=false anon=false zero=true exclusive=false swapped=false huge=false @touched=true");
	p = anon(N, 0);
	put(p, 0, 3);
	get(p, 3, 7);
	say("anon_mixed", p, N * PAGE, "@touched=7 @touched_private=3 @touched_shared=4 present=7 written=3 private=3 shared=4 zero=4 anon=3");
	say_pages("anon_mixed", p, 0, 3, OWN);
	say_pages("anon_mixed", p, 3, 7, "present=true written=false anon=false zero=true exclusive=false @touched=true");
	p = anon(N, MAP_POPULATE);
	say("populate", p, N * PAGE, "@touched_least=0 @touched_most=16 present=16 written=16 private=16 shared=0 zero=0");
	say_pages("populate", p, 0, N, "present=true written=true anon=true exclusive=true touched=null");
	p = anon(N, 0);
	put(p, 0, 8);
	madvise(p + 2 * PAGE, 3 * PAGE, MADV_DONTNEED);
	say("dontneed", p, N * PAGE, "@touched=5 present=5 written=5 private=5 shared=0");
	say_pages("dontneed", p, 0, 2, OWN);
	say_pages("dontneed", p, 2, 5, "absent");
	say_pages("dontneed", p, 5, 8, OWN);
	p = anon(N, 0);
	put(p, 0, 8);
	madvise(p, 8 * PAGE, MADV_FREE);
	say("free", p, N * PAGE, "@touched=8 present=8 private=8 shared=0");
	say_pages("free", p, 0, 8, OWN);
	p = anon(N, 0);
	put(p, 0, 6);
	mprotect(p, N * PAGE, PROT_NONE);
	say("prot_none", p, N * PAGE, "@touched=6 present=6 written=6 private=6");
	p = anon(N, 0);
	put(p, 0, 4);
	if (!madvise(p + 8 * PAGE, 2 * PAGE, MADV_GUARD_INSTALL)) {
		say("guard", p, N * PAGE, "present=4 written=4 private=4 swapped=0");
		say_pages("guard", p, 0, 4, OWN);
		say_pages("guard", p, 8, 10, "present=false guard=true written=false anon=false swapped=false mapcount=null");
	}
	p = map(N * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, open("/dev/zero", O_RDWR));
	put(p, 0, 2);
	get(p, 2, 4);
	say("dev_zero", p, N * PAGE, "@touched=4 present=4 written=2 zero=2 private=2");
	p = anon((size_t)1 << 26, MAP_NORESERVE); /* 256 GiB */
	madvise(p, ((size_t)1 << 26) * PAGE, MADV_NOHUGEPAGE);
	put(p, 0, 1);
	p[((size_t)1 << 25) * PAGE] = 1;
	p[((size_t)1 << 26) * PAGE - 1] = 1;
	say("sparse", p, ((size_t)1 << 26) * PAGE, "@touched=3 present=3 written=3 private=3");
}

static void files(const char *dir)
{
	char path[4096], *p;
	int fd, id;

	snprintf(path, sizeof(path), "%s/file", dir);
	fd = file(path, N);
	p = map(N * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	get(p, 9, 10);
	put(p, 3, 7);
	say("file_cow", p, N * PAGE, "@touched_least=5 written=4 anon=4 zero=0 present>4");
	say_pages("file_cow", p, 3, 7, OWN);
	say_pages("file_cow", p, 9, 10, "present=true written=false anon=false zero=false huge=false @touched=true");
	p = map(N * PAGE, PROT_READ, MAP_PRIVATE, fd);
	get(p, 0, N);
	say("file_read", p, N * PAGE, "@touched_most=16 present=16 written=0 anon=0 zero=0");
	fd = memfd_create("pages of mine", 0);
	if (ftruncate(fd, N * PAGE))
		exit(2);
	p = map(N * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	put(p, 0, 3);
	say("memfd", p, N * PAGE, "@touched=3 written=3 anon=0 present=3 private=3");
	say_pages("memfd", p, 0, 3, "present=true written=true anon=false zero=false exclusive=true swapped=false huge=false @touched=true");
	say_pages("memfd", p, 3, N, "absent");
	p = map(N * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	put(p, 0, 1);
	say("memfd_private", p, N * PAGE, "written=1 anon=1");
	p = map(N * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	put(p, 0, 5);
	say("shared_anon", p, N * PAGE, "@touched=5 present=5 written=5 private=5 anon=0");
	say_pages("shared_anon", p, 0, 5, "present=true written=true anon=false zero=false exclusive=true huge=false @touched=true");
	snprintf(path, sizeof(path), "/dev/shm/hotvar-pages-%d", (int)getpid());
	fd = file(path, N);
	p = map(N * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	put(p, 0, 2);
	say("shm_file", p, N * PAGE, "anon=0 zero=0");
	id = shmget(IPC_PRIVATE, N * PAGE, IPC_CREAT | 0600);
	p = id < 0 ? NULL : shmat(id, NULL, 0);
	if (p && p != (void *)-1) {
		put(p, 0, 2);
		say("sysv", p, N * PAGE, "@touched=2 present=2 written=2 private=2 anon=0");
		shmctl(id, IPC_RMID, NULL);
	}
}

/* Aligned by hand, as there is no other way to be sure. */
static void huge(void)
{
	char *p = anon(4 * HUGE_BYTES / PAGE, 0), *at;

	at = (char *)(((uintptr_t)p + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
	madvise(at, HUGE_BYTES, MADV_HUGEPAGE);
	at[100] = 1;
	say("thp", p, 4 * HUGE_BYTES, "written>0 zero=0 huge<513");
	p = anon(4 * HUGE_BYTES / PAGE, 0);
	at = (char *)(((uintptr_t)p + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
	madvise(at, HUGE_BYTES, MADV_HUGEPAGE);
	sink = at[100];
	say("thp_zero", p, 4 * HUGE_BYTES, "present>0 zero>0 written=0 anon=0 private=0");
	p = mmap(NULL, 2 * HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (p == MAP_FAILED)
		return;
	p[0] = 1;
	say("hugetlb", p, 2 * HUGE_BYTES, "present=512 huge=512 private=512 written=512 anon=512");
	say_pages("hugetlb", p, 0, 512, "present=true written=true anon=true zero=false exclusive=true huge=true swapped=false");
	say_pages("hugetlb", p, 512, 1024, "absent");
}

/* Pages that userfaultfd protects; the descriptor stays open. */
static void protected(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	char *p = anon(N, 0);
	struct uffdio_register r = { .range = { (uintptr_t)p, N * PAGE }, .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect w = { .range = { (uintptr_t)p + PAGE, 3 * PAGE }, .mode = UFFDIO_WRITEPROTECT_MODE_WP };

	put(p, 0, 6);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &r) || ioctl(fd, UFFDIO_WRITEPROTECT, &w))
		return;
	say("uffd", p, N * PAGE, "@touched=6 present=6 written=6 private=6 anon=6 swapped=0");
	say_pages("uffd", p, 0, 1, OWN);
	say_pages("uffd", p, 1, 4, "present=true written=true anon=true exclusive=true uffd_wp=true @touched=true");
	say_pages("uffd", p, 4, 6, OWN);
}

static void wait_for_end(void);

/* MADV_PAGEOUT (Linux 5.4) leaves some pages in now and then: it is asked until it has done it all. */
static int out(char *p, int from, int to)
{
	uint64_t e[N];
	int fd = open("/proc/self/pagemap", O_RDONLY), left = to - from;

	for (int tries = 0; tries < 100 && left; tries++) {
		madvise(p + from * PAGE, (size_t)(to - from) * PAGE, 21);
		if (pread(fd, e, sizeof(e), (off_t)((uintptr_t)p / PAGE * 8)) != sizeof(e))
			exit(2);
		left = 0;
		for (int i = from; i < to; i++)
			left += (int)(e[i] >> 63);
	}
	close(fd);
	return !left;
}

static void swapped(void)
{
	char *p = anon(N, 0);

	put(p, 0, 10);
	if (out(p, 3, 9)) {
		say("swapped", p, N * PAGE, "present=4 swapped=6 written=10 anon=10 private=4 @touched=4");
		say_pages("swapped", p, 0, 3, OWN);
		say_pages("swapped", p, 3, 9, "present=false swapped=true written=true anon=true exclusive=null mapcount=null");
		say_pages("swapped", p, 9, 10, OWN);
		say_pages("swapped", p, 10, N, "absent");
	}
	p = map(N * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	put(p, 0, 10);
	if (out(p, 0, 5))
		say("swapped_shm", p, N * PAGE, "present=5 swapped=5 written=5 anon=0 private=5");
	p = anon(N, 0);
	put(p, 0, 10);
	if (out(p, 0, 10)) {
		get(p, 2, 5);
		say("swapped_in", p, N * PAGE, "swapped<8 present>2 anon=10 written=10");
	}
}

static void wait_for_end(void)
{
	char text[64];

	fflush(stdout);
	while (read(0, text, sizeof(text)) > 0)
		;
}

static void forked(void)
{
	char *p = anon(N, 0), *shm = map(N * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	int to_child[2], from_child[2];
	char byte;
	pid_t pid;

	put(p, 0, 6);
	if (pipe(to_child) || pipe(from_child))
		exit(2);
	pid = fork();
	if (!pid) {
		close(to_child[1]);
		put(p, 1, 3);
		put(three_pages, 1, 2);
		put(shm, 0, 1);
		byte = 0;
		if (write(from_child[1], &byte, 1) != 1 || read(to_child[0], &byte, 1) < 0)
			_exit(2);
		_exit(0);
	}
	if (read(from_child[0], &byte, 1) != 1)
		exit(2);
	/* mapped by one it is private, though the mapping is shared; by two it is shared */
	put(shm, 0, 2);
	printf("child %d\n", (int)pid);
	say("parent", shm, N * PAGE, "present=2 private=1 shared=1 written=2 anon=0");
	say("child", shm, N * PAGE, "present=1 private=0 shared=1 written=1 anon=0");
	say("parent", p, N * PAGE, "present=6 written=6 private=2 shared=4 anon=6");
	say("child", p, N * PAGE, "present=6 written=6 private=2 shared=4 anon=6");
	wait_for_end();
	close(to_child[1]);
	waitpid(pid, NULL, 0);
}

static void touch(const char *dir)
{
	char path[4096], *old = anon(64, 0), *fresh = anon(64, 0), *both = anon(64, 0), *p, *shared, *read_only;
	char text[64];
	int fd;

	snprintf(path, sizeof(path), "%s/file", dir);
	fd = file(path, 64);
	read_only = map(64 * PAGE, PROT_READ, MAP_PRIVATE, fd);
	get(read_only, 0, 64);
	shared = map(64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	put(shared, 0, 64);
	put(old, 0, 64);
	put(both, 0, 10);
	printf("region idle 0x%" PRIxPTR "\n", (uintptr_t)old);
	fflush(stdout);
	if (read(0, text, sizeof(text)) <= 0)
		exit(2);
	get(old, 5, 12);
	put(fresh, 0, 9);
	get(fresh, 20, 23);
	put(both, 4, 30);
	get(shared, 0, 3);
	put(shared, 3, 11);
	get(read_only, 7, 20);
	p = anon(N, MAP_POPULATE);
	put(zeros, 0, 2);
	say("old", old, 64 * PAGE, "present=64 touched=7");
	say("fresh", fresh, 64 * PAGE, "present=12 touched=12 touched_private=9 touched_shared=3 zero=3 written=9");
	say("both", both, 64 * PAGE, "present=30 touched=26");
	say("shared", shared, 64 * PAGE, "present=64 touched=11");
	say("read_only", read_only, 64 * PAGE, "present=64 touched=13");
	say("populate", p, N * PAGE, "present=16 touched_least=0 touched_most=16");
	wait_for_end();
}

static void phases(void)
{
	char text[64], *p = NULL;

	puts("ready");
	fflush(stdout);
	for (int line = 0; read(0, text, sizeof(text)) > 0; line++) {
		if (!line) {
			p = anon(300, 0);
			madvise(p, 300 * PAGE, MADV_NOHUGEPAGE);
			put(p, 0, 300);
		} else if (line == 1) {
			munmap(p + 10 * PAGE, 250 * PAGE);
		}
		printf("phase %d\n", line);
		fflush(stdout);
	}
}

/* What is true of each page, kept beside what is done to it. */
struct model {
	char *p;
	unsigned char present[64], zero[64], copied[64], dirty[64];
	int shared, of_file;
};

static void do_random(struct model *m)
{
	int i = rand() % 64, n = rand() % 5 ? 1 : 1 + rand() % 20, what = rand() % 5;

	for (; n && i < 64; n--, i++) {
		if (what <= 1) {
			put(m->p, i, i + 1);
			m->present[i] = m->dirty[i] = 1;
			m->copied[i] = !m->shared;
			m->zero[i] = 0;
		} else if (what <= 3) {
			get(m->p, i, i + 1);
			if (!m->present[i])
				m->zero[i] = !m->shared && !m->of_file;
			m->present[i] = 1;
		} else {
			/* what shared memory keeps would come back with its neighbours */
			madvise(m->p + i * PAGE, PAGE, m->shared ? MADV_REMOVE : MADV_DONTNEED);
			m->present[i] = m->zero[i] = m->copied[i] = m->dirty[i] = 0;
		}
	}
}

static void say_random(const char *name, const struct model *m)
{
	int present = 0, zero = 0, copied = 0, dirty = 0;
	char text[128];

	for (int i = 0; i < 64; i++) {
		present += m->present[i];
		zero += m->zero[i];
		copied += m->copied[i];
		dirty += m->present[i] && m->dirty[i];
	}
	/* a fault on a file brings in its neighbours, too */
	if (m->of_file)
		snprintf(text, sizeof(text), "written=%d anon=%d zero=0 present>%d", copied, copied, present - 1);
	else if (m->shared)
		snprintf(text, sizeof(text), "present=%d written=%d anon=0 zero=0", present, dirty);
	else
		snprintf(text, sizeof(text), "present=%d written=%d anon=%d private=%d zero=%d shared=%d", present, copied,
			 copied, copied, zero, zero);
	say(name, m->p, 64 * PAGE, text);
}

static void random_pages(const char *seed, const char *dir)
{
	static struct model m[4];
	static const char *const names[] = { "random_anon", "random_shared", "random_file", "random_more" };
	char path[4096];

	srand((unsigned)atoi(seed));
	snprintf(path, sizeof(path), "%s/random-file", dir);
	m[0].p = anon(64, 0);
	m[1].p = map(64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	m[1].shared = 1;
	m[2].p = map(64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file(path, 64));
	m[2].of_file = 1;
	m[3].p = anon(64, 0);
	for (int i = 0; i < 1000; i++)
		do_random(&m[rand() % 4]);
	for (int i = 0; i < 4; i++)
		say_random(names[i], &m[i]);
	puts("ready");
	wait_for_end();
}

static void churn(void)
{
	struct pollfd end = { .fd = 0, .events = POLLIN };

	printf("churning\n");
	fflush(stdout);
	while (poll(&end, 1, 0) <= 0) {
		char *p[32];

		for (int i = 0; i < 32; i++) {
			p[i] = mmap(NULL, (size_t)(1 + i) * PAGE, i & 1 ? PROT_READ | PROT_WRITE : PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (p[i] == MAP_FAILED)
				exit(2);
			if (i & 1)
				put(p[i], 0, 1 + i);
			else
				get(p[i], 0, 1 + i);
		}
		if (!fork())
			_exit(0);
		for (int i = 0; i < 32; i++)
			munmap(p[i], (size_t)(1 + i) * PAGE);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

static void large(void)
{
	const size_t pages = (size_t)1 << 28, areas = 60000;
	char *p = anon(pages, MAP_NORESERVE), *q = anon(areas, 0);
	size_t made = 0;

	for (size_t i = 0; p && i < pages; i += pages / 4096)
		p[i * PAGE] = 1;
	for (size_t i = 0; q && i < areas; i++) {
		q[i * PAGE] = 1;
		if (i & 1)
			made += !mprotect(q + i * PAGE, PAGE, PROT_READ);
	}
	if (!p || !q)
		exit(2);
	printf("%zu areas\nready\n", 2 * made);
	wait_for_end();
}

static void dense(void)
{
	const size_t pages = (size_t)1 << 18;
	char *p = anon(pages, 0);

	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	put(p, 0, (int)pages);
	say("dense", p, pages * PAGE, "present=262144");
	puts("ready");
	wait_for_end();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *dir = getenv("TMPDIR");

	if (!dir)
		dir = "/tmp";
	launched = argc > 2 && !strcmp(argv[2], "launched");
	three_pages[PAGE] = 2;
	printf("pid %d\n", (int)getpid());
	if (!strcmp(what, "regions")) {
		anonymous();
		files(dir);
		huge();
		protected();
		printf("variable three_pages 0x%" PRIxPTR "\n", (uintptr_t)three_pages);
		puts("ready");
		wait_for_end();
	} else if (!strcmp(what, "swap")) {
		swapped();
		puts("ready");
		wait_for_end();
	} else if (!strcmp(what, "fork")) {
		forked();
	} else if (!strcmp(what, "touch")) {
		touch(dir);
	} else if (!strcmp(what, "large")) {
		large();
	} else if (!strcmp(what, "dense")) {
		dense();
	} else if (!strcmp(what, "phases")) {
		phases();
	} else if (!strcmp(what, "random") && argc > 2) {
		random_pages(argv[2], dir);
	} else if (!strcmp(what, "churn")) {
		churn();
	} else {
		return 2;
	}
	return 0;
}
