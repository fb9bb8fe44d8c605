/* SPDX-License-Identifier: GPL-2.0-or-later */
/* raw32.h - what a 32-bit program without a C library needs: calls, threads, words to print, and checkpoints as of mark.h. */
#ifndef RAW32_H
#define RAW32_H

enum { NR_exit = 1, NR_fork, NR_read, NR_write, NR_open, NR_close, NR_waitpid, NR_execve = 11, NR_getpid = 20, NR_brk = 45,
	NR_getppid = 64, NR_old_mmap = 90, NR_munmap, NR_clone = 120, NR_mprotect = 125, NR_sched_yield = 158, NR_mremap = 163,
	NR_mmap2 = 192, NR_madvise = 219, NR_gettid = 224, NR_futex = 240, NR_exit_group = 252, NR_clock_gettime = 265 };
enum { READ = 1, WRITE = 2, SHARED = 1, PRIVATE = 2, FIXED = 0x10, ANON = 0x20 };
enum { CLONE_VM = 0x100, CLONE_VFORK = 0x4000, CLONE_THREADS = 0x10f00 | 0x40000, SIGCHLD = 17 };

/* The sixth argument is in ebp.  Whoever calls leaves a return address on the stack. */
static __attribute__((noinline)) long call(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	__asm__ volatile("pushl %%ebp; movl %7, %%ebp; int $0x80; popl %%ebp"
			 : "=a"(ret) : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), "m"(f) : "memory");
	return ret;
}
#define call3(nr, a, b, c) call(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define mmap2(at, len, prot, flags, fd, page) ((char *)call(NR_mmap2, (long)(at), len, prot, flags, fd, page))

/* A child that runs @f(@arg) on the stack that ends at @top; its number. */
static __attribute__((noinline, unused)) long spawn(long flags, void (*f)(long), long arg, char *top)
{
	long *stack = (long *)top - 4, ret;

	stack[0] = (long)f;
	stack[1] = 0; /* f() returns nowhere */
	stack[2] = arg;
	__asm__ volatile("int $0x80; testl %%eax, %%eax; jnz 1f; popl %%eax; jmp *%%eax; 1:"
			 : "=a"(ret) : "0"(NR_clone), "b"(flags), "c"(stack), "d"(0), "S"(0), "D"(0) : "memory");
	return ret;
}

static char text[1 << 20], name[300];
static const char *out = "/out";
static int n_checkpoints;

static void die(int what)
{
	call3(NR_exit_group, what, 0, 0);
	for (;;)
		;
}

static __attribute__((unused)) char *put(char *p, const char *s)
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

static __attribute__((unused)) void checkpoint(void)
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

static __attribute__((unused)) void say(const char *s)
{
	const char *end = s;

	while (*end)
		end++;
	if (call3(NR_write, 1, s, end - s) != end - s)
		die(96);
}

/* What the kernel has put on the stack: the arguments from @stack[1] on; takes OUT from the environment. */
static __attribute__((unused)) void begin_out(long *stack)
{
	char **env;

	for (env = (char **)(stack + stack[0] + 2); *env; env++)
		if ((*env)[0] == 'O' && (*env)[1] == 'U' && (*env)[2] == 'T' && (*env)[3] == '=')
			out = *env + 4;
}

__asm__(".globl _start\n_start: movl %esp, %eax\n\tandl $-16, %esp\n\tsubl $12, %esp\n\tpushl %eax\n\tcall begin\n");

#endif
