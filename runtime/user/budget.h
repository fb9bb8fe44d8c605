/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.h - what measuring by the timer, by breakpoints and by walks may take of the program's time, and who gets how much.
 */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
	uint64_t sample_ns; /* that one sample costs the program */
	unsigned hz;	    /* samples a second of CPU time */
	double breakpoints; /* the part of the program's time that they may take */
	double walks;	    /* likewise; 0: there is no room for any */
};

/*
 * @hz is asked for, or is what is @usual, and a sample takes @measured_ns; 0: it is not known.  @asked is the part of the time that all
 * may take: two thirds are for samples, which are fewer if that is not enough, and of what they leave a third is for walks,
 * unless that is too little or more than usual, and the rest for breakpoints.
 * 0: nothing was asked for, so that walks have their usual part, and breakpoints what those and the samples of the usual rate leave of
 * what measuring usually takes.  There are as many samples as @hz says, but fewer than usual where one takes so long that they
 * would not leave even the least for breakpoints.
 */
struct budget budget_make(unsigned hz, bool usual, double asked, uint64_t measured_ns);

#endif /* BUDGET_H */
