// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walk_cpu.h"

#include <string.h>

/* Of AVX-512: those parts that programs use, by the begin of their names in Zydis. */
static bool has_avx512(const ZydisDecodedInstruction *z)
{
	static const struct {
		const char *begin;
		int part;
	} parts[] = {
		{"AVX512F_", 0},       {"AVX512BW_", 0},
		{"AVX512DQ_", 0},      {"AVX512CD_", 0},
		{"AVX512_VBMI_", 1},   {"AVX512_VBMI2_", 2},
		{"AVX512_IFMA_", 3},   {"AVX512_VNNI_", 4},
		{"AVX512_BITALG_", 5}, {"AVX512_VPOPCNTDQ_", 6},
	};
	const char *name = ZydisISASetGetString(z->meta.isa_set);
	int part = -1;

	if (!__builtin_cpu_supports("avx512f") ||
	    !__builtin_cpu_supports("avx512bw") ||
	    !__builtin_cpu_supports("avx512dq") ||
	    !__builtin_cpu_supports("avx512cd") ||
	    !__builtin_cpu_supports("avx512vl"))
		return false;
	for (size_t i = 0; name && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strncmp(name, parts[i].begin, strlen(parts[i].begin)))
			part = parts[i].part;
	switch (part) {
	case 0:
		return true;
	case 1:
		return __builtin_cpu_supports("avx512vbmi");
	case 2:
		return __builtin_cpu_supports("avx512vbmi2");
	case 3:
		return __builtin_cpu_supports("avx512ifma");
	case 4:
		return __builtin_cpu_supports("avx512vnni");
	case 5:
		return __builtin_cpu_supports("avx512bitalg");
	case 6:
		return __builtin_cpu_supports("avx512vpopcntdq");
	default:
		return false;
	}
}

bool walk_cpu_has(const ZydisDecodedInstruction *z)
{
	switch (z->meta.isa_ext) {
	case ZYDIS_ISA_EXT_BASE:
	case ZYDIS_ISA_EXT_LONGMODE:
	case ZYDIS_ISA_EXT_SSE:
	case ZYDIS_ISA_EXT_SSE2:
		return true;
	case ZYDIS_ISA_EXT_SSE3:
		return __builtin_cpu_supports("sse3");
	case ZYDIS_ISA_EXT_SSSE3:
		return __builtin_cpu_supports("ssse3");
	case ZYDIS_ISA_EXT_SSE4: /* 4.1, 4.2, and popcnt */
		return __builtin_cpu_supports("sse4.2") &&
		       __builtin_cpu_supports("popcnt");
	case ZYDIS_ISA_EXT_AES:
		return __builtin_cpu_supports("aes");
	case ZYDIS_ISA_EXT_PCLMULQDQ:
		return __builtin_cpu_supports("pclmul");
	case ZYDIS_ISA_EXT_AVX:
		return __builtin_cpu_supports("avx");
	case ZYDIS_ISA_EXT_AVX2:
		return __builtin_cpu_supports("avx2");
	case ZYDIS_ISA_EXT_FMA:
		return __builtin_cpu_supports("fma");
	case ZYDIS_ISA_EXT_BMI1:
		return __builtin_cpu_supports("bmi");
	case ZYDIS_ISA_EXT_BMI2:
		return __builtin_cpu_supports("bmi2");
	case ZYDIS_ISA_EXT_LZCNT: /* of one family of CPUs with AVX2, and of those before it that have it: left out */
		return __builtin_cpu_supports("avx2") &&
		       __builtin_cpu_supports("bmi");
	case ZYDIS_ISA_EXT_MOVBE:
		return __builtin_cpu_supports("avx2") &&
		       __builtin_cpu_supports("bmi2");
	case ZYDIS_ISA_EXT_AVX512EVEX:
	case ZYDIS_ISA_EXT_AVX512VEX:
		return has_avx512(z);
	default:
		return false;
	}
}
