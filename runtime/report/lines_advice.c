// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lines_advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_image.h"

const char *lines_advice_name(enum line_advice_what what)
{
	static const char *const names[] = {
		[LINE_ADVICE_NONE] = "none",
		[LINE_ADVICE_MEMBER] = "align-member",
		[LINE_ADVICE_ELEMENT] = "pad-elements",
		[LINE_ADVICE_VARIABLES] = "align-variables",
		[LINE_ADVICE_APART] = "allocate-apart",
		[LINE_ADVICE_OWN] = "write-less",
	};

	return names[what];
}

/* The two threads that did most with a part. */
struct most {
	uint32_t thread[2];
	uint64_t n[2]; /* accesses, 0: there is none */
};

static void note(struct most *m, uint32_t thread, uint64_t n)
{
	unsigned at = n > m->n[0] ? 0 : 1;

	if (n <= m->n[1])
		return;
	if (!at) {
		m->n[1] = m->n[0];
		m->thread[1] = m->thread[0];
	}
	m->n[at] = n;
	m->thread[at] = thread;
}

/* How much one of @a and another one of @b are in each other's way. */
static uint64_t weight(const struct most *a, const struct most *b)
{
	uint64_t most = 0;
	unsigned x, y;

	for (x = 0; x < 2; x++)
		for (y = 0; y < 2; y++) {
			uint64_t least = a->n[x] < b->n[y] ? a->n[x] : b->n[y];

			if (least > most && a->thread[x] != b->thread[y])
				most = least;
		}
	return most;
}

/* The two parts, of which one is written, that different threads are most in each other's way with. */
static bool worst(const struct line *line, const struct line_part *p, unsigned n, unsigned *a, unsigned *b)
{
	struct most users[LINES_SIZE] = { 0 }, writers[LINES_SIZE] = { 0 };
	uint64_t most = 0;
	unsigned i, k;
	uint32_t t;

	for (i = 0; i < n; i++)
		for (t = 0; t < line->n_threads; t++) {
			struct line_part_count c = lines_part_count(&p[i], &line->threads[t]);

			note(&users[i], t, c.reads + c.writes);
			if (c.written)
				note(&writers[i], t, c.reads + c.writes);
		}
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++) {
			uint64_t w = i == k ? 0 : weight(&writers[i], &users[k]);

			if (w <= most)
				continue;
			most = w;
			*a = i < k ? i : k;
			*b = i < k ? k : i;
		}
	return most != 0;
}

/* How long the paths begin alike, up to whole components. */
static size_t common(const char *a, const char *b)
{
	size_t i, last = 0;

	for (i = 0; a[i] && a[i] == b[i]; i++)
		if (i && (a[i] == '.' || a[i] == '['))
			last = i;
	if ((!a[i] || a[i] == '.' || a[i] == '[') && (!b[i] || b[i] == '.' || b[i] == '['))
		last = i;
	return last;
}

/* Without the symbol's member path: "table" of "table[3].st.misses". */
static size_t symbol_len(const struct line_name *n)
{
	size_t all = strlen(n->name), path = strlen(n->path);

	return path <= all ? all - path : all;
}

static void put(char out[256], const char *a, size_t na, const char *b, size_t nb)
{
	snprintf(out, 256, "%.*s%.*s", (int)(na < 120 ? na : 120), a, (int)(nb < 120 ? nb : 120), b);
}

static uint64_t up(uint64_t x)
{
	return (x + LINES_SIZE - 1) / LINES_SIZE * LINES_SIZE;
}

/* "[12]" at @s: its number and the length. */
static bool index_at(const char *s, long *number, size_t *len)
{
	char *end;

	if (*s != '[')
		return false;
	*number = strtol(s + 1, &end, 10);
	*len = (size_t)(end - s) + 1;
	return *end == ']';
}

/* Both of one symbol. */
static void advise_members(const struct line_name *a, const struct line_name *b, struct line_advice *out)
{
	size_t n = common(a->path, b->path), la, lb, own = 1;
	long ia, ib;

	if (index_at(a->path + n, &ia, &la) && index_at(b->path + n, &ib, &lb) && ib > ia) {
		uint64_t apart = b->offset - a->offset;

		/* the same member of both, or the elements themselves */
		if (!strcmp(a->path + n + la, b->path + n + lb) && apart % (uint64_t)(ib - ia) == 0) {
			out->what = LINE_ADVICE_ELEMENT;
			out->from = apart / (uint64_t)(ib - ia);
			out->to = up(out->from);
			put(out->name, a->name, symbol_len(a), a->path, n);
			return;
		}
		out->what = LINE_ADVICE_ELEMENT;
		out->to = LINES_SIZE;
		put(out->name, a->name, symbol_len(a), a->path, n);
		return;
	}
	if (!b->path[n] || !a->path[n])
		return;
	out->what = LINE_ADVICE_MEMBER;
	/* the member that they part at: of b, down to the next dot or bracket */
	own += strcspn(b->path + n + 1, ".[");
	put(out->name, b->path, n + own, "", 0);
	put(out->of, b->name, symbol_len(b), "", 0);
	out->from = b->offset;
	out->to = up(b->offset);
	if (n) /* inside of a member or an element: where that lies is not told */
		return;
	if (b->size >= b->offset) {
		out->size = b->size;
		out->new_size = up(out->to + (b->size - b->offset));
	}
}

void lines_advise(const struct line *line, const struct line_judged *j, struct line_advice *out)
{
	struct line_part p[LINES_SIZE];
	unsigned n = lines_parts(line, p), a = 0, b = 0;
	const struct line_name *x, *y;

	memset(out, 0, sizeof(*out));
	if (j->verdict == LINE_TRUE)
		out->what = LINE_ADVICE_OWN;
	if ((j->verdict != LINE_FALSE && j->verdict != LINE_BOTH) || !worst(line, p, n, &a, &b))
		return;
	x = &line->names[p[a].first];
	y = &line->names[p[b].first];
	if (x->symbol == HVAR_IMAGE_NONE || y->symbol == HVAR_IMAGE_NONE) {
		out->what = LINE_ADVICE_APART;
		out->from = (uint64_t)(p[b].start - p[a].start);
		out->to = LINES_SIZE;
		if (x->object && y->object && x->offset - x->start == y->offset - y->start) /* one and the same */
			put(out->name, x->name, strlen(x->name), "", 0);
		return;
	}
	if (x->module != y->module || x->symbol != y->symbol) {
		out->what = LINE_ADVICE_VARIABLES;
		out->to = LINES_SIZE;
		put(out->name, x->name, symbol_len(x), "", 0);
		put(out->of, y->name, symbol_len(y), "", 0);
		return;
	}
	if (*x->path && *y->path) {
		advise_members(x, y, out);
		return;
	}
	/* one variable, whose members are not known */
	out->what = LINE_ADVICE_APART;
	put(out->name, x->name, strlen(x->name), "", 0);
	out->from = (uint64_t)(p[b].start - p[a].start);
	out->to = LINES_SIZE;
}
