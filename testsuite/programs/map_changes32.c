/* hotvar-cflags: -m32 -O1 -g -static -nostdlib -ffreestanding -fno-pic -no-pie -fno-stack-protector */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_changes32 - what map_changes is, as a 32-bit program without a C library.
 *
 *	map_changes32 LOG
 *
 * Its marks are at 0x50000000 + N * 0x10000.
 */
typedef unsigned long ulong;

enum { SYS_exit = 1, SYS_fork = 2, SYS_read = 3, SYS_write = 4, SYS_open = 5, SYS_close = 6,
       SYS_waitpid = 7, SYS_getpid = 20, SYS_brk = 45, SYS_old_mmap = 90, SYS_munmap = 91,
       SYS_ipc = 117, SYS_mprotect = 125, SYS_mremap = 163, SYS_mmap2 = 192 };
enum { PAGE = 4096, MARK = 0x50000000, STEP = 0x10000, AT = 0x60000000 };
enum { SHMAT = 21, SHMDT = 22, SHMGET = 23, SHMCTL = 24 };

static int log_fd, number;
static char buf[65536];

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	/* ebp is the sixth argument's, and the frame's: by way of the stack. */
	__asm__ volatile("pushl %[f]\n\tpushl %%ebp\n\tmovl 4(%%esp), %%ebp\n\tint $0x80\n\t"
			 "popl %%ebp\n\taddl $4, %%esp"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), [f] "m"(f)
			 : "memory", "cc");
	return ret;
}

static void exit_with(int status)
{
	call(SYS_exit, status, 0, 0, 0, 0, 0);
}

static void must(int ok)
{
	if (!ok)
		exit_with(99);
}

static int put(char *p, ulong v)
{
	char digits[12];
	int n = 0, i;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	for (i = 0; i < n; i++)
		p[i] = digits[n - 1 - i];
	return n;
}

static int puts_at(char *p, const char *s)
{
	int n = 0;

	for (; s[n]; n++)
		p[n] = s[n];
	return n;
}

static void checkpoint(const char *text)
{
	int n, fd, got;

	must(call(SYS_mmap2, MARK + number * STEP, PAGE, 0, 0x32, -1, 0) ==
	     MARK + number * STEP);
	fd = (int)call(SYS_open, (long)"/proc/self/maps", 0, 0, 0, 0, 0);
	n = puts_at(buf, "checkpoint ");
	n += put(buf + n, (ulong)number++);
	buf[n++] = ' ';
	n += put(buf + n, (ulong)call(SYS_getpid, 0, 0, 0, 0, 0, 0));
	buf[n++] = ' ';
	n += puts_at(buf + n, text);
	buf[n++] = '\n';
	while ((got = (int)call(SYS_read, fd, (long)buf + n, (long)sizeof(buf) - n - 8, 0, 0, 0)) > 0)
		n += got;
	call(SYS_close, fd, 0, 0, 0, 0, 0);
	n += puts_at(buf + n, "end\n");
	must(call(SYS_write, log_fd, (long)buf, n, 0, 0, 0) == n);
}

static void run(const char *path)
{
	long block[6] = { AT, 8 * PAGE, 3, 0x32, -1, 0 }, at = 0, id, begin, pid;
	int status = 0;
	int fd;

	log_fd = (int)call(SYS_open, (long)path, 02101, 0600, 0, 0, 0); /* O_WRONLY O_CREAT O_APPEND */
	must(log_fd >= 0);
	checkpoint("begin");
	must(call(SYS_old_mmap, (long)block, 0, 0, 0, 0, 0) == AT);
	checkpoint("old mmap");
	must(!call(SYS_mprotect, AT + PAGE, PAGE, 1, 0, 0, 0));
	checkpoint("mprotect");
	must(!call(SYS_munmap, AT + 4 * PAGE, PAGE, 0, 0, 0, 0));
	checkpoint("munmap");
	must(call(SYS_mremap, AT + 5 * PAGE, 3 * PAGE, 4 * PAGE, 3, AT + 64 * PAGE, 0) ==
	     AT + 64 * PAGE);
	checkpoint("mremap");
	fd = (int)call(SYS_open, (long)path, 0, 0, 0, 0, 0);
	must(call(SYS_mmap2, AT + 128 * PAGE, 2 * PAGE, 1, 0x12, fd, 3) == AT + 128 * PAGE);
	checkpoint("mmap2 of a file from its fourth page");
	begin = (call(SYS_brk, 0, 0, 0, 0, 0, 0) + PAGE - 1) & -PAGE;
	must(call(SYS_brk, begin + 0x3003, 0, 0, 0, 0, 0) == begin + 0x3003);
	checkpoint("brk");
	must(call(SYS_brk, begin + 0x1000, 0, 0, 0, 0, 0) == begin + 0x1000);
	checkpoint("brk shrinks");
	id = call(SYS_ipc, SHMGET, 0, 3 * PAGE, 01600, 0, 0);
	must(id >= 0);
	must(!call(SYS_ipc, SHMAT, id, 0, (long)&at, 0, 0) && at);
	call(SYS_ipc, SHMCTL, id, 0 | 0x100, 0, 0, 0);
	checkpoint("shmat by ipc");
	must(!call(SYS_ipc, SHMDT, 0, 0, 0, at, 0));
	checkpoint("shmdt by ipc");
	pid = call(SYS_fork, 0, 0, 0, 0, 0, 0);
	if (!pid) {
		number = 100;
		must(!call(SYS_munmap, AT, PAGE, 0, 0, 0, 0));
		checkpoint("in a child");
		exit_with(0);
	}
	must(call(SYS_waitpid, pid, (long)&status, 0, 0, 0, 0) == pid && !status);
	checkpoint("after a child");
	exit_with(32);
}

__attribute__((used)) static void start(long *stack)
{
	must(stack[0] == 2);
	run((const char *)stack[2]);
}

__asm__(".globl _start\n_start:\n\tmovl %esp, %eax\n\tandl $-16, %esp\n\tsubl $12, %esp\n\tpushl %eax\n\tcall start\n");
