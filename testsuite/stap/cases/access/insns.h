/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insns.h - runs instructions one by one, and prints what the processor says that each accesses.
 *
 * The memory that the registers point to is closed. An instruction stands after `int $0x80` (a getpgrp() of 32-bit calls, which
 * leaves the registers alone): when that returns, a script sees the registers that the instruction begins with.
 * Each access is then a page fault: its address, and whether it is a write, come from the processor by a signal; the page
 * is opened for it, and the instruction goes on, until it is done.
 *
 *	INSN IP NAME WANT		1: its accesses must be told; 0: they must not
 *	FAULT IP AT ADDR r|w		the test that begins at IP: the instruction at AT has faulted at ADDR, in reading or writing
 *	DONE IP				what is behind each test
 *
 * A program of its own, without a C library: all registers are the test's, and there is none for 32-bit code.
 */
typedef unsigned long word;

#ifdef __x86_64__
enum { NR_write = 1, NR_mmap = 9, NR_mprotect = 10, NR_sigaction = 13, NR_sigaltstack = 131, NR_arch_prctl = 158, NR_exit_group = 231 };
#define WORD ".quad"
#define RIP "(%rip)"
static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return ret;
}
/* ucontext: where uc_mcontext has what the handler wants */
enum { UC_IP = 40 + 16 * 8, UC_ERR = 40 + 19 * 8, UC_TRAP = 40 + 20 * 8, SI_ADDR = 16 };
struct action { void *handler; word flags; void (*restorer)(void); word mask; };
#else
enum { NR_write = 4, NR_mmap = 192, NR_mprotect = 125, NR_sigaction = 174, NR_sigaltstack = 186, NR_set_thread_area = 243, NR_exit_group = 252 };
#define WORD ".long"
#define RIP ""
/* The sixth argument is in ebp. */
static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	__asm__ volatile("pushl %%ebp; movl %7, %%ebp; int $0x80; popl %%ebp"
			 : "=a"(ret) : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), "m"(f) : "memory");
	return ret;
}
enum { UC_IP = 20 + 14 * 4, UC_ERR = 20 + 13 * 4, UC_TRAP = 20 + 12 * 4, SI_ADDR = 12 };
struct action { void *handler; word flags; void (*restorer)(void); word mask[2]; };
#endif
#define call3(nr, a, b, c) call(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)

/* ---- text ---- */

static char text[65536];
static unsigned n_text;

static void flush(void)
{
	unsigned done = 0;
	long r;

	while (done < n_text && (r = call3(NR_write, 1, text + done, n_text - done)) > 0)
		done += r;
	n_text = 0;
}
static void put(const char *s)
{
	while (*s)
		text[n_text++] = *s++;
	if (n_text > sizeof(text) - 1000)
		flush();
}
static void put_hex(word x)
{
	char s[20] = "0x", *p = s + 2;
	int shift = sizeof(word) * 8 - 4;

	while (shift && !(x >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[x >> shift & 15];
	*p = '\0';
	put(s);
}
static void die(int what)
{
	flush();
	call3(NR_exit_group, what, 0, 0);
	for (;;)
		;
}

/* ---- memory and registers of a test: addresses that fit 32 bits, in pages of their own ---- */

#define AREA 0x10000000ul /* A at 0, B at 0x10000, the stack S at 0x20000: four pages each */
#define PAGES 4
#define PAGE 4096

extern char test_done[], saved_sp[];
struct test {
	word entry;
	const char *name;
	word want;
};
extern const struct test tests[], tests_end[];
static word now; /* the test that runs */
static int n_faults;
word target, registers[16]; /* as pushed: see run */
void run(void);

static int protect(word at, int prot)
{
	return call3(NR_mprotect, at & ~(word)(PAGE - 1), PAGE, prot);
}

static void on_signal(int sig, char *info, char *uc)
{
	word addr = *(word *)(info + SI_ADDR), *ip = (word *)(uc + UC_IP), err = *(word *)(uc + UC_ERR), trap = *(word *)(uc + UC_TRAP);
	int is_write = (err & 2) != 0;

	if (sig != 11 || trap != 14 || ++n_faults > 40 || addr - AREA >= 0x30000 || protect(addr, is_write ? 3 : 1)) {
		*ip = (word)test_done; /* no such instruction, or it has run off */
		return;
	}
	put("FAULT ");
	put_hex(now);
	put(" ");
	put_hex(*ip);
	put(" ");
	put_hex(addr);
	put(is_write ? " w\n" : " r\n");
}
void restorer(void);

static void close_all(int prot)
{
	word area, i;

	for (area = 0; area < 3; area++)
		for (i = 0; i < PAGES; i++)
			if (protect(AREA + area * 0x10000 + i * PAGE, prot))
				die(3);
}

static void run_test(word entry, const char *name, word want)
{
	word area, i, *at;

	/* Wherever an instruction takes an address from, it is that of the end. */
	close_all(3);
	for (area = 0; area < 3; area++)
		for (i = 0, at = (word *)(AREA + area * 0x10000); i < PAGES * PAGE / sizeof(word); i++)
			at[i] = (word)test_done;
	close_all(0);
	now = entry + 2; /* after int $0x80 */
	n_faults = 0;
	put("INSN ");
	put_hex(now);
	put(" ");
	put(name);
	put(want ? " 1\n" : " 0\n");
	target = entry;
	run();
}

/* T NAME WANT "INSTRUCTION; ..." */
__asm__(".macro T name, want, insn\n"
	"	.pushsection .tests, \"a\"\n"
	"	" WORD " 9f, 8f, \\want\n"
	"	.section .names, \"a\"\n"
	"8:	.asciz \"\\name\"\n"
	"	.popsection\n"
	"	.balign 16\n"
	"9:	int $0x80\n"
	"	\\insn\n"
	"	jmp test_done\n"
	".endm\n"
	".pushsection .tests, \"a\"\n.globl tests\n.balign 8\ntests:\n.popsection\n");

/* What is at the very end of a page, with nothing behind it; and code that is written while the program runs. */
static void at_page_end(char *page, const char *name, const char *bytes, int n, int want)
{
	int i;

	call3(NR_mprotect, page, PAGE, 3);
	page[PAGE - n - 2] = 0xcd;
	page[PAGE - n - 1] = 0x80;
	for (i = 0; i < n; i++)
		page[PAGE - n + i] = bytes[i];
	call3(NR_mprotect, page, PAGE, 5);
	run_test((word)page + PAGE - n - 2, name, want);
}

static void run_all(void)
{
	static char alternate[32768] __attribute__((aligned(16)));
	struct { void *sp; long flags; word size; } ss = { alternate, 0, sizeof(alternate) };
	struct action act = { on_signal, 0x4 | 0x04000000 | 0x08000000 | 0x40000000, restorer, 0 }; /* SIGINFO RESTORER ONSTACK NODEFER */
	const struct test *t;
	char *code;
	word area;

	for (area = 0; area < 3; area++)
		if (call(NR_mmap, AREA + area * 0x10000, PAGES * PAGE, 0, 0x32, -1, 0) != (long)(AREA + area * 0x10000))
			die(2);
	call3(NR_sigaltstack, &ss, 0, 0);
	for (area = 4; area < 12; area++) /* SIGILL, TRAP, BUS, FPE, SEGV */
		if (area != 6 && area != 9 && area != 10 && call(NR_sigaction, area, (long)&act, 0, 8, 0, 0))
			die(4);
	put("DONE ");
	put_hex((word)test_done);
	put("\n");
	for (t = tests; t < tests_end; t++)
		run_test(t->entry, t->name, t->want);

	code = (char *)call(NR_mmap, 0x10100000, PAGE, 3, 0x32, -1, 0);
	at_page_end(code, "end-of-page", "\x8b\x03", 2, 1);		/* mov (bx), eax */
	at_page_end(code, "end-of-page-write", "\x89\x0e", 2, 1);	/* mov ecx, (si) */
	at_page_end(code, "cut-by-page", "\x8b\x83\x10", 3, 0);		/* mov 0x...10(bx), eax: the rest is not there */
	at_page_end(code, "cut-by-page-prefix", "\x66", 1, 0);
	flush();
}
