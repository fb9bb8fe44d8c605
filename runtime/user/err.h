/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err.h - what went wrong, for a person: what failed and on what, why, what to do.
 *
 * Functions of the user engine that can fail for reasons a person must hear
 * take a struct err and return -errno.  Only main prints it.
 */
#ifndef ERR_H
#define ERR_H

struct err {
	int status;	 /* exit status it asks for; 0: the caller's default (125) */
	char text[1024]; /* one line, no newline, no "hotvar:" in front */
};

/*
 * Record the text, printf-like, and return -@code.  A later text replaces an
 * earlier one.  NULL @e records nothing.
 */
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with an exit status: 2, 125, 126, 127. */
int err_exit(struct err *e, int code, int status, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* It was no failure after all: forget the text. */
void err_clear(struct err *e);

#endif /* ERR_H */
