/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ticker.h - a timer that interrupts this thread's waits again and again.
 *
 * A signal without SA_RESTART, sent to the one thread.  A tick that falls just
 * before a wait begins does not interrupt it; the next one does.
 */
#ifndef TICKER_H
#define TICKER_H

#include <signal.h>
#include <stdbool.h>

#include "err.h"

#define TICKER_SIGNAL (SIGRTMIN + 3)

/* @hz times a second, for the calling thread.  One at a time.  0 or -errno and @e. */
int ticker_start(unsigned hz, struct err *e);
void ticker_stop(void);

/* Has it ticked since the last call? */
bool ticker_ticked(void);

#endif /* TICKER_H */
