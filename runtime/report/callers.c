// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "callers.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/user/grow.h"
#include "said.h"

struct pair {
	uint32_t entry, caller; /* both + 1; 0: free */
	uint64_t reads, writes, others, bytes;
};

struct callers {
	char **texts; /* by number: function, file, line; NULL: none */
	size_t n_texts, cap_texts;
	struct pair *slots; /* by entry and caller: open addressing; sorted once asked */
	size_t n, n_slots;
	struct pair *sorted;
	size_t n_sorted;
	uint64_t lost;
};

void callers_name(struct callers *c, const struct stream_caller *r, size_t len)
{
	char *text;

	len -= sizeof(*r);
	if (grow_array((void **)&c->texts, &c->cap_texts, r->caller + (size_t)1, sizeof(*c->texts))) {
		c->lost++;
		return;
	}
	while (c->n_texts <= r->caller)
		c->texts[c->n_texts++] = NULL;
	text = malloc(len);
	if (!text) {
		c->lost++;
		return;
	}
	memcpy(text, r->text, len);
	free(c->texts[r->caller]);
	c->texts[r->caller] = text;
}

/* ---- the table ---- */

static struct pair *slot_of(struct pair *v, size_t n, uint32_t entry, uint32_t caller)
{
	size_t i = (size_t)((((uint64_t)entry << 32 | caller) * 0x9e3779b97f4a7c15u) >> 32) & (n - 1);

	while (v[i].entry && (v[i].entry != entry || v[i].caller != caller))
		i = (i + 1) & (n - 1);
	return &v[i];
}

static bool make_room(struct callers *c)
{
	size_t n = c->n_slots ? 2 * c->n_slots : 1024, i;
	struct pair *v;

	if (2 * (c->n + 1) <= c->n_slots)
		return true;
	v = calloc(n, sizeof(*v));
	if (!v)
		return false;
	for (i = 0; i < c->n_slots; i++)
		if (c->slots[i].entry)
			*slot_of(v, n, c->slots[i].entry, c->slots[i].caller) = c->slots[i];
	free(c->slots);
	c->slots = v;
	c->n_slots = n;
	return true;
}

static void count(struct callers *c, uint32_t entry, const struct stream_call *call)
{
	struct pair *p;

	if (!make_room(c)) {
		c->lost++;
		return;
	}
	p = slot_of(c->slots, c->n_slots, entry + 1, call->caller + 1);
	c->n += !p->entry;
	p->entry = entry + 1;
	p->caller = call->caller + 1;
	if (call->flags & HVAR_ACCESS_WRITE)
		p->writes += call->count;
	else if (call->flags & HVAR_ACCESS_READ)
		p->reads += call->count;
	else
		p->others += call->count;
	p->bytes += call->count * call->size;
	free(c->sorted);
	c->sorted = NULL;
}

/* Rows of stacks have their function in their name. */
static bool is_stack(const struct variables *variables, uint32_t i)
{
	const struct hvar_hot_key *key = &variables_hot(variables, i)->key;

	return (key->kind & 0xff) == HVAR_KIND_STACK;
}

void callers_calls(struct callers *c, struct variables *variables, struct spaces *spaces, const struct stream_calls *r,
		   size_t len, bool by_phase)
{
	struct hvar_event ev = { .time_ns = r->time_ns, .type = HVAR_EVENT_ACCESS, .mm = r->mm, .pid = r->pid };
	const struct hvar_vmas *vmas = spaces_of(spaces, &ev);
	size_t n = (len - sizeof(*r)) / sizeof(*r->v), k;
	uint64_t from = 0, until = 0; /* all there has entry i */
	uint32_t i = HVAR_HOT_NONE;

	if (by_phase)
		variables_phase(variables, said_phase_of(variables_said(variables), r->mm));
	for (k = 0; k < n; k++) {
		if (r->v[k].addr < from || r->v[k].addr >= until) {
			from = r->v[k].addr;
			i = variables_range(variables, vmas, &ev, from, &until);
		}
		if (i != HVAR_HOT_NONE && !is_stack(variables, i))
			count(c, i, &r->v[k]);
	}
	variables_phase(variables, 0);
}

/* ---- what came out ---- */

static int by_entry(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;
	uint64_t x = a->reads + a->writes + a->others, y = b->reads + b->writes + b->others;

	if (a->entry != b->entry)
		return a->entry < b->entry ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	return (a->caller > b->caller) - (a->caller < b->caller);
}

static bool sort(struct callers *c)
{
	size_t i;

	if (c->sorted)
		return true;
	c->sorted = malloc((c->n + 1) * sizeof(*c->sorted));
	if (!c->sorted)
		return false;
	c->n_sorted = 0;
	for (i = 0; i < c->n_slots; i++)
		if (c->slots[i].entry)
			c->sorted[c->n_sorted++] = c->slots[i];
	qsort(c->sorted, c->n_sorted, sizeof(*c->sorted), by_entry);
	return true;
}

void callers_get(const struct callers *c, uint32_t caller, struct caller *out)
{
	const char *text = caller < c->n_texts ? c->texts[caller] : NULL;

	memset(out, 0, sizeof(*out));
	out->function = text ? text : "";
	out->file = text ? text + strlen(text) + 1 : "";
	out->line = text ? (uint32_t)strtoul(out->file + strlen(out->file) + 1, NULL, 10) : 0;
}

static void describe(const struct callers *c, const struct pair *p, struct caller *out)
{
	callers_get(c, p->caller - 1, out);
	out->reads = p->reads;
	out->writes = p->writes;
	out->others = p->others;
}

size_t callers_of(struct callers *c, uint32_t entry, struct caller *v, size_t max, uint64_t *bytes)
{
	size_t lo = 0, hi, n = 0;

	*bytes = 0;
	if (!sort(c))
		return 0;
	for (hi = c->n_sorted; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->sorted[mid].entry < entry + 1)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < c->n_sorted && c->sorted[lo].entry == entry + 1; lo++, n++) {
		if (n < max)
			describe(c, &c->sorted[lo], &v[n]);
		*bytes += c->sorted[lo].bytes;
	}
	return n;
}

int callers_any(const struct callers *c)
{
	return c->n != 0;
}

uint64_t callers_lost(const struct callers *c)
{
	return c->lost;
}

struct callers *callers_new(void)
{
	return calloc(1, sizeof(struct callers));
}

void callers_free(struct callers *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->n_texts; i++)
		free(c->texts[i]);
	free(c->texts);
	free(c->slots);
	free(c->sorted);
	free(c);
}
