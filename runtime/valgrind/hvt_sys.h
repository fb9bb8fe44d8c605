/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_sys.h - system calls that Valgrind's tool interface has no name for.
 *
 * A tool has no libc, and shadow memory is none of Valgrind's own mappings.
 */
#ifndef HVT_SYS_H
#define HVT_SYS_H

/* The kernel's answer: a result, or -errno. */
static inline long hvt_sys(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif /* HVT_SYS_H */
