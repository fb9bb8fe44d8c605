// SPDX-License-Identifier: GPL-2.0-or-later
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "config.h"

static void key_of(struct json *j, const char *key)
{
	if (j->comma)
		putc(',', j->f);
	j->comma = true;
	if (key)
		fprintf(j->f, "\"%s\":", key);
}

/*
 * Length of the well-formed UTF-8 sequence at @s, 0 if it is none: no overlong
 * form, no surrogate, nothing past U+10FFFF (RFC 3629).
 */
static size_t utf8_len(const unsigned char *s, size_t n)
{
	unsigned lo = 0x80, hi = 0xbf;
	size_t len, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if (s[0] == 0xe0)
		lo = 0xa0;
	else if (s[0] == 0xed)
		hi = 0x9f;
	else if (s[0] == 0xf0)
		lo = 0x90;
	else if (s[0] == 0xf4)
		hi = 0x8f;
	if (n < len || s[1] < lo || s[1] > hi)
		return 0;
	for (i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

static void quoted(FILE *f, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i = 0;

	putc('"', f);
	while (i < n) {
		size_t len = utf8_len(s + i, n - i);

		if (!len)
			fprintf(f, "\\udc%02x", s[i++]);
		else if (s[i] == '"' || s[i] == '\\')
			fprintf(f, "\\%c", s[i++]);
		else if (s[i] < 0x20 || s[i] == 0x7f)
			fprintf(f, "\\u%04x", s[i++]);
		else {
			fwrite(s + i, 1, len, f);
			i += len;
		}
	}
	putc('"', f);
}

void json_begin(struct json *j, FILE *f, const char *type)
{
	j->f = f;
	j->comma = false;
	putc('{', f);
	json_str(j, "type", type);
}

void json_end(struct json *j)
{
	fputs("}\n", j->f);
}

void json_strn(struct json *j, const char *key, const char *s, size_t n)
{
	key_of(j, key);
	quoted(j->f, s, n);
}

void json_str(struct json *j, const char *key, const char *s)
{
	if (s)
		json_strn(j, key, s, strlen(s));
	else
		json_null(j, key);
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	key_of(j, key);
	fprintf(j->f, "%" PRIu64, v);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
	key_of(j, key);
	fprintf(j->f, "%" PRId64, v);
}

void json_hex(struct json *j, const char *key, uint64_t v)
{
	key_of(j, key);
	fprintf(j->f, "\"0x%" PRIx64 "\"", v);
}

void json_num(struct json *j, const char *key, double v)
{
	if (!isfinite(v)) {
		json_null(j, key);
		return;
	}
	key_of(j, key);
	fprintf(j->f, "%.6g", v);
}

void json_bool(struct json *j, const char *key, bool v)
{
	key_of(j, key);
	fputs(v ? "true" : "false", j->f);
}

void json_null(struct json *j, const char *key)
{
	key_of(j, key);
	fputs("null", j->f);
}

void json_open(struct json *j, const char *key, char bracket)
{
	key_of(j, key);
	putc(bracket, j->f);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	putc(bracket, j->f);
	j->comma = true;
}

void json_meta(struct json *j, FILE *f, const char *command)
{
	json_begin(j, f, "meta");
	json_u64(j, "schema", 1);
	json_str(j, "tool", "hotvar");
	json_str(j, "version", PACKAGE_VERSION);
	json_str(j, "command", command);
}
