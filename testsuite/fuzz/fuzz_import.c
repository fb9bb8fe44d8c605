// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_import.c - any bytes as text of perf script, reported.
 *
 * Each line alone obeys what import_line.h promises; of the whole text comes a report whose shares are all there is.
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/report/analysis.h"
#include "runtime/report/report.h"
#include "runtime/report/rows.h"
#include "runtime/user/import.h"
#include "runtime/user/import_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void within(struct import_text t, const char *line, size_t len)
{
	if (t.len && (t.p < line || t.p + t.len > line + len))
		abort();
}

static void check_line(const char *line, size_t len)
{
	struct import_line l;

	import_line(line, len, &l);
	within(l.comm, line, len);
	if (l.what == IMPORT_SAMPLE) {
		within(l.u.sample.event, line, len);
		within(l.u.sample.symbol, line, len);
		within(l.u.sample.file, line, len);
	} else if (l.what == IMPORT_MAP) {
		within(l.u.map.path, line, len);
		if (l.u.map.start >= l.u.map.end || l.u.map.build_id_len > sizeof(l.u.map.build_id))
			abort();
	} else if (l.what == IMPORT_COMM) {
		within(l.u.comm.name, line, len);
	} else if (l.what == IMPORT_BAD && (!l.bad_why || !l.bad_column || l.bad_column > len + 1)) {
		abort();
	}
}

static void check(const struct rows *r)
{
	double sum = r->hidden_share;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (!(r->v[i].share >= 0 && r->v[i].share <= 1 + 1e-6) || !(r->v[i].ci[0] <= r->v[i].share + 1e-9) ||
		    !(r->v[i].ci[1] >= r->v[i].share - 1e-9))
			abort();
		sum += r->v[i].share;
	}
	for (i = 0; i < r->n_un; i++)
		sum += r->un[i].share;
	if (sum > 1 + 1e-6 || (r->n + r->hidden + r->n_un && sum < 1 - 1e-6))
		abort();
}

static void take(void *ctx, const struct stream_record *r)
{
	analysis_record(ctx, r);
}

static void report(struct analysis *a, FILE *null)
{
	struct rows_options ro = { .limit = 10 };
	struct report_options o = { .width = 80, .verbose = 1 };
	struct rows rows;
	struct err e;

	if (rows_make(&rows, a, &ro, &e))
		return;
	check(&rows);
	report_text(null, &rows, a, &o);
	report_json(null, &rows, a);
	rows_fini(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct analysis_options ao = { .per_process = size & 1, .by_member = size & 2 };
	static FILE *null;
	static int fd = -1;
	struct import_file f;
	struct analysis *a;
	struct stream *s;
	char path[64];
	struct err e;
	size_t at;

	if (fd < 0) {
		fd = memfd_create("text", MFD_CLOEXEC);
		null = fopen("/dev/null", "w");
	}
	if (fd < 0 || !null)
		abort();
	for (at = 0; at < size;) {
		const uint8_t *nl = memchr(data + at, '\n', size - at);
		size_t len = nl ? (size_t)(nl - data) - at : size - at;
		char *line = malloc(len + 1); /* apart, so that what reads on is found */

		memcpy(line, data + at, len);
		line = realloc(line, len ? len : 1);
		check_line(line, len);
		free(line);
		at += len + 1;
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (import_file_open(&f, path, &e))
		abort();
	a = analysis_new(&ao, &e);
	s = a ? stream_to_call(take, a, &e) : NULL;
	if (s) {
		import_text(&f, s, &e);
		if (stream_close(s, &e))
			abort();
		report(a, null);
	}
	analysis_free(a);
	import_file_close(&f);
	return 0;
}
