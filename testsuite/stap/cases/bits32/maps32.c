/* hotvar-cflags: -m32 -O2 -g -static -nostdlib -ffreestanding -fno-stack-protector -fno-pie -no-pie -fcf-protection=none */
/* lab: no image */
// SPDX-License-Identifier: GPL-2.0-or-later
/* maps32.c - a 32-bit program without a C library: changes its map by 32-bit calls, and says at checkpoints what it is. */

enum { NR_fork = 2, NR_read, NR_write, NR_open, NR_close, NR_waitpid, NR_getpid = 20, NR_brk = 45, NR_getppid = 64, NR_old_mmap = 90,
	NR_munmap = 91, NR_mprotect = 125, NR_mremap = 163, NR_mmap2 = 192, NR_exit_group = 252 };
enum { READ = 1, WRITE = 2, SHARED = 1, PRIVATE = 2, FIXED = 0x10, ANON = 0x20, GROWSDOWN = 0x100 };

/* The sixth argument is in ebp. */
static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	__asm__ volatile("pushl %%ebp; movl %7, %%ebp; int $0x80; popl %%ebp"
			 : "=a"(ret) : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), "m"(f) : "memory");
	return ret;
}
#define call3(nr, a, b, c) call(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define mmap2(at, len, prot, flags, fd, page) ((char *)call(NR_mmap2, (long)(at), len, prot, flags, fd, page))

static char text[1 << 20], name[300];
static const char *out;
static int n_checkpoints;

static void die(int what)
{
	call3(NR_exit_group, what, 0, 0);
	for (;;)
		;
}

static char *put(char *p, const char *s)
{
	while (*s)
		*p++ = *s++;
	*p = '\0';
	return p;
}

static char *number(char *p, unsigned n)
{
	char digits[12], *d = digits + 11;

	*d = '\0';
	do
		*--d = '0' + n % 10;
	while (n /= 10);
	return put(p, d);
}

static void checkpoint(void)
{
	char head[64], *p;
	int fd = call3(NR_open, "/proc/self/maps", 0, 0), pid = call3(NR_getpid, 0, 0, 0), n = 0, r;

	while ((r = call3(NR_read, fd, text + n, sizeof(text) - n)) > 0)
		n += r;
	call3(NR_close, fd, 0, 0);
	number(put(put(name, out), "/maps."), pid);
	fd = call3(NR_open, name, 02101, 0644); /* O_WRONLY | O_CREAT | O_APPEND */
	p = number(put(head, "CK "), pid);
	p = put(number(put(p, " "), ++n_checkpoints), "\n");
	if (fd < 0 || n <= 0 || call3(NR_write, fd, head, p - head) != p - head || call3(NR_write, fd, text, n) != n)
		die(97);
	call3(NR_close, fd, 0, 0);
	call3(NR_getppid, 0x5353, n_checkpoints, 0);
}

static __attribute__((noinline)) void deep(int n)
{
	volatile char a[32768];

	a[0] = n;
	if (n)
		deep(n - 1);
	a[1] = a[0];
}

__attribute__((used)) void begin(long *stack)
{
	char **env = (char **)(stack + stack[0] + 2), *p, *q;
	long brk, pid, fd;
	struct { long at, len, prot, flags, fd, offset; } old = { 0, 8192, READ | WRITE, PRIVATE | ANON, -1, 0 };

	for (out = "/out"; *env; env++)
		if ((*env)[0] == 'O' && (*env)[1] == 'U' && (*env)[2] == 'T' && (*env)[3] == '=')
			out = *env + 4;
	checkpoint();
	p = mmap2(0, 1 << 20, READ | WRITE, PRIVATE | ANON, -1, 0);
	checkpoint();
	call3(NR_mprotect, p + 8192, 8192, READ);
	checkpoint();
	call3(NR_munmap, p + 65536, 4096, 0);
	checkpoint();
	q = (char *)call(NR_mremap, (long)p, 8192, 1 << 19, 1, 0, 0);
	if ((unsigned long)q > -4096ul)
		die(98);
	checkpoint();
	call3(NR_old_mmap, &old, 0, 0);
	checkpoint();
	brk = call3(NR_brk, 0, 0, 0);
	call3(NR_brk, brk + (1 << 20), 0, 0);
	checkpoint();
	call3(NR_brk, brk + (1 << 16), 0, 0);
	checkpoint();
	deep(20);
	checkpoint();
	deep(60);
	checkpoint();
	fd = call3(NR_open, "/srv/bits32/maps32", 0, 0);
	p = mmap2(0, 8192, READ, PRIVATE, fd, 0);
	checkpoint();
	q = mmap2(p + 4096, 4096, READ | WRITE, PRIVATE | ANON | FIXED, -1, 0);
	checkpoint();
	q = mmap2(0, 8192, READ | WRITE, SHARED | ANON, -1, 0);
	checkpoint();
	pid = call3(NR_fork, 0, 0, 0);
	if (!pid) {
		checkpoint();
		call3(NR_munmap, p, 8192, 0);
		checkpoint();
		call3(NR_exit_group, 0, 0, 0);
	}
	call3(NR_waitpid, pid, 0, 0);
	call3(NR_munmap, q, 4096, 0);
	checkpoint();
	call3(NR_exit_group, 0, 0, 0);
}

__asm__(".globl _start\n_start: movl %esp, %eax\n\tandl $-16, %esp\n\tsubl $12, %esp\n\tpushl %eax\n\tcall begin\n");
