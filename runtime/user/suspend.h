/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * suspend.h - ^Z: the terminal's SIGTSTP goes to CMD and to its tracer alike.
 *
 * CMD's reaches it through us, so we must not stop first; and if CMD does not stop at
 * it, neither do we, as the shell would see it without us.  A process that we have attached to
 * does not get it, and needs us: then it is caught and not heeded.
 */
#ifndef SUSPEND_H
#define SUSPEND_H

#include <stdbool.h>

/* Catch SIGTSTP from now on, unless it is ignored or caught already. */
void suspend_catch(void);
void suspend_release(void);

/*
 * A tick has passed; @stopped: CMD is stopped.  If that is due, stops this process, and
 * returns when it is continued.
 */
void suspend_tick(bool stopped);

#endif /* SUSPEND_H */
