/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream_sink.h - where a stream's records go: to add a place, one file with one table.
 *
 * A sink gives contiguous room for a whole record and takes it as it stands.
 */
#ifndef STREAM_SINK_H
#define STREAM_SINK_H

#include <stdbool.h>

#include "stream.h"

struct stream_sink {
	bool checksums;
	/* @n bytes, 8-aligned, in *@p; 0 or -errno. */
	int (*room)(struct stream *s, size_t n, void **p);
	/* The @n bytes that room() gave are a record now. */
	void (*take)(struct stream *s, size_t n);
	int (*flush)(struct stream *s);
	/* Close and free, without a flush.  s->error is the first failure: say it in @e. */
	int (*close)(struct stream *s, struct err *e);
};

/* The first member of each sink's own structure. */
struct stream {
	const struct stream_sink *sink;
	uint64_t number;  /* of the next record */
	int error;	  /* the first failure of the sink, -errno */
	uint64_t dropped; /* records after it */
	uint64_t refused; /* records that no reader would accept */
	bool handed_on;	  /* a flush was asked for */
};

/* The reading end that a queue offers to stream_read.c. */
struct stream_queue;
/*
 * The next whole records of @q that no earlier call returned: *@n bytes at *@p,
 * good until the next call.  Waits for the writer; 1, or 0 once it has closed.
 */
int stream_queue_next(struct stream_queue *q, const void **p, size_t *n);
/* The reader reads no more. */
void stream_queue_leave(struct stream_queue *q);
struct stream_queue *stream_queue_of(struct stream *s);

#endif /* STREAM_SINK_H */
