/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_capture.h - the code around each sample, put to the stream page by page.
 *
 * A page is put once, before the first sample that needs it: from the module's
 * file where that is the very file that was mapped, else from the program's
 * memory.  Code without a file may change (JIT): its page is read again at most
 * once a second while samples fall on it, and put again when it differs.  A
 * window of 256 bytes before and 128 after an ip is always whole, as far as the
 * program has code there.
 */
#ifndef CODE_CAPTURE_H
#define CODE_CAPTURE_H

#include <stdint.h>
#include <sys/types.h>

#include "runtime/core/hvar_vmas.h"
#include "estimate.h"
#include "stream.h"
#include "tracker.h"

#define CODE_CAPTURE_BEFORE 256
#define CODE_CAPTURE_AFTER  128

struct code_capture;

/* Both are borrowed.  NULL: no memory. */
struct code_capture *code_capture_new(struct tracker *t, struct stream *out);
void code_capture_free(struct code_capture *c);

/*
 * Thread @tid of process @pid, in the address space of number @mm, was found at
 * @ip.  Call it before the sample is put.
 */
void code_capture_at(struct code_capture *c, pid_t pid, pid_t tid, uint32_t mm,
		     uint64_t ip, uint64_t time_ns);

/* How many pages were seen to, ever. */
uint64_t code_capture_pages(const struct code_capture *c);

/* Put how many pages could not be read since the last call, if any. */
void code_capture_tell_losses(struct code_capture *c, uint64_t time_ns);

/*
 * The site of the code at @addr inside @v, of address space @mm: writer and readers
 * of STREAM_CODE agree by this.
 */
static inline void code_site_of(const struct hvar_vma *v, uint32_t mm,
				uint64_t addr, struct code_site *out)
{
	bool file = v->module && (v->region == HVAR_REGION_FILE ||
				  v->region == HVAR_REGION_VDSO);

	out->module = file ? v->module : 0;
	out->mm = file ? 0 : mm;
	out->where = file ? addr - v->start + v->pgoff : addr;
}

#endif /* CODE_CAPTURE_H */
