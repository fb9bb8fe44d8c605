/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - an address and what was found for it, as a line of text or a "sym" record.
 *
 *	0x55d0c0ffee10  table[3].st.misses  data  .data  /usr/bin/app
 *	0x55d0c0ffee11  table[3].st.misses+0x1  data  .data  /usr/bin/app
 *	0x55d0c0fff010  other+0x78  data  .data  /usr/bin/app
 *	0x7f21c0001238  libfoo.so.1:.bss+0x120  bss  .bss  /usr/lib/libfoo.so.1  (stripped)
 *	0x7f21c0000738  errno@tls  tls  /usr/lib/libc.so.6
 *	0x30000104  jit fn one(int)+0x4  jit
 *	0x10  [unmapped]  unmapped  (unmapped)
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/core/hvar_module.h"
#include "runtime/core/hvar_resolve.h"

struct place_writer;

/* @f is borrowed.  Returns NULL: no memory. */
struct place_writer *place_writer_new(FILE *f, bool json);
void place_writer_free(struct place_writer *w);

/* Without @members, which it begins with, names end with the symbol. */
void place_writer_members(struct place_writer *w, bool members);

/* One answer; all borrowed. */
struct place_answer {
	uint64_t addr;
	const struct hvar_place *place;
	const struct hvar_image *img;	  /* of place->module; NULL: none */
	const char *module;		  /* its path; NULL or "": none */
	uint64_t inside;		  /* the ELF file begins there in it; 0: it is the file itself */
	const struct hvar_module *facts;  /* of it; NULL: not known */
	bool live;			  /* there is an address space: vma and is_private are told */
	bool is_private;
	const char *key;		  /* what memory it is, as it is written; NULL: not known */
	const struct hvar_module *vma_facts; /* of place->vma.module; NULL: none */
	const char *vma_path;
	const char *jit;		  /* the name of what a compiler made there; NULL: none */
	uint64_t jit_start, jit_end;
	bool jit_dumped;		  /* it is from a jitdump, else from a perf map */
	uint64_t thread;		  /* of thread-local memory: whose, by its thread pointer */
};

/* Returns 0 or -ENOMEM; the stream's own error is its own. */
int place_write(struct place_writer *w, const struct place_answer *a);

#endif /* PLACE_H */
