/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * relook.h - which processes' maps to read again, and when, in a bounded share of time.
 *
 * perf tells of mappings that appear, not of those that go (munmap, a shrunk
 * brk, mremap).  So the maps of processes that did anything are read again now
 * and then, in turn, as often as the share of time for it allows: a small map at every
 * tick, one of 60,000 areas every few seconds.
 */
#ifndef RELOOK_H
#define RELOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct relook;

/* At most one part in @share of the time goes into looking.  NULL: no memory. */
struct relook *relook_new(unsigned share);
void relook_free(struct relook *l);

/* @pid did something: ran (@sampled) or mapped.  -ENOMEM: it is not looked at. */
int relook_active(struct relook *l, pid_t pid, bool sampled);
/* Its whole map was read, as it was at @time_ns; 0: is not known any more (exec). */
void relook_saw(struct relook *l, pid_t pid, uint64_t time_ns);
/* When that was: older news of the map is no news.  0: never. */
uint64_t relook_seen(const struct relook *l, pid_t pid);
/* It has ended.  Returns whether it was ever sampled. */
bool relook_gone(struct relook *l, pid_t pid);

/* Nothing tells who did something: each process may have. */
void relook_any(struct relook *l);

/* News may be lost: look at every process, whatever it costs, at the next relook_run(). */
void relook_all(struct relook *l);

/*
 * For @look of relook_run(): was nothing told of @pid's map since it was last seen whole?  And: it was not looked at whole this
 * time, either.
 */
bool relook_is_untold(const struct relook *l, pid_t pid);
void relook_unseen(struct relook *l, pid_t pid);

/* Look at what is due: @look(ctx, pid, now). */
void relook_run(struct relook *l,
		void (*look)(void *ctx, pid_t pid, uint64_t now_ns), void *ctx);

#endif /* RELOOK_H */
