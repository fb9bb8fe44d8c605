// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages.c - marks addresses whose pages it knows, and prints what each page function is to say of them.
 *
 *	WANT TAG FUNCTION VALUE		FUNCTION of the address marked with TAG says VALUE
 *	SAME FUNCTION TAG TAG		it says the same of both
 *	DIFFER FUNCTION TAG TAG		it does not
 *
 * What is right is known twice: by what was done to the page, and by what the kernel says of it in
 * /proc/self/pagemap, /proc/kpagecount, /proc/kpageflags and, for an area of one page, smaps.
 */
#define _GNU_SOURCE
#include "mark.h"
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#define PAGE 4096ul
#define HUGE (2ul << 20)
#define GIGA (1ul << 30)

#define KPF_ANON      (1ull << 12)
#define KPF_ZERO_PAGE (1ull << 24)

static int *last_tag; /* of all processes */
static char *free_room;
static volatile char sink;

static void say(const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (write(1, text, n) != n)
		die("stdout");
}

static void want(int tag, const char *function, long value)
{
	say("WANT %d %s %ld\n", tag, function, value);
}

static uint64_t word_of(const char *file, uint64_t index)
{
	uint64_t word = 0;
	int fd = open(file, O_RDONLY);

	if (fd < 0 || pread(fd, &word, 8, index * 8) < 0)
		die(file);
	close(fd);
	return word;
}

/* What smaps says of an area, in kB; -1 if @p is not all of one. */
static long smaps(const char *p, unsigned long size, const char *key)
{
	char line[512], head[64];
	FILE *f = fopen("/proc/self/smaps", "r");
	long kb = -1, n;
	int in = 0;

	snprintf(head, sizeof(head), "%lx-%lx ", (unsigned long)p, (unsigned long)p + size);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, head, strlen(head)))
			in = 1;
		else if (line[0] < 'A' || line[0] > 'Z')
			in = 0;
		if (in && !strncmp(line, key, strlen(key)) && sscanf(line + strlen(key), ": %ld", &n) == 1)
			kb = n;
	}
	fclose(f);
	return kb;
}

/* The kernel's own word on the page, then the mark. */
static int mark_page(const char *p)
{
	uint64_t e = word_of("/proc/self/pagemap", (uintptr_t)p / PAGE), pfn = e & ((1ull << 55) - 1);
	int present = e >> 63, swapped = e >> 62 & 1, tag = __sync_add_and_fetch(last_tag, 1);
	uint64_t flags = present ? word_of("/proc/kpageflags", pfn) : 0;
	int zero = !!(flags & KPF_ZERO_PAGE);
	long dirty;

	want(tag, "vma_page_present", present);
	want(tag, "vma_page_swapped", swapped);
	want(tag, "vma_page_zero", zero);
	want(tag, "vma_page_anon", (flags & KPF_ANON) || swapped);
	want(tag, "vma_page_mapcount", zero ? -1 : present ? (long)word_of("/proc/kpagecount", pfn) : 0);
	dirty = smaps(p, PAGE, "Shared_Dirty");
	if (dirty >= 0)
		want(tag, "vma_page_dirty", dirty + smaps(p, PAGE, "Private_Dirty") > 0);
	if (!present || (!zero && smaps(p, PAGE, "Referenced") == 0))
		want(tag, "vma_page_young", 0);
	mark(MARK_ADDRESS, (long)p, tag);
	return tag;
}

/* The same, and what was done to it: -1 where that leaves it open. */
static int page(const char *p, long size, int anon, int dirty, int mapcount, int private)
{
	int tag = mark_page(p);

	want(tag, "vma_page_size", size);
	want(tag, "vma_page_present", size > 0);
	want(tag, "vma_page_anon", anon);
	if (dirty >= 0)
		want(tag, "vma_page_dirty", dirty);
	if (mapcount >= 0)
		want(tag, "vma_page_mapcount", mapcount);
	want(tag, "vma_is_private", private);
	return tag;
}

/* An address whose page nobody can know. */
static void unknown(unsigned long addr, int value)
{
	static const char *const functions[] = {
		"vma_page_present", "vma_page_dirty", "vma_page_young", "vma_page_mapcount", "vma_page_anon",
		"vma_page_zero", "vma_page_swapped", "vma_page_size",
	};
	int tag = __sync_add_and_fetch(last_tag, 1);
	unsigned i;

	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		want(tag, functions[i], value);
	mark(MARK_ADDRESS, addr, tag);
}

/* A place for an area of @size bytes, aligned likewise, that has no neighbour. */
static char *place(unsigned long size)
{
	char *p = (char *)(((uintptr_t)free_room + size - 1) & ~(size - 1));

	free_room = p + size + PAGE;
	return p;
}

static char *at(unsigned long size, int prot, int flags, int fd, off_t off)
{
	char *p = mmap(place(size), size, prot, flags | MAP_FIXED, fd, off);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void same(int yes, int a, int b)
{
	say("%s vma_key %d %d\n", yes ? "SAME" : "DIFFER", a, b);
}

static int file_of(const char *name, int pages)
{
	static char text[16 * 4096];
	int fd = name ? open(name, O_CREAT | O_TRUNC | O_RDWR, 0600) : memfd_create("pages", 0);

	memset(text, 'x', sizeof(text));
	if (fd < 0 || write(fd, text, pages * PAGE) != (ssize_t)(pages * PAGE))
		die("file");
	return fd;
}

/* Until @turn is @n: parent and child go step by step. */
static void wait_turn(volatile int *turn, int n)
{
	while (*turn != n)
		usleep(1000);
}

static void anonymous(void)
{
	char *p = at(PAGE, RW, ANON, -1, 0);
	int tag;

	page(p, 0, 0, 0, 0, 1);
	sink = *p;
	tag = page(p, PAGE, 0, 0, -1, 1);
	want(tag, "vma_page_zero", 1);
	want(tag, "vma_page_mapcount", -1);
	*p = 1;
	tag = page(p, PAGE, 1, 1, 1, 1);
	want(tag, "vma_page_zero", 0);
	want(tag, "vma_page_young", 1);
	/* Still in memory, though nobody may access it. */
	mprotect(p, PAGE, PROT_NONE);
	page(p, PAGE, 1, 1, 1, 1);
	mprotect(p, PAGE, RW);
	madvise(p, PAGE, MADV_DONTNEED);
	page(p, 0, 0, 0, 0, 1);
	*p = 1;
	munmap(p, PAGE);
	unknown((unsigned long)p, 0);
	page(at(PAGE, RW, ANON | MAP_POPULATE, -1, 0), PAGE, 1, -1, 1, 1);
	page(at(PAGE, PROT_NONE, ANON, -1, 0), 0, 0, 0, 0, 1);
	p = at(PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*p = 1;
	page(p, PAGE, 0, 1, 1, 0);
}

static void young(void)
{
	char *p = at(PAGE, RW, ANON, -1, 0);
	int fd = open("/proc/self/clear_refs", O_WRONLY), tag;

	*p = 1;
	if (fd < 0 || write(fd, "1", 1) != 1)
		die("clear_refs");
	close(fd);
	tag = page(p, PAGE, 1, 1, 1, 1);
	want(tag, "vma_page_young", 0);
	/* The processor may not look at the entry again, as long as it has it. */
	mprotect(p, PAGE, PROT_READ);
	mprotect(p, PAGE, RW);
	sink = *p;
	tag = page(p, PAGE, 1, 1, 1, 1);
	want(tag, "vma_page_young", 1);
}

static void files(void)
{
	const char *const names[] = { "/tmp/pages.file", "/pages.file", NULL };
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int fd = file_of(names[i], 4), shared, private, other, copied, untouched;
		char *s = at(PAGE, RW, MAP_SHARED, fd, PAGE), *p = at(PAGE, RW, MAP_PRIVATE, fd, PAGE);
		char *q = at(PAGE, PROT_READ, MAP_PRIVATE, fd, PAGE), *r = at(PAGE, PROT_READ, MAP_SHARED, fd, 2 * PAGE);

		untouched = page(p, 0, 0, 0, 0, 0);
		sink = *s + *p;
		*s = 'y';
		shared = page(s, PAGE, 0, 1, 2, 0);
		private = page(p, PAGE, 0, 1, 2, 0);
		same(1, untouched, private);
		same(1, shared, private);
		sink = *q + *r;
		same(1, shared, page(q, PAGE, 0, 1, 3, 0));
		other = page(r, PAGE, 0, -1, 1, 0);
		same(0, shared, other);
		*p = 'z';
		copied = page(p, PAGE, 1, 1, 1, 1);
		same(0, shared, copied);
		page(s, PAGE, 0, 1, 2, 0);
		/* Given up, the copy makes place for the file's page again. */
		madvise(p, PAGE, MADV_DONTNEED);
		same(1, shared, page(p, 0, 0, 0, 0, 0));
		sink = *p;
		same(1, shared, page(p, PAGE, 0, 1, 3, 0));
		if (*p != 'y')
			die("the file's page");
		close(fd);
	}
	i = memfd_create("hole", 0);
	if (ftruncate(i, 4 * PAGE))
		die("ftruncate");
	{
		char *s = at(PAGE, RW, MAP_SHARED, i, 0);

		sink = *s;
		page(s, PAGE, 0, 0, 1, 0);
		*s = 1;
		page(s, PAGE, 0, 1, 1, 0);
	}
	close(i);
}

static void forks(void)
{
	int fd = file_of(NULL, 4), c_anon, p_anon, c_file, p_file, c_shared, p_shared, *tags;
	char *a = at(PAGE, RW, ANON, -1, 0), *f = at(PAGE, RW, MAP_PRIVATE, fd, 0), *s = at(PAGE, RW, MAP_SHARED, fd, PAGE);
	volatile int *turn = mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	tags = (int *)turn + 1;
	*a = 1;
	sink = *f;
	*s = 1;
	page(a, PAGE, 1, 1, 1, 1);
	pid = fork();
	if (!pid) {
		char *elsewhere;

		sink = *f + *s;
		elsewhere = at(PAGE, RW, MAP_PRIVATE, fd, 0);
		tags[0] = page(a, PAGE, 1, 1, 2, 1);
		tags[1] = page(f, PAGE, 0, 1, -1, 0);
		tags[2] = page(s, PAGE, 0, 1, 2, 0);
		tags[3] = page(elsewhere, 0, 0, 0, 0, 0);
		*turn = 1;
		wait_turn(turn, 2);
		*a = 2;
		*f = 2;
		tags[4] = page(a, PAGE, 1, 1, 1, 1);
		tags[5] = page(f, PAGE, 1, 1, 1, 1);
		*turn = 3;
		wait_turn(turn, 4);
		_exit(0);
	}
	wait_turn(turn, 1);
	sink = *f;
	p_anon = page(a, PAGE, 1, 1, 2, 1);
	p_file = page(f, PAGE, 0, 1, 2, 0);
	p_shared = page(s, PAGE, 0, 1, 2, 0);
	c_anon = tags[0];
	c_file = tags[1];
	c_shared = tags[2];
	/* One page, but what one writes the other does not see. */
	same(0, p_anon, c_anon);
	same(1, p_file, c_file);
	same(1, p_file, tags[3]);
	same(1, p_shared, c_shared);
	*turn = 2;
	wait_turn(turn, 3);
	same(1, p_anon, page(a, PAGE, 1, 1, 1, 1));
	same(1, p_file, page(f, PAGE, 0, 1, 1, 0));
	same(1, c_anon, tags[4]);
	same(0, p_file, tags[5]);
	*turn = 4;
	waitpid(pid, NULL, 0);
	page(s, PAGE, 0, 1, 1, 0);
	close(fd);
}

static void set(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		say("NOTE %s: %s\n", file, strerror(errno));
	close(fd);
}

static void huge(void)
{
	char *p;
	int tag;

	set("/proc/sys/vm/nr_hugepages", "4");
	p = mmap(place(2 * HUGE), 2 * HUGE, RW, ANON | MAP_FIXED | MAP_HUGETLB, -1, 0);
	if (p != MAP_FAILED) {
		p[5 * PAGE] = 1;
		page(p, HUGE, 1, 1, 1, 1);
		page(p + HUGE - 1, HUGE, 1, 1, 1, 1);
		page(p + HUGE, 0, 0, 0, 0, 1);
		mprotect(p, HUGE, PROT_NONE);
		page(p, HUGE, 1, 1, 1, 1);
		say("DID hugetlb\n");
	}
	p = mmap(place(GIGA), GIGA, RW, ANON | MAP_FIXED | MAP_HUGETLB | 30 << 26, -1, 0);
	if (p != MAP_FAILED) {
		p[GIGA / 2] = 1;
		page(p, GIGA, 1, 1, 1, 1);
		page(p + GIGA - PAGE, GIGA, 1, 1, 1, 1);
		mprotect(p, GIGA, PROT_NONE);
		page(p + GIGA / 2, GIGA, 1, 1, 1, 1);
		say("DID giga\n");
	}

	set("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "4000000000");
	p = at(HUGE, RW, ANON, -1, 0);
	madvise(p, HUGE, MADV_HUGEPAGE);
	sink = p[5 * PAGE];
	if (word_of("/proc/self/pagemap", (uintptr_t)p / PAGE) >> 63) {
		/* All of it is there: a page of zeros, huge. */
		tag = page(p, HUGE, 0, 0, -1, 1);
		want(tag, "vma_page_zero", 1);
		want(tag, "vma_page_mapcount", -1);
		page(p + HUGE - PAGE, HUGE, 0, 0, -1, 1);
		say("DID zeros\n");
	}
	p = at(HUGE, RW, ANON, -1, 0);
	madvise(p, HUGE, MADV_HUGEPAGE);
	p[5 * PAGE] = 1;
	if (smaps(p, HUGE, "AnonHugePages") == (long)HUGE / 1024) {
		tag = page(p, HUGE, 1, 1, 1, 1);
		want(tag, "vma_page_zero", 0);
		page(p + HUGE - PAGE, HUGE, 1, 1, 1, 1);
		mprotect(p, HUGE, PROT_NONE);
		page(p + PAGE, HUGE, 1, 1, 1, 1);
		mprotect(p, HUGE, RW);
		/* Split: what is left is mapped page by page. */
		madvise(p + PAGE, PAGE, MADV_DONTNEED);
		page(p + PAGE, 0, 0, 0, 0, 1);
		page(p + 2 * PAGE, PAGE, 1, 1, 1, 1);
		page(p + HUGE - PAGE, PAGE, 1, 1, 1, 1);
		say("DID thp\n");
	}
	set("/proc/sys/vm/nr_hugepages", "0");
}

/* Out of memory, as far as there is swap. */
static void swapped(void)
{
	char *a = at(PAGE, RW, ANON, -1, 0), *f;
	int fd = file_of("/tmp/pages.swap", 1), tag, before;

	f = at(PAGE, RW, MAP_PRIVATE, fd, 0);
	*a = *f = 1;
	before = page(f, PAGE, 1, 1, 1, 1);
	madvise(a, PAGE, 21 /* MADV_PAGEOUT */);
	madvise(f, PAGE, 21);
	if (word_of("/proc/self/pagemap", (uintptr_t)a / PAGE) >> 62 == 1 &&
	    word_of("/proc/self/pagemap", (uintptr_t)f / PAGE) >> 62 == 1) {
		tag = page(a, 0, 1, 0, 0, 1);
		want(tag, "vma_page_swapped", 1);
		same(1, before, page(f, 0, 1, 0, 0, 1));
		sink = *a;
		page(a, PAGE, 1, -1, 1, 1);
		say("DID swap\n");
	}
}

static void odd_addresses(void)
{
	const char *hint = (const char *)(1ul << 50);
	char *p = mmap((void *)hint, PAGE, RW, ANON, -1, 0);
	int high = p == hint, tag;

	if (high) { /* five levels */
		page(p, 0, 0, 0, 0, 1);
		*p = 1;
		page(p, PAGE, 1, 1, 1, 1);
		say("DID levels5\n");
	} else {
		unknown(1ul << 50, -1);
		unknown(1ul << 47, -1);
		unknown((1ul << 47) - 1, -1);
		unknown((1ul << 47) - PAGE - 1, 0);
		say("DID levels4\n");
	}
	unknown(0, 0);
	unknown(1ul << 45 | 0x777, 0);
	unknown(1ul << 56, -1);
	unknown((1ul << 56) - 1, -1);
	unknown(0xdead000000000000, -1);
	unknown(0xffff888000000000, -1);
	unknown(0xffffffff81000000, -1);
	unknown(0xffffffffff600000, -1);
	unknown(-1, -1);
	/* The kernel's own pages, mapped into every process. */
	p = (char *)getauxval(AT_SYSINFO_EHDR);
	sink = *p;
	tag = mark_page(p);
	want(tag, "vma_page_present", 1);
	want(tag, "vma_page_anon", 0);
	want(tag, "vma_page_size", PAGE);
}

int main(void)
{
	last_tag = mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	free_room = mmap(NULL, 4 * GIGA, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
	if (last_tag == MAP_FAILED || free_room == MAP_FAILED)
		die("mmap");
	*last_tag = 0;
	/* Not the reservation itself: areas must have no neighbours. */
	munmap(free_room, 4 * GIGA);
	anonymous();
	young();
	files();
	forks();
	huge();
	swapped();
	odd_addresses();
	say("MARKS %d\n", *last_tag);
	return 0;
}
