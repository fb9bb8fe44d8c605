// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grow.h"

enum {
	PAGE = 4096,
	MOST_OBJECTS = 1 << 24,
	MOST_TIDS = 1 << 12, /* of a site */
	INLINE = 32, /* words of which no memory of their own is needed to say how they were touched */
	MANY = 4096, /* words */
	READ = 1,
	WRITTEN = 2,
};

struct text {
	unsigned users;
	bool maps;
	size_t len;
	char v[];
};

struct site {
	struct text *text;
	uint32_t *tids;
	size_t n_tids, cap_tids;
	/* once it is open */
	struct hvt_site counted;
	bool open; /* something was counted in objects that are there */
	struct hvt_offset *offsets; /* counted.n_offsets; NULL: none */
};

struct object {
	uint64_t start, size;
	/* READ, WRITTEN for each 8 bytes: of up to INLINE in the number; else four in one byte, NULL: nothing was touched */
	union {
		uint64_t few;
		uint8_t *many;
	} touched;
	uint32_t site;
	bool untracked; /* for want of memory: nothing is said of what was never touched */
	bool old; /* the process has it from its parent: what was never touched was its parent's */
};

struct exact_heap {
	struct site *v; /* by number */
	size_t n, cap;
	struct object *objects; /* by start */
	size_t n_objects, cap_objects;
	size_t last; /* found */
	size_t n_offsets; /* of all sites */
};

/* ---- sites ---- */

static struct site *site_of(struct exact_heap *h, uint64_t number)
{
	size_t n = h->n;

	if (!number || number >= HVT_SITES_MAX)
		return NULL;
	if (number >= n) {
		if (grow_array((void **)&h->v, &h->cap, number + 1, sizeof(*h->v)))
			return NULL;
		memset(h->v + n, 0, (number + 1 - n) * sizeof(*h->v));
		h->n = number + 1;
	}
	return &h->v[number];
}

static void drop(struct text *t)
{
	if (t && !--t->users)
		free(t);
}

/* Five strings for each of some frames. */
static bool text_ok(const char *text, size_t len)
{
	size_t strings = 0, i;

	for (i = 0; i < len; i++)
		strings += !text[i];
	return len <= HVT_STACK_MAX && (!len || !text[len - 1]) && !(strings % 5) && strings <= 5 * HVT_FRAMES_MAX;
}

int exact_heap_site(struct exact_heap *h, uint64_t number, bool maps, const char *text, size_t len)
{
	struct site *s;
	struct text *t;

	if (!number || number >= HVT_SITES_MAX || !text_ok(text, len))
		return -EINVAL;
	s = site_of(h, number);
	t = malloc(sizeof(*t) + len);
	if (!s || !t) {
		free(t);
		return -ENOMEM;
	}
	t->users = 1;
	t->maps = maps;
	t->len = len;
	memcpy(t->v, text, len);
	drop(s->text);
	s->text = t;
	return 0;
}

const char *exact_heap_stack(const struct exact_heap *h, uint64_t number, size_t *len, bool *maps)
{
	const struct text *t = number < h->n ? h->v[number].text : NULL;

	if (!t)
		return NULL;
	*len = t->len;
	*maps = t->maps;
	return t->v;
}

static int add_tid(struct site *s, uint32_t tid)
{
	size_t i;

	if (!tid)
		return 0;
	for (i = s->n_tids; i && s->tids[i - 1] != tid; i--)
		;
	if (i || s->n_tids >= MOST_TIDS)
		return 0;
	if (grow_array((void **)&s->tids, &s->cap_tids, s->n_tids + 1, sizeof(*s->tids)))
		return -ENOMEM;
	s->tids[s->n_tids++] = tid;
	return 0;
}

int exact_heap_threads(struct exact_heap *h, uint32_t tid, const void *v, size_t n)
{
	const char *at = v;
	uint32_t number;
	int ret = 0;

	for (; n--; at += sizeof(number)) {
		memcpy(&number, at, sizeof(number));
		if (!number || number >= h->n)
			ret = -EINVAL;
		else if (add_tid(&h->v[number], tid))
			return -ENOMEM;
	}
	return ret;
}

struct exact_heap *exact_heap_new(void)
{
	return calloc(1, sizeof(struct exact_heap));
}

struct exact_heap *exact_heap_copy(const struct exact_heap *from)
{
	struct exact_heap *h = exact_heap_new();
	size_t i;

	if (!h || (from->n && !site_of(h, from->n - 1))) {
		free(h);
		return NULL;
	}
	for (i = 0; i < h->n; i++) {
		h->v[i].text = from->v[i].text;
		if (h->v[i].text)
			h->v[i].text->users++;
	}
	return h;
}

static bool is_small(const struct object *o)
{
	return o->size <= INLINE * 8;
}

static void close_heap(struct exact_heap *h)
{
	size_t i;

	for (i = 0; i < h->n_objects; i++)
		if (!is_small(&h->objects[i]))
			free(h->objects[i].touched.many);
	free(h->objects);
	h->objects = NULL;
	h->n_objects = h->cap_objects = h->last = 0;
}

void exact_heap_free(struct exact_heap *h)
{
	size_t i;

	if (!h)
		return;
	close_heap(h);
	for (i = 0; i < h->n; i++) {
		drop(h->v[i].text);
		free(h->v[i].tids);
		free(h->v[i].offsets);
	}
	free(h->v);
	free(h);
}

/* ---- reading ---- */

static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
	return pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

/* Call @fn for each page in [@from, @to) of @fd that has memory, with what it holds. */
static int each_page(int fd, uint64_t from, uint64_t to, int (*fn)(void *ctx, uint64_t at, const uint8_t *page), void *ctx)
{
	_Alignas(8) uint8_t page[PAGE];
	int ret;

	while (from < to) {
		off_t data = lseek(fd, (off_t)from, SEEK_DATA), hole;

		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		if ((uint64_t)data >= to)
			return 0;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		for (from = (uint64_t)data; from < (uint64_t)hole && from < to; from += PAGE) {
			if (!read_at(fd, page, PAGE, from))
				return -EIO;
			ret = fn(ctx, from, page);
			if (ret)
				return ret;
		}
	}
	return 0;
}

struct reading {
	struct exact_heap *h;
	int fd;
};

static int objects_in(void *ctx, uint64_t at, const uint8_t *page)
{
	struct reading *r = ctx;
	struct exact_heap *h = r->h;
	struct hvt_object e, more[2];
	size_t i;

	for (i = 0; i < PAGE / sizeof(e); i++) {
		uint64_t where = at + i * sizeof(e), start = (where - HVT_OBJECTS) / sizeof(e) * HVT_OBJECT_GRAIN, size;

		bool old;

		memcpy(&e, page + i * sizeof(e), sizeof(e));
		old = e.site & HVT_OBJECT_OLD;
		if (e.site & HVT_OBJECT_ODD)
			start += HVT_OBJECT_GRAIN / 2;
		e.site &= ~(HVT_OBJECT_OLD | HVT_OBJECT_ODD);
		if (!e.site || e.site >= h->n)
			continue;
		size = e.size;
		if (e.size == HVT_OBJECT_BIG) {
			if (!read_at(r->fd, more, sizeof(more), where + sizeof(e)))
				return -EIO;
			size = (uint64_t)more[0].size << 32 | more[1].size;
		}
		if (size > HVT_PLANE_SIZE - start)
			continue;
		if (h->n_objects >= MOST_OBJECTS ||
		    grow_array((void **)&h->objects, &h->cap_objects, h->n_objects + 1, sizeof(*h->objects)))
			return -ENOMEM;
		h->objects[h->n_objects++] = (struct object){ .start = start, .size = size, .site = e.site, .old = old };
	}
	return 0;
}

static struct object *find(struct exact_heap *h, uint64_t addr)
{
	size_t low = 0, high = h->n_objects;

	/* Addresses come in order, mostly. */
	if (h->last < high && h->objects[h->last].start <= addr) {
		low = h->last;
		if (low + 1 < high && addr < h->objects[low + 1].start)
			high = low + 1;
		else if (low + 2 < high && addr < h->objects[low + 2].start)
			high = low + 2;
	}
	while (low + 1 < high) {
		size_t mid = low + (high - low) / 2;

		if (h->objects[mid].start <= addr)
			low = mid;
		else
			high = mid;
	}
	if (low >= high || addr < h->objects[low].start || addr - h->objects[low].start >= h->objects[low].size)
		return NULL;
	h->last = low;
	return &h->objects[low];
}

static void touch(struct object *o, uint64_t addr, unsigned how)
{
	uint64_t word = (addr - o->start) / 8;

	if (is_small(o)) {
		o->touched.few |= (uint64_t)how << word * 2;
		return;
	}
	if (o->untracked)
		return;
	if (!o->touched.many)
		o->touched.many = calloc(1, (o->size + 7) / 8 / 4 + 1);
	if (o->touched.many)
		o->touched.many[word / 4] |= (uint8_t)(how << word % 4 * 2);
	else
		o->untracked = true;
}

static void marks_in(struct exact_heap *h, uint64_t addr, const uint8_t *page, unsigned how)
{
	size_t i;

	for (i = 0; i < PAGE; i++) {
		struct object *o = page[i] ? find(h, addr + i * 8) : NULL;

		if (o)
			touch(o, addr + i * 8, how);
	}
}

static int read_marks(void *ctx, uint64_t at, const uint8_t *page)
{
	struct reading *r = ctx;

	marks_in(r->h, (at - HVT_MARKS_READ) * 8, page, READ);
	return 0;
}

static int write_marks(void *ctx, uint64_t at, const uint8_t *page)
{
	struct reading *r = ctx;

	marks_in(r->h, (at - HVT_MARKS_WRITE) * 8, page, WRITTEN);
	return 0;
}

static int read_site(struct exact_heap *h, size_t i, int fd, const uint32_t tids[HVT_SLOTS])
{
	struct site *s = &h->v[i];
	uint32_t n, slot;

	if (!read_at(fd, &s->counted, sizeof(s->counted), HVT_SITES + i * sizeof(s->counted)))
		return -EIO;
	for (slot = 0; slot < HVT_SLOTS; slot++)
		if (s->counted.slots & (uint64_t)1 << slot && add_tid(s, tids[slot]))
			return -ENOMEM;
	n = s->counted.n_offsets;
	s->counted.n_offsets = 0;
	if (!n)
		return 0;
	if (n > HVT_OFFSETS_SITE || s->counted.offsets > HVT_OFFSETS_MAX - n || h->n_offsets + n > HVT_OFFSETS_MAX)
		return -EINVAL;
	s->offsets = calloc(n, sizeof(*s->offsets));
	if (!s->offsets)
		return -ENOMEM;
	s->counted.n_offsets = n;
	h->n_offsets += n;
	if (!read_at(fd, s->offsets, n * sizeof(*s->offsets), HVT_OFFSETS + s->counted.offsets * sizeof(*s->offsets)))
		return -EIO;
	return 0;
}

int exact_heap_open(struct exact_heap *h, int memfd, const uint32_t tids[HVT_SLOTS])
{
	struct reading r = { h, memfd };
	size_t i;
	int ret = 0, err;

	if (!h->n)
		return 0;
	for (i = 1; i < h->n; i++) {
		err = read_site(h, i, memfd, tids);
		ret = ret ? ret : err;
	}
	err = each_page(memfd, HVT_OBJECTS, HVT_SITES, objects_in, &r);
	ret = ret ? ret : err;
	err = each_page(memfd, HVT_MARKS_READ, HVT_MARKS_WRITE, read_marks, &r);
	ret = ret ? ret : err;
	err = each_page(memfd, HVT_MARKS_WRITE, HVT_OBJECTS, write_marks, &r);
	return ret ? ret : err;
}

static size_t index_of(uint64_t offset)
{
	return offset < HVT_OFFSETS_EXACT ? offset : HVT_OFFSETS_EXACT + 63 - (size_t)__builtin_clzll(offset);
}

bool exact_heap_has(struct exact_heap *h, uint64_t addr)
{
	return h->n_objects && find(h, addr);
}

bool exact_heap_count(struct exact_heap *h, uint32_t tid, uint64_t addr, uint32_t reads, uint32_t writes)
{
	struct object *o = h->n_objects ? find(h, addr) : NULL;
	unsigned how = (reads ? READ : 0) | (writes ? WRITTEN : 0);
	struct site *s;
	size_t i;

	if (!o)
		return false;
	s = &h->v[o->site];
	s->counted.reads += reads;
	s->counted.writes += writes;
	s->open = true;
	i = index_of(addr - o->start);
	if (i < s->counted.n_offsets) {
		s->offsets[i].reads += reads;
		s->offsets[i].writes += writes;
	}
	add_tid(s, tid);
	touch(o, addr, how);
	if (addr % 8 && (addr | 7) + 1 - o->start < o->size) /* it may reach into the next */
		touch(o, (addr | 7) + 1, how);
	return true;
}

/* ---- writing ---- */

static uint64_t untouched(const struct object *o, unsigned how)
{
	uint64_t n = 0, word, at;

	if (o->untracked)
		return 0;
	if (!is_small(o) && !o->touched.many)
		return o->size;
	for (word = 0, at = 0; at < o->size; word++, at += 8) {
		static const uint8_t none[MANY / 4];

		/* Most of a large one, mostly. */
		if (!(word % MANY) && o->size - at > MANY * 8 && !memcmp(o->touched.many + word / 4, none, sizeof(none))) {
			n += MANY * 8;
			word += MANY - 1;
			at += MANY * 8 - 8;
			continue;
		}
		if (!((is_small(o) ? o->touched.few >> word * 2 : (uint64_t)o->touched.many[word / 4] >> word % 4 * 2) & how))
			n += o->size - at < 8 ? o->size - at : 8;
	}
	return n;
}

/* Nothing of the process's own stops it from writing nonsense: such is left out. */
static bool is_sane(const struct site *s)
{
	const struct hvt_site *c = &s->counted;
	uint64_t reads = 0, writes = 0, most = (uint64_t)1 << 47;
	size_t i;

	if (c->reads > most || c->writes > most || c->objects > most || c->bytes > most ||
	    c->gone_objects > c->objects || c->gone_bytes > c->bytes || c->size_least > c->size_most)
		return false;
	for (i = 0; i < c->n_offsets; i++) {
		if (s->offsets[i].reads > c->reads - reads || s->offsets[i].writes > c->writes - writes)
			return false;
		reads += s->offsets[i].reads;
		writes += s->offsets[i].writes;
	}
	return true;
}

static size_t put_offsets(const struct site *s, struct stream_heap_offset *to)
{
	size_t i, n = 0;

	for (i = 0; i < s->counted.n_offsets; i++) {
		const struct hvt_offset *v = &s->offsets[i];
		uint64_t from = i < HVT_OFFSETS_EXACT ? i : (uint64_t)1 << (i - HVT_OFFSETS_EXACT);

		if (v->reads || v->writes)
			to[n++] = (struct stream_heap_offset){ from, i < HVT_OFFSETS_EXACT ? 1 : from, v->reads, v->writes };
	}
	return n;
}

static int put_site(const struct site *s, struct stream *out, const struct stream_heap *as)
{
	static const struct text none;
	const struct hvt_site *c = &s->counted;
	const struct text *t = s->text ? s->text : &none;
	size_t room = c->n_offsets * sizeof(struct stream_heap_offset) + s->n_tids * sizeof(*s->tids) + t->len;
	char *body = malloc(room + 1), *at = body;
	struct stream_heap rec = *as;

	if (!body)
		return -ENOMEM;
	rec.flags = t->maps ? STREAM_HEAP_MAPPED : 0;
	rec.objects = c->objects;
	rec.bytes = c->bytes;
	rec.objects_live = c->objects - c->gone_objects;
	rec.bytes_live = c->bytes - c->gone_bytes;
	rec.reads = c->reads;
	rec.writes = c->writes;
	rec.never_read = c->never_read;
	rec.never_written = c->never_written;
	rec.size_least = c->size_least;
	rec.size_most = c->size_most;
	rec.first_ns = c->first_ns ? c->first_ns : s->open ? as->time_ns : 0;
	rec.last_ns = s->open ? as->time_ns : c->last_ns;
	rec.n_offsets = (uint32_t)put_offsets(s, (struct stream_heap_offset *)(void *)at);
	at += rec.n_offsets * sizeof(struct stream_heap_offset);
	rec.n_tids = (uint32_t)s->n_tids;
	if (s->n_tids)
		memcpy(at, s->tids, s->n_tids * sizeof(*s->tids));
	at += s->n_tids * sizeof(*s->tids);
	rec.text_len = (uint32_t)t->len;
	memcpy(at, t->v, t->len);
	at += t->len;
	stream_put(out, STREAM_HEAP, &rec, sizeof(rec), body, (size_t)(at - body));
	free(body);
	return 0;
}

int exact_heap_put(struct exact_heap *h, struct stream *out, const struct stream_heap *as, uint64_t *accesses)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < h->n_objects; i++) {
		struct hvt_site *c = &h->v[h->objects[i].site].counted;

		if (h->objects[i].old)
			continue;
		c->never_read += untouched(&h->objects[i], READ);
		c->never_written += untouched(&h->objects[i], WRITTEN);
	}
	for (i = 1; i < h->n; i++) {
		const struct hvt_site *c = &h->v[i].counted;

		if (!c->objects && !c->reads && !c->writes)
			continue;
		if (!is_sane(&h->v[i]) || put_site(&h->v[i], out, as))
			ret = -EINVAL;
		else
			*accesses += c->reads + c->writes;
	}
	close_heap(h);
	return ret;
}
