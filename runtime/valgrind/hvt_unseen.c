// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_unseen.h"

#include "hvt_line_parts.h"
#include "hvt_order.h"

static Bool is_any(const struct hvt_stretch *s)
{
	return s->read | s->written ? True : False;
}

static struct hvt_stretch sum(const struct hvt_stretch *a, const struct hvt_stretch *b)
{
	return (struct hvt_stretch){ a->reads + b->reads, a->writes + b->writes, a->read | b->read, a->written | b->written };
}

void hvt_unseen_meet(const struct hvt_line *l, struct hvt_line_shared *s)
{
	UInt i;

	if (s->met)
		return;
	s->met = 1;
	hvt_order_ask(l->who, l->moment);
	for (i = s->first; i; i = hvt_line_part_at(i)->next) {
		struct hvt_line_part *p = hvt_line_part_at(i);

		p->met = 0;
		if (i == s->now)
			continue;
		if (is_any(&p->old) && !hvt_order_before(p->who, p->old_moment))
			p->met |= HVT_LINE_MET_OLD;
		if (is_any(&p->new) && !hvt_order_before(p->who, p->new_moment))
			p->met |= HVT_LINE_MET_NEW;
	}
}

/* @p's thread did this, too. */
static void add_moment(struct hvt_line_part *p, const struct hvt_stretch *now, UInt moment)
{
	if (is_any(&p->new) && p->new_moment != moment) {
		p->old = sum(&p->old, &p->new);
		p->old_moment = p->new_moment;
		p->new = (struct hvt_stretch){ 0, 0, 0, 0 };
	}
	p->new = sum(&p->new, now);
	p->new_moment = moment;
}

void hvt_unseen_over(struct hvt_line *l, struct hvt_line_shared *s)
{
	const struct hvt_stretch now = { s->moment_reads, s->moment_writes, l->read, l->written };
	struct hvt_line_met met = { 0, 0, 0, 0 };
	UInt i;

	if (s->met) {
		if (s->before_part && hvt_line_part_at(s->before_part)->met)
			s->together = 1;
		for (i = s->first; i; i = hvt_line_part_at(i)->next)
			if (i != s->now && hvt_line_part_at(i)->met)
				hvt_line_meet_unseen(hvt_line_part_at(i), &now, &met);
		hvt_line_add_unseen(s, &now, &met);
		s->met = 0;
	}
	if (is_any(&now))
		add_moment(hvt_line_part_at(s->now), &now, l->moment);
	s->moment_reads = s->moment_writes = 0;
	s->stretch.read |= l->read;
	s->stretch.written |= l->written;
	l->read = l->written = 0;
}

void hvt_unseen_over_alone(struct hvt_line *l)
{
	ULong reads = 0, writes = 0;
	UInt i;

	for (i = 0; i < HVT_LINE_WORDS; i++) {
		reads += l->reads[i];
		writes += l->writes[i];
	}
	l->old.reads = reads;
	l->old.writes = writes;
	l->old.read |= l->read;
	l->old.written |= l->written;
	l->old_read |= l->read;
	l->old_written |= l->written;
	l->old_moment = l->moment;
	l->read = l->written = 0;
}

void hvt_unseen_begin(struct hvt_line *l, struct hvt_line_shared *s, struct hvt_line_part *p)
{
	p->old = l->old;
	p->old_moment = l->old_moment;
	p->read = l->old_read;
	p->written = l->old_written;
	s->stretch.read = l->old_read;
	s->stretch.written = l->old_written;
	/* The counters of the line have both: this much of them is not of this moment. */
	s->moment_reads = -l->old.reads;
	s->moment_writes = -l->old.writes;
	l->old = (struct hvt_stretch){ 0, 0, 0, 0 };
	l->old_read = l->old_written = 0;
}

/* Is each byte of word @i one of @bytes? */
static Bool has_word(ULong bytes, UInt i)
{
	return (bytes >> (4 * i) & 15) == 15;
}

/* Of @s, which is a part of what @p's thread has done, no more is left than what began in words of which it has bytes. */
static void renew(const struct hvt_line_part *p, struct hvt_stretch *s, ULong bytes)
{
	ULong reads = 0, writes = 0;
	UInt i;

	s->read &= ~bytes;
	s->written &= ~bytes;
	for (i = 0; i < HVT_LINE_WORDS; i++) {
		if (s->read >> (4 * i) & 15)
			reads += p->reads[i] - p->gone_reads[i];
		if (s->written >> (4 * i) & 15)
			writes += p->writes[i] - p->gone_writes[i];
	}
	s->reads = s->reads < reads ? s->reads : reads;
	s->writes = s->writes < writes ? s->writes : writes;
}

static void renew_part(struct hvt_line_part *p, ULong bytes)
{
	UInt i;

	for (i = 0; i < HVT_LINE_WORDS; i++) {
		if (!has_word(bytes, i))
			continue;
		p->gone_reads[i] = p->reads[i];
		p->gone_writes[i] = p->writes[i];
	}
	renew(p, &p->old, bytes);
	renew(p, &p->new, bytes);
}

/* Who comes next comes to memory of which only one has had the objects that are gone: they do not count. */
static void renew_alone(struct hvt_line *l, ULong bytes)
{
	UInt i;

	l->old.read &= ~bytes;
	l->old.written &= ~bytes;
	for (i = 0; i < HVT_LINE_WORDS; i++) {
		if (!has_word(bytes, i))
			continue;
		l->old.reads -= l->reads[i];
		l->old.writes -= l->writes[i];
		l->reads[i] = l->writes[i] = 0;
	}
}

void hvt_unseen_renew(struct hvt_line *l, ULong bytes)
{
	UInt i;

	if (!l->number) {
		renew_alone(l, bytes);
		return;
	}
	for (i = hvt_line_shared_at(l->number)->first; i; i = hvt_line_part_at(i)->next)
		renew_part(hvt_line_part_at(i), bytes);
}
