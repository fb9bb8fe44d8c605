// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "onlooker.h"

#include <errno.h>
#include <sys/wait.h>

#include "options_target.h"

volatile sig_atomic_t onlooker_asked;

static void on_signal(int sig)
{
	if (sig != SIGCHLD)
		onlooker_asked = sig;
}

void onlooker_signals(bool launched)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	struct sigaction sa = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sigaction(all[i], &sa, NULL); /* no SA_RESTART: it ends a wait */
	signal(SIGPIPE, SIG_IGN);
	if (launched) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
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
	int closed;

	if (err)
		status = e->status ? e->status : CLI_FAILED;
	closed = cli_close(f, c, err ? NULL : e);
	if (closed == -EPIPE && !err)
		e->text[0] = '\0'; /* a reader that has read enough is no failure */
	else if (closed && !err)
		return CLI_FAILED;
	return launched && !err ? onlooker_status(wait_status) : status;
}
