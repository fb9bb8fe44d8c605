// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_verified.c - what came of "hotvar advise --verify".
 */
#include "config.h"

#include "advise_verified.h"

#include <inttypes.h>
#include <stdlib.h>

#include "json.h"

static const char *const ways[] = { "without", "with" };

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double middle_faults(const struct advise_run *v, unsigned n)
{
	double *x = calloc(n, sizeof(*x)), m;

	if (!x || !n) {
		free(x);
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		x[i] = (double)v[i].faults;
	qsort(x, n, sizeof(*x), compare);
	m = (x[n / 2] + x[(n - 1) / 2]) / 2;
	free(x);
	return m;
}

void advise_typical(const struct advise_run *v, unsigned n, struct advise_typical *out)
{
	*out = (struct advise_typical){ .faults = middle_faults(v, n) };
	for (unsigned i = 0; i < n; i++) {
		if (!i || v[i].seconds < out->seconds)
			out->seconds = v[i].seconds;
		if (!i || v[i].cpu_seconds < out->cpu_seconds)
			out->cpu_seconds = v[i].cpu_seconds;
	}
}

static double fall(const struct advise_verified *v)
{
	return middle_faults(v->runs[0], v->rounds) - middle_faults(v->runs[1], v->rounds);
}

uint64_t advise_fall_most(const struct advise_verified *v)
{
	double more = middle_faults(v->runs[0], v->rounds) - (double)v->pages, pages = (double)v->pages;

	if (more <= 0)
		return v->expected_fall;
	return v->expected_fall + (more >= pages ? v->expected_fall : (uint64_t)((double)v->expected_fall * more / pages));
}

bool advise_as_expected(const struct advise_verified *v)
{
	return fall(v) * 10 >= (double)v->expected_fall * 9 && fall(v) * 10 <= (double)advise_fall_most(v) * 11;
}

enum { FRAMES = 8 }; /* in text */

static void put_frame(FILE *f, const struct unwind_frame *v)
{
	const char *s = v->symbol ? v->symbol : v->place ? v->place : "?";

	for (; *s; s++) /* a symbol's name may hold anything */
		putc((unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s, f);
	if (v->symbol)
		fprintf(f, "+0x%" PRIx64, v->offset);
}

static void callers_text(FILE *f, const struct advise_verified *v)
{
	for (size_t i = 0; i < v->n_ranges; i++) {
		const struct unwind *u = &v->ranges[i].by;

		if (!u->n)
			continue;
		fprintf(f, "0x%" PRIx64 "-0x%" PRIx64 " was mapped by ", v->ranges[i].start, v->ranges[i].end);
		for (size_t k = 0; k < u->n && k < FRAMES; k++) {
			fputs(k ? " < " : "", f);
			put_frame(f, &u->v[k]);
		}
		fputs(u->n > FRAMES ? " < ...\n" : "\n", f);
	}
}

static void callers_json(FILE *f, const struct advise_verified *v)
{
	for (size_t i = 0; i < v->n_ranges; i++) {
		const struct unwind *u = &v->ranges[i].by;
		struct json j;

		json_begin(&j, f, "mapped");
		json_hex(&j, "start", v->ranges[i].start);
		json_hex(&j, "end", v->ranges[i].end);
		json_open(&j, "stack", '[');
		for (size_t k = 0; k < u->n; k++) {
			json_open(&j, NULL, '{');
			json_hex(&j, "ip", u->v[k].ip);
			json_str(&j, "symbol", u->v[k].symbol);
			if (u->v[k].symbol)
				json_u64(&j, "offset", u->v[k].offset);
			json_str(&j, "module", u->v[k].module);
			json_close(&j, '}');
		}
		json_close(&j, ']');
		json_str(&j, "stack_why", u->why);
		json_end(&j);
	}
}

void advise_verified_text(FILE *f, const struct advise_verified *v)
{
	struct advise_typical m[2];

	fprintf(f, "Verified: %u runs without huge pages, %u with them in %zu area%s, by turns\n", v->rounds, v->rounds, v->areas - v->left_out,
		v->areas - v->left_out == 1 ? "" : "s");
	fputs("            PAGE FAULTS    SECONDS  CPU SECONDS\n", f);
	for (int way = 0; way < 2; way++) {
		const struct advise_run *runs = v->runs[way];

		for (unsigned i = 0; i < v->rounds; i++)
			fprintf(f, "  %-8s %12" PRIu64 " %10.3f %12.3f\n", ways[way], runs[i].faults, runs[i].seconds, runs[i].cpu_seconds);
		advise_typical(runs, v->rounds, &m[way]);
	}
	fprintf(f, "Page faults fell by %.0f, of %.0f; expected: %" PRIu64, fall(v), m[0].faults, v->expected_fall);
	if (advise_fall_most(v) * 10 > v->expected_fall * 11)
		fprintf(f, ", up to %" PRIu64 " if pages are read before they are written", advise_fall_most(v));
	fprintf(f, ". That is %s 10 %%.\n", advise_as_expected(v) ? "as expected within" : "not as expected within");
	if (m[1].cpu_seconds > 0 && m[1].seconds > 0)
		fprintf(f, "The fastest of each: %.3f s without, %.3f s with (%.2f times as fast); CPU time %.3f s and %.3f s.\n", m[0].seconds,
			m[1].seconds, m[0].seconds / m[1].seconds, m[0].cpu_seconds, m[1].cpu_seconds);
	callers_text(f, v);
	if (!advise_as_expected(v) && fall(v) < (double)v->expected_fall && v->runs[1]->advised > 4 * v->n_ranges)
		fprintf(f, "note: it was mapped by %u calls: where a piece is touched before the rest of its 2 MiB is mapped, its pages are small; map more at a time\n",
			v->runs[1]->advised);
	if (v->left_out)
		fprintf(f, "not verified: %zu area%s of files or shared memory, for which the kernel gives no huge pages now\n", v->left_out,
			v->left_out == 1 ? "" : "s");
	if (v->fallbacks)
		fprintf(f, "note: %" PRIu64 " times the machine had no 2 MiB free (thp_fault_fallback of /proc/vmstat)\n", v->fallbacks);
	if (v->input_gone)
		fputs("note: the input is no file: only the first run, which was watched, could read it\n", f);
}

void advise_verified_json(FILE *f, const struct advise_verified *v)
{
	struct advise_typical m[2];
	struct json j;

	for (unsigned i = 0; i < 2 * v->rounds; i++) {
		const struct advise_run *r = &v->runs[i % 2][i / 2];

		json_begin(&j, f, "run");
		json_str(&j, "huge", ways[i % 2]);
		json_u64(&j, "faults", r->faults);
		json_u64(&j, "major_faults", r->major);
		json_num(&j, "seconds", r->seconds);
		json_num(&j, "cpu_seconds", r->cpu_seconds);
		json_u64(&j, "madvise_calls", r->advised);
		json_u64(&j, "madvise_failed", r->refused);
		json_end(&j);
	}
	callers_json(f, v);
	advise_typical(v->runs[0], v->rounds, &m[0]);
	advise_typical(v->runs[1], v->rounds, &m[1]);
	json_begin(&j, f, "verified");
	json_u64(&j, "rounds", v->rounds);
	json_num(&j, "faults_without", m[0].faults);
	json_num(&j, "faults_with", m[1].faults);
	json_num(&j, "fall", fall(v));
	json_u64(&j, "expected_fall", v->expected_fall);
	json_u64(&j, "expected_fall_most", advise_fall_most(v));
	json_bool(&j, "as_expected", advise_as_expected(v));
	json_num(&j, "seconds_without", m[0].seconds);
	json_num(&j, "seconds_with", m[1].seconds);
	json_num(&j, "cpu_seconds_without", m[0].cpu_seconds);
	json_num(&j, "cpu_seconds_with", m[1].cpu_seconds);
	json_u64(&j, "areas", v->areas);
	json_u64(&j, "areas_left_out", v->left_out);
	json_u64(&j, "fallbacks", v->fallbacks);
	json_bool(&j, "input_gone", v->input_gone);
	json_end(&j);
}
