// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_walker.c - the way that is foretold is the way that is gone: children are stopped anywhere, walked, and then made to
 * go on instruction by instruction.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/user/clock.h"
#include "runtime/user/decode.h"
#include "runtime/user/proc.h"
#include "runtime/user/walker.h"

enum { WALKS = 12, INSNS = 600 };

/* ---- what children do ---- */

static volatile uint64_t sink;

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sorts(void)
{
	static uint32_t v[4000];
	uint64_t s = 7;

	for (;;) {
		for (size_t i = 0; i < 4000; i++)
			v[i] = (uint32_t)next(&s);
		qsort(v, 4000, sizeof(v[0]), by_value);
		sink += v[2000];
	}
}

static void strings(void)
{
	static char text[3000], other[3000];
	uint64_t s = 9;

	for (;;) {
		size_t n = next(&s) % 900;

		for (size_t i = 0; i < n; i++)
			text[i] = (char)('a' + next(&s) % 20);
		text[n] = 0;
		strcpy(other, text);
		sink += strlen(other) + (uint64_t)strcmp(text, other) +
			(strchr(text, 'k') != NULL) +
			(strstr(text, "abc") != NULL);
		memmove(other + 3, other, n);
		sink += (uint64_t)memcmp(text, other, n) +
			strspn(text, "abcdefgh");
	}
}

static void divides(void)
{
	uint64_t s = 3;

	for (;;) {
		uint64_t a = next(&s), b = next(&s) >> (next(&s) % 63);
		int64_t c = (int64_t)next(&s);

		b += !b;
		sink += a / b + (uint64_t)(c / (int64_t)(b | 1)) +
			(uint64_t)((int32_t)c % (int32_t)((b & 0xffff) + 1)) +
			(uint8_t)a / (uint8_t)(b | 1);
		if (a % b > b / 2)
			sink ^= (a << (b & 63)) | (a >> (-b & 63));
		if (__builtin_popcountll(a) > 32 ||
		    (int)__builtin_ctzll(a | 1) > 3)
			sink += (uint64_t)__builtin_bswap64(a);
	}
}

static void floats(void)
{
	static double v[512], w[512];
	static float f[512];
	uint64_t s = 5;

	for (;;) {
		for (size_t i = 0; i < 512; i++) {
			v[i] = (double)(next(&s) % 1000) / 7;
			w[i] = v[i] > 70 ? sqrt(v[i]) : v[i] * v[i] - 3;
			f[i] = (float)w[i];
		}
		for (size_t i = 1; i < 512; i++)
			sink += v[i] < w[i - 1] ? 1
						: (uint64_t)(f[i] > f[i - 1]);
	}
}

static uint64_t leaf(uint64_t a)
{
	return a * 3 + 1;
}
static uint64_t halves(uint64_t a)
{
	return a / 2;
}
static uint64_t deep(uint64_t a);
static uint64_t (*volatile const ways[3])(uint64_t) = {leaf, halves, deep};

__attribute__((noinline)) static uint64_t deep(uint64_t a)
{
	uint64_t kept[4] = {a, a ^ 1, a ^ 2, a ^ 3};

	return a % 5 ? ways[a % 3](kept[a & 3] / 3) + 1 : kept[a & 1];
}

static void calls(void)
{
	uint64_t s = 11;

	for (;;) {
		uint64_t a = next(&s);

		switch (a % 7) {
		case 0:
			sink += ways[0](a);
			break;
		case 1:
			sink += ways[1](a);
			break;
		case 2:
			sink ^= deep(a);
			break;
		case 3:
			sink--;
			break;
		case 4:
			sink += deep(a >> 3);
			break;
		case 5:
			sink <<= 1;
			break;
		default:
			sink++;
		}
	}
}

/* Instructions that compilers use seldom. */
static void rare(void)
{
	static uint8_t bytes[256], more[256];
	uint64_t s = 13;

	for (;;) {
		uint64_t a = next(&s), n = a % 200, d, c, i, lo, hi;

		__asm__ volatile("rep stosb"
				 : "=D"(d), "=c"(c)
				 : "0"(bytes), "1"(n), "a"(a)
				 : "memory");
		__asm__ volatile("rep movsb"
				 : "=D"(d), "=S"(i), "=c"(c)
				 : "0"(more), "1"(bytes), "2"(n)
				 : "memory");
		bytes[a % 256] ^= 1;
		__asm__ volatile("repe cmpsb"
				 : "=D"(d), "=S"(i), "=c"(c)
				 : "0"(more), "1"(bytes), "2"(256ul)
				 : "cc", "memory");
		sink += c;
		__asm__ volatile("repne scasb"
				 : "=D"(d), "=c"(c)
				 : "0"(bytes), "1"(256ul), "a"(0)
				 : "cc", "memory");
		sink += c > 100 ? 1 : 2;
		__asm__ volatile("std; lodsb; cld"
				 : "=S"(i), "=a"(c)
				 : "0"(bytes + 9), "1"(a)
				 : "cc", "memory");
		sink += i & 1 ? c : 3;
		__asm__ volatile(
			"1: dec %%rax; loopne 1b; jrcxz 2f; inc %%rax; 2:"
			: "=c"(c), "=a"(d)
			: "0"(n + 1), "1"(n / 2 + 1)
			: "cc");
		__asm__ volatile("mulq %2; sbb %%rcx, %%rcx"
				 : "=a"(lo), "=d"(hi), "+r"(a), "=c"(c)
				 : "0"(a)
				 : "cc");
		__asm__ volatile(
			"xchg %%ah, %%al; setc %%cl; cmovs %%rdx, %%rax; bt $5, %%eax; adc $7, %%eax"
			: "+a"(lo), "+d"(hi), "+c"(c)
			:
			: "cc");
		__asm__ volatile(
			"push %%rsp; pop %0; lea -8(%%rsp), %%rax; sub %%rsp, %0; lock xadd %%rax, %1"
			: "=&r"(d), "+m"(sink)
			:
			: "rax", "cc", "memory");
		sink += lo ^ hi;
		if (hi & 1)
			sink++;
		__asm__ volatile(
			"rdtsc"
			: "=a"(lo),
			  "=d"(hi)); /* not known, but nothing depends on it */
	}
}

/* ---- */

static pid_t start(void (*what)(void))
{
	pid_t pid = fork();

	if (!pid) {
		what();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
	return pid;
}

static void stop_it(pid_t pid)
{
	int status;

	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static struct walk_start where(pid_t pid)
{
	struct user_regs_struct r;
	struct walk_start at = {.pid = pid,
				.mm = 1,
				.most_insns = INSNS,
				.until_ns = clock_now_ns() + 2000000000};

	assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, &r), 0);
	memcpy(at.regs,
	       (uint64_t[STREAM_REGS]){r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp,
				       r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11,
				       r.r12, r.r13, r.r14, r.r15, r.rip,
				       r.eflags},
	       sizeof(at.regs));
	at.fs_base = r.fs_base;
	return at;
}

/* One instruction of the stopped child, a repeated one whole. */
static uint64_t step(pid_t pid, uint64_t ip, bool is_rep)
{
	uint64_t now;
	int status;

	do {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		now = where(pid).regs[STREAM_RIP];
	} while (is_rep && now == ip);
	return now;
}

static void goes_that_way(pid_t pid, const struct walk_path *p)
{
	uint64_t ip = where(pid).regs[STREAM_RIP];
	uint32_t bits = 0, targets = 0;

	for (uint32_t i = 0; i < p->insns; i++) {
		uint8_t code[16] = {0};
		struct decode_insn in;
		uint64_t now;

		assert_true(proc_peek(pid, ip, code, 15));
		assert_int_equal(decode(code, 15, false, &in), 0);
		now = step(pid, ip, in.is_rep);
		if (in.flow == DECODE_COND) {
			assert_true(bits < p->n_bits);
			assert_int_equal(p->bits[bits / 8] >> bits % 8 & 1,
					 now != ip + in.len);
			bits++;
		} else if (in.flow == DECODE_RET ||
			   in.flow == DECODE_INDIRECT ||
			   in.flow == DECODE_INDIRECT_CALL) {
			assert_true(targets < p->n_targets);
			assert_int_equal(p->targets[targets], now);
			targets++;
		}
		ip = now;
	}
	assert_int_equal(bits, p->n_bits);
	assert_int_equal(targets, p->n_targets);
}

static struct walker *walker;
static struct walk_path path;

/* @whole: so many of the walks are to come to their end. */
static void check(void (*what)(void), unsigned whole)
{
	pid_t pid = start(what);
	unsigned enough = 0;
	uint64_t insns = 0;

	for (unsigned i = 0; i < WALKS; i++) {
		struct timespec t = {0, 3000000 + i * 100000};
		struct walk_start at;

		nanosleep(&t, NULL);
		stop_it(pid);
		at = where(pid);
		walker_walk(walker, &at, &path);
		enough += path.end == WALK_ENOUGH;
		insns += path.insns;
		goes_that_way(pid, &path);
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
	finish(pid);
	if (enough < whole)
		print_message(
			"%u of %u walks came to the end, %llu instructions\n",
			enough, WALKS, (unsigned long long)insns);
	assert_true(enough >= whole);
}

static void test_ways(void **state)
{
	(void)state;
	check(sorts, WALKS - 2);
	check(divides, WALKS - 2);
	check(calls, WALKS - 2);
	check(rare, WALKS - 2);
	/* Vector registers are not known at the beginning. */
	check(strings, 1);
	check(floats, 1);
}

/* ---- code by hand ---- */

static uint8_t *code, *data;

/* In this process, which stands still: @n bytes of code, RDI the data's address. */
static enum walk_end by_hand(const char *bytes, size_t n, uint32_t most)
{
	struct walk_start at = {.pid = getpid(),
				.mm = 2,
				.most_insns = most,
				.until_ns = clock_now_ns() + 2000000000};

	memset(code, 0xcc, 4096);
	memcpy(code, bytes, n);
	at.regs[STREAM_RDI] = (uint64_t)(uintptr_t)data;
	at.regs[STREAM_RSP] = (uint64_t)(uintptr_t)data + 4096;
	at.regs[STREAM_RIP] = (uint64_t)(uintptr_t)code;
	walker_walk(walker, &at, &path);
	return path.end;
}

#define HAND(bytes, most) by_hand(bytes, sizeof(bytes) - 1, most)

static void test_ends(void **state)
{
	(void)state;
	assert_int_equal(HAND("\x90\x0f\x05", 9), WALK_SYSCALL);
	assert_int_equal(path.insns, 1);
	assert_int_equal(HAND("\xf3\x90", 9), WALK_SYSCALL); /* pause */
	assert_int_equal(HAND("\xeb\xfe", 9), WALK_ENOUGH);  /* jmp . */
	assert_int_equal(path.insns, 9);
	assert_int_equal(HAND("\xcc", 9), WALK_INSTRUCTION);
	assert_int_equal(HAND("\xf4", 9), WALK_INSTRUCTION);
	assert_int_equal(HAND("\x06", 9), WALK_MEMORY); /* none */
	assert_int_equal(HAND("\x31\xc0\x8b\x00", 9),
			 WALK_MEMORY); /* mov eax, [0] */
	assert_int_equal(HAND("\x31\xc0\x89\x00", 9), WALK_MEMORY);
	assert_int_equal(HAND("\x31\xc0\xff\xe0", 9), WALK_MEMORY); /* jmp 0 */
	assert_int_equal(HAND("\x31\xc9\xf7\xf1", 9), WALK_MEMORY); /* div 0 */
	assert_int_equal(HAND("\xba\x05\0\0\0\xb9\x05\0\0\0\xf7\xf1", 9),
			 WALK_MEMORY); /* its quotient has no room */
	assert_int_equal(
		HAND("\x48\xc1\xe2\x3f\xb8\x80\0\0\0\xb1\x01\xf6\xf9", 9),
		WALK_MEMORY); /* 128 / 1, signed bytes */
	assert_int_equal(HAND("\x66\x0f\x2e\xc1\x77\x00", 9),
			 WALK_UNKNOWN); /* ucomisd; ja */
	assert_int_equal(path.insns, 1);
	assert_int_equal(HAND("\x0f\x31\x89\x04\x07", 9),
			 WALK_UNKNOWN); /* rdtsc; mov [rdi+rax], eax */
	assert_int_equal(HAND("\x0f\x31\x89\x07\x8b\x0f\xe3\x00", 9),
			 WALK_UNKNOWN); /* through memory */
	assert_int_equal(path.insns, 3);
	assert_int_equal(
		HAND("\x66\x0f\xef\xc0\x66\x0f\x2e\xc0\x76\x00\x0f\x05", 9),
		WALK_SYSCALL); /* pxor; ucomisd */
	assert_int_equal(path.n_bits, 1);
	assert_int_equal(path.bits[0], 1);
	/* The stack protector's word, without the thread pointer: mov, sub, jne */
	assert_int_equal(
		HAND("\x64\x48\x8b\x04\x25\x28\0\0\0\x64\x48\x2b\x04\x25\x28\0\0\0\x75\x00\x0f\x05",
		     9),
		WALK_SYSCALL);
	assert_int_equal(path.n_bits, 1);
	assert_int_equal(path.bits[0], 0);
}

/* What is left out by a mask stays as it was; what is known of one half is not known of the other; and what takes too long. */
static void test_parts(void **state)
{
	(void)state;
	memset(data, 7, 4096);
	memset(data + 4096, 9, 4096);
	/* mov rax, [rdi+4096]; pxor xmm0, xmm0; vmaskmovps [rdi], xmm0, xmm0; cmp dword [rdi], 0x07070707; je */
	if (__builtin_cpu_supports("avx")) {
		assert_int_equal(HAND("\x48\x8b\x87\x00\x10\0\0\x66\x0f\xef\xc0\xc4\xe2\x79\x2e\x07\x81\x3f\x07\x07\x07\x07\x74\x00\x0f\x05", 20),
				 WALK_SYSCALL);
		assert_int_equal(path.bits[0], 1);
	}
	/* movlps xmm1, [rdi]; unpckhpd or unpcklpd xmm1, xmm1; ucomisd xmm1, xmm1; jp */
	assert_int_equal(HAND("\x0f\x12\x0f\x66\x0f\x15\xc9\x66\x0f\x2e\xc9\x7a\x00", 20), WALK_UNKNOWN);
	assert_int_equal(HAND("\x0f\x12\x0f\x66\x0f\x2e\xc9\x7a\x00\x0f\x05", 20), WALK_SYSCALL);
	assert_int_equal(HAND("\xc7\xf8\0\0\0\0", 20), WALK_INSTRUCTION); /* xbegin */
	assert_int_equal(path.n_bits, 0);
	/* mov ecx, 65536; rep stosb */
	assert_int_equal(HAND("\xb9\0\0\x01\0\xf3\xaa\x0f\x05", 20), WALK_ENOUGH);
	assert_int_equal(path.insns, 1);
}

/* Loads that overwrite the register of their address are told, with what they loaded; but not at the beginning. */
static void test_loads(void **state)
{
	uint64_t self = (uint64_t)(uintptr_t)data;

	(void)state;
	memcpy(data, &self, 8);
	/* mov rdi, [rdi]; mov rax, [rdi]; jmp */
	assert_int_equal(HAND("\x48\x8b\x3f\x48\x8b\x07\xeb\xf8", 160), WALK_ENOUGH);
	assert_int_equal(path.n_loads, 20);
	for (uint32_t i = 0; i < path.n_loads; i++) {
		assert_int_equal(path.loads[i].ip, (uintptr_t)code);
		assert_int_equal(path.loads[i].addr, self);
	}
}

/* What stood there before is not done again. */
static void test_new_code(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		/* xor eax, eax; a nop or inc eax; test eax, eax; je; syscall */
		assert_int_equal(i % 2 ? HAND("\x31\xc0\x66\x90\x85\xc0\x74\x00\x0f\x05", 20) :
					 HAND("\x31\xc0\xff\xc0\x85\xc0\x74\x00\x0f\x05", 20),
				 WALK_SYSCALL);
		assert_int_equal(path.insns, 4);
		assert_int_equal(path.n_bits, 1);
		assert_int_equal(path.bits[0], i % 2);
	}
}

/* What is written is written to a copy. */
static void test_copies(void **state)
{
	(void)state;
	memset(data, 7, 8192);
	/* mov [rdi], esp; inc byte [rdi+4090]; cmp byte [rdi+4090], 8; sete; mov [rdi+4094], rsp; cmp [rdi+4094], rsp; je */
	assert_int_equal(
		HAND("\x89\x27\xfe\x87\xfa\x0f\0\0\x80\xbf\xfa\x0f\0\0\x08\x74\x00\x48\x89\xa7\xfe\x0f\0\0\x48\x39\xa7\xfe\x0f\0\0\x74\x00\x0f\x05",
		     20),
		WALK_SYSCALL);
	assert_int_equal(path.n_bits, 2);
	assert_int_equal(path.bits[0], 3);
	for (int i = 0; i < 8192; i++)
		assert_int_equal(data[i], 7);
}

static int set_up(void **state)
{
	(void)state;
	walker = walker_new();
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	data = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return !walker || code == MAP_FAILED || data == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_new_code),
		cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
