/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_verified.h - what came of "hotvar advise --verify": runs without and with huge pages.
 */
#ifndef ADVISE_VERIFIED_H
#define ADVISE_VERIFIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/user/advise_run.h"

struct advise_verified {
	const struct advise_run *runs[2]; /* borrowed: @rounds of them each: without, with */
	unsigned rounds;
	const struct advise_range *ranges; /* borrowed */
	size_t n_ranges;
	uint64_t pages;		/* of 4 KiB, that huge pages are asked for */
	uint64_t expected_fall; /* of page faults, if each page takes one */
	size_t areas, left_out; /* advised; of them, not asked for */
	uint64_t fallbacks;	/* times that the machine had no 2 MiB free meanwhile */
	bool input_gone;	/* later runs had no input */
};

/* The middle one of the faults (of an even number, between the two); the shortest times: others had company. */
struct advise_typical {
	double faults, seconds, cpu_seconds;
};
void advise_typical(const struct advise_run *v, unsigned n, struct advise_typical *out);

/*
 * What faults should fall by if as many of the pages take two as may have: one that is read before it is written is a
 * page of zeros first.  Without huge pages there were more faults than pages then.
 */
uint64_t advise_fall_most(const struct advise_verified *v);

/* Did faults fall by what was expected, or up to the most, within a tenth of that? */
bool advise_as_expected(const struct advise_verified *v);

void advise_verified_text(FILE *f, const struct advise_verified *v);
void advise_verified_json(FILE *f, const struct advise_verified *v);

#endif /* ADVISE_VERIFIED_H */
