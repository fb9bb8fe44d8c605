/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_call_abi.h - what the arguments of the mapping calls mean on x86 Linux.
 *
 * Values of include/uapi/asm-generic/mman{,-common}.h, arch/x86's asm/mman.h,
 * linux/mman.h, linux/prctl.h and linux/personality.h, under our own names since
 * the kernel's headers and libc's know different ones of them.
 */
#ifndef HVAR_CALL_ABI_H
#define HVAR_CALL_ABI_H

#include "hvar_env.h"

enum hvar_call_prot_bits {
	HVAR_PROT_SEM = 0x8, /* means nothing */
	HVAR_PROT_GROWSDOWN = 0x01000000,
	HVAR_PROT_GROWSUP = 0x02000000,
};

enum hvar_call_map_bits {
	HVAR_MAP_SHARED = 1,
	HVAR_MAP_PRIVATE = 2,
	HVAR_MAP_SHARED_VALIDATE = 3,
	HVAR_MAP_TYPE = 0xf,
	HVAR_MAP_FIXED = 0x10,
	HVAR_MAP_ANONYMOUS = 0x20,
	HVAR_MAP_GROWSDOWN = 0x100,
	HVAR_MAP_HUGETLB = 0x40000,
	HVAR_MAP_FIXED_NOREPLACE = 0x100000,
};

enum hvar_call_mremap_bits {
	HVAR_MREMAP_MAYMOVE = 1,
	HVAR_MREMAP_FIXED = 2,
	HVAR_MREMAP_DONTUNMAP = 4,
};

enum hvar_call_prctl {
	HVAR_PR_SET_MM = 35,
	HVAR_PR_SET_VMA = 0x53564d41,
};

/* arch/x86/include/uapi/asm/prctl.h: each maps a [vdso], where there is none */
enum hvar_call_arch_prctl {
	HVAR_ARCH_MAP_VDSO_X32 = 0x2001,
	HVAR_ARCH_MAP_VDSO_32 = 0x2002,
	HVAR_ARCH_MAP_VDSO_64 = 0x2003,
};

/* Personality: what can be read can be executed. */
#define HVAR_READ_IMPLIES_EXEC 0x0400000u

#define HVAR_CALL_TOP ((uint64_t)-1) /* an end that no mapping reaches */
#define HVAR_CALL_2M  ((uint64_t)1 << 21) /* sizes of huge pages */
#define HVAR_CALL_1G  ((uint64_t)1 << 30)

/* Is @ret an error? IS_ERR_VALUE() of Linux. */
#define HVAR_CALL_FAILED(ret) ((ret) < 0 && (ret) >= -4095)

#endif /* HVAR_CALL_ABI_H */
