/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_factor.h - the least-squares step of flow_rows.h, by factoring the normal equations.
 *
 * Code has few ways round and many in line, so that eliminating the unknowns in
 * a good order leaves the matrix nearly as sparse as it was.  The order and the
 * places of what fills in are found once for rows of one pattern.
 */
#ifndef FLOW_FACTOR_H
#define FLOW_FACTOR_H

#include <stdbool.h>

#include "flow_rows.h"

struct flow_factor;

/*
 * For rows with the unknowns of @r, @n_unknowns of them.  NULL: too much would fill
 * in, or no memory.
 */
struct flow_factor *flow_factor_new(const struct flow_rows *r, uint32_t n_unknowns);
void flow_factor_free(struct flow_factor *f);

/*
 * Make it serve for @r, which has other unknowns in its rows, as long as no two meet in a row that never had to do with
 * each other: the order stays.  False if that cannot be: it is good for nothing then but flow_factor_free().
 */
bool flow_factor_fit(struct flow_factor *f, const struct flow_rows *r, uint32_t n_unknowns);

/*
 * The step that minimises |rows * step - target|^2 + damping * |step|^2.  @r has
 * the same unknowns in the same rows as at flow_factor_new(); @damping > 0.
 */
void flow_factor_solve(struct flow_factor *f, const struct flow_rows *r, double damping,
		       double *step);

#endif /* FLOW_FACTOR_H */
