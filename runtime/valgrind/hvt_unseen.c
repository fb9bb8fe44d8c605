// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_unseen.h"

#include "hvt_line_parts.h"
#include "hvt_order.h"

/* Where so many times are seen that it goes back and forth, no more is asked. */
enum { RETURNS_SEEN = 2, MOST_SEEN = 100 };

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

	if (s->met || (s->returns >= RETURNS_SEEN && s->most_true + s->most_false >= MOST_SEEN))
		return;
	s->met = 1;
	for (i = s->first; i; i = hvt_line_part_at(i)->next) {
		struct hvt_line_part *p = hvt_line_part_at(i);

		p->met = 0;
		if (i == s->now)
			continue;
		if (is_any(&p->old) && !hvt_order_before(p->who, p->old_moment, l->who, l->moment))
			p->met |= HVT_LINE_MET_OLD;
		if (is_any(&p->new) && !hvt_order_before(p->who, p->new_moment, l->who, l->moment))
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
	UInt i;

	if (s->met) {
		for (i = s->first; i; i = hvt_line_part_at(i)->next)
			if (i != s->now && hvt_line_part_at(i)->met)
				hvt_line_meet_unseen(hvt_line_part_at(i), &now, &s->unseen_true, &s->unseen_false);
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
	l->old.reads = reads - l->gone_reads;
	l->old.writes = writes - l->gone_writes;
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
	s->moment_reads = -(l->old.reads + l->gone_reads);
	s->moment_writes = -(l->old.writes + l->gone_writes);
	l->old = (struct hvt_stretch){ 0, 0, 0, 0 };
	l->old_read = l->old_written = 0;
	l->gone_reads = l->gone_writes = 0;
}

static void renew(struct hvt_stretch *s, ULong bytes)
{
	s->read &= ~bytes;
	s->written &= ~bytes;
	if (!is_any(s))
		s->reads = s->writes = 0;
}

void hvt_unseen_renew(struct hvt_line *l, ULong bytes)
{
	UInt i;

	if (!l->number) {
		const struct hvt_stretch was = l->old;

		renew(&l->old, bytes);
		l->gone_reads += was.reads - l->old.reads;
		l->gone_writes += was.writes - l->old.writes;
		return;
	}
	for (i = hvt_line_shared_at(l->number)->first; i; i = hvt_line_part_at(i)->next) {
		renew(&hvt_line_part_at(i)->old, bytes);
		renew(&hvt_line_part_at(i)->new, bytes);
	}
}
