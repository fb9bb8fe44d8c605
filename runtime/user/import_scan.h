/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_scan.h - the next number, word or blank of a line.
 *
 * Each returns whether it was there; if not, the place is where it was, except scan_fail()'s, which notes what should have been.
 */
#ifndef IMPORT_SCAN_H
#define IMPORT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct scan {
	const char *p, *end;
	const char *why; /* what was expected at p */
};

static inline bool scan_fail(struct scan *s, const char *why)
{
	s->why = why;
	return false;
}

static inline bool scan_char(struct scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/* One or more. */
static inline bool scan_blanks(struct scan *s)
{
	const char *was = s->p;

	while (s->p < s->end && *s->p == ' ')
		s->p++;
	return s->p != was;
}

static inline bool scan_ends_word(const struct scan *s)
{
	return s->p == s->end || *s->p == ' ';
}

static inline bool scan_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n))
		return false;
	s->p += n;
	return true;
}

static inline int scan_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* One or more of @base, 64 bits at most. */
static inline bool scan_digits(struct scan *s, unsigned base, uint64_t *out)
{
	const char *p = s->p;
	uint64_t n = 0;

	for (; p < s->end && (unsigned)scan_digit(*p) < base; p++)
		if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, (uint64_t)scan_digit(*p), &n))
			return false;
	if (p == s->p)
		return false;
	s->p = p;
	*out = n;
	return true;
}

static inline bool scan_decimal(struct scan *s, uint64_t *out)
{
	return scan_digits(s, 10, out);
}

/* With or without "0x". */
static inline bool scan_hex(struct scan *s, uint64_t *out)
{
	struct scan was = *s;

	if (scan_word(s, "0x") && scan_digits(s, 16, out))
		return true;
	s->p = was.p;
	return scan_digits(s, 16, out);
}

/* Perhaps negative, 31 bits. */
static inline bool scan_pid(struct scan *s, int32_t *out)
{
	struct scan was = *s;
	bool minus = scan_char(s, '-');
	uint64_t n;

	if (!scan_digits(s, 10, &n) || n > INT32_MAX) {
		s->p = was.p;
		return false;
	}
	*out = minus ? -(int32_t)n : (int32_t)n;
	return true;
}

/* Bytes as pairs of hex digits, @max at most; how many. */
static inline size_t scan_bytes(struct scan *s, uint8_t *out, size_t max)
{
	size_t n = 0;

	while (n < max && s->end - s->p >= 2 && scan_digit(s->p[0]) < 16 && scan_digit(s->p[1]) < 16) {
		out[n++] = (uint8_t)(scan_digit(s->p[0]) * 16 + scan_digit(s->p[1]));
		s->p += 2;
	}
	return n;
}

#endif /* IMPORT_SCAN_H */
