// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "onlooker.h"

#include <errno.h>
#include <sys/wait.h>

#include "options_target.h"
#include "runtime/user/end_signals.h"

volatile sig_atomic_t onlooker_asked;

static void on_signal(int sig)
{
	if (sig == SIGCHLD)
		return;
	end_signals_note(sig);
	onlooker_asked = sig;
}

void onlooker_signals(bool launched)
{
	struct sigaction sa = { .sa_handler = on_signal }; /* no SA_RESTART: it ends a wait */
	struct sigaction old;

	sigaction(SIGCHLD, &sa, NULL);
	for (int sig = 0; (sig = end_signals_after(sig));) {
		if (sigaction(sig, NULL, &old))
			continue;
		/* nohup; but shells have background jobs ignore the terminal's, which may be sent to them still */
		if (old.sa_handler == SIG_IGN && !end_signals_are_the_terminals(sig))
			continue;
		if (launched && end_signals_are_the_terminals(sig))
			signal(sig, SIG_IGN);
		else
			sigaction(sig, &sa, NULL);
	}
}

void onlooker_pass_on(pid_t pid)
{
	int sig;

	onlooker_asked = 0;
	while ((sig = end_signals_take()))
		end_signals_pass_on(pid, sig);
}

int onlooker_ready(char **argv, pid_t pid, struct launch *launch, struct err *e)
{
	int status = target_ready(argv, pid, e);

	if (!status && argv && launch_find(launch, argv, e))
		status = e->status ? e->status : CLI_FAILED;
	return status;
}

int onlooker_status(int wait_status)
{
	if (wait_status == -1)
		return CLI_OK;
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int onlooker_close(FILE *f, const struct cli_common *c, int err, int status, bool launched, int wait_status, struct err *e)
{
	if (err)
		status = e->status ? e->status : CLI_FAILED;
	if (cli_close(f, c, err ? NULL : e) && !err)
		return CLI_FAILED;
	return launched && !err ? onlooker_status(wait_status) : status;
}
