/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prefetches_sampled.h - what prefetch instructions ask for, as far as samples prove it.
 *
 * From a sample's registers on, along the one way that the code can take, to what comes to a prefetch with its address.  So each is
 * one that is done; how many there are is not known, nor what becomes of a line.
 */
#ifndef PREFETCHES_SAMPLED_H
#define PREFETCHES_SAMPLED_H

#include <stdint.h>

#include "images.h"
#include "prefetches.h"
#include "runtime/core/hvar_vmas.h"
#include "runtime/user/estimate.h"

struct prefetches_sampled;

/* What is found goes to @to, borrowed as is @images.  NULL: no memory. */
struct prefetches_sampled *prefetches_sampled_new(struct prefetches *to, struct images *images);
void prefetches_sampled_free(struct prefetches_sampled *p);

/* A sample of a process in which @vmas (NULL: not known) are mapped; @env tells of its code. */
void prefetches_sampled_take(struct prefetches_sampled *p, const struct estimate_env *env, const struct hvar_vmas *vmas,
			     const struct stream_sample *s);
/* The samples so far were all: what waits for a good address of its instruction is told without.  NULL is nothing. */
void prefetches_sampled_end(struct prefetches_sampled *p);

#endif /* PREFETCHES_SAMPLED_H */
