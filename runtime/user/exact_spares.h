/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_spares.h - descriptors that are kept to hear, and turn away, one more process when no other is left.
 *
 * More than one: the report's thread opens files too, and may take what one of them leaves before we do.
 */
#ifndef EXACT_SPARES_H
#define EXACT_SPARES_H

#include <stdbool.h>

enum { EXACT_SPARES = 4 };

struct exact_spares {
	int fd[EXACT_SPARES]; /* -1: not ours now */
};

#define EXACT_SPARES_NONE ((struct exact_spares){ { -1, -1, -1, -1 } })

/* Take again what is missing, as far as there is any. */
void exact_spares_take(struct exact_spares *s);

/* Turn away the first that waits at @listen_fd, at the cost of spares for a moment.  False: nobody does, or there is no spare left. */
bool exact_spares_turn_away(struct exact_spares *s, int listen_fd);

void exact_spares_close(struct exact_spares *s);

#endif /* EXACT_SPARES_H */
