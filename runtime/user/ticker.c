// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "ticker.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile sig_atomic_t ticked;
static timer_t timer;
static bool running;
static struct sigaction old;

static void on_tick(int sig)
{
	(void)sig;
	ticked = 1;
}

int ticker_start(unsigned hz, struct err *e)
{
	struct sigaction sa = { .sa_handler = on_tick };
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID,
			       .sigev_signo = TICKER_SIGNAL };
	struct itimerspec every = { 0 };
	sigset_t set;

	ticker_stop();
	ev.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	every.it_interval.tv_nsec = hz > 1 ? 1000000000 / hz : 999999999;
	every.it_value = every.it_interval;
	sigemptyset(&sa.sa_mask);
	sigemptyset(&set);
	sigaddset(&set, ev.sigev_signo);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	ticked = 0;
	if (sigaction(ev.sigev_signo, &sa, &old))
		return err_set(e, errno, "cannot start a timer: sigaction: %s; report this",
			       strerror(errno));
	running = !timer_create(CLOCK_MONOTONIC, &ev, &timer);
	if (!running)
		return err_set(e, errno,
			       "cannot start a timer: timer_create: %s; raise: ulimit -i",
			       strerror(errno));
	timer_settime(timer, 0, &every, NULL);
	return 0;
}

void ticker_stop(void)
{
	if (!running)
		return;
	timer_delete(timer);
	sigaction(TICKER_SIGNAL, &old, NULL);
	running = false;
}

bool ticker_ticked(void)
{
	bool was = ticked;

	ticked = 0;
	return was;
}
