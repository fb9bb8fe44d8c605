// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O1 -g -fno-pie -no-pie -mavx2 -mcx16 */
/*
 * access_kinds - every kind of access that an instruction can make, to static variables.
 *
 * Linked to fixed addresses, so that a trace can be read with nm.  Variables of one
 * byte lie side by side, some accesses begin in the middle of a variable, some end in the
 * next one.  Prints one line; what needs AVX2 is left out where the machine has none.
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORK __attribute__((noinline))

volatile uint8_t bytes_a, bytes_b, bytes_c;
volatile uint16_t half_a, half_b;
volatile uint32_t word_a, word_b;
volatile uint64_t quad_a, quad_b;
static struct {
	uint8_t pad;
	uint32_t odd; /* at an odd address */
	uint64_t odder;
} __attribute__((packed)) packed;
unsigned char source[256] __attribute__((aligned(64))), target[256] __attribute__((aligned(64)));
long double extended;
double real;
unsigned __int128 pair __attribute__((aligned(16)));
unsigned char fx[512] __attribute__((aligned(16)));
int masked[8] __attribute__((aligned(32)));
uint64_t unread[2] __attribute__((aligned(16))) = { 1, 2 };

WORK static void sizes(int n)
{
	for (int i = 0; i < n; i++) {
		bytes_a++;
		bytes_b = bytes_a;
		bytes_c += bytes_b;
		half_a++;
		half_b += half_a;
		word_a++;
		word_b ^= word_a;
		quad_a++;
		quad_b -= quad_a;
		*(volatile uint32_t *)&packed.odd += 1;
		*(volatile uint64_t *)&packed.odder += 1;
		*((volatile uint8_t *)&quad_a + 3) += 1; /* in the middle */
	}
}

WORK static void atomics(int n)
{
	unsigned __int128 was = 0;

	for (int i = 0; i < n; i++) {
		__atomic_fetch_add((uint64_t *)&quad_a, 1, __ATOMIC_SEQ_CST);
		__atomic_fetch_or((uint32_t *)&word_a, 1, __ATOMIC_SEQ_CST);
		__atomic_exchange_n((uint16_t *)&half_a, 3, __ATOMIC_SEQ_CST);
		__sync_bool_compare_and_swap((uint8_t *)&bytes_a, 1, 2);
		__asm__ volatile("lock cmpxchg16b %0" : "+m"(pair), "+A"(was) : "b"(1ul), "c"(2ul) : "cc");
	}
}

WORK static void strings(int n)
{
	for (int i = 0; i < n; i++) {
		unsigned char *from = source, *to = target;
		size_t len = 37;
		long word = 'x';

		__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(len) : : "memory");
		len = 8;
		to = target;
		__asm__ volatile("rep stosq" : "+D"(to), "+c"(len) : "a"(word) : "memory");
		len = 20;
		from = source;
		to = target;
		__asm__ volatile("repe cmpsb" : "+S"(from), "+D"(to), "+c"(len) : : "memory", "cc");
		len = 30;
		to = source;
		__asm__ volatile("repne scasb" : "+D"(to), "+c"(len) : "a"(77) : "memory", "cc");
	}
}

WORK static void floats(int n)
{
	for (int i = 0; i < n; i++) {
		real = real * 0.5 + i;
		extended += real;
		__asm__ volatile("fxsave64 %0; fxrstor64 %0" : "+m"(fx));
	}
}

WORK __attribute__((target("avx2"))) static void vectors(int n)
{
	__m256i some = _mm256_setr_epi32(-1, 0, -1, 0, 0, 0, 0, -1);

	for (int i = 0; i < n; i++) {
		__m256i v = _mm256_loadu_si256((const __m256i *)(source + 3)); /* not aligned */

		_mm256_storeu_si256((__m256i *)(target + 33), v);
		_mm256_maskstore_epi32(masked, some, _mm256_maskload_epi32(masked, some));
		v = _mm256_i32gather_epi32(masked, _mm256_setr_epi32(0, 1, 2, 3, 7, 6, 5, 4), 4);
		_mm256_store_si256((__m256i *)target, v);
	}
}

/* Loads whose value, or flags, are gone before anybody looks: seven in each round. */
WORK static void unused(int n)
{
	for (int i = 0; i < n; i++) {
		(void)*(volatile uint64_t *)unread;
		__asm__ volatile("mov %0, %%rax; mov %0, %%eax; xor %%eax, %%eax\n"
				 "cmpb $3, %0; cmpq %%rax, %0; test %%eax, %%eax\n"
				 "movaps %0, %%xmm7; cvtsi2sdq %0, %%xmm7; pxor %%xmm7, %%xmm7"
				 : : "m"(unread) : "rax", "xmm7", "cc");
	}
}

/* Memory at one address that is one thing after the other. */
WORK static int maps(int n)
{
	volatile char *p;
	int i;

	for (i = 0; i < n; i++) {
		p = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return -1;
		p[0] = p[4096] = p[7 * 4096 + 5] = 1;
		if (mmap((void *)(p + 4096), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return -1;
		p[4096]++;
		p = mremap((void *)p, 8 * 4096, 64 * 4096, MREMAP_MAYMOVE);
		if (p == MAP_FAILED)
			return -1;
		p[60 * 4096] = p[0];
		if (munmap((void *)p, 64 * 4096))
			return -1;
	}
	p = sbrk(3 * 4096);
	for (i = 0; i < 3 * 4096; i++)
		p[i] = 1;
	return sbrk(-3 * 4096) == (void *)-1 ? -1 : 0;
}

int main(void)
{
	sizes(100);
	atomics(100);
	strings(10);
	floats(50);
	unused(100);
	if (__builtin_cpu_supports("avx2"))
		vectors(40);
	printf("%d\n", maps(5));
	return 0;
}
