// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "import_line.h"
#include "import_modules.h"
#include "import_tasks.h"
#include "mapstext.h"
#include "pmu_source.h"

enum { NOTE = 1024 };

#define MOST_WEIGHT ((uint64_t)1 << 40) /* accesses that one stands for */

/* The first line of a kind that is to be told. */
struct place {
	uint64_t n, line;
	size_t column;
	char text[96];
};

struct import {
	struct import_file *f;
	struct stream *out;
	struct import_modules *modules;
	struct import_tasks tasks;
	uint64_t last_ns, first_ns;
	uint64_t samples, accesses;
	uint64_t lost, no_memory, refused;
	struct place bad;	/* lines that are none of perf's */
	struct place pathless;	/* samples without an address */
	struct place unsure;	/* samples with two numbers */
	struct place other;	/* samples of no access */
	uint64_t again;		/* of them, what happened at an access of Arm's SPE */
	uint64_t memory;	/* samples that are the access itself */
	uint64_t sourceless;	/* of them, without data_src */
	uint64_t maps;
	/* a sample whose address is one if a frame follows */
	bool waiting;
	struct import_line held;
	uint64_t held_line;
	char held_event[64];
	size_t held_text; /* bytes in text */
	char text[2 * PATH_MAX];
};

static uint64_t forward(struct import *im, const struct import_line *l)
{
	if (l->timed && l->time_ns > im->last_ns)
		im->last_ns = l->time_ns;
	if (!im->first_ns)
		im->first_ns = im->last_ns;
	return im->last_ns;
}

static void note_place(struct place *p, uint64_t line, size_t column, const char *text, size_t len)
{
	if (p->n++)
		return;
	p->line = line;
	p->column = column;
	snprintf(p->text, sizeof(p->text), "%.*s", (int)(len < sizeof(p->text) ? len : sizeof(p->text)), text);
}

static uint32_t id(int32_t pid)
{
	return pid > 0 ? (uint32_t)pid : 0;
}

/* ---- tasks ---- */

static void put_comm(struct import *im, int32_t pid, int32_t tid, struct import_text name, uint64_t time_ns)
{
	struct stream_comm c = { .time_ns = time_ns, .pid = id(pid), .tid = id(tid) };

	memcpy(c.comm, name.p, name.len < sizeof(c.comm) ? name.len : sizeof(c.comm) - 1);
	stream_put(im->out, STREAM_COMM, &c, sizeof(c), NULL, 0);
}

static struct import_task *process(struct import *im, int32_t pid)
{
	struct import_task *p = import_tasks_process(&im->tasks, pid);

	im->no_memory += !p;
	return p;
}

static struct hvar_event event(uint32_t type, const struct import_task *p, int32_t tid, uint64_t time_ns)
{
	return (struct hvar_event){ .type = type, .time_ns = time_ns, .mm = p->mm, .pid = id(p->pid), .tid = id(tid) };
}

static void put_event(struct import *im, const struct hvar_event *ev)
{
	im->refused += stream_put_event(im->out, ev) == -EINVAL;
}

/* A thread lives in its process; perf's text may have only its number later. */
static void belongs(struct import *im, int32_t tid, int32_t pid)
{
	struct import_task *t = tid != pid ? import_tasks_get(&im->tasks, tid) : NULL;

	if (t)
		t->pid = pid;
}

static void take_comm(struct import *im, const struct import_line *l, uint64_t time_ns)
{
	struct import_task *p = process(im, l->u.comm.pid);
	struct hvar_event ev;

	if (!p || l->u.comm.pid <= 0)
		return;
	if (l->u.comm.exec) {
		p->mm = ++im->tasks.last_mm;
		p->mapped = false;
		ev = event(HVAR_EVENT_EXEC, p, l->u.comm.tid, time_ns);
		ev.cause = HVAR_CAUSE_EXECVE;
		put_event(im, &ev);
	}
	if (l->u.comm.tid == l->u.comm.pid)
		p->named = true;
	put_comm(im, l->u.comm.pid, l->u.comm.tid, l->u.comm.name, time_ns);
	belongs(im, l->u.comm.tid, l->u.comm.pid);
}

static void take_fork(struct import *im, const struct import_line *l, uint64_t time_ns)
{
	bool thread = l->u.task.pid == l->u.task.ppid, mapped;
	struct import_task *p = process(im, l->u.task.ppid), *child;
	struct hvar_event ev;

	if (!p || l->u.task.pid <= 0 || l->u.task.tid <= 0 || l->u.task.ppid <= 0 || l->u.task.ptid <= 0)
		return;
	ev = event(HVAR_EVENT_FORK, p, l->u.task.ptid, time_ns);
	ev.cause = thread ? HVAR_CAUSE_CLONE : HVAR_CAUSE_FORK;
	ev.u.task.child = id(l->u.task.tid);
	ev.u.task.child_pid = id(l->u.task.pid);
	ev.u.task.child_mm = p->mm;
	mapped = p->mapped;
	if (!thread) {
		child = process(im, l->u.task.pid);
		if (!child)
			return;
		/* What shares its maker's memory (vfork) is a copy here until it executes a program. */
		*child = (struct import_task){ .tid = child->tid, .pid = child->tid, .used = true, .mm = ++im->tasks.last_mm, .mapped = mapped };
		ev.u.task.child_mm = child->mm;
	}
	put_event(im, &ev);
	belongs(im, l->u.task.tid, l->u.task.pid);
}

static void take_exit(struct import *im, const struct import_line *l, uint64_t time_ns)
{
	struct import_task *p = process(im, l->u.task.pid);
	struct hvar_event ev;

	if (!p || l->u.task.pid <= 0 || l->u.task.tid <= 0)
		return;
	ev = event(HVAR_EVENT_EXIT, p, l->u.task.tid, time_ns);
	put_event(im, &ev);
}

/* ---- the map ---- */

static uint8_t prot_of(const char *text)
{
	uint8_t prot = (strchr(text, 'r') ? HVAR_PROT_READ : 0) | (strchr(text, 'w') ? HVAR_PROT_WRITE : 0) |
		       (strchr(text, 'x') ? HVAR_PROT_EXEC : 0) | (strchr(text, 's') ? HVAR_PROT_SHARED : 0);

	/* Records older than MMAP2 say only whether it may be executed, or else that it may be read. */
	return text[0] && !text[1] ? prot | HVAR_PROT_READ : prot;
}

/*
 * Does it end where the stack of a program is that is about to begin, before it is put where it stays?  STACK_TOP_MAX: of x86-64, and of
 * arm64, 2 to the power of how many bits its kernel is configured for.
 */
static bool is_first_stack(uint64_t end)
{
	return end == 0x7ffffffff000 || (end >= (uint64_t)1 << 36 && !(end & (end - 1)));
}

static void take_map(struct import *im, const struct import_line *l, uint64_t time_ns)
{
	struct mapstext a = { .v = { .start = l->u.map.start, .end = l->u.map.end, .pgoff = l->u.map.pgoff, .prot = prot_of(l->u.map.prot) },
			      .dev_major = l->u.map.dev_major, .dev_minor = l->u.map.dev_minor, .ino = l->u.map.ino };
	char name[PATH_MAX + sizeof(" (deleted)")];
	size_t len = l->u.map.path.len;
	struct import_task *p;
	struct hvar_event ev;

	if (l->u.map.pid <= 0) /* the kernel's own */
		return;
	p = process(im, l->u.map.pid);
	if (!p)
		return;
	if (len >= sizeof(name) || memchr(l->u.map.path.p, 0, len)) {
		im->refused++;
		return;
	}
	if (len == 6 && !memcmp(l->u.map.path.p, "//anon", 6))
		len = 0;
	if (!len && !p->mapped && is_first_stack(l->u.map.end))
		return;
	memcpy(name, l->u.map.path.p, len);
	name[len] = '\0';
	mapstext_name(&a, name, len);
	if (import_modules_number(im->modules, l, &a))
		im->no_memory++;
	ev = event(HVAR_EVENT_MAP, p, l->u.map.tid, time_ns);
	ev.module = a.v.module;
	ev.u.map.start = a.v.start;
	ev.u.map.end = a.v.end;
	ev.u.map.pgoff = a.v.pgoff;
	ev.u.map.prot = a.v.prot;
	ev.u.map.region = a.v.region;
	ev.u.map.flags = a.v.flags;
	put_event(im, &ev);
	p->mapped = true;
	im->maps++;
	belongs(im, l->u.map.tid, l->u.map.pid);
}

/* ---- samples ---- */

static bool has(struct import_text t, const char *word)
{
	return memmem(t.p, t.len, word, strlen(word)) != NULL;
}

static uint32_t flags_of(const struct import_line *l)
{
	uint32_t flags = pmu_source_flags(l->u.sample.source);

	if (flags)
		return flags;
	if (has(l->u.sample.event, "mem-stores") || has(l->u.sample.event, "mem_stores"))
		return HVAR_ACCESS_WRITE;
	if (has(l->u.sample.event, "mem-loads") || has(l->u.sample.event, "mem_loads"))
		return HVAR_ACCESS_READ;
	return l->u.sample.addr == l->u.sample.ip ? HVAR_ACCESS_EXEC : 0;
}

static bool is_one_of(struct import_text name, const char *const words[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (name.len == strlen(words[i]) && !memcmp(name.p, words[i], name.len))
			return true;
	return false;
}

/*
 * Of one record of Arm's SPE perf makes several samples (arm-spe.c, arm_spe_sample()): one for each thing that happened there, then
 * "memory" if it was a load or store, and then "instructions", whatever it was; which of these kinds there are is one choice
 * for all records (--itrace).  So "instructions" are accesses only where none is called "memory" before, and if they tell of any.
 */
static bool is_again(struct import *im, const struct import_line *l, struct import_text name)
{
	static const char *const events[] = { "l1d-miss", "l1d-access", "llc-miss", "llc-access",
					      "tlb-miss", "tlb-access", "remote-access" };
	static const char *const memory[] = { "memory" }, *const instructions[] = { "instructions" };

	if (is_one_of(name, memory, 1)) {
		im->memory++;
		im->sourceless += !l->u.sample.source;
		return false;
	}
	if (is_one_of(name, instructions, 1))
		return im->memory || (l->u.sample.has_addr != IMPORT_ADDR_NONE && !l->u.sample.addr && !pmu_source_flags(l->u.sample.source));
	if (!is_one_of(name, events, sizeof(events) / sizeof(events[0])))
		return false;
	im->again++;
	return true;
}

/* Addresses of branches are where they go; what the PMU calls a prefetch asks for memory, and does not access it. */
static bool is_access(struct import *im, const struct import_line *l)
{
	static const char *const branches[] = { "branch", "branch-miss" };
	struct import_text name = l->u.sample.event;
	const char *end = name.len ? memchr(name.p, ':', name.len) : NULL;

	if (end)
		name.len = (size_t)(end - name.p);
	return !is_again(im, l, name) && !is_one_of(name, branches, 2) && !has(name, "branches") && !pmu_source_is_none(l->u.sample.source);
}

/* The two strings of a record in @text; how many bytes. */
static size_t told_names(struct import_text symbol, struct import_text file, char *text)
{
	size_t n = symbol.len < PATH_MAX - 1 ? symbol.len : PATH_MAX - 1, m = file.len < PATH_MAX - 1 ? file.len : PATH_MAX - 1;

	if (n && memchr(symbol.p, 0, n))
		n = 0;
	if (m && memchr(file.p, 0, m))
		m = 0;
	if (n)
		memcpy(text, symbol.p, n);
	text[n] = '\0';
	if (m)
		memcpy(text + n + 1, file.p, m);
	text[n + 1 + m] = '\0';
	return n + m + 2;
}

static void put_access(struct import *im, const struct import_line *l, uint64_t time_ns, const char *text, size_t len)
{
	struct stream_access a = { .source = l->u.sample.source, .latency = l->u.sample.latency };
	uint64_t n = l->u.sample.period ? l->u.sample.period : 1;
	struct import_task *t = import_tasks_get(&im->tasks, l->tid), *p;
	int32_t pid = l->has_pid ? l->pid : t ? t->pid : l->tid;

	p = process(im, pid);
	if (!t || !p)
		return;
	if (!p->named && l->tid == pid && l->comm.len && l->comm.p[0] != ':') {
		p->named = true;
		put_comm(im, pid, pid, l->comm, time_ns);
	}
	a.ev = event(HVAR_EVENT_ACCESS, p, l->tid, time_ns);
	a.ev.u.access.addr = l->u.sample.addr;
	a.ev.u.access.ip = l->u.sample.ip;
	a.ev.u.access.weight = (n < MOST_WEIGHT ? n : MOST_WEIGHT) << 16;
	a.ev.u.access.flags = flags_of(l);
	if (!l->u.sample.addr)
		a.flags |= STREAM_ACCESS_NO_ADDRESS;
	if (!p->mapped)
		a.flags |= STREAM_ACCESS_NO_MAP;
	if (p->mapped) {
		text = "\0";
		len = 2;
	}
	if (!stream_put(im->out, STREAM_ACCESS, &a, sizeof(a), text, len))
		im->accesses++;
}

/* The sample that waited for the line after it: @frame, or not. */
static void settle(struct import *im, bool frame)
{
	const struct import_line *l = &im->held;

	if (!im->waiting)
		return;
	im->waiting = false;
	if (frame)
		put_access(im, l, im->last_ns, im->text, im->held_text);
	else
		note_place(&im->pathless, im->held_line, l->u.sample.addr_column, l->u.sample.event.p, l->u.sample.event.len);
}

static struct import_text kept(char *buf, size_t size, struct import_text t)
{
	size_t n = t.len < size ? t.len : size;

	memcpy(buf, t.p, n);
	return (struct import_text){ buf, n };
}

static void take_sample(struct import *im, const struct import_line *l, uint64_t time_ns)
{
	char text[2 * PATH_MAX];
	size_t len;

	im->samples++;
	if (!is_access(im, l)) {
		note_place(&im->other, im->f->line, l->u.sample.addr_column, l->u.sample.event.p, l->u.sample.event.len);
		return;
	}
	switch (l->u.sample.has_addr) {
	case IMPORT_ADDR_NONE:
		note_place(&im->pathless, im->f->line, l->u.sample.addr_column, l->u.sample.event.p, l->u.sample.event.len);
		break;
	case IMPORT_ADDR_UNSURE:
		note_place(&im->unsure, im->f->line, l->u.sample.addr_column, l->u.sample.event.p, l->u.sample.event.len);
		break;
	case IMPORT_ADDR_YES:
		len = told_names(l->u.sample.symbol, l->u.sample.file, text);
		put_access(im, l, time_ns, text, len);
		break;
	case IMPORT_ADDR_MAYBE:
		/* The line's bytes are gone by the next one. */
		im->held = *l;
		im->held_line = im->f->line;
		im->held_text = told_names(l->u.sample.symbol, l->u.sample.file, im->text);
		im->held.u.sample.event = kept(im->held_event, sizeof(im->held_event), l->u.sample.event);
		im->held.comm = (struct import_text){ "", 0 };
		im->waiting = true;
		break;
	}
}

/* ---- all lines ---- */

static void take(struct import *im, const struct import_line *l)
{
	uint64_t time_ns;

	settle(im, l->what == IMPORT_FRAME);
	time_ns = forward(im, l);
	switch (l->what) {
	case IMPORT_NOTHING:
	case IMPORT_FRAME:
		break;
	case IMPORT_SAMPLE:
		take_sample(im, l, time_ns);
		break;
	case IMPORT_MAP:
		take_map(im, l, time_ns);
		break;
	case IMPORT_COMM:
		take_comm(im, l, time_ns);
		break;
	case IMPORT_FORK:
		take_fork(im, l, time_ns);
		break;
	case IMPORT_EXIT:
		take_exit(im, l, time_ns);
		break;
	case IMPORT_LOST:
		im->lost += l->u.lost;
		break;
	case IMPORT_BAD:
		note_place(&im->bad, im->f->line, l->bad_column, l->bad_why, strlen(l->bad_why));
		break;
	}
}

/* ---- what is said of it ---- */

__attribute__((format(printf, 2, 3))) static void say(char note[NOTE], const char *fmt, ...)
{
	size_t n = strlen(note);
	va_list ap;

	if (n && n + 2 < NOTE) {
		memcpy(note + n, "; ", 3);
		n += 2;
	}
	va_start(ap, fmt);
	vsnprintf(note + n, NOTE - n, fmt, ap);
	va_end(ap);
}

static void put_note(struct import *im)
{
	uint64_t unproven = import_modules_unproven(im->modules);
	char note[NOTE] = "";

	if (!im->maps)
		say(note, "the text does not tell what is mapped, so that names are perf's own, as far as it has any: make it with \"%s\"", IMPORT_COMMAND);
	if (im->bad.n)
		say(note, "%" PRIu64 " line%s not understood, the first is %.200s:%" PRIu64 ":%zu, where %s should be", im->bad.n,
		    im->bad.n == 1 ? " was" : "s were", im->f->name, im->bad.line, im->bad.column, im->bad.text);
	if (im->pathless.n)
		say(note, "%" PRIu64 " sample%s no address, the first is %.200s:%" PRIu64 ":%zu (%s), and %s left out", im->pathless.n,
		    im->pathless.n == 1 ? " has" : "s have", im->f->name, im->pathless.line, im->pathless.column, im->pathless.text,
		    im->pathless.n == 1 ? "is" : "are");
	if (im->unsure.n)
		say(note, "%" PRIu64 " sample%s two numbers that may be address or instruction, the first is %.200s:%" PRIu64 ":%zu: give the field sym, too",
		    im->unsure.n, im->unsure.n == 1 ? " has" : "s have", im->f->name, im->unsure.line, im->unsure.column);
	if (im->other.n)
		say(note, "%" PRIu64 " sample%s of no access of data (branches, prefetches), or of one that another tells, too", im->other.n, im->other.n == 1 ? " is" : "s are");
	if (im->sourceless)
		say(note, "%" PRIu64 " sample%s called memory do%s not tell whether it reads or writes, nor where data was found: make the text with \"%s\"", im->sourceless,
		    im->sourceless == 1 ? "" : "s", im->sourceless == 1 ? "es" : "", IMPORT_SPE_COMMAND);
	if (im->f->too_long)
		say(note, "%" PRIu64 " line%s too long", im->f->too_long, im->f->too_long == 1 ? " is" : "s are");
	if (unproven)
		say(note, "of %" PRIu64 " file%s perf tells neither inode nor build-id, so that what is there now has no names to give", unproven,
		    unproven == 1 ? "" : "s");
	if (im->f->error)
		say(note, "%.200s could not be read to its end: %s", im->f->name, strerror(im->f->error));
	if (*note)
		stream_put_meta(im->out, "note", "%s", note);
}

static void put_loss(struct import *im, enum stream_loss_what what, uint64_t count)
{
	struct stream_loss l = { .time_ns = im->last_ns, .what = what, .count = count };

	if (count)
		stream_put(im->out, STREAM_LOSS, &l, sizeof(l), NULL, 0);
}

static int finish(struct import *im, struct err *e)
{
	struct stream_end end = { .time_ns = im->last_ns, .elapsed_ns = im->last_ns - im->first_ns, .samples = im->accesses, .wait_status = -1 };
	const struct place *p;

	settle(im, false);
	p = im->unsure.n ? &im->unsure : im->pathless.n ? &im->pathless : &im->other;
	put_loss(im, STREAM_LOST_SAMPLES, im->lost);
	put_loss(im, STREAM_LOST_LINES, im->bad.n + im->f->too_long);
	put_loss(im, STREAM_LOST_MEMORY, im->no_memory);
	put_loss(im, STREAM_LOST_MAPS, im->refused);
	put_note(im);
	stream_put(im->out, STREAM_END, &end, sizeof(end), NULL, 0);
	if (!im->accesses && im->again && p == &im->other)
		return err_set(e, ENODATA, "%.300s: there are samples of what happened at accesses (cache, TLB), of which one access has several, but none of the accesses: make the text with \"%s\"",
			       im->f->name, IMPORT_SPE_COMMAND);
	if (im->accesses || !im->samples || !p->n)
		return 0;
	return err_set(e, ENODATA, "%.300s:%" PRIu64 ":%zu: the sample of %s has no address of data that can be told, nor has any other: record with \"perf mem record\" or \"perf record -e page-faults -c 1 -d\", and make the text with \"%s\"%s",
		       im->f->name, p->line, p->column, p->text, IMPORT_COMMAND,
		       im->unsure.n ? " (of two numbers without the field sym it is not known which is the address)" : "");
}

int import_text(struct import_file *f, struct stream *out, struct err *e)
{
	struct import im = { .f = f, .out = out };
	struct import_line l;
	const char *line;
	size_t len;
	int err;

	im.modules = import_modules_new(out, f->mtime_ns);
	if (!im.modules)
		return err_set(e, ENOMEM, "cannot read '%.300s': no memory: free some", f->name);
	stream_put_meta(out, "input", "%s", f->name);
	stream_put_meta(out, "source", "perf script");
	while ((line = import_file_line(f, &len))) {
		import_line(line, len, &l);
		take(&im, &l);
	}
	if (im.maps)
		stream_put_meta(out, "maps", "perf script");
	err = finish(&im, e);
	import_tasks_fini(&im.tasks);
	import_modules_free(im.modules);
	return err;
}
