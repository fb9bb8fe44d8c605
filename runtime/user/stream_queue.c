// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stream_queue.c - a stream in memory, from one writing to one reading thread.
 *
 * A list of chunks.  The writer fills the last one and tells how far it is
 * ready at a flush; the reader takes what is ready and frees the chunks that it has
 * left.  Bytes below chunk.ready are never written again, so only the list, ready and
 * the two ends' being there are under the lock, and a writer waits for nothing longer.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "stream_frame.h"
#include "stream_sink.h"

enum {
	CHUNK = 64 << 10,
	FULL = 4, /* chunks that wake the reader: what is ready sooner is had when it is awake, or flushed */
};

struct chunk {
	struct chunk *next; /* locked */
	size_t ready;	    /* locked: bytes the reader may have */
	size_t used, cap;   /* the writer's */
	uint64_t bytes[];
};

struct stream_queue {
	struct stream s;
	pthread_mutex_t lock;
	pthread_cond_t more;
	bool closed, left; /* locked: the writer, the reader has gone */
	bool has_reader;
	struct chunk *last;  /* the writer's */
	unsigned full;	     /* the writer's: chunks since the reader was woken */
	struct chunk *first; /* the reader's */
	size_t read;	     /* bytes of first that it has had */
};

static struct chunk *chunk_new(size_t n)
{
	size_t cap = n > CHUNK ? n : CHUNK;
	struct chunk *c = malloc(sizeof(*c) + cap);

	if (!c)
		return NULL;
	c->next = NULL;
	c->ready = c->used = 0;
	c->cap = cap;
	return c;
}

static void queue_free(struct stream_queue *q)
{
	while (q->first) {
		struct chunk *next = q->first->next;

		free(q->first);
		q->first = next;
	}
	pthread_cond_destroy(&q->more);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/*
 * Make all that is written ready, then go on in @next if it is not NULL.  False
 * if nobody reads it any more.
 */
static bool publish(struct stream_queue *q, struct chunk *next)
{
	bool left;

	pthread_mutex_lock(&q->lock);
	left = q->left;
	if (left)
		next = NULL;
	q->last->ready = q->last->used;
	if (next) {
		q->last->next = next;
		q->last = next;
	}
	if (!next || ++q->full >= FULL) {
		q->full = 0;
		pthread_cond_signal(&q->more);
	}
	pthread_mutex_unlock(&q->lock);
	return !left;
}

static int queue_room(struct stream *s, size_t n, void **p)
{
	struct stream_queue *q = (struct stream_queue *)s;

	if (n > q->last->cap - q->last->used) {
		struct chunk *next = chunk_new(n);

		if (!next)
			return -ENOMEM;
		if (!publish(q, next)) {
			free(next);
			return -EPIPE;
		}
	}
	*p = (char *)q->last->bytes + q->last->used;
	return 0;
}

static void queue_take(struct stream *s, size_t n)
{
	struct stream_queue *q = (struct stream_queue *)s;

	q->last->used += n;
}

static int queue_flush(struct stream *s)
{
	return publish((struct stream_queue *)s, NULL) ? 0 : -EPIPE;
}

static int queue_close(struct stream *s, struct err *e)
{
	struct stream_queue *q = (struct stream_queue *)s;
	uint64_t dropped = s->dropped;
	int error = s->error;
	bool last;

	pthread_mutex_lock(&q->lock);
	q->closed = true;
	last = q->left || !q->has_reader;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
	if (last)
		queue_free(q);
	if (error)
		return err_set(e, -error,
			       "the report lost %llu records: %s: free some memory, or sample at a lower rate with -F",
			       (unsigned long long)dropped, strerror(-error));
	return 0;
}

static const struct stream_sink queue_sink = {
	.room = queue_room,
	.take = queue_take,
	.flush = queue_flush,
	.close = queue_close,
};

struct stream *stream_to_queue(struct err *e)
{
	struct stream_queue *q = calloc(1, sizeof(*q));

	if (q)
		q->first = q->last = chunk_new(CHUNK);
	if (!q || !q->first) {
		free(q);
		err_set(e, ENOMEM, "cannot make the queue for the report: no memory: free some");
		return NULL;
	}
	q->s.sink = &queue_sink;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	return &q->s;
}

struct stream_queue *stream_queue_of(struct stream *s)
{
	struct stream_queue *q = (struct stream_queue *)s;

	if (s->sink != &queue_sink || q->has_reader)
		return NULL;
	q->has_reader = true;
	return q;
}

int stream_queue_next(struct stream_queue *q, const void **p, size_t *n)
{
	struct chunk *done = NULL;
	int ret = 1;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		struct chunk *c = q->first;

		if (q->read < c->ready)
			break;
		if (c->next) {
			done = c; /* only one at most: each new chunk gets a record */
			q->first = c->next;
			q->read = 0;
		} else if (q->closed) {
			ret = 0;
			break;
		} else {
			pthread_cond_wait(&q->more, &q->lock);
		}
		if (done) {
			pthread_mutex_unlock(&q->lock);
			free(done);
			done = NULL;
			pthread_mutex_lock(&q->lock);
		}
	}
	if (ret) {
		*p = (const char *)q->first->bytes + q->read;
		*n = q->first->ready - q->read;
		q->read = q->first->ready;
	}
	pthread_mutex_unlock(&q->lock);
	return ret;
}

void stream_queue_leave(struct stream_queue *q)
{
	bool last;

	pthread_mutex_lock(&q->lock);
	q->left = true;
	last = q->closed;
	pthread_mutex_unlock(&q->lock);
	if (last)
		queue_free(q);
}
