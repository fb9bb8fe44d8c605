// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rust_text.c - a text that grows up to a bound.
 */
#include "config.h"

#include "rust_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rust_text_bytes(struct rust_text *t, const char *s, size_t n)
{
	if (t->bad || n > RUST_PLAIN_MAX - t->n) {
		t->bad = true;
		return;
	}
	if (t->n + n >= t->cap) {
		size_t cap = t->cap ? t->cap : 128;
		char *more;

		while (t->n + n >= cap)
			cap *= 2;
		more = realloc(t->s, cap);
		if (!more) {
			t->bad = true;
			return;
		}
		t->s = more;
		t->cap = cap;
	}
	memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void rust_text_put(struct rust_text *t, const char *s)
{
	rust_text_bytes(t, s, strlen(s));
}

void rust_text_number(struct rust_text *t, uint64_t v)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRIu64, v);
	rust_text_put(t, buf);
}

bool rust_text_char(struct rust_text *t, uint32_t c)
{
	char b[4];

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return false;
	if (c < 0x80) {
		b[0] = (char)c;
		rust_text_bytes(t, b, 1);
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 63));
		rust_text_bytes(t, b, 2);
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 63));
		b[2] = (char)(0x80 | (c & 63));
		rust_text_bytes(t, b, 3);
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 63));
		b[2] = (char)(0x80 | (c >> 6 & 63));
		b[3] = (char)(0x80 | (c & 63));
		rust_text_bytes(t, b, 4);
	}
	return true;
}

void rust_text_suffix(struct rust_text *t, const char *s)
{
	const char *llvm = strstr(s, ".llvm.");

	rust_text_bytes(t, s, llvm ? (size_t)(llvm - s) : strlen(s));
}

char *rust_text_done(struct rust_text *t)
{
	if (t->bad || !t->s) {
		free(t->s);
		return NULL;
	}
	return t->s;
}
