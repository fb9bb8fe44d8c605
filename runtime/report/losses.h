/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * losses.h - what was lost, by kind, as every report says it.
 */
#ifndef LOSSES_H
#define LOSSES_H

#include "analysis.h"
#include "json.h"

/* "" if nothing was, else a list in words; to be freed.  NULL: no memory. */
char *losses_text(const struct analysis_totals *t);

/* The object "lost_by". */
void losses_json(struct json *j, const struct analysis_totals *t);

#endif /* LOSSES_H */
