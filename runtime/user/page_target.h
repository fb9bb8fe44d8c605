/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_target.h - CMD, launched to look at its pages, and stopped when it has just
 * been executed and when it is about to end, with all its memory still there.
 *
 * Traced by ptrace for these two stops alone; signals and job control pass through.  All calls
 * from the thread that starts it.  A first thread that ends by itself, pthread_exit(3), while
 * others go on is no end: one of these is traced in its place then.  Nor is it one that another thread than the traced one
 * executes a program: the stop is before its first instruction then, too.
 */
#ifndef PAGE_TARGET_H
#define PAGE_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "err.h"
#include "launch.h"

enum page_target_news {
	PAGE_TARGET_NOTHING,  /* it runs */
	PAGE_TARGET_EXECUTED, /* stopped: it has executed a program */
	PAGE_TARGET_ENDING,   /* stopped: it will end when it goes on */
	PAGE_TARGET_ENDED,    /* wait_status is set */
};

struct page_target {
	struct launch launch;
	pid_t pid;
	pid_t task;	 /* the thread of it that is traced */
	bool stopped;	 /* at one of the two */
	bool fresh;	 /* a thread that was not traced has executed a program: its SIGSTOP of ours has not come yet, */
	bool dropped;	 /* or will come to nothing */
	bool guarded;	 /* likewise, and it may not be traced: it runs, and there are no more stops */
	int wait_status; /* of waitpid(2), once it has ended */
};

/* Fork and seize the child; it waits.  @t->launch is found already.  0 or -errno and @e. */
int page_target_start(struct page_target *t, char *const argv[], struct err *e);
/* Let it execute, up to the stop behind.  0 or -errno and @e; it is gone then. */
int page_target_execute(struct page_target *t, struct err *e);
/* Let it go on if it is stopped, and see what there is, without waiting. */
enum page_target_news page_target_news(struct page_target *t);

#endif /* PAGE_TARGET_H */
