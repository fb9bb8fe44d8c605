/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.h - a process as it is at this moment: what is mapped in it, and the names of that.
 *
 * For questions about addresses of a running process, without following it.
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "jit.h"
#include "runtime/core/hvar_key.h"
#include "runtime/core/hvar_resolve.h"

struct live;

/* Look at @pid.  Returns NULL, errno and @e: gone (ESRCH), not ours (EACCES, EPERM), a kernel thread (EINVAL), or EMFILE and the like. */
struct live *live_open(pid_t pid, struct err *e);
void live_free(struct live *l);

/*
 * Look again if that was a while ago, or now with @now.  A process that is gone
 * by then stays as it was seen last.
 */
void live_look(struct live *l, bool now);

/* Has the process still the memory that was looked at?  It has not once it has ended, or executed a program. */
bool live_is_there(const struct live *l);

/* Fill *@out for @addr, of the last look. */
void live_resolve(struct live *l, uint64_t addr, struct hvar_place *out);

/* What was mapped at the last look; good until the next. */
const struct hvar_vmas *live_vmas(const struct live *l);

/* The image of module @id, NULL and a reason if there is none: an hvar_image_of_fn. */
const struct hvar_image *live_image(void *live, uint32_t id, uint32_t *why);

/* Module @id and its path; NULL and "" for 0.  Good until the next look. */
const struct hvar_module *live_module(const struct live *l, uint32_t id);
const char *live_path(const struct live *l, uint32_t id);

/*
 * Does a write at @addr, in @p's area, stay in this address space?  By the
 * page's entry in /proc/PID/pagemap; where that may not be read, a writable page of a private
 * mapping is taken as copied.
 */
bool live_private(struct live *l, uint64_t addr, const struct hvar_place *p);

/* Whose is the page at @addr, by the same entry?  UNKNOWN where that may not be read. */
enum hvar_page_state live_page_state(struct live *l, uint64_t addr);

/*
 * What memory the byte at @addr, in area @v, really is.  The address space's number is that of its process;
 * if it shares it with its parent (vfork, CLONE_VM), that of the eldest that does.
 */
struct hvar_key live_key(struct live *l, const struct hvar_vma *v, uint64_t addr, enum hvar_page_state page);

/* Is @addr, in @p's area, code that a compiler in the process has made and named? */
bool live_jit(struct live *l, uint64_t addr, const struct hvar_place *p, struct jit_code *out);

/*
 * Is @addr thread-local memory?  Then @p, which live_resolve() has filled, becomes the variable there, and
 * *@thread the thread pointer of its thread.
 */
bool live_tls(struct live *l, uint64_t addr, struct hvar_place *p, uint64_t *thread);

#endif /* LIVE_H */
