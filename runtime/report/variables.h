/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * variables.h - the hot table with memory that grows, and what each entry of it is.
 *
 * Every address has an entry: the symbol that covers it, else the part of a
 * module's section that no symbol covers, else the kind of region.  Entries are
 * never removed or renumbered.
 */
#ifndef VARIABLES_H
#define VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap_sites.h"
#include "images.h"
#include "runtime/core/hvar_hot.h"
#include "runtime/core/hvar_vmas.h"

struct said;
struct frame_name;
struct frames;
struct tls_blocks;
struct tls_seen;
struct variables;

/*
 * @images is borrowed.  @per_process: memory of two address spaces is two entries.  @by_member: so are
 * two members of a variable, those of all elements of an array together.
 */
struct variables *variables_new(struct images *images, bool per_process, bool by_member);
void variables_free(struct variables *v);

/*
 * The entry for the memory at @addr of the address space whose areas @vmas are
 * (NULL: not known) at the moment of @ev.  HVAR_HOT_NONE without memory for it.
 */
uint32_t variables_at(struct variables *v, const struct hvar_vmas *vmas,
		      const struct hvar_event *ev, uint64_t addr);

/* The same; all addresses from @addr up to *@until have that entry. */
uint32_t variables_range(struct variables *v, const struct hvar_vmas *vmas, const struct hvar_event *ev, uint64_t addr,
			 uint64_t *until);

/*
 * The same for an access that surely happened: VARIABLES_UNMAPPED where there is no
 * memory, for then @addr is wrong, and the stack where @addr is in one variable, or one area
 * of memory without a file, with @stack, a stack or frame pointer (0: none).
 */
#define VARIABLES_UNMAPPED ((uint32_t)-2)
uint32_t variables_touched(struct variables *v, const struct hvar_vmas *vmas,
			   const struct hvar_event *ev, uint64_t addr, uint64_t stack);

/* A map has changed: what variables_touched() has found so far may be elsewhere now. */
void variables_map_changed(struct variables *v);

/*
 * The entry for thread-local memory, that of all threads together: the variable that code of module @module reaches at
 * distance @offset from the thread pointer; @fixed: that is a number in the code.  With @module 0 all thread-local memory
 * that nobody knows more of.  @vmas: the areas of the process, if that may live still; NULL: it does not.
 */
uint32_t variables_tls(struct variables *v, const struct hvar_vmas *vmas, const struct hvar_event *ev, uint32_t module,
		       bool fixed, uint64_t offset);

/*
 * The entry for the objects of row @number (heap_sites.h).  variables_thread(): @tid has accessed what entry @i is.
 */
uint32_t variables_heap(struct variables *v, const struct hvar_event *ev, uint32_t number);
void variables_thread(struct variables *v, uint32_t i, uint32_t tid);
struct heap_sites *variables_heap_sites(struct variables *v);

/* What of thread-local memory a recording carries (tls_blocks.h, tls_seen.h). */
struct tls_blocks *variables_tls_blocks(struct variables *v);
struct tls_seen *variables_tls_seen(struct variables *v);

/* The entry for number @n of the frames below, what @ev has accessed on a stack. */
uint32_t variables_stack(struct variables *v, const struct hvar_event *ev, uint32_t n);
struct frames *variables_frames(struct variables *v);

/* Count the exact access @ev to entry @i. */
void variables_count(struct variables *v, uint32_t i, const struct hvar_event *ev);

/* What processes are called, for entries made from now on; a new one is called as its parent. */
void variables_comm(struct variables *v, const struct stream_comm *c);
void variables_fork(struct variables *v, uint32_t pid, uint32_t child_pid);

/* What programs have said of their memory: names go before all others.  NULL is never returned. */
struct said *variables_said(struct variables *v);
/* Entries that are asked for from now on are of phase @phase, apart from those of others; 0: of none. */
void variables_phase(struct variables *v, uint32_t phase);

uint32_t variables_n(const struct variables *v);
const struct hvar_hot *variables_hot(const struct variables *v, uint32_t i);

/* Accesses, in 1/65536, that found no room for their entry; threads not noted. */
uint64_t variables_lost(const struct variables *v);
uint64_t variables_lost_threads(const struct variables *v);

/* What a reader is told of an entry; strings are good until variables_free(). */
struct variable {
	const char *name;   /* as reports write variables */
	const char *symbol; /* NULL: none covers it */
	const char *member; /* "[].key", with by_member; NULL: all of it, or not known */
	const char *type;   /* of that member; NULL: not known */
	const char *module; /* file name, NULL: none */
	bool deleted;	    /* the file had no name any more */
	const char *kind;
	const char *reason; /* why no symbol covers it, NULL if one does */
	uint64_t size;	    /* the symbol's, else 0 */
	bool mapped;	    /* there was memory at its address */
	bool is_private;    /* it is one address space's own: a copy, or no file's and not shared */
	const struct hvar_key *key; /* of a static variable's memory, with per_process; NULL: not known */
	uint32_t mm, pid;   /* with per_process, else 0 */
	const char *comm;   /* likewise, "" if not known */
	const char *phase;  /* with variables_phase(); NULL: none */
	const struct heap_site *heap; /* of objects of the heap, else NULL */
	const struct frame_name *frame; /* of stacks, in exact mode; else NULL */
	uint64_t first_ns, last_ns; /* of the records with its exact accesses; 0: none had a time */
};

/* Describe entry @i.  Returns 0 or -ENOMEM. */
int variables_describe(struct variables *v, uint32_t i, struct variable *out);

/* The last part of @path: how rows call a module. */
const char *variables_file_name(const char *path);

#endif /* VARIABLES_H */
