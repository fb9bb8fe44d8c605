// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * estimate_walk.c - taking in walks: which way threads went on from samples.
 */
#include "config.h"

#include "estimate_rows.h"

void estimate_walk(struct estimate *e, const struct stream_walk *w)
{
	(void)w;
	e->walks++;
}
