// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exact_memfd.h"
#include "grow.h"
#include "stream_frame.h"

_Static_assert(HVT_LINES_END <= HVT_LINES + HVT_LINES_MAX, "lines have room");
_Static_assert(HVT_LINE_SIZE == STREAM_LINE_SIZE && HVT_LINE_WORDS == STREAM_LINE_WORDS, "both have the same lines");

/* One record; a line with more threads has several. */
struct out {
	struct stream_line line;
	struct stream_line_part parts[STREAM_LINE_PARTS_MAX];
	struct stream_line_site sites[STREAM_LINE_SITES_MAX];
	const char *stacks[STREAM_LINE_PARTS_MAX]; /* of heap_len bytes, the heap's */
	uint32_t n_parts, n_sites; /* that there are: each is in one list, and what was written over may be in many */
	struct hvt_stretch *threads; /* what each of the line has done in all */
	size_t n_threads, cap_threads;
	struct hvt_line_all all;
};

/* One of @n things is in a list; more of them than there are make no sense. */
static bool use(uint32_t *used, uint32_t n)
{
	return *used < n && ++*used;
}

/* A list that comes to one of its own again goes round for ever: the first, second, fourth, eighth one is remembered. */
struct round {
	uint32_t seen, steps, until;
};

static bool goes_round(struct round *r, uint32_t number)
{
	if (number == r->seen)
		return true;
	if (++r->steps > r->until)
		*r = (struct round){ .seen = number, .until = 2 * r->until + 1 };
	return false;
}

static int read_who(const struct exact_lines_to *to, uint32_t who, uint32_t *tid)
{
	int ret;

	if (!who || who >= HVT_LINES_WHO_MAX)
		return -EINVAL;
	ret = exact_memfd_read(to->memfd, tid, sizeof(*tid), HVT_LINES_WHO + who * sizeof(*tid));
	if (!ret && *tid == to->own_pid)
		*tid = to->pid;
	return ret;
}

/* ---- records ---- */

static int put(const struct exact_lines_to *to, struct out *o)
{
	size_t parts = o->line.n_parts * sizeof(o->parts[0]), sites = o->line.n_sites * sizeof(o->sites[0]);
	size_t len = sizeof(o->line) + parts + sites;
	uint32_t i;
	char *rec;
	int ret = 0;

	if (!o->line.n_parts)
		return 0;
	for (i = 0; i < o->line.n_parts; i++)
		len += o->parts[i].heap_len;
	rec = malloc(len);
	if (!rec)
		return -ENOMEM;
	memcpy(rec, &o->line, sizeof(o->line));
	memcpy(rec + sizeof(o->line), o->parts, parts);
	memcpy(rec + sizeof(o->line) + parts, o->sites, sites);
	for (i = 0, len = sizeof(o->line) + parts + sites; i < o->line.n_parts; len += o->parts[i++].heap_len)
		if (o->parts[i].heap_len)
			memcpy(rec + len, o->stacks[i], o->parts[i].heap_len);
	/* The program may have written over its counters. */
	if (!stream_well_formed(STREAM_LINE, rec, (uint32_t)len))
		ret = -EINVAL;
	else
		stream_put(to->out, STREAM_LINE, rec, len, NULL, 0);
	free(rec);
	o->line.n_parts = o->line.n_sites = 0;
	o->line.handovers = o->line.returns = o->line.most_true = o->line.most_false = 0;
	return ret;
}

/* No site has room any more: the next part, which they are of, is in another record, too, without its numbers. */
static int put_full(const struct exact_lines_to *to, struct out *o)
{
	uint32_t tid = o->parts[o->line.n_parts++].tid;
	int ret = put(to, o);

	o->parts[0] = (struct stream_line_part){ .tid = tid };
	return ret;
}

static int add_sites(const struct exact_lines_to *to, struct out *o, uint32_t number)
{
	struct hvt_line_site s;
	struct round round = { 0 };
	int ret;

	for (; number; number = s.next) {
		struct stream_line_site *site;
		uint32_t caller;

		if (number >= HVT_LINES_SITES_MAX || goes_round(&round, number) || !use(&to->used->sites, o->n_sites))
			return -EINVAL;
		ret = exact_memfd_read(to->memfd, &s, sizeof(s), HVT_LINES_SITES + number * sizeof(s));
		if (ret)
			return ret;
		if (o->line.n_sites == STREAM_LINE_SITES_MAX) {
			ret = put_full(to, o);
			if (ret)
				return ret;
		}
		site = &o->sites[o->line.n_sites];
		if (!exact_calls_of(to->calls, s.site, &caller, &site->flags))
			continue;
		site->caller = caller;
		site->part = o->line.n_parts;
		site->words = s.words & ((1u << HVT_LINE_WORDS) - 1);
		site->count = s.count;
		o->line.n_sites++;
	}
	return 0;
}

/* The object that @p, which becomes the next part of @o, was at. */
static void add_object(const struct exact_lines_to *to, struct out *o, const struct hvt_line_part *p)
{
	struct stream_line_part *part = &o->parts[o->line.n_parts];
	const char *stack;
	size_t len = 0;
	bool maps = false;

	if (!p->object_size || p->object + p->object_size < p->object)
		return;
	stack = exact_heap_stack(to->heap, p->object_site, &len, &maps);
	if (!stack || !len || len > HVT_STACK_MAX)
		return;
	o->stacks[o->line.n_parts] = stack;
	part->object = p->object;
	part->object_size = p->object_size;
	part->heap_len = (uint32_t)len;
	part->mapped = maps;
}

/* Part @number, and what @now, if that is who is there now, has not put there yet. */
static int add_part(const struct exact_lines_to *to, struct out *o, uint32_t number, const struct hvt_line *now, uint32_t *next)
{
	struct stream_line_part *to_part;
	struct hvt_line_part p;
	int ret = exact_memfd_read(to->memfd, &p, sizeof(p), HVT_LINES_PARTS + number * sizeof(p));
	unsigned i;

	if (ret)
		return ret;
	*next = p.next;
	if (o->line.n_parts == STREAM_LINE_PARTS_MAX) {
		ret = put(to, o);
		if (ret)
			return ret;
	}
	to_part = &o->parts[o->line.n_parts];
	memset(to_part, 0, sizeof(*to_part));
	ret = read_who(to, p.who, &to_part->tid);
	if (ret)
		return ret;
	if (now && now->who == p.who) {
		p.read |= now->read;
		p.written |= now->written;
		for (i = 0; i < HVT_LINE_WORDS; i++) {
			p.reads[i] += now->reads[i];
			p.writes[i] += now->writes[i];
		}
	}
	to_part->read = p.read;
	to_part->written = p.written;
	memcpy(to_part->reads, p.reads, sizeof(p.reads));
	memcpy(to_part->writes, p.writes, sizeof(p.writes));
	add_object(to, o, &p);
	ret = add_sites(to, o, p.first);
	if (ret)
		return ret;
	o->line.n_parts++;
	return 0;
}

/* Add to @s what @now has counted and not put into its part yet. */
static void add_now(struct hvt_stretch *s, const struct hvt_line *now)
{
	unsigned i;

	s->read |= now->read;
	s->written |= now->written;
	for (i = 0; i < HVT_LINE_WORDS; i++) {
		s->reads += now->reads[i];
		s->writes += now->writes[i];
	}
}

/* All that @p's thread has done. */
static struct hvt_stretch whole(const struct hvt_line_part *p, const struct hvt_line *now)
{
	struct hvt_stretch s = { .read = p->read, .written = p->written };
	unsigned i;

	for (i = 0; i < HVT_LINE_WORDS; i++) {
		s.reads = hvt_line_plus(s.reads, p->reads[i]);
		s.writes = hvt_line_plus(s.writes, p->writes[i]);
	}
	if (now && now->who == p->who)
		add_now(&s, now);
	return s;
}

/* What the threads of @s have done in all; and of the moment and the stretch that the end found the line in, if @now is not NULL. */
static int read_threads(const struct exact_lines_to *to, struct out *o, struct hvt_line_shared *s, const struct hvt_line *now)
{
	struct hvt_stretch moment = { s->moment_reads, s->moment_writes, 0, 0 }, stretch = s->stretch;
	struct hvt_line_met met = { 0, 0, 0, 0 };
	struct round round = { 0 };
	struct hvt_line_part p;
	uint32_t number;
	size_t i;
	int ret;

	o->n_threads = 0;
	o->all = (struct hvt_line_all){ 0 };
	if (now) {
		add_now(&moment, now);
		add_now(&stretch, now);
	}
	for (number = s->first; number; number = p.next) {
		if (number >= HVT_LINES_PARTS_MAX || goes_round(&round, number) || !use(&to->used->threads, o->n_parts))
			return -EINVAL;
		ret = exact_memfd_read(to->memfd, &p, sizeof(p), HVT_LINES_PARTS + number * sizeof(p));
		if (!ret)
			ret = grow_array((void **)&o->threads, &o->cap_threads, o->n_threads + 1, sizeof(*o->threads));
		if (ret)
			return ret;
		o->threads[o->n_threads] = whole(&p, now);
		hvt_line_all_add(&o->all, &o->threads[o->n_threads++]);
		if (!now || !s->met || number == s->now)
			continue;
		hvt_line_meet_unseen(&p, &moment, &met);
		if (number == s->before_part && p.met)
			s->together = 1;
	}
	if (now)
		hvt_line_end_stretch(s, &stretch, s->now);
	for (i = 0; i < o->n_threads; i++)
		hvt_line_all_take(&o->all, &o->threads[i]);
	hvt_line_add_unseen(s, &moment, &met);
	hvt_line_all_bound(&o->all, s->handovers, &s->most_true, &s->most_false);
	hvt_line_all_bound(&o->all, 0, &s->unseen_true, &s->unseen_false);
	return 0;
}

static int put_unseen(const struct exact_lines_to *to, const struct hvt_line_shared *s, uint64_t addr)
{
	const struct stream_line_unseen u = { .mm = to->mm, .addr = addr, .most_true = s->unseen_true, .most_false = s->unseen_false };

	if (!u.most_true && !u.most_false)
		return 0;
	if (!stream_well_formed(STREAM_LINE_UNSEEN, &u, sizeof(u)))
		return -EINVAL;
	stream_put(to->out, STREAM_LINE_UNSEEN, &u, sizeof(u), NULL, 0);
	return 0;
}

static bool is_shared(const struct exact_lines_to *to, uint64_t addr)
{
	const struct hvar_vma *v = hvar_vmas_find(to->vmas, addr);

	return v && v->prot & HVAR_PROT_SHARED;
}

static int put_line(const struct exact_lines_to *to, uint32_t number, struct hvt_line_shared *s, struct out *o)
{
	struct hvt_line now;
	struct round round = { 0 };
	uint32_t part, n = 0;
	uint64_t addr;
	int ret;

	if (!s->first || s->line >= HVT_PLANE_SIZE >> HVT_LINE_SHIFT)
		return s->first ? -EINVAL : 0;
	addr = s->line << HVT_LINE_SHIFT;
	if (!s->closed) {
		ret = exact_memfd_read(to->memfd, &now, sizeof(now), HVT_LINES_STATE + s->line * sizeof(now));
		if (ret)
			return ret;
		if (now.number != number)
			return 0; /* just given up, or just begun */
	}
	ret = read_threads(to, o, s, s->closed ? NULL : &now);
	if (ret)
		return ret;
	memset(&o->line, 0, sizeof(o->line));
	o->line.time_ns = to->time_ns;
	o->line.mm = to->mm;
	o->line.pid = to->pid;
	o->line.addr = addr;
	o->line.handovers = s->handovers;
	o->line.returns = s->returns;
	o->line.most_true = s->most_true;
	o->line.most_false = s->most_false;
	for (part = s->first; part; n++) {
		if (part >= HVT_LINES_PARTS_MAX || goes_round(&round, part) || !use(&to->used->parts, o->n_parts))
			return -EINVAL;
		ret = add_part(to, o, part, s->closed ? NULL : &now, &part);
		if (ret)
			return ret;
	}
	if (n < 2 && !is_shared(to, addr))
		return 0;
	ret = put(to, o);
	return ret ? ret : put_unseen(to, s, addr);
}

/* Has the file memory for so many of each?  In holes there is room for any number of them. */
static bool have_memory(const struct exact_lines_to *to, const struct hvt_lines_head *h)
{
	struct stat st;
	uint64_t bytes;

	if (fstat(to->memfd, &st))
		return false;
	bytes = (uint64_t)st.st_blocks * 512;
	return h->n_shared * sizeof(struct hvt_line_shared) <= bytes && h->n_parts * sizeof(struct hvt_line_part) <= bytes &&
	       h->n_sites * sizeof(struct hvt_line_site) <= bytes;
}

/* Room for records, and how much there can be in all; NULL: no memory, or *@ret says why else. */
static struct out *begin(const struct exact_lines_to *to, struct hvt_lines_head *head, int *ret)
{
	struct out *o;

	*ret = exact_memfd_read(to->memfd, head, sizeof(*head), HVT_LINES);
	if (!*ret && (head->n_shared >= HVT_LINES_SHARED_MAX || head->n_parts >= HVT_LINES_PARTS_MAX ||
		      head->n_sites >= HVT_LINES_SITES_MAX || !have_memory(to, head)))
		*ret = -EINVAL;
	if (*ret)
		return NULL;
	o = malloc(sizeof(*o));
	if (!o) {
		*ret = -ENOMEM;
		return NULL;
	}
	o->n_parts = head->n_parts;
	o->n_sites = head->n_sites;
	o->threads = NULL;
	o->n_threads = o->cap_threads = 0;
	return o;
}

static void end(struct out *o)
{
	free(o->threads);
	free(o);
}

int exact_lines_closed(const struct exact_lines_to *to, uint64_t number)
{
	struct hvt_lines_head head;
	struct hvt_line_shared s;
	struct out *o;
	int ret;

	if (!number || number >= HVT_LINES_SHARED_MAX || to->memfd < 0)
		return -EINVAL;
	ret = exact_memfd_read(to->memfd, &s, sizeof(s), HVT_LINES_SHARED + number * sizeof(s));
	if (ret)
		return ret;
	if (!s.closed)
		return -EINVAL;
	o = begin(to, &head, &ret);
	if (!o)
		return ret;
	ret = put_line(to, (uint32_t)number, &s, o);
	end(o);
	return ret;
}

int exact_lines_harvest(const struct exact_lines_to *to)
{
	struct hvt_lines_head head;
	struct hvt_line_shared s;
	uint32_t i;
	int ret;
	struct out *o = begin(to, &head, &ret);

	if (!o)
		return ret;
	*to->lost += head.lost;
	for (i = 1; i <= head.n_shared && !ret; i++) {
		ret = exact_memfd_read(to->memfd, &s, sizeof(s), HVT_LINES_SHARED + i * sizeof(s));
		if (!ret && !s.closed)
			ret = put_line(to, i, &s, o);
	}
	end(o);
	return ret;
}
