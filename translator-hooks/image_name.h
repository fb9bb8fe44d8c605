/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_name.h - how a variable, or a place that none covers, is written.
 *
 *	table			a symbol; in another language's own spelling (C++, Rust)
 *	counter@parser.c	a static whose name its module has more than once
 *	libfoo.so.1:.bss+0x120	no symbol: module, section, offset in the section
 *	libfoo.so.1+0x4120	no symbol and no section known: the link-time address
 *	libfoo.so.1[0x4120]	a file that is not loaded as a program: the offset in it
 *	[heap] [stack] [anon]	memory without a file, by what it is
 */
#ifndef IMAGE_NAME_H
#define IMAGE_NAME_H

#include <stdbool.h>

#include "runtime/core/hvar_image.h"
#include "runtime/core/hvar_resolve.h"

/* Symbol @symbol (of syms) of @img, malloc'd; NULL: no memory. */
char *image_name(const struct hvar_image *img, uint32_t symbol);

/* The same of symbol @symbol of tls_syms: "errno@tls". */
char *image_name_tls(const struct hvar_image *img, uint32_t symbol);

/*
 * The place @p, malloc'd; NULL: no memory.  @img is that of p->module, or NULL; @path is the module's
 * path, or NULL.  @offset: say how far into the symbol it is ("table+0x78").
 */
char *image_place_name(const struct hvar_place *p, const struct hvar_image *img,
		       const char *path, bool offset);

/*
 * The demangled form of @name, malloc'd; NULL if it is not mangled, could grow beyond all measure, or is C++ and this
 * machine has no demangler (the C++ runtime's, which is loaded when first needed).
 */
char *image_demangle(const char *name);

/* --no-demangle: image_name() and image_place_name() keep names raw from now on. */
void image_name_raw(bool raw);

#endif /* IMAGE_NAME_H */
