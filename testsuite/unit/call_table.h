/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_table.h - the mapping calls' numbers on each ABI, from the kernel's own headers. */
#ifndef CALL_TABLE_H
#define CALL_TABLE_H

#include <stdint.h>

#include "runtime/core/hvar_call.h"

#define CALLS(abi)                                                             \
	enum {                                                                 \
		abi##_mmap = __NR_mmap, abi##_munmap = __NR_munmap,            \
		abi##_mprotect = __NR_mprotect, abi##_brk = __NR_brk,          \
		abi##_mremap = __NR_mremap, abi##_shmat = __NR_shmat,          \
		abi##_shmdt = __NR_shmdt, abi##_clone = __NR_clone,            \
		abi##_pkey_mprotect = __NR_pkey_mprotect,                      \
		abi##_remap_file_pages = __NR_remap_file_pages,                \
		abi##_clone3 = __NR_clone3, abi##_fork = __NR_fork,            \
		abi##_vfork = __NR_vfork, abi##_execve = __NR_execve,          \
		abi##_execveat = __NR_execveat, abi##_madvise = __NR_madvise,  \
		abi##_prctl = __NR_prctl, abi##_getppid = __NR_getppid,        \
		abi##_read = __NR_read, abi##_arch_prctl = __NR_arch_prctl, \
		abi##_io_setup = __NR_io_setup,        \
		abi##_io_destroy = __NR_io_destroy,                            \
		abi##_exit_group = __NR_exit_group,                            \
	}

/* Each header defines the names anew. */
#ifndef __X32_SYSCALL_BIT
#define __X32_SYSCALL_BIT 0x40000000
#endif
#include <asm/unistd_64.h>
CALLS(x64);
#include <asm/unistd_x32.h>
CALLS(x32);
#include <asm/unistd_32.h>
CALLS(i386);
enum { i386_mmap2 = __NR_mmap2, i386_ipc = __NR_ipc };

#define ROWS(row)                                                              \
	row(mmap, MMAP) row(munmap, MUNMAP) row(mprotect, MPROTECT)            \
	row(brk, BRK) row(mremap, MREMAP) row(shmat, SHMAT) row(shmdt, SHMDT)  \
	row(clone, CLONE) row(pkey_mprotect, PKEY_MPROTECT)                    \
	row(remap_file_pages, REMAP_FILE_PAGES) row(clone3, CLONE3)            \
	row(fork, FORK) row(vfork, VFORK) row(execve, EXECVE)                  \
	row(execveat, EXECVEAT) row(io_setup, MMAP) row(io_destroy, MUNMAP)    \
	row(madvise, MADVISE) row(prctl, PRCTL) row(getppid, NONE)             \
	row(read, NONE) row(exit_group, NONE)

static const struct {
	const char *name;
	uint32_t nr[3]; /* by enum hvar_abi */
	uint32_t cause;
} table[] = {
#define ROW(name, cause) { #name, { x64_##name, i386_##name, x32_##name }, HVAR_CAUSE_##cause },
	ROWS(ROW)
};

#endif /* CALL_TABLE_H */
