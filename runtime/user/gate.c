// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gate.c - the filter, in BPF:
 *
 *	arch == x86-64 ? nr & x32 bit ? X32 : X86_64 : arch == i386 ? I386 : allow
 *	X86_64:  nr == n1 ? trace : nr == n2 ? trace : ... : allow
 *	X32:     ...
 *	I386:    ...
 *
 * The kernel recognises a constant ALLOW by running the filter with the number
 * and the architecture alone: nothing else may be loaded here.  Lists, no
 * tree: only gated calls ever walk them.
 */
#include "config.h"

#include "gate.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW /* Linux 4.17 */
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1UL << 2)
#endif

#define X32_BIT	 0x40000000u /* __X32_SYSCALL_BIT */
#define LIST_MAX 64

/* sched_setaffinity and sched_getaffinity: arch/x86/entry/syscalls/syscall_{64,32}.tbl */
static const uint32_t affinity_64[] = { 203, 204 }, affinity_32[] = { 241, 242 };

bool gate_is_affinity(enum hvar_abi abi, uint64_t nr)
{
	const uint32_t *n = abi == HVAR_ABI_I386 ? affinity_32 : affinity_64;

	if (abi == HVAR_ABI_X32)
		nr &= ~(uint64_t)X32_BIT;
	return nr == n[0] || nr == n[1];
}

struct gate {
	struct sock_filter code[3 * (2 * LIST_MAX + 1) + 9];
	unsigned short n;
};

static void put(struct gate *g, unsigned short code, unsigned k, unsigned jt,
		unsigned jf)
{
	g->code[g->n++] = (struct sock_filter){ code, (unsigned char)jt,
						(unsigned char)jf, k };
}

static void put_list(struct gate *g, const uint32_t *nr, uint32_t n, uint32_t bit)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		put(g, BPF_JMP | BPF_JEQ | BPF_K, nr[i] | bit, 0, 1);
		put(g, BPF_RET | BPF_K, SECCOMP_RET_TRACE | GATE_MARK, 0, 0);
	}
	put(g, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static uint32_t list_of(enum hvar_abi abi, uint32_t nr[LIST_MAX])
{
	uint32_t n = hvar_call_numbers(abi, nr, LIST_MAX - 2);

	memcpy(nr + n, abi == HVAR_ABI_I386 ? affinity_32 : affinity_64,
	       sizeof(affinity_64));
	return n + 2;
}

struct gate *gate_new(void)
{
	uint32_t x64[LIST_MAX], x32[LIST_MAX], x86[LIST_MAX];
	uint32_t n64 = list_of(HVAR_ABI_X86_64, x64);
	uint32_t n32 = list_of(HVAR_ABI_X32, x32);
	uint32_t n86 = list_of(HVAR_ABI_I386, x86);
	struct gate *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	put(g, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	put(g, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 2, 0);
	put(g, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_I386, 0, 3);
	put(g, BPF_JMP | BPF_JA, 4 + (2 * n64 + 1) + (2 * n32 + 1), 0, 0);
	put(g, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	put(g, BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 1, 2);
	put(g, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	put(g, BPF_JMP | BPF_JA, 2 * n64 + 1, 0, 0);
	put_list(g, x64, n64, 0);
	put_list(g, x32, n32, X32_BIT);
	put(g, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	put_list(g, x86, n86, 0);
	return g;
}

void gate_free(struct gate *g)
{
	free(g);
}

int gate_install(const struct gate *g)
{
	struct sock_fprog p = { g->n, (struct sock_filter *)g->code };

	/* With CAP_SYS_ADMIN this does without no_new_privs, which the program could notice. */
	if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     SECCOMP_FILTER_FLAG_SPEC_ALLOW, &p))
		return 0;
	if (errno != EACCES)
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     SECCOMP_FILTER_FLAG_SPEC_ALLOW, &p))
		return 0;
	return -errno;
}
