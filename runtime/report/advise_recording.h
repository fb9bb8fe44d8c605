/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_recording.h - the evidence for huge pages that a recording's samples hold.
 *
 * Of the address space that most samples are of.  Samples tell whether accesses jump, and over how many
 * pages; what was in memory, or huge, they do not.
 */
#ifndef ADVISE_RECORDING_H
#define ADVISE_RECORDING_H

#include "advise.h"
#include "runtime/user/err.h"

struct advise_recording;

/* NULL and @e: no recording, no memory.  @reach: pages that the TLB reaches. */
struct advise_recording *advise_recording_read(const char *path, uint64_t reach, struct err *e);
void advise_recording_free(struct advise_recording *r);

/* Fill what it tells: regions, samples.  No samples: out->samples is 0. */
void advise_recording_report(struct advise_recording *r, struct advise_report *out);

#endif /* ADVISE_RECORDING_H */
