/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_names.h - what a place in the code is called: function and line of source.
 *
 * The function is by the module's symbols, which a recording carries; the line by the file's debug information, where
 * that file is at hand.
 */
#ifndef CODE_NAMES_H
#define CODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "images.h"
#include "runtime/user/estimate.h"

struct code_names;

struct code_names *code_names_new(struct images *images); /* borrowed.  NULL: no memory */
void code_names_free(struct code_names *n);

struct code_name {
	const char *function; /* "": not known */
	const char *file;     /* without its folder; "" */
	const char *module;   /* path; "": none */
	uint64_t vaddr;	      /* in the module; without one the address */
	uint32_t line;	      /* 0 */
};

/* Strings are good until code_names_free(). */
void code_names_find(struct code_names *n, const struct code_site *at, struct code_name *out);

#endif /* CODE_NAMES_H */
