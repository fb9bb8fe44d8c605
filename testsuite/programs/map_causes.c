/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_causes - changes its memory map by what map_changes does not: the seldom causes, and calls that fail half-way.
 *
 *	map_causes LOG DIR [wait]
 *
 * See checkpoint.h.  What this kernel cannot do is a line "skip WHAT: WHY" on stdout.  With "wait" it begins
 * when there is a line on stdin.
 */
#define _GNU_SOURCE
#include "checkpoint.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* Newer than some C libraries. */
enum { NR_MSEAL = 462, NR_MAP_SHADOW_STACK = 453, NR_PROCESS_MADVISE = 440, GUARD_INSTALL = 102, GUARD_REMOVE = 103,
       DONTUNMAP = 4, MAP_VDSO_64 = 0x2003 };
#ifndef UFFDIO_MOVE
struct uffdio_move { uint64_t dst, src, len, mode; int64_t move; };
#define UFFDIO_MOVE _IOWR(0xAA, 0x05, struct uffdio_move)
#endif
#define HUGE (2ul << 20)

static const char *dir;

static char *anon_at(unsigned long at, unsigned long pages, int prot)
{
	char *p = mmap((void *)at, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void clear_all(void)
{
	if (munmap((void *)HERE, 2048 * PAGE))
		die("munmap");
}

static int file_of(const char *name, unsigned long pages, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)(pages * PAGE)))
		die(path);
	if (flags == O_RDWR)
		return fd;
	close(fd);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? (die(path), -1) : fd;
}

static void growsdown(void)
{
	char *a = mmap((void *)(HERE + 512 * PAGE), 4 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);

	if (a == MAP_FAILED)
		die("MAP_GROWSDOWN");
	checkpoint("MAP_GROWSDOWN");
	((volatile char *)a)[-100] = 1;
	checkpoint("it grows by a fault");
	((volatile char *)a)[-20 * (long)PAGE] = 1;
	checkpoint("by many pages");
	if (mprotect(a, PAGE, PROT_READ | PROT_GROWSDOWN))
		die("PROT_GROWSDOWN");
	checkpoint("PROT_GROWSDOWN");
	clear_all();
}

static void huge(void)
{
	char *a = mmap((void *)HERE, HUGE + 1, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED, -1, 0);
	int fd;

	if (a == MAP_FAILED) {
		skip("hugetlb", strerror(errno));
		return;
	}
	checkpoint("huge pages, rounded up");
	if (!munmap(a + PAGE, PAGE) || !mprotect(a, PAGE, PROT_READ))
		die("small pieces of huge pages");
	checkpoint("small pieces of huge pages cannot be had");
	if (mprotect(a + HUGE, HUGE, PROT_READ))
		die("mprotect of huge pages");
	checkpoint("one is read-only");
	anon_at(HERE + 2 * HUGE, 2, PROT_READ);
	munmap(a + HUGE, HUGE + PAGE);
	checkpoint("a huge one and a small one go");
	anon_at(HERE - PAGE, 1, PROT_READ);
	if (!munmap((void *)(HERE - PAGE), 2 * PAGE))
		die("munmap that ends in a huge page");
	checkpoint("a munmap that ends in the middle of one fails");
	munmap((void *)(HERE - PAGE), PAGE + HUGE);
	clear_all();
	fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
	if (fd >= 0 && !ftruncate(fd, HUGE)) {
		a = mmap((void *)HERE, HUGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
		if (a == MAP_FAILED)
			die("mmap of a memfd of huge pages");
		checkpoint("a memfd of huge pages");
		a = mremap(a, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)HERE + 2 * HUGE);
		checkpoint(a == MAP_FAILED ? "they cannot move" : "they move");
	}
	munmap((void *)HERE, 4 * HUGE);
	close(fd);
}

static void memfds(void)
{
	int fd = memfd_create("sealed one", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char *a;

	if (fd < 0 || ftruncate(fd, 8 * PAGE))
		die("memfd");
	a = mmap((void *)HERE, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 2 * PAGE);
	if (a == MAP_FAILED)
		die("memfd");
	a[0] = 1;
	checkpoint("a memfd, from its third page");
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW))
		die("F_ADD_SEALS");
	anon_at(HERE + 16 * PAGE, 4, PROT_READ);
	if (mmap((void *)(HERE + 15 * PAGE), 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
		die("a sealed file was mapped to be written");
	checkpoint("MAP_FIXED of what may not be written fails, over something else");
	clear_all();
	close(fd);
}

static void sysv(void)
{
	int id = shmget(IPC_PRIVATE, 4 * PAGE - 5, 0600 | IPC_CREAT);

	if (id < 0)
		die("shmget");
	anon_at(HERE, 8, PROT_READ);
	if (shmat(id, (void *)(HERE + PAGE), 0) != (void *)-1)
		die("shmat over something else");
	checkpoint("shmat over something else is refused");
	if (shmat(id, (void *)(HERE + PAGE), SHM_REMAP) == (void *)-1)
		die("SHM_REMAP");
	checkpoint("SHM_REMAP");
	if (shmat(id, (void *)(HERE + 32 * PAGE + 77), SHM_RND | SHM_EXEC) == (void *)-1)
		die("SHM_RND");
	checkpoint("SHM_RND and SHM_EXEC");
	munmap((void *)(HERE + 2 * PAGE), PAGE);
	if (mprotect((void *)(HERE + 3 * PAGE), PAGE, PROT_READ))
		die("mprotect of a segment");
	checkpoint("a segment in pieces");
	shmctl(id, IPC_RMID, NULL);
	checkpoint("without a name");
	if (shmdt((void *)(HERE + PAGE)))
		die("shmdt");
	checkpoint("shmdt of the pieces");
	if (!shmdt((void *)(HERE + 5 * PAGE)))
		die("shmdt of nothing");
	checkpoint("shmdt of nothing");
	shmdt((void *)(HERE + 32 * PAGE));
	clear_all();
}

static int perf_ring(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void devices(void)
{
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC), mem;
	unsigned long ctx = 0;

	if (mmap((void *)HERE, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED ||
	    mmap((void *)(HERE + 4 * PAGE), 2 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, PAGE) == MAP_FAILED)
		die("/dev/zero");
	checkpoint("/dev/zero, private and shared");
	close(fd);
	fd = perf_ring();
	if (fd < 0) {
		skip("a ring of perf's", strerror(errno));
	} else {
		if (mmap((void *)(HERE + 8 * PAGE), 3 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			skip("a ring of perf's", strerror(errno));
		checkpoint("a ring of perf's");
		anon_at(HERE + 16 * PAGE, 8, PROT_READ);
		if (mmap((void *)(HERE + 17 * PAGE), 4 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
			die("a ring of no power of two");
		checkpoint("a driver refuses MAP_FIXED, late");
		close(fd);
	}
	mem = open("/dev/mem", O_RDONLY | O_CLOEXEC);
	if (mem < 0 || mmap((void *)(HERE + 32 * PAGE), PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, mem, 0xf0000) == MAP_FAILED)
		skip("/dev/mem", strerror(errno));
	else
		checkpoint("/dev/mem");
	close(mem);
	if (syscall(SYS_io_setup, 64, &ctx)) {
		skip("io_setup", strerror(errno));
	} else {
		checkpoint("io_setup");
		syscall(SYS_io_destroy, ctx);
		checkpoint("io_destroy");
	}
	clear_all();
}

static void half_way(void)
{
	int fd = file_of("read only", 4, O_RDONLY);
	struct rlimit old, tight = { 0 };
	char *a = anon_at(HERE, 4, PROT_READ);
	long pages;
	FILE *f;

	if (mmap(a + 4 * PAGE, 4 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		die("mmap");
	if (!mprotect(a + 2 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE) || errno != EACCES)
		die("mprotect of what may not be written");
	checkpoint("mprotect is refused half-way");
	if (!munmap(a + 1, PAGE) || !munmap((void *)-PAGE, PAGE) || !munmap(a, 0))
		die("munmap of nothing");
	checkpoint("munmaps that are refused");
	/* The place is made free first, then there is no memory to grow. */
	anon_at(HERE + 64 * PAGE, 8, PROT_READ | PROT_WRITE);
	anon_at(HERE + 128 * PAGE, 16, PROT_EXEC);
	f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%ld", &pages) != 1)
		die("statm");
	fclose(f);
	getrlimit(RLIMIT_AS, &old);
	tight.rlim_cur = (rlim_t)pages * PAGE;
	tight.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_AS, &tight);
	if (mremap((void *)(HERE + 64 * PAGE), 8 * PAGE, 32 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   (void *)(HERE + 132 * PAGE)) != MAP_FAILED)
		die("mremap against a limit");
	setrlimit(RLIMIT_AS, &old);
	checkpoint("mremap fails when its place is free already");
	a = mremap((void *)(HERE + 64 * PAGE), 16 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   (void *)(HERE + 140 * PAGE));
	checkpoint(a == MAP_FAILED ? "an area and a hole cannot move" : "an area and a hole move");
	clear_all();
	close(fd);
}

static void moves(void)
{
	int fd = file_of("moving", 32, O_RDWR);
	char *a = anon_at(HERE, 8, PROT_READ | PROT_WRITE), *b;

	mprotect(a + 2 * PAGE, 2 * PAGE, PROT_READ);
	b = mremap(a, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(HERE + 64 * PAGE));
	checkpoint(b == MAP_FAILED ? "several areas cannot move at once" : "several areas move at once");
	clear_all();
	a = anon_at(HERE, 4, PROT_READ | PROT_WRITE);
	a[0] = 1;
	anon_at(HERE + 32 * PAGE, 2, PROT_NONE);
	anon_at(HERE + 34 * PAGE, 8, PROT_READ);
	b = mremap(a, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED | DONTUNMAP, (void *)(HERE + 33 * PAGE));
	checkpoint(b == MAP_FAILED ? "no MREMAP_DONTUNMAP" : "MREMAP_DONTUNMAP over two others");
	a = mmap((void *)(HERE + 128 * PAGE), 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 4 * PAGE);
	b = mremap(a + PAGE, 0, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(HERE + 160 * PAGE));
	checkpoint(b == MAP_FAILED ? "no mremap of no bytes" : "mremap of no bytes: a second mapping");
	b = mremap(a, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | DONTUNMAP, NULL);
	checkpoint(b == MAP_FAILED ? "MREMAP_DONTUNMAP of a file refused" : "MREMAP_DONTUNMAP of a file");
	if (b != MAP_FAILED)
		munmap(b, 4 * PAGE);
	anon_at(HERE + 132 * PAGE, 1, PROT_NONE);
	b = mremap(a, 4 * PAGE, 6 * PAGE, MREMAP_MAYMOVE);
	checkpoint("mremap has to move to grow");
	munmap(b, 6 * PAGE);
	a = mmap((void *)(HERE + 256 * PAGE), 8 * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	b = mremap(a + 2 * PAGE, 4 * PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(HERE + 300 * PAGE));
	checkpoint("mremap moves and shrinks");
	(void)b;
	clear_all();
	close(fd);
}

static char *brk_to(char *to)
{
	return (char *)syscall(SYS_brk, to);
}

static void heap(void)
{
	char *begin = (char *)(((uintptr_t)brk_to(NULL) + PAGE - 1) & ~(PAGE - 1));
	struct rlimit old, tight = { 0 };

	brk_to(begin + 1);
	checkpoint("brk by a byte");
	brk_to(begin + 3 * PAGE + 1);
	brk_to(begin + 3 * PAGE);
	checkpoint("brk down by a byte, a page less");
	brk_to(begin + 3 * PAGE - 1);
	checkpoint("brk down by a byte, the same pages");
	getrlimit(RLIMIT_DATA, &old);
	tight.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_DATA, &tight);
	brk_to(begin + 64 * PAGE);
	setrlimit(RLIMIT_DATA, &old);
	checkpoint("brk against a limit");
	anon_at((unsigned long)begin + 8 * PAGE, 1, PROT_READ);
	brk_to(begin + 9 * PAGE);
	checkpoint("brk into what is mapped there");
	munmap(begin + 8 * PAGE, PAGE);
	/* Shrinking over a hole of another's. */
	brk_to(begin + 6 * PAGE);
	munmap(begin + 2 * PAGE, 2 * PAGE);
	brk_to(begin + PAGE);
	checkpoint("brk shrinks over a hole");
	brk_to(begin);
}

/* What the kernel has noted of our program: proc_pid_stat(5), by number of the field. */
static void noted(struct prctl_mm_map *m)
{
	static char buf[4096];
	unsigned long v[64] = { 0 };
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC), i = 2;
	ssize_t n = read(fd, buf, sizeof(buf) - 1);
	char *p;

	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	for (p = strrchr(buf, ')'); p && i < 63; p = strchr(p + 1, ' '))
		v[i++] = strtoul(p + 1, NULL, 10);
	*m = (struct prctl_mm_map){
		.start_code = v[26], .end_code = v[27], .start_stack = v[28], .start_data = v[45], .end_data = v[46],
		.start_brk = v[47], .brk = (unsigned long)brk_to(NULL), .arg_start = v[48], .arg_end = v[49],
		.env_start = v[50], .env_end = v[51], .exe_fd = (unsigned)-1,
	};
}

static int set_mm_map(const struct prctl_mm_map *m)
{
	return prctl(PR_SET_MM, PR_SET_MM_MAP, m, sizeof(*m), 0);
}

static void set_mm(void)
{
	unsigned long begin = ((unsigned long)brk_to(NULL) + PAGE - 1) & ~(PAGE - 1), other = HERE + 512 * PAGE;
	struct prctl_mm_map was, m;

	anon_at(other, 4, PROT_READ | PROT_WRITE);
	brk_to((char *)begin + 2 * PAGE);
	noted(&was);
	m = was;
	m.start_brk = other;
	m.brk = other + PAGE;
	checkpoint("before prctl(PR_SET_MM)");
	if (set_mm_map(&m)) {
		skip("prctl(PR_SET_MM)", strerror(errno));
	} else {
		checkpoint("the break is set to be elsewhere");
		munmap((void *)(other + PAGE), 3 * PAGE);
		brk_to((char *)other + 3 * PAGE);
		checkpoint("and grows from there");
		m.start_brk = was.start_brk;
		m.brk = was.brk;
		m.start_stack = other;
		if (set_mm_map(&m))
			die("PR_SET_MM_MAP");
		checkpoint("the stack is said to be elsewhere");
		if (set_mm_map(&was))
			die("PR_SET_MM_MAP");
		checkpoint("all is as it was");
	}
	brk_to((char *)begin);
	if (prctl(PR_SET_VMA, 0 /* PR_SET_VMA_ANON_NAME */, other, 2 * PAGE, "named"))
		skip("prctl(PR_SET_VMA)", strerror(errno));
	checkpoint("prctl(PR_SET_VMA) names a part");
	clear_all();
}

static void advice(void)
{
	char *a = anon_at(HERE, 16, PROT_READ | PROT_WRITE);
	struct iovec v = { a + 8 * PAGE, 2 * PAGE };
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0), key;

	if (madvise(a + PAGE, 2 * PAGE, GUARD_INSTALL))
		skip("MADV_GUARD_INSTALL", strerror(errno));
	checkpoint("guard regions");
	madvise(a + PAGE, 2 * PAGE, GUARD_REMOVE);
	madvise(a + 4 * PAGE, PAGE, MADV_WIPEONFORK);
	madvise(a + 5 * PAGE, PAGE, MADV_DONTDUMP);
	madvise(a + 6 * PAGE, PAGE, MADV_NOHUGEPAGE);
	madvise(a + 7 * PAGE, PAGE, MADV_MERGEABLE);
	if (syscall(NR_PROCESS_MADVISE, fd, &v, 1, MADV_COLD, 0) < 0)
		skip("process_madvise", strerror(errno));
	mlock(a + 12 * PAGE, PAGE);
	checkpoint("advice and locks");
	key = (int)syscall(SYS_pkey_alloc, 0, 0);
	if (key < 0)
		skip("a protection key", strerror(errno));
	if (syscall(SYS_pkey_mprotect, a + 10 * PAGE, PAGE, PROT_READ, key < 0 ? -1 : key))
		die("pkey_mprotect");
	checkpoint("pkey_mprotect");
	if (!syscall(SYS_pkey_mprotect, a + 11 * PAGE, 2 * PAGE, PROT_READ, 14))
		die("pkey_mprotect with a key that is none");
	checkpoint("pkey_mprotect with a key that is none");
	close(fd);
	clear_all();
}

static void seals(void)
{
	char *a = anon_at(HERE + 4096 * PAGE, 4, PROT_READ | PROT_WRITE); /* for ever */

	if (syscall(NR_MSEAL, a + PAGE, 2 * PAGE, 0)) {
		skip("mseal", strerror(errno));
		munmap(a, 4 * PAGE);
		return;
	}
	checkpoint("mseal");
	if (!munmap(a, 4 * PAGE) || !mprotect(a, 4 * PAGE, PROT_NONE) ||
	    mmap(a, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		die("what is sealed was changed");
	mremap(a, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, a + 2 * PAGE);
	checkpoint("what is sealed stays");
}

static void pages_move(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range = { HERE + 8 * PAGE, 4 * PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_move move = { HERE + 8 * PAGE, HERE, PAGE, 0, 0 };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	anon_at(HERE, 4, PROT_READ | PROT_WRITE)[0] = 1;
	anon_at(HERE + 8 * PAGE, 8, PROT_READ | PROT_WRITE);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg)) {
		skip("userfaultfd", strerror(errno));
	} else {
		checkpoint("a part is registered with userfaultfd");
		if (ioctl(fd, UFFDIO_MOVE, &move))
			skip("UFFDIO_MOVE", strerror(errno));
		checkpoint("a page moves there");
	}
	close(fd);
	clear_all();
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, __WALL) != pid || status)
		die("child");
}

/* A call that nobody makes: io_uring does, and what it did shows in a copy. */
static void ring_of_calls(void)
{
	struct io_uring_params p = { .flags = 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 4, &p), mine = number;
	char *a = anon_at(HERE, 4, PROT_READ | PROT_WRITE), *sq, *sqes;
	pid_t pid;

	if (fd < 0) {
		skip("io_uring", strerror(errno));
	} else {
		sq = mmap(NULL, p.sq_off.array + 4 * 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)IORING_OFF_SQ_RING);
		sqes = mmap(NULL, 4 * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    (off_t)IORING_OFF_SQES);
		if (sq == MAP_FAILED || sqes == MAP_FAILED)
			die("a ring of io_uring's");
		checkpoint("the rings of io_uring");
		*(struct io_uring_sqe *)sqes = (struct io_uring_sqe){
			.opcode = IORING_OP_MADVISE, .addr = (uintptr_t)(a + PAGE), .len = PAGE,
			.fadvise_advice = MADV_DONTFORK,
		};
		*(unsigned *)(sq + p.sq_off.array) = 0;
		__atomic_store_n((unsigned *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
			die("io_uring_enter");
		checkpoint("io_uring has advised");
		munmap(sq, p.sq_off.array + 16);
		munmap(sqes, PAGE);
		close(fd);
	}
	pid = fork();
	if (!pid) {
		number = 100;
		checkpoint("a copy after that");
		_exit(0);
	}
	wait_for(pid);
	number = mine + (fd < 0 ? 0 : 2);
	checkpoint("the parent has all");
	clear_all();
}

/* x32's numbers, for kernels that have them. */
static void x32(void)
{
	long got = syscall(0x40000000 + SYS_mmap, HERE, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (got != (long)HERE) {
		skip("x32 calls", strerror(errno));
		return;
	}
	checkpoint("mmap by x32's number");
	syscall(0x40000000 + SYS_munmap, HERE, PAGE);
	checkpoint("munmap by x32's number");
	clear_all();
}

static void personalities(void)
{
	int old = personality(0xffffffff), fd = file_of("personal", 4, O_RDWR);

	personality((unsigned long)old | READ_IMPLIES_EXEC);
	mmap((void *)HERE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mmap((void *)(HERE + 4 * PAGE), PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	anon_at(HERE + 8 * PAGE, 2, PROT_NONE);
	mprotect((void *)(HERE + 8 * PAGE), PAGE, PROT_READ);
	checkpoint("what can be read can be executed");
	personality((unsigned long)old);
	if (mmap((void *)(HERE + 16 * PAGE), PAGE, PROT_READ, MAP_SHARED_VALIDATE, fd, PAGE) == MAP_FAILED ||
	    mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT | MAP_POPULATE | MAP_LOCKED, -1, 0) == MAP_FAILED)
		die("mmap");
	checkpoint("MAP_SHARED_VALIDATE and MAP_32BIT");
	if (syscall(NR_MAP_SHADOW_STACK, 0, PAGE, 0) < 0)
		skip("map_shadow_stack", strerror(errno));
	checkpoint("map_shadow_stack");
	clear_all();
	close(fd);
}

/* In a child, which needs no clock of [vdso] any more. */
static void vdso(void)
{
	int mine = number;
	pid_t pid = fork();

	if (!pid) {
		unsigned long start, end, low = 0, high = 0;
		char line[512];
		FILE *f = fopen("/proc/self/maps", "r");

		while (f && fgets(line, sizeof(line), f))
			if ((strstr(line, "[vdso]") || strstr(line, "[vvar")) &&
			    sscanf(line, "%lx-%lx", &start, &end) == 2) {
				low = low ? low : start;
				high = end;
			}
		if (f)
			fclose(f);
		number = 120;
		if (!low || munmap((void *)low, high - low))
			die("[vdso]");
		checkpoint("without [vdso]");
		if (syscall(SYS_arch_prctl, MAP_VDSO_64, HERE) < 0)
			skip("arch_prctl(ARCH_MAP_VDSO_64)", strerror(errno));
		checkpoint("arch_prctl maps another");
		_exit(0);
	}
	wait_for(pid);
	number = mine;
}

static void *outlive(void *arg)
{
	char fd[16];

	pthread_join(*(pthread_t *)arg, NULL); /* the first thread has ended */
	anon_at(HERE, 4, PROT_READ);
	checkpoint("the first thread has ended");
	munmap((void *)(HERE + PAGE), PAGE);
	checkpoint("and another changes the map");
	snprintf(fd, sizeof(fd), "%d", log_fd);
	execl("/proc/thread-self/exe", "map_causes", "--executed", fd, (char *)NULL);
	die("execl");
	return NULL;
}

int main(int argc, char **argv)
{
	static pthread_t me, t;
	char line[64];

	if (argc == 3 && !strcmp(argv[1], "--executed")) {
		number = 200;
		log_fd = atoi(argv[2]);
		checkpoint("executed by a thread that was not the first, which had ended");
		return 0;
	}
	if (argc < 3)
		return 2;
	if (argc > 3 && read(0, line, sizeof(line)) < 0)
		die("stdin");
	log_fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (log_fd < 0)
		die(argv[1]);
	dir = argv[2];
	checkpoint("begin");
	growsdown();
	huge();
	memfds();
	sysv();
	devices();
	half_way();
	moves();
	heap();
	set_mm();
	advice();
	seals();
	pages_move();
	ring_of_calls();
	x32();
	personalities();
	vdso();
	me = pthread_self();
	if (pthread_create(&t, NULL, outlive, &me))
		die("thread");
	pthread_exit(NULL);
}
