/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codes.h - pieces of code by where they lie, in pages.
 *
 * A place is an offset in a module's file, or an address of an address space for
 * code without a file.  A later piece replaces the bytes of an earlier one.
 */
#ifndef CODES_H
#define CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codes;

struct codes *codes_new(void); /* NULL: no memory */
void codes_free(struct codes *c);

/* Keep the @n bytes at @bytes.  Returns 0 or -ENOMEM (what fits is kept). */
int codes_put(struct codes *c, uint32_t module, uint32_t mm, uint64_t where,
	      const void *bytes, size_t n);

/* Up to @n bytes from @where on into @buf, as far as they are known without a hole. */
size_t codes_get(const struct codes *c, uint32_t module, uint32_t mm, uint64_t where,
		 void *buf, size_t n);

#endif /* CODES_H */
