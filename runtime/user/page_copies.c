// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_copies.c - pages that a process and its children copy.
 *
 * Kept by process, page and instruction, in chains of a fixed hash table; beyond MOST of them faults are
 * counted as lost.
 */
#include "config.h"

#include "page_copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "page_map.h"
#include "page_regions.h"

enum { SLOTS = 1 << 14, MOST = 1 << 18 };

static struct page_copy *find(struct page_copies *c, const struct page_fault *f, uint64_t ip, uint32_t **slot)
{
	uint64_t h = (f->addr >> PAGE_BITS) * 0x9e3779b97f4a7c15ull ^ ip * 0xff51afd7ed558ccdull ^ (uint64_t)f->pid << 40;
	uint32_t i;

	*slot = &c->slots[h >> 40 & (SLOTS - 1)];
	for (i = **slot; i; i = c->v[i - 1].next) {
		struct page_copy *v = &c->v[i - 1];

		if (v->pid == f->pid && v->ip == ip && v->addr >> PAGE_BITS == f->addr >> PAGE_BITS)
			return v;
	}
	return NULL;
}

static uint64_t as_page(pid_t pid)
{
	return (uint64_t)pid << PAGE_BITS;
}

static bool is_copy(const struct page_copies *c, const struct page_fault *f)
{
	if (f->addr >= PAGE_USER_END || (!c->forked && f->pid == c->pid))
		return false;
	if (f->error >= 0)
		return (f->error & (PAGE_FAULT_PRESENT | PAGE_FAULT_WRITE)) == (PAGE_FAULT_PRESENT | PAGE_FAULT_WRITE);
	return page_set_has(&c->before, f->addr);
}

static void take_fault(void *ctx, const struct page_fault *f)
{
	struct page_copies *c = ctx;
	uint64_t ip = f->ip < PAGE_USER_END ? f->ip : 0;
	struct page_copy *v;
	uint32_t *slot;

	c->told |= f->error >= 0;
	if (!is_copy(c, f) || page_set_has(&c->gone, as_page(f->pid)))
		return;
	v = find(c, f, ip, &slot);
	if (v) {
		v->faults++;
		return;
	}
	if (c->n >= MOST || grow_array((void **)&c->v, &c->cap, c->n + 1, sizeof(*c->v))) {
		c->lost++;
		return;
	}
	c->v[c->n] = (struct page_copy){ .pid = f->pid, .addr = f->addr, .ip = ip, .faults = 1, .next = *slot };
	*slot = (uint32_t)++c->n;
}

/* Its addresses mean something else from now on. */
static void take_exec(void *ctx, pid_t pid)
{
	struct page_copies *c = ctx;

	if (pid != c->pid)
		page_set_add(&c->gone, as_page(pid));
}

static void take_fork(void *ctx, pid_t child, pid_t parent)
{
	struct page_copies *c = ctx;

	if (child == parent) /* a thread */
		return;
	c->forked = true;
	/* a number that is used again is another process's; what a program has made that was executed is not ours */
	if (page_set_has(&c->gone, as_page(parent)))
		page_set_add(&c->gone, as_page(child));
	else
		page_set_remove(&c->gone, as_page(child));
}

static int note_anon(void *ctx, uint64_t start, const uint64_t *entries, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (page_present(entries[i]) && !(entries[i] & (PAGE_FILES | PAGE_ZERO)))
			page_set_add(ctx, start + i * PAGE_BYTES);
	return 0;
}

static int note_before(struct page_copies *c, const struct hvar_vmas *vmas)
{
	const struct hvar_vma *v = hvar_vmas_next(vmas, 0);
	struct page_map m;
	int err = page_map_open(&m, c->pid);

	if (err)
		return err;
	for (; v && v->end <= PAGE_USER_END && !err; v = hvar_vmas_next(vmas, v->end))
		if (!(v->prot & HVAR_PROT_SHARED))
			err = page_map_walk(&m, v->start, v->end, note_anon, &c->before);
	page_map_close(&m);
	return err;
}

int page_copies_begin(struct page_copies *c, pid_t pid, const struct hvar_vmas *vmas, struct err *e)
{
	struct page_faults_ask ask = {
		.pid = pid,
		.on_exec = !vmas,
		.errors = true,
		.fault = take_fault,
		.executed = take_exec,
		.forked = take_fork,
		.ctx = c,
	};

	memset(c, 0, sizeof(*c));
	c->pid = pid;
	c->forked = vmas; /* it may have children already */
	c->launched = !vmas;
	c->slots = calloc(SLOTS, sizeof(*c->slots));
	if (!c->slots)
		return err_set(e, ENOMEM, "cannot watch for copies: no memory: free some");
	c->faults = page_faults_new(&ask, e);
	if (!c->faults)
		return -EACCES;
	if (vmas && note_before(c, vmas))
		return err_set(e, EACCES, "cannot watch process %d for copies: /proc/%d/pagemap cannot be read; run as its owner or as root",
			       (int)pid, (int)pid);
	return 0;
}

void page_copies_fini(struct page_copies *c)
{
	page_faults_free(c->faults);
	page_set_fini(&c->before);
	free(c->v);
	free(c->slots);
	page_set_fini(&c->gone);
	memset(c, 0, sizeof(*c));
}

bool page_copies_unknown(const struct page_copies *c)
{
	return c->launched && c->forked && !c->told;
}

void page_copies_wait(struct page_copies *c, int ms)
{
	page_faults_wait(c->faults, ms);
}

void page_copies_executed(struct page_copies *c)
{
	page_faults_drain(c->faults);
	c->n = 0;
	c->forked = false;
	memset(c->slots, 0, SLOTS * sizeof(*c->slots));
	page_set_empty(&c->before);
}
