// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "stops.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"
#include "target.h"

/* Looking may take this part of the time between two ticks. */
#define LOOK_PART 10

void stops_init(struct stops *s, unsigned hz)
{
	*s = (struct stops){ .hz = hz < STOPS_MAX_HZ ? hz : STOPS_MAX_HZ };
}

/*
 * CPU time of @tid in ns, 0 if it is gone: the first number of its schedstat
 * ("12345678 9876 42"), or, in a kernel without, in ticks.
 */
static uint64_t run_ns_of(pid_t tid)
{
	struct proc_stat st;
	char buf[64];

	if (proc_read(tid, "schedstat", buf, sizeof(buf)) > 0)
		return strtoull(buf, NULL, 10);
	proc_stat(tid, &st);
	return st.used_ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

void stops_begin(struct tracee *t)
{
	t->run_ns = run_ns_of(t->tid);
}

void stops_ask(struct stops *s, struct tracees *tasks)
{
	uint64_t begin = clock_now_ns(), took, period = 1000000000 / s->hz;
	struct tracee *t;
	size_t i = 0;

	if (s->skip) {
		s->skip--;
		s->skipped++;
		return;
	}
	while ((t = tracees_next(tasks, &i))) {
		if (!t->started || t->parked || t->listening || t->exiting || t->asked)
			continue;
		if (target_state(t->tid) != 'R')
			continue;
		t->asked = !ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	}
	took = clock_now_ns() - begin;
	s->skip = (unsigned)(took * LOOK_PART / period);
}

static void regs_64(const struct user_regs_struct *r, struct stream_sample *out)
{
	out->regs[STREAM_RAX] = r->rax;
	out->regs[STREAM_RCX] = r->rcx;
	out->regs[STREAM_RDX] = r->rdx;
	out->regs[STREAM_RBX] = r->rbx;
	out->regs[STREAM_RSP] = r->rsp;
	out->regs[STREAM_RBP] = r->rbp;
	out->regs[STREAM_RSI] = r->rsi;
	out->regs[STREAM_RDI] = r->rdi;
	out->regs[STREAM_R8] = r->r8;
	out->regs[STREAM_R9] = r->r9;
	out->regs[STREAM_R10] = r->r10;
	out->regs[STREAM_R11] = r->r11;
	out->regs[STREAM_R12] = r->r12;
	out->regs[STREAM_R13] = r->r13;
	out->regs[STREAM_R14] = r->r14;
	out->regs[STREAM_R15] = r->r15;
	out->regs[STREAM_RIP] = r->rip;
	out->regs[STREAM_RFLAGS] = r->eflags;
	out->fs_base = r->fs_base;
	out->gs_base = r->gs_base;
}

/* The kernel's struct user_regs_struct32: what a 32-bit task's registers come as. */
enum { I386_BX, I386_CX, I386_DX, I386_SI, I386_DI, I386_BP, I386_AX,
       I386_IP = 12, I386_FLAGS = 14, I386_SP = 15, I386_REGS = 17 };

static void regs_32(const uint32_t *r, struct stream_sample *out)
{
	out->regs[STREAM_RAX] = r[I386_AX];
	out->regs[STREAM_RCX] = r[I386_CX];
	out->regs[STREAM_RDX] = r[I386_DX];
	out->regs[STREAM_RBX] = r[I386_BX];
	out->regs[STREAM_RSP] = r[I386_SP];
	out->regs[STREAM_RBP] = r[I386_BP];
	out->regs[STREAM_RSI] = r[I386_SI];
	out->regs[STREAM_RDI] = r[I386_DI];
	out->regs[STREAM_RIP] = r[I386_IP];
	out->regs[STREAM_RFLAGS] = r[I386_FLAGS];
	out->ev.u.sample.flags |= HVAR_SAMPLE_ABI32;
}

bool stops_read(struct tracee *t, struct stream_sample *out)
{
	union {
		struct user_regs_struct wide;
		uint32_t narrow[I386_REGS];
	} regs;
	struct iovec iov = { &regs, sizeof(regs) };
	uint64_t run = run_ns_of(t->tid), before = t->run_ns;

	memset(out, 0, sizeof(*out));
	if (!run || run <= before || ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &iov))
		return false;
	t->run_ns = run;
	out->ev.type = HVAR_EVENT_SAMPLE;
	out->ev.u.sample.period_ns = run - before;
	if (iov.iov_len == sizeof(regs.narrow))
		regs_32(regs.narrow, out);
	else
		regs_64(&regs.wide, out);
	out->ev.u.sample.ip = out->regs[STREAM_RIP];
	return true;
}
