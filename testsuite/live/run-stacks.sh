#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-stacks.sh - what the stack pointer addresses is a stack, whatever memory the program has made one of: by samples as by --exact.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"
cd "$tmp" || exit 1

cat > stacks.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

uint64_t array[2048], plain[4096];

/* n rounds on the stack that ends at top: 7 accesses each by the stack pointer, 2 each of plain by another one */
long work(long n, void *top, void *data);
__asm__(".text\n.type work, @function\n"
	"work:	push %rbx\n	mov %rsp, %rbx\n	mov %rsi, %rsp\n"
	"1:	push %rax\n	push %rdi\n	mov 8(%rsp), %rax\n	mov (%rsp), %rcx\n	add %rax, %rcx\n	add %rcx, (%rsp)\n"
	"	mov %rdi, %rcx\n	and $4095, %ecx\n	incq (%rdx,%rcx,8)\n	add $8, %rsp\n	pop %rax\n"
	"	dec %rdi\n	jnz 1b\n	mov %rbx, %rsp\n	pop %rbx\n	ret\n.size work, . - work\n");

int main(int argc, char **argv)
{
	char *heap = malloc(20000), *mapped = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char kind = argc > 2 ? argv[2][0] : 'a';

	work(atol(argv[1]), kind == 'a' ? (void *)(array + 2000) : kind == 'h' ? (void *)(heap + 16000) : (void *)(mapped + 40000), plain);
	printf("%ld\n", (long)plain[5]);
	return 0;
}
END
check "the program builds" "${CC:-cc}" -O2 -g -o stacks stacks.c

# share OF FILE: percent, without a fraction, of stacks, of variable plain, of memory that a stack was made of
share() {
	python3 - "$1" "$2" <<'END'
import json, sys
of = {"stack": lambda r: r["kind"] == "stack", "plain": lambda r: r["symbol"] == "plain",
      "rest": lambda r: r["symbol"] == "array" or r["kind"] in ("heap", "anon")}[sys.argv[1]]
print(round(100 * sum(r["share"] for r in map(json.loads, open(sys.argv[2])) if r["type"] == "variable" and of(r))))
END
}

for kind in array heap mapped; do
	"$HOTVAR" --exact --exact-malloc=program --json --limit 0 -o exact -- ./stacks 300000 $kind > out 2>&1
	check "$kind, each access counted: $(share stack exact) $(share plain exact) $(share rest exact)" \
		test "$(share stack exact)" -ge 74 -a "$(share plain exact)" -ge 20 -a "$(share rest exact)" -eq 0
	"$HOTVAR" --json --limit 0 -o sampled -- ./stacks 30000000 $kind > out 2>&1
	check "$kind, by samples: $(share stack sampled) $(share plain sampled) $(share rest sampled)" \
		test "$(share stack sampled)" -ge 60 -a "$(share plain sampled)" -ge 10 -a "$(share rest sampled)" -le 2
done

# What a thread has on its stack is there, too, where it is reached by a pointer: of another thread's as of its own; and what the C
# library knows of the thread is as thread-local as what code reaches from the thread pointer.
cat > locals.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

unsigned long out[16];
long n;

__attribute__((noinline)) static unsigned long sum(const unsigned long *v)
{
	unsigned long s = 0;

	for (int i = 0; i < 512; i++)
		s = s * 3 + v[i];
	return s;
}

static void *other(void *theirs)
{
	for (long i = 0; i < n; i++)
		out[i & 15] += sum(theirs);
	return NULL;
}

static void *own(void *arg)
{
	unsigned long mine[512];
	pthread_t t;

	for (int i = 0; i < 512; i++)
		mine[i] = (unsigned long)i;
	for (long i = 0; i < n; i++)
		out[i & 15] += sum(mine);
	pthread_create(&t, NULL, other, mine);
	pthread_join(t, NULL);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	n = argc > 1 ? atol(argv[1]) : 1;
	pthread_create(&t, NULL, own, NULL);
	pthread_join(t, NULL);
	printf("%lu\n", out[5]);
	return 0;
}
END
check "a program with arrays on threads' stacks builds" "${CC:-cc}" -O2 -g -pthread -fno-stack-protector -o locals locals.c
"$HOTVAR" --json --limit 0 -o sampled -- ./locals 300000 > out 2>&1
check "threads' stacks, by samples: $(share stack sampled) $(share rest sampled)" test "$(share stack sampled)" -ge 90 -a "$(share rest sampled)" -le 2

# Memory of the program's in one piece with a stack that it gives to a thread is no stack, nor is that one when the thread has ended.
cat > given.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SIZE = 4 << 20, STACK = 1 << 20 };
static volatile unsigned long *words;
static long n;

static void *work(void *arg)
{
	unsigned long x = 1;

	for (long i = 0; i < n; i++) {
		x = x * 6364136223846793005ul + 1;
		words[x >> 52]++;
	}
	return arg;
}

int main(int argc, char **argv)
{
	char *m = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t a;
	pthread_t t;

	n = argc > 1 ? atol(argv[1]) : 1;
	if (mprotect(m + 4096, SIZE - 4096, PROT_READ | PROT_WRITE))
		return 1;
	words = (void *)(m + 4096);
	pthread_attr_init(&a);
	pthread_attr_setstack(&a, m + SIZE - STACK, STACK);
	if (pthread_create(&t, &a, work, NULL))
		return 1;
	pthread_join(t, NULL);
	words = (void *)(m + SIZE - STACK + 65536);
	work(NULL);
	printf("%lu\n", words[5]);
	return 0;
}
END
check "a program that gives a thread its stack builds" "${CC:-cc}" -O2 -g -pthread -o given given.c
"$HOTVAR" record -o given.rec -- ./given 100000000 > out 2>&1
"$HOTVAR" report --json --limit 0 -i given.rec > sampled
check "a given stack, by samples: $(share stack sampled) $(share rest sampled)" test "$(share stack sampled)" -le 2 -a "$(share rest sampled)" -ge 90

# Nor is one that has memory without access below, of the program's; nor what malloc maps in one piece with the first thread's block,
# also where the C library has other numbers for threads than we: in a container.
cat > alike.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 4 << 20 };
static volatile unsigned long *words;
static __thread volatile unsigned long mine;

static void *stay(void *arg)
{
	mine++;
	for (;;)
		pause();
	return arg;
}

static void work(long n)
{
	unsigned long x = 1;

	for (long i = 0; i < n; i++) {
		x = x * 6364136223846793005ul + 1;
		words[x >> 46 & 262143]++;
		if (!(i & 1023))
			mine++;
	}
}

/* for as long as it takes until its stack is found out */
static void *quarter(void *arg)
{
	work(*(long *)arg / 4);
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	pthread_attr_t a;
	pthread_t t;
	char *m;

	pthread_attr_init(&a);
	if (argc > 2 && !strcmp(argv[2], "ended")) {
		m = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (mprotect(m + 4096, SIZE - 4096, PROT_READ | PROT_WRITE))
			return 1;
		words = (void *)(m + 65536);
		pthread_attr_setstack(&a, m, SIZE);
		if (pthread_create(&t, &a, quarter, &n))
			return 1;
		pthread_join(t, NULL);
	} else {
		words = malloc(SIZE);
		if (pthread_create(&t, &a, stay, NULL))
			return 1;
	}
	work(n);
	printf("%lu\n", words[5]);
	return 0;
}
END
check "a program with memory that looks like stacks builds" "${CC:-cc}" -O2 -g -pthread -o alike alike.c
"$HOTVAR" --json --limit 0 -o sampled -- ./alike 400000000 ended > out 2>&1
check "a given stack with memory without access below, by samples: $(share stack sampled) $(share rest sampled)" \
	test "$(share stack sampled)" -le 40 -a "$(share rest sampled)" -ge 55
if unshare -pf true 2> why; then
	"$HOTVAR" --json --limit 0 -o sampled -- unshare -pf ./alike 60000000 malloc > out 2>&1
	check "memory of malloc's in a container, by samples: $(share stack sampled) $(share rest sampled)" \
		test "$(share stack sampled)" -le 2 -a "$(share rest sampled)" -ge 90
else
	skip "memory of malloc's in a container" "unshare -p is not to be had: $(cat why)"
fi
done_testing
