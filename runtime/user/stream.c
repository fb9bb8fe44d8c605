// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream_frame.h"
#include "stream_pack.h"
#include "stream_sink.h"

static int fail(struct stream *s, int error)
{
	if (!s->error)
		s->error = error;
	return s->error;
}

/* Make the whole record at @h smaller, if it is of a kind that can be.  Its size then. */
static size_t pack(struct stream_head *h)
{
	char *data = (char *)(h + 1);
	size_t packed = stream_may_pack(h->type) ? stream_pack(data, h->len) : 0;

	if (packed) {
		h->type |= STREAM_PACKED;
		h->len = (uint32_t)packed;
		memset(data + packed, 0, stream_record_size(h->len) - sizeof(*h) - packed);
	}
	return stream_record_size(h->len);
}

int stream_put(struct stream *s, enum stream_type type, const void *a, size_t na,
	       const void *b, size_t nb)
{
	uint32_t max = stream_max_len(type);
	struct stream_head *h;
	size_t size;
	char *data;
	void *p;
	int ret;

	if (s->error) {
		s->dropped++;
		return s->error;
	}
	if (na > max || nb > max - na) {
		s->refused++;
		return -EINVAL;
	}
	size = stream_record_size((uint32_t)(na + nb));
	ret = s->sink->room(s, size, &p);
	if (ret) {
		s->dropped++;
		return fail(s, ret);
	}
	h = p;
	data = (char *)(h + 1);
	memcpy(data, a, na);
	if (nb)
		memcpy(data + na, b, nb);
	memset(data + na + nb, 0, size - sizeof(*h) - na - nb);
	if (!stream_well_formed(type, data, (uint32_t)(na + nb))) {
		s->refused++;
		return -EINVAL;
	}
	h->type = type;
	h->len = (uint32_t)(na + nb);
	h->data_crc = h->head_crc = 0;
	if (s->sink->checksums) {
		size = pack(h);
		h->data_crc = stream_data_crc(data, size - sizeof(*h));
		h->head_crc = stream_head_crc(h, s->number);
	}
	s->number++;
	s->sink->take(s, size);
	return 0;
}

int stream_put_event(struct stream *s, const struct hvar_event *ev)
{
	return stream_put(s, STREAM_EVENT, ev, sizeof(*ev), NULL, 0);
}

int stream_put_walk(struct stream *s, const struct stream_walk *w, const uint64_t *targets, const struct stream_walk_load *loads,
		    const uint8_t *bits)
{
	uint8_t buf[STREAM_WALK_TARGETS_MAX * sizeof(*targets) + STREAM_WALK_LOADS_MAX * sizeof(*loads) + STREAM_WALK_BITS_MAX / 8];
	size_t n_targets = w->n_targets * sizeof(*targets), n_loads = w->n_loads * sizeof(*loads), n_bits = ((size_t)w->n_bits + 7) / 8;

	if (w->n_targets > STREAM_WALK_TARGETS_MAX || w->n_bits > STREAM_WALK_BITS_MAX || w->n_loads > STREAM_WALK_LOADS_MAX) {
		s->refused++;
		return -EINVAL;
	}
	if (n_targets)
		memcpy(buf, targets, n_targets);
	if (n_loads)
		memcpy(buf + n_targets, loads, n_loads);
	if (n_bits)
		memcpy(buf + n_targets + n_loads, bits, n_bits);
	return stream_put(s, STREAM_WALK, w, sizeof(*w), buf, n_targets + n_loads + n_bits);
}

int stream_put_meta(struct stream *s, const char *key, const char *fmt, ...)
{
	char *value, *text;
	va_list ap;
	int n, ret;

	va_start(ap, fmt);
	n = vasprintf(&value, fmt, ap);
	va_end(ap);
	if (n < 0)
		return fail(s, -ENOMEM);
	n = asprintf(&text, "%s=%s", key, value);
	free(value);
	if (n < 0)
		return fail(s, -ENOMEM);
	ret = stream_put(s, STREAM_META, text, (size_t)n, NULL, 0);
	free(text);
	return ret;
}

int stream_flush(struct stream *s)
{
	int ret = s->error ? s->error : s->sink->flush(s);

	s->handed_on = true;
	return ret ? fail(s, ret) : 0;
}

int stream_drop(struct stream *s, struct err *e)
{
	if (s && s->handed_on)
		return stream_close(s, e);
	if (s)
		s->sink->close(s, NULL);
	return 0;
}

int stream_close(struct stream *s, struct err *e)
{
	uint64_t refused;
	int ret;

	if (!s)
		return 0;
	refused = s->refused;
	stream_flush(s);
	ret = s->sink->close(s, e);
	if (!ret && refused)
		ret = err_set(e, EINVAL,
			      "%llu records were refused: they break the format: report this fault of hotvar's with the command that led to it",
			      (unsigned long long)refused);
	return ret;
}
