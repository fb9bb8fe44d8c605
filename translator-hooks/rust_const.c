// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rust_const.c - constants in Rust's v0 mangling: numbers, texts, and what is made of them.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rust_v0.h"

/* Hexadecimal digits up to "_"; *@n: how many.  *@v: the number, if there are no more than 16. */
static const char *digits(struct v0 *d, size_t *n, uint64_t *v)
{
	const char *s = d->p;

	*v = 0;
	while (!d->bad && ((*d->p >= '0' && *d->p <= '9') || (*d->p >= 'a' && *d->p <= 'f')))
		*v = *v << 4 | (uint64_t)(*d->p <= '9' ? *d->p - '0' : *d->p - 'a' + 10), d->p++;
	*n = (size_t)(d->p - s);
	if (!rust_v0_eat(d, '_'))
		d->bad = true;
	return s;
}

static void put_char(struct v0 *d, uint32_t c, char quote)
{
	char buf[16];

	if (d->quiet || d->bad)
		return;
	if (c == '\n' || c == '\t' || c == '\r' || c == '\\' || (c == (uint8_t)quote)) {
		buf[0] = '\\';
		buf[1] = c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : (char)c;
		rust_text_bytes(&d->out, buf, 2);
	} else if (c < 0x20 || c == 0x7f) {
		snprintf(buf, sizeof(buf), "\\u{%" PRIx32 "}", c);
		rust_text_put(&d->out, buf);
	} else if (!rust_text_char(&d->out, c)) {
		d->bad = true;
	}
}

static void number(struct v0 *d, bool has_sign)
{
	uint64_t v;
	size_t n, i;
	const char *s;

	if (has_sign && rust_v0_eat(d, 'n'))
		rust_v0_put(d, "-");
	s = digits(d, &n, &v);
	if (n <= 16) {
		rust_v0_put_number(d, v);
	} else {
		rust_v0_put(d, "0x");
		for (i = 0; i < n && !d->quiet && !d->bad; i++)
			rust_text_bytes(&d->out, s + i, 1);
	}
}

/* One byte of UTF-8 in two digits; d->bad past the end. */
static uint32_t byte_of(struct v0 *d, const char *s, size_t n, size_t *at)
{
	char hex[3] = "";

	if (*at + 2 > n) {
		d->bad = true;
		return 0;
	}
	memcpy(hex, s + *at, 2);
	*at += 2;
	return (uint32_t)strtoul(hex, NULL, 16);
}

static void string(struct v0 *d)
{
	uint64_t ignored;
	size_t n, at = 0;
	const char *s = digits(d, &n, &ignored);

	rust_v0_put(d, "\"");
	while (at < n && !d->bad) {
		uint32_t c = byte_of(d, s, n, &at);
		unsigned more = c < 0x80 ? 0 : c < 0xc0 ? 9 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf8 ? 3 : 9;

		if (more == 9) {
			d->bad = true;
			return;
		}
		c &= more ? 0x3fu >> more : 0x7f;
		while (more--)
			c = c << 6 | (byte_of(d, s, n, &at) & 63);
		put_char(d, c, '"');
	}
	rust_v0_put(d, "\"");
}

static void list(struct v0 *d, const char *open, const char *close, bool tuple_of_one)
{
	unsigned n;

	rust_v0_put(d, open);
	for (n = 0; !d->bad && !rust_v0_eat(d, 'E'); n++) {
		if (n)
			rust_v0_put(d, ", ");
		rust_v0_constant(d);
	}
	rust_v0_put(d, n == 1 && tuple_of_one ? "," : "");
	rust_v0_put(d, close);
}

static void fields(struct v0 *d)
{
	struct ident id;
	unsigned n;

	rust_v0_put(d, " { ");
	for (n = 0; !d->bad && !rust_v0_eat(d, 'E'); n++) {
		if (n)
			rust_v0_put(d, ", ");
		rust_v0_tagged(d, 's');
		id = rust_v0_ident(d);
		rust_v0_put_ident(d, &id);
		rust_v0_put(d, ": ");
		rust_v0_constant(d);
	}
	rust_v0_put(d, " }");
}

static void value(struct v0 *d)
{
	rust_v0_value_path(d);
	if (rust_v0_eat(d, 'U'))
		return;
	if (rust_v0_eat(d, 'T'))
		list(d, "(", ")", false);
	else if (rust_v0_eat(d, 'S'))
		fields(d);
	else
		d->bad = true;
}

void rust_v0_constant(struct v0 *d)
{
	char tag = *d->p;
	const char *back;
	uint64_t v;
	size_t n;

	if (!rust_v0_enter(d))
		return;
	if (tag)
		d->p++;
	switch (tag) {
	case 'p': rust_v0_put(d, "_"); break;
	case 'h': case 't': case 'm': case 'y': case 'o': case 'j': number(d, false); break;
	case 'a': case 's': case 'l': case 'x': case 'n': case 'i': number(d, true); break;
	case 'b':
		digits(d, &n, &v);
		if (n != 1 || v > 1)
			d->bad = true;
		rust_v0_put(d, v ? "true" : "false");
		break;
	case 'c':
		digits(d, &n, &v);
		if (n > 8 || v > UINT32_MAX)
			d->bad = true;
		rust_v0_put(d, "'");
		put_char(d, (uint32_t)v, '\'');
		rust_v0_put(d, "'");
		break;
	case 'e': /* a str itself: behind a reference */
		rust_v0_put(d, "*");
		string(d);
		break;
	case 'R':
	case 'Q':
		if (tag == 'R' && rust_v0_eat(d, 'e')) {
			string(d);
			break;
		}
		rust_v0_put(d, tag == 'R' ? "&" : "&mut ");
		rust_v0_constant(d);
		break;
	case 'A': list(d, "[", "]", false); break;
	case 'T': list(d, "(", ")", true); break;
	case 'V': value(d); break;
	case 'B':
		if (rust_v0_go_back(d, &back))
			rust_v0_constant(d);
		d->p = back;
		break;
	default:
		d->bad = true;
		break;
	}
	rust_v0_leave(d);
}
