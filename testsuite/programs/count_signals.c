// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * count_signals N - sleeps until N queued signals have come, and says whether each came once, in order.
 * count_signals send PID N - sends them, one each half millisecond, while its own queue has room.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t n, wrong;

static void count(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	wrong += si->si_value.sival_int != n || si->si_code != SI_QUEUE;
	n++;
}

static int send_all(pid_t pid, int many)
{
	int i;

	for (i = 0; i < many; i++) {
		while (sigqueue(pid, SIGRTMIN, (union sigval){ .sival_int = i }))
			if (errno != EAGAIN)
				return 1;
		usleep(500);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = count, .sa_flags = SA_SIGINFO };
	int many = argc > 1 ? atoi(argv[1]) : 0;

	if (argc == 4 && !strcmp(argv[1], "send"))
		return send_all(atoi(argv[2]), atoi(argv[3]));
	sigaction(SIGRTMIN, &sa, NULL);
	puts("ready");
	fflush(stdout);
	while (n < many)
		usleep(1000);
	printf("%d signals %s\n", (int)n, wrong ? "but not as sent" : "in order");
	return wrong != 0;
}
