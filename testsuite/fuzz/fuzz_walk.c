// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_walk.c - any bytes as the registers and the code of a thread, walked: whatever they are, they do it to copies. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/user/clock.h"
#include "runtime/user/walker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct walk_path out;
	static struct walker *w;
	static uint8_t *memory, *kept;
	struct walk_start at = {.pid = getpid(), .mm = 1, .most_insns = MOST};

	if (!w) {
		w = walker_new();
		memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		kept = malloc(8192);
		if (!w || memory == MAP_FAILED || !kept)
			abort();
	}
	memset(memory, 0x90, 4096);
	memset(memory + 4096, 0, 4096);
	/* A byte for each register: into the page of data, into code, or a small number. */
	for (unsigned r = 0; r < STREAM_RIP; r++) {
		uint8_t b = r + 1 < size ? data[r + 1] : 0;

		at.regs[r] = b & 0x80 ? (uint64_t)(uintptr_t)memory + 4096 +
						(b & 0x7f) * 32u
			     : b & 0x40 ? ~(uint64_t)b
					: b;
	}
	at.regs[STREAM_RFLAGS] = size ? data[0] : 0;
	if (size > STREAM_RIP + 1)
		memcpy(memory, data + STREAM_RIP + 1,
		       size - STREAM_RIP - 1 < 4096 ? size - STREAM_RIP - 1
						    : 4096);
	memcpy(kept, memory, 8192);
	at.regs[STREAM_RIP] = (uint64_t)(uintptr_t)memory;
	at.until_ns = clock_now_ns() + 100000000;
	walker_walk(w, &at, &out);
	if (out.insns > MOST || out.n_bits > out.insns ||
	    out.n_targets > out.insns || out.end >= WALK_ENDS ||
	    memcmp(kept, memory, 8192))
		abort();
	return 0;
}
