/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_record.h - what the kernel writes into perf rings, read in time order.
 *
 * The format is that of perf_event_open(2) for a fixed sample_type, with
 * sample_id_all: PERF_RECORD_SAMPLE_TYPE, or that of another form.  A ring's bytes come from the
 * kernel, but a record that breaks the format is counted and left out, and never
 * read past.
 */
#ifndef PERF_RECORD_H
#define PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

#define PERF_RECORD_SAMPLE_TYPE                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |           \
	 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |             \
	 PERF_SAMPLE_REGS_USER)

/* The general registers, ip and flags, as attr.sample_regs_user wants them. */
#define PERF_RECORD_REGS 0xff03ffull

/* What the samples of a ring are. */
enum perf_form {
	PERF_FORM_TIMER, /* PERF_RECORD_SAMPLE_TYPE, and what else has that form */
	PERF_FORM_FAULT, /* the same with PERF_SAMPLE_ADDR */
	PERF_FORM_ACCESS, /* no registers, but the address, latency and source that a PMU tells */
	PERF_FORM_COUNT, /* as of a timer, with the event's count */
	PERF_FORM_WATCH, /* RSI and RDI alone, and the word that the stack pointer points to */
};

#define PERF_RECORD_FAULT_TYPE (PERF_RECORD_SAMPLE_TYPE | PERF_SAMPLE_ADDR)
#define PERF_RECORD_COUNT_TYPE (PERF_RECORD_SAMPLE_TYPE | PERF_SAMPLE_READ) /* and attr.read_format is 0 */
#define PERF_RECORD_WATCH_TYPE (PERF_RECORD_SAMPLE_TYPE | PERF_SAMPLE_STACK_USER)
#define PERF_RECORD_WATCH_REGS 0x30ull
/* PERF_SAMPLE_WEIGHT_STRUCT may stand in place of PERF_SAMPLE_WEIGHT: the latency is in the lower half then, which it hardly leaves else. */
#define PERF_RECORD_ACCESS_TYPE                                                \
	((PERF_RECORD_SAMPLE_TYPE & ~(uint64_t)PERF_SAMPLE_REGS_USER) |        \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)
#define PERF_RECORD_WATCH_STACK 8 /* attr.sample_stack_user */

enum perf_record_what {
	PERF_IS_SAMPLE = 1,
	PERF_IS_ACCESS,	  /* an access of data that a PMU has sampled */
	PERF_IS_MAP,	  /* a mapping that is there now */
	PERF_IS_FORK,	  /* pid, tid are the new task's */
	PERF_IS_EXIT,
	PERF_IS_COMM,
	PERF_IS_LOST,	  /* records for which the ring had no room */
	PERF_IS_THROTTLE, /* the kernel found the timer too fast */
	PERF_IS_CALL,	  /* a system call has returned: perf_calls.h */
	PERF_IS_LOCK,	  /* one is about to change a map: bpf_calls.h */
	PERF_IS_PLACE,	  /* what it moves will come here */
};

struct perf_record {
	enum perf_record_what what;
	uint32_t cpu;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t id;	  /* of the event that was opened, also for what inherited it */
	int32_t pid, tid; /* in our pid namespace; 0 or -1: outside of it */
	union {
		struct {
			uint64_t ip, period_ns;
			uint32_t flags; /* enum hvar_sample_flags */
			uint64_t regs[STREAM_REGS];
			uint64_t word; /* FAULT: its address; COUNT: the count; WATCH: the top of the stack, 0: could not be read; else 0 */
		} sample;
		struct {
			uint64_t ip, addr;
			uint64_t period; /* how many it stands for */
			uint64_t source; /* pmu_source.h */
			uint32_t latency; /* cycles, 0: not told */
			bool kernel;	 /* of the kernel's code */
		} access;
		struct {
			uint64_t nr;
			int64_t ret;	/* LOCK: nothing; PLACE: the address, or -errno */
			uint32_t flags; /* as of a sample */
			uint64_t regs[STREAM_REGS]; /* at its return, or while it runs: the arguments are where they were */
		} call;
		struct {
			uint64_t start, end, pgoff; /* bytes; pgoff means nothing without a file */
			uint32_t prot;		    /* enum hvar_prot */
			uint32_t dev_major, dev_minor;
			uint64_t ino;
			const char *name; /* good during the call only */
		} map;
		struct {
			int32_t ppid, ptid; /* FORK: who made it */
		} task;
		struct {
			const char *name; /* good during the call only */
			bool exec;	  /* a program was executed; else only renamed */
		} comm;
		struct {
			uint64_t count;	   /* 0: the ring was full, and some may be */
			uint64_t since_ns; /* the record before it in its ring, 0: there was none */
		} lost;
	} u;
};

/*
 * Read the record of @len bytes (its header's size) at @rec, 8-aligned.
 * Returns 1, 0 if it is of a kind that nobody here asked for, or -EBADMSG.
 */
int perf_record_read(const void *rec, size_t len, struct perf_record *out);
/* The same out of a ring of that form. */
int perf_record_read_form(const void *rec, size_t len, enum perf_form form, struct perf_record *out);

/* One ring: the kernel moves head, we move tail. */
struct perf_ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size;	     /* of data, a power of 2 */
	uint64_t head, tail; /* as last read, as last written */
	uint64_t time_ns;    /* of the record at tail, if ready */
	uint32_t len;	     /* its size */
	bool ready;
	uint64_t last_ns;    /* of the record that was read last, 0: none was */
	uint64_t full_at;    /* there was no room for more behind this, 0: there was */
	enum perf_form form; /* TIMER after perf_ring_init() */
};

/* The ring that is mapped at @base, @len bytes in all.  Returns 0 or -EINVAL. */
int perf_ring_init(struct perf_ring *r, void *base, size_t len);

struct perf_ring_counts {
	uint64_t samples;   /* delivered */
	uint64_t lost;	    /* records the kernel had no room for */
	uint64_t throttled; /* times the kernel stopped the timer for a while */
	uint64_t damaged;   /* records that broke the format */
};

typedef void (*perf_record_fn)(void *ctx, const struct perf_record *r);

/*
 * The kernel tells what a ring had no room for with the next record that has: that may come late, or never.  So one that is found
 * full is told as PERF_IS_LOST with a count of 0 as soon as it is read.
 *
 * Hand what the @n rings at @v hold up to @until_ns (~0: all of it), merged in
 * time order, to @fn; what is older than something handed over before still comes, late.
 * @bounce is room for one record, 65536 bytes, 8-aligned.
 */
void perf_ring_merge(struct perf_ring *v, size_t n, uint64_t until_ns,
		     void *bounce, struct perf_ring_counts *counts,
		     perf_record_fn fn, void *ctx);

/* The record that was written last, if it is a sample; it stays in the ring.  @bounce as above. */
bool perf_ring_newest(const struct perf_ring *r, void *bounce, struct perf_record *out);

/* A sample record as the stream has it; @mm is the address space's number. */
void perf_ring_sample(const struct perf_record *rec, uint32_t mm, struct stream_sample *out);

#endif /* PERF_RECORD_H */
