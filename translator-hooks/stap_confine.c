// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_confine.c - a user of no rights but to read, limits, and a filter of system calls: see stap_confine.h.
 *
 * The filter forbids by list: what is new in a kernel is bounded by the user and the limits alone.
 */
#include "config.h"

#include "stap_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534, CPU_SEC = 300 };
#define MEMORY ((rlim_t)16 << 30)
#define X32    0x40000000u
#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

static const unsigned short forbidden[] = {
	/* programs and processes */
	SYS_execve, SYS_execveat, SYS_fork, SYS_vfork, SYS_clone,
	/* other processes */
	SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_ptrace, SYS_process_vm_readv,
	SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_send_signal, SYS_setpriority, SYS_prlimit64,
	/* the network, and what else is shared */
	SYS_socket, SYS_socketpair, SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open, SYS_add_key, SYS_request_key, SYS_keyctl,
	/* files */
	SYS_creat, SYS_mkdir, SYS_mkdirat, SYS_mknod, SYS_mknodat, SYS_symlink, SYS_symlinkat, SYS_link, SYS_linkat, SYS_rename,
	SYS_renameat, SYS_renameat2, SYS_unlink, SYS_unlinkat, SYS_rmdir, SYS_chmod, SYS_fchmod, SYS_fchmodat, SYS_chown,
	SYS_lchown, SYS_fchown, SYS_fchownat, SYS_truncate, SYS_utime, SYS_utimes, SYS_utimensat, SYS_futimesat, SYS_setxattr,
	SYS_lsetxattr, SYS_fsetxattr, SYS_flock, SYS_ioctl,
	/* the kernel */
	SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_setup, SYS_unshare, SYS_setns, SYS_inotify_init, SYS_inotify_init1,
};
/* Newer than some: their like for what is forbidden above.  The C library then does without. */
static const unsigned short unknown[] = { 424 /* pidfd_send_signal */, 425 /* io_uring_setup */, 434 /* pidfd_open */,
					  435 /* clone3 */, 437 /* openat2 */, 438 /* pidfd_getfd */, 452 /* fchmodat2 */ };
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define DATA(field) ((uint32_t)offsetof(struct seccomp_data, field))
#define ANSWER(error) (SECCOMP_RET_ERRNO | (error))

static int filter(void)
{
	struct sock_filter f[16 + 2 * (COUNT(forbidden) + COUNT(unknown))];
	struct sock_fprog prog = { .filter = f };
	unsigned short n = 0;

#define DO(code, k)		f[n++] = (struct sock_filter){ code, 0, 0, k }
#define JUMP(code, k, yes, no)	f[n++] = (struct sock_filter){ BPF_JMP | (code) | BPF_K, yes, no, k }
	DO(BPF_LD | BPF_W | BPF_ABS, DATA(arch));
	JUMP(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0);
	DO(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	DO(BPF_LD | BPF_W | BPF_ABS, DATA(nr));
	JUMP(BPF_JGE, X32, 0, 1);
	DO(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < COUNT(forbidden); i++) {
		JUMP(BPF_JEQ, forbidden[i], 0, 1);
		DO(BPF_RET | BPF_K, ANSWER(EPERM));
	}
	for (size_t i = 0; i < COUNT(unknown); i++) {
		JUMP(BPF_JEQ, unknown[i], 0, 1);
		DO(BPF_RET | BPF_K, ANSWER(ENOSYS));
	}
	/* To open is to read. */
	JUMP(BPF_JEQ, SYS_open, 2, 0);
	JUMP(BPF_JEQ, SYS_openat, 3, 0);
	DO(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	DO(BPF_LD | BPF_W | BPF_ABS, DATA(args[1]));
	JUMP(BPF_JA, 1, 0, 0);
	DO(BPF_LD | BPF_W | BPF_ABS, DATA(args[2]));
	JUMP(BPF_JSET, WRITES, 1, 0);
	DO(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	DO(BPF_RET | BPF_K, ANSWER(EACCES));
#undef DO
#undef JUMP
	prog.len = n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int limits(void)
{
	const struct rlimit none = { 0, 0 }, cpu = { CPU_SEC, CPU_SEC }, memory = { MEMORY, MEMORY };

	return setrlimit(RLIMIT_FSIZE, &none) || setrlimit(RLIMIT_NPROC, &none) || setrlimit(RLIMIT_CORE, &none) ||
	       setrlimit(RLIMIT_CPU, &cpu) || setrlimit(RLIMIT_AS, &memory);
}

/* Another user, with one capability. */
static int become_nobody(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	data[0].permitted = data[0].effective = 1u << CAP_DAC_READ_SEARCH;
	return prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	       setresuid(NOBODY, NOBODY, NOBODY) || syscall(SYS_capset, &head, data) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* No descriptors but /dev/null, three times, and these two, of other numbers. */
static int close_all(int *fd, int *out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	unsigned lo, hi;

	*fd = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
	*out = fcntl(*out, F_DUPFD_CLOEXEC, 3);
	if (null < 0 || *fd < 0 || *out < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			return -1;
	lo = (unsigned)(*fd < *out ? *fd : *out);
	hi = (unsigned)(*fd < *out ? *out : *fd);
	return (lo > 3 && syscall(SYS_close_range, 3u, lo - 1, 0)) ||
	       (hi > lo + 1 && syscall(SYS_close_range, lo + 1, hi - 1, 0)) || syscall(SYS_close_range, hi + 1, ~0u, 0);
}

int stap_confine(int *fd, int *out, int parent, struct err *e)
{
	setsid(); /* fails in a leader, which has no terminal then */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* a change of user takes the parent's death away */
	if (close_all(fd, out) || limits() || become_nobody() || prctl(PR_SET_PDEATHSIG, SIGKILL) || filter())
		return err_set(e, errno, "no symbol images: the process that reads programs cannot give up root's rights here: %s: run it where it can (it needs Linux 5.9 with seccomp, and user %d)",
			       strerror(errno), NOBODY);
	if (getppid() != parent)
		_exit(0);
	return 0;
}
