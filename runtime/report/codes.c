// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "codes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, FIRST_SLOTS = 256 };

/* Pages together: a hostile recording may hold more than memory does. */
enum { MOST_PAGES = 1 << 18 };

struct page {
	uint64_t number; /* where / PAGE */
	uint32_t module, mm;
	uint64_t known[PAGE / 64]; /* a bit for each byte */
	uint8_t bytes[PAGE];
};

/* Open addressing; never more than half full. */
struct codes {
	struct page **slots;
	size_t n_slots, n;
};

static size_t slot_of(const struct codes *c, uint32_t module, uint32_t mm,
		      uint64_t number)
{
	uint64_t h = (number * 0x9e3779b97f4a7c15ull) ^ ((uint64_t)module << 32 | mm);
	size_t i;

	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull;
	for (i = (h >> 32) & (c->n_slots - 1); c->slots[i]; i = (i + 1) & (c->n_slots - 1)) {
		const struct page *p = c->slots[i];

		if (p->number == number && p->module == module && p->mm == mm)
			break;
	}
	return i;
}

static int grow(struct codes *c)
{
	struct codes bigger = { .n_slots = c->n_slots ? 2 * c->n_slots : FIRST_SLOTS,
				.n = c->n };
	size_t i;

	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (i = 0; i < c->n_slots; i++) {
		struct page *p = c->slots[i];

		if (p)
			bigger.slots[slot_of(&bigger, p->module, p->mm, p->number)] = p;
	}
	free(c->slots);
	*c = bigger;
	return 0;
}

static struct page *page_for(struct codes *c, uint32_t module, uint32_t mm,
			     uint64_t number)
{
	size_t i;

	if (2 * (c->n + 1) > c->n_slots && grow(c))
		return NULL;
	i = slot_of(c, module, mm, number);
	if (!c->slots[i]) {
		struct page *p;

		if (c->n >= MOST_PAGES)
			return NULL;
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->number = number;
		p->module = module;
		p->mm = mm;
		c->slots[i] = p;
		c->n++;
	}
	return c->slots[i];
}

/* The bits @from..@to, which are not more than one word's, of the word that @from is in. */
static uint64_t bits(size_t from, size_t to)
{
	return (to - from == 64 ? ~0ull : (1ull << (to - from)) - 1) << from % 64;
}

static size_t word_end(size_t i, size_t end)
{
	size_t next = (i | 63) + 1;

	return next < end ? next : end;
}

static void know(struct page *p, size_t at, size_t end)
{
	for (size_t i = at, next; i < end; i = next) {
		next = word_end(i, end);
		p->known[i / 64] |= bits(i, next);
	}
}

/* Where the bytes from @at on that are known end, at most @end. */
static size_t known_until(const struct page *p, size_t at, size_t end)
{
	for (size_t i = at, next; i < end; i = next) {
		uint64_t lacks;

		next = word_end(i, end);
		lacks = ~p->known[i / 64] & bits(i, next);
		if (lacks)
			return (i & ~(size_t)63) + (size_t)__builtin_ctzll(lacks);
	}
	return end;
}

int codes_put(struct codes *c, uint32_t module, uint32_t mm, uint64_t where,
	      const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	while (n) {
		size_t at = where % PAGE, len = PAGE - at < n ? PAGE - at : n;
		struct page *p = page_for(c, module, mm, where / PAGE);

		if (!p)
			return -ENOMEM;
		memcpy(p->bytes + at, from, len);
		know(p, at, at + len);
		where += len;
		from += len;
		n -= len;
	}
	return 0;
}

size_t codes_get(const struct codes *c, uint32_t module, uint32_t mm, uint64_t where,
		 void *buf, size_t n)
{
	uint8_t *to = buf;
	size_t done = 0;

	while (c->n_slots && done < n) {
		size_t at = where % PAGE, len = PAGE - at < n - done ? PAGE - at : n - done, end;
		const struct page *p = c->slots[slot_of(c, module, mm, where / PAGE)];

		if (!p)
			break;
		end = known_until(p, at, at + len);
		memcpy(to + done, p->bytes + at, end - at);
		done += end - at;
		where += end - at;
		if (end < at + len)
			break;
	}
	return done;
}

struct codes *codes_new(void)
{
	return calloc(1, sizeof(struct codes));
}

void codes_free(struct codes *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->n_slots; i++)
		free(c->slots[i]);
	free(c->slots);
	free(c);
}
