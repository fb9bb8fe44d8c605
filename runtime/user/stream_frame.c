// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "stream_frame.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

/* The format is these structures as they lie in memory. */
_Static_assert(sizeof(struct stream_file_head) == 32, "file head");
_Static_assert(sizeof(struct stream_head) == 16, "record head");
_Static_assert(sizeof(struct hvar_event) == 80, "event");
_Static_assert(sizeof(struct stream_sample) == 240, "sample");
_Static_assert(sizeof(struct hvar_module) == 80, "module");
_Static_assert(sizeof(struct stream_walk) == 256, "walk record");
_Static_assert(sizeof(struct stream_module) == 88, "module record");
_Static_assert(sizeof(struct stream_code) == 16, "code record");
_Static_assert(sizeof(struct stream_comm) == 32, "comm record");
_Static_assert(sizeof(struct stream_loss) == 24, "loss record");
_Static_assert(sizeof(struct stream_image) == 8, "image record");
_Static_assert(sizeof(struct stream_end) == 40, "end record");
_Static_assert(sizeof(struct stream_counts) == 32, "counts record");
_Static_assert(sizeof(struct stream_stack) == 24, "stack record");
_Static_assert(sizeof(struct stream_stack_count) == 32, "stack count");
_Static_assert(sizeof(struct stream_touched) == 48, "touched record");
_Static_assert(sizeof(struct stream_access) == 96, "access record");
_Static_assert(sizeof(struct stream_fault) == sizeof(struct stream_sample) + 8, "fault record");
_Static_assert(sizeof(struct stream_watched) == 48, "watched record");
_Static_assert(sizeof(struct stream_watched_at) == 32, "watched access");
_Static_assert(sizeof(struct stream_name) == 32, "name record");
_Static_assert(sizeof(struct stream_phase) == 16, "phase record");
_Static_assert(sizeof(struct stream_caller) == 8, "caller record");
_Static_assert(sizeof(struct stream_prefetch) == 120, "prefetch record");
_Static_assert(sizeof(struct stream_line) == 64 && sizeof(struct stream_line_part) == 304 && sizeof(struct stream_line_site) == 24, "line record");
_Static_assert(sizeof(struct stream_calls) == 16 && sizeof(struct stream_call) == 24, "calls record");

size_t stream_record_size(uint32_t len)
{
	return sizeof(struct stream_head) + (((size_t)len + 7) & ~(size_t)7);
}

uint32_t stream_data_crc(const void *data, size_t n)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, n);
}

uint32_t stream_head_crc(const struct stream_head *h, uint64_t number)
{
	unsigned long crc = crc32_z(0, NULL, 0);

	crc = crc32_z(crc, (const void *)&number, sizeof(number));
	crc = crc32_z(crc, (const void *)h, offsetof(struct stream_head, head_crc));
	return (uint32_t)crc;
}

void stream_file_head_fill(struct stream_file_head *h)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, STREAM_MAGIC, sizeof(h->magic));
	h->byte_order = STREAM_BYTE_ORDER;
	h->version = STREAM_VERSION;
	h->size = sizeof(*h);
	h->crc = stream_data_crc(h, offsetof(struct stream_file_head, crc));
}

uint32_t stream_max_len(uint32_t type)
{
	switch (type) {
	case STREAM_META:
		return 4 << 20; /* a whole argv: MAX_ARG_STRLEN times many */
	case STREAM_MODULE:
		return sizeof(struct stream_module) + 16 * PATH_MAX;
	case STREAM_EVENT:
		return sizeof(struct hvar_event);
	case STREAM_SAMPLE:
	case STREAM_HIT:
		return sizeof(struct stream_sample);
	case STREAM_WALK:
		return sizeof(struct stream_walk) + STREAM_WALK_TARGETS_MAX * sizeof(uint64_t) +
		       STREAM_WALK_LOADS_MAX * sizeof(struct stream_walk_load) + STREAM_WALK_BITS_MAX / 8;
	case STREAM_CODE:
		return 16 << 20;
	case STREAM_COMM:
		return sizeof(struct stream_comm);
	case STREAM_LOSS:
		return sizeof(struct stream_loss);
	case STREAM_IMAGE:
		return 1u << 30;
	case STREAM_END:
		return sizeof(struct stream_end);
	case STREAM_COUNTS:
	case STREAM_STACK:
	case STREAM_HEAP:
	case STREAM_WATCHED:
		return 1 << 20;
	case STREAM_FAULT:
		return sizeof(struct stream_fault);
	case STREAM_TOUCHED:
		return sizeof(struct stream_touched);
	case STREAM_NAME:
		return sizeof(struct stream_name) + STREAM_SAID_MAX;
	case STREAM_PHASE:
		return sizeof(struct stream_phase) + STREAM_SAID_MAX;
	case STREAM_CALLER:
		return sizeof(struct stream_caller) + 4096;
	case STREAM_CALLS:
		return 1 << 20;
	case STREAM_LINE:
		return 2 << 20;
	case STREAM_LINE_UNSEEN:
		return sizeof(struct stream_line_unseen);
	case STREAM_ACCESS:
		return sizeof(struct stream_access) + 2 * PATH_MAX;
	case STREAM_PREFETCH:
		return sizeof(struct stream_prefetch) + (1 << 16);
	}
	return 0;
}

static bool module_ok(const struct stream_module *m, uint32_t len)
{
	return len >= sizeof(*m) && m->path_len == len - sizeof(*m) && m->id &&
	       !m->m.path && m->m.build_id_len <= HVAR_BUILD_ID_MAX &&
	       !memchr(m->path, 0, m->path_len);
}

static bool code_ok(const struct stream_code *c, uint32_t len)
{
	return len > sizeof(*c) && (c->module || c->mm) &&
	       c->where + (len - sizeof(*c)) > c->where;
}

/* Each bit, target and load is of an instruction of its own. */
static bool walk_ok(const struct stream_walk *w, uint32_t len)
{
	const uint32_t no = HVAR_SAMPLE_NOREGS | HVAR_SAMPLE_ABI32;

	if (len < sizeof(*w) || w->s.ev.type != HVAR_EVENT_SAMPLE || !hvar_event_valid(&w->s.ev) || w->s.ev.u.sample.period_ns ||
	    w->s.ev.u.sample.flags & no || w->end >= STREAM_WALK_ENDS_MAX)
		return false;
	if (w->insns > STREAM_WALK_INSNS_MAX || w->n_bits > STREAM_WALK_BITS_MAX || w->n_targets > STREAM_WALK_TARGETS_MAX ||
	    w->n_loads > STREAM_WALK_LOADS_MAX || w->n_bits + w->n_targets + w->n_loads > w->insns)
		return false;
	if (len != sizeof(*w) + w->n_targets * sizeof(w->targets[0]) + w->n_loads * sizeof(struct stream_walk_load) + (w->n_bits + 7) / 8)
		return false;
	return !(w->n_bits % 8) || !(stream_walk_bits(w)[w->n_bits / 8] >> w->n_bits % 8);
}

static bool counts_ok(const struct stream_counts *c, uint32_t len)
{
	return len > sizeof(*c) && !((len - sizeof(*c)) % sizeof(*c->v)) && c->mm && c->pid && !c->zero &&
	       c->start + UINT32_MAX > c->start;
}

static bool touched_ok(const struct stream_touched *t, uint32_t len)
{
	return len == sizeof(*t) && t->mm && t->pid && t->what && t->what < 2 * STREAM_TOUCHED_MOVED && !t->zero &&
	       t->start < t->end && !((t->start | t->end | t->from) & HVAR_PAGE_MASK) &&
	       (t->what & STREAM_TOUCHED_MOVED ? t->what == STREAM_TOUCHED_MOVED && t->from + (t->end - t->start) > t->from :
						 !t->from);
}

/* Each sum is what all is made of, or less: no reader needs to look for it. */
static bool heap_ok(const struct stream_heap *h, uint32_t len)
{
	const struct stream_heap_offset *o = (const struct stream_heap_offset *)(h + 1);
	uint64_t reads = 0, writes = 0, end = 0;
	uint32_t i, n = 0;

	if (len < sizeof(*h) || !h->mm || !h->pid || h->flags > STREAM_HEAP_MAPPED || h->size_least > h->size_most)
		return false;
	if ((uint64_t)h->n_offsets * sizeof(*o) + (uint64_t)h->n_tids * sizeof(uint32_t) + h->text_len != len - sizeof(*h))
		return false;
	if (h->objects_live > (uint64_t)1 << 48 || h->objects > (uint64_t)1 << 48 || h->reads > (uint64_t)1 << 47 ||
	    h->writes > (uint64_t)1 << 47)
		return false;
	for (i = 0; i < h->n_offsets; end = o[i].offset + o[i].span, i++) {
		if (!o[i].span || o[i].offset < end || o[i].offset + o[i].span < o[i].offset ||
		    o[i].reads > h->reads - reads || o[i].writes > h->writes - writes)
			return false;
		reads += o[i].reads;
		writes += o[i].writes;
	}
	if (h->text_len) {
		const char *text = (const char *)h + len - h->text_len;

		for (i = 0; i < h->text_len; i++)
			n += !text[i];
		if (text[h->text_len - 1] || n % 5)
			return false;
	}
	return true;
}

static bool caller_ok(const struct stream_caller *c, uint32_t len)
{
	uint32_t i, strings = 0;

	for (i = 0; len > sizeof(*c) && i < len - sizeof(*c); i++)
		strings += !c->text[i];
	return strings == 3 && !c->text[len - sizeof(*c) - 1] && c->caller < 1u << 24 && !c->zero;
}

static bool calls_ok(const struct stream_calls *c, uint32_t len)
{
	uint32_t i, n;

	if (len <= sizeof(*c) || (len - sizeof(*c)) % sizeof(*c->v) || !c->mm || !c->pid)
		return false;
	n = (uint32_t)((len - sizeof(*c)) / sizeof(*c->v));
	for (i = 0; i < n; i++)
		if (c->v[i].caller >= 1u << 24 || (c->v[i].flags != HVAR_ACCESS_READ && c->v[i].flags != HVAR_ACCESS_WRITE))
			return false;
	return true;
}

static bool name_ok(const struct stream_name *n, uint32_t len)
{
	return len >= sizeof(*n) && n->mm && n->pid && n->start < n->end && !memchr(n->name, 0, len - sizeof(*n));
}

static bool stack_ok(const struct stream_stack *s, uint32_t len)
{
	uint32_t n, i;

	if (len <= sizeof(*s) || (len - sizeof(*s)) % sizeof(*s->v) || !s->mm || !s->pid || s->zero)
		return false;
	n = (uint32_t)((len - sizeof(*s)) / sizeof(*s->v));
	for (i = 0; i < n; i++)
		if (!s->v[i].ip || s->v[i].flags & ~STREAM_STACK_FLAGS)
			return false;
	return true;
}

static bool access_ok(const struct stream_access *a, uint32_t len)
{
	uint32_t i, strings = 0;

	for (i = 0; len > sizeof(*a) && i < len - sizeof(*a); i++)
		strings += !a->text[i];
	return strings == 2 && !a->text[len - sizeof(*a) - 1] && a->ev.type == HVAR_EVENT_ACCESS && hvar_event_valid(&a->ev) &&
	       a->ev.mm && a->ev.u.access.weight && a->flags <= STREAM_ACCESS_FLAGS;
}

static bool fault_ok(const struct stream_fault *f, uint32_t len)
{
	return len == sizeof(*f) && f->at.ev.type == HVAR_EVENT_SAMPLE && hvar_event_valid(&f->at.ev);
}

static bool watched_ok(const struct stream_watched *w, uint32_t len)
{
	uint32_t i, n;

	if (len < sizeof(*w) || (len - sizeof(*w)) % sizeof(*w->v) || !w->mm || !w->pid || w->zero || !w->size ||
	    w->start + w->size < w->start || w->watch >= STREAM_WATCHES_MAX)
		return false;
	n = (uint32_t)((len - sizeof(*w)) / sizeof(*w->v));
	for (i = 0; i < n; i++)
		if (!w->v[i].ip || w->v[i].zero || w->v[i].flags & ~(uint32_t)STREAM_WATCHED_FLAGS)
			return false;
	return true;
}

static uint32_t strings(const char *text, uint32_t len)
{
	uint32_t i, n = 0;

	for (i = 0; i < len; i++)
		n += !text[i];
	return n;
}

static bool prefetch_ok(const struct stream_prefetch *p, uint32_t len)
{
	uint64_t n;

	if (len <= sizeof(*p) || !p->mm || !p->pid || p->what >= STREAM_PREFETCH_WHATS || p->flags > (STREAM_PREFETCH_MAPPED | STREAM_PREFETCH_ACCESS) ||
	    !p->code_len || (uint64_t)p->code_len + p->heap_len != len - sizeof(*p) || p->object + p->object_size < p->object)
		return false;
	n = p->executed;
	if (p->unmapped > n || p->unused > (n -= p->unmapped) || p->used > (n -= p->unused) || p->redundant > (n -= p->used) ||
	    p->unjudged > n - p->redundant)
		return false;
	if (strings(p->text, p->code_len) != 3 || p->text[p->code_len - 1])
		return false;
	return !p->heap_len || (!p->text[len - sizeof(*p) - 1] && !(strings(p->text + p->code_len, p->heap_len) % 5));
}

static bool line_unseen_ok(const struct stream_line_unseen *u, uint32_t len)
{
	const uint64_t most = (uint64_t)1 << 48;

	return len == sizeof(*u) && u->mm && !u->zero && u->addr % STREAM_LINE_SIZE == 0 && u->most_true <= most &&
	       u->most_false <= most;
}

/* No sum of counts is beyond what a double or a table has room for. */
static bool line_ok(const struct stream_line *l, uint32_t len)
{
	const struct stream_line_part *p = (const struct stream_line_part *)(l + 1);
	const struct stream_line_site *s;
	const uint64_t most = (uint64_t)1 << 48;
	uint64_t need = sizeof(*l);
	const char *text;
	uint32_t i, k;

	if (len < sizeof(*l) || !l->mm || !l->pid || l->addr % STREAM_LINE_SIZE || !l->n_parts || l->n_parts > STREAM_LINE_PARTS_MAX ||
	    l->n_sites > STREAM_LINE_SITES_MAX || l->returns > l->handovers || l->handovers > most || l->most_true > most ||
	    l->most_false > most)
		return false;
	need += l->n_parts * sizeof(*p) + l->n_sites * sizeof(*s);
	if (len < need)
		return false;
	s = (const struct stream_line_site *)(p + l->n_parts);
	text = (const char *)(s + l->n_sites);
	for (i = 0; i < l->n_parts; i++) {
		if (p[i].zero || p[i].mapped > 1 || p[i].object + p[i].object_size < p[i].object || (need += p[i].heap_len) > len)
			return false;
		if (p[i].heap_len && (text[p[i].heap_len - 1] || strings(text, p[i].heap_len) % 5))
			return false;
		text += p[i].heap_len;
		for (k = 0; k < STREAM_LINE_WORDS; k++)
			if (p[i].reads[k] > most || p[i].writes[k] > most)
				return false;
	}
	for (i = 0; i < l->n_sites; i++)
		if (s[i].part >= l->n_parts || s[i].caller >= 1u << 24 || s[i].words >> STREAM_LINE_WORDS || s[i].count > most ||
		    (s[i].flags != HVAR_ACCESS_READ && s[i].flags != HVAR_ACCESS_WRITE))
			return false;
	return need == len;
}

bool stream_well_formed(uint32_t type, const void *data, uint32_t len)
{
	const struct hvar_event *ev = data;

	switch (type) {
	case STREAM_META: {
		const char *eq = memchr(data, '=', len);

		return eq && eq != data && !memchr(data, 0, len);
	}
	case STREAM_MODULE:
		return module_ok(data, len);
	case STREAM_EVENT:
		return len == sizeof(*ev) && ev->type != HVAR_EVENT_SAMPLE &&
		       hvar_event_valid(ev);
	case STREAM_SAMPLE:
	case STREAM_HIT:
		return len == sizeof(struct stream_sample) &&
		       ev->type == HVAR_EVENT_SAMPLE && hvar_event_valid(ev);
	case STREAM_WALK:
		return walk_ok(data, len);
	case STREAM_CODE:
		return code_ok(data, len);
	case STREAM_COMM:
		return len == sizeof(struct stream_comm);
	case STREAM_LOSS: {
		const struct stream_loss *l = data;

		return len == sizeof(*l) && l->what && l->what < STREAM_LOST_WHATS;
	}
	case STREAM_IMAGE:
		return len > sizeof(struct stream_image) &&
		       ((const struct stream_image *)data)->module;
	case STREAM_END:
		return len == sizeof(struct stream_end);
	case STREAM_COUNTS:
		return counts_ok(data, len);
	case STREAM_STACK:
		return stack_ok(data, len);
	case STREAM_HEAP:
		return heap_ok(data, len);
	case STREAM_TOUCHED:
		return touched_ok(data, len);
	case STREAM_NAME:
		return name_ok(data, len);
	case STREAM_CALLER:
		return caller_ok(data, len);
	case STREAM_CALLS:
		return calls_ok(data, len);
	case STREAM_LINE:
		return line_ok(data, len);
	case STREAM_LINE_UNSEEN:
		return line_unseen_ok(data, len);
	case STREAM_FAULT:
		return fault_ok(data, len);
	case STREAM_WATCHED:
		return watched_ok(data, len);
	case STREAM_ACCESS:
		return access_ok(data, len);
	case STREAM_PREFETCH:
		return prefetch_ok(data, len);
	case STREAM_PHASE: {
		const struct stream_phase *p = data;

		return len >= sizeof(*p) && p->mm && p->pid && !memchr(p->name, 0, len - sizeof(*p));
	}
	}
	return false;
}
