/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_event.h - one fixed-width record: what a host learned, map or access.
 *
 * The same in the kernel, in a recording and in tests: little-endian as the
 * machine is, no pointers, no padding, unused fields zero.  Everything
 * downstream of a host reads only these.
 */
#ifndef HVAR_EVENT_H
#define HVAR_EVENT_H

#include "hvar_env.h"

enum hvar_event_type {
	HVAR_EVENT_NONE,
	/* the memory map: hvar_event.map */
	HVAR_EVENT_INITIAL, /* an area that was there when tracking began, or after an exec */
	HVAR_EVENT_MAP,
	HVAR_EVENT_UNMAP,
	HVAR_EVENT_PROTECT,
	HVAR_EVENT_MOVE,    /* old_start, old_end: where it was */
	HVAR_EVENT_GROW,    /* old_start, old_end: what it was */
	HVAR_EVENT_SHRINK,
	/* tasks: hvar_event.task */
	HVAR_EVENT_EXEC,    /* mm is the new, empty address space */
	HVAR_EVENT_FORK,    /* child and child_mm; child_mm == mm: shared */
	HVAR_EVENT_EXIT,    /* of the thread tid */
	/* what a program did: hvar_event.access, hvar_event.sample */
	HVAR_EVENT_ACCESS,  /* one exact address */
	HVAR_EVENT_SAMPLE,  /* a timer found this thread at ip */
	HVAR_EVENT_TYPES
};

/* Why the map changed: the system call, or what was no system call. */
enum hvar_cause {
	HVAR_CAUSE_NONE, /* noticed at a look, call not known */
	HVAR_CAUSE_MMAP,
	HVAR_CAUSE_MUNMAP,
	HVAR_CAUSE_MREMAP,
	HVAR_CAUSE_BRK,
	HVAR_CAUSE_MPROTECT,
	HVAR_CAUSE_PKEY_MPROTECT,
	HVAR_CAUSE_SHMAT,
	HVAR_CAUSE_SHMDT,
	HVAR_CAUSE_REMAP_FILE_PAGES,
	HVAR_CAUSE_EXECVE,
	HVAR_CAUSE_EXECVEAT,
	HVAR_CAUSE_FORK,
	HVAR_CAUSE_VFORK,
	HVAR_CAUSE_CLONE,
	HVAR_CAUSE_CLONE3,
	HVAR_CAUSE_EXIT,
	HVAR_CAUSE_MADVISE,
	HVAR_CAUSE_PRCTL,
	HVAR_CAUSE_FAULT, /* stack growth */
	HVAR_CAUSES
};

enum hvar_access_flags {
	HVAR_ACCESS_READ = 1,
	HVAR_ACCESS_WRITE = 2,
	HVAR_ACCESS_EXEC = 4,
};

enum hvar_sample_flags {
	HVAR_SAMPLE_ABI32 = 1, /* ip and registers are those of a 32-bit task */
	HVAR_SAMPLE_NOREGS = 2, /* the kernel had no user registers to give */
};

struct hvar_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t type;	  /* enum hvar_event_type */
	uint32_t mm;	  /* number of the address space, from 1, never used twice */
	uint32_t pid;
	uint32_t tid;
	uint32_t cause;	  /* enum hvar_cause */
	uint32_t module;  /* of the area; 0: none */
	union {
		struct {
			uint64_t start, end;	     /* bytes, half-open */
			uint64_t pgoff;		     /* of start, in bytes */
			uint64_t old_start, old_end; /* MOVE GROW SHRINK, else 0 */
			uint8_t prot;		     /* enum hvar_prot */
			uint8_t region;		     /* enum hvar_region */
			uint16_t flags;		     /* enum hvar_vma_flags */
			uint32_t zero;
		} map;
		struct {
			uint64_t start_time; /* of the child (FORK) or of pid: ticks, /proc/PID/stat 22; 0: not known */
			uint32_t child;	     /* FORK: tid of the new task */
			uint32_t child_pid;  /* FORK: its pid (tgid): pid for a thread */
			uint32_t child_mm;
			uint32_t status;     /* EXIT: as wait(2) has it, if known */
			uint64_t zero[3];
		} task;
		struct {
			uint64_t addr;
			uint64_t ip;	 /* of the instruction, 0: not known */
			uint64_t weight; /* accesses this one stands for, in 1/65536 */
			uint32_t size;	 /* bytes, 0: not known */
			uint32_t flags;	 /* enum hvar_access_flags */
			uint64_t zero[2];
		} access;
		struct {
			uint64_t ip;	    /* the instruction about to run */
			uint64_t period_ns; /* time this sample stands for */
			uint32_t flags;	    /* enum hvar_sample_flags */
			uint32_t cpu;
			uint64_t zero[3];
		} sample;
	} u;
};

/* The word for @type, @cause as the JSON has it ("map", "mmap"); "" if none. */
HVAR_API const char *hvar_event_name(uint32_t type);
HVAR_API const char *hvar_cause_name(uint32_t cause);

/* Is @type a change of the memory map (hvar_event.map), or of what runs in it (hvar_event.task)? */
HVAR_API bool hvar_event_is_map(uint32_t type);
HVAR_API bool hvar_event_is_task(uint32_t type);

/* True if no field of @e, which may come from a damaged file, breaks a rule above. */
HVAR_API bool hvar_event_valid(const struct hvar_event *e);

#endif /* HVAR_EVENT_H */
