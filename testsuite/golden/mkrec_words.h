/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkrec_words.h - the words KEY=VALUE of one line of a description, for mkrec.c alone.
 */
#ifndef MKREC_WORDS_H
#define MKREC_WORDS_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_vmas.h"

enum { MAX_WORDS = 40 };

static const char *file;
static unsigned line_no;
static char *words[MAX_WORDS];
static int n_words;

static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "mkrec: %s:%u: ", file, line_no);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	putc('\n', stderr);
	exit(1);
}

static const char *get(const char *key)
{
	size_t n = strlen(key);
	int i;

	for (i = 1; i < n_words; i++)
		if (!strncmp(words[i], key, n) && words[i][n] == '=')
			return words[i] + n + 1;
	return NULL;
}

static const char *need(const char *key)
{
	const char *v = get(key);

	if (!v)
		die("%s= is missing", key);
	return v;
}

static uint64_t number_of(const char *s)
{
	char *end;
	uint64_t n = strtoull(s, &end, 0);

	if (end == s || *end)
		die("'%s' is no number", s);
	return n;
}

static uint64_t number(const char *key, uint64_t otherwise)
{
	const char *v = get(key);

	return v ? number_of(v) : otherwise;
}

static uint32_t word_of(const char *key, const char *const *names, unsigned n)
{
	const char *v = need(key);
	unsigned i;

	for (i = 0; i < n; i++)
		if (names[i] && !strcmp(v, names[i]))
			return i;
	die("'%s' is no %s", v, key);
}

static void range(const char *key, uint64_t *start, uint64_t *end)
{
	char text[64], *dash;

	snprintf(text, sizeof(text), "%s", need(key));
	dash = strchr(text, '-');
	if (!dash)
		die("'%s' is no range", text);
	*dash = '\0';
	*start = number_of(text);
	*end = number_of(dash + 1);
}

static size_t hex(const char *s, uint8_t *out, size_t max)
{
	size_t n = 0;

	for (; s[0] && s[1]; s += 2) {
		unsigned byte;

		if (n == max || sscanf(s, "%2x", &byte) != 1)
			die("bad bytes '%s'", s);
		out[n++] = (uint8_t)byte;
	}
	return n;
}

/* @s with each \xNN made a byte, for what a word cannot hold. */
static char *unescaped(const char *s)
{
	char *out = strdup(s), *to = out;
	unsigned byte;

	for (; *s; s++) {
		if (!strncmp(s, "\\x", 2) && sscanf(s + 2, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
	return out;
}

static uint8_t prot(void)
{
	const char *p = need("prot");
	uint8_t bits = 0;

	for (; *p; p++)
		bits |= (uint8_t)(*p == 'r' ? HVAR_PROT_READ : *p == 'w' ? HVAR_PROT_WRITE :
				  *p == 'x' ? HVAR_PROT_EXEC : *p == 's' ? HVAR_PROT_SHARED : 0);
	return bits;
}

#endif /* MKREC_WORDS_H */
