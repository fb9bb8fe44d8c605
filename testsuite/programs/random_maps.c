/* hotvar-libs: -lpthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * random_maps - thousands of random mapping calls, and what /proc/self/maps says between them.
 *
 *	random_maps SEED CALLS LOG DIR WHAT [FIFO]
 *
 * WHAT is any of: t threads, each in an arena of its own; o threads that share one; f forked children; v vfork and
 * CLONE_VM children; x children that execute this program again, some from a thread; s stacks that grow; b the program
 * break; p plain: only what arguments and result tell all of; w waits for a line on stdin before it begins.
 *
 * At each barrier, when nothing of the process runs, it maps a page at step N % 1000 from MARK, appends "B PID N" and its maps to
 * LOG, and maps one at that step from MARK_READ: whoever follows must know those maps when the second is told.  With a
 * FIFO it maps one more before, from MARK_AGAIN, and waits for a byte from it after each of the three.  At the end it prints how
 * many calls it made, forks' too, one number a process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define MARK 0x6f0000000000ul
#define MARK_AGAIN 0x6f4000000000ul
#define MARK_READ 0x6f8000000000ul
#define MARK_STEP 0x100000ul
#define ARENAS 0x100000000000ul
#define ARENA_STEP 0x1000000000ul
#define ARENA_PAGES 384ul
#define GROWING 0x680000000000ul
#define LOOSE 24
#define WORKERS 4 /* 0 is the main thread; the one behind the last is for CLONE_VM children */
#define CALLS_A_ROUND 24
#define FILE_PAGES 64

/* One that makes calls: nobody else uses its pages, but where arenas are shared. */
struct worker {
	uint64_t random, arena;
	struct loose {
		uint64_t at, len;
		int shm;
	} loose[LOOSE];
	uint64_t calls;
	int left;
	pthread_t thread;
};

static struct worker workers[WORKERS + 1];
static unsigned plain;
static int fds[4], shm_id = -1, fifo = -1, log_fd;
static uint64_t brk_low, brk_now;
static unsigned n_barriers, n_growing;
static int has_threads, shares;
static pthread_barrier_t begin, end;
static volatile int over;
static char text[8 << 20];

/* No errno: a CLONE_VM child would share it. */
static long call(struct worker *w, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (w)
		w->calls++;
	return ret;
}

static uint64_t rnd(struct worker *w, uint64_t n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 11) % n;
}

static int failed(long ret)
{
	return ret < 0 && ret > -4096;
}

static uint64_t len_of(struct worker *w)
{
	return (1 + rnd(w, rnd(w, 4) ? 6 : 60)) * PAGE;
}

static uint64_t place(struct worker *w)
{
	/* Not where huge pages could be. */
	return w->arena + (plain + rnd(w, ARENA_PAGES - 64)) * PAGE;
}

static uint64_t prot_of(struct worker *w)
{
	static const uint8_t prots[] = { 0, 1, 3, 3, 3, 5, 1, 7 };

	return prots[rnd(w, sizeof(prots))];
}

/* ---- what is mapped anywhere ---- */

static struct loose *some_loose(struct worker *w)
{
	return &w->loose[rnd(w, LOOSE)];
}

static void drop(struct worker *w, struct loose *l)
{
	if (l->shm)
		call(w, SYS_shmdt, l->at, 0, 0, 0, 0, 0);
	else if (l->len)
		call(w, SYS_munmap, l->at, l->len, 0, 0, 0, 0);
	memset(l, 0, sizeof(*l));
}

static void keep(struct worker *w, long at, uint64_t len, int shm)
{
	struct loose *l = some_loose(w);

	if (failed(at))
		return;
	drop(w, l);
	*l = (struct loose){ (uint64_t)at, len, shm };
}

/* ---- one call of each kind ---- */

static long map(struct worker *w, uint64_t at, uint64_t len, uint64_t flags)
{
	uint64_t kind = rnd(w, 12), off = rnd(w, FILE_PAGES) * PAGE, prot = prot_of(w);

	if (kind < 4)
		return call(w, SYS_mmap, at, len, prot, flags | MAP_PRIVATE | MAP_ANONYMOUS, -1ul, 0);
	if (kind == 4)
		return call(w, SYS_mmap, at, len, prot, flags | MAP_SHARED | MAP_ANONYMOUS, -1ul, 0);
	if (kind == 5)
		return call(w, SYS_mmap, at, len, prot, flags | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (rnd(w, 2) ? MAP_STACK : MAP_LOCKED), -1ul, 0);
	/* The first two are files, then a memfd and /dev/zero; writable where the file is. */
	return call(w, SYS_mmap, at, len, prot, flags | (kind & 1 ? MAP_SHARED : MAP_PRIVATE), (uint64_t)fds[rnd(w, plain ? 3 : 4)], off);
}

static void map_here(struct worker *w)
{
	map(w, place(w), len_of(w), MAP_FIXED);
}

static void map_beside(struct worker *w)
{
	map(w, place(w), len_of(w), MAP_FIXED_NOREPLACE);
}

static void map_anywhere(struct worker *w)
{
	uint64_t len = len_of(w);

	keep(w, map(w, rnd(w, 3) ? 0 : place(w) | 0x800000000ul, len, 0), len, 0);
}

static void unmap_here(struct worker *w)
{
	call(w, SYS_munmap, place(w), len_of(w), 0, 0, 0, 0);
}

static void unmap_wrongly(struct worker *w)
{
	switch (rnd(w, 4)) {
	case 0:
		call(w, SYS_munmap, place(w) + 1, PAGE, 0, 0, 0, 0);
		break;
	case 1:
		call(w, SYS_munmap, place(w), 0, 0, 0, 0, 0);
		break;
	case 2:
		call(w, SYS_munmap, place(w), -PAGE, 0, 0, 0, 0);
		break;
	default:
		call(w, SYS_mmap, place(w), PAGE, 3, MAP_SHARED | MAP_FIXED, 999, 0);
	}
}

static void unmap_loose(struct worker *w)
{
	struct loose *l = some_loose(w);
	uint64_t half = l->len / 2 & -PAGE;

	if (l->shm || !half || rnd(w, 2)) {
		drop(w, l);
		return;
	}
	call(w, SYS_munmap, l->at + half, l->len - half, 0, 0, 0, 0);
	l->len = half;
}

/* Where something is, or may be: plainly, one new area. */
static uint64_t source(struct worker *w, uint64_t len)
{
	uint64_t at = place(w);

	if (plain)
		map(w, at, len, MAP_FIXED);
	return at;
}

static void resize(struct worker *w)
{
	uint64_t len = len_of(w), at = source(w, len);

	call(w, SYS_mremap, at, len, len_of(w), 0, 0, 0);
}

static void resize_away(struct worker *w)
{
	struct loose *l = some_loose(w);
	uint64_t len = len_of(w);
	long at;

	if (!l->len || l->shm)
		return;
	at = call(w, SYS_mremap, l->at, l->len, len, MREMAP_MAYMOVE, 0, 0);
	if (!failed(at))
		*l = (struct loose){ (uint64_t)at, len, 0 };
	else if (len < l->len)
		l->len = len; /* the rest may have gone before it failed, and be another's */
}

static void move_here(struct worker *w)
{
	uint64_t len = len_of(w), to = place(w);
	struct loose *l = some_loose(w);

	if (rnd(w, 3) || !l->len || l->shm) {
		uint64_t from = source(w, len);

		call(w, SYS_mremap, from, len, rnd(w, 2) ? len : len_of(w), MREMAP_MAYMOVE | MREMAP_FIXED, to, 0);
	} else if (!failed(call(w, SYS_mremap, l->at, l->len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to, 0))) {
		memset(l, 0, sizeof(*l));
	} else if (len < l->len) {
		l->len = len;
	}
}

static void move_and_leave(struct worker *w)
{
	uint64_t len = len_of(w), from = source(w, len);

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
	if (rnd(w, 2))
		call(w, SYS_mremap, from, len, len, MREMAP_MAYMOVE | MREMAP_DONTUNMAP | MREMAP_FIXED, place(w), 0);
	else
		keep(w, call(w, SYS_mremap, from, len, len, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0, 0), len, 0);
}

static void map_once_more(struct worker *w)
{
	uint64_t len = len_of(w), from = source(w, len);

	keep(w, call(w, SYS_mremap, from, 0, len, MREMAP_MAYMOVE, 0, 0), len, 0);
}

static void protect(struct worker *w)
{
	call(w, SYS_mprotect, place(w), len_of(w), prot_of(w), 0, 0, 0);
}

static void protect_by_key(struct worker *w)
{
	call(w, SYS_pkey_mprotect, place(w), len_of(w), prot_of(w), -1ul, 0, 0);
}

static void advise(struct worker *w)
{
	static const uint8_t what[] = { MADV_DONTFORK, MADV_DOFORK, MADV_WIPEONFORK, MADV_KEEPONFORK, MADV_DONTNEED, MADV_DONTDUMP,
					MADV_DODUMP, MADV_NOHUGEPAGE, MADV_RANDOM, 102 /* MADV_GUARD_INSTALL */, 103 };

	call(w, SYS_madvise, place(w), len_of(w), what[plain ? 2 + rnd(w, sizeof(what) - 2) : rnd(w, sizeof(what))], 0, 0, 0);
}

static void fill(struct worker *w)
{
	call(w, SYS_madvise, place(w), len_of(w), 22 + rnd(w, 2) /* MADV_POPULATE_READ, _WRITE */, 0, 0, 0);
}

static void lock(struct worker *w)
{
	call(w, rnd(w, 2) ? SYS_mlock : SYS_munlock, place(w), len_of(w), 0, 0, 0, 0);
}

static void remap_pages(struct worker *w)
{
	call(w, SYS_remap_file_pages, place(w), len_of(w), 0, rnd(w, FILE_PAGES), 0, 0);
}

static void attach(struct worker *w)
{
	if (shm_id < 0)
		return;
	if (rnd(w, 2))
		call(w, SYS_shmat, (uint64_t)shm_id, place(w), rnd(w, 2) ? SHM_REMAP : SHM_REMAP | SHM_RDONLY, 0, 0, 0);
	else
		keep(w, call(w, SYS_shmat, (uint64_t)shm_id, 0, rnd(w, 2) ? 0 : SHM_RDONLY, 0, 0, 0), 1, 1);
}

static void detach(struct worker *w)
{
	struct loose *l = some_loose(w);

	if (l->shm)
		drop(w, l);
	else
		call(w, SYS_shmdt, place(w), 0, 0, 0, 0, 0);
}

static void move_break(struct worker *w)
{
	uint64_t to = brk_low + rnd(w, 200000);

	/* Nobody uses the memory between; only one thread of one memory may move it. */
	if (w != workers || !brk_low)
		return;
	if (!rnd(w, 8))
		to = 0;
	to = (uint64_t)call(w, SYS_brk, to, 0, 0, 0, 0, 0);
	brk_now = to;
}

static void (*const kinds[])(struct worker *) = {
	map_here, map_here, map_here, map_here, map_beside, map_anywhere, map_anywhere, map_anywhere, unmap_here, unmap_here, unmap_wrongly,
	unmap_loose, unmap_loose, resize, resize, resize_away, resize_away, move_here, move_here, move_and_leave, map_once_more, protect,
	protect, protect, protect_by_key, advise, advise, fill, lock, remap_pages, attach, detach, move_break,
};

static void some_calls(struct worker *w, int n)
{
	while (n--)
		kinds[rnd(w, sizeof(kinds) / sizeof(kinds[0]))](w);
}

/* ---- growth without a call ---- */

static __attribute__((noinline)) int deeper(unsigned kilobytes)
{
	volatile char page[1024];

	page[0] = (char)kilobytes;
	return kilobytes ? deeper(kilobytes - 1) + page[0] : page[0];
}

static void grow(struct worker *w)
{
	uint64_t at = GROWING + (n_growing % 8) * 0x10000000;
	uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN;
	unsigned pages = (unsigned)rnd(w, 5);

	deeper((unsigned)rnd(w, 400));
	if (rnd(w, 4))
		return;
	n_growing++;
	call(w, SYS_munmap, at - 0x1000000, 0x2000000, 0, 0, 0, 0);
	if (failed(call(w, SYS_mmap, at, 2 * PAGE, 3, flags, -1ul, 0)))
		return;
	while (pages--) {
		at -= PAGE;
		*(volatile char *)at = 1;
	}
}

/* ---- barriers ---- */

static void wait_for_byte(void)
{
	char byte;

	if (fifo >= 0 && read(fifo, &byte, 1) != 1)
		_exit(3);
}

static void barrier(void)
{
	unsigned n = n_barriers++;
	uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, at = n % 1000 * MARK_STEP;
	size_t used = (size_t)sprintf(text, "B %d %u\n", (int)getpid(), n);
	int fd = open("/proc/self/maps", O_RDONLY);
	ssize_t got;

	call(NULL, SYS_mmap, MARK + at, PAGE, 0, flags, -1ul, 0);
	wait_for_byte();
	if (fifo >= 0)
		call(NULL, SYS_mmap, MARK_AGAIN + at, PAGE, 0, flags, -1ul, 0);
	wait_for_byte();
	while ((got = read(fd, text + used, sizeof(text) - used)) > 0)
		used += (size_t)got;
	close(fd);
	if (write(log_fd, text, used) != (ssize_t)used)
		_exit(4);
	call(NULL, SYS_mmap, MARK_READ + at, PAGE, 0, flags, -1ul, 0);
	wait_for_byte();
	call(NULL, SYS_munmap, MARK_READ + at, PAGE, 0, 0, 0, 0);
	call(NULL, SYS_munmap, MARK_AGAIN + at, PAGE, 0, 0, 0, 0);
	call(NULL, SYS_munmap, MARK + at, PAGE, 0, 0, 0, 0);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (;;) {
		pthread_barrier_wait(&begin);
		if (over)
			return NULL;
		some_calls(w, CALLS_A_ROUND / 2 + (int)rnd(w, CALLS_A_ROUND));
		pthread_barrier_wait(&end);
	}
}

static void start_threads(void)
{
	over = 0;
	for (int i = 1; has_threads && i < WORKERS; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			exit(5);
}

static void stop_threads(void)
{
	if (!has_threads)
		return;
	over = 1;
	pthread_barrier_wait(&begin);
	for (int i = 1; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
}

/* ---- others ---- */

static int in_same_memory(void *arg)
{
	some_calls(arg, CALLS_A_ROUND);
	return 0;
}

static pid_t another_in_same_memory(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(in_same_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, &workers[WORKERS]);
}

static void one_that_borrows(struct worker *w)
{
	pid_t pid = vfork();

	if (!pid) {
		some_calls(w, 6);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static char **arguments;

static void *execute(void *arg)
{
	execv("/proc/self/exe", arg);
	_exit(6);
}

static _Noreturn void run_again(struct worker *w)
{
	char seed[32], calls[32];
	char *argv[] = { arguments[0], seed, calls, arguments[3], arguments[4], (char *)(plain ? "ps" : rnd(w, 2) ? "s" : "ts"), NULL };
	pthread_t thread;

	sprintf(seed, "%llu", (unsigned long long)rnd(w, 1u << 30));
	sprintf(calls, "%u", 48);
	if (rnd(w, 2) && !pthread_create(&thread, NULL, execute, argv))
		pause();
	execute(argv);
	_exit(6);
}

static pid_t copy(struct worker *w, int executes)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	has_threads = 0;
	n_barriers = 0;
	for (int i = 0; i <= WORKERS; i++)
		workers[i].calls = 0;
	some_calls(w, CALLS_A_ROUND);
	if (executes)
		run_again(w);
	barrier();
	dprintf(1, "%llu\n", (unsigned long long)w->calls);
	_exit(0);
}

static void round_of(struct worker *w, const char *what)
{
	pid_t other = 0;

	if (has_threads)
		pthread_barrier_wait(&begin);
	some_calls(w, (int)rnd(w, CALLS_A_ROUND));
	if (strchr(what, 'f') && !rnd(w, 12))
		other = copy(w, 0);
	else if (strchr(what, 'x') && !rnd(w, 40))
		other = copy(w, 1);
	else if (strchr(what, 'v') && !rnd(w, 6))
		other = another_in_same_memory();
	else if (strchr(what, 'v') && !rnd(w, 6))
		one_that_borrows(w);
	some_calls(w, (int)rnd(w, CALLS_A_ROUND));
	if (strchr(what, 's') && !rnd(w, 4))
		grow(w);
	if (has_threads)
		pthread_barrier_wait(&end);
	if (other > 0 && waitpid(other, NULL, 0) < 0)
		exit(7);
	barrier();
}

static int open_files(const char *dir)
{
	char path[4096], gone[4096];
	int i;

	snprintf(path, sizeof(path), "%s/file of random_maps", dir);
	snprintf(gone, sizeof(gone), "%s/gone.%d", dir, (int)getpid());
	fds[0] = open(path, O_RDWR | O_CREAT, 0600);
	fds[1] = open(gone, O_RDWR | O_CREAT, 0600);
	fds[2] = memfd_create("random maps", 0);
	fds[3] = open("/dev/zero", O_RDWR);
	for (i = 0; i < 4; i++)
		if (fds[i] < 0 || (i < 3 && ftruncate(fds[i], FILE_PAGES * PAGE)))
			return -1;
	return unlink(gone);
}

int main(int argc, char **argv)
{
	uint64_t made = 0, calls;
	struct worker *w = workers;
	const char *what;
	unsigned rounds = 0;
	void *first, *volatile room;

	if (argc < 6) {
		fprintf(stderr, "usage: random_maps SEED CALLS LOG DIR WHAT [FIFO]\n");
		return 2;
	}
	arguments = argv;
	calls = strtoull(argv[2], NULL, 10);
	what = argv[5];
	log_fd = open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (log_fd < 0 || open_files(argv[4])) {
		perror("random_maps");
		return 2;
	}
	shares = strchr(what, 'o') != NULL;
	has_threads = shares || strchr(what, 't');
	for (int i = 0; i <= WORKERS; i++) {
		workers[i].random = (strtoull(argv[1], NULL, 10) * (WORKERS + 1) + (uint64_t)i + 1) * 0x9e3779b97f4a7c15ull;
		workers[i].arena = ARENAS + (shares ? 0 : (uint64_t)i * ARENA_STEP);
	}
	plain = strchr(what, 'p') != NULL;
	if (strchr(what, 'w') && getchar() == EOF)
		return 2;
	if (argc > 6 && (fifo = open(argv[6], O_RDONLY)) < 0)
		return 2;
	shm_id = shmget(IPC_PRIVATE, 3 * PAGE, IPC_CREAT | 0600);
	first = shm_id < 0 ? NULL : shmat(shm_id, NULL, 0);
	if (shm_id >= 0)
		shmctl(shm_id, IPC_RMID, NULL); /* as long as it is attached it can be attached again */
	pthread_barrier_init(&begin, NULL, WORKERS);
	pthread_barrier_init(&end, NULL, WORKERS);
	/* The C library moves the break no more: it gets all it will need now. */
	mallopt(M_MMAP_THRESHOLD, 8 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	room = malloc(1 << 20);
	free(room);
	if (strchr(what, 'b'))
		brk_low = (uint64_t)call(NULL, SYS_brk, 0, 0, 0, 0, 0, 0) + 0x100000;
	if (brk_low)
		call(w, SYS_brk, brk_low, 0, 0, 0, 0, 0);
	start_threads();
	while (made < calls) {
		round_of(w, what);
		if (++rounds % 32 == 0) {
			stop_threads();
			start_threads();
		}
		for (int i = (int)(made = 0); i <= WORKERS; i++)
			made += workers[i].calls;
	}
	stop_threads();
	barrier();
	if (first)
		shmdt(first);
	dprintf(1, "%llu\n", (unsigned long long)made);
	return 0;
}
