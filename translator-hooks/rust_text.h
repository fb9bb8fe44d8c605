/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rust_text.h - a text that grows up to a bound.
 */
#ifndef RUST_TEXT_H
#define RUST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUST_MANGLED_MAX = 8192, RUST_PLAIN_MAX = 1 << 16 };

/* All zero: empty.  Once @bad (too long, no memory) nothing is added any more. */
struct rust_text {
	char *s;
	size_t n, cap;
	bool bad;
};

void rust_text_bytes(struct rust_text *t, const char *s, size_t n);
void rust_text_put(struct rust_text *t, const char *s);
void rust_text_number(struct rust_text *t, uint64_t v);
/* Code point @c as UTF-8; false: it is none. */
bool rust_text_char(struct rust_text *t, uint32_t c);
/* The @n bytes at @s as rustc writes a name with letters beyond ASCII (rust_puny.c); false: they are none. */
bool rust_punycode(struct rust_text *t, const char *s, size_t n);
/* What follows a mangled name: nothing, or ".llvm.N", which goes, or another ".x", which stays. */
void rust_text_suffix(struct rust_text *t, const char *s);
/* The text, malloc'd; NULL: it went bad.  @t is not to be used any more. */
char *rust_text_done(struct rust_text *t);

#endif /* RUST_TEXT_H */
