// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O1 -g -pthread */
/*
 * heap_objects.c - objects of the heap whose accesses the program counts itself.
 *
 * For each place that allocates, a line of what is to be in its row: NAME, then reads, writes, objects, bytes, objects
 * and bytes that are there at the end, bytes never read and never written, threads; -1 where that depends on the compiler.
 * "offset NAME+0xN reads writes" for parts of it.  Cases are arguments; without any all are done but the last two.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread long reads, writes;

/* Valgrind drops loads whose value nothing needs. */
static volatile long got;
#define GET(x)	  (reads++, got = (long)*(volatile __typeof__(x) *)&(x))
#define PUT(x, v)                                             \
	do {                                                  \
		*(volatile __typeof__(x) *)&(x) = (__typeof__(x))(v); \
		writes++;                                     \
	} while (0)

struct site {
	const char *function;
	int line;
	long reads, writes, objects, bytes, live, bytes_live, never_read, never_written, threads;
};

static void expect_as(const char *kind, struct site s)
{
	printf("%s:%s@heap_objects.c:%d %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", kind, s.function,
	       s.line, s.reads, s.writes, s.objects, s.bytes, s.live, s.bytes_live, s.never_read, s.never_written, s.threads);
	reads = writes = 0;
}

static void expect(struct site s)
{
	expect_as("heap", s);
}

/* @span: as many from there on together. */
static void expect_part(struct site s, long offset, long span)
{
	printf("offset heap:%s@heap_objects.c:%d+0x%lx", s.function, s.line, offset);
	if (span > 1)
		printf("..0x%lx", offset + span - 1);
	printf(" %ld %ld\n", s.reads, s.writes);
}

static void fail(const char *what)
{
	printf("failed: %s\n", what);
	fflush(stdout);
	_exit(1);
}

struct node {
	long a, b;
	int c, d;
	long e[3];
};

static void nodes(void)
{
	enum { N = 500 };
	static struct node *all[N];
	struct site s = { __func__, 0, 0, 0, N, N * sizeof(struct node), N / 2, N / 2 * sizeof(struct node), N * 40, N * 32, 1 };
	int i, k;

	for (i = 0; i < N; i++) {
		s.line = __LINE__ + 1;
		all[i] = malloc(sizeof(struct node));
		PUT(all[i]->a, i);
		PUT(all[i]->c, i);
	}
	for (i = 0; i < N; i++)
		for (k = 0; k < 3; k++)
			GET(all[i]->a);
	for (i = 0; i < N; i += 2)
		free(all[i]);
	s.reads = reads;
	s.writes = writes;
	expect(s);
	s.reads = 3 * N;
	s.writes = N;
	expect_part(s, offsetof(struct node, a), 1);
	s.reads = 0;
	expect_part(s, offsetof(struct node, c), 1);
}

/* Each realloc() begins another object; what it copies is no access. */
static void grow(void)
{
	struct site s = { .function = __func__, .threads = 1 };
	long *p = NULL, size;

	for (size = 8; size <= 64 << 10; size *= 2) {
		s.line = __LINE__ + 1;
		p = realloc(p, size);
		if (size > 8 && GET(p[size / 16 - 1]) != size / 2)
			fail("realloc keeps what there is");
		PUT(p[size / 8 - 1], size);
		s.objects++;
		s.bytes += size;
		s.never_read += size > 8 ? size - 8 : 8;
		s.never_written += size - 8;
	}
	free(p);
	s.reads = reads;
	s.writes = writes;
	expect(s);
}

static void shrink(void)
{
	struct site s = { .function = __func__, .threads = 1 };
	long *p = malloc(100000), i, size = 50000;

	for (i = 0; i < 12500; i++)
		p[i] = i;
	for (; size >= 40; size /= 10) {
		s.line = __LINE__ + 1;
		p = realloc(p, size);
		for (i = 0; i < size / 8; i++)
			if (GET(p[i]) != i)
				fail("realloc keeps what fits");
		s.objects++;
		s.bytes += size;
		s.never_written += size;
	}
	free(p);
	s.reads = reads;
	s.never_read = -1; /* sizes are no multiples of 8 */
	expect(s);
}

static void aligned(void)
{
	struct site s = { .function = __func__, .threads = 1 };
	size_t align;
	long *p[3];
	int i;

	for (align = 16; align <= 65536; align *= 4) {
		void *v = NULL;

		s.line = __LINE__ + 1;
		p[0] = posix_memalign(&v, align, 48) ? NULL : v, p[1] = aligned_alloc(align, 48), p[2] = memalign(align, 48);
		for (i = 0; i < 3; i++) {
			if (!p[i] || (uintptr_t)p[i] % align)
				fail("it is aligned");
			if (malloc_usable_size(p[i]) < 48)
				fail("all of it may be used");
			PUT(p[i][5], i);
			free(p[i]);
		}
		s.objects += 3;
		s.bytes += 3 * 48;
	}
	s.writes = writes;
	s.never_read = s.bytes;
	s.never_written = s.bytes - 8 * s.objects;
	expect(s);
}

/* Vector instructions access more than the 8 bytes they begin in. */
static void wide(void)
{
	struct block {
		char c[256];
	};
	static struct block from;
	struct block *to = malloc(sizeof(*to)); const int line = __LINE__;
	struct site s = { __func__, line, -1, -1, 1, 256, 1, 256, 256, 0, 1 };

	__asm__ volatile("" : : "r"(&from), "r"(to) : "memory");
	__builtin_memcpy(to, &from, sizeof(from));
	__asm__ volatile("" : : "r"(to) : "memory");
	expect(s);
}

/* What the kernel reads and writes for the program was touched, though it is no access. */
static void kernel(void)
{
	char *p = malloc(4096); const int line = __LINE__;
	struct site s = { __func__, line, 0, 0, 1, 4096, 0, 0, 4096 - 104, 96, 0 };
	int fd = open("/dev/zero", O_RDWR);

	if (read(fd, p, 4000) != 4000 || write(fd, p, 100) != 100)
		fail("read and write");
	close(fd);
	free(p);
	expect(s);
}

static int threads_line;

static void *churn(void *arg)
{
	int i;

	for (i = 0; i < 200; i++) {
		threads_line = __LINE__ + 1;
		long *p = malloc(24);

		PUT(p[0], i);
		if (GET(p[0]) != i)
			fail("memory is one thread's");
		free(p);
	}
	return arg;
}

static void threads(void)
{
	pthread_t t[8];
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, churn, NULL);
	for (i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	expect((struct site){ "churn", threads_line, 1600, 1600, 1600, 1600 * 24, 0, 0, 1600 * 16, 1600 * 16, 8 });
}

static void *take_over(void *arg)
{
	long **p = arg;
	int i;

	for (i = 0; i < 10; i++) {
		GET(p[i][0]);
		free(p[i]);
	}
	return NULL;
}

static void handed(void)
{
	long *p[10];
	pthread_t t;
	int i, line = 0;

	for (i = 0; i < 10; i++) {
		line = __LINE__ + 1;
		p[i] = malloc(16);
		PUT(p[i][0], i);
	}
	pthread_create(&t, NULL, take_over, p);
	pthread_join(t, NULL);
	expect((struct site){ __func__, line, 10, 10, 10, 160, 0, 0, 80, 80, 2 });
}

static void *raise_one(void *arg)
{
	long *p = arg;

	PUT(*p, GET(*p) + 1);
	return NULL;
}

/* More threads than can be told apart at a time, one after the other. */
static void many(void)
{
	long *p = calloc(64, sizeof(*p)); const int line = __LINE__;
	int i;

	for (i = 0; i < 150; i++) {
		pthread_t t;

		pthread_create(&t, NULL, raise_one, &p[i % 32]);
		pthread_join(t, NULL);
	}
	expect((struct site){ __func__, line, 150, 150, 1, 512, 1, 512, 256, 256, 150 });
}

/* A child has the parent's objects: its accesses are theirs, its freeing is its own affair. */
static void forked(void)
{
	long *p[10];
	int i, line = 0;

	for (i = 0; i < 10; i++) {
		line = __LINE__ + 1;
		p[i] = malloc(32);
		PUT(p[i][0], i);
	}
	if (!fork()) {
		for (i = 0; i < 10; i++)
			GET(p[i][0]);
		for (i = 0; i < 5; i++)
			free(p[i]);
		_exit(0);
	}
	wait(NULL);
	GET(p[7][0]);
	expect((struct site){ __func__, line, 11, 10, 10, 320, 10, 320, 312, 240, 2 });
}

/* Memory that is not touched is not there. */
static void zeros(void)
{
	enum { SIZE = 64 << 20 };
	char *p = calloc(1, SIZE); const int line = __LINE__;
	char *first = (char *)(((uintptr_t)p + 4095) & ~(uintptr_t)4095);
	size_t pages = (p + SIZE - first) / 4096, i, there = 0;
	unsigned char *in = malloc(pages);

	for (i = 0; i < 10; i++)
		if (GET(*(long *)&p[i * 6000000]))
			fail("calloc clears it");
	PUT(*(long *)&p[SIZE - 8], 1);
	if (mincore(first, pages * 4096, in))
		fail("mincore");
	for (i = 0; i < pages; i++)
		there += in[i] & 1;
	if (there > 40)
		fail("calloc leaves untouched memory untouched");
	expect((struct site){ __func__, line, 10, 1, 1, SIZE, 1, SIZE, SIZE - 80, SIZE - 8, 1 });
}

/* More than 32 bits can say. */
static void huge(void)
{
	const long size = (5L << 30) + 24;
	char *p = malloc(size); const int line = __LINE__;

	if (!p) {
		puts("no memory");
		return;
	}
	PUT(*(long *)&p[5L << 30], 1);
	GET(*(long *)&p[1 << 20]);
	expect((struct site){ __func__, line, 1, 1, 1, size, 1, size, size - 8, size - 8, 1 });
	expect_part((struct site){ .function = __func__, .line = line, .reads = 1 }, 0x100000, 0x100000);
}

/* Mappings are objects, too; of one that goes in parts, each part is taken from the whole. */
static void mapping(void)
{
	const long page = 4096;
	char *p = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); const int line = __LINE__;
	struct site s = { __func__, line, 2, 3, 1, 16 * page, 0, 5 * page, 16 * page - 16, 16 * page - 24, 1 };

	PUT(*(long *)&p[8], 1);
	PUT(*(long *)&p[5 * page], 2);
	munmap(p, 4 * page);
	munmap(p + 7 * page, 4 * page);
	if (GET(*(long *)&p[5 * page]) != 2)
		fail("what is left is as it was");
	PUT(*(long *)&p[15 * page + 8], 1);
	GET(*(long *)&p[15 * page + 8]);
	munmap(p + 4 * page, 3 * page);
	expect_as("mmap", s);
}

static void moving(void)
{
	const long page = 4096;
	char *p = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); const int line = __LINE__;
	char *room = mmap(NULL, 64 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *to;
	int moved;

	PUT(*(long *)&p[page], 7);
	expect_as("mmap", (struct site){ __func__, line, 0, 1, 1, 4 * page, 0, 0, 4 * page, 4 * page - 8, 1 });
	moved = __LINE__ + 1;
	to = mremap(p, 4 * page, 4 * page, MREMAP_MAYMOVE | MREMAP_FIXED, room + 8 * page);
	if (to == MAP_FAILED || GET(*(long *)&to[page]) != 7)
		fail("mremap keeps what there is");
	expect_as("mmap", (struct site){ __func__, moved, 1, 0, 1, 4 * page, 1, 4 * page, 4 * page - 8, 4 * page, 1 });
}

static __attribute__((noinline)) void *my_xmalloc(size_t n)
{
	void *p = malloc(n);

	if (!p)
		fail("malloc");
	return p;
}

static inline __attribute__((always_inline)) long *made_inline(int *line)
{
	*line = __LINE__ + 1;
	return my_xmalloc(40);
}

static void inlined(void)
{
	int line;
	long *p = made_inline(&line);

	PUT(p[1], 1);
	expect((struct site){ "made_inline", line, 0, 1, 1, 40, 1, 40, 40, 32, 1 });
}

static void named(void)
{
	char *p = strdup("fifteen letters"); const int line = __LINE__;

	expect((struct site){ __func__, line, -1, -1, 1, 16, 1, 16, -1, 0, 1 });
	__asm__ volatile("" : : "r"(p));
}

static void killed(void)
{
	long *p[3];
	int i, k, line = 0;

	for (i = 0; i < 3; i++) {
		line = __LINE__ + 1;
		p[i] = malloc(24);
		for (k = 0; k < 10; k++)
			PUT(p[i][i], k);
	}
	free(p[0]);
	expect((struct site){ __func__, line, 0, 30, 3, 72, 2, 48, 72, 48, 1 });
	fflush(stdout);
	kill(getpid(), SIGKILL);
}

static const struct {
	const char *name;
	void (*fn)(void);
} cases[] = {
	{ "nodes", nodes }, { "grow", grow }, { "shrink", shrink }, { "aligned", aligned }, { "wide", wide }, { "kernel", kernel },
	{ "threads", threads }, { "handed", handed }, { "many", many }, { "forked", forked }, { "zeros", zeros }, { "huge", huge },
	{ "mapping", mapping }, { "moving", moving },
	{ "named", named }, { "inlined", inlined }, { "killed", killed },
};

int main(int argc, char **argv)
{
	size_t n = sizeof(cases) / sizeof(cases[0]), i;
	int k;

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	for (i = 0; i < n; i++)
		for (k = 1; k < argc || (argc == 1 && k == 1); k++)
			if (argc == 1 ? i + 2 < n : !strcmp(argv[k], cases[i].name)) {
				reads = writes = 0;
				cases[i].fn();
				fflush(stdout);
			}
	return 0;
}
