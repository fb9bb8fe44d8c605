// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * maps_watch.c - find in a recording what takes a range away, and write it, with its stack if there is one.
 */
#include "config.h"

#include "maps_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "printable.h"
#include "spaces.h"

/* ---- finding ---- */

struct replay {
	struct watch *w;
	struct images *images;
	struct spaces *spaces;
	uint64_t time_ns;      /* of the last event */
	bool ask;	       /* something was mapped: look for the variable */
	bool mapped;	       /* the range was, when its last task seemed to end */
	struct hvar_event end; /* that EXIT; type NONE: none.  Threads that nothing was told of may live on. */
};

static const char *path_of(void *ctx, uint32_t id)
{
	return images_path(ctx, id);
}

static void find_variable(struct replay *p)
{
	const struct hvar_vmas *vmas = spaces_find(p->spaces, p->w->mm);

	if (p->ask && p->w->name && !p->w->end && !p->w->ambiguous && vmas)
		watch_find(p->w, vmas, images_of, path_of, p->images);
	p->ask = false;
}

static void hit(struct watch *w, const struct hvar_event *ev)
{
	w->hit = true;
	w->ev = *ev;
}

static bool is_mapped(const struct replay *p)
{
	const struct hvar_vmas *vmas = spaces_find(p->spaces, p->w->mm);

	return p->mapped || (p->w->end && vmas && watch_mapped(p->w, vmas));
}

/* @ev has ended tasks of the watched memory, of which @mapped says that the range was there before. */
static void end_of_tasks(struct replay *p, const struct hvar_event *ev, bool mapped)
{
	struct watch *w = p->w;

	if (spaces_find(p->spaces, w->mm))
		return;
	if (ev->type == HVAR_EVENT_EXIT) {
		if (mapped)
			p->end = *ev;
		p->mapped = mapped;
		return;
	}
	if (mapped) {
		hit(w, ev);
		return;
	}
	w->mm = ev->mm; /* nothing was lost: what it executes may have it */
	p->ask = true;
}

static void take_event(struct replay *p, const struct hvar_event *ev)
{
	struct watch *w = p->w;
	bool mapped, ours;

	if (ev->time_ns != p->time_ns)
		find_variable(p);
	p->time_ns = ev->time_ns;
	if (!w->pid) {
		w->pid = (pid_t)ev->pid;
		w->mm = ev->mm;
	}
	ours = ev->mm == w->mm;
	if (ours) {
		p->end.type = HVAR_EVENT_NONE;
		p->ask |= hvar_event_is_map(ev->type);
	}
	mapped = is_mapped(p);
	if (ours && w->end && watch_hits(w, ev))
		hit(w, ev);
	spaces_event(p->spaces, ev);
	if (!w->hit && ((ours && ev->type == HVAR_EVENT_EXIT) ||
			(ev->type == HVAR_EVENT_EXEC && (pid_t)ev->pid == w->pid)))
		end_of_tasks(p, ev, mapped);
}

int maps_watch_read(struct stream_reader *r, struct watch *w, struct images *images, void (*found)(void),
		    struct told_modules *told, struct maps_totals *out)
{
	struct replay p = { .w = w, .images = images, .spaces = spaces_new() };
	struct stream_record rec;
	int got, err = p.spaces ? 0 : -ENOMEM;

	memset(out, 0, sizeof(*out));
	while ((got = stream_next(r, &rec)) > 0) {
		const struct hvar_event *ev = rec.data;
		const struct stream_loss *loss = rec.data;

		if (rec.type == STREAM_MODULE && told_module(told, rec.data))
			err = -ENOMEM;
		if (rec.type == STREAM_MODULE && images)
			images_module(images, rec.data);
		if (rec.type == STREAM_LOSS && loss->what < STREAM_LOST_WHATS)
			out->lost[loss->what] += loss->count;
		if (rec.type != STREAM_EVENT ||
		    !(hvar_event_is_map(ev->type) || hvar_event_is_task(ev->type)))
			continue;
		if (!out->lines++)
			out->first_ns = ev->time_ns;
		if (!images || !p.spaces || w->hit)
			continue;
		images_mapped(images, ev);
		take_event(&p, ev);
		if (w->hit && found)
			found();
	}
	if (got < 0)
		out->why = stream_reader_why(r);
	if (images && !w->hit && p.end.type)
		hit(w, &p.end);
	if (p.spaces)
		out->lost[STREAM_LOST_MEMORY] += spaces_lost(p.spaces);
	spaces_free(p.spaces);
	return err;
}

void maps_watch_images(struct stream_reader *r, struct images *images)
{
	struct stream_record rec;

	while (stream_next(r, &rec) > 0) {
		if (rec.type == STREAM_MODULE)
			images_module(images, rec.data);
		else if (rec.type == STREAM_IMAGE)
			images_image(images, rec.data, rec.len);
	}
}

/* ---- writing ---- */

static struct maps_line line_of(const struct watch *w, const struct told_modules *told,
				const struct maps_totals *out)
{
	struct maps_line l = { .ev = &w->ev, .since_ns = w->ev.time_ns - out->first_ns };
	const struct told *m = told_get(told, w->ev.module);

	if (m) {
		l.m = &m->m;
		l.path = m->path;
		l.path_len = m->path_len;
	}
	return l;
}

static const char *what_happened(const struct hvar_event *ev)
{
	switch (ev->type) {
	case HVAR_EVENT_MOVE:
		return "moved";
	case HVAR_EVENT_EXEC:
		return "gone, since its process executed another program";
	case HVAR_EVENT_EXIT:
		return "gone with its last task";
	default:
		return "unmapped";
	}
}

static void write_range(FILE *f, const struct watch *w)
{
	if (w->end)
		fprintf(f, "0x%" PRIx64 "-0x%" PRIx64, w->start, w->end);
	fputs(w->name && w->end ? " (" : "", f);
	printable_put(f, w->name);
	if (w->name && w->end && w->module) {
		fputs(" of ", f);
		maps_text_path(f, w->module, strlen(w->module));
	}
	if (w->name && w->end)
		putc(')', f);
}

static void write_frame(FILE *f, size_t i, const struct unwind_frame *v)
{
	fprintf(f, "  #%-2zu 0x%012" PRIx64 " ", i, v->ip);
	if (v->symbol) {
		maps_text_path(f, v->symbol, strlen(v->symbol));
		fprintf(f, "+0x%" PRIx64, v->offset);
	} else if (v->place) {
		maps_text_path(f, v->place, strlen(v->place));
	} else {
		putc('?', f);
	}
	if (v->module) {
		fputs("  ", f);
		maps_text_path(f, v->module, strlen(v->module));
	}
	putc('\n', f);
}

static void write_text(FILE *f, const struct watch *w, const struct told_modules *told,
		       const struct maps_totals *out)
{
	struct maps_line l = line_of(w, told, out);
	size_t i;

	if (!w->hit) {
		if (w->ambiguous) {
			printable_put(f, w->name), fputs(" was not watched, since there are several: ", f);
			printable_put(f, w->others), putc('\n', f);
			return;
		}
		write_range(f, w);
		fputs(w->end ? ": nothing took it away\n" :
			       ": was never there; check the name with nm: functions and thread-local variables cannot be watched\n", f);
		return;
	}
	write_range(f, w);
	fprintf(f, ": %s, at %" PRIu64 ".%06u s", what_happened(&w->ev), l.since_ns / 1000000000,
		(unsigned)(l.since_ns / 1000 % 1000000));
	if (w->ev.cause == HVAR_CAUSE_NONE) {
		fputs(" at the latest, which a look at the map found: by whom is not known\n", f);
	} else {
		fprintf(f, ", by thread %" PRIu32, w->ev.tid);
		if (w->comm[0]) {
			fputs(" \"", f);
			maps_text_path(f, w->comm, strlen(w->comm));
			putc('"', f);
		}
		fprintf(f, " of process %" PRIu32 "\n", w->ev.pid);
	}
	maps_text.line(f, &l);
	for (i = 0; i < w->stack.n; i++)
		write_frame(f, i, &w->stack.v[i]);
	if (w->stack.n && w->stack.why)
		fprintf(f, "  ...: %s\n", w->stack.why);
	if (w->no_stack)
		fprintf(f, "  no call stack: %s\n", w->no_stack);
}

static void write_json(FILE *f, const struct watch *w, const struct told_modules *told,
		       const struct maps_totals *out)
{
	struct maps_line l = line_of(w, told, out);
	struct json j;
	size_t i;

	maps_json.begin(f);
	if (w->hit)
		maps_json.line(f, &l);
	json_begin(&j, f, "watch");
	if (w->end) {
		json_hex(&j, "start", w->start);
		json_hex(&j, "end", w->end);
	} else {
		json_null(&j, "start");
		json_null(&j, "end");
	}
	json_str(&j, "name", w->name);
	json_str(&j, "module", w->module);
	json_bool(&j, "hit", w->hit);
	if (w->ambiguous)
		json_str(&j, "ambiguous", w->others);
	if (w->hit) {
		json_u64(&j, "time_ns", w->ev.time_ns);
		json_str(&j, "event", hvar_event_name(w->ev.type));
		json_str(&j, "syscall", w->ev.cause ? hvar_cause_name(w->ev.cause) : NULL);
		json_u64(&j, "pid", w->ev.pid);
		if (w->ev.cause) {
			json_u64(&j, "tid", w->ev.tid);
			json_str(&j, "comm", w->comm[0] ? w->comm : NULL);
		} else {
			json_null(&j, "tid");
			json_null(&j, "comm");
		}
		json_open(&j, "stack", '[');
		for (i = 0; i < w->stack.n; i++) {
			const struct unwind_frame *v = &w->stack.v[i];

			json_open(&j, NULL, '{');
			json_hex(&j, "ip", v->ip);
			json_str(&j, "symbol", v->symbol);
			if (v->symbol)
				json_u64(&j, "offset", v->offset);
			else
				json_str(&j, "place", v->place);
			json_str(&j, "module", v->module);
			json_close(&j, '}');
		}
		json_close(&j, ']');
		json_str(&j, "stack_ends", w->no_stack ? w->no_stack : w->stack.why);
	}
	json_end(&j);
	maps_json.end(f, out);
}

void maps_watch_write(FILE *f, bool json, const struct watch *w, const struct told_modules *told,
		      const struct maps_totals *out)
{
	if (json) {
		write_json(f, w, told, out);
		return;
	}
	write_text(f, w, told, out);
	maps_text.end(f, out);
}
