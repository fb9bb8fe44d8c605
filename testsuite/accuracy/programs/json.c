// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - a parser of JSON text into flat tables. */
#include "work.h"

enum { TEXT = 1 << 20, VALUES = 1 << 18 };

char text[TEXT];
uint8_t char_class[256];
struct value {
	uint32_t kind, at, len, parent;
};
struct value parsed[VALUES];
uint32_t nest[64];
uint64_t kinds[8];
double numbers[4096];
uint32_t text_len, n_parsed, n_numbers;

enum { BLANK = 1, DIGIT, QUOTE, OPEN, CLOSE, COMMA, LETTER };

static void put(const char *s)
{
	while (*s)
		text[text_len++] = *s++;
}

NOINLINE static void write_text(void)
{
	uint64_t s = 3;
	char buf[64];

	put("[");
	while (text_len < TEXT - 300) {
		uint64_t r = random_next(&s);

		snprintf(buf, sizeof(buf), "{\"id\": %u, \"price\": %u.%02u, ", (unsigned)(r & 65535), (unsigned)(r >> 16) % 900, (unsigned)(r >> 32) % 100);
		put(buf);
		put(r >> 40 & 1 ? "\"tags\": [\"red\", \"large one\"], " : "\"on\": true, \"note\": null, ");
		snprintf(buf, sizeof(buf), "\"name\": \"item %llx\"},\n", (unsigned long long)(r >> 20));
		put(buf);
	}
	put("0]");
}

static void note(uint32_t kind, uint32_t at, uint32_t len, unsigned depth)
{
	struct value *v = &parsed[n_parsed++ & (VALUES - 1)];

	v->kind = kind;
	v->at = at;
	v->len = len;
	v->parent = nest[depth];
	kinds[kind]++;
}

static uint32_t number(uint32_t i)
{
	double v = 0, scale = 1;

	for (; char_class[(uint8_t)text[i]] == DIGIT; i++) {
		if (text[i] == '.') {
			scale = 0.1;
		} else if (scale < 1) {
			v += (text[i] - '0') * scale;
			scale *= 0.1;
		} else {
			v = v * 10 + (text[i] - '0');
		}
	}
	numbers[n_numbers++ & 4095] += v;
	return i;
}

NOINLINE static void parse(void)
{
	unsigned depth = 0;
	uint32_t i = 0, from;

	while (i < text_len) {
		switch (char_class[(uint8_t)text[i]]) {
		case DIGIT:
			from = i;
			i = number(i);
			note(DIGIT, from, i - from, depth);
			break;
		case QUOTE:
			from = ++i;
			while (text[i] != '"')
				i++;
			note(QUOTE, from, i++ - from, depth);
			break;
		case OPEN:
			note(OPEN, i++, 0, depth);
			nest[++depth & 63] = n_parsed;
			break;
		case CLOSE:
			depth--;
			i++;
			break;
		case LETTER:
			from = i;
			while (char_class[(uint8_t)text[i]] == LETTER)
				i++;
			note(LETTER, from, i - from, depth);
			break;
		default:
			i++;
		}
	}
}

int main(int argc, char **argv)
{
	long n = work_amount(argc, argv, 3000);

	for (int c = 0; c < 256; c++)
		char_class[c] = (c >= '0' && c <= '9') || c == '.' ? DIGIT : c == '"' ? QUOTE :
			c == '[' || c == '{' ? OPEN : c == ']' || c == '}' ? CLOSE :
			c >= 'a' && c <= 'z' ? LETTER : c == ',' ? COMMA : BLANK;
	write_text();
	for (long i = 0; i < n; i++)
		parse();
	printf("%u %g\n", n_parsed, numbers[17]);
	return 0;
}
