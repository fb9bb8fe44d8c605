// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "suspend.h"

#include <signal.h>

#define WAIT_TICKS 5 /* for CMD to stop, before it is taken not to care */

static volatile sig_atomic_t asked;
static unsigned waited;
static bool caught;
static struct sigaction old;

static void on_tstp(int sig)
{
	(void)sig;
	asked = 1;
}

void suspend_catch(void)
{
	struct sigaction sa = { .sa_handler = on_tstp };

	if (caught || sigaction(SIGTSTP, NULL, &old) || old.sa_handler != SIG_DFL)
		return;
	sigemptyset(&sa.sa_mask);
	caught = !sigaction(SIGTSTP, &sa, NULL);
	asked = 0;
	waited = 0;
}

void suspend_release(void)
{
	if (caught)
		sigaction(SIGTSTP, &old, NULL);
	caught = false;
	asked = 0;
}

void suspend_tick(bool stopped)
{
	if (!asked)
		return;
	if (!stopped) {
		if (++waited > WAIT_TICKS)
			asked = waited = 0;
		return;
	}
	/* By the signal itself, so that the shell says what it always says. */
	asked = waited = 0;
	sigaction(SIGTSTP, &old, NULL);
	raise(SIGTSTP);
	caught = false;
	suspend_catch();
}
