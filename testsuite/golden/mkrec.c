// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkrec - a recording from its description: mkrec DESCRIPTION RECORDING
 *
 * One record a line, words as KEY=VALUE; '#' begins a comment.
 *
 *	meta KEY=VALUE TO THE END OF THE LINE
 *	module id=1 path=/bin/app ino=5 build-id=ab12cd34 flags=elf
 *	elf id=1                      an image for module 1 from the lines up to "end-elf":
 *	  seg offset=0 vaddr=0 filesz=0x1000 memsz=0x1000 prot=r-x
 *	  section name=.data offset=0x2000 vaddr=0x2000 size=0x100 prot=rw-
 *	  sym name=table vaddr=0x2000 size=64 section=.data type=object bind=global
 *	comm pid=7 name=app
 *	map t=1 pid=7 mm=1 at=0x1000-0x2000 pgoff=0 prot=r-xp region=file module=1
 *	    (initial unmap protect move grow shrink likewise, with old=START-END where it has one)
 *	fork pid=7 mm=1 child=8 child-mm=2     exec pid=8 mm=3     exit pid=8 mm=3
 *	access pid=7 mm=1 addr=0x2000 rw=w size=4 weight=2 times=10 step=8
 *	sampled pid=7 mm=1 addr=0x2000 rw=r weight=1000 latency=120 source=0x... times=3 (or no-address=1, or no-map=1
 *	    symbol=NAME file=PATH)
 *	sample pid=7 mm=1 ip=0x1000 period=1000000 rax=0x2000 times=10
 *	fault pid=7 mm=1 ip=0x1000 addr=0x2000 rdi=0x2000 (or noregs=1)
 *	watched pid=7 tid=9 mm=1 watch=0 start=0x2000 size=8 lost=0 ip=0x1000 word=0x1100 count=5 flags=1 (no ip: no access)
 *	code module=1 where=0x1000 bytes=488b00c3
 *	loss what=samples count=5 (and since-ms=2: the time that it is of)
 *	heap pid=7 mm=1 reads=5 writes=3 objects=2 bytes=48 live=1 live-bytes=24 never-read=8 never-written=16 sizes=24-24
 *	    tids=7,8 offsets=0:3:1,8:2:0 (or FROM-TO:...) mapped=1 frames=FUNCTION@FILE@LINE@MODULE@ADDRESS,...
 *	caller n=3 function=count file=app.c line=12
 *	line (see mkrec_line.h)
 *	end elapsed=1000000000 cpu=1000000 status=0
 *
 * In a path or name \xNN is a byte.  pid stands for tid too where that is not given; t goes on by 1 us where it is not.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_vmas.h"
#include "runtime/user/stream.h"
#include "testsuite/golden/mkrec_words.h"
#include "testsuite/golden/tiny_elf.h"
#include "translator-hooks/image_build.h"

static uint64_t now;
static struct tiny_elf elf;

/* ---- records ---- */

static struct hvar_event event(uint32_t type)
{
	struct hvar_event ev = { .type = type };

	now = number("t", now + 1000);
	ev.time_ns = now;
	ev.pid = (uint32_t)number_of(need("pid"));
	ev.tid = (uint32_t)number("tid", ev.pid);
	ev.mm = (uint32_t)number_of(need("mm"));
	return ev;
}

static void put_map(struct stream *s, uint32_t type)
{
	static const char *const regions[HVAR_REGIONS] = { "none", "file", "anon", "heap", "stack",
							   "shm", "vdso", "vvar", "vsyscall", "jit" };
	struct hvar_event ev = event(type);

	range("at", &ev.u.map.start, &ev.u.map.end);
	if (get("old"))
		range("old", &ev.u.map.old_start, &ev.u.map.old_end);
	if (type != HVAR_EVENT_UNMAP) {
		ev.u.map.prot = prot();
		ev.u.map.region = (uint8_t)word_of("region", regions, HVAR_REGIONS);
		ev.u.map.pgoff = number("pgoff", 0);
		ev.module = (uint32_t)number("module", 0);
	}
	stream_put_event(s, &ev);
}

static void put_task(struct stream *s, uint32_t type)
{
	struct hvar_event ev = event(type);

	if (type == HVAR_EVENT_FORK) {
		ev.u.task.child = (uint32_t)number_of(need("child"));
		ev.u.task.child_pid = (uint32_t)number("child-pid", ev.u.task.child);
		ev.u.task.child_mm = (uint32_t)number("child-mm", ev.mm);
	}
	if (type == HVAR_EVENT_EXIT)
		ev.u.task.status = (uint32_t)number("status", 0);
	ev.u.task.start_time = number("start", 0);
	stream_put_event(s, &ev);
}

static void put_accesses(struct stream *s)
{
	struct hvar_event ev = event(HVAR_EVENT_ACCESS);
	uint64_t times = number("times", 1), step = number("step", 0);
	const char *rw = need("rw");

	ev.u.access.addr = number_of(need("addr"));
	ev.u.access.ip = number("ip", 0);
	ev.u.access.size = (uint32_t)number("size", 4);
	ev.u.access.weight = number("weight", 1) * 65536;
	ev.u.access.flags = (strchr(rw, 'r') ? HVAR_ACCESS_READ : 0) |
			    (strchr(rw, 'w') ? HVAR_ACCESS_WRITE : 0);
	for (; times; times--) {
		stream_put_event(s, &ev);
		ev.u.access.addr += step;
	}
}

static void put_sampled(struct stream *s)
{
	struct stream_access a = { .ev = event(HVAR_EVENT_ACCESS), .source = number("source", 0) };
	uint64_t times = number("times", 1);
	char text[512];
	int n = snprintf(text, sizeof(text), "%s%c%s", get("symbol") ? get("symbol") : "", 0, get("file") ? get("file") : "");

	a.ev.u.access.addr = number("addr", 0);
	a.ev.u.access.weight = number("weight", 1) * 65536;
	a.ev.u.access.flags = *need("rw") == 'w' ? HVAR_ACCESS_WRITE : HVAR_ACCESS_READ;
	a.latency = (uint32_t)number("latency", 0);
	a.flags = (get("no-address") ? STREAM_ACCESS_NO_ADDRESS : 0u) | (get("no-map") ? STREAM_ACCESS_NO_MAP : 0u);
	while (times--)
		stream_put(s, STREAM_ACCESS, &a, sizeof(a), text, (size_t)n + 1);
}

static void put_samples(struct stream *s, bool fault)
{
	static const char *const regs[STREAM_REGS] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10",
		"r11", "r12", "r13", "r14", "r15", "rip", "rflags",
	};
	struct stream_sample sample = { .ev = event(HVAR_EVENT_SAMPLE) };
	uint64_t times = number("times", 1), addr = number("addr", 0);
	unsigned i;

	sample.ev.u.sample.ip = number_of(need("ip"));
	sample.ev.u.sample.period_ns = number("period", 1000000);
	if (get("noregs"))
		sample.ev.u.sample.flags |= HVAR_SAMPLE_NOREGS;
	for (i = 0; i < STREAM_REGS; i++)
		sample.regs[i] = number(regs[i], 0);
	sample.regs[STREAM_RIP] = sample.ev.u.sample.ip;
	if (fault)
		sample.ev.u.sample.period_ns = 0;
	for (; fault && times; times--)
		stream_put(s, STREAM_FAULT, &sample, sizeof(sample), &addr, sizeof(addr));
	for (; times; times--) {
		stream_put(s, STREAM_SAMPLE, &sample, sizeof(sample), NULL, 0);
		sample.ev.time_ns += sample.ev.u.sample.period_ns;
		now = sample.ev.time_ns;
	}
}

static void put_module(struct stream *s)
{
	static const char *const names[] = { "elf", "pseudo", "unread", "stale", "deleted" };
	struct stream_module m = { .id = (uint32_t)number_of(need("id")) };
	char *path = unescaped(need("path"));
	const char *flags = get("flags"), *id = get("build-id");
	unsigned i;

	m.path_len = (uint32_t)strlen(path);
	m.m.dev_minor = 1;
	m.m.ino = number("ino", m.id);
	m.m.size = number("size", 0x10000);
	m.m.mtime_ns = number("mtime", 1);
	for (i = 0; flags && i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(flags, names[i]))
			m.m.flags |= 1u << i;
	if (id)
		m.m.build_id_len = (uint8_t)hex(id, m.m.build_id, sizeof(m.m.build_id));
	stream_put(s, STREAM_MODULE, &m, sizeof(m), path, m.path_len);
	free(path);
}

static void put_code(struct stream *s)
{
	struct stream_code c = { .module = (uint32_t)number("module", 0) };
	static uint8_t bytes[4096];
	size_t n = hex(need("bytes"), bytes, sizeof(bytes));

	c.mm = (uint32_t)number("mm", 0);
	c.where = number_of(need("where"));
	stream_put(s, STREAM_CODE, &c, sizeof(c), bytes, n);
}

static void put_comm(struct stream *s)
{
	struct stream_comm c = { .time_ns = now, .pid = (uint32_t)number_of(need("pid")) };

	c.tid = (uint32_t)number("tid", c.pid);
	snprintf(c.comm, sizeof(c.comm), "%s", need("name"));
	stream_put(s, STREAM_COMM, &c, sizeof(c), NULL, 0);
}

static void put_loss(struct stream *s)
{
	static const char *const names[STREAM_LOST_WHATS] = { NULL, "samples", "maps", "tasks",
							      "memory", "code", "throttled" };
	struct stream_loss l = { .time_ns = now, .what = word_of("what", names, STREAM_LOST_WHATS) };

	l.count = number_of(need("count"));
	l.since_ms = (uint32_t)number("since-ms", 0);
	stream_put(s, STREAM_LOSS, &l, sizeof(l), NULL, 0);
}

static void put_end(struct stream *s)
{
	struct stream_end end = { .time_ns = now };

	end.elapsed_ns = number_of(need("elapsed"));
	end.own_cpu_ns = number("cpu", 0);
	end.samples = number("samples", 0);
	end.wait_status = (int32_t)number("status", 0);
	stream_put(s, STREAM_END, &end, sizeof(end), NULL, 0);
}

/* ---- images ---- */

static uint32_t elf_id;

static void end_elf(void)
{
	unsigned i;

	for (i = 0; i < elf.n_sections; i++)
		free((char *)elf.sections[i].name);
	for (i = 0; i < elf.n_syms; i++) {
		free((char *)elf.syms[i].name);
		free((char *)elf.syms[i].file);
	}
	memset(&elf, 0, sizeof(elf));
}

static void begin_elf(void)
{
	const char *id = get("build-id");

	end_elf();
	elf_id = (uint32_t)number_of(need("id"));
	if (id)
		elf.build_id_len = (unsigned)hex(id, elf.build_id, sizeof(elf.build_id));
}

static void add_seg(void)
{
	struct tiny_seg *seg = &elf.segs[elf.n_segs++];
	uint8_t p = prot();

	seg->offset = number_of(need("offset"));
	seg->vaddr = number_of(need("vaddr"));
	seg->filesz = number_of(need("filesz"));
	seg->memsz = number("memsz", seg->filesz);
	seg->flags = (p & HVAR_PROT_READ ? PF_R : 0u) | (p & HVAR_PROT_WRITE ? PF_W : 0u) |
		     (p & HVAR_PROT_EXEC ? PF_X : 0u);
}

static void add_section(void)
{
	struct tiny_section *sec = &elf.sections[elf.n_sections++];
	uint8_t p = prot();

	sec->name = unescaped(need("name"));
	sec->vaddr = number_of(need("vaddr"));
	sec->offset = number("offset", sec->vaddr);
	sec->size = number_of(need("size"));
	sec->type = get("nobits") ? SHT_NOBITS : SHT_PROGBITS;
	sec->flags = (p & HVAR_PROT_WRITE ? SHF_WRITE : 0u) | (p & HVAR_PROT_EXEC ? SHF_EXECINSTR : 0u);
}

static void add_sym(void)
{
	static const char *const types[] = { "notype", "object", "func" };
	static const char *const binds[] = { "local", "global", "weak" };
	struct tiny_sym *sym = &elf.syms[elf.n_syms++];
	const char *section = need("section"), *from = get("file");
	unsigned i;

	sym->name = unescaped(need("name"));
	sym->file = from ? strdup(from) : NULL;
	sym->vaddr = number_of(need("vaddr"));
	sym->size = number("size", 0);
	sym->type = get("type") ? (int)word_of("type", types, 3) : STT_OBJECT;
	sym->bind = get("bind") ? (int)word_of("bind", binds, 3) : STB_GLOBAL;
	for (i = 0; i < elf.n_sections && strcmp(elf.sections[i].name, section); i++)
		;
	if (i == elf.n_sections)
		die("no section '%s' above", section);
	sym->section = i;
}

static void put_image(struct stream *s)
{
	struct stream_image im = { .module = elf_id };
	size_t size, image_size;
	void *bytes = tiny_elf_build(&elf, &size), *image;
	struct err e;

	if (!bytes || image_build_mem(bytes, size, "described", &image, &image_size, &e))
		die("cannot build the image: %s", bytes ? e.text : "no memory");
	stream_put(s, STREAM_IMAGE, &im, sizeof(im), image, image_size);
	free(image);
	free(bytes);
	end_elf();
}

/* ---- objects of the heap ---- */

static char heap_body[1 << 16];
static size_t heap_len;

static void add_to_heap(const void *p, size_t n)
{
	if (n > sizeof(heap_body) - heap_len)
		die("too much of a heap");
	memcpy(heap_body + heap_len, p, n);
	heap_len += n;
}

/* Call @fn for each part of word @key between commas; how many. */
static uint32_t each_part(const char *key, void (*fn)(char *part))
{
	char *text = strdup(get(key) ? get(key) : ""), *part, *rest;
	uint32_t n = 0;

	for (part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest), n++)
		fn(part);
	free(text);
	return n;
}

static void add_offset(char *part)
{
	struct stream_heap_offset o = { .span = 1 };
	char *reads = strchr(part, ':'), *writes = reads ? strchr(reads + 1, ':') : NULL, *dash;

	if (!writes)
		die("'%s' is no OFFSET:READS:WRITES", part);
	*reads++ = *writes++ = '\0';
	dash = strchr(part, '-');
	if (dash)
		*dash++ = '\0';
	o.offset = number_of(part);
	if (dash)
		o.span = number_of(dash) - o.offset;
	o.reads = number_of(reads);
	o.writes = number_of(writes);
	add_to_heap(&o, sizeof(o));
}

static void add_tid(char *part)
{
	uint32_t tid = (uint32_t)number_of(part);

	add_to_heap(&tid, sizeof(tid));
}

static void add_frame(char *part)
{
	char *text = unescaped(part), *p;
	size_t len = strlen(text) + 1;

	for (p = text; *p; p++)
		if (*p == '@')
			*p = '\0';
	add_to_heap(text, len);
	free(text);
}

static void put_heap(struct stream *s)
{
	struct hvar_event ev = event(HVAR_EVENT_ACCESS);
	struct stream_heap h = { .time_ns = ev.time_ns, .mm = ev.mm, .pid = ev.pid,
				 .first_ns = ev.time_ns, .last_ns = ev.time_ns };
	size_t before;

	h.reads = number("reads", 0);
	h.writes = number("writes", 0);
	h.objects = number("objects", 0);
	h.bytes = number("bytes", 0);
	h.objects_live = number("live", 0);
	h.bytes_live = number("live-bytes", 0);
	h.never_read = number("never-read", 0);
	h.never_written = number("never-written", 0);
	h.flags = (uint32_t)number("mapped", 0);
	if (get("sizes"))
		range("sizes", &h.size_least, &h.size_most);
	heap_len = 0;
	h.n_offsets = each_part("offsets", add_offset);
	h.n_tids = each_part("tids", add_tid);
	before = heap_len;
	each_part("frames", add_frame);
	h.text_len = (uint32_t)(heap_len - before);
	if (stream_put(s, STREAM_HEAP, &h, sizeof(h), heap_body, heap_len))
		die("the format does not allow this");
}

#include "testsuite/golden/mkrec_line.h"
#include "testsuite/golden/mkrec_prefetch.h"

static void put_watched(struct stream *s)
{
	struct hvar_event ev = event(HVAR_EVENT_ACCESS);
	struct stream_watched w = { .time_ns = ev.time_ns, .mm = ev.mm, .pid = ev.pid, .tid = ev.tid,
				    .watch = (uint32_t)number("watch", 0), .start = number_of(need("start")),
				    .size = (uint32_t)number("size", 8), .lost = number("lost", 0) };
	struct stream_watched_at at = { .ip = number("ip", 0), .word = number("word", 0), .count = number("count", 1),
					.flags = (uint32_t)number("flags", 0) };

	if (stream_put(s, STREAM_WATCHED, &w, sizeof(w), &at, at.ip ? sizeof(at) : 0))
		die("the format does not allow this");
}

static void put_caller(struct stream *s)
{
	struct stream_caller c = { .caller = (uint32_t)number("n", 0) };
	char text[512];
	int n = snprintf(text, sizeof(text), "%s%c%s%c%s", need("function"), 0, need("file"), 0, need("line")) + 1;

	if (stream_put(s, STREAM_CALLER, &c, sizeof(c), text, (size_t)n))
		die("the format does not allow this");
}

/* ---- lines ---- */

static void do_line(struct stream *s)
{
	const char *what = words[0];
	uint32_t type;

	for (type = 1; type < HVAR_EVENT_TYPES; type++)
		if (!strcmp(what, hvar_event_name(type)))
			break;
	if (type == HVAR_EVENT_ACCESS)
		put_accesses(s);
	else if (type == HVAR_EVENT_SAMPLE)
		put_samples(s, false);
	else if (!strcmp(what, "fault"))
		put_samples(s, true);
	else if (!strcmp(what, "watched"))
		put_watched(s);
	else if (type >= HVAR_EVENT_EXEC && type <= HVAR_EVENT_EXIT)
		put_task(s, type);
	else if (type < HVAR_EVENT_EXEC)
		put_map(s, type);
	else if (!strcmp(what, "sampled"))
		put_sampled(s);
	else if (!strcmp(what, "module"))
		put_module(s);
	else if (!strcmp(what, "comm"))
		put_comm(s);
	else if (!strcmp(what, "code"))
		put_code(s);
	else if (!strcmp(what, "loss"))
		put_loss(s);
	else if (!strcmp(what, "heap"))
		put_heap(s);
	else if (!strcmp(what, "prefetch"))
		put_prefetch(s);
	else if (!strcmp(what, "caller"))
		put_caller(s);
	else if (!strcmp(what, "line"))
		put_cache_line(s);
	else if (!strcmp(what, "end"))
		put_end(s);
	else if (!strcmp(what, "elf"))
		begin_elf();
	else if (!strcmp(what, "seg"))
		add_seg();
	else if (!strcmp(what, "section"))
		add_section();
	else if (!strcmp(what, "sym"))
		add_sym();
	else if (!strcmp(what, "end-elf"))
		put_image(s);
	else
		die("no record is called '%s'", what);
}

int main(int argc, char **argv)
{
	char line[16384], *word, *rest;
	struct stream *s;
	struct err e;
	FILE *f;

	if (argc != 3) {
		fprintf(stderr, "usage: mkrec DESCRIPTION RECORDING\n");
		return 2;
	}
	file = argv[1];
	f = fopen(file, "r");
	if (!f)
		die("cannot open it");
	s = stream_to_file(argv[2], &e);
	if (!s)
		die("%s", e.text);
	while (fgets(line, sizeof(line), f)) {
		line_no++;
		line[strcspn(line, "#\n")] = '\0';
		word = line + strspn(line, " \t");
		if (!strncmp(word, "meta ", 5)) {
			stream_put(s, STREAM_META, word + 5, strlen(word + 5), NULL, 0);
			continue;
		}
		n_words = 0;
		for (word = strtok_r(word, " \t", &rest); word && n_words < MAX_WORDS;
		     word = strtok_r(NULL, " \t", &rest))
			words[n_words++] = word;
		if (n_words)
			do_line(s);
	}
	fclose(f);
	if (stream_close(s, &e))
		die("%s", e.text);
	return 0;
}
