// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rust_v0.c - Rust's v0 mangling (RFC 2603; the "Symbol Mangling" chapter of the rustc book).
 *
 *	_R N v  N t C s6GmmlP4bgsG_ 3app  4deep  5INNER		app::deep::INNER
 *	   |    |   crate with its number, left out
 *	   value in a type's namespace ...
 *
 * Written as it is read.  A back reference is read again where it points to, which is before it; what is read and not
 * written (the path of an impl) is read with @quiet set.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rust_name.h"
#include "rust_text.h"

enum { DEPTH_MAX = 200, STEPS_MAX = 1 << 16 };

struct v0 {
	const char *start, *p;
	struct rust_text out;
	unsigned depth, steps, quiet;
	uint64_t bound; /* lifetimes that "for<'a, 'b>" around have named */
	bool bad;
};

static void type(struct v0 *d);
static bool path(struct v0 *d, bool in_value, bool leave_open);
static void constant(struct v0 *d);

/* ---- reading ---- */

static bool eat(struct v0 *d, char c)
{
	if (d->bad || *d->p != c)
		return false;
	d->p++;
	return true;
}

/* Down a level: false is the end of it. */
static bool enter(struct v0 *d)
{
	if (d->bad || ++d->depth > DEPTH_MAX || ++d->steps > STEPS_MAX || d->out.bad)
		d->bad = true;
	return !d->bad;
}

static void leave(struct v0 *d)
{
	d->depth--;
}

static uint64_t decimal(struct v0 *d)
{
	uint64_t n = 0;

	if (*d->p < '0' || *d->p > '9')
		d->bad = true;
	if (eat(d, '0'))
		return 0;
	while (!d->bad && *d->p >= '0' && *d->p <= '9') {
		n = n * 10 + (uint64_t)(*d->p++ - '0');
		if (n > RUST_MANGLED_MAX)
			d->bad = true;
	}
	return n;
}

/* "_" is 0, "0_" is 1. */
static uint64_t base62(struct v0 *d)
{
	uint64_t n = 0;

	if (eat(d, '_'))
		return 0;
	while (!eat(d, '_')) {
		char c = *d->p;
		uint64_t digit = c >= '0' && c <= '9' ? (uint64_t)(c - '0') : c >= 'a' && c <= 'z' ? (uint64_t)(c - 'a' + 10) :
				 c >= 'A' && c <= 'Z' ? (uint64_t)(c - 'A' + 36) : 62;

		if (d->bad || digit == 62 || n > (UINT64_MAX - 63) / 62) {
			d->bad = true;
			return 0;
		}
		n = n * 62 + digit;
		d->p++;
	}
	return n + 1;
}

/* A number behind @tag, plus 1; 0: no such tag. */
static uint64_t tagged(struct v0 *d, char tag)
{
	return eat(d, tag) ? base62(d) + 1 : 0;
}

/* ---- writing ---- */

static void put(struct v0 *d, const char *s)
{
	if (!d->quiet && !d->bad)
		rust_text_put(&d->out, s);
}

static void put_number(struct v0 *d, uint64_t n)
{
	if (!d->quiet && !d->bad)
		rust_text_number(&d->out, n);
}

/* ---- identifiers ---- */

struct ident {
	const char *s;
	size_t n;
	bool puny;
};

static struct ident ident(struct v0 *d)
{
	struct ident i = { .puny = eat(d, 'u') };

	i.n = (size_t)decimal(d);
	eat(d, '_');
	i.s = d->p;
	if (d->bad || strnlen(d->p, i.n) < i.n) {
		d->bad = true;
		i.n = 0;
	}
	d->p += i.n;
	return i;
}

/* Punycode (RFC 3492, with "_" for its "-"): the letters of ASCII, then where each of the others goes. */
static bool punycode(struct v0 *d, const struct ident *id)
{
	enum { POINTS = 256, BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700 };
	uint32_t points[POINTS], n = 0, code = 128, i = 0, bias = 72, k, t, at, w, was, delta;
	size_t split = id->n, in, j;
	bool first = true;

	while (split && id->s[split - 1] != '_')
		split--;
	for (j = 0; split && j < split - 1; j++) {
		if (n == POINTS)
			return false;
		points[n++] = (uint8_t)id->s[j];
	}
	for (in = split; in < id->n; i++) {
		for (was = i, w = 1, k = BASE;; k += BASE) {
			char c = in < id->n ? id->s[in++] : '\0';

			at = c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a') : c >= '0' && c <= '9' ? (uint32_t)(c - '0' + 26) : BASE;
			if (at == BASE || at > (UINT32_MAX / 2 - i) / w)
				return false;
			i += at * w;
			t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
			if (at < t)
				break;
			if (w > UINT32_MAX / 2 / BASE)
				return false;
			w *= BASE - t;
		}
		if (n == POINTS)
			return false;
		n++;
		delta = (i - was) / (first ? DAMP : 2);
		delta += delta / n;
		for (k = 0; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
			delta /= BASE - T_MIN;
		bias = k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
		first = false;
		if (i / n > 0x10ffff - code)
			return false;
		code += i / n;
		i %= n;
		memmove(points + i + 1, points + i, (n - 1 - i) * sizeof(*points));
		points[i] = code;
	}
	for (j = 0; j < n; j++)
		if (!rust_text_char(&d->out, points[j]))
			return false;
	return true;
}

static void put_ident(struct v0 *d, const struct ident *i)
{
	if (d->quiet || d->bad)
		return;
	if (!i->puny)
		rust_text_bytes(&d->out, i->s, i->n);
	else if (!punycode(d, i))
		d->bad = true;
}

/* ---- lifetimes ---- */

static void lifetime(struct v0 *d, uint64_t index)
{
	uint64_t n;
	char name[3] = "'a";

	if (!index) {
		put(d, "'_");
		return;
	}
	if (index > d->bound) {
		d->bad = true;
		return;
	}
	n = d->bound - index;
	if (n < 26) {
		name[1] = (char)('a' + n);
		put(d, name);
	} else {
		put(d, "'_");
		put_number(d, n);
	}
}

/* "for<'a, 'b> "; returns how many, for unbind(). */
static uint64_t bind(struct v0 *d)
{
	uint64_t n = tagged(d, 'G'), i;

	if (n > 64)
		d->bad = true;
	if (!n || d->bad)
		return 0;
	put(d, "for<");
	for (i = 0; i < n; i++) {
		if (i)
			put(d, ", ");
		d->bound++;
		lifetime(d, 1);
	}
	put(d, "> ");
	return n;
}

static void unbind(struct v0 *d, uint64_t n)
{
	d->bound -= n;
}

/* ---- back references ---- */

/* Behind "B": go on where it points to.  *@back is for return_from(); false: nothing is to be read there. */
static bool go_back(struct v0 *d, const char **back)
{
	const char *here = d->p - 1;
	uint64_t at = base62(d);

	*back = d->p;
	if (d->bad || at >= (uint64_t)(here - d->start)) {
		d->bad = true;
		return false;
	}
	if (d->quiet) /* it was read there */
		return false;
	d->p = d->start + at;
	return true;
}

/* ---- paths ---- */

static void generic_arg(struct v0 *d)
{
	if (eat(d, 'L'))
		lifetime(d, base62(d));
	else if (eat(d, 'K'))
		constant(d);
	else
		type(d);
}

/* "A, B>" up to the "E". */
static void generic_args(struct v0 *d)
{
	unsigned n = 0;

	for (; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			put(d, ", ");
		generic_arg(d);
	}
}

static void nested(struct v0 *d, bool in_value)
{
	char space = *d->p;
	uint64_t number;
	struct ident id;

	if (!((space >= 'a' && space <= 'z') || (space >= 'A' && space <= 'Z'))) {
		d->bad = true;
		return;
	}
	d->p++;
	path(d, in_value, false);
	number = tagged(d, 's');
	id = ident(d);
	if (space >= 'a') {
		if (id.n) {
			put(d, "::");
			put_ident(d, &id);
		}
		return;
	}
	put(d, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
	if (space != 'C' && space != 'S' && !d->quiet)
		rust_text_bytes(&d->out, &space, 1);
	if (id.n) {
		put(d, ":");
		put_ident(d, &id);
	}
	put(d, "#");
	put_number(d, number);
	put(d, "}");
}

/*
 * In a value its generics are "::<T>".  With @leave_open their ">" is left to the caller, if it returns
 * true.
 */
static bool path(struct v0 *d, bool in_value, bool leave_open)
{
	struct ident id;
	const char *back;
	bool open = false;
	char tag = *d->p;

	if (!enter(d))
		return false;
	if (tag)
		d->p++;
	switch (tag) {
	case 'C':
		tagged(d, 's');
		id = ident(d);
		put_ident(d, &id);
		break;
	case 'N':
		nested(d, in_value);
		break;
	case 'M':
	case 'X':
		/* where the impl stands says nothing to a reader */
		tagged(d, 's');
		d->quiet++;
		path(d, in_value, false);
		d->quiet--;
		put(d, "<");
		type(d);
		if (tag == 'X') {
			put(d, " as ");
			path(d, false, false);
		}
		put(d, ">");
		break;
	case 'Y':
		put(d, "<");
		type(d);
		put(d, " as ");
		path(d, false, false);
		put(d, ">");
		break;
	case 'I':
		path(d, in_value, false);
		put(d, in_value ? "::<" : "<");
		generic_args(d);
		open = leave_open;
		if (!open)
			put(d, ">");
		break;
	case 'B':
		if (go_back(d, &back))
			open = path(d, in_value, leave_open);
		d->p = back;
		break;
	default:
		d->bad = true;
		break;
	}
	leave(d);
	return open;
}

/* ---- types ---- */

static const char *basic(char c)
{
	switch (c) {
	case 'a': return "i8";
	case 'b': return "bool";
	case 'c': return "char";
	case 'd': return "f64";
	case 'e': return "str";
	case 'f': return "f32";
	case 'h': return "u8";
	case 'i': return "isize";
	case 'j': return "usize";
	case 'l': return "i32";
	case 'm': return "u32";
	case 'n': return "i128";
	case 'o': return "u128";
	case 'p': return "_";
	case 's': return "i16";
	case 't': return "u16";
	case 'u': return "()";
	case 'v': return "...";
	case 'x': return "i64";
	case 'y': return "u64";
	case 'z': return "!";
	default: return NULL;
	}
}

static void function(struct v0 *d)
{
	uint64_t bound = bind(d);
	struct ident abi;
	unsigned n;
	size_t i;

	if (eat(d, 'U'))
		put(d, "unsafe ");
	if (eat(d, 'K')) {
		put(d, "extern \"");
		if (eat(d, 'C')) {
			put(d, "C");
		} else {
			abi = ident(d);
			for (i = 0; i < abi.n && !d->quiet; i++)
				rust_text_bytes(&d->out, abi.s[i] == '_' ? "-" : abi.s + i, 1);
		}
		put(d, "\" ");
	}
	put(d, "fn(");
	for (n = 0; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			put(d, ", ");
		type(d);
	}
	put(d, ")");
	if (!eat(d, 'u')) { /* () is not said */
		put(d, " -> ");
		type(d);
	}
	unbind(d, bound);
}

static void dyn(struct v0 *d)
{
	uint64_t bound, life;
	struct ident id;
	unsigned n;

	put(d, "dyn ");
	bound = bind(d);
	for (n = 0; !d->bad && !eat(d, 'E'); n++) {
		bool open;

		if (n)
			put(d, " + ");
		open = path(d, false, true);
		while (eat(d, 'p')) {
			put(d, open ? ", " : "<");
			open = true;
			id = ident(d);
			put_ident(d, &id);
			put(d, " = ");
			type(d);
		}
		if (open)
			put(d, ">");
	}
	unbind(d, bound);
	if (!eat(d, 'L')) {
		d->bad = true;
		return;
	}
	life = base62(d);
	if (life) {
		put(d, " + ");
		lifetime(d, life);
	}
}

static void reference(struct v0 *d, bool mutable)
{
	put(d, "&");
	if (eat(d, 'L')) {
		uint64_t life = base62(d);

		if (life) {
			lifetime(d, life);
			put(d, " ");
		}
	}
	put(d, mutable ? "mut " : "");
	type(d);
}

static void tuple(struct v0 *d)
{
	unsigned n;

	put(d, "(");
	for (n = 0; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			put(d, ", ");
		type(d);
	}
	put(d, n == 1 ? ",)" : ")");
}

static void type(struct v0 *d)
{
	const char *plain = basic(*d->p), *back;
	char tag = *d->p;

	if (!enter(d))
		return;
	if (tag)
		d->p++;
	if (plain) {
		put(d, plain);
		leave(d);
		return;
	}
	switch (tag) {
	case 'A':
		put(d, "[");
		type(d);
		put(d, "; ");
		constant(d);
		put(d, "]");
		break;
	case 'S':
		put(d, "[");
		type(d);
		put(d, "]");
		break;
	case 'T': tuple(d); break;
	case 'R': reference(d, false); break;
	case 'Q': reference(d, true); break;
	case 'P':
		put(d, "*const ");
		type(d);
		break;
	case 'O':
		put(d, "*mut ");
		type(d);
		break;
	case 'F': function(d); break;
	case 'D': dyn(d); break;
	case 'B':
		if (go_back(d, &back))
			type(d);
		d->p = back;
		break;
	default:
		if (tag)
			d->p--;
		path(d, false, false);
		break;
	}
	leave(d);
}

/* ---- constants ---- */

/* Hexadecimal digits up to "_"; *@n: how many.  *@v: the number, if there are no more than 16. */
static const char *digits(struct v0 *d, size_t *n, uint64_t *v)
{
	const char *s = d->p;

	*v = 0;
	while (!d->bad && ((*d->p >= '0' && *d->p <= '9') || (*d->p >= 'a' && *d->p <= 'f')))
		*v = *v << 4 | (uint64_t)(*d->p <= '9' ? *d->p - '0' : *d->p - 'a' + 10), d->p++;
	*n = (size_t)(d->p - s);
	if (!eat(d, '_'))
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

	if (has_sign && eat(d, 'n'))
		put(d, "-");
	s = digits(d, &n, &v);
	if (n <= 16) {
		put_number(d, v);
	} else {
		put(d, "0x");
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

	put(d, "\"");
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
	put(d, "\"");
}

static void list(struct v0 *d, const char *open, const char *close, bool tuple_of_one)
{
	unsigned n;

	put(d, open);
	for (n = 0; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			put(d, ", ");
		constant(d);
	}
	put(d, n == 1 && tuple_of_one ? "," : "");
	put(d, close);
}

static void fields(struct v0 *d)
{
	struct ident id;
	unsigned n;

	put(d, " { ");
	for (n = 0; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			put(d, ", ");
		tagged(d, 's');
		id = ident(d);
		put_ident(d, &id);
		put(d, ": ");
		constant(d);
	}
	put(d, " }");
}

static void value(struct v0 *d)
{
	path(d, true, false);
	if (eat(d, 'U'))
		return;
	if (eat(d, 'T'))
		list(d, "(", ")", false);
	else if (eat(d, 'S'))
		fields(d);
	else
		d->bad = true;
}

static void constant(struct v0 *d)
{
	char tag = *d->p;
	const char *back;
	uint64_t v;
	size_t n;

	if (!enter(d))
		return;
	if (tag)
		d->p++;
	switch (tag) {
	case 'p': put(d, "_"); break;
	case 'h': case 't': case 'm': case 'y': case 'o': case 'j': number(d, false); break;
	case 'a': case 's': case 'l': case 'x': case 'n': case 'i': number(d, true); break;
	case 'b':
		digits(d, &n, &v);
		if (n != 1 || v > 1)
			d->bad = true;
		put(d, v ? "true" : "false");
		break;
	case 'c':
		digits(d, &n, &v);
		if (n > 8 || v > UINT32_MAX)
			d->bad = true;
		put(d, "'");
		put_char(d, (uint32_t)v, '\'');
		put(d, "'");
		break;
	case 'e': /* a str itself: behind a reference */
		put(d, "*");
		string(d);
		break;
	case 'R':
	case 'Q':
		if (tag == 'R' && eat(d, 'e')) {
			string(d);
			break;
		}
		put(d, tag == 'R' ? "&" : "&mut ");
		constant(d);
		break;
	case 'A': list(d, "[", "]", false); break;
	case 'T': list(d, "(", ")", true); break;
	case 'V': value(d); break;
	case 'B':
		if (go_back(d, &back))
			constant(d);
		d->p = back;
		break;
	default:
		d->bad = true;
		break;
	}
	leave(d);
}

/* ---- all of it ---- */

char *rust_v0_name(const char *name)
{
	struct v0 d = { .start = name, .p = name };

	/* a digit first would be another version of the encoding; paths begin in upper case */
	if (*name < 'A' || *name > 'Z')
		return NULL;
	path(&d, true, false);
	/* the crate that generics were made in says nothing to a reader */
	if (!d.bad && *d.p >= 'A' && *d.p <= 'Z') {
		d.quiet++;
		path(&d, false, false);
		d.quiet--;
	}
	if (d.bad || (*d.p && *d.p != '.' && *d.p != '$'))
		d.out.bad = true;
	else
		rust_text_suffix(&d.out, d.p);
	return rust_text_done(&d.out);
}
