/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages_view.h - which rows "hotvar pages" makes of the regions that were read.
 */
#ifndef PAGES_VIEW_H
#define PAGES_VIEW_H

#include "pages.h"
#include "runtime/user/page_since.h"

/* The most that was touched of code and of data, of all modules. */
struct pages_peak {
	bool any;
	struct pages_moment of[2]; /* data, code */
};

struct pages_view {
	FILE *f;
	const struct pages_format *format;
	struct live *live;	  /* as it was when the regions were read */
	pid_t pid;
	const char *module;	  /* regions of this one only; NULL: all */
	uint64_t lo, hi;	  /* pages in it only */
	bool names;		  /* of sections and symbols */
	bool absent;		  /* rows also for pages that are not there, where they are few */
};

/* Each writes its rows and adds up what they are of into @total.  0 or -errno (-ENOMEM, -ESRCH). */
int pages_view_regions(const struct pages_view *v, const struct page_regions *r, struct pages_counts *total);
/* @modules: one row for each module and kind; else for each kind. */
int pages_view_groups(const struct pages_view *v, const struct page_regions *r, bool modules,
		      struct pages_counts *total);
/* @since: NULL, or that of the regions. */
int pages_view_pages(const struct pages_view *v, const struct page_regions *r, const struct page_since *since,
		     struct pages_counts *total);

/* What each module has touched by now, and what all have. */
int pages_view_moment(const struct pages_view *v, const struct page_regions *r, double seconds,
		      struct pages_peak *peak);

#endif /* PAGES_VIEW_H */
