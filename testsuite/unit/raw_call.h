/* SPDX-License-Identifier: GPL-2.0-or-later */
/* raw_call.h - system calls of x86-64 and i386, made as they are, without libc. */
#ifndef RAW_CALL_H
#define RAW_CALL_H

#include <stdint.h>

/* int $0x80 with six arguments from memory. */
long int80(long nr, const uint64_t regs[6]);
__asm__(".text\n"
	".type int80, @function\n"
	"int80:\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	mov %rdi, %rax\n"
	"	mov 0(%rsi), %rbx\n"
	"	mov 8(%rsi), %rcx\n"
	"	mov 16(%rsi), %rdx\n"
	"	mov 32(%rsi), %rdi\n"
	"	mov 40(%rsi), %rbp\n"
	"	mov 24(%rsi), %rsi\n"
	"	int $0x80\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size int80, . - int80\n");

static inline long raw(long nr, const uint64_t a[6])
{
	long ret;
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif /* RAW_CALL_H */
