/* hotvar-cflags: -D_GNU_SOURCE -O1 -g -pthread -fno-inline -fcf-protection=none */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_counts.c - accesses its variables a known number of times, by thread and function, and says so:
 *
 *	NAME TID FUNCTION ACCESSES READS WRITES
 *
 * Each function accesses its variable in one way, written in assembler, so that no compiler decides how often.  What reads and
 * writes at once is one access, a read and a write.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct entry {
	char name[24];
	uint32_t hits;
	uint16_t flags;
};

long counter;
struct entry table[4];
char letter;
static void (*hook)(void);
struct {
	char first;
	long second;
} __attribute__((packed)) crooked;
char text[100];
extern char label;
__asm__(".bss\n.globl label\nlabel: .skip 4\n.text");
long neighbour;

#define READ(v)	      __asm__ volatile("mov %0, %%rax" : : "m"(v) : "rax")
#define WRITE(v, x)   __asm__ volatile("movq %1, %0" : "=m"(v) : "i"(x))

static void look(int n)
{
	while (n-- > 0)
		READ(counter);
}

static void store(int n)
{
	while (n-- > 0)
		WRITE(counter, 7);
}

static void increment(int n)
{
	while (n-- > 0)
		__asm__ volatile("lock incq %0" : "+m"(counter));
}

static void by_pointer(int n, long *p)
{
	while (n-- > 0)
		__asm__ volatile("mov (%0), %%rax; add %%rax, %%rax" : : "r"(p) : "rax", "memory");
}

/* Its address register is the one it loads. */
static void lose_register(int n, long *p)
{
	while (n-- > 0)
		__asm__ volatile("mov %0, %%rax; mov (%%rax), %%rax" : : "r"(p) : "rax", "memory");
}

static void entry_hits(int n)
{
	while (n-- > 0)
		__asm__ volatile("movl $1, %0" : "=m"(table[3].hits));
}

static void entry_flags(int n)
{
	while (n-- > 0)
		__asm__ volatile("movw $1, %0" : "=m"(table[3].flags));
}

static void one_letter(int n)
{
	while (n-- > 0)
		__asm__ volatile("cmpb $1, %0" : : "m"(letter) : "cc");
}

/* Repeated: one access for each element. */
static void fill(int n)
{
	while (n-- > 0) {
		void *to = &counter;
		long count = 1;

		__asm__ volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(5l) : "memory");
	}
}

static void copy(int n)
{
	while (n-- > 0) {
		const void *from = &counter;
		void *to = &neighbour;
		long count = 8;

		__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
	}
}

static void nothing(void)
{
}

static void call_hook(int n)
{
	while (n-- > 0)
		__asm__ volatile("sub $128, %%rsp; call *%0; add $128, %%rsp" : : "m"(hook)
				 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void wide(int n)
{
	while (n-- > 0)
		__asm__ volatile("movdqu %0, %%xmm0" : : "m"(table[3].name[16]) : "xmm0", "memory");
}

static void say(const char *name, const char *function, int accesses, int reads, int writes)
{
	printf("%s %ld %s %d %d %d\n", name, syscall(SYS_gettid), function, accesses, reads, writes);
	fflush(stdout);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
	int k = (int)(long)arg;

	look(10 + k);
	increment(20 + k);
	pthread_mutex_lock(&lock);
	say("counter", "look", 10 + k, 10 + k, 0);
	say("counter", "increment", 20 + k, 20 + k, 20 + k);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* watch_counts [THREADS [wait]]: so many, one after the other; "wait": begins when there is a byte on stdin. */
int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 3, k;
	bool wait = argc > 2;
	char c;
	pthread_t t;
	pid_t pid;

	if (wait && read(0, &c, 1) != 1)
		return 1;
	hook = nothing;
	__asm__ volatile("" : : : "memory");
	say("hook", "main", 1, 0, 1);
	look(30);
	say("counter", "look", 30, 30, 0);
	store(20);
	say("counter", "store", 20, 0, 20);
	increment(10);
	say("counter", "increment", 10, 10, 10);
	by_pointer(15, &counter);
	say("counter", "by_pointer", 15, 15, 0);
	lose_register(16, &counter);
	say("counter", "lose_register", 16, 16, 0);
	fill(4);
	say("counter", "fill", 4, 0, 4);
	copy(2);
	say("counter", "copy", 16, 16, 0);
	entry_hits(11);
	say("table[3].hits", "entry_hits", 11, 0, 11);
	wide(5);
	say("table[3].hits", "wide", 5, 5, 0);
	say("table[3].flags", "wide", 5, 5, 0);
	entry_flags(12);
	say("table[3].flags", "entry_flags", 12, 0, 12);
	one_letter(13);
	say("letter", "one_letter", 13, 13, 0);
	call_hook(9);
	say("hook", "call_hook", 9, 9, 0);
	for (k = 0; k < threads; k++)
		if (pthread_create(&t, NULL, thread, (void *)(long)k) || pthread_join(t, NULL))
			return 1;
	pid = fork();
	if (!pid) {
		store(40);
		say("counter", "store", 40, 0, 40);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &k, 0) != pid || k;
}
