// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rust_name.c - Rust's legacy mangling, and which of both a name has.
 *
 * A legacy name looks like one of C++: "_ZN", parts with their lengths before them, "E"; its last part is a hash.  What
 * C++ has no letters for is written "$LT$", and ".." for "::".
 */
#include "config.h"

#include "rust_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rust_text.h"

/* As rustc's own demangler: of 16 digits 5 are different at least. */
static bool is_hash(const char *s, size_t n)
{
	unsigned seen = 0, different = 0;
	size_t i;

	if (n != 17 || *s != 'h')
		return false;
	for (i = 1; i < n; i++) {
		const char *digit = memchr("0123456789abcdef", s[i], 16);

		if (!digit)
			return false;
		seen |= 1u << (s[i] <= '9' ? s[i] - '0' : s[i] - 'a' + 10);
	}
	for (; seen; seen &= seen - 1)
		different++;
	return different >= 5;
}

/* "LT" of "$LT$"; false: it stands for nothing. */
static bool escape(struct rust_text *t, const char *s, size_t n)
{
	static const struct { const char *name, *text; } known[] = {
		{ "SP", "@" }, { "BP", "*" }, { "RF", "&" }, { "LT", "<" }, { "GT", ">" }, { "LP", "(" }, { "RP", ")" }, { "C", "," },
	};
	uint32_t c = 0;
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (n == strlen(known[i].name) && !memcmp(s, known[i].name, n)) {
			rust_text_put(t, known[i].text);
			return true;
		}
	}
	if (n < 2 || n > 7 || *s != 'u')
		return false;
	for (i = 1; i < n; i++) {
		const char *digit = memchr("0123456789abcdef", s[i], 16);

		if (!digit)
			return false;
		c = c * 16 + (uint32_t)(s[i] <= '9' ? s[i] - '0' : s[i] - 'a' + 10);
	}
	if (c < 0x20 || c == 0x7f)
		return false;
	return rust_text_char(t, c);
}

static bool part(struct rust_text *t, const char *s, size_t n)
{
	size_t i = n > 1 && s[0] == '_' && s[1] == '$';

	while (i < n) {
		const char *end = s[i] == '$' ? memchr(s + i + 1, '$', n - i - 1) : NULL;

		if (s[i] == '$') {
			if (!end || !escape(t, s + i + 1, (size_t)(end - s) - i - 1))
				return false;
			i = (size_t)(end - s) + 1;
		} else if (s[i] == '.' && i + 1 < n && s[i + 1] == '.') {
			rust_text_put(t, "::");
			i += 2;
		} else {
			rust_text_bytes(t, s + i++, 1);
		}
	}
	return true;
}

/* The part at *@s, which is left behind it; NULL: there is none. */
static const char *next_part(const char **s, size_t *n)
{
	const char *p = *s;

	for (*n = 0; *p >= '0' && *p <= '9' && *n < 1 << 16; p++)
		*n = *n * 10 + (size_t)(*p - '0');
	if (p == *s || !*n || strnlen(p, *n) < *n)
		return NULL;
	*s = p + *n;
	return p;
}

static char *legacy(const char *name)
{
	struct rust_text t = { .n = 0 };
	const char *s = name + 3, *p, *last = NULL;
	size_t n = 0, parts = 0, i;

	/* a hash must be the last part: else it is C++ */
	while (*s != 'E' && (p = next_part(&s, &n)) != NULL)
		last = p, parts++;
	if (*s != 'E' || parts < 2 || !is_hash(last, n) || (s[1] && s[1] != '.'))
		return NULL;
	for (s = name + 3, i = 0; i + 1 < parts; i++) {
		p = next_part(&s, &n);
		if (i)
			rust_text_put(&t, "::");
		if (!part(&t, p, n))
			rust_text_bytes(&t, p, n); /* as it is */
	}
	next_part(&s, &n);
	rust_text_suffix(&t, s + 1);
	return rust_text_done(&t);
}

char *rust_name(const char *name)
{
	if (strnlen(name, RUST_MANGLED_MAX + 1) > RUST_MANGLED_MAX)
		return NULL;
	if (!strncmp(name, "_ZN", 3))
		return legacy(name);
	return !strncmp(name, "_R", 2) ? rust_v0_name(name + 2) : NULL;
}
