// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf_calls.h"
#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_vmas.h"

/*
 * What sample_id_all puts at the end of every record but a sample's:
 *
 *	u32 pid, tid; u64 time; u32 cpu, res; u64 id;
 *
 * and where a sample's time is: header, id, ip, pid+tid, time.  In the place of a register ABI (0 to 2)
 * a sample of raw_syscalls:sys_exit has the size of its data, RAW_SIZE: the ABI is behind that.  The data of bpf_calls.h
 * is as long, with a small number for the common fields, which are never so small: the task's number is in their upper half.
 */
enum {
	ROOM = 8192, /* more than any record takes that is usual here */
	TRAILER = 32,
	TRAILER_TIME = 8,
	TRAILER_CPU = 16,
	TRAILER_ID = 24,
	SAMPLE_TIME = 32,
	SAMPLE_FIXED = 64, /* up to and with the ABI of the registers */
	SAMPLE_ABI = 56,
	RAW_SIZE = 28,	   /* common fields 8, id 8, ret 8, filled up to a multiple of 8 with the size itself */
	RAW_ID = 8,	   /* in that data */
	RAW_RET = 16,
	ACCESS_SIZE = 80,
	FAULT_ADDR = 40, /* and what follows is 8 further on */
};

/* In the order of the bits of PERF_RECORD_REGS: the kernel's numbers are not the instructions'. */
static const uint8_t reg_order[STREAM_REGS] = {
	STREAM_RAX, STREAM_RBX, STREAM_RCX, STREAM_RDX, STREAM_RSI, STREAM_RDI,
	STREAM_RBP, STREAM_RSP, STREAM_RIP, STREAM_RFLAGS,
	STREAM_R8, STREAM_R9, STREAM_R10, STREAM_R11,
	STREAM_R12, STREAM_R13, STREAM_R14, STREAM_R15,
};

static uint32_t u32_at(const uint8_t *p, size_t off)
{
	uint32_t v;

	memcpy(&v, p + off, sizeof(v));
	return v;
}

static uint64_t u64_at(const uint8_t *p, size_t off)
{
	uint64_t v;

	memcpy(&v, p + off, sizeof(v));
	return v;
}

/* The registers behind their ABI at @p + @at; flags by it.  0 or -EBADMSG. */
static int read_regs(const uint8_t *p, size_t len, size_t at, uint32_t *flags,
		     uint64_t regs[STREAM_REGS])
{
	uint64_t abi;

	if (len < at + 8)
		return -EBADMSG;
	abi = u64_at(p, at);
	*flags = abi == PERF_SAMPLE_REGS_ABI_NONE ? HVAR_SAMPLE_NOREGS :
		 abi == PERF_SAMPLE_REGS_ABI_32	  ? HVAR_SAMPLE_ABI32 : 0;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return 0;
	if (len < at + 8 + 8 * STREAM_REGS)
		return -EBADMSG;
	for (size_t i = 0; i < STREAM_REGS; i++)
		regs[reg_order[i]] = u64_at(p, at + 8 + 8 * i);
	return 0;
}

/* What all samples begin with: header | id | ip | pid tid | time; the ip is read by those who have a place for it. */
static void read_who(const uint8_t *p, struct perf_record *out)
{
	out->id = u64_at(p, 8);
	out->pid = (int32_t)u32_at(p, 24);
	out->tid = (int32_t)u32_at(p, 28);
	out->time_ns = u64_at(p, SAMPLE_TIME);
}

/* The data of a call at @p + @at, and the registers behind it. */
static int read_call(const uint8_t *p, size_t len, size_t at, struct perf_record *out)
{
	const uint8_t *raw = p + at + 4;
	int err = read_regs(p, len, at + 4 + RAW_SIZE, &out->u.call.flags, out->u.call.regs);

	if (err)
		return err;
	out->what = u64_at(raw, 0) == BPF_CALLS_LOCK  ? PERF_IS_LOCK :
		    u64_at(raw, 0) == BPF_CALLS_PLACE ? PERF_IS_PLACE : PERF_IS_CALL;
	out->u.call.nr = u64_at(raw, RAW_ID);
	out->u.call.ret = (int64_t)u64_at(raw, RAW_RET);
	return 1;
}

/* header | id | ip | pid tid | time | cpu res | period | size data (of a call) | abi | regs if abi */
static int read_sample(const uint8_t *p, size_t len, struct perf_record *out)
{
	int err;

	if (len < SAMPLE_FIXED)
		return -EBADMSG;
	read_who(p, out);
	out->cpu = u32_at(p, 40);
	if (u32_at(p, SAMPLE_ABI) == RAW_SIZE)
		return read_call(p, len, SAMPLE_ABI, out);
	out->what = PERF_IS_SAMPLE;
	out->u.sample.ip = u64_at(p, 16);
	out->u.sample.period_ns = u64_at(p, 48);
	err = read_regs(p, len, SAMPLE_ABI, &out->u.sample.flags, out->u.sample.regs);
	return err ? err : 1;
}

/* What samples with a word of their own have in common; where the processor is differs. */
static int read_common(const uint8_t *p, size_t len, size_t cpu_at,
		       struct perf_record *out)
{
	if (len < SAMPLE_FIXED + 8)
		return -EBADMSG;
	out->what = PERF_IS_SAMPLE;
	read_who(p, out);
	out->cpu = u32_at(p, cpu_at);
	out->u.sample.ip = u64_at(p, 16);
	return 0;
}

/* header | id | ip | pid tid | time | addr | cpu res | period | size data (of a call) | abi | regs if abi */
static int read_fault(const uint8_t *p, size_t len, struct perf_record *out)
{
	int err = read_common(p, len, 48, out);

	if (err)
		return err;
	if (u32_at(p, SAMPLE_ABI + 8) == RAW_SIZE)
		return read_call(p, len, SAMPLE_ABI + 8, out);
	out->u.sample.word = u64_at(p, FAULT_ADDR);
	err = read_regs(p, len, SAMPLE_ABI + 8, &out->u.sample.flags, out->u.sample.regs);
	return err ? err : 1;
}

/* header | id | ip | pid tid | time | cpu res | period | count | abi | regs if abi */
static int read_count(const uint8_t *p, size_t len, struct perf_record *out)
{
	int err = read_common(p, len, 40, out);

	if (err)
		return err;
	out->u.sample.period_ns = u64_at(p, 48);
	out->u.sample.word = u64_at(p, SAMPLE_ABI);
	err = read_regs(p, len, SAMPLE_ABI + 8, &out->u.sample.flags, out->u.sample.regs);
	return err ? err : 1;
}

/* header | id | ip | pid tid | time | addr | cpu res | period | weight | data source */
static int read_access(const uint8_t *p, size_t len, uint32_t misc, struct perf_record *out)
{
	if (len != ACCESS_SIZE)
		return -EBADMSG;
	out->what = PERF_IS_ACCESS;
	read_who(p, out);
	out->cpu = u32_at(p, 48);
	out->u.access.ip = u64_at(p, 16);
	out->u.access.addr = u64_at(p, FAULT_ADDR);
	out->u.access.period = u64_at(p, 56);
	out->u.access.latency = u32_at(p, 64);
	out->u.access.source = u64_at(p, 72);
	out->u.access.kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	return 1;
}

/* header | id | ip | pid tid | time | cpu res | period | abi | rsi rdi if abi | size | data, size bytes | how many of them, if size */
static int read_watch(const uint8_t *p, size_t len, struct perf_record *out)
{
	size_t at = SAMPLE_ABI + 8;
	uint64_t abi, size;
	int err = read_common(p, len, 40, out);

	if (err)
		return err;
	abi = u64_at(p, SAMPLE_ABI);
	out->u.sample.flags = abi == PERF_SAMPLE_REGS_ABI_NONE ? HVAR_SAMPLE_NOREGS :
			      abi == PERF_SAMPLE_REGS_ABI_32   ? HVAR_SAMPLE_ABI32 : 0;
	if (abi) {
		if (len < at + 24)
			return -EBADMSG;
		out->u.sample.regs[STREAM_RSI] = u64_at(p, at);
		out->u.sample.regs[STREAM_RDI] = u64_at(p, at + 8);
		at += 16;
	}
	size = u64_at(p, at);
	if (!size)
		return 1;
	if (size != PERF_RECORD_WATCH_STACK || len < at + 8 + PERF_RECORD_WATCH_STACK + 8)
		return -EBADMSG;
	if (u64_at(p, at + 8 + PERF_RECORD_WATCH_STACK) == PERF_RECORD_WATCH_STACK)
		out->u.sample.word = u64_at(p, at + 8);
	return 1;
}

/* A string inside the record that ends with a NUL before @end; NULL if it does not. */
static const char *string_in(const uint8_t *p, size_t off, size_t end)
{
	return off < end && memchr(p + off, 0, end - off) ?
		       (const char *)p + off : NULL;
}

/* header | pid tid | addr | len | pgoff | maj min | ino | gen | prot flags | name */
static int read_mmap2(const uint8_t *p, size_t end, uint32_t misc,
		      struct perf_record *out)
{
	uint64_t start, size;
	uint32_t prot, flags;

	if (end < 72)
		return -EBADMSG;
	start = u64_at(p, 16);
	size = u64_at(p, 24);
	if (!size || start + size <= start)
		return -EBADMSG;
	out->what = PERF_IS_MAP;
	out->pid = (int32_t)u32_at(p, 8);
	out->tid = (int32_t)u32_at(p, 12);
	out->u.map.start = start;
	out->u.map.end = start + size;
	out->u.map.pgoff = u64_at(p, 32);
	if (!(misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		out->u.map.dev_major = u32_at(p, 40);
		out->u.map.dev_minor = u32_at(p, 44);
		out->u.map.ino = u64_at(p, 48);
	}
	prot = u32_at(p, 64);
	flags = u32_at(p, 68);
	out->u.map.prot = (prot & PROT_READ ? HVAR_PROT_READ : 0) |
			  (prot & PROT_WRITE ? HVAR_PROT_WRITE : 0) |
			  (prot & PROT_EXEC ? HVAR_PROT_EXEC : 0) |
			  (flags & MAP_SHARED ? HVAR_PROT_SHARED : 0);
	out->u.map.name = string_in(p, 72, end);
	return out->u.map.name ? 1 : -EBADMSG;
}

/* header | pid ppid | tid ptid | time */
static int read_task(const uint8_t *p, size_t end, enum perf_record_what what,
		     struct perf_record *out)
{
	if (end < 32)
		return -EBADMSG;
	out->what = what;
	out->pid = (int32_t)u32_at(p, 8);
	out->u.task.ppid = (int32_t)u32_at(p, 12);
	out->tid = (int32_t)u32_at(p, 16);
	out->u.task.ptid = (int32_t)u32_at(p, 20);
	return 1;
}

/* header | pid tid | name */
static int read_comm(const uint8_t *p, size_t end, uint32_t misc,
		     struct perf_record *out)
{
	if (end < 16)
		return -EBADMSG;
	out->what = PERF_IS_COMM;
	out->pid = (int32_t)u32_at(p, 8);
	out->tid = (int32_t)u32_at(p, 12);
	out->u.comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	out->u.comm.name = string_in(p, 16, end);
	return out->u.comm.name ? 1 : -EBADMSG;
}

/* LOST: header | id | count.  LOST_SAMPLES: header | count */
static int read_lost(const uint8_t *p, size_t end, size_t off,
		     struct perf_record *out)
{
	if (end < off + 8)
		return -EBADMSG;
	out->what = PERF_IS_LOST;
	out->u.lost.count = u64_at(p, off);
	return 1;
}

int perf_record_read(const void *rec, size_t len, struct perf_record *out)
{
	return perf_record_read_form(rec, len, PERF_FORM_TIMER, out);
}

int perf_record_read_form(const void *rec, size_t len, enum perf_form form, struct perf_record *out)
{
	const uint8_t *p = rec;
	struct perf_event_header h;
	size_t end;

	memset(out, 0, sizeof(*out));
	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, p, sizeof(h));
	if (h.type == PERF_RECORD_SAMPLE)
		return form == PERF_FORM_ACCESS ? read_access(p, len, h.misc, out) :
		       form == PERF_FORM_FAULT ? read_fault(p, len, out) :
		       form == PERF_FORM_COUNT ? read_count(p, len, out) :
		       form == PERF_FORM_WATCH ? read_watch(p, len, out) : read_sample(p, len, out);
	if (len < sizeof(h) + TRAILER)
		return -EBADMSG;
	end = len - TRAILER;
	out->pid = (int32_t)u32_at(p, end);
	out->tid = (int32_t)u32_at(p, end + 4);
	out->time_ns = u64_at(p, end + TRAILER_TIME);
	out->cpu = u32_at(p, end + TRAILER_CPU);
	out->id = u64_at(p, end + TRAILER_ID);
	switch (h.type) {
	case PERF_RECORD_MMAP2:
		return read_mmap2(p, end, h.misc, out);
	case PERF_RECORD_FORK:
		return read_task(p, end, PERF_IS_FORK, out);
	case PERF_RECORD_EXIT:
		return read_task(p, end, PERF_IS_EXIT, out);
	case PERF_RECORD_COMM:
		return read_comm(p, end, h.misc, out);
	case PERF_RECORD_LOST:
		return read_lost(p, end, 16, out);
	case PERF_RECORD_LOST_SAMPLES:
		return read_lost(p, end, 8, out);
	case PERF_RECORD_THROTTLE:
		out->what = PERF_IS_THROTTLE;
		return 1;
	default:
		return 0;
	}
}

int perf_ring_init(struct perf_ring *r, void *base, size_t len)
{
	struct perf_event_mmap_page *page = base;
	uint64_t off, size;

	memset(r, 0, sizeof(*r));
	if (len < sizeof(*page))
		return -EINVAL;
	off = page->data_offset;
	size = page->data_size;
	if (!size || size & (size - 1) || size < 4096 || off > len ||
	    size > len - off || off & 7)
		return -EINVAL;
	r->page = page;
	r->data = (const uint8_t *)base + off;
	r->size = size;
	r->tail = __atomic_load_n(&page->data_tail, __ATOMIC_RELAXED);
	r->head = r->tail;
	return 0;
}

/* Records and rings are multiples of 8, so eight bytes never wrap. */
static uint64_t ring_u64(const struct perf_ring *r, uint64_t at)
{
	return u64_at(r->data, at & (r->size - 1));
}

/* Room up to the tail is the kernel's again; what was read before stays read before. */
static void ring_release(struct perf_ring *r)
{
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

/*
 * Look at the record at the tail: its size and time.  A damaged ring is emptied,
 * since where its next record begins cannot be known.
 */
static void ring_peek(struct perf_ring *r, struct perf_ring_counts *counts)
{
	uint64_t have = r->head - r->tail, word;
	uint32_t type, len;

	r->ready = false;
	if (!have)
		return;
	if (have < sizeof(struct perf_event_header) || have > r->size ||
	    r->tail & 7)
		goto damaged;
	word = ring_u64(r, r->tail); /* u32 type; u16 misc, size */
	type = (uint32_t)word;
	len = (uint32_t)(word >> 48);
	if (len < 8 || len & 7 || len > have)
		goto damaged;
	r->len = len;
	if (type == PERF_RECORD_SAMPLE && len >= SAMPLE_FIXED)
		r->time_ns = ring_u64(r, r->tail + SAMPLE_TIME);
	else if (type != PERF_RECORD_SAMPLE && len >= 8 + TRAILER)
		r->time_ns = ring_u64(r, r->tail + len - TRAILER + TRAILER_TIME);
	else
		r->time_ns = 0; /* comes now, and is found damaged */
	r->ready = true;
	return;
damaged:
	counts->damaged++;
	r->tail = r->head;
	ring_release(r);
}

/* The record at the tail in one piece: in place, or put together in @bounce. */
static const void *ring_record(const struct perf_ring *r, void *bounce)
{
	uint64_t at = r->tail & (r->size - 1), first = r->size - at;

	if (first >= r->len)
		return r->data + at;
	memcpy(bounce, r->data + at, first);
	memcpy((uint8_t *)bounce + first, r->data, r->len - first);
	return bounce;
}

static void ring_take(struct perf_ring *r, void *bounce,
		      struct perf_ring_counts *counts, perf_record_fn fn, void *ctx)
{
	struct perf_record rec;
	int got = perf_record_read_form(ring_record(r, bounce), r->len, r->form, &rec);

	if (got < 0)
		counts->damaged++;
	if (got > 0) {
		counts->samples += rec.what == PERF_IS_SAMPLE || rec.what == PERF_IS_ACCESS;
		counts->throttled += rec.what == PERF_IS_THROTTLE;
		if (rec.what == PERF_IS_LOST) {
			counts->lost += rec.u.lost.count;
			rec.u.lost.since_ns = r->last_ns;
		}
		fn(ctx, &rec);
	}
	r->last_ns = r->time_ns;
	r->tail += r->len;
	ring_release(r);
	if (r->full_at && r->tail == r->full_at) {
		rec = (struct perf_record){ .what = PERF_IS_LOST, .time_ns = r->last_ns, .u.lost.since_ns = r->last_ns };
		r->full_at = 0;
		fn(ctx, &rec);
	}
	ring_peek(r, counts);
}

void perf_ring_merge(struct perf_ring *v, size_t n, uint64_t until_ns,
		     void *bounce, struct perf_ring_counts *counts,
		     perf_record_fn fn, void *ctx)
{
	for (size_t i = 0; i < n; i++) {
		v[i].head = __atomic_load_n(&v[i].page->data_head,
					    __ATOMIC_ACQUIRE);
		if (v[i].size - (v[i].head - v[i].tail) < (v[i].size / 8 < ROOM ? v[i].size / 8 : ROOM))
			v[i].full_at = v[i].head;
		ring_peek(&v[i], counts);
	}
	for (;;) {
		struct perf_ring *first = NULL;
		uint64_t next_ns = until_ns; /* when another ring's turn comes */

		for (size_t i = 0; i < n; i++) {
			if (!v[i].ready || v[i].time_ns > until_ns)
				continue;
			if (!first) {
				first = &v[i];
			} else if (v[i].time_ns < first->time_ns) {
				next_ns = first->time_ns;
				first = &v[i];
			} else if (v[i].time_ns < next_ns) {
				next_ns = v[i].time_ns;
			}
		}
		if (!first)
			return;
		do {
			ring_take(first, bounce, counts, fn, ctx);
		} while (first->ready && first->time_ns <= next_ns);
	}
}

bool perf_ring_newest(const struct perf_ring *ring, void *bounce, struct perf_record *out)
{
	struct perf_ring r = *ring;

	r.len = 0;

	r.head = __atomic_load_n(&r.page->data_head, __ATOMIC_ACQUIRE);
	if (r.head - r.tail > r.size || r.tail & 7)
		return false;
	for (uint64_t at = r.tail; at < r.head; at += r.len) {
		r.tail = at;
		r.len = (uint32_t)(ring_u64(&r, at) >> 48); /* as in ring_peek() */
		if (r.len < sizeof(struct perf_event_header) || r.len & 7 || r.len > r.head - at)
			return false;
	}
	return r.len && perf_record_read_form(ring_record(&r, bounce), r.len, r.form, out) > 0 && out->what == PERF_IS_SAMPLE;
}

void perf_ring_sample(const struct perf_record *rec, uint32_t mm,
		      struct stream_sample *out)
{
	memset(out, 0, sizeof(*out));
	out->ev.time_ns = rec->time_ns;
	out->ev.type = HVAR_EVENT_SAMPLE;
	out->ev.mm = mm;
	out->ev.pid = (uint32_t)rec->pid;
	out->ev.tid = (uint32_t)rec->tid;
	out->ev.u.sample.ip = rec->u.sample.ip;
	out->ev.u.sample.period_ns = rec->u.sample.period_ns;
	out->ev.u.sample.flags = rec->u.sample.flags;
	out->ev.u.sample.cpu = rec->cpu;
	memcpy(out->regs, rec->u.sample.regs, sizeof(out->regs));
}
