// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_script.c - the words of a script: strings, and what stands before them.
 *
 *	probe process("/bin/app").library("libx.so").function("f") { printf("%d\n", $x) }
 *	              PROGRAM             LIBRARY
 *	@vma_map(@1, { println(path) })
 *	         PROGRAM, the script's first argument
 *
 * Strings next to each other are one, as stap takes them.
 */
#include "config.h"

#include "stap_script.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *at;
	const struct stap_words *args;
	char *string; /* the last one, or its number: room for all of the text and arguments */
	size_t len;
	size_t word_len;
	const char *word; /* the last word of letters */
	enum { OTHER, WORD, MACRO, OPENED } before; /* what was last: a word, a macro's, "(" behind one */
	bool was_macro;
};

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_word(const struct reader *r, const char *word)
{
	return r->word && strlen(word) == r->word_len && !strncmp(r->word, word, r->word_len);
}

/* Past blanks and comments. */
static void skip_blank(struct reader *r)
{
	for (;;) {
		if (isspace((unsigned char)*r->at)) {
			r->at++;
		} else if (*r->at == '#' || (r->at[0] == '/' && r->at[1] == '/')) {
			r->at += strcspn(r->at, "\n");
		} else if (r->at[0] == '/' && r->at[1] == '*') {
			const char *end = strstr(r->at + 2, "*/");

			r->at = end ? end + 2 : r->at + strlen(r->at);
		} else {
			return;
		}
	}
}

static void add(struct reader *r, const char *s, size_t n)
{
	memcpy(r->string + r->len, s, n);
	r->len += n;
	r->string[r->len] = '\0';
}

/* The letter of an escape such as \n, behind the backslash at @p; moves it on. */
static char escaped(const char **p)
{
	static const char from[] = "abtnvfr", to[] = "\a\b\t\n\v\f\r";
	const char *at = *p, *which;
	unsigned v = 0;
	int i;

	if (*at >= '0' && *at <= '7') {
		for (i = 0; i < 3 && *at >= '0' && *at <= '7'; i++)
			v = 8 * v + (unsigned)(*at++ - '0');
		*p = at;
		return (char)v;
	}
	*p = at + 1;
	which = strchr(from, *at);
	return which ? to[which - from] : *at;
}

/* "..." at the reader's place. */
static void take_string(struct reader *r)
{
	const char *p = r->at + 1;

	while (*p && *p != '"') {
		char c = *p++;

		if (c == '\\' && *p)
			c = escaped(&p);
		add(r, &c, 1);
	}
	r->at = *p ? p + 1 : p;
}

/* @1 or $1: its number, 0 if it is none. */
static size_t argument_number(const char *at)
{
	size_t n = 0;
	const char *p = at + 1;

	if ((*at != '@' && *at != '$') || !isdigit((unsigned char)*p))
		return 0;
	for (; isdigit((unsigned char)*p); p++)
		n = n > 100000 ? n : 10 * n + (size_t)(*p - '0');
	return is_letter(*p) ? 0 : n;
}

static void take_argument(struct reader *r)
{
	size_t n = argument_number(r->at);

	r->at += 1 + strspn(r->at + 1, "0123456789");
	if (n <= r->args->n)
		add(r, r->args->v[n - 1], strlen(r->args->v[n - 1]));
}

/* Strings and arguments one after another: together one string. */
static void take_strings(struct reader *r)
{
	r->len = 0;
	r->string[0] = '\0';
	for (;;) {
		if (*r->at == '"')
			take_string(r);
		else if (argument_number(r->at))
			take_argument(r);
		else
			return;
		skip_blank(r);
	}
}

/* A "$1" may be a string with its quotes. */
static void unquote(struct reader *r)
{
	if (r->len >= 2 && r->string[0] == '"' && r->string[r->len - 1] == '"') {
		r->string[r->len - 1] = '\0';
		memmove(r->string, r->string + 1, r->len - 1);
		r->len -= 2;
	}
}

static bool all_digits(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

/* What the string just taken is; false: nothing of ours. */
static bool meant(struct reader *r, enum stap_names *what)
{
	unquote(r);
	if (!r->len || strlen(r->string) != r->len)
		return false;
	if (r->before == OPENED && r->was_macro && r->word_len > 4 &&
	    !strncmp(r->word, "vma_", 4)) {
		*what = STAP_NAMES_PROGRAM;
	} else if (r->before == OPENED && is_word(r, "process")) {
		*what = all_digits(r->string) ? STAP_NAMES_PID : STAP_NAMES_PROGRAM;
	} else if (r->before == OPENED && is_word(r, "library")) {
		*what = STAP_NAMES_LIBRARY;
	} else if (r->string[0] == '/' && r->string[1]) {
		*what = STAP_NAMES_FILE;
	} else {
		return false;
	}
	return true;
}

/* A word of letters, or a number. */
static void take_word(struct reader *r)
{
	bool macro = *r->at == '@';

	r->at += macro;
	r->word = r->at;
	while (is_letter(*r->at))
		r->at++;
	r->word_len = (size_t)(r->at - r->word);
	r->before = r->word_len ? macro ? MACRO : WORD : OTHER;
}

static void take_sign(struct reader *r)
{
	if (*r->at == '(' && (r->before == WORD || r->before == MACRO)) {
		r->was_macro = r->before == MACRO;
		r->before = OPENED;
	} else {
		r->before = OTHER;
	}
	r->at++;
}

static size_t room(const char *text, const struct stap_words *args)
{
	size_t n = strlen(text) + 1, longest = 0;

	for (size_t i = 0; i < args->n; i++)
		if (strlen(args->v[i]) > longest)
			longest = strlen(args->v[i]);
	/* each argument takes two letters of the text */
	return n + n / 2 * longest;
}

int stap_script_names(const char *text, const struct stap_words *args,
		      int (*each)(void *ctx, enum stap_names what, const char *name), void *ctx)
{
	struct reader r = { .at = text, .args = args };
	enum stap_names what;
	int ret = 0;

	r.string = malloc(room(text, args));
	if (!r.string)
		return -ENOMEM;
	for (skip_blank(&r); *r.at && !ret; skip_blank(&r)) {
		if (r.before == OPENED && !r.was_macro && is_word(&r, "process") &&
		    isdigit((unsigned char)*r.at)) {
			r.len = 0;
			add(&r, r.at, strspn(r.at, "0123456789"));
			r.at += r.len;
			r.before = OTHER;
			ret = each(ctx, STAP_NAMES_PID, r.string);
		} else if (*r.at == '"' || argument_number(r.at)) {
			take_strings(&r);
			if (meant(&r, &what))
				ret = each(ctx, what, r.string);
			r.before = OTHER;
		} else if (is_letter(*r.at) || *r.at == '@') {
			take_word(&r);
		} else {
			take_sign(&r);
		}
	}
	free(r.string);
	return ret;
}

bool stap_script_uses_vma(const char *text)
{
	const char *p = text;

	while ((p = strstr(p, "vma")) != NULL) {
		if (p == text || !is_letter(p[-1]))
			return true;
		p += 3;
	}
	return false;
}
