// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "budget.h"

enum {
	SAMPLE_NS = 16000, /* where it is not known: in a virtual machine */
	USUAL_HZ = 1000,
	LEAST_HZ = 250, /* where nobody has asked for less, however dear */
};

static const double TIMER_PART = 2.0 / 3; /* of what is asked for, the most for the timer */

/*
 * Without being asked: of all, and the least of breakpoints.  Where samples are dear, all together may be as much as
 * FULL.  More breakpoints cost us more time (each is opened and closed) than they make estimates better.
 */
static const double USUAL = 0.015, LEAST = 0.003, FULL = 0.0225;

/* Walks: the most, of what samples leave and of all, and the least that is worth it. */
static const double WALKS_PART = 1.0 / 3, WALKS = 0.002, WALKS_LEAST = 0.0002;

static double timer_part(unsigned hz, uint64_t sample_ns)
{
	return hz * (double)sample_ns / 1e9;
}

/* As many as leave the others their least. */
static unsigned usual_hz(unsigned hz, uint64_t sample_ns)
{
	double most = (FULL - WALKS - LEAST) * 1e9 / (double)sample_ns;

	most = most < LEAST_HZ ? LEAST_HZ : most;
	return hz > most ? (unsigned)most : hz;
}

struct budget budget_make(unsigned hz, bool usual, double asked, uint64_t measured_ns)
{
	struct budget b = { .sample_ns = measured_ns ? measured_ns : SAMPLE_NS, .hz = hz };
	double most, left;

	if (asked > 0) {
		most = asked * TIMER_PART * 1e9 / (double)b.sample_ns;
		if (hz > most)
			b.hz = most >= 1 ? (unsigned)most : 1;
		left = asked - timer_part(b.hz, b.sample_ns);
		left = left > 0 ? left : 0;
		b.walks = left * WALKS_PART < WALKS ? left * WALKS_PART : WALKS;
		b.walks = b.walks < WALKS_LEAST ? 0 : b.walks;
		b.breakpoints = left - b.walks;
	} else {
		if (usual && measured_ns)
			b.hz = usual_hz(hz, b.sample_ns);
		b.walks = WALKS;
		left = USUAL - b.walks - timer_part(b.hz < USUAL_HZ ? b.hz : USUAL_HZ, b.sample_ns);
		b.breakpoints = left < LEAST ? LEAST : left;
	}
	return b;
}
