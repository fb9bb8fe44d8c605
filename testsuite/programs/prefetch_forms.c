/* hotvar-cflags: -O2 -g -static -fomit-frame-pointer -fcf-protection=none */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prefetch_forms.c - every form of address that a prefetch can have, each once of the last byte that is mapped and once of the
 * first that is not.
 *
 * An address that is taken for one byte more or less than it is makes another count.  The register is changed right
 * after, as optimizing translators like it.  Prints how many prefetches it has done; half of them are of unmapped memory.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

__asm__(".bss\n.balign 4096\nlast: .skip 4096\ngone: .skip 4096\n.text");
extern char last[PAGE], gone[PAGE];

static unsigned long end; /* below 4 GiB: mapped up to there */
static unsigned long done;

/* @code with what is to be in the register at %0, for both addresses, to each of which @bias is added. */
#define FORM_AT(reg, code, bias)                                                                                       \
	do {                                                                                                           \
		unsigned long at_;                                                                                     \
		for (at_ = end - 1; at_ <= end; at_++, done++)                                                         \
			__asm__ volatile("mov %0, %%" reg "\n\t" code "\n\txor %%" reg ", %%" reg                      \
					 : : "m"((unsigned long){ at_ + (unsigned long)(bias) }) : reg, "cc");         \
	} while (0)
#define FORM(reg, code) FORM_AT(reg, code, 0)

/* Two registers: @base is 0x10000 below, @index is that by its scale. */
#define FORM_INDEX(base, index, scale)                                                                                 \
	do {                                                                                                           \
		unsigned long at_;                                                                                     \
		for (at_ = end - 1; at_ <= end; at_++, done++)                                                         \
			__asm__ volatile("mov %0, %%" base "\n\tmov %1, %%" index "\n\tprefetcht0 -8(%%" base ",%%" index "," #scale ")\n\t" \
					 "xor %%" base ", %%" base "\n\txor %%" index ", %%" index                     \
					 : : "m"((unsigned long){ at_ + 8 - 0x10000 }), "i"(0x10000 / scale) : base, index, "cc"); \
	} while (0)

static void registers(void)
{
	unsigned long at;

	FORM("rax", "prefetcht0 (%%rax)");
	FORM("rcx", "prefetcht0 (%%rcx)");
	FORM("rdx", "prefetcht0 (%%rdx)");
	FORM("rbx", "prefetcht0 (%%rbx)");
	FORM("rbp", "prefetcht0 (%%rbp)");
	FORM("rsi", "prefetcht0 (%%rsi)");
	FORM("rdi", "prefetcht0 (%%rdi)");
	FORM("r8", "prefetcht0 (%%r8)");
	FORM("r9", "prefetcht0 (%%r9)");
	FORM("r10", "prefetcht0 (%%r10)");
	FORM("r11", "prefetcht0 (%%r11)");
	FORM("r12", "prefetcht0 (%%r12)");
	FORM("r13", "prefetcht0 (%%r13)");
	FORM("r14", "prefetcht0 (%%r14)");
	FORM("r15", "prefetcht0 (%%r15)");
	for (at = end - 1; at <= end; at++, done++)
		__asm__ volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tprefetcht0 (%%rsp)\n\tmov %%rbx, %%rsp" : : "r"(at) : "rbx");
}

static void kinds(void)
{
	FORM("rax", "prefetchnta (%%rax)");
	FORM("rax", "prefetcht1 (%%rax)");
	FORM("rax", "prefetcht2 (%%rax)");
	FORM("rax", "prefetchw (%%rax)");
	FORM("rax", ".byte 0x0f, 0x0d, 0x00"); /* prefetch, of AMD's 3DNow! */
	FORM("rax", ".byte 0x48, 0x0f, 0x18, 0x08"); /* a REX that changes nothing */
}

static void distances(void)
{
	FORM_AT("rsi", "prefetcht0 127(%%rsi)", -127);
	FORM_AT("rsi", "prefetcht0 -128(%%rsi)", 128);
	FORM_AT("rsi", "prefetcht0 0x12345678(%%rsi)", -0x12345678L);
	FORM_AT("rsi", "prefetcht0 -0x12345678(%%rsi)", 0x12345678L);
	FORM_AT("r13", "prefetcht0 64(%%r13)", -64);
	FORM_AT("r12", "prefetcht0 64(%%r12)", -64);
	FORM_AT("rdi", "prefetcht0 0x7fffffff(%%rdi)", -0x7fffffffL); /* beyond 64 bits, and round */
}

static void indexes(void)
{
	FORM_INDEX("rax", "rcx", 1);
	FORM_INDEX("rbx", "rdx", 2);
	FORM_INDEX("rbp", "rsi", 4);
	FORM_INDEX("r13", "rbp", 8);
	FORM_INDEX("r8", "r12", 8);
	FORM_INDEX("r12", "r13", 4);
	FORM_AT("rcx", "prefetcht0 (,%%rcx,1)", 0);
	FORM_AT("rcx", "mov %%rcx, %%rdx\n\tshr $3, %%rcx\n\tand $7, %%edx\n\tlea (%%rcx,%%rcx), %%rcx\n\tshr %%rcx\n\t"
		"prefetcht0 8(%%rdx,%%rcx,8)", -8);
	FORM_AT("r9", "shr $2, %%r9\n\tprefetcht0 0x3(,%%r9,4)", 0); /* the last four bytes' last; the first four's last */
}

static void ip_relative(void)
{
	__asm__ volatile("prefetcht0 last+4095(%rip)");
	__asm__ volatile("prefetcht0 gone(%rip)");
	__asm__ volatile("prefetchw last+4095(%rip)");
	__asm__ volatile("prefetchw gone(%rip)");
	__asm__ volatile("prefetcht0 last+4095(%eip)");
	__asm__ volatile("prefetcht0 gone(%eip)");
	done += 6;
}

static void segments(void)
{
	unsigned long fs;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(fs));
	FORM_AT("rax", "prefetcht0 %%fs:(%%rax)", -fs);
	FORM_AT("rbx", "prefetcht0 %%fs:-256(%%rbx)", 256 - fs);
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, 0x1000))
		return;
	FORM_AT("rdx", "prefetcht0 %%gs:(%%rdx)", -0x1000L);
	FORM_AT("rdx", "prefetcht0 %%gs:0x40(%%rdx)", -0x1040L);
	syscall(SYS_arch_prctl, ARCH_SET_GS, 0);
}

static void narrow(void)
{
	FORM_AT("rax", "prefetcht0 (%%eax)", 0xdead00000000);
	FORM_AT("rsi", "prefetcht0 0x100(%%esi)", 0xbeef00000000 - 0x100);
	FORM_AT("r9", "prefetcht0 -0x100(%%r9d)", 0x100);
	FORM_AT("rdi", "prefetcht0 0x7ffffff0(%%edi)", -0x7ffffff0L);
}

/* What is no prefetch is not counted. */
static void others(void)
{
	__asm__ volatile("nopl gone(%rip)");
}

int main(void)
{
	char *low = mmap((void *)0x20000000, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (low != (char *)0x20000000 || munmap(low + PAGE, PAGE) || munmap(gone, PAGE))
		return 1;
	end = 0x20000000 + PAGE;
	registers();
	kinds();
	distances();
	indexes();
	ip_relative();
	segments();
	narrow();
	others();
	printf("prefetches %lu unmapped %lu\n", done, done / 2);
	return 0;
}
