// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_stream - records come back as they were put, or not at all.
 *
 * A small recording of one record of each type is cut at every byte and has
 * every bit flipped; what a reader still returns is compared with what was put.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/core/hvar_vmas.h"
#include "runtime/user/stream.h"
#include "runtime/user/stream_frame.h"
#include "runtime/user/stream_pack.h"

enum { MAX_PUT = 64 };

/* What was put, byte by byte, and where each record ends in the file. */
struct put {
	enum stream_type type;
	char data[512];
	size_t len;
	size_t end;
};

static struct put puts_[MAX_PUT];
static unsigned n_puts;
static char dir[] = "/tmp/test_stream.XXXXXX";

static char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(struct stream *s, enum stream_type type, const void *a, size_t na,
		const void *b, size_t nb)
{
	struct put *p = &puts_[n_puts];
	size_t before = n_puts ? puts_[n_puts - 1].end : 32;

	assert_true(n_puts < MAX_PUT && na + nb <= sizeof(p->data));
	assert_int_equal(stream_put(s, type, a, na, b, nb), 0);
	p->type = type;
	memcpy(p->data, a, na);
	if (nb)
		memcpy(p->data + na, b, nb);
	p->len = na + nb;
	p->end = before + 16 + (p->len + 7) / 8 * 8;
	n_puts++;
}

static struct hvar_event map_event(unsigned i)
{
	struct hvar_event ev = { .time_ns = 1000 + i, .type = HVAR_EVENT_MAP, .mm = 1,
				 .pid = 7, .tid = 7, .cause = HVAR_CAUSE_MMAP };

	ev.u.map.start = 0x10000 + 0x1000ull * i;
	ev.u.map.end = ev.u.map.start + 0x1000;
	ev.u.map.prot = HVAR_PROT_READ | HVAR_PROT_WRITE;
	ev.u.map.region = HVAR_REGION_ANON;
	return ev;
}

static struct stream_sample sample(unsigned i)
{
	struct stream_sample s = { .ev = { .time_ns = 2000 + i, .type = HVAR_EVENT_SAMPLE,
					   .mm = 1, .pid = 7, .tid = 7 } };

	s.ev.u.sample.ip = 0x10123 + i;
	s.ev.u.sample.period_ns = 1000000;
	s.regs[STREAM_RSP] = 0x7ffd00001000 + i;
	return s;
}

/* A walk past 9 branches, 2 of them taken, and two returns. */
static struct stream_walk walk(void)
{
	struct stream_walk w = { .s = sample(2), .insns = 40, .n_bits = 9, .n_targets = 2, .n_loads = 1, .end = 1 };

	w.s.ev.u.sample.period_ns = 0;
	return w;
}

static const uint64_t walk_targets[] = { 0x10200, 0x10300 };
static const struct stream_walk_load walk_loads[] = { { 0x10204, 0x7ffd00002000 } };
static const uint8_t walk_bits[] = { 0x02, 0x01 };

static void put_walk(struct stream *s)
{
	struct stream_walk w = walk();
	uint8_t way[sizeof(walk_targets) + sizeof(walk_loads) + sizeof(walk_bits)];

	memcpy(way, walk_targets, sizeof(walk_targets));
	memcpy(way + sizeof(walk_targets), walk_loads, sizeof(walk_loads));
	memcpy(way + sizeof(walk_targets) + sizeof(walk_loads), walk_bits, sizeof(walk_bits));
	put(s, STREAM_WALK, &w, sizeof(w), way, sizeof(way));
}

/* One record of each of the types that differ in form, into @s, noted in puts_. */
static void put_all(struct stream *s)
{
	static const uint8_t bytes[] = { 0x48, 0x8b, 0x07, 0xc3, 0x90 };
	struct stream_module m = { .id = 1, .path_len = 6 };
	struct stream_code c = { .module = 1, .where = 0x1000 };
	struct stream_comm comm = { .time_ns = 1, .pid = 7, .tid = 7, .comm = "app" };
	struct stream_loss loss = { .time_ns = 2, .what = STREAM_LOST_SAMPLES, .count = 3 };
	struct stream_image image = { .module = 1 };
	struct stream_end end = { .time_ns = 9, .elapsed_ns = 8, .samples = 1, .wait_status = -1 };
	struct hvar_event ev = map_event(1);
	struct stream_sample sam = sample(1);

	n_puts = 0;
	put(s, STREAM_META, "hz=1000", 7, NULL, 0);
	m.m.ino = 5;
	m.m.build_id_len = 2;
	m.m.build_id[0] = 0xab;
	put(s, STREAM_MODULE, &m, sizeof(m), "/bin/a", 6);
	put(s, STREAM_EVENT, &ev, sizeof(ev), NULL, 0);
	put(s, STREAM_COMM, &comm, sizeof(comm), NULL, 0);
	put(s, STREAM_SAMPLE, &sam, sizeof(sam), NULL, 0);
	put(s, STREAM_CODE, &c, sizeof(c), bytes, sizeof(bytes));
	put(s, STREAM_LOSS, &loss, sizeof(loss), NULL, 0);
	put(s, STREAM_IMAGE, &image, sizeof(image), "not really an image", 19);
	put_walk(s);
	put(s, STREAM_END, &end, sizeof(end), NULL, 0);
}

static char *slurp(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	char *p;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	p = malloc((size_t)st.st_size + 1);
	assert_non_null(p);
	assert_int_equal(read(fd, p, (size_t)st.st_size), st.st_size);
	close(fd);
	*n = (size_t)st.st_size;
	return p;
}

static char *recording(size_t *n)
{
	struct err e;
	struct stream *s;

	unlink(path_of("all"));
	s = stream_to_file(path_of("all"), &e);
	assert_non_null(s);
	put_all(s);
	assert_int_equal(stream_close(s, &e), 0);
	return slurp(path_of("all"), n);
}

/* Read @r to its end: every record must be the next one that was put.  How many came; *@last is the last answer. */
static unsigned drain(struct stream_reader *r, int *last)
{
	struct stream_record rec;
	unsigned n = 0;

	while ((*last = stream_next(r, &rec)) == 1) {
		assert_true(n < n_puts);
		assert_int_equal(rec.type, puts_[n].type);
		assert_int_equal(rec.len, puts_[n].len);
		assert_memory_equal(rec.data, puts_[n].data, rec.len);
		assert_int_equal((uintptr_t)rec.data % 8, 0);
		n++;
	}
	/* An end stays the end. */
	assert_int_equal(stream_next(r, &rec), *last);
	return n;
}

static void whole(void **state)
{
	struct stream_reader *r;
	struct err e;
	size_t n;
	char *p = recording(&n);
	int last;

	(void)state;
	assert_int_equal(n, puts_[n_puts - 1].end);
	r = stream_reader_of_bytes(p, n, &e);
	assert_non_null(r);
	assert_int_equal(drain(r, &last), n_puts);
	assert_int_equal(last, 0);
	stream_reader_free(r);
	r = stream_reader_of_file(path_of("all"), &e);
	assert_non_null(r);
	assert_int_equal(drain(r, &last), n_puts);
	assert_int_equal(last, 0);
	stream_reader_free(r);
	free(p);
}

/* Cut at every byte: exactly the records that end before the cut, and it is said. */
static void cut(void **state)
{
	struct err e;
	size_t n, at;
	char *p = recording(&n);

	(void)state;
	for (at = 0; at < n; at++) {
		struct stream_reader *r = stream_reader_of_bytes(p, at, &e);
		unsigned whole_ones = 0;
		int last;

		if (at < 32) {
			assert_null(r);
			continue;
		}
		assert_non_null(r);
		while (puts_[whole_ones].end <= at)
			whole_ones++;
		assert_int_equal(drain(r, &last), whole_ones);
		assert_int_equal(last, -EPIPE);
		assert_non_null(strstr(stream_reader_why(r), "cut off"));
		stream_reader_free(r);
	}
	free(p);
}

/* Any flipped bit: the records before it, never the damaged one or any other bytes. */
static void flip(void **state)
{
	struct err e;
	size_t n, bit;
	char *p = recording(&n);

	(void)state;
	for (bit = 0; bit < 8 * n; bit++) {
		struct stream_reader *r;
		unsigned before = 0;
		int last;

		p[bit / 8] ^= (char)(1 << bit % 8);
		r = stream_reader_of_bytes(p, n, &e);
		if (bit / 8 < 32) {
			assert_null(r);
		} else {
			while (puts_[before].end <= bit / 8)
				before++;
			assert_non_null(r);
			assert_int_equal(drain(r, &last), before);
			assert_int_equal(last, -EPIPE);
			assert_true(*stream_reader_why(r));
			stream_reader_free(r);
		}
		p[bit / 8] ^= (char)(1 << bit % 8);
	}
	free(p);
}

/* A whole record left out or doubled is noticed though each record is whole. */
static void reordered(void **state)
{
	struct stream_reader *r;
	struct err e;
	size_t n, from = 0, len = 0;
	char *p = recording(&n), *q = malloc(2 * n);
	int last;

	(void)state;
	assert_non_null(q);
	from = puts_[1].end;
	len = puts_[2].end - from;
	memcpy(q, p, from);
	memcpy(q + from, p + from + len, n - from - len);
	r = stream_reader_of_bytes(q, n - len, &e);
	assert_non_null(r);
	assert_int_equal(drain(r, &last), 2);
	assert_int_equal(last, -EPIPE);
	stream_reader_free(r);

	memcpy(q, p, from + len);
	memcpy(q + from + len, p + from, n - from);
	r = stream_reader_of_bytes(q, n + len, &e);
	assert_non_null(r);
	assert_int_equal(drain(r, &last), 3);
	assert_int_equal(last, -EPIPE);
	stream_reader_free(r);
	free(q);
	free(p);
}

/* A record of a type from the future is skipped; the others are all there. */
static void unknown_type(void **state)
{
	struct stream_reader *r;
	struct stream_head h = { .type = 77, .len = 5 };
	struct err e;
	size_t n, at, i;
	char *p = recording(&n), *q = malloc(n + 64);
	int last;

	(void)state;
	assert_non_null(q);
	at = puts_[2].end;
	memcpy(q, p, at);
	memcpy(q + at + 16, "hello\0\0", 8);
	h.data_crc = stream_data_crc(q + at + 16, 8);
	h.head_crc = stream_head_crc(&h, 3);
	memcpy(q + at, &h, 16);
	memcpy(q + at + 24, p + at, n - at);
	/* those after it have other numbers now */
	for (i = 3; i < n_puts; i++) {
		size_t start = puts_[i - 1].end + 24;

		memcpy(&h, q + start, 16);
		h.head_crc = stream_head_crc(&h, i + 1);
		memcpy(q + start, &h, 16);
	}
	r = stream_reader_of_bytes(q, n + 24, &e);
	assert_non_null(r);
	assert_int_equal(drain(r, &last), n_puts);
	assert_int_equal(last, 0);
	stream_reader_free(r);
	free(q);
	free(p);
}

/* A recording of one image record: @n bytes at @p, and what the file is. */
static char *of_image(const void *p, size_t n, size_t *size)
{
	struct stream_image im = { .module = 1 };
	struct stream_end end = { .wait_status = -1 };
	struct stream *s;
	struct err e;
	char *file;

	s = stream_to_file(path_of("image"), &e);
	assert_non_null(s);
	assert_int_equal(stream_put(s, STREAM_IMAGE, &im, sizeof(im), p, n), 0);
	assert_int_equal(stream_put(s, STREAM_END, &end, sizeof(end), NULL, 0), 0);
	assert_int_equal(stream_close(s, &e), 0);
	file = slurp(path_of("image"), size);
	unlink(path_of("image"));
	return file;
}

/* Images and code come out as they went in, whatever is in them; what can be smaller is. */
static void packed(void **state)
{
	enum { N = 300000 };
	static unsigned char bytes[N];
	static const size_t lengths[] = { 1, 511, 512, 513, 65536, 65537, N };
	size_t size, i, kind;
	uint64_t x = 88172645463325252u;

	(void)state;
	for (kind = 0; kind < 3; kind++) {
		for (i = 0; i < N; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			bytes[i] = kind == 0 ? 0 : kind == 1 ? (unsigned char)(x & 7) : (unsigned char)x;
		}
		for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			char *p = of_image(bytes, lengths[i], &size);
			struct stream_record rec;
			struct stream_reader *r;
			struct err e;

			if (kind < 2 && lengths[i] > 600)
				assert_true(size < 32 + 16 + lengths[i] * 2 / 3 + 100);
			assert_true(size <= 32 + 16 + 8 + lengths[i] + 7 + 16 + 40);
			r = stream_reader_of_bytes(p, size, &e);
			assert_non_null(r);
			assert_int_equal(stream_next(r, &rec), 1);
			assert_int_equal(rec.type, STREAM_IMAGE);
			assert_int_equal(rec.len, sizeof(struct stream_image) + lengths[i]);
			assert_int_equal((uintptr_t)rec.data % 8, 0);
			assert_memory_equal((const char *)rec.data + sizeof(struct stream_image), bytes, lengths[i]);
			assert_int_equal(stream_next(r, &rec), 1);
			assert_int_equal(rec.type, STREAM_END);
			assert_int_equal(stream_next(r, &rec), 0);
			stream_reader_free(r);
			free(p);
		}
	}
}

/* Checksums right, what is packed wrong: damage, and nothing of it is believed. */
static void badly_packed(void **state)
{
	static const char zeros[5000];
	size_t size, at;
	char *p = of_image(zeros, sizeof(zeros), &size);
	struct stream_head h;
	uint64_t lengths[] = { 0, 1, sizeof(zeros) + 7, sizeof(zeros) + 9, (1u << 30) + 1, UINT64_MAX };

	(void)state;
	memcpy(&h, p + 32, sizeof(h));
	assert_int_equal(h.type, STREAM_IMAGE | STREAM_PACKED);
	for (at = 0; at < h.len + sizeof(lengths) / 8; at++) {
		char *q = malloc(size);
		struct stream_head bad = h;
		struct stream_record rec;
		struct stream_reader *r;
		struct err e;

		assert_non_null(q);
		memcpy(q, p, size);
		if (at < h.len) /* one byte of it is another */
			q[48 + at] = (char)~q[48 + at];
		else
			memcpy(q + 48, &lengths[at - h.len], 8);
		bad.data_crc = stream_data_crc(q + 48, stream_record_size(h.len) - 16);
		bad.head_crc = stream_head_crc(&bad, 0);
		memcpy(q + 32, &bad, sizeof(bad));
		r = stream_reader_of_bytes(q, size, &e);
		assert_non_null(r);
		assert_int_equal(stream_next(r, &rec), -EPIPE);
		assert_non_null(strstr(stream_reader_why(r), "packed"));
		stream_reader_free(r);
		free(q);
	}
	free(p);
}

/* What the version before wrote is read still. */
static void older_version(void **state)
{
	struct stream_file_head h;
	struct stream_reader *r;
	struct err e;
	size_t n;
	char *p = recording(&n);
	int last;

	(void)state;
	memcpy(&h, p, sizeof(h));
	h.version = 1;
	h.crc = stream_data_crc(&h, offsetof(struct stream_file_head, crc));
	memcpy(p, &h, sizeof(h));
	r = stream_reader_of_bytes(p, n, &e);
	assert_non_null(r);
	assert_int_equal(drain(r, &last), n_puts);
	assert_int_equal(last, 0);
	stream_reader_free(r);
	free(p);
}

static void refuses_other_files(void **state)
{
	static const char text[] = "precious notes, no recording\n";
	struct stream_reader *r;
	struct stream *s;
	struct err e;
	size_t n;
	char *p, *path = path_of("notes");
	int last, fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	close(fd);
	assert_null(stream_to_file(path, &e));
	assert_non_null(strstr(e.text, "notes"));
	p = slurp(path, &n);
	assert_int_equal(n, sizeof(text));
	assert_memory_equal(p, text, n);
	free(p);
	assert_null(stream_reader_of_file(path, &e));

	/* empty: allowed to write, nothing to read */
	fd = open(path, O_WRONLY | O_TRUNC);
	close(fd);
	assert_null(stream_reader_of_file(path, &e));
	s = stream_to_file(path, &e);
	assert_non_null(s);
	/* two writers of one file would mix their records */
	assert_null(stream_to_file(path, &e));
	assert_int_equal(stream_close(s, &e), 0);

	/* a recording may be made anew */
	s = stream_to_file(path, &e);
	assert_non_null(s);
	put_all(s);
	assert_int_equal(stream_close(s, &e), 0);
	r = stream_reader_of_file(path, &e);
	assert_non_null(r);
	stream_reader_free(r);

	/* one that came to nothing leaves the old one in place */
	s = stream_to_file(path, &e);
	assert_non_null(s);
	assert_int_equal(stream_put_meta(s, "hz", "%d", 1), 0);
	assert_int_equal(stream_drop(s, &e), 0);
	r = stream_reader_of_file(path, &e);
	assert_non_null(r);
	assert_int_equal(drain(r, &last), n_puts);
	assert_int_equal(last, 0);
	stream_reader_free(r);

	assert_null(stream_to_file(dir, &e));
	assert_null(stream_reader_of_file(dir, &e));
	assert_null(stream_reader_of_file(path_of("nothing"), &e));
	assert_null(stream_to_file(path_of("no/such/dir"), &e));
}

/* What no reader would accept is not written, and closing says so. */
static void bad_records(void **state)
{
	struct stream_reader *r;
	struct hvar_event ev = map_event(0);
	struct stream_sample sam = sample(0);
	struct stream_module m = { .id = 1, .path_len = 9 };
	struct err e;
	struct stream *s;
	int last;

	(void)state;
	unlink(path_of("bad"));
	s = stream_to_file(path_of("bad"), &e);
	assert_non_null(s);
	n_puts = 0;
	put(s, STREAM_META, "a=b", 3, NULL, 0);
	assert_int_equal(stream_put(s, STREAM_META, "nothing", 7, NULL, 0), -EINVAL);
	assert_int_equal(stream_put(s, STREAM_META, "a=\0b", 4, NULL, 0), -EINVAL);
	assert_int_equal(stream_put(s, STREAM_MODULE, &m, sizeof(m), "/short", 6), -EINVAL);
	assert_int_equal(stream_put(s, STREAM_EVENT, &ev, sizeof(ev) - 8, NULL, 0), -EINVAL);
	assert_int_equal(stream_put(s, STREAM_EVENT, &sam.ev, sizeof(sam.ev), NULL, 0), -EINVAL);
	assert_int_equal(stream_put(s, (enum stream_type)99, "x", 1, NULL, 0), -EINVAL);
	ev.type = HVAR_EVENT_TYPES;
	assert_int_equal(stream_put_event(s, &ev), -EINVAL);
	put(s, STREAM_META, "c=d", 3, NULL, 0);
	assert_int_equal(stream_close(s, &e), -EINVAL);
	assert_non_null(strstr(e.text, "7 records"));
	r = stream_reader_of_file(path_of("bad"), &e);
	assert_non_null(r);
	assert_int_equal(drain(r, &last), 2);
	stream_reader_free(r);
}

/* A file at its size limit: no signal kills us, the first failure is told, what is there is readable. */
/* What is put is what was walked; and none of what no walk can be. */
static void walks(void **state)
{
	static const struct {
		size_t off;
		uint32_t value;
	} bad[] = {
		{ offsetof(struct stream_walk, insns), 10 }, /* fewer than branches and returns */
		{ offsetof(struct stream_walk, insns), STREAM_WALK_INSNS_MAX + 1 },
		{ offsetof(struct stream_walk, n_bits), 8 }, /* too long then */
		{ offsetof(struct stream_walk, n_bits), 17 },
		{ offsetof(struct stream_walk, n_bits), UINT32_MAX },
		{ offsetof(struct stream_walk, n_targets), 1 },
		{ offsetof(struct stream_walk, n_targets), 0x20000002 },
		{ offsetof(struct stream_walk, end), 1 << 16 | STREAM_WALK_ENDS_MAX },
		{ offsetof(struct stream_walk, end), 0 << 16 | 1 }, /* too long then */
		{ offsetof(struct stream_walk, end), 2 << 16 | 1 },
		{ offsetof(struct stream_walk, end), 0xffff0001 },
		{ offsetof(struct stream_walk, s.ev.u.sample.period_ns), 1 },
		{ offsetof(struct stream_walk, s.ev.u.sample.flags), HVAR_SAMPLE_NOREGS },
		{ offsetof(struct stream_walk, s.ev.type), HVAR_EVENT_MAP },
	};
	static const uint8_t past_the_end[] = { 0x02, 0x03 };
	struct stream_walk w = walk();
	struct stream_record rec;
	struct stream_reader *r;
	struct err e;
	struct stream *s;
	union {
		struct stream_walk w;
		uint8_t bytes[sizeof(struct stream_walk) + sizeof(walk_targets) + sizeof(walk_loads) + sizeof(walk_bits)];
	} one;

	(void)state;
	unlink(path_of("walks"));
	s = stream_to_file(path_of("walks"), &e);
	assert_non_null(s);
	assert_int_equal(stream_put_walk(s, &w, walk_targets, walk_loads, walk_bits), 0);
	w.n_targets = w.n_bits = w.n_loads = 0;
	assert_int_equal(stream_put_walk(s, &w, NULL, NULL, NULL), 0);
	assert_int_equal(stream_close(s, &e), 0);
	r = stream_reader_of_file(path_of("walks"), &e);
	assert_non_null(r);
	assert_int_equal(stream_next(r, &rec), 1);
	assert_int_equal(rec.type, STREAM_WALK);
	assert_int_equal(rec.len, sizeof(one.bytes));
	memcpy(one.bytes, rec.data, sizeof(one.bytes));
	w = walk();
	assert_memory_equal(&one.w, &w, sizeof(w));
	assert_memory_equal(one.w.targets, walk_targets, sizeof(walk_targets));
	assert_memory_equal(stream_walk_loads(&one.w), walk_loads, sizeof(walk_loads));
	assert_memory_equal(stream_walk_bits(&one.w), walk_bits, sizeof(walk_bits));
	assert_int_equal(stream_next(r, &rec), 1);
	assert_int_equal(rec.len, sizeof(w));
	assert_int_equal(stream_next(r, &rec), -EPIPE); /* no STREAM_END */
	stream_reader_free(r);

	assert_true(stream_well_formed(STREAM_WALK, &one, sizeof(one.bytes)));
	assert_false(stream_well_formed(STREAM_WALK, &one, sizeof(w) - 8));
	assert_false(stream_well_formed(STREAM_WALK, &one, sizeof(one.bytes) - 1));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint32_t was;

		memcpy(&was, one.bytes + bad[i].off, sizeof(was));
		memcpy(one.bytes + bad[i].off, &bad[i].value, sizeof(was));
		assert_false(stream_well_formed(STREAM_WALK, &one, sizeof(one.bytes)));
		memcpy(one.bytes + bad[i].off, &was, sizeof(was));
	}
	s = stream_to_file(path_of("walks"), &e);
	assert_non_null(s);
	assert_int_equal(stream_put_walk(s, &w, walk_targets, walk_loads, past_the_end), -EINVAL);
	w.n_targets = STREAM_WALK_TARGETS_MAX + 1;
	assert_int_equal(stream_put_walk(s, &w, walk_targets, walk_loads, walk_bits), -EINVAL);
	assert_int_equal(stream_close(s, &e), -EINVAL);
}

static void size_limit(void **state)
{
	struct stream_reader *r;
	struct stream_record rec;
	struct err e;
	unsigned n = 0;
	int status, ret;
	pid_t pid;

	(void)state;
	unlink(path_of("limit"));
	pid = fork();
	if (pid == 0) {
		struct rlimit lim = { 100000, 100000 };
		struct stream *s = stream_to_file(path_of("limit"), &e);
		unsigned i;

		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_FSIZE, &lim);
		for (i = 0; s && i < 5000; i++) {
			struct hvar_event ev = map_event(i);

			stream_put_event(s, &ev);
		}
		_exit(s && stream_close(s, &e) == -EFBIG && strstr(e.text, "limit") ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	r = stream_reader_of_file(path_of("limit"), &e);
	assert_non_null(r);
	while ((ret = stream_next(r, &rec)) == 1) {
		struct hvar_event ev = map_event(n++);

		assert_memory_equal(rec.data, &ev, sizeof(ev));
	}
	assert_int_equal(ret, -EPIPE);
	assert_int_equal(n, (100000 - 32) / 96);
	stream_reader_free(r);
}

static void full_disk(void **state)
{
	struct stream *s;
	struct err e;
	unsigned i;

	(void)state;
	s = stream_to_file("/dev/full", &e);
	assert_non_null(s);
	for (i = 0; i < 5000; i++) {
		struct hvar_event ev = map_event(i);

		stream_put_event(s, &ev);
	}
	assert_int_equal(stream_flush(s), -ENOSPC);
	assert_int_equal(stream_close(s, &e), -ENOSPC);
	assert_non_null(strstr(e.text, "5000 records"));
}

static void closed_pipe(void **state)
{
	struct err e;
	int fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	close(fds[0]); /* before there is anyone else who has it */
	pid = fork();
	if (pid == 0) {
		struct stream *s;

		signal(SIGPIPE, SIG_DFL);
		dup2(fds[1], 1);
		close(fds[1]);
		s = stream_to_file("-", &e);
		if (s)
			put_all(s);
		_exit(s && stream_close(s, &e) == -EPIPE ? 0 : 1);
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Through a pipe, in whatever pieces it comes. */
static void pipe_reader(void **state)
{
	struct stream_reader *r;
	struct err e;
	size_t n;
	char *p = recording(&n);
	char proc[64];
	int fds[2], last, status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		size_t i;

		for (i = 0; i < n; i += 7)
			if (write(fds[1], p + i, n - i < 7 ? n - i : 7) < 0)
				_exit(1);
		_exit(0);
	}
	close(fds[1]);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fds[0]);
	r = stream_reader_of_file(proc, &e);
	assert_non_null(r);
	assert_int_equal(drain(r, &last), n_puts);
	assert_int_equal(last, 0);
	stream_reader_free(r);
	close(fds[0]);
	waitpid(pid, &status, 0);
	free(p);
}

enum { QUEUED = 20000, BIG = 200000 };

static void *write_queue(void *arg)
{
	struct stream *s = arg;
	char *big = malloc(BIG);
	struct err e;
	unsigned i;

	for (i = 0; i < QUEUED; i++) {
		struct hvar_event ev = map_event(i);

		stream_put_event(s, &ev);
		if (i % 97 == 0)
			stream_flush(s);
		if (i % 5000 == 0) {
			struct stream_code c = { .module = 1, .where = i };

			memset(big, (int)(i / 5000), BIG);
			stream_put(s, STREAM_CODE, &c, sizeof(c), big, BIG);
		}
	}
	free(big);
	return stream_close(s, &e) ? s : NULL;
}

/* Two threads: all records, in order, whatever their sizes. */
static void queue(void **state)
{
	struct stream_reader *r;
	struct stream_record rec;
	struct err e;
	struct stream *s = stream_to_queue(&e);
	unsigned n = 0, big = 0;
	pthread_t writer;
	void *failed;
	int ret;

	(void)state;
	assert_non_null(s);
	r = stream_reader_of_queue(s);
	assert_non_null(r);
	assert_null(stream_reader_of_queue(s));
	assert_int_equal(pthread_create(&writer, NULL, write_queue, s), 0);
	while ((ret = stream_next(r, &rec)) == 1) {
		if (rec.type == STREAM_CODE) {
			const struct stream_code *c = rec.data;

			assert_int_equal(rec.len, sizeof(*c) + BIG);
			assert_int_equal(c->bytes[0], big);
			assert_int_equal(c->bytes[BIG - 1], big);
			big++;
		} else {
			struct hvar_event ev = map_event(n++);

			assert_int_equal(rec.len, sizeof(ev));
			assert_memory_equal(rec.data, &ev, sizeof(ev));
		}
	}
	assert_int_equal(ret, 0);
	assert_int_equal(n, QUEUED);
	assert_int_equal(big, QUEUED / 5000);
	pthread_join(writer, &failed);
	assert_null(failed);
	stream_reader_free(r);
}

/* A reader that leaves early: the writer is told at the end and no memory is kept. */
static void queue_left(void **state)
{
	struct err e;
	struct stream *s = stream_to_queue(&e);
	struct stream_reader *r = stream_reader_of_queue(s);
	unsigned i;

	(void)state;
	stream_reader_free(r);
	for (i = 0; i < 5000; i++) {
		struct hvar_event ev = map_event(i);

		stream_put_event(s, &ev);
	}
	assert_int_equal(stream_close(s, &e), -EPIPE);

	/* and one that never had a reader */
	s = stream_to_queue(&e);
	put_all(s);
	assert_int_equal(stream_close(s, &e), 0);
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const names[] = { "all", "notes", "bad", "limit", "walks" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(cut),
		cmocka_unit_test(flip),
		cmocka_unit_test(reordered),
		cmocka_unit_test(unknown_type),
		cmocka_unit_test(packed),
		cmocka_unit_test(badly_packed),
		cmocka_unit_test(older_version),
		cmocka_unit_test(refuses_other_files),
		cmocka_unit_test(bad_records),
		cmocka_unit_test(walks),
		cmocka_unit_test(size_limit),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(closed_pipe),
		cmocka_unit_test(pipe_reader),
		cmocka_unit_test(queue),
		cmocka_unit_test(queue_left),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
