// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sample.c - functions that are known to access certain arrays only, each run for some processor time.
 *
 *	sample			prints, and runs
 *	sample spin FILE	writes its pid to FILE and runs until it is killed
 *
 *	ARRAY NAME START END
 *	CODE NAME START END READS WRITES	instructions there read and write these arrays; or the stack, to return
 *	STACK START END
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SIZE 65536

char src[SIZE], dst[SIZE], filled[SIZE];
unsigned table[SIZE / 4] = { 1 };
unsigned long counters[512] = { 1 };
void *const pointers[64] = { src };

void copy(void), copy_rep(void), copy_end(void), sum(void), sum_end(void), fill(void), fill_end(void), count(void), count_end(void),
	chase(void), chase_end(void);

/* Nothing in these but the loops and the return accesses memory. */
__asm__(".text\n"
	".globl copy, copy_rep, copy_end\n"
	"copy:	lea src(%rip), %rsi\n"
	"	lea dst(%rip), %rdi\n"
	"	mov $65536, %ecx\n"
	"copy_rep: rep movsb\n"
	"	ret\n"
	"copy_end:\n"
	".globl sum, sum_end\n"
	"sum:	lea table(%rip), %rdx\n"
	"	xor %ecx, %ecx\n"
	"	xor %eax, %eax\n"
	"1:	mov (%rdx,%rcx,4), %esi\n"
	"	lea (%rsi,%rsi,2), %esi\n"
	"	add %esi, %eax\n"
	"	add $1, %ecx\n"
	"	cmp $16384, %ecx\n"
	"	jne 1b\n"
	"	ret\n"
	"sum_end:\n"
	".globl fill, fill_end\n"
	"fill:	lea filled(%rip), %rdx\n"
	"	lea 65536(%rdx), %rcx\n"
	"1:	movq $5, (%rdx)\n"
	"	add $8, %rdx\n"
	"	cmp %rcx, %rdx\n"
	"	jb 1b\n"
	"	ret\n"
	"fill_end:\n"
	".globl count, count_end\n"
	"count:	lea counters(%rip), %rdx\n"
	"	mov $5000, %ecx\n"
	"1:	mov %ecx, %eax\n"
	"	and $511, %eax\n"
	"	addq $1, (%rdx,%rax,8)\n"
	"	dec %ecx\n"
	"	jnz 1b\n"
	"	ret\n"
	"count_end:\n"
	".globl chase, chase_end\n"
	"chase:	mov $5000, %ecx\n"
	"	lea pointers(%rip), %rdx\n"
	"1:	push (%rdx)\n"
	"	pop %rax\n"
	"	dec %ecx\n"
	"	jnz 1b\n"
	"	ret\n"
	"chase_end:\n");

static void run(void (*f)(void), double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
	int i;

	while (clock() < end)
		for (i = 0; i < 50; i++)
			f();
}

#define ARRAY(a) printf("ARRAY %s 0x%lx 0x%lx\n", #a, (long)a, (long)a + (long)sizeof(a))
#define CODE(f, r, w) printf("CODE %s 0x%lx 0x%lx %s %s\n", #f, (long)f, (long)f##_end, r, w)

int main(int argc, char **argv)
{
	char line[300];
	FILE *maps;

	if (argc == 3) {
		FILE *f = fopen(argv[2], "w");

		fprintf(f, "%d\n", getpid());
		fclose(f);
		for (;;) {
			run(copy, 0.1);
			run(sum, 0.1);
		}
	}
	ARRAY(src);
	ARRAY(dst);
	ARRAY(filled);
	ARRAY(table);
	ARRAY(counters);
	ARRAY(pointers);
	printf("REP 0x%lx\n", (long)copy_rep);
	CODE(copy, "src", "dst");
	CODE(sum, "table", "-");
	CODE(fill, "-", "filled");
	CODE(count, "counters", "counters");
	CODE(chase, "pointers", "-");
	maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]"))
			printf("STACK 0x%lx 0x%lx\n", strtoul(line, NULL, 16), strtoul(strchr(line, '-') + 1, NULL, 16));
	fclose(maps);
	fflush(stdout);
	run(copy, 0.7);
	run(sum, 0.7);
	run(fill, 0.7);
	run(count, 0.7);
	run(chase, 0.7);
	return 0;
}
