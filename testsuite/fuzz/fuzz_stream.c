// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_stream.c - any bytes as a recording, read and reported.
 *
 * First as they are: checksums stop nearly all of them at once.  Then with the
 * file's head and each record's checksums put right, so that what lies behind them meets
 * hostile lengths, events, modules, code and images too.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/report/analysis.h"
#include "runtime/report/lines_rows.h"
#include "runtime/report/report.h"
#include "runtime/report/rows.h"
#include "runtime/report/touched_report.h"
#include "runtime/report/watched_report.h"
#include "runtime/user/stream.h"
#include "runtime/user/stream_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Shares of all rows and reasons are all there is. */
static void check(const struct rows *r)
{
	double sum = r->hidden_share;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (!(r->v[i].share >= 0 && r->v[i].share <= 1 + 1e-6))
			abort();
		sum += r->v[i].share;
	}
	for (i = 0; i < r->n_un; i++)
		sum += r->un[i].share;
	if (sum > 1 + 1e-6 || (r->n + r->hidden && sum < 1 - 1e-6))
		abort();
}

/* Each share is one, and where there are lines they are all. */
static void read_lines(struct analysis *a, FILE *null)
{
	const struct lines_options o = { .width = 80, .all = true };
	struct lines_rows r;
	double sum = 0;
	size_t i;

	if (lines_rows_make(&r, analysis_lines(a)))
		return;
	for (i = 0; i < r.n; i++)
		sum += r.v[i].share;
	if (r.n && !(sum > 1 - 1e-6 && sum < 1 + 1e-6))
		abort();
	lines_text(null, &r, a, &o);
	lines_json(null, &r, a, &o);
	lines_rows_fini(&r);
}

/* What is touched at the peak is in its areas, or counted as without one. */
static void read_touched(struct analysis *a, size_t size, FILE *null)
{
	const struct touched_choice o = { .by_page = size & 1, .limit = 10, .width = 80 };
	struct touched_result t;
	uint64_t sum = 0;
	size_t i;

	if (touched_finish(analysis_touched(a), &t))
		return;
	for (i = 0; i < t.n_areas; i++)
		sum += t.areas[i].touched;
	if (!t.lost && (sum > t.peak.pages || sum + t.unplaced < t.peak.pages))
		abort();
	touched_text(null, &t, a, &o);
	touched_json(null, &t, a, &o);
}

static void read_all(const void *data, size_t size, FILE *null)
{
	struct analysis_options ao = { .per_process = size & 1, .by_member = size & 2, .by_phase = !(size & 1) && size & 4,
				       .lines = true, .prefetches = true, .touched = true };
	struct rows_options ro = { .limit = 10, .callers = size & 8 ? ROWS_CALLERS_DEFAULT : size & 3, .by_phase = ao.by_phase,
				   .sort = size & 16 ? ROWS_BY_TIME : ROWS_BY_ACCESSES };
	struct report_options o = { .width = 80, .verbose = 1 };
	struct stream_reader *r;
	struct analysis *a;
	struct analysis_need need;
	struct rows rows;
	struct err e;

	r = stream_reader_of_bytes(data, size, &e);
	if (!r)
		return;
	a = analysis_new(&ao, &e);
	if (a) {
		touched_most(analysis_touched(a), 1 << 16);
		analysis_read(a, r);
		if (!rows_make(&rows, a, &ro, &e)) {
			check(&rows);
			report_text(null, &rows, a, &o);
			report_json(null, &rows, a);
			rows_fini(&rows);
		}
		read_lines(a, null);
		read_touched(a, size, null);
		watched_text(null, a, &(struct watched_choice){ .limit = 10, .lines = 10 });
		watched_json(null, a, &(struct watched_choice){ .limit = 10 });
		while (analysis_need(a, &need))
			;
		analysis_free(a);
	}
	stream_reader_free(r);
}

static void put_right(uint8_t *p, size_t size)
{
	struct stream_file_head head;
	struct stream_head h;
	uint64_t number = 0;
	size_t at = sizeof(head);

	stream_file_head_fill(&head);
	memcpy(p, &head, sizeof(head));
	for (; size - at >= sizeof(h); number++) {
		size_t n;

		memcpy(&h, p + at, sizeof(h));
		/* A length past the end is cut to what is there: more inputs get further. */
		if (stream_record_size(h.len) > size - at) {
			if (size - at < sizeof(h) + 8)
				break;
			h.len = (uint32_t)((size - at - sizeof(h)) & ~(size_t)7);
		}
		n = stream_record_size(h.len) - sizeof(h);
		h.data_crc = stream_data_crc(p + at + sizeof(h), n);
		h.head_crc = stream_head_crc(&h, number);
		memcpy(p + at, &h, sizeof(h));
		at += sizeof(h) + n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	uint8_t *copy;

	if (!null)
		null = fopen("/dev/null", "w");
	if (!null)
		abort();
	read_all(data, size, null);
	if (size < sizeof(struct stream_file_head))
		return 0;
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	put_right(copy, size);
	read_all(copy, size, null);
	free(copy);
	return 0;
}
