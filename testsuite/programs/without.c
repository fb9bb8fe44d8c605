// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * without perf|ptrace|both|bpf ERRNO CMD [ARG...] - runs CMD where those system calls fail.
 *
 * As a container's seccomp filter refuses them: perf_event_open, or ptrace, or bpf.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers no system call has stand for what is not refused. */
static int refuse(unsigned p, unsigned t, unsigned code)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, p, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, t, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(f) / sizeof(f[0]), f };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

int main(int argc, char **argv)
{
	int both = argc > 3 && !strcmp(argv[1], "both");
	int perf = both || (argc > 3 && !strcmp(argv[1], "perf"));
	int ptrace = both || (argc > 3 && !strcmp(argv[1], "ptrace"));

	int bpf = argc > 3 && !strcmp(argv[1], "bpf");

	if (!perf && !ptrace && !bpf)
		return 2;
	if (refuse(perf ? SYS_perf_event_open : bpf ? SYS_bpf : 0xffffffff, ptrace ? SYS_ptrace : 0xffffffff, strcmp(argv[2], "EACCES") ? EPERM : EACCES)) {
		perror("without: seccomp");
		return 77;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
