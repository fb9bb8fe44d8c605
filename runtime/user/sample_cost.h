/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_cost.h - what one sample of the timer takes of a program's time, on this machine.
 *
 * An interrupt that is 2 us on one machine is 20 us on a virtual one, whose every touch of the timer leaves it.  So it
 * is measured: the calling thread is sampled itself for less than a millisecond, looks at the clock all the while, and sees how long it
 * stood still where a sample came.  The median of those is what counts: what else comes between, another program's turn, another virtual
 * machine's, the tick, is in a few of them or in none.
 */
#ifndef SAMPLE_COST_H
#define SAMPLE_COST_H

#include <stdint.h>

/* In nanoseconds, to a program at the usual rate; 0: could not be found out.  Takes a millisecond, 3 at most, of the calling thread. */
uint64_t sample_cost_ns(void);

#endif /* SAMPLE_COST_H */
