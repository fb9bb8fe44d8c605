/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_rows.h - sparse least squares: the rows of a linearised problem, and one step.
 */
#ifndef FLOW_ROWS_H
#define FLOW_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow_term {
	uint32_t unknown;
	double slope;
};

/* Row r asks: sum of slope * step = target, as hard as its weight, which is in both already. */
struct flow_rows {
	struct flow_term *terms;
	size_t n_terms, cap_terms;
	size_t *first;	/* of row r in terms; first[n] is the end */
	double *target;
	size_t n, cap;
	bool failed;	/* memory was short */
};

void flow_rows_fini(struct flow_rows *r);
void flow_rows_clear(struct flow_rows *r);

/* Room for one term, one row more; false, and @r->failed, without memory. */
bool flow_rows_more_terms(struct flow_rows *r);
bool flow_rows_more(struct flow_rows *r);

/* Add a term to the row being built; end it with its target.  @weight scales both.  Inline: each is done thousands of times. */
static inline void flow_rows_term(struct flow_rows *r, uint32_t unknown, double slope)
{
	if (r->n_terms == r->cap_terms && !flow_rows_more_terms(r))
		return;
	r->terms[r->n_terms++] = (struct flow_term){ unknown, slope };
}

static inline void flow_rows_end(struct flow_rows *r, double target, double weight)
{
	if (r->n + 1 >= r->cap && !flow_rows_more(r))
		return;
	for (size_t k = r->first[r->n]; k < r->n_terms; k++)
		r->terms[k].slope *= weight;
	r->target[r->n++] = target * weight;
	r->first[r->n] = r->n_terms;
}

/*
 * The damped least-squares step: minimises |rows * step - target|^2 + damping * |step|^2
 * by conjugate gradients, at most @iterations of them.  Needs @work[5 * n_unknowns].
 */
void flow_rows_solve(const struct flow_rows *r, uint32_t n_unknowns, double damping,
		     unsigned iterations, double *step, double *work);

#endif /* FLOW_ROWS_H */
