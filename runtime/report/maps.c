// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "maps.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "told.h"

static void write_event(const struct told_modules *t, const struct hvar_event *ev, FILE *f,
			const struct maps_format *format, struct maps_totals *out)
{
	const struct told *m = told_get(t, ev->module);
	struct maps_line l = { .ev = ev };

	if (!hvar_event_is_map(ev->type) && !hvar_event_is_task(ev->type))
		return;
	if (!out->lines++)
		out->first_ns = ev->time_ns;
	l.since_ns = ev->time_ns - out->first_ns;
	if (m) {
		l.m = &m->m;
		l.path = m->path;
		l.path_len = m->path_len;
	}
	if (!ferror(f))
		format->line(f, &l);
}

static void write_loss(const struct stream_loss *loss, FILE *f, const struct maps_format *format, struct maps_totals *out)
{
	uint64_t gap_ns = (uint64_t)loss->since_ms * 1000000;

	if (loss->what >= STREAM_LOST_WHATS)
		return;
	out->lost[loss->what] += loss->count;
	if (loss->what == STREAM_LOST_MAPS && gap_ns && out->lines && !ferror(f))
		format->gap(f, loss, loss->time_ns > gap_ns ? loss->time_ns - gap_ns : 0, out->first_ns);
}

int maps_write(struct stream_reader *r, FILE *f, const struct maps_format *format,
	       void (*broken)(void), struct maps_totals *out)
{
	struct told_modules modules = { 0 };
	struct stream_record rec;
	bool begun = false;
	int got, err = 0;

	memset(out, 0, sizeof(*out));
	while ((got = stream_next(r, &rec)) > 0) {
		/* A session that fails before it began has nothing to say here. */
		if (!begun && (rec.type == STREAM_EVENT || rec.type == STREAM_END)) {
			format->begin(f);
			begun = true;
		}
		switch (rec.type) {
		case STREAM_MODULE:
			if (told_module(&modules, rec.data))
				err = -ENOMEM;
			break;
		case STREAM_EVENT:
			write_event(&modules, rec.data, f, format, out);
			break;
		case STREAM_LOSS:
			write_loss(rec.data, f, format, out);
			break;
		default:
			break;
		}
		if (stream_drained(r))
			fflush(f); /* someone may be reading along, in a file too */
		if (ferror(f) && !out->write_errno) {
			out->write_errno = errno ? errno : EIO;
			if (broken)
				broken();
		}
	}
	if (got < 0)
		out->why = stream_reader_why(r);
	if (begun && !ferror(f)) {
		format->end(f, out);
		if (ferror(f))
			out->write_errno = errno ? errno : EIO;
	}
	told_fini(&modules);
	return err;
}

const char *maps_region(uint32_t region)
{
	static const char *const names[HVAR_REGIONS] = {
		[HVAR_REGION_NONE] = "unmapped", [HVAR_REGION_FILE] = "file",
		[HVAR_REGION_ANON] = "anon",	 [HVAR_REGION_HEAP] = "heap",
		[HVAR_REGION_STACK] = "stack",	 [HVAR_REGION_SHM] = "shm",
		[HVAR_REGION_VDSO] = "vdso",	 [HVAR_REGION_VVAR] = "vvar",
		[HVAR_REGION_VSYSCALL] = "vsyscall", [HVAR_REGION_JIT] = "jit",
	};

	return names[region]; /* hvar_event_valid() has looked at it */
}

const char *maps_kind(const struct hvar_event *ev)
{
	return maps_region(ev->u.map.region);
}

void maps_prot(const struct hvar_event *ev, char out[5])
{
	uint8_t prot = ev->u.map.prot;

	out[0] = prot & HVAR_PROT_READ ? 'r' : '-';
	out[1] = prot & HVAR_PROT_WRITE ? 'w' : '-';
	out[2] = prot & HVAR_PROT_EXEC ? 'x' : '-';
	out[3] = prot & HVAR_PROT_SHARED ? 's' : 'p';
	out[4] = '\0';
}
