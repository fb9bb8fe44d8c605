// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "faulted.h"

#include <stdlib.h>
#include <string.h>

#include "code_access.h"
#include "runtime/core/hvar_vmas.h"
#include "runtime/user/grow.h"

enum { ONE = 65536 }; /* access, as a weight */

#define KERNEL_HALF (1ull << 63)

struct faulted {
	struct faulted_parts p;
	struct faulted_row *rows; /* by entry */
	size_t n_rows, cap_rows;
	uint64_t n, lost;
};

struct faulted *faulted_new(const struct faulted_parts *parts)
{
	struct faulted *f = calloc(1, sizeof(*f));

	if (f)
		f->p = *parts;
	return f;
}

void faulted_free(struct faulted *f)
{
	if (!f)
		return;
	free(f->rows);
	free(f);
}

/* ---- code ---- */

static void note_caller(struct faulted *f, const struct hvar_event *ev, const struct code_site *at, bool kernel, uint32_t flags)
{
	union {
		struct stream_calls head;
		char room[sizeof(struct stream_calls) + sizeof(struct stream_call)];
	} rec = { .head = { .time_ns = ev->time_ns, .mm = ev->mm, .pid = ev->pid } };
	uint32_t caller;

	if (!code_callers_number(f->p.code, at, kernel, &caller))
		return;
	rec.head.v[0] = (struct stream_call){ .addr = ev->u.access.addr, .count = 1, .caller = caller, .flags = (uint16_t)flags };
	callers_calls(f->p.callers, f->p.variables, f->p.spaces, &rec.head, sizeof(rec), false);
}

/* ---- records ---- */

static struct faulted_row *row_of(struct faulted *f, uint32_t entry)
{
	size_t had = f->n_rows;

	if (entry >= f->n_rows) {
		if (grow_array((void **)&f->rows, &f->cap_rows, (size_t)entry + 1, sizeof(*f->rows)))
			return NULL;
		f->n_rows = (size_t)entry + 1;
		memset(f->rows + had, 0, (f->n_rows - had) * sizeof(*f->rows));
	}
	return &f->rows[entry];
}

static void touch_page(struct faulted *f, const struct hvar_event *ev, bool kernel, uint32_t flags)
{
	struct stream_touched t = {
		.time_ns = ev->time_ns,
		.mm = ev->mm,
		.pid = ev->pid,
		.what = flags & HVAR_ACCESS_WRITE ? STREAM_TOUCHED_WRITTEN :
			flags & HVAR_ACCESS_EXEC  ? STREAM_TOUCHED_EXECUTED : STREAM_TOUCHED_READ,
		.start = HVAR_PAGE_DOWN(ev->u.access.addr),
		.end = HVAR_PAGE_DOWN(ev->u.access.addr) + HVAR_PAGE_SIZE,
	};

	if (kernel)
		t.what |= STREAM_TOUCHED_BY_KERNEL;
	if (f->p.touched && t.end > t.start)
		touched_record(f->p.touched, &t);
}

/* The instruction at @ip: where it is, and what it did. */
static uint32_t look_at_code(const struct faulted *f, const struct stream_fault *rec, const struct hvar_event *ev,
			     struct code_site *at)
{
	const struct stream_sample *s = &rec->at;
	struct code_access c = { f->p.env, ev };
	struct access_code code;

	if (!code_access_site(&c, s->ev.u.sample.ip, at)) {
		*at = (struct code_site){ .mm = ev->mm, .where = s->ev.u.sample.ip };
		return s->ev.u.sample.ip == rec->addr ? HVAR_ACCESS_EXEC : 0;
	}
	code_access_init(&c, s->ev.u.sample.flags & HVAR_SAMPLE_ABI32, &code);
	return access_insn_fault(&code, s->ev.u.sample.ip, s->ev.u.sample.flags & HVAR_SAMPLE_NOREGS ? NULL : s->regs,
				 s->fs_base, s->gs_base, rec->addr);
}

void faulted_take(struct faulted *f, const struct stream_fault *rec)
{
	struct hvar_event ev = { .time_ns = rec->at.ev.time_ns, .type = HVAR_EVENT_ACCESS, .mm = rec->at.ev.mm,
				 .pid = rec->at.ev.pid, .tid = rec->at.ev.tid,
				 .u.access = { .addr = rec->addr, .ip = rec->at.ev.u.sample.ip, .weight = ONE } };
	bool kernel = ev.u.access.ip >= KERNEL_HALF;
	struct code_site at = { 0, 0, 0 };
	struct faulted_row *row;
	uint32_t flags = kernel ? 0 : look_at_code(f, rec, &ev, &at), i;

	f->n++;
	ev.u.access.flags = flags & (HVAR_ACCESS_READ | HVAR_ACCESS_WRITE);
	i = variables_at(f->p.variables, spaces_of(f->p.spaces, &ev), &ev, rec->addr);
	row = i == HVAR_HOT_NONE ? NULL : row_of(f, i);
	if (!row) {
		f->lost++;
		return;
	}
	variables_count(f->p.variables, i, &ev);
	row->fetches += (flags & HVAR_ACCESS_EXEC) != 0;
	row->by_kernel += kernel;
	row->untold += !flags;
	note_caller(f, &ev, &at, kernel, flags);
	touch_page(f, &ev, kernel, flags);
}

/* ---- what came out ---- */

void faulted_row(const struct faulted *f, uint32_t entry, struct faulted_row *out)
{
	if (entry < f->n_rows)
		*out = f->rows[entry];
	else
		memset(out, 0, sizeof(*out));
}

uint64_t faulted_n(const struct faulted *f)
{
	return f->n;
}

uint64_t faulted_lost(const struct faulted *f)
{
	return f->lost;
}
