/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * hotvar.h - what a program may tell "hotvar --exact" of itself.
 *
 * Include it, link nothing.  Each macro is a few instructions that do nothing, unless the
 * program runs under hotvar --exact.  It may be used under either of the two licences above, so
 * that any program can include it.
 *
 *	HOTVAR_STOP;				from here on nothing is counted
 *	HOTVAR_START;				from here on everything is (see --exact-from)
 *	HOTVAR_PHASE("load");			what is counted from here on is of this phase: --by phase
 *	HOTVAR_REGION(addr, size, "pool");	this memory is the row region:pool from here on
 *	HOTVAR_REGION_END(addr);		and no more; so it is when it is unmapped, too
 *	HOTVAR_COUNTING				1 if accesses are being counted, else 0
 *
 * They hold for the process: all its threads, and the children that it forks afterwards.  Names are copied; they
 * may have up to 255 bytes.  A region that begins in another one takes that part from it.
 *
 * NOTE: the sequence is the one that Valgrind knows client requests by (its manual, "The Client Request
 * mechanism"): four rotations of %rdi by 128 bits in all, then xchg %rbx,%rbx, with the address of six words in %rax.
 */
#ifndef HOTVAR_H
#define HOTVAR_H

enum hotvar_request {
	HOTVAR_REQUEST_START = ('H' << 24) | ('v' << 16),
	HOTVAR_REQUEST_STOP,
	HOTVAR_REQUEST_PHASE,
	HOTVAR_REQUEST_REGION,
	HOTVAR_REQUEST_REGION_END,
	HOTVAR_REQUEST_COUNTING
};

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
static inline unsigned long hotvar_request(unsigned long what, unsigned long a, unsigned long b, unsigned long c)
{
	volatile unsigned long words[6] = { what, a, b, c, 0, 0 };
	unsigned long answer = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(&words[0])
			 : "cc", "memory");
	return answer;
}
#else
static inline unsigned long hotvar_request(unsigned long what, unsigned long a, unsigned long b, unsigned long c)
{
	(void)what;
	(void)a;
	(void)b;
	(void)c;
	return 0;
}
#endif

#define HOTVAR_START		((void)hotvar_request(HOTVAR_REQUEST_START, 0, 0, 0))
#define HOTVAR_STOP		((void)hotvar_request(HOTVAR_REQUEST_STOP, 0, 0, 0))
#define HOTVAR_PHASE(name)	((void)hotvar_request(HOTVAR_REQUEST_PHASE, (unsigned long)(name), 0, 0))
#define HOTVAR_REGION(addr, size, name)                                                                             \
	((void)hotvar_request(HOTVAR_REQUEST_REGION, (unsigned long)(addr), (unsigned long)(size), (unsigned long)(name)))
#define HOTVAR_REGION_END(addr) ((void)hotvar_request(HOTVAR_REQUEST_REGION_END, (unsigned long)(addr), 0, 0))
#define HOTVAR_COUNTING		((int)hotvar_request(HOTVAR_REQUEST_COUNTING, 0, 0, 0))

#endif /* HOTVAR_H */
