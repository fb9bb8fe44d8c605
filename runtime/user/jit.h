/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit.h - the names that a just-in-time compiler gives its code: /tmp/perf-PID.map and jitdump.
 *
 * Both are files that the process appends to.  The map is a line of text each, "START SIZE NAME" with
 * hexadecimal numbers; PID is its own number, and /tmp its own folder, in its own namespaces.  A dump
 * (tools/perf/Documentation/jitdump-specification.txt) is mapped by the process that writes it.
 *
 * What is written later stands for what is there now.  Code that was overwritten in part names
 * nothing more.  Whatever the files hold, an answer is a whole entry of theirs or none; they are
 * believed only if they are regular files of the process's owner or of root.
 */
#ifndef JIT_H
#define JIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jit;

struct jit_code {
	uint64_t start, end;
	const char *name; /* good until the next jit_look() */
	bool dumped;	  /* a jitdump has it, else a perf map */
};

struct jit *jit_new(pid_t pid); /* NULL: no memory */
void jit_free(struct jit *j);

/* Read what has been added to the map.  Losses are counted. */
void jit_look_map(struct jit *j);

/* The same for the dump that is mapped from @path, as the process sees it, of that device and inode. */
void jit_look_dump(struct jit *j, const char *path, uint32_t major, uint32_t minor, uint64_t ino);

/* Is @path a dump's name, by its last part: jit-PID.dump? */
bool jit_is_dump(const char *path);

/* The code at @addr into @out.  False if none is known there. */
bool jit_find(const struct jit *j, uint64_t addr, struct jit_code *out);

/* Entries that could not be read (damaged lines or records) or kept (too many, no memory). */
uint64_t jit_lost(const struct jit *j);

#endif /* JIT_H */
