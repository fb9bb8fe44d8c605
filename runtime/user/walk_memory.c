// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walk_memory.h"

#include <stdlib.h>
#include <string.h>

#include "proc.h"

enum {
	PAGE = 4096,
	PAGES = 512,  /* in one walk: each is a system call */
	SLOTS = 2048, /* a power of 2 */
	MASKS = 64,   /* pages with unknown bytes */
};

struct page {
	uint64_t addr;
	uint8_t *unknown; /* a bit for each byte; NULL: all are known */
	bool there;
	uint8_t bytes[PAGE];
};

struct walk_memory {
	pid_t pid;
	struct page *last;
	uint32_t n, n_masks;
	uint32_t stamp,
		stamps[SLOTS]; /* a slot is used if it has this walk's */
	uint16_t slot[SLOTS];
	struct page pages[PAGES];
	uint8_t masks[MASKS][PAGE / 8];
};

struct walk_memory *walk_memory_new(void)
{
	return calloc(1, sizeof(struct walk_memory));
}

void walk_memory_free(struct walk_memory *m)
{
	free(m);
}

void walk_memory_begin(struct walk_memory *m, pid_t pid)
{
	m->pid = pid;
	m->last = NULL;
	m->n = m->n_masks = 0;
	if (!++m->stamp) {
		memset(m->stamps, 0, sizeof(m->stamps));
		m->stamp = 1;
	}
}

static struct page *page_at(struct walk_memory *m, uint64_t addr)
{
	uint32_t i = (uint32_t)(addr / PAGE * 0x9e3779b97f4a7c15ull >> 40) &
		     (SLOTS - 1);
	struct page *p;

	if (m->last && m->last->addr == addr)
		return m->last;
	for (; m->stamps[i] == m->stamp; i = (i + 1) & (SLOTS - 1)) {
		p = &m->pages[m->slot[i]];
		if (p->addr == addr)
			return m->last = p;
	}
	if (m->n == PAGES)
		return NULL;
	m->stamps[i] = m->stamp;
	m->slot[i] = (uint16_t)m->n;
	p = &m->pages[m->n++];
	p->addr = addr;
	p->unknown = NULL;
	p->there = proc_peek(m->pid, addr, p->bytes, PAGE);
	return m->last = p;
}

static bool any_unknown(const struct page *p, size_t off, size_t len)
{
	if (!p->unknown)
		return false;
	for (size_t i = off; i < off + len; i++)
		if (p->unknown[i / 8] & 1u << i % 8)
			return true;
	return false;
}

enum walk_memory_result walk_memory_read(struct walk_memory *m, uint64_t addr,
					 void *to, size_t len)
{
	enum walk_memory_result r = WALK_MEMORY_KNOWN;

	while (len) {
		size_t off = addr % PAGE, n = PAGE - off;
		const struct page *p = page_at(m, addr - off);

		n = n < len ? n : len;
		if (!p || !p->there)
			return WALK_MEMORY_NONE;
		memcpy(to, p->bytes + off, n);
		if (any_unknown(p, off, n))
			r = WALK_MEMORY_UNKNOWN;
		to = (uint8_t *)to + n;
		addr += n;
		len -= n;
	}
	return r;
}

static bool mark(struct walk_memory *m, struct page *p, size_t off, size_t len,
		 bool unknown)
{
	if (!p->unknown && !unknown)
		return true;
	if (!p->unknown) {
		if (m->n_masks == MASKS)
			return false;
		p->unknown = m->masks[m->n_masks++];
		memset(p->unknown, 0, PAGE / 8);
	}
	for (size_t i = off; i < off + len; i++) {
		uint8_t bit = (uint8_t)(1u << i % 8);

		p->unknown[i / 8] =
			(uint8_t)(unknown ? p->unknown[i / 8] | bit
					  : p->unknown[i / 8] & ~bit);
	}
	return true;
}

bool walk_memory_write(struct walk_memory *m, uint64_t addr, const void *from,
		       size_t len)
{
	while (len) {
		size_t off = addr % PAGE, n = PAGE - off;
		struct page *p = page_at(m, addr - off);

		n = n < len ? n : len;
		if (!p || !p->there || !mark(m, p, off, n, !from))
			return false;
		if (from) {
			memcpy(p->bytes + off, from, n);
			from = (const uint8_t *)from + n;
		}
		addr += n;
		len -= n;
	}
	return true;
}
