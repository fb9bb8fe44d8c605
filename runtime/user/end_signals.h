/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * end_signals.h - the signals that would end hotvar, and mean CMD or the measuring: which they are, and which came.
 *
 * All whose default ends a process (signal(7)), but those of the process's own faults and limits (SIGSEGV, SIGABRT,
 * SIGXCPU ...), SIGKILL, SIGPIPE, which is an error of a write, and the ticker's.
 */
#ifndef END_SIGNALS_H
#define END_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* The next of them after @sig; 0: there is none.  Begin with 0. */
int end_signals_after(int sig);

/* SIGINT and SIGQUIT, which a terminal sends to CMD as well. */
bool end_signals_are_the_terminals(int sig);

/* @sig came.  Async-signal-safe. */
void end_signals_note(int sig);
/* One that came and was not taken yet; 0: none. */
int end_signals_take(void);
/* None of them came. */
void end_signals_forget(void);

/* Send it on to @pid, woken if it is one that it is to end by.  False: it is gone, or not ours to send to. */
bool end_signals_pass_on(pid_t pid, int sig);

#endif /* END_SIGNALS_H */
