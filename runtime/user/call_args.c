// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "call_args.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#define X32_BIT 0x40000000u

int call_stop_read(struct call_stop *s, pid_t tid)
{
	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(*s), s) > 0)
		return 0;
	s->op = CALL_STOP_NONE;
	return -errno;
}

static bool read_memory(pid_t tid, uint64_t at, void *buf, size_t n)
{
	struct iovec to = { buf, n }, from = { (void *)(uintptr_t)at, n };

	return process_vm_readv(tid, &to, 1, &from, 1, 0) == (ssize_t)n;
}

static bool write_memory(pid_t tid, uint64_t at, const void *buf, size_t n)
{
	struct iovec from = { (void *)(uintptr_t)buf, n },
		     to = { (void *)(uintptr_t)at, n };

	return process_vm_writev(tid, &from, 1, &to, 1, 0) == (ssize_t)n;
}

static uint64_t flags_of(const struct call_args *c, pid_t tid)
{
	uint64_t flags = 0;

	switch (c->cause) {
	case HVAR_CAUSE_VFORK:
		return CLONE_VM | CLONE_VFORK;
	case HVAR_CAUSE_CLONE:
		return c->regs[0] & 0xffffffff;
	case HVAR_CAUSE_CLONE3: /* struct clone_args begins with its flags */
		if (read_memory(tid, c->regs[0], &flags, sizeof(flags)))
			return flags;
		return 0;
	default:
		return 0;
	}
}

void call_args_read(struct call_args *c, pid_t tid, uint32_t arch, uint64_t nr,
		    const uint64_t regs[6])
{
	c->abi = arch == AUDIT_ARCH_I386 ? HVAR_ABI_I386 :
		 nr & X32_BIT		 ? HVAR_ABI_X32 : HVAR_ABI_X86_64;
	c->cause = hvar_call_cause(c->abi, nr);
	if (c->cause == HVAR_CAUSE_NONE)
		return;
	c->nr = nr;
	memcpy(c->regs, regs, sizeof(c->regs));
	c->untraced = false;
	if (call_args_clones(c))
		c->flags = flags_of(c, tid);
}

/* All registers of a stopped task: wide, or those of a 32-bit one (struct user_regs_struct32). */
struct regs {
	union {
		struct user_regs_struct wide;
		uint32_t narrow[17]; /* ebx ecx edx esi edi ebp eax ... orig_eax */
	} u;
	struct iovec iov;
	bool is_wide;
};
enum { NARROW_AX = 6, NARROW_ORIG_AX = 11 };

static int get_regs(struct regs *r, pid_t tid)
{
	r->iov = (struct iovec){ &r->u, sizeof(r->u) };
	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &r->iov))
		return -errno;
	r->is_wide = r->iov.iov_len == sizeof(r->u.wide);
	return 0;
}

static int set_regs(struct regs *r, pid_t tid)
{
	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &r->iov) ? -errno : 0;
}

void call_args_late(struct call_args *c, pid_t tid, uint32_t arch)
{
	const struct user_regs_struct *w;
	const uint32_t *n;
	struct regs r;

	c->cause = HVAR_CAUSE_NONE;
	if (get_regs(&r, tid))
		return;
	w = &r.u.wide;
	n = r.u.narrow;
	if (!r.is_wide)
		call_args_read(c, tid, arch, n[NARROW_ORIG_AX],
			       (uint64_t[]){ n[0], n[1], n[2], n[3], n[4], n[5] });
	else if (arch == AUDIT_ARCH_I386) /* int 0x80 in a 64-bit program */
		call_args_read(c, tid, arch, (uint32_t)w->orig_rax,
			       (uint64_t[]){ (uint32_t)w->rbx, (uint32_t)w->rcx,
					     (uint32_t)w->rdx, (uint32_t)w->rsi,
					     (uint32_t)w->rdi, (uint32_t)w->rbp });
	else
		call_args_read(c, tid, arch, w->orig_rax,
			       (uint64_t[]){ w->rdi, w->rsi, w->rdx, w->r10, w->r8,
					     w->r9 });
}

int call_args_refuse(pid_t tid)
{
	struct regs r;
	int err = get_regs(&r, tid);

	if (err)
		return err;
	if (r.is_wide) {
		r.u.wide.orig_rax = (unsigned long long)-1;
		r.u.wide.rax = (unsigned long long)-ENOSYS;
	} else {
		r.u.narrow[NARROW_ORIG_AX] = (uint32_t)-1;
		r.u.narrow[NARROW_AX] = (uint32_t)-ENOSYS;
	}
	return set_regs(&r, tid);
}

void call_args_return(struct call_args *c, pid_t tid, int64_t rval)
{
	uint64_t at = hvar_call_words(c->abi, c->nr, c->regs);
	uint32_t words[HVAR_CALL_WORDS], n = 0;

	/* As many as can be: an ipc() result may be the last word before an unmapped page. */
	if (at && read_memory(tid, at, words, sizeof(words)))
		n = HVAR_CALL_WORDS;
	else if (at && read_memory(tid, at, words, sizeof(words[0])))
		n = 1;
	hvar_call_fill(&c->call, c->abi, c->nr, c->regs, rval, words, n);
	c->cause = HVAR_CAUSE_NONE;
}

/* Give the clone under way other flags. */
static int set_flags(const struct call_args *c, pid_t tid, uint64_t flags)
{
	struct regs r;
	int err;

	if (c->cause == HVAR_CAUSE_CLONE3)
		return write_memory(tid, c->regs[0], &flags, sizeof(flags)) ?
		       0 : -errno;
	err = get_regs(&r, tid);
	if (err)
		return err;
	if (!r.is_wide)
		r.u.narrow[0] = (uint32_t)flags;
	else if (c->abi == HVAR_ABI_I386)
		r.u.wide.rbx = flags;
	else
		r.u.wide.rdi = flags;
	return set_regs(&r, tid);
}

int call_args_follow(struct call_args *c, pid_t tid)
{
	int err;

	if (!(c->flags & CLONE_UNTRACED))
		return 0;
	err = set_flags(c, tid, c->flags & ~(uint64_t)CLONE_UNTRACED);
	c->untraced = !err;
	return err;
}

void call_args_restore(struct call_args *c, pid_t tid)
{
	if (c->untraced)
		set_flags(c, tid, c->cause == HVAR_CAUSE_CLONE ? c->regs[0] : c->flags);
	c->untraced = false;
}
