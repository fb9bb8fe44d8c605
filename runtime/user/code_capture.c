// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "code_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "runtime/core/hvar_env.h"

enum {
	PAGE = HVAR_PAGE_SIZE,
	FIRST_SLOTS = 1024,
	REREAD_NS = 1000000000,
};

enum page_flags {
	PAGE_USED = 1,
	PAGE_PUT = 2,	/* the stream has it */
	PAGE_FIXED = 4, /* and it cannot change */
	PAGE_LOST = 8,	/* counted as lost */
	PAGE_NEXT = 16, /* the page after it was seen to */
	PAGE_PREV = 32, /* the page before it */
};

struct page {
	struct code_site at; /* of its first byte */
	uint64_t read_ns;    /* when it was last read, or tried */
	uint64_t hash;	     /* of what was put */
	uint32_t flags;
	uint32_t len;
};

struct code_capture {
	struct tracker *t;
	struct stream *out;
	struct page *v; /* hash table, never full */
	size_t slots, used;
	uint64_t lost, lost_memory;
	uint64_t bytes[PAGE / 8];
};

struct code_capture *code_capture_new(struct tracker *t, struct stream *out)
{
	struct code_capture *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->t = t;
	c->out = out;
	c->slots = FIRST_SLOTS;
	c->v = calloc(c->slots, sizeof(*c->v));
	if (!c->v) {
		free(c);
		return NULL;
	}
	return c;
}

void code_capture_free(struct code_capture *c)
{
	if (!c)
		return;
	free(c->v);
	free(c);
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static struct page *slot_of(struct page *v, size_t slots, const struct code_site *at)
{
	uint64_t h = mix(at->where ^ mix((uint64_t)at->module << 32 | at->mm));

	for (size_t i = h & (slots - 1);; i = (i + 1) & (slots - 1)) {
		struct page *p = &v[i];

		if (!p->flags || (p->at.where == at->where && p->at.mm == at->mm &&
				  p->at.module == at->module))
			return p;
	}
}

static bool grow(struct code_capture *c)
{
	size_t slots = c->slots * 2;
	struct page *v = calloc(slots, sizeof(*v));

	if (!v)
		return false;
	for (size_t i = 0; i < c->slots; i++)
		if (c->v[i].flags)
			*slot_of(v, slots, &c->v[i].at) = c->v[i];
	free(c->v);
	c->v = v;
	c->slots = slots;
	return true;
}

/* The entry of the page at @at, new if need be; NULL without memory. */
static struct page *page_of(struct code_capture *c, const struct code_site *at)
{
	struct page *p = slot_of(c->v, c->slots, at);

	if (p->flags)
		return p;
	if (c->used * 4 >= c->slots * 3) {
		if (!grow(c)) {
			c->lost_memory++;
			return NULL;
		}
		p = slot_of(c->v, c->slots, at);
	}
	c->used++;
	p->at = *at;
	p->flags = PAGE_USED;
	return p;
}

static uint64_t hash_of(const uint64_t *p, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n / 8; i++)
		h = (h ^ p[i]) * 0x9e3779b97f4a7c15ull + (h >> 31);
	return mix(h);
}

static size_t read_file(int fd, uint64_t where, void *buf)
{
	size_t got = 0;

	while (got < PAGE) {
		ssize_t n = pread(fd, (char *)buf + got, PAGE - got, (off_t)(where + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

/* What may only be executed is read through /proc, which asks for no permission of the page. */
static size_t read_memory(pid_t pid, uint64_t addr, void *buf)
{
	ssize_t n;
	int fd;

	if (proc_peek(pid, addr, buf, PAGE))
		return PAGE;
	fd = proc_open(pid, "mem", O_RDONLY);
	if (fd < 0)
		return 0;
	n = pread(fd, buf, PAGE, (off_t)addr);
	close(fd);
	return n == PAGE ? PAGE : 0;
}

static void put(struct code_capture *c, struct page *p, size_t len)
{
	struct stream_code head = { .module = p->at.module, .mm = p->at.mm,
				    .where = p->at.where };
	uint64_t hash = hash_of(c->bytes, len);

	if (p->flags & PAGE_PUT && p->hash == hash && p->len == len)
		return;
	stream_put(c->out, STREAM_CODE, &head, sizeof(head), c->bytes, len);
	p->flags |= PAGE_PUT;
	p->hash = hash;
	p->len = (uint32_t)len;
}

/* See to the page @addr lies in, of area @v. */
static struct page *capture(struct code_capture *c, pid_t pid, uint32_t mm,
			    const struct hvar_vma *v, uint64_t addr, uint64_t time_ns)
{
	struct code_site at;
	struct page *p;
	size_t len = 0;
	int fd = -1;

	code_site_of(v, mm, HVAR_PAGE_DOWN(addr), &at);
	p = page_of(c, &at);
	if (!p || p->flags & PAGE_FIXED)
		return p;
	if (p->read_ns && time_ns < p->read_ns + REREAD_NS)
		return p;
	p->read_ns = time_ns;
	if (at.module)
		fd = tracker_module_fd(c->t, at.module);
	if (fd >= 0)
		len = read_file(fd, at.where, c->bytes);
	if (!len)
		len = read_memory(pid, HVAR_PAGE_DOWN(addr), c->bytes);
	if (len)
		put(c, p, len);
	else if (!(p->flags & (PAGE_LOST | PAGE_PUT)))
		c->lost++;
	if (!len)
		p->flags |= PAGE_LOST;
	else if (at.module)
		p->flags |= PAGE_FIXED;
	return p;
}

/* The page before or after an ip's.  To ask where nothing is mapped costs a look: it is done once. */
static void capture_near(struct code_capture *c, pid_t pid, pid_t tid, uint32_t mm,
			 uint64_t addr, uint64_t time_ns)
{
	const struct hvar_vma *v = tracker_find(c->t, tid, addr, time_ns);

	if (v && v->prot & HVAR_PROT_EXEC)
		capture(c, pid, mm, v, addr, time_ns);
}

void code_capture_at(struct code_capture *c, pid_t pid, pid_t tid, uint32_t mm,
		     uint64_t ip, uint64_t time_ns)
{
	const struct hvar_vma *v = tracker_find(c->t, tid, ip, time_ns);
	uint64_t off = ip & HVAR_PAGE_MASK;
	bool next = off >= PAGE - CODE_CAPTURE_AFTER, prev = off < CODE_CAPTURE_BEFORE;
	struct page *p;

	if (!v)
		return;
	p = capture(c, pid, mm, v, ip, time_ns);
	if (!p || (!next && !prev))
		return;
	/* A neighbour that may change is read again when this one is. */
	next = next && (!(p->flags & PAGE_NEXT) || p->read_ns == time_ns);
	prev = prev && (!(p->flags & PAGE_PREV) || p->read_ns == time_ns);
	p->flags |= (next ? PAGE_NEXT : 0) | (prev ? PAGE_PREV : 0);
	if (next && ip < UINT64_MAX - 2 * PAGE)
		capture_near(c, pid, tid, mm, HVAR_PAGE_DOWN(ip) + PAGE, time_ns);
	if (prev && ip >= PAGE)
		capture_near(c, pid, tid, mm, HVAR_PAGE_DOWN(ip) - 1, time_ns);
}

uint64_t code_capture_pages(const struct code_capture *c)
{
	return c->used;
}

static void tell(struct code_capture *c, uint32_t what, uint64_t *count,
		 uint64_t time_ns)
{
	struct stream_loss loss = { .time_ns = time_ns, .what = what, .count = *count };

	if (*count)
		stream_put(c->out, STREAM_LOSS, &loss, sizeof(loss), NULL, 0);
	*count = 0;
}

void code_capture_tell_losses(struct code_capture *c, uint64_t time_ns)
{
	tell(c, STREAM_LOST_CODE, &c->lost, time_ns);
	tell(c, STREAM_LOST_MEMORY, &c->lost_memory, time_ns);
}
