// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gate.c - the filter, by libseccomp.
 *
 * The kernel recognises a constant ALLOW by running the filter with the number
 * and the architecture alone, so no rule here looks at an argument, but for prctl and arch_prctl, which
 * few programs call often.  The filter
 * is made before the fork; between fork and exec only system calls are made.
 */
#include "config.h"

#include "gate.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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
	struct sock_filter *code;
	unsigned short n;
};

static const struct {
	enum hvar_abi abi;
	uint32_t arch;
} abis[] = {
	{ HVAR_ABI_X86_64, SCMP_ARCH_X86_64 },
	{ HVAR_ABI_X32, SCMP_ARCH_X32 },
	{ HVAR_ABI_I386, SCMP_ARCH_X86 },
};

/*
 * Stop at call @nr of @arch, if @some only where the low half of its first argument is
 * some->first.  libseccomp wants the native call of the same name
 * (or a stand-in, where there is none) and gates it under every ABI that has it.
 */
static int add_call(scmp_filter_ctx ctx, uint32_t arch, uint32_t nr, const struct hvar_call_some *some)
{
	char *name = seccomp_syscall_resolve_num_arch(arch, (int)nr);
	int native, err;

	if (!name)
		return -ENOENT;
	native = seccomp_syscall_resolve_name(name);
	free(name);
	if (native == __NR_SCMP_ERROR)
		return -ENOENT;
	if (some)
		err = seccomp_rule_add(ctx, SCMP_ACT_TRACE(GATE_MARK), native, 1,
				       SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, some->first));
	else
		err = seccomp_rule_add(ctx, SCMP_ACT_TRACE(GATE_MARK), native, 0);
	return err == -EEXIST ? 0 : err;
}

static int add_abi(scmp_filter_ctx ctx, enum hvar_abi abi, uint32_t arch)
{
	const uint32_t *affinity = abi == HVAR_ABI_I386 ? affinity_32 : affinity_64;
	uint32_t bit = abi == HVAR_ABI_X32 ? X32_BIT : 0, nr[LIST_MAX], i;
	uint32_t n = hvar_call_numbers(abi, nr, LIST_MAX);
	struct hvar_call_some some[LIST_MAX];
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = add_call(ctx, arch, nr[i] | bit, NULL);
	for (i = 0; i < 2 && !err; i++)
		err = add_call(ctx, arch, affinity[i] | bit, NULL);
	n = hvar_call_some(abi, some, LIST_MAX);
	for (i = 0; i < n && !err; i++)
		err = add_call(ctx, arch, some[i].nr, &some[i]);
	return err;
}

static int build(scmp_filter_ctx ctx)
{
	size_t i;
	int err = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);

	for (i = 0; i < sizeof(abis) / sizeof(abis[0]) && !err; i++) {
		err = seccomp_arch_add(ctx, abis[i].arch);
		if (err == -EEXIST)
			err = 0;
	}
	for (i = 0; i < sizeof(abis) / sizeof(abis[0]) && !err; i++)
		err = add_abi(ctx, abis[i].abi, abis[i].arch);
	return err;
}

/* libseccomp hands its program to a file only. */
static int export(scmp_filter_ctx ctx, struct gate *g)
{
	int fd = memfd_create("gate", MFD_CLOEXEC), err = -EIO;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!seccomp_export_bpf(ctx, fd) && !fstat(fd, &st) && st.st_size > 0 &&
	    st.st_size <= (off_t)(BPF_MAXINSNS * sizeof(*g->code))) {
		g->code = malloc((size_t)st.st_size);
		g->n = (unsigned short)((size_t)st.st_size / sizeof(*g->code));
		if (g->code && pread(fd, g->code, (size_t)st.st_size, 0) == st.st_size)
			err = 0;
	}
	close(fd);
	return err;
}

struct gate *gate_new(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	struct gate *g = calloc(1, sizeof(*g));

	int err = ctx && g ? build(ctx) : -ENOMEM;

	if (!err)
		err = export(ctx, g);
	if (err) {
		gate_free(g);
		g = NULL;
	}
	if (ctx)
		seccomp_release(ctx);
	errno = -err;
	return g;
}

void gate_free(struct gate *g)
{
	if (g)
		free(g->code);
	free(g);
}

int gate_install(const struct gate *g)
{
	struct sock_fprog p = { g->n, g->code };

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
