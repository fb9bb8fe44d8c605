// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_spares.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

void exact_spares_take(struct exact_spares *s)
{
	size_t i;

	for (i = 0; i < EXACT_SPARES; i++)
		if (s->fd[i] < 0)
			s->fd[i] = open("/", O_PATH | O_CLOEXEC);
}

static void give_one(struct exact_spares *s)
{
	size_t i;

	for (i = 0; i < EXACT_SPARES && s->fd[i] < 0; i++)
		;
	if (i == EXACT_SPARES)
		return;
	close(s->fd[i]);
	s->fd[i] = -1;
}

bool exact_spares_turn_away(struct exact_spares *s, int listen_fd)
{
	int fd = -1, left = EXACT_SPARES;

	while (fd < 0 && left--) {
		give_one(s);
		fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && errno != EMFILE && errno != ENFILE)
			break;
	}
	if (fd >= 0)
		close(fd);
	exact_spares_take(s);
	return fd >= 0;
}

void exact_spares_close(struct exact_spares *s)
{
	size_t i;

	for (i = 0; i < EXACT_SPARES; i++)
		if (s->fd[i] >= 0)
			close(s->fd[i]);
}
