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

/* Has @pid one thread only? */
bool turns_alone(pid_t pid);

#endif /* TURNS_H */
