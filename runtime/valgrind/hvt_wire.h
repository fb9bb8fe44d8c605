/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_wire.h - what the Valgrind tool tells hotvar, message by message.
 *
 * Each traced process has a connection of its own to a SOCK_SEQPACKET socket of
 * hotvar's; one message is one packet, its strings end with it.  Both ends are of one
 * build (HVT_VERSION).  The process's counters themselves lie in a memfd that comes
 * with its HVT_HELLO: hotvar reads what is left of them when the process is gone,
 * however it went.
 *
 * Counters: for each 8 bytes of the program's memory and each of the 8 places in
 * them where an access can begin, one struct hvt_pair.  That of address A lies at
 *
 *	slot * HVT_SLOT_SIZE + A + (A % 8) * HVT_PLANE_SIZE
 *
 * so accesses at multiples of 8 are in plane 0, close to each other, those of
 * 4-byte variables in planes 0 and 4; a plane that is never touched has no memory.
 * All of a program's memory lies below HVT_PLANE_SIZE, where Valgrind puts it.  Threads have a slot each, the
 * last slot is shared by those that came when no other was left.
 */
#ifndef HVT_WIRE_H
#define HVT_WIRE_H

#include <stdint.h>

#define HVT_VERSION	3

#define HVT_PLANE_SHIFT 37
#define HVT_PLANE_SIZE	((uint64_t)1 << HVT_PLANE_SHIFT)
#define HVT_PLANES	8
#define HVT_SLOT_SIZE	(HVT_PLANE_SIZE * HVT_PLANES)
#define HVT_SLOTS	64
#define HVT_SHARED_SLOT (HVT_SLOTS - 1)

/*
 * Behind the last slot lies one 32-bit number: odd while the tool takes counts out, and another one after each time.
 * So a reader of a process that runs knows whether what it read is whole.
 */
#define HVT_TAKING	(HVT_SLOT_SIZE * HVT_SLOTS)

struct hvt_pair {
	uint32_t reads, writes;
};

/*
 * The heap, if Valgrind's malloc stands in for the program's.  Behind the counters there are:
 *
 *	objects	for each 32 bytes of memory, where no two begin, a struct hvt_object, set if an object begins there
 *	marks	for each 8 bytes a byte for reads and one for writes: not 0 if something was accessed there that no
 *		counter of these 8 bytes tells of (any more)
 *	sites	where objects are allocated, by number (0 is none): struct hvt_site, of the objects that are gone
 *	offsets	the sites' accesses by offset in the object, struct hvt_offset
 *
 * What was counted in an object is taken out when it goes; so what the counters hold is of the objects that are there.
 */
#define HVT_MARKS_READ	(HVT_TAKING + ((uint64_t)1 << 20))
#define HVT_MARKS_WRITE (HVT_MARKS_READ + HVT_PLANE_SIZE / 8)
#define HVT_OBJECTS	(HVT_MARKS_WRITE + HVT_PLANE_SIZE / 8)
#define HVT_SITES	(HVT_OBJECTS + HVT_PLANE_SIZE / HVT_OBJECT_GRAIN * sizeof(struct hvt_object))
#define HVT_SITES_MAX	65536
#define HVT_OFFSETS	(HVT_SITES + HVT_SITES_MAX * sizeof(struct hvt_site))
#define HVT_OFFSETS_MAX ((uint32_t)1 << 22) /* of all sites */
#define HVT_CALLS	(HVT_OFFSETS + HVT_OFFSETS_MAX * sizeof(struct hvt_offset))
#define HVT_OBJECTS_END (HVT_CALLS_ARENA + HVT_CALLS_ARENA_SIZE)

/* With --prefetches: struct hvt_prefetch, by the number of the instruction. */
#define HVT_PREFETCHES	   (HVT_TAKING + ((uint64_t)1 << 39))
#define HVT_PREFETCHES_MAX 65536
struct hvt_prefetch {
	uint64_t executed;
	uint64_t unmapped, unused, used, redundant, unjudged; /* of those; what is in none waits still */
	uint64_t zero[2];
};

/* Stacks, far behind all that: hvt_frame_wire.h. */
#define HVT_STACKS	(HVT_TAKING + ((uint64_t)1 << 40))
#define HVT_STACK_SIZE	((uint64_t)1 << 26)
/* Cache lines, behind them: hvt_line_wire.h. */
#define HVT_LINES	(HVT_STACKS + ((uint64_t)1 << 34))
#define HVT_LINES_MAX	((uint64_t)1 << 40)
#define HVT_SHADOW_SIZE (HVT_LINES + HVT_LINES_MAX)

/*
 * With --callers, there are at HVT_CALLS a struct hvt_calls_head; at HVT_CALLS_SITES what instructions that access one
 * fixed address have counted, by the site's number; at HVT_CALLS_ARENA one leaf after the other of what others have.
 */
#define HVT_CALLS_SITES	     (HVT_CALLS + 4096)
#define HVT_CALLS_SITES_MAX  ((uint32_t)1 << 20)
#define HVT_CALLS_ARENA	     (HVT_CALLS_SITES + HVT_CALLS_SITES_MAX * sizeof(struct hvt_calls_site))
#define HVT_CALLS_ARENA_SIZE ((uint64_t)1 << 27)
struct hvt_calls_head {
	uint64_t used; /* bytes of the arena */
	uint32_t n_sites, zero;
};

struct hvt_calls_site {
	uint64_t fixed, count; /* fixed 0: accesses any address */
};

struct hvt_calls_leaf {
	uint64_t page; /* address / 4096 */
	uint32_t site;
	uint32_t shift;
	uint32_t counts[]; /* 4096 >> shift, one for each 1 << shift bytes */
};

/* Site `site` has accessed `addr` so often. */
struct hvt_call {
	uint64_t addr, count;
	uint32_t site, zero;
};
#define HVT_CALLS_MAX 1024 /* in one message */

/* One of HVT_OBJECT_BIG bytes or more has the number of its bytes in the next two: upper and lower half, `site` 0. */
#define HVT_OBJECT_GRAIN 32 /* objects begin at multiples of half of it */
#define HVT_OBJECT_BIG 0xffffffffu
#define HVT_OBJECT_OLD 0x80000000u
#define HVT_OBJECT_ODD 0x40000000u
struct hvt_object {
	uint32_t site; /* 0: no object begins here; with HVT_OBJECT_OLD: it is from before the fork that made the process; _ODD: it begins in the upper half */
	uint32_t size;
};

/* Offsets below HVT_OFFSETS_EXACT have one each; then [2^n, 2^(n+1)) have one together. */
#define HVT_OFFSETS_EXACT 1024
#define HVT_OFFSETS_SITE  (HVT_OFFSETS_EXACT + 64)
struct hvt_offset {
	uint64_t reads, writes;
};

struct hvt_site {
	uint64_t objects, bytes;       /* made by this process */
	uint64_t gone_objects, gone_bytes; /* of them */
	uint64_t reads, writes;	       /* of what was taken out, as are the rest */
	uint64_t never_read, never_written; /* bytes of those objects that surely nothing touched */
	uint64_t slots;		       /* whose threads did it: a bit each */
	uint32_t offsets, n_offsets;   /* the first one's number, how many */
	uint64_t size_least, size_most;
	uint64_t first_ns, last_ns;    /* when (CLOCK_MONOTONIC) counts were taken out */
	uint64_t zero[2];
};

/* One counter taken out: of the address that lies `offset` above a message's start. */
struct hvt_count {
	uint32_t offset, reads, writes;
};

enum hvt_type {
	HVT_HELLO = 1, /* a process begins: after an exec, or (ppid set) after a fork; hotvar answers with one byte */
	HVT_MAP,       /* [start, end) is mapped now, over whatever was there; text: its file's name */
	HVT_UNMAP,
	HVT_PROTECT,
	HVT_COPY,      /* mremap: [start, end) is now what was at old_start, which an HVT_UNMAP follows */
	HVT_THREAD,    /* the thread of number `tid` begins, with counters in `slot` */
	HVT_THREAD_END,
	HVT_COUNTS,    /* counts that were taken out of `slot`: struct hvt_count ... */
	HVT_SITE,      /* site number `start`: five strings for each frame: function, file, line, module, link-time address (hex) */
	HVT_SITES_OF,  /* the thread of `slot`, which is gone, accessed objects of these sites: uint32_t ... */
	HVT_TOUCHED,   /* [start, end) has been, as `flags` (enum hvt_touched) say */
	HVT_NAME,      /* [start, end) has a name of the program's now: the text; "": it has none any more */
	HVT_PHASE,     /* the process's phase, the text, begins; "": none */
	HVT_COUNTING,  /* what is counted from here on is to be: flags 1; or not: 0 */
	HVT_CALLER,    /* site `slot` is the instruction at `start`, which reads (flags 0) or writes (1) `prot` bytes: function, file, line */
	HVT_CALLED,    /* what sites have counted: struct hvt_call ... */
	HVT_UNCOUNTED, /* something is not counted as it should be: flags say why (enum hvt_uncounted), the text of what */
	HVT_STACK_COUNTS, /* the same of accesses to the stack: struct hvt_stack_count ... (hvt_frame_wire.h) */
	HVT_LINE,      /* the memory of the cache line with number `start` is gone: its account is whole (hvt_line_wire.h) */
	HVT_PREFETCH,  /* site `slot` is the prefetch, or (flags 1) the load or store of what is not there, at `start`: function, file, line; slot 0: all that there was no room for */
	HVT_PREFETCH_SEEN, /* site `slot` has asked for what is no good: flags say why (enum hvt_prefetch_bad), struct hvt_prefetch_sight */
	HVT_TYPES
};

enum hvt_prefetch_bad {
	HVT_PREFETCH_UNMAPPED = 1, /* there is nothing that could be read */
	HVT_PREFETCH_UNUSED,	   /* not accessed until many other lines were, or it was gone */
	HVT_PREFETCH_BADS
};

/* One bad prefetch; and the last one of the same site that was good, 0: none, with the object of the heap that it, or else the bad one, lies in. */
struct hvt_prefetch_sight {
	uint64_t addr, base;
	uint64_t object, object_size, object_site; /* site 0: no object */
};

enum hvt_uncounted {
	HVT_SET_ID = 1,	  /* the file could not be executed: set-user-ID, or with capabilities */
	HVT_OTHER_CLASS,  /* the file is a 32-bit program, and runs as without us; this may be a connection's first message */
	HVT_LIMIT_LIFTED, /* RLIMIT_AS was set by the program, and lifted */
	HVT_LIMIT_STAYS,  /* and could not be */
	HVT_OWN_EXE,	  /* it executes /proc/self/exe, which is Valgrind's file */
	HVT_UNCOUNTED_WHATS
};

/* What happened to pages: the first four since they were mapped. */
enum hvt_touched {
	HVT_READ = 1,
	HVT_WRITTEN = 2,
	HVT_EXECUTED = 4,
	HVT_BY_KERNEL = 8,   /* with HVT_READ or HVT_WRITTEN: by a system call */
	HVT_PRESENT = 16,    /* they are there without having been touched: MAP_POPULATE, mlock() */
	HVT_GIVEN_BACK = 32, /* MADV_DONTNEED: as if they were mapped only now */
};

enum hvt_flags {
	HVT_INITIAL = 1, /* HVT_MAP: it was there when the program began */
	HVT_SHARED = 2,	 /* HVT_MAP: MAP_SHARED */
	HVT_SYSV = 4,	 /* HVT_MAP: by shmat() */
	HVT_BREAK = 8,	 /* HVT_MAP: the program break's */
	HVT_STACK = 16,	 /* HVT_MAP: the first thread's stack, as large as it may grow */
	HVT_ANON = 32,	 /* HVT_MAP: no file */
};

struct hvt_message {
	uint32_t type;	   /* enum hvt_type */
	uint32_t version;  /* HVT_VERSION */
	uint32_t pid, tid; /* as the kernel has them */
	uint32_t ppid;	   /* HVT_HELLO */
	uint32_t slot;
	uint32_t flags;	   /* enum hvt_flags */
	uint32_t prot;	   /* enum hvar_prot, without HVAR_PROT_SHARED */
	uint32_t cause;	   /* enum hvar_cause */
	uint32_t zero;
	uint64_t start, end, old_start;
	uint64_t dev, ino, pgoff; /* HVT_MAP; dev as stat(2) has it */
	/* text or struct hvt_count follow */
};

#define HVT_COUNTS_MAX 2048 /* in one message */
#define HVT_TEXT_MAX  4096
#define HVT_FRAMES_MAX 24    /* of a site; inlined functions have one, too */
#define HVT_STACK_MAX 16384  /* bytes of a site's text */

#endif /* HVT_WIRE_H */
