// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lines_judge.h"

#include <stdlib.h>

#include "runtime/valgrind/hvt_line_most.h"

enum { MOST_MET = 4096 };

const char *lines_verdict_name(enum line_verdict v)
{
	static const char *const names[] = {
		[LINE_NONE] = "none", [LINE_ONCE] = "once", [LINE_TRUE] = "true", [LINE_FALSE] = "false", [LINE_BOTH] = "both",
	};

	return names[v];
}

/* ---- verdicts ---- */

static struct hvt_stretch all_of(const struct line_thread *t)
{
	struct hvt_stretch s = { .read = t->read, .written = t->written };
	unsigned i;

	for (i = 0; i < LINES_WORDS; i++) {
		s.reads = hvt_line_plus(s.reads, t->reads[i]);
		s.writes = hvt_line_plus(s.writes, t->writes[i]);
	}
	return s;
}

/* A thread of a line, and all that it did. */
struct whole {
	uint32_t mm;
	struct hvt_stretch s;
};

static int more_first(const void *a, const void *b)
{
	const struct hvt_stretch *x = &((const struct whole *)a)->s, *y = &((const struct whole *)b)->s;
	uint64_t nx = hvt_line_accesses(x), ny = hvt_line_accesses(y);

	return (nx < ny) - (nx > ny);
}

/*
 * Each pair of threads, but those of one process whose order is known.  Of more threads than MOST_MET those with most
 * accesses: a pair adds at most twice what the one with fewer has.
 */
static void meet_all(const struct line *line, struct line_judged *out)
{
	struct whole *all;
	uint32_t i, k, n = line->n_threads;

	for (i = 1; i < n && line->exact && line->threads[i].mm == line->threads[0].mm; i++)
		;
	all = i < n ? malloc(n * sizeof(*all)) : NULL;
	if (!all)
		return;
	for (i = 0; i < n; i++)
		all[i] = (struct whole){ line->threads[i].mm, all_of(&line->threads[i]) };
	if (n > MOST_MET) {
		qsort(all, n, sizeof(*all), more_first);
		n = MOST_MET;
	}
	for (i = 0; i < n; i++) {
		for (k = i + 1; k < n; k++) {
			bool processes = all[i].mm != all[k].mm;
			const struct hvt_stretch *a = &all[i].s, *b = &all[k].s;
			uint64_t most, *sum = hvt_line_in_common(a, b) ? &out->most_true : &out->most_false;

			if (!processes && line->exact)
				continue;
			most = hvt_line_plus(hvt_line_gets(a, b), hvt_line_gets(b, a));
			*sum = hvt_line_plus(*sum, most);
			out->processes = out->processes || (processes && most);
		}
	}
	free(all);
}

static struct hvt_line_all all_threads(const struct line *line)
{
	struct hvt_line_all all = { 0 };
	struct hvt_stretch s;
	uint32_t i;

	for (i = 0; i < line->n_threads; i++) {
		s = all_of(&line->threads[i]);
		hvt_line_all_add(&all, &s);
	}
	for (i = 0; i < line->n_threads; i++) {
		s = all_of(&line->threads[i]);
		hvt_line_all_take(&all, &s);
	}
	return all;
}

void lines_judge(const struct line *line, struct line_judged *out)
{
	const struct hvt_line_all all = all_threads(line);
	uint64_t most = hvt_line_all_most(&all), turns, seen_true = line->most_true, seen_false = line->most_false, seen, sum;

	*out = (struct line_judged){ .handovers = hvt_line_less(line->handovers, most), .returns = hvt_line_less(line->returns, most) };
	turns = line->exact ? out->returns : line->turns;
	hvt_line_all_bound(&all, out->handovers, &seen_true, &seen_false);
	seen = seen_true + seen_false;
	out->most_true = line->unseen_true;
	out->most_false = line->unseen_false;
	hvt_line_all_bound(&all, 0, &out->most_true, &out->most_false);
	sum = out->most_true + out->most_false;
	out->unseen = (turns < LINES_BACK_AND_FORTH || seen < LINES_LEAST) && sum >= LINES_LEAST;
	if (!out->unseen) {
		/* What was seen says better which bytes two had in common; how often there can be two, what can be at the same time. */
		if (seen && sum)
			hvt_line_scale(sum, &seen_true, &seen_false);
		out->most_true = seen_true;
		out->most_false = seen_false;
	}
	meet_all(line, out);
	hvt_line_all_bound(&all, out->handovers, &out->most_true, &out->most_false);
	out->order = line->exact && !out->processes;
	sum = out->most_true + out->most_false;
	if (!sum)
		out->verdict = LINE_NONE;
	else if (turns < LINES_BACK_AND_FORTH && !out->unseen && !(line->exact && out->processes))
		out->verdict = LINE_ONCE;
	else if (out->most_false < sum / 10 + 1)
		out->verdict = LINE_TRUE;
	else if (out->most_true < sum / 10 + 1)
		out->verdict = LINE_FALSE;
	else
		out->verdict = LINE_BOTH;
}

/* ---- parts ---- */

static uint64_t bytes_of(unsigned start, unsigned end)
{
	return (end - start >= LINES_SIZE ? ~(uint64_t)0 : ((uint64_t)1 << (end - start)) - 1) << start;
}

static uint64_t touched(const struct line_thread *t)
{
	return t->read | t->written;
}

static uint64_t touched_by_any(const struct line *line)
{
	uint64_t all = 0;
	uint32_t i;

	for (i = 0; i < line->n_threads; i++)
		all |= touched(&line->threads[i]);
	return all;
}

/* Do the same threads access bytes @a and @b? */
static bool same_threads(const struct line *line, unsigned a, unsigned b)
{
	uint32_t i;

	for (i = 0; i < line->n_threads; i++)
		if ((touched(&line->threads[i]) >> a & 1) != (touched(&line->threads[i]) >> b & 1))
			return false;
	return true;
}

/* Does some thread access both in the same 4 bytes, so that its counts are of both? */
static bool one_count(const struct line *line, const struct line_part *a, const struct line_part *b)
{
	unsigned word = (a->end - 1u) / 4;
	uint64_t in = bytes_of(4 * word, 4 * word + 4);
	uint32_t i;

	if (b->start / 4u != word)
		return false;
	for (i = 0; i < line->n_threads; i++) {
		uint64_t t = touched(&line->threads[i]) & in;

		if (t & bytes_of(a->start, a->end) && t & bytes_of(b->start, b->end))
			return true;
	}
	return false;
}

/* Pieces of @n bytes [@start, @end), of name @name. */
static unsigned cut(const struct line *line, unsigned name, uint64_t any, struct line_part *out)
{
	const struct line_name *n = &line->names[name];
	unsigned i, k = 0;

	if (n->member) {
		if (!(any & bytes_of(n->start, n->end)))
			return 0;
		*out = (struct line_part){ n->start, n->end, (uint8_t)name, (uint8_t)name };
		return 1;
	}
	for (i = n->start; i < n->end; i++) {
		if (!(any >> i & 1))
			continue;
		if (k && out[k - 1].end == i && same_threads(line, i - 1, i))
			out[k - 1].end++;
		else
			out[k++] = (struct line_part){ (uint8_t)i, (uint8_t)(i + 1), (uint8_t)name, (uint8_t)name };
	}
	return k;
}

unsigned lines_parts(const struct line *line, struct line_part out[LINES_SIZE])
{
	uint64_t any = touched_by_any(line);
	unsigned n = 0, i, k;

	for (i = 0; i < line->n_names; i++)
		n += cut(line, i, any, out + n);
	for (i = 0, k = 0; i < n; i++) {
		if (k && one_count(line, &out[k - 1], &out[i])) {
			out[k - 1].end = out[i].end;
			out[k - 1].last = out[i].last;
		} else {
			out[k++] = out[i];
		}
	}
	return k;
}

struct line_part_count lines_part_count(const struct line_part *p, const struct line_thread *t)
{
	uint64_t in = bytes_of(p->start, p->end);
	struct line_part_count c = { .read = t->read & in, .written = t->written & in };
	unsigned i;

	for (i = p->start / 4u; i <= (p->end - 1u) / 4; i++) {
		uint64_t word = bytes_of(4 * i, 4 * i + 4);

		/* A word that it has in part is its own where the thread accesses nothing else there. */
		if (touched(t) & word & in) {
			c.reads += t->reads[i];
			c.writes += t->writes[i];
		}
	}
	return c;
}
