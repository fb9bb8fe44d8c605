/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_calls.h - the mapping system calls of the whole machine, told by a small BPF program as they change a map.
 *
 * It sits on the tracepoint mmap_lock:mmap_lock_acquire_returned: whoever changes a map holds that lock for writing, so
 * what is told comes in the very order of the changes, and calls that change no map cost nothing more than they
 * did, which no tracepoint of system calls can promise.  What a call will return is not known yet.  A second program, on
 * mmap:vm_unmapped_area, tells the place that the kernel chose for an mremap.
 *
 * The programs write into perf rings (events of type PERF_COUNT_SW_BPF_OUTPUT), and are gone with their last descriptor.  It
 * takes CAP_BPF and CAP_PERFMON (root), and Linux 5.15; nothing is compiled and no tracefs is needed.
 */
#ifndef BPF_CALLS_H
#define BPF_CALLS_H

#include <stddef.h>

#include "err.h"

/* What a sample's data is: three words, the first of them one of these. */
enum bpf_calls_what {
	BPF_CALLS_LOCK = 1, /* call number, address of the kernel's struct mm_struct */
	BPF_CALLS_PLACE,    /* call number, address: within the call whose lock was told before */
	BPF_CALLS_WHATS
};

struct bpf_calls;

/* Programs that tell nobody yet, for @cpus CPUs.  NULL and @e: refused, or this kernel cannot. */
struct bpf_calls *bpf_calls_new(size_t cpus, struct err *e);
/* What happens on @cpu is written to the ring of the event @fd.  0 or -errno. */
int bpf_calls_write_to(struct bpf_calls *b, int cpu, int fd);
/* From now on they do.  0 or -errno and @e. */
int bpf_calls_start(struct bpf_calls *b, struct err *e);
void bpf_calls_stop(struct bpf_calls *b);
void bpf_calls_free(struct bpf_calls *b);

#endif /* BPF_CALLS_H */
