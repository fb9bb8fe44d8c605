// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stream_call.c - a stream whose records are taken in as they are put, by a function of its reader's.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "stream_frame.h"
#include "stream_sink.h"

struct calling {
	struct stream s;
	void (*fn)(void *ctx, const struct stream_record *r);
	void *ctx;
	char *buf;
	size_t cap;
};

static int call_room(struct stream *s, size_t n, void **p)
{
	struct calling *c = (struct calling *)s;

	if (n > c->cap) {
		char *buf = realloc(c->buf, n);

		if (!buf)
			return -ENOMEM;
		c->buf = buf;
		c->cap = n;
	}
	*p = c->buf;
	return 0;
}

static void call_take(struct stream *s, size_t n)
{
	struct calling *c = (struct calling *)s;
	const struct stream_head *h = (const struct stream_head *)c->buf;
	const struct stream_record r = { .type = h->type, .len = h->len, .data = h + 1 };

	(void)n;
	c->fn(c->ctx, &r);
}

static int call_flush(struct stream *s)
{
	(void)s;
	return 0;
}

static int call_close(struct stream *s, struct err *e)
{
	struct calling *c = (struct calling *)s;
	int error = s->error;

	free(c->buf);
	free(c);
	return error ? err_set(e, -error, "cannot take in what was read: no memory: free some") : 0;
}

static const struct stream_sink call_sink = {
	.room = call_room,
	.take = call_take,
	.flush = call_flush,
	.close = call_close,
};

struct stream *stream_to_call(void (*fn)(void *ctx, const struct stream_record *r), void *ctx, struct err *e)
{
	struct calling *c = calloc(1, sizeof(*c));

	if (!c) {
		err_set(e, ENOMEM, "cannot begin to read: no memory: free some");
		return NULL;
	}
	c->s.sink = &call_sink;
	c->fn = fn;
	c->ctx = ctx;
	return &c->s;
}
