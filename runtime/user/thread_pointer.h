/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_pointer.h - the thread pointer (fs base) of another thread, that nobody has to stop.
 */
#ifndef THREAD_POINTER_H
#define THREAD_POINTER_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Of 64-bit thread @tid of process @pid; 0: not known.  glibc registers a list of locks for each thread
 * (set_robust_list(2)) that lies behind its control block, and a control block holds its own address at the
 * beginning and in its third word: tcbhead_t.
 */
uint64_t thread_pointer(pid_t pid, pid_t tid);

#endif /* THREAD_POINTER_H */
