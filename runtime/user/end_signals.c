// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "end_signals.h"

#include "ticker.h"

static int came[NSIG]; /* how often */

static bool is_one(int sig)
{
	switch (sig) {
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGUSR1:
	case SIGUSR2:
	case SIGALRM:
	case SIGTERM:
	case SIGSTKFLT: /* the kernel itself never sends it */
	case SIGVTALRM:
	case SIGPROF:
	case SIGIO:
	case SIGPWR:
		return true;
	}
	return sig >= SIGRTMIN && sig <= SIGRTMAX && sig != TICKER_SIGNAL;
}

int end_signals_after(int sig)
{
	while (++sig < NSIG)
		if (is_one(sig))
			return sig;
	return 0;
}

bool end_signals_are_the_terminals(int sig)
{
	return sig == SIGINT || sig == SIGQUIT;
}

void end_signals_note(int sig)
{
	if (sig > 0 && sig < NSIG)
		__atomic_fetch_add(&came[sig], 1, __ATOMIC_RELAXED);
}

int end_signals_take(void)
{
	int sig;

	for (sig = 1; sig < NSIG; sig++) {
		if (__atomic_load_n(&came[sig], __ATOMIC_RELAXED) > 0) {
			__atomic_fetch_sub(&came[sig], 1, __ATOMIC_RELAXED);
			return sig;
		}
	}
	return 0;
}

void end_signals_forget(void)
{
	while (end_signals_take())
		;
}

bool end_signals_pass_on(pid_t pid, int sig)
{
	if (pid <= 0 || kill(pid, sig))
		return false;
	if (sig == SIGTERM || sig == SIGHUP)
		kill(pid, SIGCONT);
	return true;
}
