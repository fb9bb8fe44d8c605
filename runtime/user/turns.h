/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * turns.h - how often the threads of a process take turns on a CPU.
 */
#ifndef TURNS_H
#define TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How long they run before another takes the CPU over, on average since they began; 0: not known. */
uint64_t turns_slice_ns(pid_t pid);

/* How often thread @tid of @pid has begun to run, on any CPU.  False: it has ended, or this kernel does not count that. */
bool turns_begun(pid_t pid, pid_t tid, uint64_t *out);

/* To ask that again and again at half the price: a descriptor, to be closed by close(2), or -1; and the answer, of that thread alone. */
int turns_open(pid_t pid, pid_t tid);
bool turns_begun_by(int fd, uint64_t *out);

/* Does this kernel count that?  False only if that is sure. */
bool turns_are_counted(void);

/* Has @pid one thread only? */
bool turns_alone(pid_t pid);

/*
 * Threads that inherited the same events take over each other's timers when they take turns, for next to
 * nothing.  One that has an event of its own never does so again, which costs
 * 10 us at each turn: too much for threads that wait for each other all the time.
 */
struct turns_cost {
	pid_t first_pid;
	bool many_processes; /* samples of another came, too */
	pid_t asked_pid;     /* the last answer, for some rounds */
	uint64_t asked_round;
	bool is_low;
};

/* A sample of @pid came. */
void turns_cost_saw(struct turns_cost *t, pid_t pid);

/* May a thread of @pid have an event of its own?  @round: counts what is done with such events; the same answer holds for some. */
bool turns_cost_is_low(struct turns_cost *t, pid_t pid, uint64_t round);

#endif /* TURNS_H */
