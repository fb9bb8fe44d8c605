/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_args.h - the system call that a stopped task is in, from its entry to its return.
 *
 * What registers and memory mean under each ABI is hvar_call_fill()'s knowledge; here
 * they are fetched, and, where a clone would escape us, changed.
 */
#ifndef CALL_ARGS_H
#define CALL_ARGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/core/hvar_call.h"

/*
 * What PTRACE_GET_SYSCALL_INFO (Linux 5.3) says of a stop: struct
 * ptrace_syscall_info, which C libraries call by different names.
 */
enum { CALL_STOP_NONE, CALL_STOP_ENTRY, CALL_STOP_EXIT, CALL_STOP_SECCOMP };
struct call_stop {
	uint8_t op;
	uint8_t pad[3];
	uint32_t arch; /* AUDIT_ARCH_* */
	uint64_t ip, sp;
	union {
		struct {
			uint64_t nr, args[6];
			uint32_t ret_data; /* SECCOMP only */
		} entry;
		struct {
			int64_t rval;
			uint8_t is_error;
		} exit;
	} u;
};
/* Of task @tid, which is stopped.  Returns 0 or -errno with op NONE. */
int call_stop_read(struct call_stop *s, pid_t tid);

struct call_args {
	struct hvar_call call; /* of the last call that mattered; args and ret once it has returned */
	uint32_t cause;	       /* enum hvar_cause of the call under way, HVAR_CAUSE_NONE: none that matters */
	enum hvar_abi abi;
	uint64_t nr, regs[6];  /* at entry */
	uint64_t flags;	       /* of the clone family */
	bool untraced;	       /* CLONE_UNTRACED was taken out of it for us */
};

/* Task @tid is at the entry of call @nr with @regs, as PTRACE_GET_SYSCALL_INFO has them. */
void call_args_read(struct call_args *c, pid_t tid, uint32_t arch, uint64_t nr,
		    const uint64_t regs[6]);

/* The same from the registers at its exit, when its entry was not seen. */
void call_args_late(struct call_args *c, pid_t tid, uint32_t arch);

/* It has returned @rval: fill c->call. */
void call_args_return(struct call_args *c, pid_t tid, int64_t rval);

/* @tid is stopped at a call's entry: make it fail with ENOSYS instead. */
int call_args_refuse(pid_t tid);

/*
 * A clone with CLONE_UNTRACED would not be followed, and a gated child without a tracer
 * is broken: take the flag out at the entry, put it back when the clone is done.
 * Returns 0, or -errno if it could not be taken out.
 */
int call_args_follow(struct call_args *c, pid_t tid);
void call_args_restore(struct call_args *c, pid_t tid);

static inline bool call_args_clones(const struct call_args *c)
{
	return c->cause == HVAR_CAUSE_FORK || c->cause == HVAR_CAUSE_VFORK ||
	       c->cause == HVAR_CAUSE_CLONE || c->cause == HVAR_CAUSE_CLONE3;
}

static inline bool call_args_executes(const struct call_args *c)
{
	return c->cause == HVAR_CAUSE_EXECVE || c->cause == HVAR_CAUSE_EXECVEAT;
}

/* Does it change the map when it returns? */
static inline bool call_args_maps(const struct call_args *c)
{
	return c->cause != HVAR_CAUSE_NONE && !call_args_clones(c) && !call_args_executes(c) &&
	       hvar_call_changes(c->abi, c->nr, c->regs[0]);
}

#endif /* CALL_ARGS_H */
