// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { AFTER_NS = 1000000000, EVERY_NS = 500000000, FEWEST_ROWS = 4 };

int progress_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb");
}

/* Rows of the terminal; 0 while a program has it in raw mode (an editor, a pager): it is all theirs. */
static unsigned usable_rows(void)
{
	struct termios t;
	struct winsize ws;

	if (tcgetattr(STDERR_FILENO, &t) || !(t.c_lflag & ICANON) ||
	    ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) || ws.ws_row < FEWEST_ROWS)
		return 0;
	return ws.ws_row;
}

/*
 * ESC D goes down a row, scrolling if need be, in the same column, so that after
 * going up again the cursor is where it was, and surely above the last row.
 */
static void take_row(struct progress *p, unsigned rows)
{
	fprintf(stderr, "\033D\0337\033[1;%ur\0338\033[A", rows - 1);
	p->rows = rows;
}

void progress_end(struct progress *p)
{
	if (p->rows)
		fprintf(stderr, "\0337\033[r\033[%u;1H\033[K\0338", p->rows);
	p->rows = 0;
}

void progress_show(void *ctx, uint64_t samples, uint64_t elapsed_ns)
{
	struct progress *p = ctx;
	unsigned rows;

	if (elapsed_ns < AFTER_NS || elapsed_ns - p->last_ns < EVERY_NS)
		return;
	p->last_ns = elapsed_ns;
	rows = usable_rows();
	if (!rows)
		return;
	if (rows != p->rows) {
		progress_end(p); /* the window has another size now */
		take_row(p, rows);
	}
	fprintf(stderr, "\0337\033[%u;1Hhotvar: %" PRIu64 " samples in %.1f s\033[K\0338", rows,
		samples, (double)elapsed_ns / 1e9);
}
