/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - the call stack of a thread that we trace and that is stopped now.
 *
 * By the files' unwind information (libdwfl), read from the very files that are mapped; names
 * are those of hotvar sym.
 */
#ifndef UNWIND_H
#define UNWIND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { UNWIND_FRAMES = 64 };

struct unwind_frame {
	uint64_t ip;
	char *symbol;	 /* NULL: none covers it */
	uint64_t offset; /* in @symbol */
	char *module;	 /* path of the file; NULL: none */
	char *place;	 /* without a symbol: "libfoo.so:.text+0x120"; NULL: nothing is known */
};

struct unwind {
	struct unwind_frame v[UNWIND_FRAMES]; /* innermost first */
	size_t n;
	const char *why; /* what comes after the last is not known, and why; NULL: that was all */
};

/*
 * The stack of thread @tid of process @pid into @u, in place of what was there; at the least where
 * it is now.  0, or -errno when not even that could be had: u->n is 0 then.
 */
int unwind_thread(struct unwind *u, pid_t pid, pid_t tid);

void unwind_fini(struct unwind *u);

#endif /* UNWIND_H */
