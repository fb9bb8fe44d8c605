/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grow.h - heap storage for the core's tables, made larger as they fill.
 *
 * The core works in its caller's storage; these helpers are the caller that the
 * user engine and the reports share.  A table set up by grow_X_init() is given
 * back by grow_X_fini(), and only its memory is theirs: everything else goes
 * through the core's own calls.  On -ENOMEM the table is as it was.
 */
#ifndef GROW_H
#define GROW_H

#include "runtime/core/hvar_hot.h"
#include "runtime/core/hvar_module.h"
#include "runtime/core/hvar_strs.h"
#include "runtime/core/hvar_tasks.h"
#include "runtime/core/hvar_vmas.h"

int grow_strs_init(struct hvar_strs *p);
void grow_strs_fini(struct hvar_strs *p);
/* hvar_strs_add() that finds room: 0, -EINVAL or -ENOMEM. */
int grow_strs_add(struct hvar_strs *p, const char *s, size_t len, uint32_t *out);

int grow_modules_init(struct hvar_modules *t);
void grow_modules_fini(struct hvar_modules *t);
/* hvar_modules_add() that finds room: 0 or -ENOMEM. */
int grow_modules_add(struct hvar_modules *t, const struct hvar_module *as,
		     uint32_t *out);

int grow_tasks_init(struct hvar_tasks *t);
void grow_tasks_fini(struct hvar_tasks *t);
/*
 * Make sure that one more task and one more address space fit.  Moves them:
 * pointers into the table are good no longer.
 */
int grow_tasks_room(struct hvar_tasks *t);

int grow_hot_init(struct hvar_hot_table *t);
void grow_hot_fini(struct hvar_hot_table *t);
/* Make sure that one more variable and one more thread fit. */
int grow_hot_room(struct hvar_hot_table *t);

/* A list with room for @n areas at first. */
int grow_vmas_init(struct hvar_vmas *m, uint32_t n);
void grow_vmas_fini(struct hvar_vmas *m);
/* Twice the room, after -ENOSPC. */
int grow_vmas_more(struct hvar_vmas *m);
/* hvar_vmas_set() that finds room: 0, -EINVAL or -ENOMEM. */
int grow_vmas_set(struct hvar_vmas *m, uint64_t start, uint64_t end,
		  const struct hvar_vma *as);
/* @m, not set up yet, as a copy of @from. */
int grow_vmas_copy(struct hvar_vmas *m, const struct hvar_vmas *from);

/*
 * Room for @want elements of @size bytes at *@v, which has room for *@cap; at
 * least doubled, so that appending is cheap.  0 or -ENOMEM.
 */
int grow_array(void **v, size_t *cap, size_t want, size_t size);

#endif /* GROW_H */
