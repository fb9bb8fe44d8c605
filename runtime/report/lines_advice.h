/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines_advice.h - what would part the threads that are in each other's way on a cache line.
 *
 * Reckoned from where the members lie.  It is given for the two parts that are most in each other's way.
 */
#ifndef LINES_ADVICE_H
#define LINES_ADVICE_H

#include "lines_judge.h"

enum line_advice_what {
	LINE_ADVICE_NONE,
	LINE_ADVICE_MEMBER,   /* begin member @name of @of at @to, now at @from: it grows from @size to @new_size */
	LINE_ADVICE_ELEMENT,  /* pad the elements of array @name from @from to @to bytes */
	LINE_ADVICE_VARIABLES, /* align variables @name and @of each to @to */
	LINE_ADVICE_APART,    /* bytes @from apart in memory that was allocated: allocate them apart, or pad */
	LINE_ADVICE_OWN,      /* the same bytes: nothing parts them but less writing */
};

struct line_advice {
	enum line_advice_what what;
	char name[256], of[256];
	uint64_t from, to, size, new_size; /* 0: not known */
};

void lines_advise(const struct line *line, const struct line_judged *j, struct line_advice *out);
const char *lines_advice_name(enum line_advice_what what); /* "align-member" ... */

#endif /* LINES_ADVICE_H */
