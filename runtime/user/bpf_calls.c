// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpf_calls.c - the two programs, written as the kernel takes them.
 *
 *	lock(mm, write, success)  if (!write || !success) return;
 *	                          nr = task_pt_regs(current)->orig_ax; if (nr is told otherwise) return;
 *	                          output(ring of this CPU, { LOCK, nr, mm });
 *	place(addr, info)         nr = ...; if (nr is no mremap) return; output(..., { PLACE, nr, addr });
 *
 * A page fault has its error code (below 64) where a call has its number.  A stack that
 * grows by one is told by perf, so such small numbers are passed over where no call that matters has them.
 */
#include "config.h"

#include "bpf_calls.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/hvar_call.h"

#define X32_BIT	   0x40000000u /* __X32_SYSCALL_BIT */
#define REGS_NR	   120	       /* orig_ax in struct pt_regs of x86-64: arch/x86/include/asm/ptrace.h */
#define MAX_INSNS  256
#define MAX_SKIPS  64
#define OUT_BYTES  24
#define FAULT_BITS 64

struct code {
	struct bpf_insn v[MAX_INSNS];
	uint32_t n;
	uint32_t skip[MAX_SKIPS]; /* jumps to the end */
	uint32_t nskips;
};

struct bpf_calls {
	int map, prog[2], link[2];
};

static const char *const points[2] = { "mmap_lock_acquire_returned", "vm_unmapped_area" };

/* ---- writing a program ---- */

static void put(struct code *c, uint8_t op, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	if (c->n < MAX_INSNS)
		c->v[c->n++] = (struct bpf_insn){ .code = op, .dst_reg = dst & 0xf, .src_reg = src & 0xf,
						  .off = off, .imm = imm };
}

static void move(struct code *c, uint8_t dst, uint8_t src)
{
	put(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void load(struct code *c, uint8_t dst, uint8_t src, int16_t off)
{
	put(c, BPF_LDX | BPF_MEM | BPF_DW, dst, src, off, 0);
}

static void call(struct code *c, int32_t helper)
{
	put(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* To the end if @reg is @value. */
static void skip_if(struct code *c, uint8_t reg, uint32_t value)
{
	if (c->nskips < MAX_SKIPS)
		c->skip[c->nskips++] = c->n;
	put(c, BPF_JMP | BPF_JEQ | BPF_K, reg, 0, 0, (int32_t)value);
}

/* r6: what the program was called with; r7: the number of the call that the task is in. */
static void begin(struct code *c)
{
	call(c, BPF_FUNC_get_current_task_btf);
	move(c, BPF_REG_1, BPF_REG_0);
	call(c, BPF_FUNC_task_pt_regs);
	load(c, BPF_REG_7, BPF_REG_0, REGS_NR);
}

/* { @what, r7, argument @arg } into the ring of this CPU; and the end. */
static void output(struct code *c, int map, enum bpf_calls_what what, int16_t arg)
{
	load(c, BPF_REG_8, BPF_REG_6, (int16_t)(arg * 8));
	put(c, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -OUT_BYTES, (int32_t)what);
	put(c, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_7, -OUT_BYTES + 8, 0);
	put(c, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_8, -OUT_BYTES + 16, 0);
	move(c, BPF_REG_1, BPF_REG_6);
	put(c, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_2, BPF_PSEUDO_MAP_FD, 0, map);
	put(c, 0, 0, 0, 0, 0);
	put(c, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1); /* BPF_F_CURRENT_CPU: 32 bits of ones */
	move(c, BPF_REG_4, BPF_REG_10);
	put(c, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, -OUT_BYTES);
	put(c, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_5, 0, 0, OUT_BYTES);
	call(c, BPF_FUNC_perf_event_output);
	for (uint32_t i = 0; i < c->nskips; i++)
		c->v[c->skip[i]].off = (int16_t)(c->n - c->skip[i] - 1);
	put(c, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Is it told otherwise, or no change of a map: by perf as a mapping that is there, as an exec, as an exit? */
static bool told_otherwise(uint32_t cause)
{
	switch (cause) {
	case HVAR_CAUSE_MMAP:
	case HVAR_CAUSE_MPROTECT:
	case HVAR_CAUSE_PKEY_MPROTECT:
	case HVAR_CAUSE_REMAP_FILE_PAGES:
	case HVAR_CAUSE_MADVISE:
	case HVAR_CAUSE_SHMAT:
	case HVAR_CAUSE_EXECVE:
	case HVAR_CAUSE_EXECVEAT:
		return true;
	}
	return false;
}

static uint32_t cause_of(uint32_t nr)
{
	return hvar_call_cause(nr & X32_BIT ? HVAR_ABI_X32 : HVAR_ABI_X86_64, nr);
}

/* Numbers of x86-64 that need no telling; one that i386 has for a call that matters cannot be told apart from it, and is told. */
static void skip_quiet(struct code *c)
{
	for (uint32_t nr = 0; nr < 512; nr++) {
		uint32_t cause = cause_of(nr), narrow = hvar_call_cause(HVAR_ABI_I386, nr);
		bool ends = nr == SYS_exit || nr == SYS_exit_group;
		bool fault = nr < FAULT_BITS && nr & 4 && cause == HVAR_CAUSE_NONE;

		if ((told_otherwise(cause) || ends || fault) && (narrow == HVAR_CAUSE_NONE || told_otherwise(narrow)))
			skip_if(c, BPF_REG_7, nr);
	}
}

static void write_lock(struct code *c, int map)
{
	move(c, BPF_REG_6, BPF_REG_1);
	load(c, BPF_REG_0, BPF_REG_6, 8);
	skip_if(c, BPF_REG_0, 0);
	load(c, BPF_REG_0, BPF_REG_6, 16);
	skip_if(c, BPF_REG_0, 0);
	begin(c);
	skip_quiet(c);
	output(c, map, BPF_CALLS_LOCK, 0);
}

/* mremap of x86-64, x32 and i386. */
static void write_place(struct code *c, int map)
{
	static const uint32_t numbers[] = { 25, 25 | X32_BIT, 163 };

	move(c, BPF_REG_6, BPF_REG_1);
	begin(c);
	for (uint32_t i = 0; i < 3; i++) /* over those that are left, and the jump to the end */
		put(c, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_7, 0, (int16_t)(3 - i), (int32_t)numbers[i]);
	c->skip[c->nskips++] = c->n;
	put(c, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	output(c, map, BPF_CALLS_PLACE, 0);
}

/* ---- the kernel ---- */

static int bpf(int command, union bpf_attr *a)
{
	int fd = (int)syscall(SYS_bpf, command, a, sizeof(*a));

	return fd < 0 ? -errno : fd;
}

static int new_map(size_t cpus)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	a.key_size = a.value_size = sizeof(uint32_t);
	a.max_entries = (uint32_t)cpus;
	return bpf(BPF_MAP_CREATE, &a);
}

static int load_program(const struct code *c)
{
	union bpf_attr a;

	if (c->n == MAX_INSNS || c->nskips == MAX_SKIPS)
		return -E2BIG;
	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	a.insns = (uint64_t)(uintptr_t)c->v;
	a.insn_cnt = c->n;
	a.license = (uint64_t)(uintptr_t)"GPL";
	memcpy(a.prog_name, "hotvar", sizeof("hotvar"));
	return bpf(BPF_PROG_LOAD, &a);
}

static int refused(int err, struct err *e)
{
	if (err == -EPERM || err == -EACCES)
		return err_set(e, -err, "the BPF program that tells mapping calls: the kernel refuses it; run hotvar as root, without the lockdown of kernel memory");
	return err_set(e, -err, "the BPF program that tells mapping calls: this kernel does not take it (%s); Linux 5.15 with CONFIG_BPF_SYSCALL and CONFIG_DEBUG_INFO_BTF does",
		       strerror(-err));
}

static int load_programs(struct bpf_calls *b)
{
	static void (*const write[2])(struct code *, int) = { write_lock, write_place };
	struct code *c = malloc(sizeof(*c));
	int r = c ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < 2; i++) {
		c->n = c->nskips = 0;
		write[i](c, b->map);
		r = b->prog[i] = load_program(c);
	}
	free(c);
	return r;
}

struct bpf_calls *bpf_calls_new(size_t cpus, struct err *e)
{
	struct bpf_calls *b = malloc(sizeof(*b));
	int r;

	if (!b) {
		err_set(e, ENOMEM, "the BPF program that tells mapping calls: no memory");
		return NULL;
	}
	*b = (struct bpf_calls){ -1, { -1, -1 }, { -1, -1 } };
	r = b->map = new_map(cpus);
	if (r >= 0)
		r = load_programs(b);
	if (r >= 0)
		return b;
	refused(r, e);
	bpf_calls_free(b);
	return NULL;
}

int bpf_calls_write_to(struct bpf_calls *b, int cpu, int fd)
{
	uint32_t key = (uint32_t)cpu, value = (uint32_t)fd;
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_fd = (uint32_t)b->map;
	a.key = (uint64_t)(uintptr_t)&key;
	a.value = (uint64_t)(uintptr_t)&value;
	return bpf(BPF_MAP_UPDATE_ELEM, &a);
}

int bpf_calls_start(struct bpf_calls *b, struct err *e)
{
	for (size_t i = 0; i < 2; i++) {
		union bpf_attr a;

		memset(&a, 0, sizeof(a));
		a.raw_tracepoint.name = (uint64_t)(uintptr_t)points[i];
		a.raw_tracepoint.prog_fd = (uint32_t)b->prog[i];
		b->link[i] = bpf(BPF_RAW_TRACEPOINT_OPEN, &a);
		if (b->link[i] < 0) {
			int r = b->link[i];

			bpf_calls_stop(b);
			return refused(r, e);
		}
	}
	return 0;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void bpf_calls_stop(struct bpf_calls *b)
{
	close_one(&b->link[0]);
	close_one(&b->link[1]);
}

void bpf_calls_free(struct bpf_calls *b)
{
	if (!b)
		return;
	bpf_calls_stop(b);
	close_one(&b->prog[0]);
	close_one(&b->prog[1]);
	close_one(&b->map);
	free(b);
}
