// SPDX-License-Identifier: GPL-2.0-or-later
/* coroutine.c - generators on stacks of their own that hand values on. */
#include "work.h"

enum { COROUTINES = 4, STACK = 16384 };

uint64_t stacks[COROUTINES][STACK / 8];
void *saved_sp[COROUTINES + 1];
uint32_t mailbox[COROUTINES + 1];
uint32_t sieve_table[4096];
uint64_t passed[COROUTINES];
uint32_t squares[256];
int running;

/* Save what a call keeps, change stacks, and go on there. */
void switch_stacks(void **save, void *to);
__asm__(".text\n"
	".type switch_stacks, @function\n"
	"switch_stacks:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n"
	"	ret\n"
	".size switch_stacks, . - switch_stacks\n");

NOINLINE static void resume(int k)
{
	int from = running;

	running = k;
	switch_stacks(&saved_sp[from], saved_sp[k]);
}

static void body(void)
{
	for (;;) {
		int me = running;
		uint32_t v = mailbox[me];

		switch (me) {
		case 0:
			v = v * 2654435761u + 1;
			break;
		case 1:
			v ^= squares[v >> 24];
			break;
		case 2:
			for (unsigned k = 0; k < (v & 7); k++)
				sieve_table[(v >> k) & 4095] += k;
			break;
		default:
			v += sieve_table[v & 4095];
		}
		passed[me]++;
		mailbox[me + 1] = v;
		resume(me + 1 < COROUTINES ? me + 1 : COROUTINES);
	}
}

int main(int argc, char **argv)
{
	long n = work_amount(argc, argv, 45000000);
	uint32_t v = 1;

	for (int i = 0; i < 256; i++)
		squares[i] = (uint32_t)(i * i) * 77;
	for (int i = 0; i < COROUTINES; i++) {
		uint64_t *top = &stacks[i][STACK / 8 - 2];

		*top = (uint64_t)body;
		saved_sp[i] = top - 6;
	}
	running = COROUTINES;
	for (long i = 0; i < n; i++) {
		mailbox[0] = v + (uint32_t)i;
		resume(0);
		v = mailbox[COROUTINES];
	}
	printf("%u %llu\n", v, (unsigned long long)passed[2]);
	return 0;
}
