// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stream_read.c - records back out of a file, bytes in memory or a queue.
 *
 * A file or bytes are foreign input: nothing of a record is believed before its
 * checksums, and no more is allocated than has been read.
 *
 * The window is [pos, len) of buf; pos is always a multiple of 8, as every
 * record is, so payloads lie aligned.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "stream_frame.h"
#include "stream_pack.h"
#include "stream_sink.h"

enum { READ_STEP = 256 << 10 };

struct stream_reader {
	struct stream_queue *q; /* or NULL: a file or bytes */
	int fd;			/* -1: all is in the window */
	int error;		/* of read(2) */
	char *name;
	const char *window;	/* buf, or the queue's */
	char *buf;
	size_t pos, len, cap;
	char *plain;		/* of the last packed record */
	size_t plain_cap;
	uint64_t offset;	/* of window[0] in the file */
	uint64_t number;	/* of the next record */
	bool ended;		/* a STREAM_END was seen */
	bool broken;		/* nothing more is read */
	char why[768];
};

__attribute__((format(printf, 2, 3)))
static int broken(struct stream_reader *r, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	r->broken = true;
	snprintf(r->why, sizeof(r->why),
		 "recording '%.200s' %s: the %" PRIu64 " records before are used, what came after is lost",
		 r->name, what, r->number);
	return -EPIPE;
}

/* Have at least @n bytes in the window, if there are so many; how many there are. */
static size_t have(struct stream_reader *r, size_t n)
{
	while (r->len - r->pos < n && r->fd >= 0) {
		ssize_t got;

		if (r->pos) {
			memmove(r->buf, r->buf + r->pos, r->len - r->pos);
			r->offset += r->pos;
			r->len -= r->pos;
			r->pos = 0;
		}
		if (r->len == r->cap) {
			/* Double at most: a false length costs no memory. */
			size_t cap = r->cap ? 2 * r->cap : READ_STEP;
			char *buf = realloc(r->buf, cap);

			if (!buf) {
				r->error = ENOMEM;
				break;
			}
			r->window = r->buf = buf;
			r->cap = cap;
		}
		got = read(r->fd, r->buf + r->len, r->cap - r->len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			r->error = errno;
		if (got <= 0)
			break;
		r->len += (size_t)got;
	}
	return r->len - r->pos;
}

/* Who writes a recording has it locked until it is whole. */
static bool being_written(const struct stream_reader *r)
{
	if (r->fd < 0)
		return false;
	if (flock(r->fd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK;
	flock(r->fd, LOCK_UN);
	return false;
}

static int ended_early(struct stream_reader *r, const char *what)
{
	if (r->error)
		return broken(r, "cannot be read at byte %" PRIu64 " (%s)",
			      r->offset + r->len, strerror(r->error));
	if (being_written(r)) {
		r->broken = true;
		snprintf(r->why, sizeof(r->why),
			 "recording '%.200s' is still being written: the %" PRIu64 " records that it has so far are used; read it again when that has ended",
			 r->name, r->number);
		return -EPIPE;
	}
	return broken(r, "was cut off at byte %" PRIu64 " (%s)", r->offset + r->len,
		      what);
}

/* Unpack the payload at *@data, a record's at byte @at, and say in @h what it is then. */
static int unpack(struct stream_reader *r, struct stream_head *h, const char **data, uint64_t at)
{
	uint32_t type = h->type & ~STREAM_PACKED;
	long n = 0;

	if (stream_may_pack(type))
		n = stream_unpack(*data, h->len, stream_max_len(type), &r->plain, &r->plain_cap);
	if (n == -ENOMEM)
		return broken(r, "cannot be read at byte %" PRIu64 " (%s)", at, strerror(ENOMEM));
	if (n <= 0)
		return broken(r, "is damaged at byte %" PRIu64 " (a packed record)", at);
	h->type = type;
	h->len = (uint32_t)n;
	*data = r->plain;
	return 0;
}

static int next_in_file(struct stream_reader *r, struct stream_record *out)
{
	struct stream_head h;
	uint64_t at = r->offset + r->pos;
	size_t n = have(r, sizeof(h)), size;
	const char *data;

	if (!n && !r->error && r->ended)
		return 0;
	if (n < sizeof(h))
		return ended_early(r, n ? "inside a record" : "its last record is missing");
	memcpy(&h, r->window + r->pos, sizeof(h));
	if (h.head_crc != stream_head_crc(&h, r->number))
		return broken(r, "is damaged at byte %" PRIu64 " (checksum of a record's head)", at);
	if (stream_max_len(h.type) && h.len > stream_max_len(h.type))
		return broken(r, "is damaged at byte %" PRIu64 " (impossible length)", at);
	size = stream_record_size(h.len);
	if (have(r, size) < size)
		return ended_early(r, "inside a record");
	data = r->window + r->pos + sizeof(h);
	if (h.data_crc != stream_data_crc(data, size - sizeof(h)))
		return broken(r, "is damaged at byte %" PRIu64 " (checksum of a record)", at);
	if (stream_max_len(h.type & ~STREAM_PACKED) && h.type & STREAM_PACKED &&
	    unpack(r, &h, &data, at))
		return -EPIPE;
	if (stream_max_len(h.type) && !stream_well_formed(h.type, data, h.len))
		return broken(r, "is damaged at byte %" PRIu64 " (a record of type %" PRIu32 " breaks its rules)",
			      at, h.type);
	out->type = h.type;
	out->len = h.len;
	out->data = data;
	r->pos += size;
	r->number++;
	r->ended = h.type == STREAM_END || r->ended;
	return 1;
}

static int next_in_queue(struct stream_reader *r, struct stream_record *out)
{
	const struct stream_head *h;
	const void *p;

	if (r->pos == r->len) {
		if (!stream_queue_next(r->q, &p, &r->len))
			return 0;
		r->window = p;
		r->pos = 0;
	}
	h = (const void *)(r->window + r->pos);
	out->type = h->type;
	out->len = h->len;
	out->data = h + 1;
	r->pos += stream_record_size(h->len);
	r->number++;
	return 1;
}

int stream_next(struct stream_reader *r, struct stream_record *out)
{
	int ret;

	if (r->broken)
		return -EPIPE;
	do
		ret = r->q ? next_in_queue(r, out) : next_in_file(r, out);
	while (ret > 0 && !stream_max_len(out->type));
	return ret;
}

const char *stream_reader_why(const struct stream_reader *r)
{
	return r->why;
}

bool stream_drained(const struct stream_reader *r)
{
	return r->pos == r->len;
}

void stream_reader_free(struct stream_reader *r)
{
	if (!r)
		return;
	if (r->q)
		stream_queue_leave(r->q);
	if (r->fd > STDERR_FILENO)
		close(r->fd);
	free(r->buf);
	free(r->plain);
	free(r->name);
	free(r);
}

static struct stream_reader *reader_new(const char *name, struct err *e)
{
	struct stream_reader *r = calloc(1, sizeof(*r));

	if (r) {
		r->fd = -1;
		r->name = strdup(name);
	}
	if (!r || !r->name) {
		free(r);
		err_set(e, ENOMEM, "cannot read recording '%s': no memory: free some", name);
		return NULL;
	}
	return r;
}

/* @or_text: who asks would have read text of perf's, too. */
static int check_head(struct stream_reader *r, bool or_text, struct err *e)
{
	struct stream_file_head h;
	size_t n = have(r, sizeof(h));

	if (r->error)
		return err_set(e, r->error, "cannot read recording '%s': %s: give a file that hotvar record made",
			       r->name, strerror(r->error));
	if (!n && being_written(r))
		return err_set(e, EAGAIN, "recording '%s' has just been begun and is empty yet: read it a moment later",
			       r->name);
	if (!n)
		return err_set(e, ENODATA, "recording '%s' is empty: nothing was recorded in it: record again",
			       r->name);
	memcpy(&h, r->window, n < sizeof(h) ? n : sizeof(h));
	if (n < sizeof(h.magic) || memcmp(h.magic, STREAM_MAGIC, sizeof(h.magic)))
		return err_set(e, ENOEXEC, "'%s' is no recording: it does not begin as one%s: give a file that hotvar record made%s",
			       r->name, or_text ? ", nor as text of perf script" : "",
			       or_text ? "" : "; text of perf script is for hotvar report alone");
	if (n < sizeof(h))
		return err_set(e, ENODATA, "recording '%s' was cut off in its head: nothing is left of it: record again",
			       r->name);
	if (h.byte_order == __builtin_bswap32(STREAM_BYTE_ORDER))
		return err_set(e, ENOTSUP, "cannot read recording '%s': it is of the other byte order: report it on the kind of machine that recorded it",
			       r->name);
	if (h.crc != stream_data_crc(&h, offsetof(struct stream_file_head, crc)))
		return err_set(e, EBADMSG, "recording '%s' is damaged in its head (checksum): get a whole copy, or record again",
			       r->name);
	if (!h.version || h.version > STREAM_VERSION || h.size != sizeof(h))
		return err_set(e, ENOTSUP, "cannot read recording '%s': its format is version %" PRIu32 ", this hotvar reads versions 1 to %d: use the hotvar that made it",
			       r->name, h.version, STREAM_VERSION);
	r->pos = sizeof(h);
	return 0;
}

struct stream_reader *stream_reader_of_file(const char *path, struct err *e)
{
	bool is_stdin = !strcmp(path, "-");
	struct stream_reader *r = reader_new(is_stdin ? "standard input" : path, e);

	if (!r)
		return NULL;
	r->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (r->fd < 0)
		err_set(e, errno, "cannot open recording '%s': %s: name one with -i FILE, or make one with hotvar record",
			path, strerror(errno));
	if (r->fd < 0 || check_head(r, false, e)) {
		stream_reader_free(r);
		return NULL;
	}
	return r;
}

struct stream_reader *stream_reader_of_fd(int fd, const char *name, const void *head, size_t n, struct err *e)
{
	struct stream_reader *r = reader_new(name, e);

	if (!r) {
		if (fd > STDERR_FILENO)
			close(fd);
		return NULL;
	}
	r->fd = fd;
	r->cap = n > READ_STEP ? n : READ_STEP;
	r->buf = malloc(r->cap);
	r->window = r->buf;
	if (!r->buf) {
		err_set(e, ENOMEM, "cannot read recording '%s': no memory: free some", name);
	} else {
		memcpy(r->buf, head, n);
		r->len = n;
		if (!check_head(r, true, e))
			return r;
	}
	stream_reader_free(r);
	return NULL;
}

struct stream_reader *stream_reader_of_bytes(const void *p, size_t n, struct err *e)
{
	struct stream_reader *r = reader_new("bytes in memory", e);

	if (!r)
		return NULL;
	r->buf = malloc(n + 1);
	if (!r->buf) {
		stream_reader_free(r);
		err_set(e, ENOMEM, "cannot read a recording in memory: no memory: free some");
		return NULL;
	}
	if (n)
		memcpy(r->buf, p, n);
	r->window = r->buf;
	r->len = n;
	if (check_head(r, false, e)) {
		stream_reader_free(r);
		return NULL;
	}
	return r;
}

struct stream_reader *stream_reader_of_queue(struct stream *s)
{
	struct err e;
	struct stream_reader *r = reader_new("live stream", &e);

	if (!r)
		return NULL;
	r->q = stream_queue_of(s);
	if (!r->q) {
		stream_reader_free(r);
		return NULL;
	}
	return r;
}
