/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc.h - the small files of /proc/TID, and what they say of a task: proc_pid_stat(5).
 */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What /proc/@tid/@file says, up to @size - 1 bytes of it, into @buf, which is a string
 * then whatever happens.  Returns its length, -ESRCH if the task is gone (or there
 * is no such file), or -errno.
 */
int proc_read(pid_t tid, const char *file, char *buf, size_t size);

/* The part of /proc/TID/task/TID/stat that we use: of the thread, not of its process. */
struct proc_stat {
	char state;	      /* 'R', 'Z' */
	pid_t ppid;	      /* the process that has it as a child */
	unsigned long flags;  /* PF_... of the kernel's include/linux/sched.h */
	int cpu;	      /* it last ran on */
	uint64_t used_ticks;  /* CPU time, its own and the kernel's for it */
	uint64_t start_ticks; /* since boot; cut down to a whole one */
	uint64_t start_brk;   /* 0 if the kernel hides it */
};

/* 0, -ESRCH, -EPROTO or -errno; *@out is all zero then. */
int proc_stat(pid_t tid, struct proc_stat *out);
/* To ask that again and again at a third of the price: a descriptor, to be closed by close(2), or -1; and the answer, of that thread alone. */
int proc_stat_open(pid_t tid);
int proc_stat_by(int fd, struct proc_stat *out);

/* Ticks since boot, as @start_ticks: what begins from now on has no less. */
uint64_t proc_ticks_now(void);

/*
 * What wall clocks showed at the end of tick @start_ticks, when a task surely ran: a file
 * written in the same tick was there before.  0: not known.
 */
uint64_t proc_started_ns(uint64_t start_ticks);

/* Does /proc call us by the number we have?  Else it is that of another PID namespace, or none. */
bool proc_is_ours(void);

/* Its name into @name, "" if it is gone; true if there is one. */
#define PROC_COMM 16
bool proc_comm(pid_t tid, char name[PROC_COMM]);

/* Task @tid has an address space: it has not ended, and is no kernel thread. */
bool proc_has_memory(pid_t tid);

/*
 * Have tasks @a and @b one address space?  1, 0, or -errno: -ESRCH also if neither has any more: those that have ended
 * and were not waited for are all alike.
 */
int proc_same_memory(pid_t a, pid_t b);

/* Has process @pid ended, all of its threads?  0, 1, or -errno where the kernel does not tell, or @pid is a thread. */
int proc_has_ended(pid_t pid);

/* Had one of @pid's threads an address space when it was asked? */
bool proc_goes_on(pid_t pid);

/*
 * The task whose /proc/TID shows the memory, the program and the files of process @pid: its first thread, or, once that
 * has ended by pthread_exit(3), one of those that go on.  @pid if there is none, for what the kernel says then.
 */
pid_t proc_living(pid_t pid);

/*
 * open(2) of that task's @file ("maps", "pagemap").  A descriptor, -ESRCH if it is gone, or -errno: -EACCES also if /proc hides it.  What it shows is of the
 * memory that the process had then; "maps" and "smaps" show nothing more, -ESRCH, once that one thread has ended.
 */
int proc_open(pid_t pid, const char *file, int flags);

/* @n bytes at @addr of that memory, all of them: false with errno, which is ESRCH if it is gone. */
bool proc_peek(pid_t pid, uint64_t addr, void *buf, size_t n);

#endif /* PROC_H */
