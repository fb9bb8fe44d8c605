// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages_watch.c - hotvar pages --copies: from its begin to its rows.
 */
#include "config.h"

#include "pages_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "onlooker.h"
#include "runtime/report/pages_copies.h"
#include "runtime/user/clock.h"
#include "runtime/user/live.h"
#include "runtime/user/page_copies.h"
#include "runtime/user/target.h"

enum { TICK_MS = 20 };

static uint64_t end_of(const struct pages_watch *w)
{
	return w->seconds > 0 ? clock_now_ns() + (uint64_t)(w->seconds * 1e9) : UINT64_MAX;
}

static int write_rows(struct pages_watch *w, struct page_copies *c, struct live *l, struct err *e)
{
	uint64_t lost;

	page_faults_drain(c->faults);
	lost = c->lost + page_faults_lost(c->faults);
	if (pages_copies_write(w->f, w->json, c, l, &w->rows))
		return err_set(e, ENOMEM, "cannot name the pages that were copied: no memory: free some");
	if (w->quiet)
		return 0;
	if (page_copies_unknown(c))
		fputs("hotvar: note: page faults alone do not tell what a command's processes copy: as root, mount -t tracefs tracefs /sys/kernel/tracing; or watch a process that runs already, with -p PID\n",
		      stderr);
	else if (!c->told && c->n)
		fputs("hotvar: note: faults do not tell what they were: what was there when it began is taken as copied; run as root, with tracefs mounted\n",
		      stderr);
	if (lost)
		fprintf(stderr, "hotvar: note: %" PRIu64 " page faults were lost: there were more copies\n", lost);
	return 0;
}

static int attached(struct pages_watch *w, struct page_copies *c, struct err *e)
{
	struct live *l = live_open(w->pid, e);
	uint64_t end;
	int err;

	if (!l)
		return -errno;
	err = page_copies_begin(c, w->pid, live_vmas(l), e);
	end = end_of(w);
	while (!err && !*w->asked && clock_now_ns() < end) {
		bool alive = target_is_alive(w->pid);

		page_copies_wait(c, TICK_MS);
		if (!alive)
			break;
	}
	if (!err)
		live_look(l, true);
	if (!err)
		err = write_rows(w, c, l, e);
	live_free(l);
	return err;
}

static int launched(struct pages_watch *w, struct page_copies *c, struct err *e)
{
	enum page_target_news news;
	struct live *l = NULL;
	bool done = false;
	uint64_t end;
	int err = page_target_start(w->target, w->argv, e), late;

	if (err)
		return err;
	w->pid = w->target->pid;
	err = page_copies_begin(c, w->pid, NULL, e);
	/* without the watching there is nothing to run it for */
	if (err) {
		launch_abort(&w->target->launch);
		return err;
	}
	err = page_target_execute(w->target, e);
	if (err)
		return err;
	end = end_of(w);
	do {
		if (*w->asked)
			onlooker_pass_on(w->pid);
		news = page_target_news(w->target);
		if (news == PAGE_TARGET_NOTHING)
			page_copies_wait(c, TICK_MS);
		else if (news == PAGE_TARGET_EXECUTED)
			page_copies_executed(c);
		late = !done && (news == PAGE_TARGET_ENDING || clock_now_ns() >= end);
		if (late && !err) {
			l = live_open(w->pid, e);
			err = l ? write_rows(w, c, l, e) : -errno;
			live_free(l);
			done = true;
		}
	} while (news != PAGE_TARGET_ENDED);
	if (!done && !err && w->target->guarded)
		err = err_set(e, EACCES, "cannot look at the pages of '%s': what one of its threads executed guards its memory, as set-user-ID programs do, or those that may not be read; run hotvar as root",
			      w->argv[0]);
	else if (!done && !err)
		err = err_set(e, ESRCH, "'%s' ended before its pages could be named: look earlier, with -d SECONDS",
			      w->argv[0]);
	return err;
}

int pages_watch_copies(struct pages_watch *w, struct err *e)
{
	struct page_copies c = { 0 };
	int err = w->argv ? launched(w, &c, e) : attached(w, &c, e);

	page_copies_fini(&c);
	return err;
}
