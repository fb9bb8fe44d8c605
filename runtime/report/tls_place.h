/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls_place.h - which thread-local variable code reaches at a distance from the thread pointer.
 */
#ifndef TLS_PLACE_H
#define TLS_PLACE_H

#include "images.h"
#include "runtime/core/hvar_resolve.h"
#include "tls_blocks.h"
#include "tls_seen.h"

struct tls_place_of {
	struct images *images;
	struct tls_blocks *tls;
	struct tls_seen *seen;
};

/*
 * Fill *@p, in which nothing is known yet, for code of module @module that reaches memory at @offset from the thread
 * pointer; @fixed: that is a number in the code.  @vmas: the areas of the process, if that may live still, or NULL.
 */
void tls_place(const struct tls_place_of *of, const struct hvar_vmas *vmas, const struct hvar_event *ev, uint32_t module,
	       bool fixed, uint64_t offset, struct hvar_place *p);

#endif /* TLS_PLACE_H */
