/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maps.h - a stream's map and task changes, written one a line.
 *
 * A format is a table of functions; to add one: one file, one row in maps_formats[].
 */
#ifndef MAPS_H
#define MAPS_H

#include <stdint.h>
#include <stdio.h>

#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_module.h"
#include "runtime/core/hvar_vmas.h"
#include "runtime/user/stream.h"

/* One change, with what its numbers stand for. */
struct maps_line {
	const struct hvar_event *ev;
	uint64_t since_ns;	     /* from the first line on */
	const struct hvar_module *m; /* of the area; NULL: none */
	const char *path;	     /* its path, no NUL, NULL: none */
	size_t path_len;
};

struct maps_totals {
	uint64_t lines;
	uint64_t first_ns; /* time of the first */
	uint64_t lost[STREAM_LOST_WHATS];
	int write_errno; /* 0: all was written */
	const char *why; /* how a recording broke off, NULL: it is whole */
};

struct maps_format {
	const char *name;
	void (*begin)(FILE *f);
	void (*line)(FILE *f, const struct maps_line *l);
	/* News were lost, from @since_ns on; those before are told, and at @loss->time_ns the lists are right again.  The first line was at @first_ns. */
	void (*gap)(FILE *f, const struct stream_loss *loss, uint64_t since_ns, uint64_t first_ns);
	void (*end)(FILE *f, const struct maps_totals *t);
};
extern const struct maps_format maps_text, maps_json;

/*
 * Write all that @r tells to @f: nothing if it tells of no event and no end.  When that fails, out->write_errno says why, @broken
 * (may be NULL) is called once, and @r is read to its end all the same.
 * Returns 0 with *@out, or -ENOMEM.
 */
int maps_write(struct stream_reader *r, FILE *f, const struct maps_format *format,
	       void (*broken)(void), struct maps_totals *out);

/* The fields of an area, as one line of each format has them. */
struct json;
void maps_text_area(FILE *f, const struct maps_line *l);
void maps_json_area(struct json *j, const struct maps_line *l);
/* A path as text: what could move the cursor is written in octal, as the kernel does. */
void maps_text_path(FILE *f, const char *path, size_t n);

/* "file", "heap", ...; "r-xp" into @out. */
const char *maps_kind(const struct hvar_event *ev);
const char *maps_region(uint32_t region);
void maps_prot(const struct hvar_event *ev, char out[5]);

#endif /* MAPS_H */
