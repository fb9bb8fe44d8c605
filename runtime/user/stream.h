/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream.h - everything an engine learns, in time order, as records.
 *
 * One stream of bytes, whatever carries it: a recording on disk, or a queue in
 * memory to the thread that makes the report.  "hotvar -- CMD" is record and
 * report without the file.
 *
 * Every record is self-delimiting and carries a CRC, so a recording that was
 * cut off at any byte is readable up to the last whole record.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_module.h"

/*
 * 2: STREAM_IMAGE and STREAM_CODE may be packed.  3: STREAM_COUNTS.  4: STREAM_HEAP.  5: STREAM_WALK.  Recordings of
 * older versions are read, too.
 */
#define STREAM_VERSION 5

enum stream_type {
	STREAM_META = 1, /* "key=value", no NUL: version, argv, hz, source, maps, start (realtime ns), kernel ... */
	STREAM_MODULE,	 /* struct stream_module: before the first event that names it; again when a fact of it changed */
	STREAM_EVENT,	 /* struct hvar_event: map and task changes, exact accesses */
	STREAM_SAMPLE,	 /* struct stream_sample */
	STREAM_CODE,	 /* struct stream_code */
	STREAM_COMM,	 /* struct stream_comm */
	STREAM_LOSS,	 /* struct stream_loss */
	STREAM_IMAGE,	 /* struct stream_image: symbols, so that a recording can be read anywhere */
	STREAM_END,	 /* struct stream_end: the last record of a whole recording */
	STREAM_COUNTS,	 /* struct stream_counts: exact accesses by address, since the last record of the same */
	STREAM_TOUCHED,	 /* struct stream_touched: pages that a program has touched, for the first time since they were mapped */
	STREAM_HEAP,	 /* struct stream_heap: exact accesses of objects by where they were allocated, likewise */
	STREAM_NAME,	 /* struct stream_name: memory that the program gave a name, or took it from */
	STREAM_PHASE,	 /* struct stream_phase: what an address space does from here on */
	STREAM_CALLER,	 /* struct stream_caller: a line of code, before the first record that names it */
	STREAM_CALLS,	 /* struct stream_calls: which lines did how many of the accesses, with --callers */
	STREAM_HIT,	 /* struct stream_sample without a period: control came to a breakpoint of ours */
	STREAM_STACK,	 /* struct stream_stack: exact accesses to stacks, by the code and the frame */
	STREAM_ACCESS,	 /* struct stream_access: one access that was sampled, with its exact address */
	STREAM_FAULT,	 /* struct stream_fault: a page fault, at the first touch of a page */
	STREAM_WATCHED,	 /* struct stream_watched: what is watched, and exact accesses to it, since the last record of the same */
	STREAM_LINE,	 /* struct stream_line: which threads accessed a cache line, with --exact --by cacheline */
	STREAM_PREFETCH, /* struct stream_prefetch: what a prefetch instruction asked for, with --prefetches */
	STREAM_LINE_UNSEEN, /* struct stream_line_unseen: of the line that the record before is of */
	STREAM_WALK,	 /* struct stream_walk: which way a thread went on from a sample */
	STREAM_TYPES
};

/* Registers of a sample, by their number in an x86-64 instruction, then ip and flags. */
enum stream_reg {
	STREAM_RAX, STREAM_RCX, STREAM_RDX, STREAM_RBX,
	STREAM_RSP, STREAM_RBP, STREAM_RSI, STREAM_RDI,
	STREAM_R8, STREAM_R9, STREAM_R10, STREAM_R11,
	STREAM_R12, STREAM_R13, STREAM_R14, STREAM_R15,
	STREAM_RIP, STREAM_RFLAGS,
	STREAM_REGS
};

struct stream_sample {
	struct hvar_event ev; /* type HVAR_EVENT_SAMPLE */
	uint64_t regs[STREAM_REGS];
	uint64_t fs_base, gs_base; /* 0: not known */
};

/*
 * Which way a thread went from @s on, an instruction by its registers that stands for no time: @insns instructions were
 * done, a repeated string instruction being one.  Each conditional jump among them (jrcxz and loop, too) has a bit, in order, the
 * lowest of a byte first, set: taken.  Each jump and call through a register or memory, and each return, has a target.  Of loads
 * that overwrite the registers of their own address, which no sample behind them tells, some are told.
 */
enum { STREAM_WALK_INSNS_MAX = 1 << 16, STREAM_WALK_BITS_MAX = 8192, STREAM_WALK_TARGETS_MAX = 1024, STREAM_WALK_ENDS_MAX = 16, STREAM_WALK_LOADS_MAX = 128 };

struct stream_walk_load {
	uint64_t ip, addr; /* of the instruction, of what it loaded */
};

struct stream_walk {
	struct stream_sample s; /* of no period, with registers, of 64-bit code */
	uint32_t insns, n_bits, n_targets;
	uint16_t end;	    /* why it ended there: enum walk_end of walker.h */
	uint16_t n_loads;
	/* n_targets of them, struct stream_walk_load[n_loads], then uint8_t bits[(n_bits + 7) / 8], of which those past n_bits are 0 */
	uint64_t targets[];
};

static inline const struct stream_walk_load *stream_walk_loads(const struct stream_walk *w)
{
	return (const struct stream_walk_load *)(w->targets + w->n_targets);
}

static inline const uint8_t *stream_walk_bits(const struct stream_walk *w)
{
	return (const uint8_t *)(stream_walk_loads(w) + w->n_loads);
}

struct stream_module {
	uint32_t id;	   /* the number events use */
	uint32_t path_len; /* bytes of the path that follows, no NUL */
	struct hvar_module m; /* its path field is 0 here */
	char path[];
};

/*
 * A piece of code as the program had it: at file offset @where of @module, or,
 * if that is 0, at address @where of address space @mm.
 */
struct stream_code {
	uint32_t module, mm;
	uint64_t where;
	uint8_t bytes[];
};

struct stream_comm {
	uint64_t time_ns;
	uint32_t pid, tid;
	char comm[16]; /* NUL-padded */
};

enum stream_loss_what {
	STREAM_LOST_SAMPLES = 1, /* the kernel's ring was full */
	STREAM_LOST_MAPS,	 /* map or task changes not seen as they happened; looked again */
	STREAM_LOST_TASKS,	 /* a task came and went before it could be followed */
	STREAM_LOST_MEMORY,	 /* a table of ours was full */
	STREAM_LOST_CODE,	 /* code that could not be read */
	STREAM_LOST_THROTTLED,	 /* times the timer was slowed down: by the kernel, or since stops would cost too much */
	STREAM_LOST_LINES,	 /* lines of a text that were not understood */
	STREAM_LOST_WHATS
};

struct stream_loss {
	uint64_t time_ns;
	uint32_t what; /* enum stream_loss_what */
	uint32_t since_ms; /* what was lost had begun to be so long before: all is known again from time_ns on; 0: it was no gap in time */
	uint64_t count; /* since the last record of this kind */
};

struct stream_image {
	uint32_t module, zero;
	uint8_t bytes[]; /* a symbol image */
};

/*
 * How often the memory of address space @mm was read and written, as it is mapped at this place in
 * the stream: v[i] are the accesses that began at @start + v[i].offset.
 */
struct stream_counts {
	uint64_t time_ns;
	uint32_t mm, pid;
	uint32_t tid; /* 0: of several threads together */
	uint32_t zero;
	uint64_t start;
	struct stream_count {
		uint32_t offset, reads, writes;
	} v[];
};

/* Pages [@start, @end), all of them mapped at this place in the stream. */
enum stream_touched_what {
	STREAM_TOUCHED_READ = 1,
	STREAM_TOUCHED_WRITTEN = 2,
	STREAM_TOUCHED_EXECUTED = 4,
	STREAM_TOUCHED_BY_KERNEL = 8, /* read or written by a system call of the program's */
	STREAM_TOUCHED_PRESENT = 16,  /* there from the start, without being touched */
	STREAM_TOUCHED_BACK = 32,     /* given back, and mapped still */
	STREAM_TOUCHED_MOVED = 64,    /* what was touched at @from is here now, too */
};

struct stream_touched {
	uint64_t time_ns;
	uint32_t mm, pid;
	uint32_t what; /* enum stream_touched_what */
	uint32_t zero;
	uint64_t start, end, from;
};

enum stream_heap_flags {
	STREAM_HEAP_MAPPED = 1, /* its objects are mappings that the program has made */
};

/*
 * What was done with the objects of address space @mm that were allocated at one place.  The text has five strings for
 * each frame of the stack there, the innermost one first: function, file, line, module, address in
 * that (hex); what is not known is "" or 0.
 */
struct stream_heap {
	uint64_t time_ns;
	uint32_t mm, pid;
	uint64_t objects, bytes;	   /* allocated by this process */
	uint64_t objects_live, bytes_live; /* not freed */
	uint64_t reads, writes;
	uint64_t never_read, never_written; /* bytes that surely no access touched, by whole 8 bytes */
	uint64_t size_least, size_most;	    /* of an object */
	uint64_t first_ns, last_ns;	    /* when it is known of accesses, 0: of none */
	uint32_t n_offsets, n_tids;
	uint32_t text_len;
	uint32_t flags; /* enum stream_heap_flags */
	/* struct stream_heap_offset[n_offsets]; uint32_t tids[n_tids], distinct; char text[text_len] */
};

/* Accesses that began in [@offset, @offset + @span) of an object. */
struct stream_heap_offset {
	uint64_t offset, span, reads, writes;
};

#define STREAM_SAID_MAX 255 /* bytes of a name that a program gives */

struct stream_name {
	uint64_t time_ns;
	uint32_t mm, pid;
	uint64_t start, end; /* bytes */
	char name[];	     /* to the record's end, no NUL; "": no name any more */
};

struct stream_phase {
	uint64_t time_ns;
	uint32_t mm, pid;
	char name[]; /* likewise; "": no phase */
};

struct stream_caller {
	uint32_t caller, zero; /* its number */
	char text[];	       /* three strings: function, file, line (decimal); "" or 0: not known */
};

/* Of what is mapped in @mm at this place in the stream; what heap objects are accessed by is not told. */
struct stream_calls {
	uint64_t time_ns;
	uint32_t mm, pid;
	struct stream_call {
		uint64_t addr, count;
		uint32_t caller;
		uint16_t size, flags; /* bytes of each; HVAR_ACCESS_READ or HVAR_ACCESS_WRITE */
	} v[];
};

/*
 * How often stacks of address space @mm were read and written, by places in the code as it is mapped at this place in the
 * stream: v[i] are the accesses of one instruction of v[i].len bytes at v[i].ip to what is v[i].offset above a
 * register; or, with STREAM_STACK_OWNED, those through pointers to what is v[i].offset above the CFA of a
 * frame of the function that has v[i].ip.
 */
enum stream_stack_flags {
	STREAM_STACK_FP = 1,	 /* the register is the frame pointer, else the stack pointer, as the instruction finds it */
	STREAM_STACK_CALL = 2,	 /* a call puts the address to return to there */
	STREAM_STACK_RETURN = 4, /* a return takes it */
	STREAM_STACK_OWNED = 8,
	STREAM_STACK_CFA = 16,	 /* likewise from the CFA, but of the frame of the instruction itself */
	STREAM_STACK_FLAGS = 31,
};

struct stream_stack {
	uint64_t time_ns;
	uint32_t mm, pid;
	uint32_t tid; /* 0: of several threads together */
	uint32_t zero;
	struct stream_stack_count {
		uint64_t ip;
		int32_t offset;
		uint16_t size; /* of an access, 0: several */
		uint8_t flags; /* enum stream_stack_flags */
		uint8_t len;
		uint64_t reads, writes;
	} v[];
};

/*
 * One access that a PMU (or a page fault) has told of: ev is a HVAR_EVENT_ACCESS whose weight is how many accesses it stands for,
 * and whose flags are 0 where it is not told whether it reads or writes.  The text has two strings, what else than this map
 * says of the address: the variable and the file; "": nothing.
 *
 * Which cache lines are fought for: those of ev.u.access.addr, in address space ev.mm, where pmu_source_hitm(source); without
 * STREAM_ACCESS_NO_ADDRESS, and as many times as the weight says.
 */
enum stream_access_flags {
	STREAM_ACCESS_NO_ADDRESS = 1, /* the processor could not tell it */
	STREAM_ACCESS_NO_MAP = 2,     /* what is mapped in its process is not known */
	STREAM_ACCESS_FLAGS = 3,
};

struct stream_access {
	struct hvar_event ev;
	uint64_t source;  /* where it found its data (pmu_source.h), 0: not told */
	uint32_t latency; /* processor cycles, 0: not told */
	uint32_t flags;	  /* enum stream_access_flags */
	char text[];
};

/* @at: what a sample of the instruction that faulted would be, of no period; its ip is in the kernel if a system call did it. */
struct stream_fault {
	struct stream_sample at;
	uint64_t addr;
};

/*
 * [@start, @start + @size) of address space @mm is watched, as what meta "watch.N" names, N being @watch.  v[i].count
 * accesses to any byte of it were done by thread @tid, each before it came to v[i].ip; then v[i].word was at the top of its
 * stack, if that is an address of code, else 0.  @lost were counted by the processor, and no more is known of them.
 */
struct stream_watched {
	uint64_t time_ns;
	uint32_t mm, pid, tid;
	uint32_t watch;
	uint64_t start;
	uint32_t size, zero;
	uint64_t lost;
	struct stream_watched_at {
		uint64_t ip, word, count;
		uint32_t flags, zero; /* enum stream_watched_flags */
	} v[];
};

enum stream_watched_flags {
	STREAM_WATCHED_SI = 1, /* RSI then pointed to it, or to what is next to it */
	STREAM_WATCHED_DI = 2, /* RDI did */
	STREAM_WATCHED_32 = 4, /* it is 32-bit code */
	STREAM_WATCHED_FLAGS = 7,
};

#define STREAM_WATCHES_MAX 4

/*
 * Which threads of address space @mm have accessed the line of the processor's caches at @addr, as it is mapped at this place in
 * the stream, since the last record of the same.  A line is 64 bytes, as in every x86-64 processor.  With most threads,
 * or sites, there are several records, each but the last one full of them, of which the first alone has handovers, returns, most_true and most_false: as hvt_line_wire.h has them.
 */
enum { STREAM_LINE_SIZE = 64, STREAM_LINE_WORDS = 16, STREAM_LINE_PARTS_MAX = 64, STREAM_LINE_SITES_MAX = 4096 };

struct stream_line {
	uint64_t time_ns;
	uint32_t mm, pid;
	uint64_t addr;
	uint64_t handovers, returns, most_true, most_false;
	uint32_t n_parts, n_sites;
	/* struct stream_line_part[n_parts]; struct stream_line_site[n_sites]; the parts' heap_len bytes, as in struct stream_heap */
};

/*
 * How often the line that the last STREAM_LINE is of, which has the same @mm and @addr, can go from one thread to another, with bytes in common
 * and without, if all run at the same time that can: whoever came first, and whether or not it was seen to go.
 */
struct stream_line_unseen {
	uint32_t mm, zero;
	uint64_t addr;
	uint64_t most_true, most_false;
};

struct stream_line_part {
	uint32_t tid, zero;
	uint64_t read, written; /* bytes, a bit each */
	uint64_t reads[STREAM_LINE_WORDS], writes[STREAM_LINE_WORDS]; /* accesses that began in each 4 bytes */
	uint64_t object, object_size; /* of the heap, that it accessed there; size 0: none, or several */
	uint32_t heap_len, mapped;    /* of the text that says where that was allocated; 1: it is a mapping */
};

struct stream_line_site {
	uint32_t part, caller;
	uint32_t flags; /* HVAR_ACCESS_READ or HVAR_ACCESS_WRITE */
	uint32_t words; /* where its accesses began, a bit for each 4 bytes */
	uint64_t count; /* since the line is shared */
};

/*
 * What the prefetch instruction at @ip of address space @mm has asked for: how often, in the end; or, as soon as it is known and
 * not for each time, something that was no good.  The text has three strings, the function, the file and the line of @ip; then those of struct
 * stream_heap for where the object was allocated.
 */
enum stream_prefetch_what {
	STREAM_PREFETCH_COUNTS,
	STREAM_PREFETCH_UNMAPPED, /* nothing that could be read was at @addr */
	STREAM_PREFETCH_UNUSED,	  /* @addr was not accessed before many other lines were, or its memory was gone */
	STREAM_PREFETCH_WHATS
};

enum stream_prefetch_flags {
	STREAM_PREFETCH_MAPPED = 1, /* the object is a mapping */
	STREAM_PREFETCH_ACCESS = 2, /* no prefetch: a load or store, told of only where nothing was */
};

struct stream_prefetch {
	uint64_t time_ns;
	uint32_t mm, pid;
	uint64_t ip;
	uint32_t what;	/* enum stream_prefetch_what */
	uint32_t flags; /* enum stream_prefetch_flags */
	/* counts; what is in none of the latter was neither used nor known to be unused in the end */
	uint64_t executed, unmapped, unused, used, redundant, unjudged;
	/* else: and the last address of the same instruction that was good, 0: none; the object that lies there, size 0: none */
	uint64_t addr, base, object, object_size;
	uint32_t code_len, heap_len;
	char text[];
};

struct stream_end {
	uint64_t time_ns;
	uint64_t elapsed_ns;	/* from the first instruction, or attach, to the end */
	uint64_t own_cpu_ns;	/* time the engine itself used */
	uint64_t samples;	/* taken */
	int32_t wait_status;	/* CMD's, as wait(2) has it; -1: it runs on, or was attached */
	uint32_t zero;
};

/* ---- writing ---- */

struct stream;

/*
 * A recording in the file @path, made anew ("-": stdout).  Nothing is written
 * over a file that is no recording unless it is empty.  Returns NULL and @e.
 */
struct stream *stream_to_file(const char *path, struct err *e);

/*
 * A queue in memory: another thread reads it with stream_reader_of_queue().  The
 * queue grows as it must and never blocks its writer.
 */
struct stream *stream_to_queue(struct err *e);

struct stream_record;
/* Each record is given to @fn as it is put, and is gone afterwards. */
struct stream *stream_to_call(void (*fn)(void *ctx, const struct stream_record *r), void *ctx, struct err *e);

/*
 * Append one record of @type: the @na bytes at @a, then the @nb at @b.  Returns
 * 0, or -errno once the disk is full or the pipe closed: the first failure is
 * kept for stream_close(), later records are counted and dropped.
 */
int stream_put(struct stream *s, enum stream_type type, const void *a, size_t na,
	       const void *b, size_t nb);
int stream_put_event(struct stream *s, const struct hvar_event *ev);
/* Those many targets and bits as @w says. */
int stream_put_walk(struct stream *s, const struct stream_walk *w, const uint64_t *targets, const struct stream_walk_load *loads, const uint8_t *bits);
int stream_put_meta(struct stream *s, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Hand what is buffered to the disk or the reader.  An engine calls it at each tick. */
int stream_flush(struct stream *s);

/* Flush, close and free.  Returns 0, or the first failure with @e. */
int stream_close(struct stream *s, struct err *e);
/*
 * The same when there was nothing worth keeping: if nothing was flushed yet, a
 * file stays as it was (an older recording in it too).
 */
int stream_drop(struct stream *s, struct err *e);

/* ---- reading ---- */

struct stream_reader;

/* Returns NULL and @e: no such file, no recording, another version or byte order. */
struct stream_reader *stream_reader_of_file(const char *path, struct err *e);
/* What is open at @fd, called @name: the @n bytes at @head have been read of it already.  @fd is the reader's then. */
struct stream_reader *stream_reader_of_fd(int fd, const char *name, const void *head, size_t n, struct err *e);
/* From bytes in memory, borrowed: for tests and the fuzzer. */
struct stream_reader *stream_reader_of_bytes(const void *p, size_t n, struct err *e);
/* The reading end of a queue; read by one thread; stream_close() ends it. */
struct stream_reader *stream_reader_of_queue(struct stream *s);

struct stream_record {
	enum stream_type type;
	size_t len;	  /* of the payload */
	const void *data; /* 8-aligned, good until the next call */
};

/*
 * The next record.  Only well-formed ones are returned: known types, lengths that fit
 * the type, events that hvar_event_valid() accepts; unknown types are skipped.
 *
 * Returns 1; 0 at the end; -EPIPE where a recording was cut off or damaged:
 * nothing after it is read, stream_reader_why() says it in a sentence.  A queue waits for its writer.
 */
int stream_next(struct stream_reader *r, struct stream_record *out);
const char *stream_reader_why(const struct stream_reader *r);
/* Must the next call read on, or wait for a queue's writer?  A moment to flush what was made of the records. */
bool stream_drained(const struct stream_reader *r);
void stream_reader_free(struct stream_reader *r);

#endif /* STREAM_H */
