/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkrec_line.h - the part of mkrec.c that makes records of cache lines.
 *
 *	line pid=7 mm=1 addr=0x2040 handovers=9 returns=8 true=0 false=40 unseen-true=0 unseen-false=50
 *	    parts=TID:OFFSET:SIZE:READS:WRITES,... (one TID's one after the other) sites=PART:CALLER:OFFSET:r:COUNT,... (or w)
 *	    object=START-END frames=... as of heap: that the first part is of
 */
#ifndef MKREC_LINE_H
#define MKREC_LINE_H

static struct stream_line_part line_parts[STREAM_LINE_PARTS_MAX];
static uint32_t n_line_parts;

/* The next number of @*rest, up to a colon. */
static uint64_t next_number(char **rest)
{
	char *word = strsep(rest, ":");

	if (!word)
		die("a number is missing");
	return number_of(word);
}

static void add_line_part(char *text)
{
	uint32_t tid = (uint32_t)next_number(&text);
	uint64_t offset = next_number(&text), size = next_number(&text), reads = next_number(&text), writes = next_number(&text);
	struct stream_line_part *p = n_line_parts ? &line_parts[n_line_parts - 1] : NULL;
	uint64_t bytes = (size < STREAM_LINE_SIZE ? ((uint64_t)1 << size) - 1 : ~(uint64_t)0) << offset;

	if (!p || p->tid != tid) {
		if (n_line_parts == STREAM_LINE_PARTS_MAX || offset >= STREAM_LINE_SIZE)
			die("too many parts, or one beyond the line");
		p = &line_parts[n_line_parts++];
		*p = (struct stream_line_part){ .tid = tid };
	}
	p->reads[offset / 4] += reads;
	p->writes[offset / 4] += writes;
	p->read |= reads ? bytes : 0;
	p->written |= writes ? bytes : 0;
}

static void add_line_site(char *text)
{
	struct stream_line_site s = { .part = (uint32_t)next_number(&text), .caller = (uint32_t)next_number(&text) };
	const char *rw;

	s.words = 1u << next_number(&text) / 4;
	rw = strsep(&text, ":");
	s.flags = rw && *rw == 'w' ? HVAR_ACCESS_WRITE : HVAR_ACCESS_READ;
	s.count = next_number(&text);
	add_to_heap(&s, sizeof(s));
}

static void put_cache_line(struct stream *s)
{
	struct hvar_event ev = event(HVAR_EVENT_ACCESS);
	struct stream_line l = { .time_ns = ev.time_ns, .mm = ev.mm, .pid = ev.pid };
	struct stream_line_unseen u = { .mm = ev.mm };
	struct stream_line_part first;
	size_t before;

	l.addr = number("addr", 0);
	l.handovers = number("handovers", 0);
	l.returns = number("returns", 0);
	l.most_true = number("true", 0);
	l.most_false = number("false", 0);
	n_line_parts = 0;
	heap_len = 0;
	each_part("parts", add_line_part);
	l.n_parts = n_line_parts;
	add_to_heap(line_parts, n_line_parts * sizeof(line_parts[0]));
	l.n_sites = each_part("sites", add_line_site);
	if (get("object")) {
		before = heap_len;
		each_part("frames", add_frame);
		memcpy(&first, heap_body, sizeof(first));
		range("object", &first.object, &first.object_size);
		first.object_size -= first.object;
		first.heap_len = (uint32_t)(heap_len - before);
		memcpy(heap_body, &first, sizeof(first));
	}
	u.addr = l.addr;
	u.most_true = number("unseen-true", 0);
	u.most_false = number("unseen-false", 0);
	if (stream_put(s, STREAM_LINE, &l, sizeof(l), heap_body, heap_len) ||
	    (u.most_true + u.most_false && stream_put(s, STREAM_LINE_UNSEEN, &u, sizeof(u), NULL, 0)))
		die("the format does not allow this");
}

#endif /* MKREC_LINE_H */
