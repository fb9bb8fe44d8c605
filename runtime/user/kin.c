// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "kin.h"

#include <stdlib.h>

#include "grow.h"
#include "proc.h"
#include "target.h"

void kin_fini(struct kin *k)
{
	free(k->v);
	*k = (struct kin){ 0 };
}

void kin_born(struct kin *k, pid_t pid)
{
	if (pid > 0 && !grow_array((void **)&k->v, &k->cap, k->n + 1, sizeof(*k->v)))
		k->v[k->n++] = pid;
}

/* The last ones are the first to end, mostly. */
void kin_ended(struct kin *k, pid_t pid)
{
	size_t i = k->n;

	while (i > 0 && k->v[i - 1] != pid)
		i--;
	if (i && proc_has_ended(pid))
		k->v[i - 1] = k->v[--k->n];
}

size_t kin_left(const struct kin *k, pid_t but, pid_t *one)
{
	size_t left = 0;

	*one = 0;
	for (size_t i = 0; i < k->n; i++) {
		if (k->v[i] == but || !target_is_alive(k->v[i]))
			continue;
		*one = k->v[i];
		left++;
	}
	return left;
}

void kin_note(const struct kin *k, pid_t cmd, struct session *s)
{
	pid_t one;
	size_t left = kin_left(k, cmd, &one);

	if (left == 1)
		session_note(s, "process %d, which CMD started, ran on when CMD had ended, and was measured up to then: measure it, or what it has started since, with -p",
			     (int)one);
	else if (left)
		session_note(s, "%zu processes that CMD started ran on when it had ended, and were measured up to then: measure them, or what they have started since, with -p; one is %d",
			     left, (int)one);
}
