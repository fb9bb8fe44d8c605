/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - JSON Lines: one object a line, written as it is built.
 *
 * Strings may hold any bytes: what is not UTF-8 is written as \udcXX, the lone
 * surrogates that Python's surrogateescape reads back to the byte.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *f;	 /* borrowed */
	bool comma;	 /* the next member needs one before it */
};

/* Open the line's object; json_end() closes it with a newline. */
void json_begin(struct json *j, FILE *f, const char *type); /* {"type":"...", */
void json_end(struct json *j);

/* One member.  A NULL key writes an array's element. */
void json_str(struct json *j, const char *key, const char *s);	/* NULL: null */
void json_strn(struct json *j, const char *key, const char *s, size_t n);
void json_u64(struct json *j, const char *key, uint64_t v);
void json_i64(struct json *j, const char *key, int64_t v);
void json_hex(struct json *j, const char *key, uint64_t v);	/* "0x1f" */
void json_num(struct json *j, const char *key, double v);	/* 6 digits; NaN: null */
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);

void json_open(struct json *j, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *j, char bracket);		       /* '}' or ']' */

/* The first line of every JSON output: {"type":"meta","schema":1,...,"command":@command; the caller adds and ends. */
void json_meta(struct json *j, FILE *f, const char *command);

#endif /* JSON_H */
