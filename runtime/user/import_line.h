/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_line.h - one line of what "perf script" prints, and what it says.
 *
 * perf prints the fields that it was asked for in an order of its own and without their names, so a line is understood by what
 * stands beside its numbers:
 *
 *	           redis 700/701 [001]  12.000123:  1000 cpu/mem-loads,ldlat=30/P:  7f3a11223344  229100142 |OP LOAD|LVL ...
 *	comm (16 columns) pid/tid  cpu  seconds:  period  event:                    addr          data_src, then in words
 *	    ... |LCK No|BLK  N/A     37     5     555500001234 main+0x10 (/usr/bin/app)     12345010
 *	                             weight ins_lat  ip      sym          dso               phys_addr
 *
 * An address is one only if data_src stands behind it, or an instruction with its symbol; with call chains,
 * whose frames are on lines of their own, that may be the next line.  Events that are no access, and lines without an address, are told as such.
 */
#ifndef IMPORT_LINE_H
#define IMPORT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum import_what {
	IMPORT_NOTHING, /* a blank line, a comment, a record that says nothing of addresses */
	IMPORT_FRAME,	/* of a call chain: belongs to the sample above */
	IMPORT_SAMPLE,
	IMPORT_MAP,
	IMPORT_COMM,
	IMPORT_FORK,
	IMPORT_EXIT,
	IMPORT_LOST,
	IMPORT_BAD, /* bad_column, bad_why */
};

/* A piece of the line, not ended by a NUL. */
struct import_text {
	const char *p;
	size_t len;
};

enum import_addr {
	IMPORT_ADDR_NONE,  /* the line has none */
	IMPORT_ADDR_YES,
	IMPORT_ADDR_MAYBE, /* if the next line is a frame */
	IMPORT_ADDR_UNSURE, /* two numbers, and nothing that says which is what */
};

struct import_line {
	enum import_what what;
	struct import_text comm; /* "": not told */
	bool has_pid;		 /* pid and tid, else only one of them, which is in both */
	int32_t pid, tid;
	bool timed;
	uint64_t time_ns;
	size_t bad_column; /* from 1 */
	const char *bad_why;
	union {
		struct {
			struct import_text event;
			uint64_t period; /* 0: not told */
			enum import_addr has_addr;
			size_t addr_column; /* where one should be, from 1 */
			uint64_t addr, ip;  /* ip 0: not told */
			uint64_t source;    /* data_src, 0: not told */
			uint32_t latency;
			struct import_text symbol, file; /* of the address; "": not told */
		} sample;
		struct {
			int32_t pid, tid;
			uint64_t start, end, pgoff;
			bool has_ino; /* device and inode */
			uint32_t dev_major, dev_minor;
			uint64_t ino;
			uint8_t build_id[20], build_id_len;
			char prot[5]; /* "rw-p", or "r", "x" of older records */
			struct import_text path;
		} map;
		struct {
			int32_t pid, tid;
			bool exec;
			struct import_text name;
		} comm;
		struct {
			int32_t pid, tid, ppid, ptid;
		} task;
		uint64_t lost;
	} u;
};

/* The line of @len bytes at @line, without its newline; @out's pieces point into it. */
void import_line(const char *line, size_t len, struct import_line *out);

#endif /* IMPORT_LINE_H */
