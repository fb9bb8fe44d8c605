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

#include <string.h>

#include "rust_name.h"
#include "rust_v0.h"

enum { DEPTH_MAX = 200, STEPS_MAX = 1 << 16 };

static void type(struct v0 *d);
static bool path(struct v0 *d, bool in_value, bool leave_open);

/* ---- reading ---- */

bool rust_v0_eat(struct v0 *d, char c)
{
	if (d->bad || *d->p != c)
		return false;
	d->p++;
	return true;
}

/* Down a level: false is the end of it. */
bool rust_v0_enter(struct v0 *d)
{
	if (d->bad || ++d->depth > DEPTH_MAX || ++d->steps > STEPS_MAX || d->out.bad)
		d->bad = true;
	return !d->bad;
}

void rust_v0_leave(struct v0 *d)
{
	d->depth--;
}

static uint64_t decimal(struct v0 *d)
{
	uint64_t n = 0;

	if (*d->p < '0' || *d->p > '9')
		d->bad = true;
	if (rust_v0_eat(d, '0'))
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

	if (rust_v0_eat(d, '_'))
		return 0;
	while (!rust_v0_eat(d, '_')) {
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
uint64_t rust_v0_tagged(struct v0 *d, char tag)
{
	return rust_v0_eat(d, tag) ? base62(d) + 1 : 0;
}

/* ---- writing ---- */

void rust_v0_put(struct v0 *d, const char *s)
{
	if (!d->quiet && !d->bad)
		rust_text_put(&d->out, s);
}

void rust_v0_put_number(struct v0 *d, uint64_t n)
{
	if (!d->quiet && !d->bad)
		rust_text_number(&d->out, n);
}

/* ---- identifiers ---- */

struct ident rust_v0_ident(struct v0 *d)
{
	struct ident i = { .puny = rust_v0_eat(d, 'u') };

	i.n = (size_t)decimal(d);
	rust_v0_eat(d, '_');
	i.s = d->p;
	if (d->bad || strnlen(d->p, i.n) < i.n) {
		d->bad = true;
		i.n = 0;
	}
	d->p += i.n;
	return i;
}

void rust_v0_put_ident(struct v0 *d, const struct ident *i)
{
	if (d->quiet || d->bad)
		return;
	if (!i->puny)
		rust_text_bytes(&d->out, i->s, i->n);
	else if (!rust_punycode(&d->out, i->s, i->n))
		d->bad = true;
}

/* ---- lifetimes ---- */

static void lifetime(struct v0 *d, uint64_t index)
{
	uint64_t n;
	char name[3] = "'a";

	if (!index) {
		rust_v0_put(d, "'_");
		return;
	}
	if (index > d->bound) {
		d->bad = true;
		return;
	}
	n = d->bound - index;
	if (n < 26) {
		name[1] = (char)('a' + n);
		rust_v0_put(d, name);
	} else {
		rust_v0_put(d, "'_");
		rust_v0_put_number(d, n);
	}
}

/* "for<'a, 'b> "; returns how many, for unbind(). */
static uint64_t bind(struct v0 *d)
{
	uint64_t n = rust_v0_tagged(d, 'G'), i;

	if (n > 64)
		d->bad = true;
	if (!n || d->bad)
		return 0;
	rust_v0_put(d, "for<");
	for (i = 0; i < n; i++) {
		if (i)
			rust_v0_put(d, ", ");
		d->bound++;
		lifetime(d, 1);
	}
	rust_v0_put(d, "> ");
	return n;
}

static void unbind(struct v0 *d, uint64_t n)
{
	d->bound -= n;
}

/* ---- back references ---- */

/* Behind "B": go on where it points to.  *@back is for return_from(); false: nothing is to be read there. */
bool rust_v0_go_back(struct v0 *d, const char **back)
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
	if (rust_v0_eat(d, 'L'))
		lifetime(d, base62(d));
	else if (rust_v0_eat(d, 'K'))
		rust_v0_constant(d);
	else
		type(d);
}

/* "A, B>" up to the "E". */
static void generic_args(struct v0 *d)
{
	unsigned n = 0;

	for (; !d->bad && !rust_v0_eat(d, 'E'); n++) {
		if (n)
			rust_v0_put(d, ", ");
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
	number = rust_v0_tagged(d, 's');
	id = rust_v0_ident(d);
	if (space >= 'a') {
		if (id.n) {
			rust_v0_put(d, "::");
			rust_v0_put_ident(d, &id);
		}
		return;
	}
	rust_v0_put(d, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
	if (space != 'C' && space != 'S' && !d->quiet)
		rust_text_bytes(&d->out, &space, 1);
	if (id.n) {
		rust_v0_put(d, ":");
		rust_v0_put_ident(d, &id);
	}
	rust_v0_put(d, "#");
	rust_v0_put_number(d, number);
	rust_v0_put(d, "}");
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

	if (!rust_v0_enter(d))
		return false;
	if (tag)
		d->p++;
	switch (tag) {
	case 'C':
		rust_v0_tagged(d, 's');
		id = rust_v0_ident(d);
		rust_v0_put_ident(d, &id);
		break;
	case 'N':
		nested(d, in_value);
		break;
	case 'M':
	case 'X':
		/* where the impl stands says nothing to a reader */
		rust_v0_tagged(d, 's');
		d->quiet++;
		path(d, in_value, false);
		d->quiet--;
		rust_v0_put(d, "<");
		type(d);
		if (tag == 'X') {
			rust_v0_put(d, " as ");
			path(d, false, false);
		}
		rust_v0_put(d, ">");
		break;
	case 'Y':
		rust_v0_put(d, "<");
		type(d);
		rust_v0_put(d, " as ");
		path(d, false, false);
		rust_v0_put(d, ">");
		break;
	case 'I':
		path(d, in_value, false);
		rust_v0_put(d, in_value ? "::<" : "<");
		generic_args(d);
		open = leave_open;
		if (!open)
			rust_v0_put(d, ">");
		break;
	case 'B':
		if (rust_v0_go_back(d, &back))
			open = path(d, in_value, leave_open);
		d->p = back;
		break;
	default:
		d->bad = true;
		break;
	}
	rust_v0_leave(d);
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

	if (rust_v0_eat(d, 'U'))
		rust_v0_put(d, "unsafe ");
	if (rust_v0_eat(d, 'K')) {
		rust_v0_put(d, "extern \"");
		if (rust_v0_eat(d, 'C')) {
			rust_v0_put(d, "C");
		} else {
			abi = rust_v0_ident(d);
			for (i = 0; i < abi.n && !d->quiet; i++)
				rust_text_bytes(&d->out, abi.s[i] == '_' ? "-" : abi.s + i, 1);
		}
		rust_v0_put(d, "\" ");
	}
	rust_v0_put(d, "fn(");
	for (n = 0; !d->bad && !rust_v0_eat(d, 'E'); n++) {
		if (n)
			rust_v0_put(d, ", ");
		type(d);
	}
	rust_v0_put(d, ")");
	if (!rust_v0_eat(d, 'u')) { /* () is not said */
		rust_v0_put(d, " -> ");
		type(d);
	}
	unbind(d, bound);
}

static void dyn(struct v0 *d)
{
	uint64_t bound, life;
	struct ident id;
	unsigned n;

	rust_v0_put(d, "dyn ");
	bound = bind(d);
	for (n = 0; !d->bad && !rust_v0_eat(d, 'E'); n++) {
		bool open;

		if (n)
			rust_v0_put(d, " + ");
		open = path(d, false, true);
		while (rust_v0_eat(d, 'p')) {
			rust_v0_put(d, open ? ", " : "<");
			open = true;
			id = rust_v0_ident(d);
			rust_v0_put_ident(d, &id);
			rust_v0_put(d, " = ");
			type(d);
		}
		if (open)
			rust_v0_put(d, ">");
	}
	unbind(d, bound);
	if (!rust_v0_eat(d, 'L')) {
		d->bad = true;
		return;
	}
	life = base62(d);
	if (life) {
		rust_v0_put(d, " + ");
		lifetime(d, life);
	}
}

static void reference(struct v0 *d, bool mutable)
{
	rust_v0_put(d, "&");
	if (rust_v0_eat(d, 'L')) {
		uint64_t life = base62(d);

		if (life) {
			lifetime(d, life);
			rust_v0_put(d, " ");
		}
	}
	rust_v0_put(d, mutable ? "mut " : "");
	type(d);
}

static void tuple(struct v0 *d)
{
	unsigned n;

	rust_v0_put(d, "(");
	for (n = 0; !d->bad && !rust_v0_eat(d, 'E'); n++) {
		if (n)
			rust_v0_put(d, ", ");
		type(d);
	}
	rust_v0_put(d, n == 1 ? ",)" : ")");
}

static void type(struct v0 *d)
{
	const char *plain = basic(*d->p), *back;
	char tag = *d->p;

	if (!rust_v0_enter(d))
		return;
	if (tag)
		d->p++;
	if (plain) {
		rust_v0_put(d, plain);
		rust_v0_leave(d);
		return;
	}
	switch (tag) {
	case 'A':
		rust_v0_put(d, "[");
		type(d);
		rust_v0_put(d, "; ");
		rust_v0_constant(d);
		rust_v0_put(d, "]");
		break;
	case 'S':
		rust_v0_put(d, "[");
		type(d);
		rust_v0_put(d, "]");
		break;
	case 'T': tuple(d); break;
	case 'R': reference(d, false); break;
	case 'Q': reference(d, true); break;
	case 'P':
		rust_v0_put(d, "*const ");
		type(d);
		break;
	case 'O':
		rust_v0_put(d, "*mut ");
		type(d);
		break;
	case 'F': function(d); break;
	case 'D': dyn(d); break;
	case 'B':
		if (rust_v0_go_back(d, &back))
			type(d);
		d->p = back;
		break;
	default:
		if (tag)
			d->p--;
		path(d, false, false);
		break;
	}
	rust_v0_leave(d);
}

void rust_v0_value_path(struct v0 *d)
{
	path(d, true, false);
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
