// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_since.c - the moment since which touched pages are counted.
 *
 * Writing 1 to /proc/PID/clear_refs clears the reference bits, but leaves the processors'
 * copies of the entries, through which a page can be used without the bit being set again.
 * Writing 4 drops those copies, on every kernel: it is meant for soft-dirty bits, which it
 * clears where the kernel has them (fs/proc/task_mmu.c, clear_refs_write()).
 */
#include "config.h"

#include "page_since.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"

enum { TRIES = 16 };

static int clear_once(pid_t pid)
{
	int fd = proc_open(pid, "clear_refs", O_WRONLY), err = fd < 0 ? -fd : 0;

	if (!err && write(fd, "1", 1) != 1)
		err = errno;
	if (!err && (lseek(fd, 0, SEEK_SET) || write(fd, "4", 1) != 1))
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

int page_since_clear(pid_t pid, struct err *e)
{
	int err = ESRCH;

	/* The thread through which it is done may end meanwhile, and others go on. */
	for (int i = 0; i < TRIES && err == ESRCH && (!i || !proc_has_ended(pid)); i++)
		err = clear_once(pid);
	return err ? err_set(e, err, "cannot clear the reference bits of process %d: /proc/%d/clear_refs: %s; run as its owner or as root",
			     (int)pid, (int)pid, strerror(err)) :
		     0;
}

static int add_present(void *ctx, uint64_t start, const uint64_t *entries, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (page_present(entries[i]))
			page_set_add(ctx, start + i * PAGE_BYTES);
	return 0;
}

/* What is there now is not new. */
static int note_present(struct page_since *s, const struct hvar_vmas *vmas)
{
	const struct hvar_vma *v = hvar_vmas_next(vmas, 0);
	struct page_map m;
	int err = page_map_open(&m, s->pid);

	for (; v && v->end <= PAGE_USER_END && !err; v = hvar_vmas_next(vmas, v->end))
		err = page_map_walk(&m, v->start, v->end, add_present, &s->before);
	if (m.entries)
		page_map_close(&m);
	return err ? err : s->before.lost ? -ENOMEM : 0;
}

int page_since_now(struct page_since *s, pid_t pid, const struct hvar_vmas *vmas)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->pid = pid;
	s->attached = true;
	s->faults = page_faults_new(&(struct page_faults_ask){ .pid = pid, .set = &s->faulted }, &s->why);
	s->cleared = !page_since_clear(pid, &s->why_clear);
	err = note_present(s, vmas);
	if (err == -ENOMEM)
		return err;
	s->cleared &= !err;
	return 0;
}

void page_since_exec(struct page_since *s, pid_t pid)
{
	memset(s, 0, sizeof(*s));
	s->pid = pid;
	s->faults = page_faults_new(&(struct page_faults_ask){ .pid = pid, .on_exec = true, .set = &s->faulted },
				    &s->why);
}

void page_since_executed(struct page_since *s)
{
	if (!s->faults)
		return;
	page_faults_drain(s->faults);
	page_set_empty(&s->faulted);
}

void page_since_fini(struct page_since *s)
{
	page_faults_free(s->faults);
	page_set_fini(&s->before);
	page_set_fini(&s->faulted);
	s->faults = NULL;
}

void page_since_wait(struct page_since *s, int ms)
{
	if (s->faults)
		page_faults_wait(s->faults, ms);
	else
		poll(NULL, 0, ms);
}

void page_since_ask(struct page_since *s, struct page_regions_ask *ask)
{
	if (s->faults)
		page_faults_drain(s->faults);
	ask->since = true;
	ask->smaps = true;
	ask->cleared = s->cleared;
	ask->before = s->attached ? &s->before : NULL;
	ask->faults = s->faults ? &s->faulted : NULL;
}
