/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_prefetch_code.h - the bytes of a prefetch instruction to the address it asks for.
 *
 * Valgrind does not keep that address: to it a prefetch does nothing.  The encoding is that of the Intel SDM, volume 2,
 * chapter 2 and PREFETCHh, PREFETCHW; PREFETCHWT1 is 0F 0D /2, AMD's PREFETCH 0F 0D /0.
 */
#ifndef HVT_PREFETCH_CODE_H
#define HVT_PREFETCH_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HVT_PREFETCH_NONE = -1, /* no register */
	HVT_PREFETCH_IP = 16,	/* the address of the next instruction */
};

enum hvt_prefetch_segment {
	HVT_PREFETCH_NO_SEGMENT,
	HVT_PREFETCH_FS,
	HVT_PREFETCH_GS,
};

/* segment + (base + index << shift + disp), the sum in parentheses of 32 bits if @narrow. */
struct hvt_prefetch_code {
	int base, index; /* by their number in an instruction */
	unsigned shift;
	int64_t disp;
	enum hvt_prefetch_segment segment;
	bool narrow;
};

/*
 * Are the @len bytes at @code one 64-bit instruction that prefetches data?  Those that prefetch code (PREFETCHIT0, 1), and
 * hints that stand for nothing, are none.
 */
bool hvt_prefetch_code(const uint8_t *code, unsigned len, struct hvt_prefetch_code *out);

#endif /* HVT_PREFETCH_CODE_H */
